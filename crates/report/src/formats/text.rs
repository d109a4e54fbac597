//! The terminal report: the verdict sentence first.

mod account;

use crate::formats::sparkline;
use crate::formats::terminal::TerminalPage;
use crate::tables;
use crate::words::focus::{Focus, is_hurt};
use crate::words::{self, advice, clean, format};
use comfy_table::Color;
use rekeyscope_model::analysis::{Analysis, Impact, KeyFile, Verdict};
use rekeyscope_model::text::{Catalogue, Language};

/// Tunnels that get tables of their own; the others are in the table of verdicts.
const MOST_TUNNELS: usize = 4;
/// Rekeys listed per tunnel.
const MOST_REKEYS: usize = 40;
/// SAs listed per direction of a tunnel.
const MOST_SAS: usize = 12;
/// Rows of these two tables in the full report.
const ALL_ROWS: usize = 100_000;
/// Flows listed.
const MOST_FLOWS: usize = 10;
/// Verdicts listed.
const MOST_VERDICTS: usize = 60;
/// Entries of each remaining list.
const MOST_ENTRIES: usize = 20;

/// How to write to the terminal.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// Columns available.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
    /// What it is written in.
    pub language: Language,
}

/// The terminal report, ending in a newline.
pub fn render(analysis: &Analysis, options: TextOptions) -> String {
    page(analysis, options, false)
}

/// With every row, and with what was ruled out, projections, reruns, overhead, flows and how to make it again.
pub fn render_in_full(analysis: &Analysis, options: TextOptions) -> String {
    page(analysis, options, true)
}

fn page(analysis: &Analysis, options: TextOptions, full: bool) -> String {
    let focus = Focus::new(analysis, options.language);
    let mut page = TerminalPage::new(options.width, options.color);
    for leak in words::leaks(focus.analysis) {
        page.emphasised(&words::finding(focus.t, leak), Some(Color::Red));
        page.filter("", &clean::sentence(&leak.display_filter));
        page.blank();
    }
    verdict(&mut page, &focus, full);
    account::section(&mut page, &focus, full);
    capture(&mut page, &focus);
    for &tunnel in focus.tunnels.iter().take(MOST_TUNNELS) {
        tunnel_tables(&mut page, &focus, tunnel, full);
    }
    let left_out = focus.tunnels.len().saturating_sub(MOST_TUNNELS);
    if left_out > 0 {
        page.blank();
        let n = format::count(left_out as u64);
        page.paragraph(&focus.t.fill("left-out-tunnels", &[("n", &n)]));
    }
    overlays(&mut page, &focus);
    causes(&mut page, &focus);
    if full {
        ruled_out(&mut page, &focus);
    }
    findings(&mut page, &focus);
    keys(&mut page, &focus);
    diagnostics(&mut page, &focus);
    if full {
        more_tables(&mut page, &focus);
    }
    page.finish()
}

fn ruled_out(page: &mut TerminalPage, focus: &Focus) {
    let table = tables::ruled_out(focus);
    if !table.rows.is_empty() {
        page.heading(&focus.t.word("heading-ruled-out"));
        page.table(&table);
    }
}

/// What only the full report has.
fn more_tables(page: &mut TerminalPage, focus: &Focus) {
    let t = focus.t;
    let advice = advice::advice(t, focus.analysis);
    if !advice.is_empty() {
        page.heading(&t.word("heading-advice"));
        advice.iter().for_each(|a| page.item(&a.sentence(t)));
    }
    let tables = [
        ("heading-projection", tables::projection(focus)),
        ("heading-reruns", tables::sensitivity(focus)),
        ("heading-overhead", tables::overhead(focus)),
        ("heading-flows", tables::flows(focus, MOST_FLOWS)),
    ];
    for (title, table) in tables.iter().filter(|t| !t.1.rows.is_empty()) {
        page.heading(&t.word(title));
        page.table(table);
    }
    page.heading(&t.word("heading-reproduce"));
    page.paragraph(&words::command(focus.analysis));
}

fn overlays(page: &mut TerminalPage, focus: &Focus) {
    for overlay in focus.analysis.overlays.iter().take(MOST_ENTRIES) {
        page.heading(&words::overlay(overlay));
        page.paragraphs(&words::overlay_sentences(focus.t, overlay));
        page.table(&tables::overlay(focus, overlay, MOST_REKEYS));
    }
}

