//! The packets around each rekey, as a page wants them.

use crate::plot::label::effect_of;
use crate::plot::{Plot, TunnelPlots};
use crate::words::focus::{Focus, began};
use rekeyscope_model::analysis::{CloseUp, Rekey};

/// One rekey's.
pub(super) struct CloseUpView<'a> {
    pub(super) plot: &'a Plot,
    pub(super) shown: &'a CloseUp,
    rekey: &'a Rekey,
    /// The one that is seen without asking.
    pub(super) open: bool,
}

/// Close-ups that are drawn, in order of time; that with the longest silence is open, and of several alike that with the most packets.
pub(super) fn close_ups<'a>(focus: &Focus<'a>, plots: &'a TunnelPlots) -> Vec<CloseUpView<'a>> {
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
