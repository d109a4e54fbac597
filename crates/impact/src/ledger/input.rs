//! Input of the ledger.

use rekeyscope_model::lifetime::SAME_LIMIT;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{Interval, LEAST_TIMEOUT, LONGEST_ACK_DELAY, TransmissionRun};

/// Time before the first captured message of an exchange in which a loss is still the rekey's.
pub(super) const BEFORE: i64 = 20 * NANOS_PER_MILLI;
/// Time after the switch that belongs to the rekey: packets that came too early for the new SA are sent again after a retransmission
/// timeout.
const BEHIND: i64 = 250 * NANOS_PER_MILLI;
/// A new SA that carries its first packet later than this after the exchange was not waited for.
const SWITCHED_WITHIN: i64 = 10 * NANOS_PER_SECOND;
/// The shortest silence that counts: Linux delays an acknowledgement by 40 ms (`TCP_DELACK_MIN`), which makes gaps that are nobody's.
pub const LEAST_GAP: i64 = 50 * NANOS_PER_MILLI;
/// The shortest window of a rate: some seven runs (20 ms), so that one burst more or less is no other rate.
const LEAST_WINDOW: i64 = 150 * NANOS_PER_MILLI;
/// Least undisturbed time of both sides of a rekey that gives a rate.
pub(super) const LEAST_RATE_TIME: i64 = NANOS_PER_SECOND;
/// Least undisturbed time of both sides of a rekey that gives a rate, in round trips.
const LEAST_ROUND_TRIPS: i64 = 10;
/// A cost below this is said as none, nanoseconds: a scheduler's tick at each end of the way takes as long.
pub const LEAST_COST: i64 = 10 * NANOS_PER_MILLI;
/// Rekeys that cost this share of a transfer cost throughput; sentences name no smaller one.
pub const LEAST_SHARE: f64 = 0.01;

/// A stretch of time.
pub(super) type TimeSpan = (Timestamp, Timestamp);

/// A rekey that succeeded, as one direction of the data sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RekeySpan {
    /// Name of the rekey.
    pub rekey: usize,
    /// Time of the first message of the exchange.
    pub asked: Timestamp,
    /// Time of the last message of the exchange.
    pub last_message: Timestamp,
    /// Time of the first packet on the new SA: of this direction, and of the other one.
    pub first_on_new: [Option<Timestamp>; 2],
    /// Time of the last packet on the old SA of this direction.
    pub last_on_old: Option<Timestamp>,
    /// Time at which one of the old SAs was deleted.
    pub deleted: Option<Timestamp>,
    /// Share of its volume that the old SA of this direction had used; `None` where no limit is known.
    pub volume: Option<f64>,
}

impl RekeySpan {
    /// Whether the old SA used less of its volume than any limit would allow; false where no limit is known.
    pub fn is_below_limit(&self) -> bool {
        self.volume.is_some_and(|share| share < 1.0 - SAME_LIMIT)
    }

    /// Whether the old SA may have reached its volume; false where no limit is known.
    pub(super) fn reaches_limit(&self) -> bool {
        self.volume.is_some_and(|share| share >= 1.0 - SAME_LIMIT)
    }

    /// True where one of the rekey's steps lies in a span, or at most `margin` beside it: a message, the switch, the end of the old SA. An end
    /// computes at its messages and lacks an SA at the switch; while it waits for an answer the old SA carries on.
    pub(super) fn steps_in(&self, (from, to): TimeSpan, margin: i64) -> bool {
        let messages = [Some(self.asked), Some(self.last_message)].into_iter();
        let switch = self
            .first_on_new
            .into_iter()
            .chain([self.last_on_old, self.deleted]);
        let mut steps = messages.chain(switch).flatten();
        steps.any(|step| from.plus_nanos(-margin) <= step && step <= to.plus_nanos(margin))
    }

    /// Time within which the rekey may disturb something.
    pub(super) fn window(&self) -> TimeSpan {
        let latest = self.last_message.plus_nanos(SWITCHED_WITHIN);
        let switches = self.first_on_new.iter().flatten().filter(|at| **at <= latest);
        let last = switches.copied().fold(self.last_message, Timestamp::max);
        (self.asked.plus_nanos(-BEFORE), last.plus_nanos(BEHIND))
    }

    /// The window of a rekey without a silence. A first packet that comes within a [`pause`] was the next to be sent: a window that ends
    /// by it holds one burst more than its length says.
    pub(super) fn even_window(&self, gap: i64) -> TimeSpan {
        let (from, to) = self.window();
        let exchange = self.last_message.plus_nanos(BEHIND);
        (
            from,
            if to.nanos_since(exchange) <= gap {
                exchange
            } else {
                to
            },
        )
    }
}

/// An attempt to rekey that came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedSpan {
    /// Name of the attempt.
    pub attempt: usize,
    /// Time of the first message.
    pub from: Timestamp,
    /// Time of the first packet of the next SA; `None` where none came.
    pub to: Option<Timestamp>,
}

impl FailedSpan {
    /// Time within which nothing may pass.
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
    /// True where the tunnel died: what is missing at the end would have come.
    pub died: bool,
    /// Round trip, nanoseconds; 0 where none was measured.
    pub round_trip: i64,
    /// Highest rate that the path carries, bytes a second, where that is proven.
    pub capacity: Option<f64>,
    /// Rekeys that succeeded, but for those that made the first SA.
    pub rekeys: &'a [RekeySpan],
    /// Attempts that failed.
    pub failed: &'a [FailedSpan],
    /// Outages by delivery that no renewal cost, and their names: a silence is theirs before it is a rekey's.
    pub outages: &'a [Interval<usize>],
    /// Times at which an end came to another address: the path is another one from then on.
    pub moves: &'a [Timestamp],
    /// Rests between transfers: they are in no sum.
    pub rests: &'a [(Timestamp, Timestamp)],
    /// Stretches that the capture lacks.
    pub holes: &'a [(Timestamp, Timestamp)],
    /// Stretches in which the sender sends nothing though all it had sent was answered: where no key shows what was acknowledged.
    pub idle: &'a [Interval<Idle>],
}

