//! One offline HTML file with inline SVG: no request leaves it, it prints, and it shows everything without a script.
//!
//! Every value goes through [`clean`] and is escaped by askama; only the style sheet and the plots, which escape their
//! own text, are marked safe.

pub mod comparison;
mod views;

use super::clean;
use super::focus::Focus;
use super::format;
use super::plot::{self, TunnelPlots, style};
use super::tables::{self, Row, Table};
use super::words;
use crate::analysis::Analysis;
use askama::Template;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use views::{CauseView, Figure, FindingView, KeyFileView, TunnelView};

/// Rows of the longer tables.
const MOST_ROWS: usize = 600;
/// Evidence rows per cause, and entries of each list.
const MOST_ENTRIES: usize = 100;

const CSS: &str = include_str!("../../templates/report.css");
/// Reads nothing but the page; the page is complete without it.
const SCRIPT: &str = include_str!("../../templates/report.js");

/// The whole document.
pub fn render(analysis: &Analysis) -> String {
    let focus = Focus::new(analysis);
    let plots = plot::of_focus(&focus);
    // The template formats plain strings and numbers into memory: there is nothing in it that can fail.
    Page::new(&focus, &plots).render().unwrap_or_default()
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    title: String,
    policy: String,
    style: String,
    script: &'static str,
    generator: String,
    capture: String,
    verdict_class: &'static str,
    verdict_label: &'static str,
    sentence: String,
    explained: String,
    figures: Vec<Figure>,
    direction: String,
    bound: String,
    detectable: String,
    disagreeing: String,
    verdicts: Table,
    other_sentences: Vec<(String, String)>,
    quality: Vec<String>,
    missing_keys: Vec<Vec<(bool, String)>>,
    tunnels: Vec<TunnelView>,
    left_out: usize,
    timeline_caption: String,
    panels_caption: String,
    with_panel: HashSet<String>,
    causes: Vec<CauseView>,
    findings: Vec<FindingView>,
    projection: Table,
    advice: Vec<Vec<(bool, String)>>,
    overhead: Table,
    flows: Table,
    bin: String,
    seed: Option<u64>,
    command: String,
    sensitivity: Table,
    key_files: Vec<KeyFileView>,
    diagnostics: Vec<String>,
}

impl Page {
    fn new(focus: &Focus, plots: &[TunnelPlots]) -> Page {
        let analysis = focus.analysis;
        let headline = analysis.impact.first();
        let style = style_sheet();
        let tunnels: Vec<TunnelView> = plots.iter().map(|p| views::tunnel_view(focus, p)).collect();
        let rows = tunnels
            .iter()
            .flat_map(|t| &t.rekeys.rows)
            .filter_map(|r| r.id.clone())
            .collect();
        let mut quality = vec![words::capture(&analysis.capture)];
        quality.extend(words::quality(&analysis.capture));
        quality.push(words::decryption(analysis));
        Page {
            title: format!("Rekeys in {}", clean::line(&analysis.capture.path)),
            policy: policy(&style),
            style,
            script: SCRIPT,
            generator: format!(
                "{} {}",
                clean::line(&analysis.generator.name),
                clean::line(&analysis.generator.version)
            ),
            capture: caption(analysis),
            verdict_class: headline.map_or("", |i| i.verdict.as_str()),
            verdict_label: headline.map_or("no tunnel", |i| words::verdict(i.verdict)),
            sentence: headline.map_or_else(
                || words::no_verdict(analysis).into(),
                |i| clean::line(&i.sentence),
            ),
            explained: headline.and_then(words::explained).unwrap_or_default(),
            figures: headline.map(views::figures).unwrap_or_default(),
            direction: headline
                .map_or_else(String::new, |i| words::direction(analysis, i.tunnel, i.direction)),
            bound: headline.map_or_else(String::new, |i| clean::line(&i.arithmetic_bound)),
            detectable: headline.and_then(words::detectable).unwrap_or_default(),
            disagreeing: headline.and_then(words::disagreeing).unwrap_or_default(),
            verdicts: tables::verdicts(focus, MOST_ROWS),
            other_sentences: views::other_sentences(focus),
            quality,
            missing_keys: words::missing_keys(analysis).iter().map(|p| prose(p)).collect(),
            left_out: focus.tunnels.len() - tunnels.len(),
            with_panel: tunnels
                .iter()
                .flat_map(|t| t.panels.iter().map(|p| p.0.clone()))
                .collect(),
            tunnels,
            timeline_caption: views::timeline_caption(analysis),
            panels_caption:
                "Time in seconds from the first message of the exchange. Shaded: from that message to the \
                             first packet on the new SA. Dashed: the rate around it."
                    .to_string(),
            causes: views::causes(analysis, &rows),
            findings: views::findings(analysis),
            projection: tables::projection(focus),
            advice: views::advice(analysis).iter().map(|a| prose(a)).collect(),
            overhead: tables::overhead(focus),
            flows: tables::flows(focus, 10),
            bin: format::duration_ms(analysis.series.bin_ms),
            seed: headline.map(|i| i.seed),
            command: format!(
                "rekeyscope '{}' --html report.html",
                clean::line(&analysis.capture.path)
            ),
            sensitivity: tables::sensitivity(focus),
            key_files: analysis
                .key_files
                .iter()
                .take(MOST_ENTRIES)
                .map(views::key_file)
                .collect(),
            diagnostics: analysis
                .diagnostics
                .iter()
                .take(MOST_ENTRIES)
                .map(words::diagnostic)
                .collect(),
        }
    }

