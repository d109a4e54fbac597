//! Round trips, window and data in flight, as the sweep comes by them.

use crate::account::half::Half;
use crate::account::packet::AccountPacket;
use crate::account::times::{MOST_STAMPS, micros};
use rekeyscope_model::analysis::{Direction, FlowCourse, FlowTcp};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::Handshake;
use std::collections::VecDeque;

/// Two packets that echo the same acknowledgement say so within this, nanoseconds: times are read in microseconds.
const SAME_ECHO: i64 = 2_000;

/// One direction of a connection: 230 kB at most, mostly 30 to 70.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    /// From data to its acknowledgement: no sample of what was sent twice (Karn's rule, RFC 6298 §3).
    receiver_half: Median,
    /// The same with the sender's half.
    both_halves: Median,
    /// From an acknowledgement to the data that it releases, nanoseconds: the last time; `None` where nothing tells it.
    sender_half: Option<i64>,
    /// When the acknowledgement passed that was echoed last.
    echoed: i64,
    /// Acknowledgements whose timestamps no data has echoed.
    waiting: VecDeque<AccountPacket>,
    /// The timestamp that was echoed last.
    stamp: u32,
    /// Everything below was acknowledged when the sender sent last; 0: not known.
    heard: u64,
    largest_flight: u64,
    largest_window: u64,
    scale_known: bool,
    course: FlowBins,
}

impl Measured {
    /// Begins with the first piece of a connection, `half`; `None` without sequence numbers.
    pub(crate) fn new(half: &Half) -> Option<Box<Measured>> {
        half.tcp.then(|| {
            Box::new(Measured {
                sender_half: half.measured_rtt.zip(half.d1).map(|(rtt, d1)| rtt - d1),
                echoed: i64::MIN,
                scale_known: half.scale_known,
                ..Measured::default()
            })
        })
    }

    /// An acknowledgement reaches the sender.
    #[inline]
    pub(crate) fn hears(&mut self, half: &Half, ack: &AccountPacket) {
        self.largest_window = self.largest_window.max(half.window(ack));
        if ack.stamp != 0 {
            self.waiting.push_back(*ack);
            if self.waiting.len() > MOST_STAMPS {
                self.waiting.pop_front();
            }
        }
        let Some(after) = ack.answers_after else { return };
        self.receiver_half.add(after);
        let nanos = i64::from(after) * 1_000;
        let rtt = self.sender_half.map_or(after, |own| micros(nanos + own));
        if self.sender_half.is_some() {
            self.both_halves.add(rtt);
        }
        self.course.at(ack.time.0).rtt.add(rtt);
    }

    /// The sender sends; `flight` is under way then, by the least delay of acknowledgements, and it has sent up to `sent`. `waited`: nothing
    /// was under way before, so that it may have had nothing to send.
    #[inline]
    pub(crate) fn sends(&mut self, data: &AccountPacket, (flight, sent): (u64, u64), waited: bool) {
        let heard = self.echoes(data, waited);
        let flight = heard.map_or(flight, |heard| sent.saturating_sub(heard));
        self.largest_flight = self.largest_flight.max(flight);
        let bytes = u32::try_from(flight).unwrap_or(u32::MAX);
        self.course.at(data.time.0).flight.add(bytes);
    }

    /// Everything below was acknowledged when it sent this, as the timestamp says that it echoes: packets may queue before the capture.
    fn echoes(&mut self, data: &AccountPacket, waited: bool) -> Option<u64> {
        let after = i64::from(data.echo_after?) * 1_000;
        let heard = data.time.0 - after;
        while let Some(ack) = self.waiting.front() {
            if ack.time.0 <= heard + SAME_ECHO {
                self.stamp = ack.stamp;
            } else if ack.stamp != self.stamp {
                break;
            }
            self.heard = self.heard.max(ack.ack);
            self.waiting.pop_front();
        }
        // Later data on the same acknowledgement has waited for its turn.
        let first = heard > self.echoed.saturating_add(SAME_ECHO);
        self.echoed = self.echoed.max(heard);
        if first && !waited && !data.again && self.sender_half.is_some() {
            self.sender_half = Some(after);
        }
        (self.heard > 0).then_some(self.heard)
    }

