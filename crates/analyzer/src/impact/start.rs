//! What is known of t_Q, the first message of an exchange, and what follows where that message is not in the capture: the
//! window then begins too late, so the stall within it is a lower bound.
//!
//! No beginning is sought by the rate: a slow stretch that was chosen because it is slow is no evidence. What the packets prove
//! by other means is in t_Q before it comes here: a volume limit that was reached, and an initiator that was deaf before its
//! first captured message, for which its silence *is* searched ([`crate::diagnosis`], `silence`). Over a slow stretch only the
//! upper end of the interval reaches back, because there the error must not be understated.

use super::aggregate::MeanStall;
use super::evaluate::Evaluation;
use super::stall::{DIP_BELOW, HELD_S, SMOOTHING_S};
use super::transfer::Placed;

/// Assumed time from the exchange's beginning to the first packet on a new SA where no message was captured, seconds.
pub(super) const ASSUMED_EXCHANGE_S: f64 = 0.3;

/// t_Q as far as the capture shows it, seconds from the start of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Start {
    /// The first exchange message.
    Message(f64),
    /// A later message: the first one is not in the capture.
    LaterMessage(f64),
    /// The first message that was captured came after a silence of both sides: it may be the second copy of one that was lost
    /// before the capture point, or there was nothing to send.
    AfterSilence(f64),
    /// No message of the exchange is in the capture. Both SAs of a pair come from one exchange, so it began before the
    /// first packet on either of them.
    Unseen {
        /// First packet on a new SA, in whichever direction came first.
        first_switch_s: f64,
    },
}

impl Start {
    /// t_Q of the window of a rekey that switches at `switched_s`: the latest moment that the evidence allows, the
    /// assumed length of an exchange before the first switch where there is no message.
    pub(super) fn latest_s(self, switched_s: f64) -> f64 {
        let finite = |s: f64| s.is_finite().then_some(s);
        let known = match self {
            Start::Message(s) | Start::LaterMessage(s) | Start::AfterSilence(s) => finite(s),
            Start::Unseen { first_switch_s } => {
                finite(first_switch_s).map(|first| first.min(switched_s) - ASSUMED_EXCHANGE_S)
            }
        };
        known.unwrap_or(switched_s - ASSUMED_EXCHANGE_S).min(switched_s)
    }

    /// The exchange began, or may have begun, earlier than the evidence shows.
    pub(super) fn is_late(self) -> bool {
        !matches!(self, Start::Message(s) if s.is_finite())
    }
}

impl Evaluation {
    /// Used rekeys whose exchange began, or may have begun, before their window.
    pub(super) fn late_starts(&self) -> usize {
        self.used.iter().filter(|k| k.known.is_late()).count()
    }

    /// Where windows begin too late, the mean's interval reaches up to what the slow stretches before them would add.
    pub(super) fn widen(&self, window: usize, mean: MeanStall) -> MeanStall {
        if self.late_starts() == 0 {
            return mean;
        }
        let switches = latest_switches(&self.placed);
        let longest = |(k, s): (usize, &super::stall::Stall)| {
            let before = self.reach_back_bins(&self.used[k], s.baseline.rate, &switches);
            let start = self.used[k].start;
            let lost = s.baseline.rate * self.grid.seconds(before) - self.grid.bytes(start - before, start);
            if s.baseline.rate > 0.0 {
                s.seconds + (lost / s.baseline.rate).max(0.0)
            } else {
                s.seconds
            }
        };
        let stalls: Vec<f64> = self.stalls[window].iter().enumerate().map(longest).collect();
        let high = MeanStall::of(&stalls, mean.bias_s).map_or(mean.high, |m| m.high);
        MeanStall {
            high: mean.high.max(high),
            ..mean
        }
    }

    /// Bins before the window of a late start within which the rate stays below that of a dip (one that is back for less
    /// than [`HELD_S`] goes on), back to the rekey before it at most.
    fn reach_back_bins(&self, rekey: &Placed, rate: f64, switches: &[i64]) -> i64 {
        if !rekey.known.is_late() {
            return 0;
        }
        let before = self.placed.partition_point(|p| p.start < rekey.start);
        let latest = before.checked_sub(1).and_then(|last| switches.get(last)).copied();
        let limit = latest.unwrap_or(0).max(self.run.from);
        let (smooth, held) = (self.grid.length(SMOOTHING_S), self.grid.length(HELD_S));
        let mut above = 0;
        let mut bins = 0;
        for bin in (limit..rekey.start - smooth + 1).rev() {
            if self.grid.rate(bin, bin + smooth) < DIP_BELOW * rate {
                (above, bins) = (0, rekey.start - bin);
            } else {
                above += 1;
            }
            if above == held {
                break;
            }
        }
        bins
    }
}

/// The latest switch of each rekey and those before it; they are in order of their starts.
fn latest_switches(placed: &[Placed]) -> Vec<i64> {
    placed
        .iter()
        .scan(i64::MIN, |latest, rekey| {
            *latest = rekey.switch.max(*latest);
            Some(*latest)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_switch_is_that_of_any_rekey_before() {
        let placed = [3, 9, 5, 12].map(|switch| Placed {
            moment: 0,
            started_s: 0.0,
            switched_s: 0.0,
            start: 0,
            switch,
            used: true,
            idle: false,
            unobserved: false,
            known: Start::Message(0.0),
        });
        assert_eq!(latest_switches(&placed), [3, 9, 9, 12]);
    }

    #[test]
    fn a_message_wins_over_the_assumption_and_either_switch_counts() {
        assert_eq!(Start::Message(5.0).latest_s(6.0), 5.0);
        assert_eq!(Start::Message(7.0).latest_s(6.0), 6.0);
        assert_eq!(Start::LaterMessage(5.9).latest_s(6.0), 5.9);
        let unseen = |first_switch_s| Start::Unseen { first_switch_s }.latest_s(6.0);
        assert!((unseen(6.0) - 5.7).abs() < 1e-9);
        assert!(
            (unseen(2.0) - 1.7).abs() < 1e-9,
            "the other direction switched first"
        );
        assert!((unseen(9.0) - 5.7).abs() < 1e-9, "or later");
        assert!((unseen(f64::NAN) - 5.7).abs() < 1e-9);
        assert!(!Start::Message(1.0).is_late() && Start::LaterMessage(1.0).is_late());
        assert!(Start::AfterSilence(1.0).is_late() && Start::AfterSilence(5.9).latest_s(6.0) == 5.9);
    }
}
