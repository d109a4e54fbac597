//! The clock of a sender, as its timestamps show it (RFC 7323 §3).

use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::ops::RangeInclusive;

/// The clock is measured over this at least, nanoseconds: a tick of 10 ms, the longest in use, is 2 % of it.
const LEAST_MEASURED: i64 = NANOS_PER_SECOND / 2;
/// Ticks per second of a timestamp clock: 1 ms to 1 s (RFC 7323 §5.4), with room for what is measured over half a second.
const TICK_RATES: RangeInclusive<f64> = 0.5..=2_000.0;

/// The first and the newest timestamp of a sender, and when each passed the capture.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SenderClock {
    first: Option<(u32, Timestamp)>,
    newest: Option<(u32, Timestamp)>,
}

impl SenderClock {
    /// Takes TSval of the next packet. An older one is late, not a step of the sender's clock.
    #[inline]
    pub(crate) fn take(&mut self, ticks: u32, time: Timestamp) {
        let is_older = |newest: u32| ticks.wrapping_sub(newest).cast_signed() < 0;
        if self.newest.is_none_or(|(newest, _)| !is_older(newest)) {
            self.newest = Some((ticks, time));
        }
        self.first.get_or_insert((ticks, time));
    }

    /// Time at which the newest timestamp passed, and the nanoseconds from it to `ticks` by the sender's own clock; `None` where the clock's rate is
    /// not known.
    pub(crate) fn since_newest(&self, ticks: u32) -> Option<(Timestamp, i64)> {
        let ((t0, at0), (t1, at1)) = (self.first?, self.newest?);
        let measured = at1.nanos_since(at0);
        if measured < LEAST_MEASURED {
            return None;
        }
        let rate = f64::from(t1.wrapping_sub(t0)) / (measured as f64 / NANOS_PER_SECOND as f64);
        let ahead = f64::from(ticks.wrapping_sub(t1).cast_signed());
        TICK_RATES
            .contains(&rate)
            .then(|| (at1, (ahead / rate * NANOS_PER_SECOND as f64) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_senders_clock_is_measured_across_its_wrap() {
        let ticks = |ahead: u32| (u32::MAX - 500).wrapping_add(ahead);
        let mut clock = SenderClock::default();
        for tenth in 0..20_u32 {
            let time = Timestamp(i64::from(tenth) * NANOS_PER_SECOND / 10);
            clock.take(ticks(tenth * 100), time);
            clock.take(ticks(tenth * 100 - tenth.min(1)), time.plus_nanos(1));
        }
        let (newest, passed) = clock.since_newest(ticks(19 * 100 + 7_000)).unwrap();
        assert_eq!(
            newest,
            Timestamp(19 * NANOS_PER_SECOND / 10),
            "a late one is not the newest"
        );
        assert!(
            (passed - 7 * NANOS_PER_SECOND).abs() < NANOS_PER_SECOND / 10,
            "{passed}"
        );
        assert_eq!(SenderClock::default().since_newest(1), None);
    }
}
