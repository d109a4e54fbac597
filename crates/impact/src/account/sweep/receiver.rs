//! The receiver's window, as the sender knows it.

use super::rounds::{FIRST_ROUNDS, FLAT};
use crate::account::half::Half;
use crate::account::packet::AccountPacket;
use crate::ledger::AT_LIMIT;
use rekeyscope_traffic::INITIAL_WINDOW;
use std::collections::VecDeque;

/// A window of an inferred scale is full where less than so many segments are left of it.
const FULL_INFERRED: f64 = 1.5;

/// The receiver's window and its history.
#[derive(Debug, Clone, Default)]
pub(crate) struct Receiver {
    /// The highest byte that it ever allowed, and when it was raised.
    allowed: u64,
    raised: VecDeque<(i64, u64)>,
    raised_at: i64,
    allowed_then: u64,
    /// The last window, bytes.
    pub(crate) window: u64,
    /// Windows at the ends of rounds, newest first, and how many rounds ended.
    at_round_ends: [u64; FIRST_ROUNDS],
    rounds: usize,
    /// The window is smaller than a segment since then.
    small_since: Option<i64>,
    /// The time since the last packet for which it was, nanoseconds.
    small: i64,
}

impl Receiver {
    /// Hears of a window, after the packet of `last`. Says whether more is allowed than before.
    #[inline]
    pub(crate) fn opens(&mut self, half: &Half, ack: &AccountPacket, at: i64, last: Option<i64>) -> bool {
        self.window = half.window(ack);
        match (self.small_since, self.window < half.mss) {
            (None, true) => self.small_since = Some(at),
            (Some(since), false) => {
                self.small += at - since.max(last.unwrap_or(at));
                self.small_since = None;
            }
            _ => {}
        }
        let allowed = ack.ack + self.window;
        let more = allowed > self.allowed;
        if more {
            self.allowed = allowed;
            if self.raised_at == at
                && let Some(last) = self.raised.back_mut()
            {
                last.1 = allowed;
            } else {
                self.raised.push_back((at, allowed));
                self.raised_at = at;
            }
        }
        more
    }

    /// A round ended.
    pub(crate) fn round_ends(&mut self) {
        self.at_round_ends.copy_within(..FIRST_ROUNDS - 1, 1);
        self.at_round_ends[0] = self.window;
        self.rounds += 1;
    }

    /// The highest byte that was allowed at `then`. Times before it are not asked for again.
    pub(crate) fn allowed_at(&mut self, then: i64) -> u64 {
        while self.raised.front().is_some_and(|r| r.0 <= then) {
            self.allowed_then = self.raised.pop_front().map_or(self.allowed_then, |r| r.1);
        }
        self.allowed_then
    }

    /// The time for which the window was smaller than a segment since the last packet, nanoseconds, when the next one passes at `now`.
    pub(crate) fn small_until(&mut self, now: i64, last: Option<i64>) -> i64 {
        let since = self.small_since.map(|since| since.max(last.unwrap_or(now)));
        self.small_since = since.map(|_| now);
        let until_now = since.map_or(0, |since| now - since);
        std::mem::take(&mut self.small) + until_now
    }

    /// Less than a segment may be sent beyond `nxt`; of a flight that stays as it is, so little that the window is at its limit: whoever
    /// sends several segments at once waits for room for them. `changes`: the flight grows, or comes back after a loss.
    #[inline]
    pub(crate) fn is_full(&self, half: &Half, nxt: u64, changes: impl Fn() -> bool) -> bool {
        let left = self.allowed.saturating_sub(nxt);
        let (left, mss) = (left as f64, half.mss as f64);
        let share = if changes() { 0.0 } else { 1.0 - AT_LIMIT };
        let full = if half.scale_known {
            left < mss.max(share * self.window as f64)
        } else {
            left < FULL_INFERRED * mss && self.inferred_limits(half)
        };
        self.allowed > 0 && full
    }

