//! The parts of a page as its template wants them: strings, cleaned.

use crate::formats::html::close_up::{self, CloseUpView};
use crate::formats::html::prose::{Prose, prose};
use crate::plot::{self, TunnelPlots};
use crate::tables::{self, Align, Column, Row, Table};
use crate::words::focus::{Focus, is_hurt, key};
use crate::words::{self, clean, format};
use rekeyscope_impact::explain::told_outages;
use rekeyscope_model::analysis::{Analysis, Impact, KeyFile, Severity, Verdict};
use rekeyscope_model::text::Catalogue;
use std::collections::HashSet;

/// Rows of the longer tables.
pub(super) const MOST_ROWS: usize = 600;
/// Evidence rows per cause, and entries of each list.
pub(super) const MOST_ENTRIES: usize = 100;
/// Verdict sentences written out beside the headline's.
const MOST_SENTENCES: usize = 6;
/// Overlays shown.
const MOST_OVERLAYS: usize = 8;

/// A figure of the verdict.
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) detail: String,
}

/// The answer, and what it rests on.
#[derive(Default)]
pub(super) struct VerdictView {
    pub(super) class: &'static str,
    pub(super) headline: String,
    pub(super) why: String,
    pub(super) change: Prose,
    pub(super) sentence: String,
    pub(super) account: String,
    pub(super) explained: String,
    /// The one number to remember.
    pub(super) big: Option<Figure>,
    pub(super) figures: Vec<Figure>,
    pub(super) direction: Prose,
    /// Sentences below the picture: how it is read.
    pub(super) how: String,
}

impl VerdictView {
    /// Something is said beyond the answer.
    pub(super) fn has_more(&self) -> bool {
        !(self.sentence.is_empty()
            && self.explained.is_empty()
            && self.direction.is_empty()
            && self.how.is_empty())
    }

    /// Of the first verdict.
    pub(super) fn new(focus: &Focus) -> VerdictView {
        let (analysis, t) = (focus.analysis, focus.t);
        let answer = words::answer(focus);
        let answered = VerdictView {
            headline: answer.headline,
            why: answer.why,
            change: prose(&answer.change),
            sentence: words::in_full(t, analysis).unwrap_or_default(),
            how: how_to_read(focus),
            ..VerdictView::default()
        };
        let Some(i) = analysis.impact.first() else {
            return answered;
        };
        let direction = words::direction(t, analysis, i.tunnel, i.direction);
        VerdictView {
            class: i.verdict.as_str(),
            account: words::account_of_headline(focus).unwrap_or_default(),
            explained: words::explained(t, i).unwrap_or_default(),
            big: big(focus, i),
            figures: figures(focus, i),
            direction: prose(&t.fill("page-in-json", &[("direction", &direction)])),
            ..answered
        }
    }
}

/// What the capture is worth.
pub(super) fn quality(t: &Catalogue, analysis: &Analysis) -> Vec<String> {
    let mut quality = vec![words::capture(t, &analysis.capture)];
    quality.extend(words::quality(t, &analysis.capture));
    quality.push(words::decryption(t, analysis));
    quality
}

/// The part of a page about one tunnel.
pub(super) struct TunnelView {
    pub(super) id: usize,
    /// Counts of rekeys and of those that hurt; the tunnel's ends where there are none.
    pub(super) title: String,
    pub(super) ends: String,
    pub(super) timeline: Option<String>,
    /// The second picture on the same time axis.
    pub(super) detail: Option<String>,
    pub(super) detail_caption: String,
    /// Its id, the id of its row, the drawing.
    pub(super) panels: Vec<(String, String, String)>,
    pub(super) panels_left_out: usize,
    pub(super) close_ups: Vec<CloseUpView>,
    pub(super) close_ups_left_out: usize,
    pub(super) rekeys: Table,
    pub(super) rekeys_label: String,
    pub(super) rules: Vec<String>,
    pub(super) attempts: Table,
    pub(super) attempts_label: String,
    pub(super) outages: Vec<String>,
    pub(super) sas: Table,
    pub(super) sas_label: String,
}

pub(super) struct CauseView {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) evidence: Vec<EvidenceView>,
    pub(super) left_out: usize,
}

pub(super) struct EvidenceView {
    /// The rekey in words.
    pub(super) name: String,
    /// The rekey in links.
    pub(super) key: String,
    /// Whether the table of rekeys has a row for it.
    pub(super) listed: bool,
    pub(super) why: String,
    pub(super) filter: String,
}

