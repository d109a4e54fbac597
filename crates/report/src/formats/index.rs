//! The index of several reports: one line per capture with its verdict.

use crate::formats::csv;
use crate::formats::html::{index_policy, style_sheet};
use crate::formats::markdown::MarkdownPage;
use crate::formats::sections::Page;
use crate::formats::terminal::TerminalPage;
use crate::formats::text::top::TextOptions;
use crate::tables::{Mark, Table};
use crate::words::focus::Focus;
use crate::words::format::{self, or_unknown};
use crate::words::{self, clean};
use askama::Template;
use rekeyscope_model::analysis::{Analysis, Verdict};
use rekeyscope_model::text::{Catalogue, Language};
use std::path::Path;

/// Longest name of a report's file in bytes, without its ending: file systems take 255, and a number and an ending follow.
const LONGEST_NAME: usize = 230;

/// One capture.
#[derive(Debug, Clone)]
pub struct Entry {
    path: String,
    /// `None`: it could not be read, and the sentence says why.
    link: Option<String>,
    verdict: Option<Verdict>,
    label: String,
    rekeys: String,
    hurt: String,
    rate: String,
    lost: String,
    sentence: String,
    /// Label and sentence of a spreadsheet.
    english: [String; 2],
}

impl Entry {
    /// The line of a capture whose report is `link`.
    pub fn new(analysis: &Analysis, link: &str, language: Language) -> Entry {
        let [label, sentence] = verdict_in(language, analysis);
        let headline = analysis.impact.first();
        let measured = headline.filter(|i| i.rekeys_used > 0);
        let ledger = measured.and_then(|i| analysis.ledger_of(i.tunnel, i.direction));
        Entry {
            path: clean::line(&analysis.capture.path),
            link: Some(link.into()),
            verdict: headline.map(|i| i.verdict),
            label,
            rekeys: or_unknown(headline, |i| format::count(i.rekeys as u64)),
            hurt: or_unknown(headline, |i| format::count(i.rekeys_hurt.len() as u64)),
            rate: or_unknown(headline.and_then(|i| i.observed_bps), format::rate),
            lost: or_unknown(ledger, |l| {
                format::least(l.at_least, format::cost(l.cost_seconds))
            }),
            sentence,
            english: verdict_in(Language::English, analysis),
        }
    }

    /// The line of an input that could not be read.
    pub fn unreadable(path: &str, reason: &str, language: Language) -> Entry {
        let label = |language| Catalogue::of(language).word("verdict-label-not-read");
        let unknown = || format::UNKNOWN.to_string();
        Entry {
            path: clean::line(path),
            link: None,
            verdict: None,
            label: label(language),
            rekeys: unknown(),
            hurt: unknown(),
            rate: unknown(),
            lost: unknown(),
            sentence: clean::line(reason),
            english: [label(Language::English), clean::line(reason)],
        }
    }

    fn mark(&self) -> Mark {
        match self.verdict {
            Some(verdict) if verdict.is_harm() => Mark::Alert,
            None if self.link.is_none() => Mark::Faint,
            _ => Mark::None,
        }
    }
}

/// The verdict as a label and in a line.
fn verdict_in(language: Language, analysis: &Analysis) -> [String; 2] {
    let focus = Focus::new(analysis, language);
    let label = match analysis.impact.first() {
        Some(i) => words::verdict(focus.t, i.verdict),
        None => focus.t.word("verdict-label-no-tunnel"),
    };
    [label, words::answer(&focus).headline]
}

#[derive(Template)]
#[template(path = "index.html")]
struct IndexPage<'a> {
    style: String,
    entries: &'a [Entry],
    text: &'static Catalogue,
}

/// The page, with a link to every report.
pub fn html(entries: &[Entry], language: Language) -> String {
    let page = IndexPage {
        style: style_sheet(language),
        entries,
        text: Catalogue::of(language),
    };
    // Formats plain strings into memory: there is nothing in it that can fail.
    page.render().unwrap_or_default()
}

/// A table for a terminal, then the sentences.
pub fn text(entries: &[Entry], options: TextOptions) -> String {
    let mut page = TerminalPage::new(options.width, options.color);
    let t = Catalogue::of(options.language);
    let mut table = table(t, entries);
    table.drop_column("column-sentence");
    page.table(&table);
    for entry in entries {
        page.blank();
        page.paragraph(&fill!(
            t,
            "direction-sentence",
            direction = entry.path,
            sentence = entry.sentence
        ));
    }
    page.finish()
}

