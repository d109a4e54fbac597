//! What the ledger is made from.

use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::TransmissionRun;

/// What was lost right before the first captured message of an exchange is the rekey's.
const BEFORE: i64 = 20 * NANOS_PER_MILLI;
/// After the switch: packets that came too early for the new SA are sent again after a retransmission timeout.
const BEHIND: i64 = 250 * NANOS_PER_MILLI;
/// A new SA that carries its first packet later than this after the exchange was not waited for.
const SWITCHED_WITHIN: i64 = 10 * NANOS_PER_SECOND;
/// The shortest pause that users notice in a transfer, and twice the delay of acknowledgements that Linux waits for at most.
const LEAST_GAP: i64 = 50 * NANOS_PER_MILLI;
/// The least retransmission timeout of Linux.
const LEAST_TIMEOUT: i64 = 200 * NANOS_PER_MILLI;
/// A silence that began before the first message by more than this, or three round trips: the tunnel was down before anybody asked.
const DOWN_BEFORE: i64 = 500 * NANOS_PER_MILLI;
/// The shortest window of a rate: a burst of a few packets is no rate.
const LEAST_WINDOW: i64 = 150 * NANOS_PER_MILLI;

/// A stretch of time.
pub(super) type TimeSpan = (Timestamp, Timestamp);

/// A rekey that succeeded, as one direction of the data sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RekeySpan {
    /// Names it.
    pub rekey: usize,
    /// First message of the exchange.
    pub asked: Timestamp,
    /// Last message of the exchange.
    pub last_message: Timestamp,
    /// First packet on the new SA: of this direction, and of the other one.
    pub first_on_new: [Option<Timestamp>; 2],
    /// Last packet on the old SA of this direction.
    pub last_on_old: Option<Timestamp>,
    /// Which share of its volume the old SA of this direction had used; `None` where no limit is known.
    pub volume: Option<f64>,
}

impl RekeySpan {
    /// Here it may disturb something.
    pub(super) fn window(&self) -> TimeSpan {
        let latest = self.last_message.plus_nanos(SWITCHED_WITHIN);
        let switches = self.first_on_new.iter().flatten().filter(|at| **at <= latest);
        let last = switches.copied().fold(self.last_message, Timestamp::max);
        (self.asked.plus_nanos(-BEFORE), last.plus_nanos(BEHIND))
    }
}

/// An attempt to rekey that came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedSpan {
    /// Names it.
    pub attempt: usize,
    /// First message.
    pub from: Timestamp,
    /// First packet of the next SA; `None` where none came.
    pub to: Option<Timestamp>,
}

impl FailedSpan {
    /// Here nothing may pass.
    pub(super) fn window(&self) -> TimeSpan {
        let to = self.to.map(|to| to.plus_nanos(BEHIND));
        (self.from, to.unwrap_or(Timestamp(i64::MAX)))
    }
}

/// One direction of a tunnel. All lists are in order of time.
#[derive(Debug, Clone, Copy)]
pub struct LedgerInput<'a> {
    /// Transmissions that arrived.
    pub arrived: &'a [TransmissionRun],
    /// Transmissions in vain.
    pub in_vain: &'a [TransmissionRun],
    /// The transfer: from its first packet to its last one, or to the end of the capture where the tunnel died.
    pub transfer: (Timestamp, Timestamp),
    /// The tunnel died: what is missing at the end would have come.
    pub died: bool,
    /// Nanoseconds; 0 where none was measured.
    pub round_trip: i64,
    /// What the path carries at most, bytes a second, where that is proven.
    pub capacity: Option<f64>,
    /// Rekeys that succeeded, but for those that made the first SA.
    pub rekeys: &'a [RekeySpan],
    /// Attempts that failed.
    pub failed: &'a [FailedSpan],
    /// Rests between transfers: they are in no sum.
    pub rests: &'a [(Timestamp, Timestamp)],
    /// Stretches that the capture lacks.
    pub holes: &'a [(Timestamp, Timestamp)],
}

/// Times that the rules are made of, nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleTimes {
    pub(super) round_trip: i64,
    /// A silence beyond this is a pause: no acknowledgement takes one and a half round trips.
    pub(super) gap: i64,
    /// A retransmission timeout.
    pub(super) timeout: i64,
    /// See [`DOWN_BEFORE`].
    pub(super) down_before: i64,
    /// A rate is one over this: whole round trips, so that a sender's bursts even out.
    pub(super) window: i64,
}

impl RuleTimes {
    pub(super) fn of(round_trip: i64) -> RuleTimes {
        let rtt = round_trip.max(0);
        let least = LEAST_WINDOW.max(2 * rtt);
        let window = if rtt > 0 {
            (least + rtt - 1) / rtt * rtt
        } else {
            least
        };
        RuleTimes {
            round_trip: rtt,
            gap: LEAST_GAP.max(rtt * 3 / 2),
            timeout: LEAST_TIMEOUT.max(2 * rtt),
            down_before: DOWN_BEFORE.max(3 * rtt),
            window,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp(ms * NANOS_PER_MILLI)
    }

    #[test]
    fn windows_hold_whole_round_trips() {
        let windows = [0, 7, 20, 60, 100].map(|ms| RuleTimes::of(at(ms).0).window / NANOS_PER_MILLI);
        assert_eq!(windows, [150, 154, 160, 180, 200]);
    }

    #[test]
    fn a_rekey_reaches_to_its_later_switch_but_not_to_a_lazy_one() {
        let mut span = RekeySpan {
            rekey: 0,
            asked: at(1_000),
            last_message: at(1_200),
            first_on_new: [Some(at(1_500)), Some(at(1_210))],
            last_on_old: None,
            volume: None,
        };
        assert_eq!(span.window(), (at(980), at(1_750)));
        span.first_on_new[0] = Some(at(11_201));
        assert_eq!(span.window(), (at(980), at(1_460)));
    }
}