    /// The measurements as the document has them. `drawn`: with their course.
    pub(crate) fn document(&self, handshake: &Handshake, drawn: bool) -> FlowTcp {
        let [one, other] = Direction::BOTH.map(|side| handshake.half(side));
        let round_trip = one.zip(other).map(|(one, other)| one + other);
        let course = self.course.document(self.sender_half.is_some());
        FlowTcp {
            handshake_rtt_ms: round_trip.map(|nanos| f64::from(micros(nanos)) / 1_000.0),
            rtt_ms: self.both_halves.millis(),
            ack_rtt_ms: self.receiver_half.millis(),
            largest_window_bytes: self.scale_known.then_some(self.largest_window),
            largest_in_flight_bytes: self.largest_flight,
            course: course.filter(|_| drawn),
        }
    }
}

// Values over time, in a bounded number of bins.

/// Most bins; beyond, they become twice as wide.
const MOST_BINS: usize = 1024;
/// Nanoseconds. Width of a bin at first.
const FIRST_WIDTH: i64 = 10 * NANOS_PER_MILLI;

/// Lowest, mean and highest of values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spread {
    low: u32,
    high: u32,
    count: u64,
    sum: u64,
}

/// Values of one bin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FlowBin {
    /// Microseconds.
    pub(super) rtt: Spread,
    /// Bytes.
    pub(super) flight: Spread,
}

/// Bins in order of time: 49 kB at most.
#[derive(Debug, Clone)]
pub(super) struct FlowBins {
    /// Width of a bin, nanoseconds.
    width: i64,
    /// Number of the first bin: bin n begins at n times the width.
    first: i64,
    bins: Vec<FlowBin>,
}

impl Default for FlowBins {
    fn default() -> Self {
        FlowBins {
            width: FIRST_WIDTH,
            first: 0,
            bins: Vec::new(),
        }
    }
}

impl FlowBins {
    /// The bin of a moment. What lies before the first one counts there.
    pub(super) fn at(&mut self, time: i64) -> &mut FlowBin {
        if self.bins.is_empty() {
            self.first = time.div_euclid(self.width);
        }
        let place = |of: &Self| usize::try_from(time.div_euclid(of.width) - of.first).unwrap_or(0);
        while place(self) >= MOST_BINS {
            self.coarsen();
        }
        let place = place(self);
        if place >= self.bins.len() {
            self.bins.resize(place + 1, FlowBin::default());
        }
        &mut self.bins[place]
    }

    /// Doubles the width.
    fn coarsen(&mut self) {
        let odd = self.first.rem_euclid(2) as usize;
        let mut wider = vec![FlowBin::default(); (self.bins.len() + odd).div_ceil(2)];
        for (place, bin) in self.bins.iter().enumerate() {
            wider[(place + odd) / 2].rtt.merge(bin.rtt);
            wider[(place + odd) / 2].flight.merge(bin.flight);
        }
        *self = FlowBins {
            width: self.width * 2,
            first: self.first.div_euclid(2),
            bins: wider,
        };
    }

    /// The course as the document has it; `None` where one bin holds everything.
    pub(super) fn document(&self, whole: bool) -> Option<FlowCourse> {
        let millis = |us: u64| us as f64 / 1_000.0;
        (self.bins.len() > 1).then(|| FlowCourse {
            start: Timestamp(self.first.saturating_mul(self.width)),
            bin_ms: self.width as f64 / NANOS_PER_MILLI as f64,
            rtt_whole: whole,
            rtt_ms: self
                .bins
                .iter()
                .map(|b| Some(b.rtt.three()?.map(millis)))
                .collect(),
            in_flight_bytes: self.bins.iter().map(|b| b.flight.three()).collect(),
        })
    }
}

impl Spread {
    pub(super) fn add(&mut self, value: u32) {
        self.merge(Spread {
            low: value,
            high: value,
            count: 1,
            sum: u64::from(value),
        });
    }

