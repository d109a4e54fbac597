//! From the evidence to the verdict.

use crate::decide::hurt::Hurt;
use crate::estimate::aggregate::{LEAST_REKEYS, MeanStall, still_growing};
use rekeyscope_model::analysis::Verdict;

/// One bin: effects below are real in very even traffic but mean nothing, seconds.
pub(crate) const LEAST_EFFECT_S: f64 = 0.01;
/// Level of the placebo test, for at most 1 % of no-effect runs *shown*: at 0.025 it was 1.4 %, at 0.05 6–9 % of those with rekeys
/// every 10 s.
pub const LEVEL: f64 = 0.012;
/// With this share of the rekeys hurt one by one, the verdict does not hang on the third digit of p.
const MOST_HURT: f64 = 0.5;

/// What the verdict rests on. Indexes are positions in the list of fitting windows.
#[derive(Debug)]
pub(crate) struct VerdictEvidence<'a> {
    /// Rekeys of the tunnel, used or not.
    pub(crate) rekeys_known: usize,
    /// `stalls[w][k]` of the used rekeys, seconds.
    pub(crate) stalls: &'a [Vec<f64>],
    /// Mean stall per window; `None` with too few rekeys.
    pub(crate) means: &'a [Option<MeanStall>],
    /// p per window where it has a null.
    pub(crate) p: &'a [Option<f64>],
    /// Windows with a null.
    pub(crate) eligible: &'a [usize],
    /// 0.5 s, else the smallest.
    pub(crate) chosen: Option<usize>,
    /// No window has a null.
    pub(crate) mostly_affected: bool,
    /// Per used rekey.
    pub(crate) hurt: &'a [Hurt],
    /// Effects up to this are never *shown*, seconds.
    pub(crate) least_effect_s: f64,
    /// Effect of interest, seconds.
    pub(crate) interest_s: Option<f64>,
    /// Some windows begin after their exchange did.
    pub(crate) late_starts: bool,
    /// Payload that nobody acknowledges was lost: the series counted it as progress.
    pub(crate) no_feedback: bool,
}

/// The verdict and where it was sized.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decision {
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// Window at which the stall is sized.
    pub(crate) window: Option<usize>,
    /// The stall still grew, or may have, at the largest fitting window, or the exchange began before the window.
    pub(crate) at_least: bool,
    /// Smallest p, which is corrected over all windows.
    pub(crate) p: Option<f64>,
}

impl Decision {
    /// There is nothing to measure.
    pub(crate) fn no_traffic() -> Decision {
        Decision {
            verdict: Verdict::NoTraffic,
            window: None,
            at_least: false,
            p: None,
        }
    }
}

/// Decides.
pub(crate) fn decide(evidence: &VerdictEvidence<'_>) -> Decision {
    let p = evidence.p.iter().flatten().copied().reduce(f64::min);
    let deciding = evidence.deciding_window();
    let sized = deciding.or(evidence.chosen).map(|from| evidence.walk(from));
    let window = sized.filter(|&w| evidence.means.get(w).is_some_and(Option::is_some));
    let verdict = if evidence.rekeys_known == 0 {
        Verdict::NoRekeys
    } else if deciding.is_some() || evidence.most_proven() {
        Verdict::Shown
    } else if evidence.hurt.iter().any(|h| h.hurt) {
        Verdict::Some
    } else if evidence.is_bounded(window) {
        Verdict::Bounded
    } else {
        Verdict::Inconclusive
    };
    let cut_off = |w: usize| evidence.late_starts || w + 1 == evidence.means.len();
    let at_least = matches!(verdict, Verdict::Shown | Verdict::Some) && window.is_some_and(cut_off);
    Decision {
        verdict,
        window,
        at_least,
        p,
    }
}

