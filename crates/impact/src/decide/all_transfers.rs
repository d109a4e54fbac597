//! All transfers of a direction taken together. Each was measured by itself; their rekeys are one sample, whose placebos are
//! drawn in each transfer in proportion to its rekeys.

use crate::decide::evaluate::{Choices, FREE_SHARE, evaluate, mean_stall, p_values};
use crate::decide::evaluation::Evaluation;
use crate::decide::hurt::Hurt;
use crate::decide::leg::Leg;
use crate::decide::verdict::{Decision, LEAST_EFFECT_S, VerdictEvidence, decide};
use crate::estimate::aggregate::{MeanStall, minimum_detectable};
use crate::estimate::baseline::{CHOSEN_WINDOW_S, WINDOWS_S};
use crate::estimate::placebo::DrawSums;
use crate::input::moment::RekeyMoment;
use crate::input::settings::MethodSettings;
use crate::input::transfer::PlacedRekey;

/// A W counts for all transfers together where it fits at least this share of their rekeys: P, on which that rests, follows
/// from a median as well.
const FITTING_SHARE: f64 = 0.5;

/// A W that fits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedWindow {
    /// W, seconds.
    pub(crate) seconds: f64,
    /// Share of the transfers outside of the affected intervals at this W.
    pub(crate) free_share: f64,
}

/// One run of the method on all transfers.
#[derive(Debug)]
pub(crate) struct AllTransfers {
    /// Every stretch between rests, in order of time.
    pub(crate) transfers: Vec<Evaluation>,
    /// Window lengths that fit.
    pub(crate) windows: Vec<SharedWindow>,
    /// Per window, from three rekeys on.
    pub(crate) means: Vec<Option<MeanStall>>,
    /// MDE at the chosen W.
    pub(crate) minimum_detectable_s: Option<f64>,
    /// No fitting W leaves 60 % free.
    pub(crate) mostly_affected: bool,
    /// The verdict.
    pub(crate) decision: Decision,
}

impl AllTransfers {
    /// Measures every stretch and puts them together.
    pub(crate) fn new(legs: &[Leg<'_>], settings: &MethodSettings, choices: &Choices) -> AllTransfers {
        let of =
            |leg: &Leg<'_>, settings: &MethodSettings| evaluate(&leg.course, &leg.rekeys, settings, choices);
        if let [only] = legs {
            return AllTransfers::of_one(of(only, settings));
        }
        let of_leg = |leg: &Leg<'_>| {
            let own = MethodSettings {
                rekeys_total: leg.rekeys.len(),
                ..settings.clone()
            };
            of(leg, &own)
        };
        let no_feedback = legs
            .iter()
            .flat_map(|leg| &leg.rekeys)
            .any(RekeyMoment::is_without_feedback);
        AllTransfers::of_several(legs.iter().map(of_leg).collect(), no_feedback, settings)
    }

    fn of_one(e: Evaluation) -> AllTransfers {
        let shared = e.windows.iter().map(|w| SharedWindow {
            seconds: w.seconds,
            free_share: w.free_share,
        });
        AllTransfers {
            windows: shared.collect(),
            means: e.means.clone(),
            minimum_detectable_s: e.minimum_detectable_s,
            mostly_affected: e.mostly_affected,
            decision: e.decision,
            transfers: vec![e],
        }
    }