fn verdict(page: &mut TerminalPage, focus: &Focus, full: bool) {
    let (analysis, t) = (focus.analysis, focus.t);
    let Some(headline) = analysis.impact.first() else {
        page.emphasised(&words::no_verdict(t, analysis), None);
        return;
    };
    page.emphasised(
        &clean::said(t, &headline.sentence, &headline.messages),
        verdict_color(headline.verdict),
    );
    if let Some(said) = words::account_of_headline(focus) {
        page.paragraph(&said);
    }
    page.blank();
    let direction = |i: &Impact| words::direction(t, analysis, i.tunnel, i.direction);
    let bound = &headline.arithmetic_bound;
    let also = |one: &Impact| {
        let sentence = clean::said(t, &one.sentence, &one.messages);
        t.fill(
            "direction-sentence",
            &[("direction", &direction(one)), ("sentence", &sentence)],
        )
    };
    let rows = [
        ("label-direction", Some(direction(headline))),
        (
            "label-arithmetic",
            (!bound.is_empty()).then(|| clean::said(t, bound, &headline.arithmetic_bound_messages)),
        ),
        ("label-detectable", words::detectable(t, headline)),
        ("label-bursts", words::bursts(t, headline).filter(|_| full)),
        ("label-explains", words::explained(t, headline)),
        ("label-rates", words::rates(t, headline)),
        ("label-but", words::disagreeing(t, headline)),
        (
            "label-also",
            match focus.other_verdicts() {
                [one] => Some(also(one)),
                _ => None,
            },
        ),
    ];
    let rows: Vec<(String, String)> = rows
        .into_iter()
        .filter_map(|(label, text)| Some((t.word(label), text?)))
        .collect();
    page.labelled(&rows);
    if focus.other_verdicts().len() > 1 {
        page.heading(&t.word("heading-verdicts"));
        page.table(&tables::verdicts(focus, MOST_VERDICTS));
    }
    let transfers = tables::transfers(focus, MOST_VERDICTS);
    if !transfers.rows.is_empty() {
        page.heading(&t.word("heading-transfers"));
        page.table(&transfers);
    }
}

fn verdict_color(v: Verdict) -> Option<Color> {
    match v {
        Verdict::Failed | Verdict::Shown => Some(Color::Red),
        Verdict::Some => Some(Color::Yellow),
        Verdict::Bounded => Some(Color::Green),
        Verdict::Inconclusive | Verdict::NoRekeys | Verdict::NoTraffic => None,
    }
}

fn capture(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    page.heading(&t.word("heading-capture"));
    page.paragraph(&words::capture(t, &analysis.capture));
    page.paragraph(&t.sentences(&words::quality(t, &analysis.capture)));
    page.paragraph(&words::decryption(t, analysis));
}

fn tunnel_tables(page: &mut TerminalPage, focus: &Focus, tunnel: usize, full: bool) {
    let t = focus.t;
    let Some(ends) = focus.analysis.tunnels.get(tunnel) else {
        return;
    };
    let rekeys = focus.rekeys(tunnel).count();
    let hurt = focus.rekeys(tunnel).filter(|r| is_hurt(r)).count();
    page.heading(&t.fill(
        "heading-tunnel-rekeys",
        &[
            ("tunnel", &tunnel.to_string()),
            ("what", &words::tunnel(t, ends)),
            ("rekeys", &format::counted(t, "counted-rekeys", rekeys as u64)),
            ("hurt", &hurt.to_string()),
        ],
    ));
    if let Some(spark) = sparkline::draw(focus, tunnel, page.width()) {
        page.paragraph(&spark.caption);
        page.line(spark.rates.trim_end());
        page.line(spark.marks.trim_end());
    }
    let most = |shortened: usize| if full { ALL_ROWS } else { shortened };
    page.table(&tables::rekeys(focus, tunnel, most(MOST_REKEYS)));
    page.paragraphs(&words::trigger_rules(t, focus.analysis, tunnel));
    let attempts = tables::attempts(focus, tunnel, full, most(MOST_REKEYS));
    if !attempts.rows.is_empty() {
        page.heading(&t.fill("heading-attempts-of", &[("tunnel", &tunnel.to_string())]));
        page.table(&attempts);
        words::outages(focus, tunnel, MOST_ENTRIES)
            .iter()
            .for_each(|outage| page.item(outage));
    }
    let sas = tables::security_associations(focus, tunnel, most(MOST_SAS));
    if !sas.rows.is_empty() {
        page.heading(&t.fill("heading-sas-of", &[("tunnel", &tunnel.to_string())]));
        page.table(&sas);
    }
}