impl VerdictEvidence<'_> {
    fn mean(&self, window: usize) -> Option<MeanStall> {
        self.means.get(window).copied().flatten()
    }

    fn low_enough(&self, window: usize) -> bool {
        self.mean(window).is_some_and(|m| m.low > self.least_effect_s)
    }

    /// The packets prove an outage at half of the rekeys: whatever the statistics say of its size.
    fn most_proven(&self) -> bool {
        let proven = self.hurt.iter().filter(|h| h.proven.is_some()).count();
        self.hurt.len() >= LEAST_REKEYS && proven as f64 >= MOST_HURT * self.hurt.len() as f64
    }

    /// The smallest window at which the rule for *shown* holds.
    fn deciding_window(&self) -> Option<usize> {
        if self.hurt.len() < LEAST_REKEYS {
            return None;
        }
        let hurt = self.hurt.iter().filter(|h| h.hurt).count();
        if self.mostly_affected {
            return self.chosen.filter(|&w| self.low_enough(w) && hurt > 0);
        }
        let most_hurt = hurt as f64 >= MOST_HURT * self.hurt.len() as f64;
        let significant = |w: usize| self.p.get(w).copied().flatten().is_some_and(|p| p <= LEVEL);
        self.eligible
            .iter()
            .copied()
            .find(|&w| self.low_enough(w) && (significant(w) || most_hurt))
    }

    /// Moves on to larger windows while the stall keeps growing, also past one at which it does not; without this, slow
    /// recoveries are understated two to five times.
    fn walk(&self, from: usize) -> usize {
        let mut window = from;
        let grows = |window: usize, larger: &usize| {
            let so_far = self.mean(window).map_or(0.0, |m| m.mean);
            let looks = self.stalls.len() - window - 1;
            still_growing(&self.stalls[window], &self.stalls[*larger], so_far, looks)
        };
        while let Some(larger) = (window + 1..self.stalls.len()).find(|larger| grows(window, larger)) {
            window = larger;
        }
        window
    }

    fn is_bounded(&self, window: Option<usize>) -> bool {
        let high = window.and_then(|w| self.mean(w)).map(|m| m.high);
        !self.no_feedback
            && matches!((high, self.interest_s), (Some(high), Some(interest)) if high < interest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::moment::ProvenOutage;
    use rekeyscope_model::analysis::ProofRule;

    fn evidence_of<'a>(
        stalls: &'a [Vec<f64>],
        means: &'a [Option<MeanStall>],
        p: &'a [Option<f64>],
        hurt: &'a [Hurt],
    ) -> VerdictEvidence<'a> {
        VerdictEvidence {
            rekeys_known: 5,
            stalls,
            means,
            p,
            eligible: &[0, 1],
            chosen: Some(1),
            mostly_affected: false,
            hurt,
            least_effect_s: LEAST_EFFECT_S,
            interest_s: Some(0.1),
            late_starts: false,
            no_feedback: false,
        }
    }

    fn means(stalls: &[Vec<f64>]) -> Vec<Option<MeanStall>> {
        stalls.iter().map(|s| MeanStall::of(s, None)).collect()
    }

    const EVEN: [f64; 5] = [0.3, 0.31, 0.29, 0.3, 0.3];
    const NONE: [f64; 5] = [0.001, -0.002, 0.0, 0.003, -0.004];

    #[test]
    fn shown_by_p_and_by_the_list() {
        let stalls = vec![EVEN.to_vec(), EVEN.to_vec(), EVEN.to_vec()];
        let m = means(&stalls);
        let healthy = [Hurt::default(); 5];
        let d = decide(&evidence_of(
            &stalls,
            &m,
            &[Some(0.2), Some(0.01), None],
            &healthy,
        ));
        assert_eq!(
            (d.verdict, d.window, d.at_least, d.p),
            (Verdict::Shown, Some(1), false, Some(0.01))
        );
        let mut hurt = healthy;
        hurt[..3].fill(Hurt {
            hurt: true,
            ..Hurt::default()
        });
        let d = decide(&evidence_of(&stalls, &m, &[Some(0.2), Some(0.02), None], &hurt));
        assert_eq!((d.verdict, d.window), (Verdict::Shown, Some(0)));
    }

    #[test]
    fn a_real_but_meaningless_effect_is_bounded() {
        let stalls = vec![vec![0.005, 0.0051, 0.0049, 0.005, 0.005]; 2];
        let d = decide(&evidence_of(
            &stalls,
            &means(&stalls),
            &[Some(0.0001); 2],
            &[Hurt::default(); 5],
        ));
        assert_eq!(d.verdict, Verdict::Bounded);
    }

    #[test]
    fn single_rekeys_bounded_and_inconclusive() {
        let stalls = vec![NONE.to_vec(); 2];
        let mut hurt = [Hurt::default(); 5];
        let d = decide(&evidence_of(&stalls, &means(&stalls), &[Some(0.5); 2], &hurt));
        assert_eq!((d.verdict, d.window), (Verdict::Bounded, Some(1)));
        hurt[2].hurt = true;
        let d = decide(&evidence_of(&stalls, &means(&stalls), &[Some(0.5); 2], &hurt));
        assert_eq!(d.verdict, Verdict::Some);
        let wide = vec![vec![1.0, -1.0, 0.5, -0.5, 0.2]; 2];
        let d = decide(&evidence_of(
            &wide,
            &means(&wide),
            &[Some(0.5); 2],
            &[Hurt::default(); 5],
        ));
        assert_eq!(d.verdict, Verdict::Inconclusive);
    }

    #[test]
    fn mostly_affected_needs_a_gap() {
        let stalls = vec![vec![2.0, 2.1, 1.9, 2.0, 2.2]; 2];
        let m = means(&stalls);
        let mut hurt = [Hurt::default(); 5];
        let judge = |hurt: &[Hurt]| {
            let e = VerdictEvidence {
                mostly_affected: true,
                eligible: &[],
                ..evidence_of(&stalls, &m, &[None; 2], hurt)
            };
            decide(&e)
        };
        assert_eq!(judge(&hurt).verdict, Verdict::Inconclusive);
        hurt[0].hurt = true;
        let d = judge(&hurt);
        assert_eq!((d.verdict, d.p, d.at_least), (Verdict::Shown, None, true));
    }

    /// The floor that the packets prove needs no mean; payload without feedback is never bounded.
    #[test]
    fn half_of_the_rekeys_proven_is_shown_whatever_the_mean() {
        let stalls = vec![NONE.to_vec(); 2];
        let m = means(&stalls);
        let mut hurt = [Hurt::default(); 5];
        let outage = ProvenOutage {
            seconds: 0.3,
            rule: ProofRule::LostOnOld,
        };
        for (proven, verdict) in [
            (0, Verdict::Bounded),
            (1, Verdict::Some),
            (2, Verdict::Some),
            (3, Verdict::Shown),
        ] {
            for own in hurt.iter_mut().take(proven) {
                (own.hurt, own.proven) = (true, Some(outage));
            }
            let d = decide(&evidence_of(&stalls, &m, &[Some(0.5); 2], &hurt));
            assert_eq!(d.verdict, verdict, "{proven}");
        }
        let healthy = [Hurt::default(); 5];
        let e = VerdictEvidence {
            no_feedback: true,
            ..evidence_of(&stalls, &m, &[Some(0.5); 2], &healthy)
        };
        assert_eq!(decide(&e).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn too_few_rekeys_give_the_list_only() {
        let stalls = vec![vec![0.3, 0.3]; 2];
        let hurt = [Hurt {
            hurt: true,
            ..Hurt::default()
        }; 2];
        let d = decide(&evidence_of(&stalls, &means(&stalls), &[None; 2], &hurt));
        assert_eq!((d.verdict, d.window), (Verdict::Some, None));
    }

    fn grow(by: f64) -> Vec<f64> {
        EVEN.iter().map(|s| s + by).collect()
    }

    #[test]
    fn the_walk_goes_on_past_a_window_that_does_not_grow() {
        // A burst that catches up within 0.5 s hides from it what is still missing at 1 s.
        let stalls = vec![EVEN.to_vec(), grow(0.02), grow(0.3), grow(0.3)];
        let p = [Some(0.001), None, None, None];
        let d = decide(&evidence_of(&stalls, &means(&stalls), &p, &[Hurt::default(); 5]));
        assert_eq!(
            (d.verdict, d.window, d.at_least),
            (Verdict::Shown, Some(2), false)
        );
    }

    #[test]
    fn single_rekeys_that_never_recover_cost_at_least_this() {
        let stalls = vec![NONE.to_vec(), grow(0.2), grow(0.5)];
        let mut hurt = [Hurt::default(); 5];
        hurt[2].hurt = true;
        let d = decide(&evidence_of(&stalls, &means(&stalls), &[None; 3], &hurt));
        assert_eq!((d.verdict, d.window, d.at_least), (Verdict::Some, Some(2), true));
    }

    #[test]
    fn the_walk_follows_a_slow_recovery() {
        let stalls = vec![EVEN.to_vec(), grow(0.2), grow(0.5), grow(0.51)];
        let m = means(&stalls);
        let d = decide(&evidence_of(
            &stalls,
            &m,
            &[Some(0.001), Some(0.001), None, None],
            &[Hurt::default(); 5],
        ));
        assert_eq!((d.window, d.at_least), (Some(2), false));
        let stalls = &stalls[..3];
        let d = decide(&evidence_of(
            stalls,
            &m[..3],
            &[Some(0.001), Some(0.001), None],
            &[Hurt::default(); 5],
        ));
        assert_eq!((d.window, d.at_least), (Some(2), true));
    }
}