    fn of_several(transfers: Vec<Evaluation>, no_feedback: bool, settings: &MethodSettings) -> AllTransfers {
        let mut whole = AllTransfers {
            transfers,
            windows: Vec::new(),
            means: Vec::new(),
            minimum_detectable_s: None,
            mostly_affected: false,
            decision: Decision::no_traffic(),
        };
        if !whole.transfers.iter().any(Evaluation::has_transfer) {
            return whole;
        }
        let fitting = whole.fitting();
        let measured: Vec<&Evaluation> = whole
            .transfers
            .iter()
            .filter(|e| fitting > 0 && !e.used.is_empty() && e.windows.len() >= fitting)
            .collect();
        let windows: Vec<SharedWindow> = (0..fitting).map(|w| shared(&measured, w)).collect();
        let stalls: Vec<Vec<f64>> = (0..fitting)
            .map(|w| measured.iter().flat_map(|e| e.seconds(w)).collect())
            .collect();
        let bias_s: Vec<Option<f64>> = (0..fitting).map(|w| bias(&measured, w)).collect();
        let means: Vec<Option<MeanStall>> = (0..fitting)
            .map(|w| mean_stall(&measured, w, &stalls[w], bias_s[w], settings))
            .collect();
        let eligible: Vec<usize> = (0..fitting)
            .filter(|&w| windows[w].free_share >= FREE_SHARE)
            .collect();
        let p = p_values(&drawn(&measured), &stalls, &bias_s, &eligible);
        let half = windows.iter().position(|w| w.seconds == CHOSEN_WINDOW_S);
        let chosen = half.or((fitting > 0).then_some(0));
        let mostly_affected = fitting > 0 && eligible.is_empty();
        let decision = decide(&VerdictEvidence {
            rekeys_known: settings.rekeys_total.max(whole.rekeys_given()),
            stalls: &stalls,
            means: &means,
            p: &p,
            eligible: &eligible,
            chosen,
            mostly_affected,
            hurt: &whole.hurt().copied().collect::<Vec<_>>(),
            least_effect_s: whole.least_effect_s(),
            interest_s: whole.interest_s(settings),
            late_starts: whole.late_starts() > 0,
            no_feedback,
        });
        whole.minimum_detectable_s = chosen.and_then(|w| minimum_detectable(&stalls[w]));
        (whole.windows, whole.means) = (windows, means);
        (whole.mostly_affected, whole.decision) = (mostly_affected, decision);
        whole
    }

    /// How many of the window lengths, shortest first, fit enough of the rekeys.
    fn fitting(&self) -> usize {
        let rekeys = |fitting: usize| -> usize {
            let fits = self.transfers.iter().filter(|e| e.windows.len() >= fitting);
            fits.map(|e| e.used.len()).sum()
        };
        let enough = |&fitting: &usize| rekeys(fitting) as f64 >= FITTING_SHARE * rekeys(1) as f64;
        (1..=WINDOWS_S.len())
            .rev()
            .find(enough)
            .filter(|_| rekeys(1) > 0)
            .unwrap_or(0)
    }

    /// Rekeys given, used or not.
    fn rekeys_given(&self) -> usize {
        self.transfers.iter().map(|e| e.indexes.len()).sum()
    }

    /// The used rekeys, in order of time.
    pub(crate) fn used(&self) -> impl Iterator<Item = &PlacedRekey> {
        self.transfers.iter().flat_map(|e| &e.used)
    }

    /// All rekeys of stretches with a transfer.
    pub(crate) fn placed(&self) -> impl Iterator<Item = &PlacedRekey> {
        self.transfers.iter().flat_map(|e| &e.placed)
    }

    /// Per used rekey.
    pub(crate) fn hurt(&self) -> impl Iterator<Item = &Hurt> {
        self.transfers.iter().flat_map(|e| &e.hurt)
    }

    /// Number of used rekeys.
    pub(crate) fn used_count(&self) -> usize {
        self.used().count()
    }

    /// Document indexes of the rekeys that hurt, ascending.
    pub(crate) fn hurt_indexes(&self) -> Vec<usize> {
        let mut indexes: Vec<usize> = self.transfers.iter().flat_map(Evaluation::hurt_indexes).collect();
        indexes.sort_unstable();
        indexes
    }

    /// Used rekeys whose exchange began, or may have begun, before their window.
    pub(crate) fn late_starts(&self) -> usize {
        self.transfers.iter().map(Evaluation::late_starts).sum()
    }

    /// Length of the transfers, seconds.
    pub(crate) fn run_s(&self) -> f64 {
        self.transfers.iter().map(Evaluation::run_s).sum()
    }

    /// New bytes within them.
    pub(crate) fn bytes(&self) -> f64 {
        self.transfers.iter().map(|e| e.bytes).sum()
    }

