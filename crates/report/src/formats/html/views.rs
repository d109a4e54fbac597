//! The parts of a page that are more than words, tables and plots.

use crate::plot::label::effect_of;
use crate::plot::stalls::stalls;
use crate::plot::{self, Plot, TunnelPlots};
use crate::tables::{self, Align, Column, Row, Table};
use crate::words::focus::{Focus, began};
use crate::words::{self, LineFigure, format};
use rekeyscope_model::analysis::{Analysis, CloseUp, Impact, Rekey};
use rekeyscope_model::text::Catalogue;

/// Rows of the longer tables.
pub(super) const MOST_ROWS: usize = 600;
/// Entries of each list.
pub(super) const MOST_ENTRIES: usize = 100;

/// A figure of the verdict.
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) detail: String,
}

/// The capture, its limits, and how far it could be decrypted.
pub(super) fn quality(t: &Catalogue, analysis: &Analysis) -> Vec<String> {
    let mut quality = vec![words::capture(t, &analysis.capture)];
    quality.extend(words::quality(t, &analysis.capture));
    quality.push(words::decryption(t, analysis));
    quality
}

/// The part of a page about one tunnel.
pub(super) struct TunnelView<'a> {
    focus: &'a Focus<'a>,
    pub(super) plots: &'a TunnelPlots,
    pub(super) rekeys: Table,
    pub(super) close_ups: Vec<CloseUpView<'a>>,
}

impl<'a> TunnelView<'a> {
    pub(super) fn new(focus: &'a Focus<'a>, plots: &'a TunnelPlots) -> Self {
        TunnelView {
            focus,
            plots,
            rekeys: tables::rekeys(focus, plots.tunnel, MOST_ROWS).without_empty(),
            close_ups: close_ups(focus, plots),
        }
    }

    pub(super) fn ends(&self) -> String {
        let ends = self.focus.analysis.tunnels.get(self.plots.tunnel);
        ends.map_or_else(String::new, |ends| words::tunnel(self.focus.t, ends))
    }

    /// Counts the rekeys, where there are any.
    pub(super) fn counted_rekeys(&self) -> Option<String> {
        let any = self.focus.analysis.rekeys_of(self.plots.tunnel).next();
        any.map(|_| self.focus.counted_rekeys(self.plots.tunnel))
    }

    pub(super) fn tunnel(&self) -> usize {
        self.plots.tunnel
    }

    /// Explains the shading and the marks of the first picture, with the traffic that an outage is of where other traffic went on.
    pub(super) fn caption(&self) -> String {
        let t = self.focus.t;
        let directions = self.focus.directions(self.tunnel()).into_iter();
        let alone = directions.flat_map(|direction| stalls(self.focus, self.tunnel(), direction));
        let mut pairs: Vec<String> = alone
            .filter_map(|stall| stall.of)
            .map(|(a, b)| (a.min(b), a.max(b)))
            .map(|(one, other)| format!("{one}\u{a0}↔\u{a0}{other}"))
            .collect();
        pairs.sort();
        pairs.dedup();
        let mut sentences = vec![t.word("page-timeline-caption")];
        let counted = self.counted_rekeys();
        sentences.extend(counted.map(|counted| fill!(t, "page-timeline-marks", counted)));
        let mut attempts = self.focus.analysis.attempts_of(self.tunnel());
        sentences.extend(
            attempts
                .any(words::is_trouble)
                .then(|| t.word("page-timeline-attempts")),
        );
        sentences
            .extend((!pairs.is_empty()).then(|| fill!(t, "page-timeline-pairs", pairs = t.joined(&pairs))));
        t.sentences(&sentences)
    }

