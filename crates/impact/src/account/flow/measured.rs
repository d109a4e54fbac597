//! Round trips, window and data in flight, as the sweep comes by them.

use super::course::FlowBins;
use super::median::Median;
use crate::account::half::Half;
use crate::account::packet::AccountPacket;
use crate::account::times::{MOST_STAMPS, micros};
use rekeyscope_model::analysis::{Direction, FlowTcp};
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
}
