//! One offline HTML file with inline SVG: no request leaves it, it prints, and it shows everything without a script.
//!
//! Every value goes through [`clean`] and is escaped by askama; only the style sheet and the plots, which escape their
//! own text, are marked safe.

pub mod comparison;
mod views;

use crate::formats::comparison::gap_title;
use crate::plot::account::{bar, part, swatch};
use crate::plot::{self, TunnelPlots, style};
use crate::tables::{self, Row, Table};
use crate::words::focus::Focus;
use crate::words::{self, Answer, CausePlace, advice, clean, format};
use askama::Template;
use rekeyscope_model::analysis::{Account, Analysis, Impact, Severity};
use rekeyscope_model::text::{Catalogue, Language};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use views::{MOST_ENTRIES, MOST_ROWS, TunnelView};

const CSS: &str = include_str!("../../templates/report.css");
/// Reads nothing but the page; the page is complete without it.
const SCRIPT: &str = include_str!("../../templates/report.js");

/// Verdict sentences written out beside the headline's.
const MOST_SENTENCES: usize = 6;
/// Overlays shown.
const MOST_OVERLAYS: usize = 8;
/// Accounts shown; the others are in the document.
const MOST_ACCOUNTS: usize = 12;
/// Rekeys on the first sheet of paper, as many as on a terminal's first screen.
const MOST_COSTLIEST: usize = 5;
/// Flows listed.
const MOST_FLOWS: usize = 10;

/// The whole document.
pub fn render(analysis: &Analysis, language: Language) -> String {
    let focus = Focus::new(analysis, language);
    let plots = plot::of_focus(&focus);
    // The template formats plain strings and numbers into memory: there is nothing in it that can fail.
    ReportPage::new(&focus, &plots).render().unwrap_or_default()
}

/// Values that the template asks for more than once; it asks the words and the tables for the rest itself.
#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    text: &'static Catalogue,
    focus: &'a Focus<'a>,
    analysis: &'a Analysis,
    /// The verdict of the answer.
    headline: Option<&'a Impact>,
    answer: Answer,
    style: String,
    program: String,
    /// Length of the bins of the series.
    bin: String,
    tunnels: Vec<TunnelView<'a>>,
    /// Rows that evidence links to.
    rows: HashSet<String>,
    with_panel: HashSet<String>,
}

impl<'a> ReportPage<'a> {
    fn new(focus: &'a Focus<'a>, plots: &'a [TunnelPlots]) -> Self {
        let tunnels: Vec<TunnelView> = plots.iter().map(|p| TunnelView::new(focus, p)).collect();
        let rows = tunnels.iter().flat_map(|t| &t.rekeys.rows);
        let panels = plots.iter().flat_map(|plots| &plots.panels);
        ReportPage {
            text: focus.t,
            focus,
            analysis: focus.analysis,
            headline: focus.analysis.impact.first(),
            answer: words::answer(focus),
            style: style_sheet(focus.t.language()),
            bin: format::duration_ms(focus.analysis.series.bin_ms),
            program: words::program(&focus.analysis.generator),
            rows: rows.filter_map(|r| r.id.clone()).collect(),
            with_panel: panels.map(|p| p.name.clone()).collect(),
            tunnels,
        }
    }

    /// The rekeys of the first tunnel that cost most, with their heading, for the first sheet of paper; no link leads to these rows.
    fn costliest(&self) -> Option<(String, Table)> {
        let first = self.tunnels.first()?.tunnel();
        let mut table = tables::costliest_rekeys(self.focus, first, MOST_COSTLIEST)
            .without_empty()
            .narrowed();
        table.rows.iter_mut().for_each(|row| row.id = None);
        let (n, all) = (table.rows.len(), self.focus.analysis.rekeys_of(first).count());
        let some = (n < all).then(|| fill!(self.text, "page-rekeys-shown", n, all));
        table.notes.extend(some);
        (!table.rows.is_empty()).then(|| (self.focus.counted_rekeys(first), table))
    }

