//! The entry of every rekey in the document, used or not.

use crate::decide::evaluation::Evaluation;
use crate::estimate::baseline::BaselineSource;
use crate::input::moment::{ProvenEffect, RekeyMoment};
use crate::input::start::Start;
use rekeyscope_model::analysis::{Direction, RekeyImpact, StallWindow};

impl Evaluation {
    /// One entry per moment given, used or not.
    pub(crate) fn rekey_impacts(
        &self,
        rekeys: &[RekeyMoment],
        direction: Direction,
    ) -> Vec<(usize, RekeyImpact)> {
        let mut results: Vec<(usize, RekeyImpact)> =
            rekeys.iter().map(|r| (r.index, unused(direction))).collect();
        for rekey in &self.placed {
            let Some((_, result)) = results.get_mut(rekey.moment) else {
                continue;
            };
            let proven = rekeys[rekey.moment].proven;
            let collided = proven == ProvenEffect::Collided;
            let flags = [
                (matches!(rekey.known, Start::Unseen { .. }), "no_exchange"),
                (
                    matches!(rekey.known, Start::LaterMessage(_)),
                    "first_message_missing",
                ),
                (matches!(rekey.known, Start::AfterSilence(_)), "silence_before"),
                (rekey.idle, "idle"),
                (rekey.unobserved, "capture_hole"),
                (collided, "collision"),
                (
                    !rekey.used && !rekey.idle && !rekey.unobserved && !collided,
                    "outside_transfer",
                ),
            ];
            result
                .flags
                .extend(flags.iter().filter(|f| f.0).map(|f| f.1.to_owned()));
        }
        for (k, rekey) in self.used.iter().enumerate() {
            if let Some((_, result)) = results.get_mut(rekey.moment) {
                self.fill(result, k);
            }
        }
        results
    }

    fn fill(&self, result: &mut RekeyImpact, k: usize) {
        let hurt = self.hurt[k];
        result.used = true;
        result.longest_gap_ms = hurt.gap_s.map(|s| s * 1000.0);
        result.p_gap = Some(hurt.p_gap);
        result.q = Some(hurt.q);
        result.hurt = hurt.hurt;
        result.depth = self.dips[k].map(|d| d.depth);
        result.dip_ms = self.dips[k].map(|d| d.seconds * 1000.0);
        if self.dips[k].is_some_and(|d| d.censored) {
            result.flags.push("dip_censored".to_owned());
        }
        if let Some(w) = self.chosen_window() {
            let baseline = self.stalls[w][k].baseline;
            result.baseline_bps = Some(baseline.rate * 8.0);
            match baseline.source {
                BaselineSource::BothSides => {}
                BaselineSource::OneSide => result.flags.push("one_sided_baseline".to_owned()),
                BaselineSource::FreeMean => result.flags.push("free_mean_baseline".to_owned()),
            }
            if baseline.non_stationary {
                result.flags.push("non_stationary".to_owned());
            }
        }
        result.windows = self
            .windows
            .iter()
            .enumerate()
            .map(|(w, window)| StallWindow {
                window_s: window.seconds,
                lost_bytes: self.stalls[w][k].lost_bytes,
                stall_ms: self.stalls[w][k].seconds * 1000.0,
                p: self.ranks[w].as_ref().map(|r| r[k]),
            })
            .collect();
    }
}

fn unused(direction: Direction) -> RekeyImpact {
    RekeyImpact {
        direction,
        used: false,
        baseline_bps: None,
        depth: None,
        dip_ms: None,
        longest_gap_ms: None,
        p_gap: None,
        q: None,
        hurt: false,
        proof: None,
        flags: Vec::new(),
        windows: Vec::new(),
    }
}