/// Causes, each with the rekeys that it explains and one filter to look at them.
fn causes(page: &mut TerminalPage, focus: &Focus) {
    let t = focus.t;
    let causes = words::causes(focus.analysis);
    if causes.is_empty() {
        return;
    }
    page.heading(&t.word("heading-causes"));
    for found in causes.iter().take(MOST_ENTRIES) {
        page.item(&found.sentence(t, MOST_ENTRIES));
        if let Some((message, number, filter)) = found.first_filter(t) {
            let label = t.fill(message, &[("number", &number), ("filter", "")]);
            page.filter(&label, &clean::sentence(filter));
        }
    }
    more(page, t, causes.len());
}

fn findings(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    if analysis.findings.is_empty() {
        return;
    }
    page.heading(&t.word("heading-findings"));
    for f in analysis.findings.iter().take(MOST_ENTRIES) {
        page.item(&words::finding(t, f));
        if !f.display_filter.is_empty() {
            page.filter("", &clean::sentence(&f.display_filter));
        }
    }
    more(page, t, analysis.findings.len());
}

fn keys(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    let missing = words::missing_keys(t, analysis);
    if analysis.key_files.is_empty() && missing.is_empty() {
        return;
    }
    page.heading(&t.word("heading-keys"));
    list_key_files(page, t, &analysis.key_files, MOST_ENTRIES, more);
    page.paragraphs(&missing);
}

fn diagnostics(page: &mut TerminalPage, focus: &Focus) {
    let (analysis, t) = (focus.analysis, focus.t);
    if analysis.diagnostics.is_empty() {
        return;
    }
    page.heading(&t.word("heading-oddities"));
    for d in analysis.diagnostics.iter().take(MOST_ENTRIES) {
        page.item(&words::diagnostic(t, d));
    }
    more(page, t, analysis.diagnostics.len());
}

/// The key files that were read, each with what could not be; at most `most` of either, then `more`.
pub(crate) fn list_key_files(
    page: &mut TerminalPage,
    t: &Catalogue,
    files: &[KeyFile],
    most: usize,
    more: fn(&mut TerminalPage, &Catalogue, usize),
) {
    for file in files.iter().take(most) {
        page.item(&words::key_file(t, file));
        for problem in file.problems.iter().take(most) {
            page.paragraph(&format!("   {}", clean::line(problem)));
        }
        more(page, t, file.problems.len());
    }
    more(page, t, files.len());
}

/// Says where the rest of a shortened list is.
fn more(page: &mut TerminalPage, t: &Catalogue, total: usize) {
    if total > MOST_ENTRIES {
        page.paragraph(&t.fill("more-in-json", &[("n", &(total - MOST_ENTRIES).to_string())]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

    fn at(width: usize) -> TextOptions {
        TextOptions {
            width,
            color: false,
            language: Language::English,
        }
    }

    #[test]
    fn golden_80() {
        insta::assert_snapshot!(render(&example::seven_rekeys(), at(80)));
    }

    #[test]
    fn golden_140() {
        insta::assert_snapshot!(render(&example::seven_rekeys(), at(140)));
    }

    #[test]
    fn golden_80_without_keys() {
        let document = example::build(&example::Shape {
            keys: false,
            rekeys: 3,
            ..Default::default()
        });
        insta::assert_snapshot!(render(&document, at(80)));
    }

    #[test]
    fn golden_80_empty() {
        insta::assert_snapshot!(render(&example::empty(), at(80)));
    }

    #[test]
    fn the_first_line_is_the_verdict() {
        let document = example::seven_rekeys();
        let text = render(&document, at(300));
        assert_eq!(text.lines().next().unwrap(), document.impact[0].sentence);
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        for document in example::all() {
            let filters = example::filters(&document);
            let filters: std::collections::HashSet<String> =
                filters.iter().map(|f| clean::sentence(f)).collect();
            for width in [80, 81, 100, 110, 140, 200] {
                for line in render(&document, at(width)).lines() {
                    assert!(
                        filters.contains(line.trim()) || line.chars().count() <= width,
                        "{width}: {line}"
                    );
                }
            }
        }
    }

    #[test]
    fn nothing_steers_the_terminal() {
        let text = render(&example::hostile(example::seven_rekeys()), at(120));
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        assert!(!text.contains('\u{202e}'));
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let document = example::seven_rekeys();
        let colored = render(
            &document,
            TextOptions {
                width: 80,
                color: true,
                language: Language::English,
            },
        );
        let plain = render(&document, at(80));
        let words = |s: &str| s.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        assert_eq!(words(&without_ansi(&colored)), words(&plain));
    }

    /// Drops CSI sequences that end in `m`.
    fn without_ansi(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("\u{1b}[") {
            out.push_str(before);
            rest = after.split_once('m').map_or("", |(_, after)| after);
        }
        out + rest
    }
}
