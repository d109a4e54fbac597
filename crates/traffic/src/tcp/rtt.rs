//! Round trip times as the capture sees them: from data to its acknowledgement (RFC 6298).

use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
pub use rekeyscope_model::time::LEAST_TIMEOUT;
use rekeyscope_model::time::NANOS_PER_SECOND;
use std::ops::RangeInclusive;

/// Longest delay of an acknowledgement by its receiver (RFC 9293 §3.8.6.3): an answer that comes later comes late for TCP on any path.
pub const LONGEST_ACK_DELAY: i64 = NANOS_PER_SECOND / 2;
/// Nanoseconds. Retransmission timeout before a round trip is measured (RFC 6298 §2.1).
pub const INITIAL_RTO: i64 = NANOS_PER_SECOND;
/// Segments of a sender's first flight (RFC 6928).
pub const INITIAL_WINDOW: u32 = 10;
/// Payload of the smallest segment that a sender with enough to send makes, bytes: hosts have to take 576 bytes (RFC 9293 §3.7.1).
pub const DEFAULT_MSS: u32 = 536;
/// A timer runs off within this part of its length: Linux rounds long ones up by an eighth at most.
const ROUNDED_BY: i64 = 8;

/// Lengths of the retransmission timer that follows one of the given length, nanoseconds: it doubles (RFC 6298 §5.5).
pub fn doubled_timer(timer: i64) -> RangeInclusive<i64> {
    let double = timer.saturating_mul(2);
    let off = double / ROUNDED_BY;
    double.saturating_sub(off)..=double.saturating_add(off)
}
/// K of RFC 6298 §2.2.
const K: i64 = 4;

/// Tenths of a round trip in which no answer comes back: the least round trip that was seen may be a little too long.
const TENTHS: i64 = 8;

/// Nanoseconds after a transmission before which nothing answers it.
#[inline]
pub(crate) fn most_of_a_round_trip(round_trip: i64) -> i64 {
    round_trip / 10 * TENTHS
}

/// Estimates a round trip time. Nanoseconds; `None` before the first sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RttEstimator {
    /// SRTT.
    pub smoothed: Option<i64>,
    /// RTTVAR.
    pub var: i64,
    /// The least sample.
    pub min: Option<i64>,
    /// Samples in a row that were longer than the timeout.
    late: u64,
}

impl RttEstimator {
    /// Takes a sample (RFC 6298 §2.2 and §2.3). One that is longer than the timeout is left out: the sender repeated the segment before the
    /// acknowledgement came, wherever that copy was lost (Karn's algorithm, §3). So what waited for an outage says nothing of the round trip.
    /// Several samples in a row that are as long show that the path has become longer.
    #[inline]
    pub fn sample(&mut self, nanos: i64) {
        let nanos = nanos.max(0);
        if self.smoothed.is_some() && nanos > self.rto() {
            self.late += 1;
            if self.late < LEAST_NOT_BY_CHANCE {
                return;
            }
        }
        self.late = 0;
        self.min = Some(self.min.map_or(nanos, |least| least.min(nanos)));
        match &mut self.smoothed {
            Some(smoothed) => {
                self.var += ((*smoothed - nanos).abs() - self.var) / 4;
                *smoothed += (nanos - *smoothed) / 8;
            }
            None => {
                self.smoothed = Some(nanos);
                self.var = nanos / 2;
            }
        }
    }

    /// The retransmission timeout of a sender whose round trips are these.
    pub fn rto(&self) -> i64 {
        self.smoothed.unwrap_or(0) + (K * self.var).max(LEAST_TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_MILLI;

    #[test]
    fn samples_are_smoothed_by_an_eighth() {
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.rto(), LEAST_TIMEOUT);
        rtt.sample(800);
        assert_eq!((rtt.smoothed, rtt.var, rtt.min), (Some(800), 400, Some(800)));
        rtt.sample(1_600);
        assert_eq!((rtt.smoothed, rtt.var), (Some(900), 500));
        rtt.sample(60_000 * NANOS_PER_MILLI);
        assert_eq!(rtt.smoothed, Some(900), "the segment was sent again meanwhile");
        rtt.sample(-5);
        assert_eq!(rtt.min, Some(0), "a clock that steps back makes no time negative");
    }
}