    fn merge(&mut self, other: Spread) {
        self.low = match (self.count, other.count) {
            (0, _) => other.low,
            (_, 0) => self.low,
            _ => self.low.min(other.low),
        };
        self.high = self.high.max(other.high);
        self.count += other.count;
        self.sum += other.sum;
    }

    fn three(&self) -> Option<[u64; 3]> {
        let mean = (self.sum + self.count / 2).checked_div(self.count)?;
        Some([u64::from(self.low), mean, u64::from(self.high)])
    }
}

// The median of times, in bounded memory.

/// Bits that are kept of a time: the middle of what falls together is at most 0.8 % off.
const KEPT_BITS: u32 = 7;
/// Steps of an octave.
const STEPS: usize = 1 << (KEPT_BITS - 1);

/// Times counted by their leading bits: 7 kB at most.
#[derive(Debug, Clone, Default)]
pub(super) struct Median {
    counts: Vec<u32>,
}

impl Median {
    /// Microseconds.
    pub(super) fn add(&mut self, us: u32) {
        let place = place(us);
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] = self.counts[place].saturating_add(1);
    }

    /// Milliseconds; `None` without any.
    pub(super) fn millis(&self) -> Option<f64> {
        let total: u64 = self.counts.iter().copied().map(u64::from).sum();
        let mut below = 0;
        let place = self.counts.iter().position(|&count| {
            below += u64::from(count);
            below > 0 && below * 2 >= total
        })?;
        Some(middle(place) as f64 / 1_000.0)
    }
}

/// Microseconds below 128 each have a place; above, 64 places make an octave.
fn place(us: u32) -> usize {
    let octave = (u32::BITS - us.leading_zeros()).saturating_sub(KEPT_BITS);
    octave as usize * STEPS + (us >> octave) as usize
}