    /// Holes of the capture within them, and their length in seconds.
    pub(crate) fn unobserved(&self) -> (usize, f64) {
        let holes = self.transfers.iter().map(|e| e.unobserved);
        holes.fold((0, 0.0), |(n, s), (more, seconds)| (n + more, s + seconds))
    }

    /// The largest burst period, seconds; `None` where new data comes evenly in all of them.
    pub(crate) fn burst_s(&self) -> Option<f64> {
        self.transfers.iter().filter_map(|e| e.burst_s).reduce(f64::max)
    }

    /// Effects up to this are never *shown*, seconds.
    pub(crate) fn least_effect_s(&self) -> f64 {
        let each = self.transfers.iter().map(Evaluation::least_effect_s);
        each.fold(LEAST_EFFECT_S, f64::max)
    }

    /// Mean distance of used rekeys within a transfer, seconds; where each has only one, the mean length of these transfers.
    pub(crate) fn mean_interval_s(&self) -> Option<f64> {
        let with_rekeys: Vec<&Evaluation> = self.transfers.iter().filter(|e| !e.used.is_empty()).collect();
        let between = with_rekeys.iter().filter_map(|e| {
            let s = e.used.last()?.started_s - e.used.first()?.started_s;
            (s > 0.0).then_some((s, e.used.len() - 1))
        });
        let (sum_s, intervals) = between.fold((0.0, 0), |(sum, n), (s, more)| (sum + s, n + more));
        if intervals > 0 {
            return Some(sum_s / intervals as f64);
        }
        let length_s: f64 = with_rekeys.iter().map(|e| e.run_s()).sum();
        (!with_rekeys.is_empty()).then(|| length_s / with_rekeys.len() as f64)
    }

    /// Effect of interest: its share of the mean rekey interval, seconds.
    pub(crate) fn interest_s(&self, settings: &MethodSettings) -> Option<f64> {
        self.mean_interval_s().map(|s| s * settings.interest)
    }

    /// The window at which the stall is sized.
    pub(crate) fn decided_window(&self) -> Option<&SharedWindow> {
        self.windows.get(self.decision.window?)
    }

    /// The mean stall at that window.
    pub(crate) fn decided_stall(&self) -> Option<MeanStall> {
        self.means.get(self.decision.window?).copied().flatten()
    }

    /// Transfers with something to measure.
    pub(crate) fn measurable(&self) -> impl Iterator<Item = &Evaluation> {
        self.transfers.iter().filter(|e| e.has_transfer())
    }
}

/// A window of several transfers.
fn shared(measured: &[&Evaluation], window: usize) -> SharedWindow {
    let all: i64 = measured.iter().map(|e| e.run.len()).sum();
    let affected: i64 = measured.iter().map(|e| e.windows[window].affected.bins()).sum();
    SharedWindow {
        seconds: WINDOWS_S[window],
        free_share: (all - affected) as f64 / all.max(1) as f64,
    }
}

/// The bias of a mean over the rekeys of several transfers; `None` where it could not be measured in one of them.
fn bias(measured: &[&Evaluation], window: usize) -> Option<f64> {
    let rekeys: usize = measured.iter().map(|e| e.used.len()).sum();
    let weighted = |e: &&Evaluation| Some(e.bias_s.get(window).copied().flatten()? * e.used.len() as f64);
    let sum = measured.iter().map(weighted).sum::<Option<f64>>()?;
    Some(sum / rekeys.max(1) as f64)
}

/// Each transfer's draws joined to draws over all. Those of equal number come from the same random numbers: each transfer's
/// are moved on by one more, so that no draw holds the same ranks of two transfers.
fn drawn(measured: &[&Evaluation]) -> Vec<DrawSums> {
    let mut all = measured.first().map(|e| e.drawn.clone()).unwrap_or_default();
    for (moved, e) in measured.iter().enumerate().skip(1) {
        for (sum, own) in all.iter_mut().zip(e.drawn.iter().cycle().skip(moved)) {
            sum.add(own);
        }
    }
    all
}

#[cfg(test)]
mod tests;