/// Facts of a stretch without data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// True where small packets passed both ways for most of it: the way was open. Else all that had been sent was answered.
    pub open: bool,
}

/// Transmissions of a run up to a moment, and those after it. A run that reaches beyond the moment is divided by time.
pub(super) fn divided(run: &TransmissionRun, at: Timestamp) -> [Option<TransmissionRun>; 2] {
    if run.to <= at {
        return [Some(*run), None];
    }
    if at < run.from {
        return [None, Some(*run)];
    }
    let share = at.nanos_since(run.from) as f64 / run.to.nanos_since(run.from) as f64;
    let packets = (f64::from(run.packets) * share).round() as u32;
    let bytes = run.bytes * u64::from(packets) / u64::from(run.packets.max(1));
    let before = TransmissionRun {
        to: at,
        packets,
        bytes,
        ..*run
    };
    let behind = TransmissionRun {
        from: at.plus_nanos(1),
        packets: run.packets - packets,
        bytes: run.bytes - bytes,
        ..*run
    };
    [before, behind].map(|side| Some(side).filter(|side| side.packets > 0))
}

/// Datagrams that were sent on an SA beyond its volume did not arrive. `beyond`: the SPI, and since when.
pub fn swallow_beyond_volume(
    arrived: &mut Vec<TransmissionRun>,
    in_vain: &mut Vec<TransmissionRun>,
    beyond: &[(u32, Timestamp)],
) {
    let mut left = Vec::with_capacity(arrived.len());
    for run in arrived.drain(..) {
        let since = beyond.iter().find(|(spi, _)| run.spi == Some(*spi));
        let [before, behind] = since.map_or([Some(run), None], |(_, since)| divided(&run, *since));
        left.extend(before);
        in_vain.extend(behind.map(|run| TransmissionRun { bytes: 0, ..run }));
    }
    *arrived = left;
    in_vain.sort_by_key(|run| run.from);
}

/// A silence beyond this is a pause: no acknowledgement takes one and a half round trips.
pub(super) fn pause(round_trip: i64) -> i64 {
    round_trip * 3 / 2
}

/// Times that the rules use, nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleTimes {
    /// Length beyond which a silence is a [`pause`], and not a delayed acknowledgement.
    pub(crate) gap: i64,
    /// A retransmission timeout.
    pub(crate) timeout: i64,
    /// The tunnel was down before anybody asked where a silence began earlier than this before the first message: a receiver delays no
    /// acknowledgement longer.
    pub(super) down_before: i64,
    /// Window of a rate: whole round trips, so that a sender's bursts even out.
    pub(super) window: i64,
    /// Least time that gives a rate.
    pub(super) rate_within: i64,
}

impl RuleTimes {
    pub(crate) fn of(round_trip: i64) -> RuleTimes {
        let rtt = round_trip.max(0);
        let least = LEAST_WINDOW.max(2 * rtt);
        let window = if rtt > 0 {
            (least + rtt - 1) / rtt * rtt
        } else {
            least
        };
        RuleTimes {
            gap: LEAST_GAP.max(pause(rtt)),
            timeout: LEAST_TIMEOUT.max(2 * rtt),
            down_before: LONGEST_ACK_DELAY.max(3 * rtt),
            window,
            rate_within: LEAST_RATE_TIME.max(LEAST_ROUND_TRIPS * rtt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::made_up::{at, run};

    #[test]
    fn windows_hold_whole_round_trips() {
        let windows = [0, 7, 20, 60, 100].map(|ms| RuleTimes::of(at(ms).0).window / NANOS_PER_MILLI);
        assert_eq!(windows, [150, 154, 160, 180, 200]);
    }

    #[test]
    fn datagrams_beyond_the_volume_carry_nothing() {
        let spi = |spi, run: TransmissionRun| TransmissionRun {
            spi: Some(spi),
            ..run
        };
        let mut arrived = vec![
            spi(7, run((0, 10), 11, 1_100)),
            spi(7, run((20, 30), 10, 1_000)),
            spi(7, run((40, 50), 11, 1_100)),
            spi(9, run((60, 70), 11, 1_100)),
        ];
        let mut in_vain = Vec::new();
        swallow_beyond_volume(&mut arrived, &mut in_vain, &[(7, at(24))]);
        let facts = |runs: &[TransmissionRun]| -> Vec<(i64, u32, u64)> {
            runs.iter()
                .map(|run| (run.to.0 / NANOS_PER_MILLI, run.packets, run.bytes))
                .collect()
        };
        assert_eq!(facts(&arrived), [(10, 11, 1_100), (24, 4, 400), (70, 11, 1_100)]);
        assert_eq!(facts(&in_vain), [(30, 6, 0), (50, 11, 0)]);
    }

    #[test]
    fn a_rekey_reaches_to_its_later_switch_but_not_to_a_lazy_one() {
        let mut span = RekeySpan {
            rekey: 0,
            asked: at(1_000),
            last_message: at(1_200),
            first_on_new: [Some(at(1_500)), Some(at(1_210))],
            last_on_old: None,
            deleted: None,
            volume: None,
        };
        assert_eq!(span.window(), (at(980), at(1_750)));
        span.first_on_new[0] = Some(at(11_201));
        assert_eq!(span.window(), (at(980), at(1_460)));
    }
}