    /// Whether a window of an inferred scale can limit anything: only while it does not grow, because a receiver that opens it on demand keeps
    /// it at a multiple of the flight, and where it holds a first flight.
    fn inferred_limits(&self, half: &Half) -> bool {
        let earlier = self.at_round_ends[FIRST_ROUNDS / 2..].iter().max();
        let steady = FLAT * earlier.copied().unwrap_or(0) as f64;
        self.rounds >= FIRST_ROUNDS
            && self.window as f64 <= steady
            && self.window >= u64::from(INITIAL_WINDOW) * half.mss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{ack, at, half};

    fn hears(receiver: &mut Receiver, ms: i64, number: u64, window: u16) -> bool {
        receiver.opens(&half(), &ack(ms, number, window), at(ms), None)
    }

    #[test]
    fn only_a_higher_byte_than_ever_allows_more() {
        let mut receiver = Receiver::default();
        assert!(hears(&mut receiver, 0, 100, 5_000));
        assert!(!hears(&mut receiver, 1, 1_100, 4_000), "as much as before");
        assert!(!hears(&mut receiver, 2, 1_100, 3_000));
        assert!(hears(&mut receiver, 3, 1_100, 4_001));
        assert_eq!(receiver.window, 4_001);
    }

    #[test]
    fn what_was_allowed_then_is_what_had_been_heard() {
        let mut receiver = Receiver::default();
        for (ms, number) in [(10, 0), (20, 1_000), (30, 2_000)] {
            hears(&mut receiver, ms, number, 5_000);
        }
        let allowed = [9, 10, 29, 40].map(|ms| receiver.allowed_at(at(ms)));
        assert_eq!(allowed, [0, 5_000, 6_000, 7_000]);
    }

    #[test]
    fn limits_of_one_moment_do_not_pile_up() {
        let mut receiver = Receiver::default();
        for number in [0, 1_000, 2_000] {
            hears(&mut receiver, 10, number, 5_000);
        }
        assert_eq!((receiver.raised.len(), receiver.allowed_at(at(10))), (1, 7_000));
    }

    #[test]
    fn a_window_smaller_than_a_segment_is_timed() {
        let mut receiver = Receiver::default();
        hears(&mut receiver, 0, 0, 5_000);
        hears(&mut receiver, 10, 0, 999);
        hears(&mut receiver, 15, 0, 500);
        let small =
            |receiver: &mut Receiver, from: i64, to: i64| receiver.small_until(at(to), Some(at(from)));
        assert_eq!(small(&mut receiver, 0, 30), at(20), "since it became small");
        assert_eq!(small(&mut receiver, 30, 50), at(20), "since the last packet");
        let opens = receiver.opens(&half(), &ack(57, 0, 1_000), at(57), Some(at(50)));
        assert!(!opens, "no more than at first");
        assert_eq!(small(&mut receiver, 50, 90), at(7), "until it opened");
        assert_eq!(small(&mut receiver, 90, 95), 0);
        hears(&mut receiver, 100, 0, 0);
        assert!(receiver.opens(&half(), &ack(130, 0, 6_000), at(130), Some(at(120))));
        assert_eq!(
            receiver.small_until(at(140), Some(at(120))),
            at(10),
            "since that packet"
        );
        hears(&mut receiver, 150, 0, 0);
        assert_eq!(receiver.small_until(at(180), Some(at(160))), at(20));
    }

    #[test]
    fn a_window_is_full_with_less_than_a_segment_left_or_a_tenth_of_a_flight_that_stays() {
        let full = |window: u16, next: u64, changes: bool| {
            let mut receiver = Receiver::default();
            hears(&mut receiver, 0, 0, window);
            receiver.is_full(&half(), next, || changes)
        };
        for changes in [false, true] {
            assert!(!full(8_000, 7_000, changes) && full(8_000, 7_001, changes));
        }
        assert!(!full(50_000, 45_000, false) && full(50_000, 45_001, false));
        assert!(!full(50_000, 49_000, true) && full(50_000, 49_001, true));
        let unheard = Receiver::default();
        assert!(!unheard.is_full(&half(), 5_000, || false), "nothing was heard");
    }

    /// Of a window whose scale nobody told: the last one, and those at the ends of rounds, the newest last.
    fn inferred(rounds: &[u16], window: u16, left: u64) -> bool {
        let mut receiver = Receiver::default();
        for (number, &window) in (0u64..).zip(rounds) {
            hears(&mut receiver, 0, 100_000 * number, window);
            receiver.round_ends();
        }
        let acked = 100_000 * rounds.len() as u64;
        hears(&mut receiver, 1, acked, window);
        let half = Half {
            scale_known: false,
            ..half()
        };
        receiver.is_full(&half, acked + u64::from(window) - left, || false)
    }

    #[test]
    fn an_inferred_window_limits_while_it_does_not_grow() {
        assert!(inferred(&[20_000; 5], 20_000, 1_499));
        assert!(!inferred(&[20_000; 5], 20_000, 1_500), "one and a half segments");
        assert!(!inferred(&[20_000; 4], 20_000, 0), "of four rounds only");
        assert!(inferred(&[10_000; 5], 10_000, 0) && !inferred(&[9_999; 5], 9_999, 0));
        // Compared with the older three of the last five rounds.
        assert!(inferred(&[20_000, 1, 1, 1, 1], 21_200, 0));
        assert!(!inferred(&[20_000, 1, 1, 1, 1], 21_201, 0));
        assert!(inferred(&[1, 1, 20_000, 1, 1], 21_200, 0));
        assert!(
            !inferred(&[1, 1, 1, 20_000, 20_000], 21_200, 0),
            "it has just grown"
        );
        assert!(!inferred(&[20_000, 1, 1, 1, 1, 1], 20_000, 0), "six rounds ago");
    }
}
