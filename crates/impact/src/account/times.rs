//! The times that the labels' rules are made of.

use crate::ledger::RuleTimes;
use rekeyscope_model::time::NANOS_PER_MILLI;

/// An acknowledgement releases data within this, or [`RELEASED_OF_RTT`].
const RELEASED: i64 = 2 * NANOS_PER_MILLI;
/// See [`RELEASED`].
const RELEASED_OF_RTT: f64 = 0.1;

/// Timestamps that wait to be echoed: one a millisecond for four seconds, longer than a round trip takes. A sender may never echo any.
pub(crate) const MOST_STAMPS: usize = 4096;

/// Microseconds, as many as fit; a negative time is as long.
pub(crate) fn micros(nanos: i64) -> u32 {
    // A negative time is a huge one without its sign.
    u32::try_from(nanos as u64 / 1_000).unwrap_or(u32::MAX)
}

/// The times that the rules are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) rtt: i64,
    /// Within this an acknowledgement releases data.
    pub(crate) released: i64,
    /// A wait beyond this is a pause: the ledger's shortest silence.
    pub(crate) gap: i64,
    /// A retransmission timeout.
    pub(crate) long: i64,
}

impl Times {
    /// The times of a connection. The nearer the capture is to the sender, the sooner it sees what an acknowledgement releases.
    pub(crate) fn of(rtt: i64, d2: i64) -> Times {
        let share = |of: i64| (of as f64 * RELEASED_OF_RTT) as i64;
        let rules = RuleTimes::of(rtt);
        Times {
            rtt,
            released: RELEASED.max(share(rtt).min(RELEASED + share(d2))),
            gap: rules.gap,
            long: rules.timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::at;

    #[test]
    fn a_negative_time_is_a_long_one() {
        let longest = 1_000 * i64::from(u32::MAX);
        assert_eq!(micros(1_999), 1);
        assert_eq!([i64::MAX, longest, -1].map(micros), [u32::MAX; 3]);
    }

    #[test]
    fn short_round_trips_have_times_of_their_own() {
        let times = |rtt, d2| {
            let t = Times::of(at(rtt), at(d2));
            (t.released, t.gap, t.long)
        };
        assert_eq!(times(20, 10), (at(2), at(50), at(200)));
        assert_eq!(times(40, 20), (at(4), at(60), at(200)));
        assert_eq!(times(200, 200), (at(20), at(300), at(400)));
        // Near the sender data follows soon.
        assert_eq!(times(200, 10), (at(3), at(300), at(400)));
    }
}