/// The table for a ticket.
pub fn markdown(entries: &[Entry], language: Language) -> String {
    let t = Catalogue::of(language);
    let mut page = MarkdownPage::new(&t.word("report-title"));
    page.table(&table(t, entries));
    page.finish()
}

/// The table for a spreadsheet.
pub fn csv(entries: &[Entry]) -> String {
    let header = [
        "capture", "verdict", "rekeys", "hurt", "rate", "lost s", "sentence",
    ];
    let row = |e: &Entry| {
        let [label, sentence] = &e.english;
        [&e.path, label, &e.rekeys, &e.hurt, &e.rate, &e.lost, sentence].map(|cell| csv::text(cell))
    };
    let rows = csv::write(&header, entries.iter().map(row));
    String::from_utf8(rows).unwrap_or_default()
}

fn table(t: &Catalogue, entries: &[Entry]) -> Table {
    Table::of(t, entries)
        .marked(Entry::mark)
        .left("column-capture", |e| e.path.clone())
        .left("column-verdict", |e| e.label.clone())
        .right("column-rekeys", |e| e.rekeys.clone())
        .right("column-hurt", |e| e.hurt.clone())
        .right("column-rate", |e| e.rate.clone())
        .right("column-lost", |e| e.lost.clone())
        .left("column-sentence", |e| e.sentence.clone())
        .table
}

/// A name for the reports of an input: its own without the ending, every character that a shell, a URL or a file
/// system could take for something else as `_`. Letters of other scripts are letters.
pub fn file_name(input: &Path) -> String {
    let stem = match input.file_stem().map(|s| s.to_string_lossy().into_owned()) {
        Some(stem) if stem == "-" => "stdin".to_string(),
        stem => stem.unwrap_or_default(),
    };
    let plain = |c: char| {
        let foreign =
            !c.is_ascii() && !c.is_whitespace() && c != char::REPLACEMENT_CHARACTER && !clean::is_steering(c);
        if foreign || c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '_'
        }
    };
    let mut name = String::new();
    for c in stem.chars().map(plain) {
        if name.len() + c.len_utf8() > LONGEST_NAME {
            break;
        }
        name.push(c);
    }
    // A leading dot hides a file, a leading dash is an option.
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() {
        "capture".into()
    } else {
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

    fn entries() -> Vec<Entry> {
        let mut entries: Vec<Entry> = example::all()
            .iter()
            .enumerate()
            .map(|(n, d)| Entry::new(d, &format!("{n}.html"), Language::English))
            .collect();
        entries.push(Entry::unreadable(
            "<b>\u{1b}[31m",
            "no \u{202e}such file",
            Language::English,
        ));
        entries
    }

    #[test]
    fn one_line_per_capture_with_its_verdict() {
        let html = html(&entries(), Language::English);
        assert_eq!(html.matches("<tr").count(), 1 + entries().len());
        assert_eq!(html.matches("<a href=").count(), entries().len() - 1);
        assert!(html.contains("cost shown") && html.contains("no tunnel") && html.contains("not read"));
    }

    #[test]
    fn hostile_text_stays_text() {
        let options = TextOptions {
            width: 80,
            color: false,
            language: Language::English,
        };
        let formats = [
            html(&entries(), Language::English),
            text(&entries(), options),
            markdown(&entries(), Language::English),
            csv(&entries()),
        ];
        for out in &formats {
            assert!(
                !out.chars()
                    .any(|c| (c.is_control() && !"\r\n".contains(c)) || c == '\u{202e}'),
                "{out}"
            );
        }
        assert!(
            !formats[0].contains("<script") && !formats[0].contains("<b>") && !formats[0].contains("<img")
        );
        assert!(!formats[2].contains("<script") && !formats[2].contains("<img"));
        assert!(formats[3].lines().all(|l| !l.starts_with('=')), "{}", formats[3]);
        assert!(text(&entries(), options).lines().all(|l| l.chars().count() <= 80));
    }

    #[test]
    fn names_of_files_are_harmless() {
        for (path, name) in [
            ("a/b/trace.pcapng", "trace"),
            ("x y<script>.pcap", "x_y_script_"),
            ("-", "stdin"),
            ("../..", "capture"),
            ("-rf.pcap", "rf"),
            ("東京（夜）.pcap", "東京（夜）"),
            ("か\u{3099}.pcap", "か\u{3099}"),
            ("a\u{3000}b\u{202e}c\u{fffd}.pcap", "a_b_c_"),
        ] {
            assert_eq!(file_name(Path::new(path)), name, "{path}");
        }
        let long = file_name(Path::new(&"計".repeat(200)));
        assert_eq!(long, "計".repeat(76), "as many whole letters as fit");
    }
}
