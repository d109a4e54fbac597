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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::made_up::stalled;
    use crate::estimate::stall::Dip;
    use crate::input::moment::ProvenEffect;

    fn moments(e: &Evaluation) -> Vec<RekeyMoment> {
        let of = |placed: &crate::input::transfer::PlacedRekey| RekeyMoment {
            index: placed.moment,
            start: placed.known,
            switched_s: placed.switched_s,
            proven: ProvenEffect::Nothing,
        };
        e.placed.iter().map(of).collect()
    }

    /// Three rekeys that stall 20 kB/s for 0.1, 0.2 and 0.3 s.
    fn three() -> Evaluation {
        let mut e = stalled(&[3.0, 5.0, 7.0], &[0.1, 0.2, 0.3]);
        e.ranks = vec![None; e.windows.len()];
        e.ranks[1] = Some(vec![0.5, 0.25, 0.125]);
        e.dips = vec![None; 3];
        e
    }

    #[test]
    fn a_used_rekey_is_listed_with_its_figures() {
        let mut e = three();
        e.dips[1] = Some(Dip {
            depth: 0.75,
            seconds: 0.4,
            censored: true,
        });
        (e.hurt[1].gap_s, e.hurt[1].p_gap, e.hurt[1].q, e.hurt[1].hurt) = (Some(0.3), 0.01, 0.02, true);
        let all = e.rekey_impacts(&moments(&e), Direction::AToB);
        let (index, second) = &all[1];
        assert_eq!((*index, second.used, second.hurt), (1, true, true));
        assert_eq!(
            (second.longest_gap_ms, second.p_gap, second.q),
            (Some(300.0), Some(0.01), Some(0.02))
        );
        assert_eq!((second.depth, second.dip_ms), (Some(0.75), Some(400.0)));
        assert_eq!(second.baseline_bps, Some(160_000.0));
        assert_eq!(second.flags, ["dip_censored"]);
        let window = &second.windows[1];
        assert_eq!((window.window_s, window.lost_bytes), (0.5, 4_000.0));
        assert_eq!((window.stall_ms, window.p), (200.0, Some(0.25)));
        assert_eq!(second.windows[0].p, None);
        assert_eq!(all[0].1.flags, [""; 0]);
    }

    #[test]
    fn one_that_is_not_used_says_why() {
        let flags = |change: &dyn Fn(&mut Evaluation)| {
            let mut e = three();
            e.placed[2].used = false;
            e.used.truncate(2);
            change(&mut e);
            let listed = e.rekey_impacts(&moments(&e), Direction::AToB).remove(2).1;
            assert!(!listed.used && listed.windows.is_empty());
            listed.flags
        };
        assert_eq!(flags(&|_| ()), ["outside_transfer"]);
        assert_eq!(flags(&|e| e.placed[2].idle = true), ["idle"]);
        assert_eq!(flags(&|e| e.placed[2].unobserved = true), ["capture_hole"]);
    }
}
