//! The parts of a page as its template wants them: strings, cleaned.

use super::{MOST_ENTRIES, MOST_ROWS};
use crate::analysis::{Analysis, Cause, Impact, KeyFile, Rekey, Severity};
use crate::report::focus::{Focus, number};
use crate::report::plot::{self, TunnelPlots};
use crate::report::tables::{self, Align, Column, Mark, Row, Table};
use crate::report::{clean, format, words};
use std::collections::HashSet;

/// Verdict sentences written out beside the headline's.
const MOST_SENTENCES: usize = 6;
/// Overlays shown.
const MOST_OVERLAYS: usize = 8;
/// Frames named per cause or finding.
const MOST_FRAMES: usize = 12;

/// A figure of the verdict.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) detail: String,
}

/// The answer, and what it rests on.
pub(super) struct VerdictView {
    pub(super) class: &'static str,
    pub(super) label: &'static str,
    pub(super) sentence: String,
    pub(super) explained: String,
    pub(super) figures: Vec<Figure>,
    pub(super) direction: String,
    pub(super) bound: String,
    pub(super) detectable: String,
    pub(super) disagreeing: String,
}

impl VerdictView {
    /// Of the first verdict.
    pub(super) fn new(focus: &Focus) -> VerdictView {
        let (analysis, t) = (focus.analysis, focus.t);
        let headline = analysis.impact.first();
        let of = |words: fn(&Impact) -> Option<String>| headline.and_then(words).unwrap_or_default();
        VerdictView {
            class: headline.map_or("", |i| i.verdict.as_str()),
            label: headline.map_or("no tunnel", |i| words::verdict(i.verdict)),
            sentence: headline.map_or_else(
                || words::no_verdict(analysis).into(),
                |i| clean::said(t, &i.sentence, &i.messages),
            ),
            explained: of(words::explained),
            figures: headline.map(figures).unwrap_or_default(),
            direction: headline
                .map_or_else(String::new, |i| words::direction(analysis, i.tunnel, i.direction)),
            bound: headline.map_or_else(String::new, |i| {
                clean::said(t, &i.arithmetic_bound, &i.arithmetic_bound_messages)
            }),
            detectable: of(words::detectable),
            disagreeing: of(words::disagreeing),
        }
    }
}

/// What the capture is worth.
pub(super) fn quality(analysis: &Analysis) -> Vec<String> {
    let mut quality = vec![words::capture(&analysis.capture)];
    quality.extend(words::quality(&analysis.capture));
    quality.push(words::decryption(analysis));
    quality
}

/// The part of a page about one tunnel.
pub(super) struct TunnelView {
    pub(super) id: usize,
    pub(super) title: String,
    pub(super) timeline: Option<String>,
    pub(super) means: Vec<String>,
    /// Its id, the id of its row, the drawing.
    pub(super) panels: Vec<(String, String, String)>,
    pub(super) panels_left_out: usize,
    pub(super) rekeys: Table,
    pub(super) rekeys_label: String,
    pub(super) rules: Vec<String>,
    pub(super) sas: Table,
    pub(super) sas_label: String,
}

pub(super) struct CauseView {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) evidence: Vec<Evidence>,
    pub(super) left_out: usize,
}

pub(super) struct Evidence {
    pub(super) number: usize,
    /// Whether the table of rekeys has a row for it.
    pub(super) listed: bool,
    pub(super) confidence: String,
    pub(super) frames: String,
    pub(super) filter: String,
}

pub(super) struct FindingView {
    pub(super) warning: bool,
    pub(super) sentence: String,
    pub(super) frames: String,
    pub(super) filter: String,
}

pub(super) struct KeyFileView {
    pub(super) sentence: String,
    pub(super) problems: Vec<String>,
}

impl Column {
    pub(super) fn is_right(&self) -> bool {
        self.align == Align::Right
    }
}

impl Row {
    pub(super) fn class(&self) -> &'static str {
        match self.mark {
            Mark::None => "",
            Mark::Alert => "alert",
            Mark::Faint => "faint",
        }
    }
}

impl Table {
    pub(super) fn zip<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = (&'a Column, &'a String)> {
        self.columns.iter().zip(&row.cells)
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

pub(super) fn other_sentences(focus: &Focus) -> Vec<(String, String)> {
    let others = focus.other_verdicts().iter().take(MOST_SENTENCES);
    others
        .map(|i| {
            (
                words::direction(focus.analysis, i.tunnel, i.direction),
                clean::said(focus.t, &i.sentence, &i.messages),
            )
        })
        .collect()
}

pub(super) fn timeline_caption(analysis: &Analysis) -> String {
    let counted = analysis.impact.first().map_or("", |i| words::counted(i.counted));
    format!(
        "Line: mean; band: lowest to highest bin of {} behind each point; bursts are cut off at the top; counted: {counted}. \
         Vertical marks: rekeys, from the first message of the exchange to the switch of that direction; those in \
         orange hurt. A mark links to the row of its rekey.",
        format::duration_ms(analysis.series.bin_ms)
    )
}

pub(super) fn tunnel_view(focus: &Focus, plots: &TunnelPlots) -> TunnelView {
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
        rules: words::trigger_rules(focus.analysis, tunnel),
        sas_label: format!("SAs of tunnel {tunnel}"),
        sas: tables::security_associations(focus, tunnel, MOST_ROWS),
    }
}

pub(super) fn causes(analysis: &Analysis, rows: &HashSet<String>) -> Vec<CauseView> {
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

pub(super) fn evidence(rekey: &Rekey, cause: &Cause, rows: &HashSet<String>) -> Evidence {
    let number = number(rekey);
    Evidence {
        number,
        listed: rows.contains(&format!("rekey-{number}")),
        confidence: cause.confidence.to_string(),
        frames: frames(&cause.evidence_frames),
        filter: clean::line(&cause.display_filter),
    }
}

pub(super) fn findings(analysis: &Analysis) -> Vec<FindingView> {
    let view = |f: &crate::analysis::Finding| FindingView {
        warning: f.severity == Severity::Warning,
        sentence: clean::line(&f.sentence),
        frames: frames(&f.evidence_frames),
        filter: clean::line(&f.display_filter),
    };
    analysis.findings.iter().take(MOST_ENTRIES).map(view).collect()
}

/// An overlay: its name, what is said of it, its values around the rekeys.
pub(super) struct OverlayView {
    pub(super) name: String,
    pub(super) sentences: Vec<String>,
    pub(super) table: Table,
}

pub(super) fn overlays(focus: &Focus) -> Vec<OverlayView> {
    let all = focus.analysis.overlays.iter().take(MOST_OVERLAYS);
    all.map(|o| OverlayView {
        name: words::overlay(o),
        sentences: o.sentences.iter().map(|s| clean::line(s)).collect(),
        table: tables::overlay(focus, o, MOST_ROWS),
    })
    .collect()
}

pub(super) fn frames(frames: &[u64]) -> String {
    let shown: Vec<String> = frames.iter().take(MOST_FRAMES).map(u64::to_string).collect();
    let more = if frames.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

pub(super) fn key_file(file: &KeyFile) -> KeyFileView {
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

pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
