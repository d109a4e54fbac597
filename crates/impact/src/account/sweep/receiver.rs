//! The receiver's window, as the sender knows it.

use crate::account::read::data::Ack;
use crate::account::read::half::Half;
use std::collections::VecDeque;

/// The window is full when less than a segment is left, and of a flight that stays as it is less than this share: whoever sends several
/// segments at once waits for room for them.
const FULL: f64 = 0.1;
/// Or, where its scale is inferred, less than so many segments, of a window of at least [`LEAST_INFERRED`].
const FULL_INFERRED: f64 = 1.5;
/// See [`FULL_INFERRED`].
const LEAST_INFERRED: u64 = 10;
/// An inferred window limits only while it does not grow: a receiver that opens it on demand keeps it at a multiple of the flight.
const STEADY: f64 = 1.05;
/// Rounds over which it does not.
const STEADY_ROUNDS: usize = 5;

/// What the receiver allows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Receiver {
    /// The highest byte that it ever allowed, and when it was raised.
    allowed: u64,
    raised: VecDeque<(i64, u64)>,
    allowed_then: u64,
    /// Its last window, bytes.
    pub(crate) window: u64,
    /// Its windows at the ends of rounds, newest first.
    at_round_ends: VecDeque<u64>,
    /// The window is smaller than a segment since then.
    small_since: Option<i64>,
    /// For so long since the last packet, nanoseconds.
    small: i64,
}

impl Receiver {
    /// Hears of a window, after the packet of `last`. Says whether more is allowed than before.
    pub(crate) fn opens(&mut self, half: &Half, ack: &Ack, at: i64, last: Option<i64>) -> bool {
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
            self.raised.push_back((at, allowed));
        }
        more
    }

    /// A round ended.
    pub(crate) fn round_ends(&mut self) {
        self.at_round_ends.push_front(self.window);
        self.at_round_ends.truncate(STEADY_ROUNDS);
    }

    /// The highest byte that was allowed at `then`. Times before it are not asked for again.
    pub(crate) fn allowed_at(&mut self, then: i64) -> u64 {
        while self.raised.front().is_some_and(|r| r.0 <= then) {
            self.allowed_then = self.raised.pop_front().map_or(self.allowed_then, |r| r.1);
        }
        self.allowed_then
    }

    /// For how long the window was smaller than a segment since the last packet, nanoseconds, when the next one passes at `now`.
    pub(crate) fn small_until(&mut self, now: i64, last: Option<i64>) -> i64 {
        let since = self.small_since.map(|since| since.max(last.unwrap_or(now)));
        self.small_since = since.map(|_| now);
        let until_now = since.map_or(0, |since| now - since);
        std::mem::take(&mut self.small) + until_now
    }

    /// Hardly anything may be sent beyond `nxt`. `changes`: the flight grows, or comes back after a loss.
    pub(crate) fn is_full(&self, half: &Half, nxt: u64, changes: bool) -> bool {
        let left = self.allowed.saturating_sub(nxt) as f64;
        let mss = half.mss as f64;
        let share = if changes { 0.0 } else { FULL };
        let full = match (half.scale_known, self.inferred_limits(half)) {
            (true, _) => left < mss.max(share * self.window as f64),
            (false, limits) => limits && left < FULL_INFERRED * mss,
        };
        self.allowed > 0 && full
    }

    /// Whether a window of an inferred scale can limit anything.
    fn inferred_limits(&self, half: &Half) -> bool {
        let earlier = self.at_round_ends.iter().skip(STEADY_ROUNDS / 2);
        let before = earlier.max().copied().unwrap_or(0) as f64;
        self.at_round_ends.len() == STEADY_ROUNDS
            && self.window as f64 <= STEADY * before
            && self.window >= LEAST_INFERRED * half.mss
    }
}
