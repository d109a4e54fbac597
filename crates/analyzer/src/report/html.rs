//! One offline HTML file with inline SVG: no request leaves it, it prints, and it shows everything without a script.
//!
//! Every value goes through [`clean`] and is escaped by askama; only the style sheet and the plots, which escape their
//! own text, are marked safe.

use super::clean;
use super::focus::{Focus, number};
use super::format;
use super::plot::{self, TunnelPlots, style};
use super::tables::{self, Align, Column, Mark, Row, Table};
use super::words;
use crate::analysis::{Analysis, Cause, Impact, KeyFile, Rekey, Severity, TriggerKind, Verdict};
use askama::Template;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Rows of the longer tables.
const MOST_ROWS: usize = 600;
/// Evidence rows per cause, and entries of each list.
const MOST_ENTRIES: usize = 100;
/// Verdict sentences written out beside the headline's.
const MOST_SENTENCES: usize = 6;
/// Frames named per cause or finding.
const MOST_FRAMES: usize = 12;

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

/// A figure of the verdict.
struct Figure {
    name: &'static str,
    value: String,
    detail: String,
}

/// The part of a page about one tunnel.
struct TunnelView {
    id: usize,
    title: String,
    timeline: Option<String>,
    means: Vec<String>,
    /// Its id, the id of its row, the drawing.
    panels: Vec<(String, String, String)>,
    panels_left_out: usize,
    rekeys: Table,
    rekeys_label: String,
    sas: Table,
    sas_label: String,
}

struct CauseView {
    id: String,
    title: String,
    evidence: Vec<Evidence>,
    left_out: usize,
}

struct Evidence {
    number: usize,
    /// Whether the table of rekeys has a row for it.
    listed: bool,
    confidence: String,
    frames: String,
    filter: String,
}

struct FindingView {
    warning: bool,
    sentence: String,
    frames: String,
    filter: String,
}

struct KeyFileView {
    sentence: String,
    problems: Vec<String>,
}

impl Column {
    fn is_right(&self) -> bool {
        self.align == Align::Right
    }
}

impl Row {
    fn class(&self) -> &'static str {
        match self.mark {
            Mark::None => "",
            Mark::Alert => "alert",
            Mark::Faint => "faint",
        }
    }
}

impl Table {
    fn zip<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = (&'a Column, &'a String)> {
        self.columns.iter().zip(&row.cells)
    }
}