    /// Explains the lanes of the second picture.
    pub(super) fn detail_caption(&self) -> String {
        let (t, analysis, tunnel) = (self.focus.t, self.focus.analysis, self.plots.tunnel);
        let mut accounts = analysis.accounts_of(tunnel);
        let strips = accounts.any(|a| !a.runs.is_empty());
        let flows = analysis.flows_of(tunnel);
        let courses = flows.filter_map(|f| f.tcp.as_ref()?.course.as_ref()).count() > 0;
        let mut sentences = Vec::new();
        sentences.extend((strips && courses).then(|| t.word("page-courses")));
        sentences.extend(strips.then(|| t.word("page-account-strip")));
        sentences.extend(plot::drawn(self.focus, tunnel));
        t.sentences(&sentences)
    }
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

/// The big figure is that of line 1.
pub(super) fn big(focus: &Focus) -> Option<Figure> {
    let t = focus.t;
    Some(match words::figure(focus)? {
        LineFigure::Outage(outage) => Figure {
            name: t.word("figure-outage"),
            value: format::least(outage.at_least, format::seconds(outage.seconds)),
            detail: String::new(),
        },
        LineFigure::Lost(label, share, at_least) => Figure {
            name: fill!(t, "figure-lost-to", to = words::lost_to(t, label)),
            value: format::least(at_least, format::percent(share)),
            detail: t.word("figure-lost-detail"),
        },
    })
}

pub(super) fn figures(focus: &Focus, i: &Impact) -> Vec<Figure> {
    let t = focus.t;
    let ledger = focus.ledger(i).filter(|_| focus.measured(i) > 0);
    let lost = ledger.map(|l| format::least(l.at_least, format::seconds(l.cost_seconds)));
    let of = ledger.map_or_else(String::new, |l| {
        fill!(t, "figure-cost-detail", transfer = format::seconds(l.seconds))
    });
    let hurt = (focus.measured(i) > 0).then(|| {
        fill!(
            t,
            "figure-hurt-value",
            hurt = i.rekeys_hurt.len(),
            used = i.rekeys_used
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

/// Explains the line, the band and the marks of the throughput.
pub(super) fn how_to_read(focus: &Focus, headline: &Impact) -> String {
    let t = focus.t;
    let counted = words::counted(t, headline.counted);
    let bin = format::duration_ms(plot::drawn_bin_ms(focus, headline.tunnel));
    let mut sentences = vec![fill!(t, "page-timeline-how", bin, counted)];
    sentences.extend(plot::drawn(focus, headline.tunnel));
    t.sentences(&sentences)
}

// The packets around each rekey, as a page wants them.

/// One rekey's.
pub(super) struct CloseUpView<'a> {
    pub(super) plot: &'a Plot,
    pub(super) shown: &'a CloseUp,
    rekey: &'a Rekey,
    /// The one that is seen without asking.
    pub(super) open: bool,
}

/// Close-ups that are drawn, in order of time; that with the longest silence is open, and of several alike that with the most packets.
fn close_ups<'a>(focus: &Focus<'a>, plots: &'a TunnelPlots) -> Vec<CloseUpView<'a>> {
    // Few of thousands have one: what tells a rekey from all others is asked of those.
    let mut rekeys = focus
        .analysis
        .rekeys_of(plots.tunnel)
        .filter(|r| r.close_up.is_some());
    let view = |plot: &'a Plot| {
        let rekey = rekeys.find(|r| plot.name == format!("close-up-{}", focus.key(r)))?;
        let shown = rekey.close_up.as_ref()?;
        Some(CloseUpView {
            plot,
            shown,
            rekey,
            open: false,
        })
    };
    let mut all: Vec<CloseUpView> = plots.close_ups.iter().filter_map(view).collect();
    let silence = |view: &CloseUpView| focus.shown(view.rekey).and_then(|i| i.silence_ms).unwrap_or(0.0);
    let drawn = |view: &CloseUpView| view.shown.series.iter().map(|s| s.frames.len()).sum::<usize>();
    let longest = all.iter_mut().max_by(|a, b| {
        let silences = silence(a).total_cmp(&silence(b));
        silences.then_with(|| drawn(a).cmp(&drawn(b)))
    });
    if let Some(longest) = longest {
        longest.open = true;
    }
    all
}

impl CloseUpView<'_> {
    /// The rekey, when it was and what it did.
    pub(super) fn name(&self, focus: &Focus) -> String {
        let number = focus.name(self.rekey);
        match began(self.rekey).and_then(|t| focus.seconds(t)) {
            Some(_) => fill!(
                focus.t,
                "plot-mark",
                number,
                when = focus.clock(began(self.rekey)),
                effect = effect_of(focus, self.rekey)
            ),
            None => fill!(focus.t, "plot-panel-title", number),
        }
    }

    pub(super) fn label(&self, focus: &Focus) -> String {
        fill!(
            focus.t,
            "page-close-up-label",
            number = focus.name(self.rekey),
            tunnel = self.rekey.tunnel
        )
    }
}