/// The middle of what has this place, microseconds.
fn middle(place: usize) -> u64 {
    let octave = (place / STEPS).saturating_sub(1);
    let low = ((place - octave * STEPS) as u64) << octave;
    low + (1 << octave) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{ack, at, data, half};

    /// The sender's half takes 10 ms, the receiver's 30.
    fn measured() -> (Half, Box<Measured>) {
        let half = Half {
            d1: Some(at(30)),
            measured_rtt: Some(at(40)),
            ..half()
        };
        let measured = Measured::new(&half).unwrap();
        (half, measured)
    }

    #[test]
    fn round_trips_have_both_halves() {
        let (half, mut of) = measured();
        for (ms, after) in [(100, 30), (110, 50), (120, 40)] {
            let heard = AccountPacket {
                answers_after: Some(micros(at(after))),
                ..ack(ms, 0, 9_000)
            };
            of.hears(&half, &heard);
        }
        of.hears(&half, &ack(130, 0, 12_000));
        let told = of.document(&Handshake::default(), false);
        let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 0.01 * expected;
        assert!(near(told.ack_rtt_ms, 40.0) && near(told.rtt_ms, 50.0), "{told:?}");
        assert_eq!(
            (told.handshake_rtt_ms, told.largest_window_bytes),
            (None, Some(12_000))
        );
        let one_way = Measured::new(&Half {
            measured_rtt: None,
            ..half
        });
        assert_eq!(one_way.unwrap().sender_half, None);
        let udp = crate::account::made_up::half();
        assert!(Measured::new(&Half { tcp: false, ..udp }).is_none());
    }

    /// It echoes an acknowledgement that passed so long before.
    fn echo(ms: i64, start: u64, before: Option<u32>) -> AccountPacket {
        AccountPacket {
            echo_after: before.map(|ms| ms * 1_000),
            ..data(ms, start)
        }
    }

    fn stamped(ms: i64, number: u64, stamp: u32) -> AccountPacket {
        AccountPacket {
            stamp,
            ..ack(ms, number, 0)
        }
    }

    #[test]
    fn the_flight_is_what_the_sender_had_not_heard_of() {
        let (half, mut of) = measured();
        of.sends(&echo(5, 0, None), (1_234, 1_000), false);
        assert_eq!(of.largest_flight, 1_234, "by the least delay");
        of.largest_flight = 0;
        for heard in [
            stamped(10, 1_000, 1),
            stamped(20, 2_000, 2),
            stamped(30, 3_000, 3),
        ] {
            of.hears(&half, &heard);
        }
        // Sent when the first two had been heard.
        of.sends(&echo(50, 9_000, Some(30)), (1, 10_000), false);
        assert_eq!(of.largest_flight, 10_000 - 2_000);
        of.largest_flight = 0;
        of.sends(&echo(51, 10_000, Some(21)), (1, 11_000), false);
        assert_eq!(of.largest_flight, 11_000 - 3_000);
    }

    #[test]
    fn the_senders_half_is_what_the_first_echo_took() {
        let half_of = |change: fn(&mut AccountPacket), waited: bool| {
            let (half, mut of) = measured();
            of.hears(&half, &stamped(10, 1_000, 1));
            let mut first = echo(25, 1_000, Some(15));
            change(&mut first);
            of.sends(&first, (1, 2_000), waited);
            // The second on the same acknowledgement waited for its turn.
            of.sends(&echo(28, 2_000, Some(18)), (1, 3_000), false);
            of.sender_half
        };
        assert_eq!(half_of(|_| (), false), Some(at(15)));
        assert_eq!(half_of(|_| (), true), Some(at(10)), "it had nothing to send");
        assert_eq!(half_of(|d| d.again = true, false), Some(at(10)), "a copy");
        let (half, mut of) = measured();
        of.sender_half = None;
        of.hears(&half, &stamped(10, 1_000, 1));
        of.sends(&echo(25, 1_000, Some(15)), (1, 2_000), false);
        assert_eq!(of.sender_half, None);
    }

    fn of(times: impl Iterator<Item = i64>) -> FlowBins {
        let mut course = FlowBins::default();
        for (value, time) in (0..).zip(times) {
            course.at(time).flight.add(value);
        }
        course
    }

    #[test]
    fn coarser_bins_hold_the_same_values() {
        for begin in [0, 3, 4, -7] {
            let course = of((0..5_000).map(|k| (begin + k) * FIRST_WIDTH));
            assert_eq!(course.width, 8 * FIRST_WIDTH);
            assert!(course.bins.len() <= MOST_BINS);
            let flights = || course.bins.iter().map(|b| b.flight);
            assert_eq!(flights().map(|f| f.count).sum::<u64>(), 5_000);
            assert_eq!(flights().map(|f| f.sum).sum::<u64>(), 4_999 * 2_500);
            for (number, flight) in (course.first..).zip(flights()) {
                let low = (number * 8 - begin).max(0);
                let high = (number * 8 + 7 - begin).min(4_999);
                assert_eq!((i64::from(flight.low), i64::from(flight.high)), (low, high));
            }
        }
    }

    #[test]
    fn any_times_fit() {
        let far = [0, i64::MAX, i64::MIN, 5, i64::MAX / 2];
        let course = of(far.into_iter());
        assert!(course.bins.len() <= MOST_BINS);
        assert_eq!(course.bins.iter().map(|b| b.flight.count).sum::<u64>(), 5);
    }

    #[test]
    fn every_time_is_near_the_middle_of_its_place() {
        for us in (0..40_000).chain([1_000_000, 77_777_777, u32::MAX]) {
            let off = middle(place(us)).abs_diff(u64::from(us)) as f64;
            assert!(off <= 0.008 * f64::from(us), "{us}: {off}");
        }
        assert!(place(u32::MAX) < 27 * STEPS);
    }

    #[test]
    fn the_median_is_the_middle_one() {
        let mut median = Median::default();
        assert_eq!(median.millis(), None);
        for ms in [90, 1, 20, 20, 500] {
            median.add(ms * 1_000);
        }
        let found = median.millis().unwrap();
        assert!((found - 20.0).abs() < 0.2, "{found}");
    }
}