    /// Number of tunnels that are not drawn.
    fn left_out(&self) -> Option<String> {
        let left_out = self.focus.tunnels.len() - self.tunnels.len();
        (left_out > 0).then(|| format::counted(self.focus.t, "page-left-out-tunnels", left_out as u64))
    }

    /// The panel of a rekey's row, where it has one.
    fn panel_of(&self, row: &Row) -> Option<String> {
        let id = row.id.as_ref()?.replacen("rekey", "panel", 1);
        self.with_panel.contains(&id).then_some(id)
    }

    /// The row of the rekey at which a cause was found, where the table has it.
    fn row_of(&self, place: &CausePlace<'_>) -> Option<String> {
        let id = format!("rekey-{}", self.focus.key(place.rekey?));
        self.rows.contains(&id).then_some(id)
    }

    fn direction_of(&self, account: &Account) -> String {
        words::direction(self.text, self.analysis, account.tunnel, account.direction)
    }
}

/// Our own sentences, in which backticks set off what is typed: pieces, and whether each is code.
fn prose(text: &str) -> Vec<(bool, String)> {
    let pieces = text.split('`').enumerate();
    let piece = |(i, piece): (usize, &str)| match i % 2 == 1 {
        true => (true, clean::sentence(piece)),
        false => (false, unbroken(&clean::sentence(piece))),
    };
    pieces.map(piece).collect()
}

/// A sentence that breaks no line between a number and its unit, nor within a range of numbers.
fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut after_digit = false;
    while let Some(c) = rest.next() {
        let digit_follows = rest.peek().is_some_and(char::is_ascii_digit);
        match c {
            ' ' if after_digit && !digit_follows => out.push('\u{a0}'),
            '–' | '～' if after_digit && digit_follows => out.extend(['\u{2060}', c, '\u{2060}']),
            _ => out.push(c),
        }
        after_digit = c.is_ascii_digit();
    }
    out
}

/// The style sheet of every page.
pub(crate) fn style_sheet(language: Language) -> String {
    format!("{}{}{}", CSS, style::dark_css(), style::font_face(language))
}

/// Content Security Policy: nothing is loaded, and only this style sheet and this script apply.
fn policy(style: &str) -> String {
    format!("{}; script-src 'sha256-{}'", index_policy(style), hash(SCRIPT))
}

/// The same for a page without a script.
pub(crate) fn index_policy(style: &str) -> String {
    format!(
        "default-src 'none'; style-src 'sha256-{}'; font-src data:; base-uri 'none'; form-action 'none'",
        hash(style)
    )
}

fn hash(text: &str) -> String {
    style::base64(&Sha256::digest(text.as_bytes()))
}

/// The name of the capture without its folder, which is the business of nobody to whom the page is handed on.
fn file_name(analysis: &Analysis) -> String {
    let path = &analysis.capture.path;
    clean::line(path.rsplit(['/', '\\']).next().unwrap_or(path))
}