    /// The panel of a rekey's row, where it has one.
    fn panel_of(&self, row: &Row) -> Option<String> {
        let id = row.id.as_ref()?.replacen("rekey", "panel", 1);
        self.with_panel.contains(&id).then_some(id)
    }
}

fn style_sheet() -> String {
    format!("{}{}{}", CSS, style::dark_css(), style::font_face())
}

/// Our own sentences, in which backticks set off what is typed: pieces, and whether each is code.
fn prose(text: &str) -> Vec<(bool, String)> {
    text.split('`')
        .enumerate()
        .map(|(i, piece)| (i % 2 == 1, clean::line(piece)))
        .collect()
}

/// Content Security Policy: nothing is loaded, and only this style sheet and this script apply.
fn policy(style: &str) -> String {
    let hash = |text: &str| style::base64(&Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; font-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(style),
        hash(SCRIPT)
    )
}

fn caption(analysis: &Analysis) -> String {
    let path = clean::line(&analysis.capture.path);
    match (analysis.capture.first_time, analysis.capture.duration_s) {
        (Some(start), Some(duration)) => {
            let start = start.to_string();
            let (start, _) = start.split_once('.').unwrap_or((&start, ""));
            format!(
                "{path} · {} UTC, {}",
                start.replacen('T', " ", 1),
                format::seconds(duration)
            )
        }
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn every_document_gives_a_page() {
        for document in example::all() {
            let html = render(&document);
            assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
            assert!(html.contains("What did the rekeys cost?"));
        }
    }

    #[test]
    fn hostile_text_stays_text() {
        for document in [
            example::hostile(example::seven_rekeys()),
            example::all().remove(9),
        ] {
            let html = render(&document);
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
        let html = render(&example::seven_rekeys());
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
            let html = render(&document);
            for (at, _) in html.match_indices("href=\"#") {
                let id = html[at + 7..].split('"').next().unwrap();
                assert!(html.contains(&format!("id=\"{id}\"")), "#{id}");
            }
        }
    }

    #[test]
    fn ids_are_unique() {
        for document in example::all() {
            let html = render(&document);
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
        let html = render(&example::build(&shape));
        assert!(html.len() < 5_000_000, "{}", html.len());
    }

    /// Writes every example, and the documents `*.json` that lie there, as files to look at: `REKEYSCOPE_GALLERY=/tmp/gallery cargo test --lib gallery -- --ignored`.
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
            std::fs::write(dir.join(format!("{n}.html")), render(document)).unwrap();
            std::fs::write(
                dir.join(format!("{n}.document")),
                serde_json::to_string(document).unwrap(),
            )
            .unwrap();
            let options = crate::report::text::TextOptions {
                width: 80,
                color: true,
            };
            std::fs::write(
                dir.join(format!("{n}.txt")),
                crate::report::text::render(document, options),
            )
            .unwrap();
            for plots in plot::render(document) {
                for plot in plots.iter().take(3) {
                    std::fs::write(dir.join(format!("{n}-{}.svg", plot.name)), plot.standalone()).unwrap();
                }
            }
        }
    }
}
