//! The packets around each rekey, as a page wants them.

use crate::plot::label::effect_of;
use crate::plot::{Plot, TunnelPlots};
use crate::words;
use crate::words::focus::{Focus, began, key, name};
use crate::words::format;
use rekeyscope_model::analysis::{CloseUp, Rekey};

/// One rekey's.
pub(super) struct CloseUpView {
    pub(super) plot: Plot,
    /// The rekey, when it was and what it did.
    pub(super) name: String,
    pub(super) label: String,
    pub(super) sentence: String,
    /// All packets drawn.
    pub(super) filter: String,
    /// The one that is seen without asking.
    pub(super) open: bool,
}

/// Close-ups that are drawn, in order of time; that with the longest silence is open, and of several alike that with the most packets.
pub(super) fn close_ups(focus: &Focus, plots: &TunnelPlots) -> Vec<CloseUpView> {
    // Few of thousands have one: what tells a rekey from all others is asked of those.
    let mut rekeys = focus.rekeys(plots.tunnel).filter(|r| r.close_up.is_some());
    let mut of = |plot: &Plot| rekeys.find(|r| plot.name == format!("close-up-{}", key(focus.analysis, r)));
    let both = |plot| of(plot).and_then(|r| Some((r, r.close_up.as_ref()?, plot)));
    let all: Vec<(&Rekey, &CloseUp, &Plot)> = plots.close_ups.iter().filter_map(both).collect();
    let silence = |r| focus.shown(r).and_then(|i| i.silence_ms).unwrap_or(0.0);
    let drawn = |shown: &CloseUp| {
        shown
            .series
            .iter()
            .map(|series| series.frames.len())
            .sum::<usize>()
    };
    let longest = all.iter().max_by(|a, b| {
        let silences = silence(a.0).total_cmp(&silence(b.0));
        silences.then_with(|| drawn(a.1).cmp(&drawn(b.1)))
    });
    let open = longest.map(|l| l.0.index);
    let view = |(rekey, shown, plot): &(&Rekey, &CloseUp, &Plot)| CloseUpView {
        plot: (*plot).clone(),
        name: heading(focus, rekey),
        label: label(focus, rekey),
        sentence: words::close_up(focus.t, shown),
        filter: words::close_up_filter(shown),
        open: Some(rekey.index) == open,
    };
    all.iter().map(view).collect()
}

fn heading(focus: &Focus, rekey: &Rekey) -> String {
    let number = name(focus.t, focus.analysis, rekey);
    let when = began(rekey).and_then(|t| focus.seconds(t)).map(format::clock);
    let effect = effect_of(focus, rekey);
    match when {
        Some(when) => focus.t.fill(
            "plot-mark",
            &[("number", &number), ("when", &when), ("effect", &effect)],
        ),
        None => focus.t.fill("plot-panel-title", &[("number", &number)]),
    }
}

fn label(focus: &Focus, rekey: &Rekey) -> String {
    let number = name(focus.t, focus.analysis, rekey);
    focus.t.fill(
        "page-close-up-label",
        &[("number", &number), ("tunnel", &rekey.tunnel)],
    )
}