fn caption(analysis: &Analysis, t: &Catalogue) -> String {
    let path = file_name(analysis);
    match (analysis.capture.first_time, analysis.capture.duration_s) {
        (Some(start), Some(duration)) => {
            let start = start.to_string();
            let (start, _) = start.split_once('.').unwrap_or((&start, ""));
            format!(
                "{path} · {} UTC{}{}",
                start.replacen('T', " ", 1),
                t.word("comma"),
                format::seconds(duration)
            )
        }
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_testkit::example;

    #[test]
    fn every_document_gives_a_page() {
        for document in example::all() {
            let html = render(&document, Language::English);
            assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
            assert!(
                html.contains("What did the rekeys cost?")
                    || html.contains("What went wrong in this tunnel?")
            );
        }
    }

    /// Line 1 is about the receive window, and so is the figure beside it.
    #[test]
    fn the_big_figure_is_that_of_line_1() {
        let mut document = example::seven_rekeys();
        let figure = |document: &Analysis| {
            let html = render(document, Language::English);
            let begin = html.split_once("<p class=\"big\">").map(|(_, rest)| rest);
            begin.and_then(|rest| Some(rest.split_once("<small>")?.0.to_owned()))
        };
        assert_eq!(
            figure(&document).as_deref(),
            Some("<b>7.3 %</b> Lost to the receive window")
        );
        document.account.clear();
        assert_eq!(figure(&document).as_deref(), Some("<b>1.3 %</b> Lost to rekeys"));
    }

    #[test]
    fn a_sheet_of_paper_says_how_many_rekeys_it_shows() {
        let shape = example::Shape {
            rekeys: 16,
            hurt_every: 2,
            ..Default::default()
        };
        let html = render(&example::build(&shape), Language::English);
        assert!(html.contains("5 of 16 shown: those that cost most."));
    }

    #[test]
    fn no_line_breaks_between_a_number_and_its_unit() {
        assert_eq!(
            unbroken("5 of 7 at 0.01–0.61 s: 1.1 s of 16 s (7.0 %)."),
            "5\u{a0}of 7\u{a0}at 0.01\u{2060}–\u{2060}0.61\u{a0}s: 1.1\u{a0}s of 16\u{a0}s (7.0\u{a0}%)."
        );
        assert_eq!(unbroken("22.58 秒以後"), "22.58\u{a0}秒以後");
        assert_eq!(
            unbroken("0.51～1.53 秒停止"),
            "0.51\u{2060}～\u{2060}1.53\u{a0}秒停止"
        );
    }

    #[test]
    fn the_header_names_the_capture_without_its_folder() {
        let mut document = example::seven_rekeys();
        for path in ["/home/me/run 1.pcapng", r"C:\Users\me\run 1.pcapng"] {
            document.capture.path = path.into();
            let html = render(&document, Language::English);
            assert!(html.contains("<title>Rekeys in run 1.pcapng</title>"));
            assert!(html.contains("· run 1.pcapng · "));
        }
    }

    #[test]
    fn hostile_text_stays_text() {
        let with_overlays = example::with_overlays(example::seven_rekeys());
        for document in [example::hostile(with_overlays), example::all().remove(9)] {
            let html = render(&document, Language::English);
            assert!(
                !html.contains("<script>alert") && !html.contains("<img"),
                "markup got through"
            );
            assert!(!html.chars().any(|c| c.is_control() && c != '\n'));
            assert!(!html.contains('\u{202e}'));
            assert_eq!(html.matches("</style>").count(), 1);
            assert_eq!(html.matches("<script").count(), 1);
            assert_eq!(html.matches("</script").count(), 1);
        }
    }

    #[test]
    fn nothing_is_loaded_from_anywhere() {
        let html = render(&example::seven_rekeys(), Language::English);
        assert!(html.contains("default-src &#39;none&#39;") || html.contains("default-src 'none'"));
        let urls: Vec<&str> = html
            .match_indices("://")
            .map(|(i, _)| &html[i.saturating_sub(5)..i + 20])
            .collect();
        assert!(
            urls.iter()
                .all(|u| u.contains("www.w3.org/2000/svg"[..10].trim_end())),
            "{urls:?}"
        );
        assert_eq!(
            html.matches("src:url(").count(),
            html.matches("src:url(data:").count()
        );
    }

    #[test]
    fn every_link_has_its_target() {
        for document in example::all() {
            let html = render(&document, Language::English);
            for (at, _) in html.match_indices("href=\"#") {
                let id = html[at + 7..].split('"').next().unwrap();
                assert!(html.contains(&format!("id=\"{id}\"")), "#{id}");
            }
        }
    }

    #[test]
    fn sections_stand_in_order() {
        let html = render(
            &example::with_overlays(example::seven_rekeys()),
            Language::English,
        );
        let order = [
            "verdict",
            "in-full",
            "tunnel-0",
            "causes",
            "account",
            "projection",
            "verdicts",
            "overlays",
            "findings",
            "quality",
            "overhead",
            "method",
        ];
        let at: Vec<usize> = order
            .iter()
            .map(|id| {
                html.find(&format!("id=\"{id}\""))
                    .unwrap_or_else(|| panic!("no #{id}"))
            })
            .collect();
        assert!(at.is_sorted(), "{at:?}");
        for needed in ["Yamaha NVR5x0", "strongSwan", "rekeyscope 0.1.0"] {
            assert!(html.contains(needed), "{needed}");
        }
    }

    #[test]
    fn the_packets_around_one_rekey_are_seen_and_those_of_the_others_are_folded() {
        let html = render(&example::seven_rekeys(), Language::English);
        assert_eq!(html.matches("<figure id=\"close-up-").count(), 7);
        assert_eq!(html.matches("<details class=\"close-up\" open>").count(), 1);
        let open = html.split("<details class=\"close-up\" open>").nth(1).unwrap();
        assert!(open.starts_with("<summary>Rekey 2 at "), "{}", &open[..80]);
        let older = example::build(&example::Shape {
            traffic: false,
            ..Default::default()
        });
        assert!(!render(&older, Language::English).contains("close-up-1"));
    }

    #[test]
    fn ids_are_unique() {
        for document in example::all() {
            let html = render(&document, Language::English);
            let mut seen = HashSet::new();
            for (at, _) in html.match_indices(" id=\"") {
                let id = html[at + 5..].split('"').next().unwrap();
                assert!(seen.insert(id), "{id} twice");
            }
        }
    }

    #[test]
    fn five_hundred_rekeys_fit_in_a_mail() {
        let shape = example::Shape {
            rekeys: 500,
            seconds: 20_000.0,
            bin_ms: 1000.0,
            ..Default::default()
        };
        let html = render(&example::build(&shape), Language::English);
        assert!(html.len() < 5_000_000, "{}", html.len());
    }

    /// A document may hold so many bins, rekeys and overlay values: a capture of a gigabyte cannot have more.
    #[test]
    fn the_largest_document_fits_in_a_mail() {
        let shape = example::Shape {
            rekeys: 2_000,
            seconds: 20_000.0,
            bin_ms: 1000.0,
            tunnels: 3,
            ..Default::default()
        };
        let mut document = example::with_overlays(example::build(&shape));
        for overlay in &mut document.overlays {
            let first = overlay.points[0].clone();
            let point = |k: usize| rekeyscope_model::analysis::OverlayPoint {
                time: first.time.plus_seconds(k as f64),
                value: (k % 97) as f64,
                ..first.clone()
            };
            overlay.points = (0..20_000).map(point).collect();
        }
        let html = render(&document, Language::English);
        assert!(html.len() < 5_000_000, "{}", html.len());
        assert!(html.matches("<polyline").count() > 6);
    }

    /// Writes every example, and the documents `*.json` that lie there, as files to look at: `REKEYSCOPE_GALLERY=/tmp/gallery cargo test -p rekeyscope-report --lib gallery -- --ignored`.
    #[test]
    #[ignore = "writes files to look at"]
    fn gallery() {
        let Some(dir) = std::env::var_os("REKEYSCOPE_GALLERY").map(std::path::PathBuf::from) else {
            return;
        };
        let given = std::fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let given: Vec<Analysis> = given
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
            .collect();
        for (n, document) in example::all().iter().chain(&given).enumerate() {
            std::fs::write(dir.join(format!("{n}.html")), render(document, Language::English)).unwrap();
            std::fs::write(
                dir.join(format!("{n}.document")),
                serde_json::to_string(document).unwrap(),
            )
            .unwrap();
            let options = crate::formats::text::TextOptions {
                width: 80,
                color: true,
                language: Language::English,
            };
            std::fs::write(
                dir.join(format!("{n}.txt")),
                crate::formats::text::render(document, options),
            )
            .unwrap();
            for plots in plot::render(document, Language::English) {
                for plot in plots.iter().take(3) {
                    std::fs::write(dir.join(format!("{n}-{}.svg", plot.name)), plot.standalone()).unwrap();
                }
            }
        }
    }
}