impl Page {
    fn new(focus: &Focus, plots: &[TunnelPlots]) -> Page {
        let analysis = focus.analysis;
        let headline = analysis.impact.first();
        let style = style_sheet();
        let tunnels: Vec<TunnelView> = plots.iter().map(|p| tunnel_view(focus, p)).collect();
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
            figures: headline.map(figures).unwrap_or_default(),
            direction: headline
                .map_or_else(String::new, |i| words::direction(analysis, i.tunnel, i.direction)),
            bound: headline.map_or_else(String::new, |i| clean::line(&i.arithmetic_bound)),
            detectable: headline.and_then(words::detectable).unwrap_or_default(),
            disagreeing: headline.and_then(words::disagreeing).unwrap_or_default(),
            verdicts: tables::verdicts(focus, MOST_ROWS),
            other_sentences: other_sentences(focus),
            quality,
            missing_keys: words::missing_keys(analysis).iter().map(|p| prose(p)).collect(),
            left_out: focus.tunnels.len() - tunnels.len(),
            with_panel: tunnels
                .iter()
                .flat_map(|t| t.panels.iter().map(|p| p.0.clone()))
                .collect(),
            tunnels,
            timeline_caption: timeline_caption(analysis),
            panels_caption:
                "Time in seconds from the first message of the exchange. Shaded: from that message to the \
                             first packet on the new SA. Dashed: the rate around it."
                    .to_string(),
            causes: causes(analysis, &rows),
            findings: findings(analysis),
            projection: tables::projection(focus),
            advice: advice(analysis).iter().map(|a| prose(a)).collect(),
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
                .map(key_file)
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

fn figures(i: &Impact) -> Vec<Figure> {
    let mut out = Vec::new();
    if let Some(s) = &i.stall_ms {
        let at_least = if i.at_least { "≥ " } else { "" };
        out.push(Figure {
            name: "Stall per rekey",
            value: format!("{at_least}{}", format::duration_ms(s.mean)),
            detail: format!(
                "95 %: {} to {}",
                format::duration_ms(s.low),
                format::duration_ms(s.high)
            ),
        });
    }
    let mut push = |name, value: Option<String>, detail: &str| {
        out.extend(value.map(|value| Figure {
            name,
            value,
            detail: detail.to_string(),
        }));
    };
    push(
        "p against placebos",
        i.p.map(format::probability),
        "corrected over the windows",
    );
    push(
        "Rekeys that hurt",
        (i.rekeys_used > 0).then(|| format!("{} of {}", i.rekeys_hurt.len(), i.rekeys_used)),
        "of those in the transfer",
    );
    push(
        "Rate observed",
        i.observed_bps.map(format::rate),
        words::counted(i.counted),
    );
    push(
        "Rate without the stalls",
        i.counterfactual_bps.map(format::rate),
        "bytes over the remaining time",
    );
    push(
        "Detectable stall",
        i.mde_ms.map(format::duration_ms),
        "per rekey, 80 % power",
    );
    out
}

fn other_sentences(focus: &Focus) -> Vec<(String, String)> {
    let others = focus.other_verdicts().iter().take(MOST_SENTENCES);
    others
        .map(|i| {
            (
                words::direction(focus.analysis, i.tunnel, i.direction),
                clean::line(&i.sentence),
            )
        })
        .collect()
}

fn timeline_caption(analysis: &Analysis) -> String {
    let counted = analysis.impact.first().map_or("", |i| words::counted(i.counted));
    format!(
        "Line: mean; band: lowest to highest bin of {} behind each point; bursts are cut off at the top; counted: {counted}. \
         Vertical marks: rekeys, from the first message of the exchange to the switch of that direction; those in \
         orange hurt. A mark links to the row of its rekey.",
        format::duration_ms(analysis.series.bin_ms)
    )
}

fn tunnel_view(focus: &Focus, plots: &TunnelPlots) -> TunnelView {
    let tunnel = plots.tunnel;
    TunnelView {
        id: tunnel,
        title: focus
            .analysis
            .tunnels
            .get(tunnel)
            .map_or_else(String::new, words::tunnel),
        timeline: plots.timeline.as_ref().map(plot::Plot::inline),
        means: plots.mean.iter().map(plot::Plot::inline).collect(),
        panels: plots
            .panels
            .iter()
            .map(|p| (p.name.clone(), p.name.replacen("panel", "rekey", 1), p.inline()))
            .collect(),
        panels_left_out: plots.panels_left_out,
        rekeys: tables::rekeys(focus, tunnel, MOST_ROWS),
        rekeys_label: format!("Rekeys of tunnel {tunnel}"),
        sas_label: format!("SAs of tunnel {tunnel}"),
        sas: tables::security_associations(focus, tunnel, MOST_ROWS),
    }
}

fn causes(analysis: &Analysis, rows: &HashSet<String>) -> Vec<CauseView> {
    let view = |found: words::Found| CauseView {
        id: clean::line(found.id),
        title: capitalised(&found.title()),
        evidence: found
            .rekeys
            .iter()
            .take(MOST_ENTRIES)
            .map(|(r, c)| evidence(r, c, rows))
            .collect(),
        left_out: found.rekeys.len().saturating_sub(MOST_ENTRIES),
    };
    words::causes(analysis)
        .into_iter()
        .take(MOST_ENTRIES)
        .map(view)
        .collect()
}

fn evidence(rekey: &Rekey, cause: &Cause, rows: &HashSet<String>) -> Evidence {
    let number = number(rekey);
    Evidence {
        number,
        listed: rows.contains(&format!("rekey-{number}")),
        confidence: cause.confidence.to_string(),
        frames: frames(&cause.evidence_frames),
        filter: clean::line(&cause.display_filter),
    }
}

fn findings(analysis: &Analysis) -> Vec<FindingView> {
    let view = |f: &crate::analysis::Finding| FindingView {
        warning: f.severity == Severity::Warning,
        sentence: clean::line(&f.sentence),
        frames: frames(&f.evidence_frames),
        filter: clean::line(&f.display_filter),
    };
    analysis.findings.iter().take(MOST_ENTRIES).map(view).collect()
}

fn frames(frames: &[u64]) -> String {
    let shown: Vec<String> = frames.iter().take(MOST_FRAMES).map(u64::to_string).collect();
    let more = if frames.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn key_file(file: &KeyFile) -> KeyFileView {
    KeyFileView {
        sentence: words::key_file(file),
        problems: file
            .problems
            .iter()
            .take(MOST_ENTRIES)
            .map(|p| clean::line(p))
            .collect(),
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// What to change on the systems that people have, where rekeys cost something and a volume triggered them.
fn advice(analysis: &Analysis) -> Vec<&'static str> {
    let costs = analysis
        .impact
        .iter()
        .any(|i| matches!(i.verdict, Verdict::Shown | Verdict::Some));
    let by_volume = analysis
        .rekeys
        .iter()
        .any(|r| r.trigger.kind == TriggerKind::Volume);
    if !costs || !by_volume {
        return Vec::new();
    }
    vec![
        "Windows' L2TP client proposes fixed limits (3,600 s and 250,000 kB): there the cipher suite, IKEv2 instead of \
         L2TP, or the other side are what can be changed.",
        "Yamaha NVR5x0: a longer kilobyte lifetime by `ipsec ike duration ipsec-sa`, another suite by `ipsec sa policy`. \
         As the IKEv1 responder the router takes over the initiator's lifetime.",
        "strongSwan: `life_bytes` and `rekey_bytes` of the child; leave room between the two, so that the new SA is up \
         before the old one reaches its hard limit.",
    ]
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