pub(super) struct FindingView {
    pub(super) warning: bool,
    pub(super) sentence: String,
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

/// Rows that a narrow screen shows one below the other; a longer table is scrolled there, as names in every cell would double it.
const MOST_STACKED: usize = 100;

impl Table {
    /// A narrow screen has no room for its columns.
    pub(super) fn is_wide(&self) -> bool {
        self.columns.len() > 4
    }

    pub(super) fn is_short(&self) -> bool {
        self.rows.len() <= MOST_STACKED
    }

    pub(super) fn zip<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = (&'a Column, &'a String)> {
        self.columns.iter().zip(&row.cells)
    }
}

/// The big figure is how long the tunnel was down where it was, else what rekeys cost; of anything else the answer needs no figure.
fn big(focus: &Focus, i: &Impact) -> Option<Figure> {
    let (t, analysis) = (focus.t, focus.analysis);
    let figure = |name: &str, value: String, detail: String| Figure {
        name: t.word(name),
        value,
        detail,
    };
    let longest = || {
        let outages = analysis.outages.iter();
        outages.max_by(|a, b| a.seconds.total_cmp(&b.seconds))
    };
    let failed = || longest().filter(|_| words::told_failure(analysis).is_some());
    if let Some(outage) = told_outages(analysis).map(|told| told.outage).or_else(failed) {
        let value = format::least(outage.at_least, format::seconds(outage.seconds));
        return Some(figure("figure-outage", value, String::new()));
    }
    let ledger = focus.ledger(i).filter(|_| i.verdict == Verdict::Shown)?;
    let value = format::least(ledger.at_least, format::percent(ledger.share));
    Some(figure("figure-lost", value, t.word("figure-lost-detail")))
}

fn figures(focus: &Focus, i: &Impact) -> Vec<Figure> {
    let t = focus.t;
    let ledger = focus.ledger(i).filter(|_| i.rekeys_used > 0);
    let lost = ledger.map(|l| format::least(l.at_least, format::seconds(l.cost_seconds)));
    let of = ledger.map_or_else(String::new, |l| {
        t.fill("figure-cost-detail", &[("transfer", &format::seconds(l.seconds))])
    });
    let hurt = (i.rekeys_used > 0).then(|| {
        t.fill(
            "figure-hurt-value",
            &[("hurt", &i.rekeys_hurt.len()), ("used", &i.rekeys_used)],
        )
    });
    let without = focus.without_bps(i).filter(|_| !i.rekeys_hurt.is_empty());
    let all = [
        ("figure-lost", lost, of),
        ("figure-hurt", hurt, t.word("figure-hurt-detail")),
        (
            "figure-observed",
            i.observed_bps.map(format::rate),
            words::counted(t, i.counted),
        ),
        (
            "figure-without",
            without.map(format::rate),
            t.word("figure-without-detail"),
        ),
    ];
    let known = all.into_iter().filter_map(|(name, value, detail)| {
        let name = t.word(name);
        value.map(|value| Figure { name, value, detail })
    });
    known.collect()
}

pub(super) fn other_sentences(focus: &Focus) -> Vec<(String, String)> {
    let others = focus.other_verdicts().iter().take(MOST_SENTENCES);
    others
        .map(|i| {
            (
                words::direction(focus.t, focus.analysis, i.tunnel, i.direction),
                clean::said(focus.t, &i.sentence, &i.messages),
            )
        })
        .collect()
}

/// Explains the line, the band and the marks of the throughput; empty where there is none.
fn how_to_read(focus: &Focus) -> String {
    let (t, analysis) = (focus.t, focus.analysis);
    let Some(headline) = analysis.impact.first() else {
        return String::new();
    };
    let counted = words::counted(t, headline.counted);
    let bin = format::duration_ms(plot::drawn_bin_ms(focus, headline.tunnel));
    let mut sentences = vec![t.fill("page-timeline-how", &[("bin", &bin), ("counted", &counted)])];
    sentences.extend(plot::drawn(focus, headline.tunnel));
    t.sentences(&sentences)
}

/// Explains the lanes of the second picture.
fn detail_caption(focus: &Focus, tunnel: usize) -> String {
    let (t, analysis) = (focus.t, focus.analysis);
    let mut accounts = analysis.account.iter().filter(|a| a.tunnel == tunnel);
    let strips = accounts.any(|a| !a.runs.is_empty());
    let flows = analysis.flows.iter().filter(|f| f.tunnel == tunnel);
    let courses = flows.filter_map(|f| f.tcp.as_ref()?.course.as_ref()).count() > 0;
    let mut sentences = Vec::new();
    sentences.extend((strips && courses).then(|| t.word("page-courses")));
    sentences.extend(strips.then(|| t.word("page-account-strip")));
    sentences.extend(plot::drawn(focus, tunnel));
    t.sentences(&sentences)
}

/// `7 rekeys, 5 hurt`.
fn counted_rekeys(focus: &Focus, tunnel: usize) -> Option<String> {
    let rekeys = focus.rekeys(tunnel).count();
    let hurt = focus.rekeys(tunnel).filter(|r| is_hurt(r)).count();
    let counted = format::counted(focus.t, "counted-rekeys", rekeys as u64);
    (rekeys > 0).then(|| {
        focus
            .t
            .fill("heading-rekeys", &[("rekeys", &counted), ("hurt", &hurt)])
    })
}

pub(super) fn tunnel_view(focus: &Focus, plots: &TunnelPlots) -> TunnelView {
    let (tunnel, t) = (plots.tunnel, focus.t);
    let named = |id: &str| t.fill(id, &[("tunnel", &tunnel)]);
    let ends = focus.analysis.tunnels.get(tunnel);
    let ends = ends.map_or_else(String::new, |ends| words::tunnel(t, ends));
    let counted = counted_rekeys(focus, tunnel);
    TunnelView {
        id: tunnel,
        ends: if counted.is_some() {
            ends.clone()
        } else {
            String::new()
        },
        title: counted.unwrap_or(ends),
        timeline: plots.timeline.as_ref().map(plot::Plot::inline),
        detail: plots.detail.as_ref().map(plot::Plot::inline),
        detail_caption: detail_caption(focus, tunnel),
        panels: plots
            .panels
            .iter()
            .map(|p| (p.name.clone(), p.name.replacen("panel", "rekey", 1), p.inline()))
            .collect(),
        panels_left_out: plots.panels_left_out,
        close_ups: close_up::close_ups(focus, plots),
        close_ups_left_out: plots.close_ups_left_out,
        rekeys: tables::rekeys(focus, tunnel, MOST_ROWS).without_empty(),
        rekeys_label: named("page-rekeys-of"),
        rules: words::trigger_rules(t, focus.analysis, tunnel),
        attempts: tables::attempts(focus, tunnel, true, MOST_ROWS).without_empty(),
        attempts_label: named("heading-attempts-of"),
        outages: words::outages(focus, tunnel, MOST_ENTRIES),
        sas_label: named("heading-sas-of"),
        sas: tables::security_associations(focus, tunnel, MOST_ROWS).without_empty(),
    }
}

pub(super) fn causes(focus: &Focus, rows: &HashSet<String>) -> Vec<CauseView> {
    let t = focus.t;
    let view = |found: words::FoundCause| {
        let places = found.places(focus);
        CauseView {
            id: found.cause.as_str().to_owned(),
            title: format::capitalised(&found.title(t)),
            left_out: places.len().saturating_sub(MOST_ENTRIES),
            evidence: places
                .into_iter()
                .take(MOST_ENTRIES)
                .map(|place| {
                    let key = place
                        .rekey
                        .map(|rekey| key(focus.analysis, rekey))
                        .unwrap_or_default();
                    EvidenceView {
                        name: place.name,
                        listed: rows.contains(&format!("rekey-{key}")),
                        key,
                        why: format::capitalised(&place.why),
                        filter: place.filter,
                    }
                })
                .collect(),
        }
    };
    words::causes(focus)
        .into_iter()
        .take(MOST_ENTRIES)
        .map(view)
        .collect()
}

pub(super) fn findings(t: &Catalogue, analysis: &Analysis) -> Vec<FindingView> {
    let view = |f: &rekeyscope_model::analysis::Finding| FindingView {
        warning: f.severity == Severity::Warning,
        sentence: clean::said(t, &f.sentence, &f.messages),
        filter: clean::sentence(&f.display_filter),
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
        sentences: words::overlay_sentences(focus.t, o),
        table: tables::overlay(focus, o, MOST_ROWS).without_empty(),
    })
    .collect()
}

pub(super) fn key_file(t: &Catalogue, file: &KeyFile) -> KeyFileView {
    KeyFileView {
        sentence: words::key_file(t, file),
        problems: file
            .problems
            .iter()
            .take(MOST_ENTRIES)
            .map(|p| clean::line(p))
            .collect(),
    }
}
