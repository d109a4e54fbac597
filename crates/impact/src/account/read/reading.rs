//! Packets of a connection → data and acknowledgements of one direction, piece by piece.

use super::data::{Ack, Data};
use super::delays::{Delays, micros};
use crate::account::packet::{AccountPacket, Source};
use std::collections::VecDeque;

/// Where sequence numbers begin once they are unwrapped: far enough that nothing lies before 0.
const ORIGIN: u64 = 1 << 33;
/// Timestamps that wait to be echoed: one a millisecond for over a minute, 1 MB. A sender may never echo any.
const MOST_STAMPS: usize = 1 << 16;

/// What was read of one direction, and what reading on needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Of the piece that is being read.
    pub(crate) data: Vec<Data>,
    /// See `data`.
    pub(crate) acks: Vec<Ack>,
    /// Behind the highest byte sent: as on the wire and unwrapped, which is 0 before the first.
    next: (u32, u64),
    acked: u64,
    /// Largest payload, bytes.
    pub(crate) largest: u64,
    latest: i64,
    /// Indices of data that waits for its acknowledgement, in order of sequence numbers, and how many of them have it.
    waiting: (Vec<u32>, usize),
    /// The first acknowledgement with each of the receiver's timestamps.
    stamps: VecDeque<(u32, i64)>,
    pub(crate) delays: Delays,
    /// The shift of the receiver's window that its data needs.
    pub(crate) scale: u8,
    /// All TCP flags of its packets, and of those of the other direction.
    said: u8,
    heard: u8,
}

impl Reading {
    /// Reads the next piece of a direction.
    pub(crate) fn read(&mut self, source: &Source<'_>) {
        let sends = |p: &AccountPacket| p.payload > 0 && p.slot() == source.slot;
        let quiet = !source.packets.iter().any(sends);
        self.read_piece(source, quiet);
    }

    /// The same. `quiet`: the direction sends nothing in it, as the way back of a download: what is acknowledged, and when, tells nothing.
    pub(crate) fn read_piece(&mut self, source: &Source<'_>, quiet: bool) {
        self.begin_piece();
        for p in source.packets {
            if p.slot() == source.slot {
                self.sender_says(p, source.tcp);
            } else {
                self.receiver_says(p, (source.tcp, quiet));
            }
        }
        self.end_piece();
    }

    /// It was closed.
    pub(crate) fn is_ended(&self) -> bool {
        let (own, any) = (AccountPacket::FIN, AccountPacket::RST);
        self.said & own != 0 || (self.said | self.heard) & any != 0
    }

    /// Indices of the last piece mean nothing in the next.
    fn begin_piece(&mut self) {
        self.waiting.0.clear();
        self.waiting.1 = 0;
    }

    /// A direction without data echoes nothing.
    fn end_piece(&mut self) {
        if self.data.is_empty() {
            self.stamps.clear();
            self.acks.clear();
        }
    }

    /// A clock that steps back by a little makes no wait negative.
    fn pass(&mut self, p: &AccountPacket) {
        self.latest = self.latest.max(p.time.0);
    }

    /// A packet of the direction that is read.
    fn sender_says(&mut self, p: &AccountPacket, tcp: bool) {
        self.pass(p);
        self.said |= p.flags;
        if p.has(AccountPacket::SYN) {
            self.place(p.seq.wrapping_add(1));
        } else if p.payload > 0 {
            self.sends(p, tcp);
        }
    }

    /// A packet of the other one.
    fn receiver_says(&mut self, p: &AccountPacket, (tcp, quiet): (bool, bool)) {
        self.pass(p);
        self.heard |= p.flags;
        if tcp && p.has(AccountPacket::ACK) {
            let ack = self.place(p.ack);
            self.acked = self.acked.max(ack);
            if !quiet {
                self.acknowledges(p, ack);
            }
        }
    }

    /// A number of the wire unwrapped. The first one is where everything begins.
    fn place(&mut self, number: u32) -> u64 {
        if self.next.1 == 0 {
            self.next = (number, ORIGIN);
        }
        let (on_wire, unwrapped) = self.next;
        // Never below 0: it begins beyond what a step back can be.
        unwrapped.wrapping_add_signed(i64::from(number.wrapping_sub(on_wire) as i32))
    }

    fn sends(&mut self, p: &AccountPacket, tcp: bool) {
        let payload = u64::from(p.payload);
        // Without sequence numbers everything is new.
        let start = self.place(if tcp { p.seq } else { self.next.0 });
        let end = start + payload;
        if tcp && payload == 1 && end <= self.acked {
            return; // a keep-alive (RFC 9293 §3.8.4)
        }
        let highest = self.next.1;
        let behind = start < highest;
        let echo_after = if p.stamped {
            self.since_echoed(p.echo)
        } else {
            u32::MAX
        };
        if echo_after != u32::MAX {
            self.delays.echoed.add(echo_after);
        }
        // A packet that was overtaken brings its segment for the first time.
        let again = behind && (p.seen_before || !p.late);
        if again {
            self.repeats(start, end);
        } else if tcp && !p.late {
            self.waiting.0.push(self.data.len() as u32);
        }
        // Put together where it is kept: `push` asks for room afterwards, and all of it waits on the stack.
        self.data.extend(std::iter::once_with(|| Data {
            time: self.latest,
            frame: p.frame,
            start,
            end,
            acked_after: u32::MAX,
            echo_after,
            new: p.new,
            again,
            repeated: false,
            seen_before: p.seen_before,
            late: p.late,
        }));
        self.largest = self.largest.max(payload);
        if end > highest {
            self.next = (p.seq.wrapping_add(u32::from(p.payload)), end);
        }
    }

    /// What waits for its acknowledgement is sent again.
    // Rare: inlined, it and what follows take the registers of what is done for each packet.
    #[cold]
    #[inline(never)]
    fn repeats(&mut self, start: u64, end: u64) {
        let waiting = &self.waiting.0[self.waiting.1..];
        let first = waiting.partition_point(|&k| self.data[k as usize].end <= start);
        for &k in &waiting[first..] {
            let data = &mut self.data[k as usize];
            if data.start >= end {
                break;
            }
            data.repeated = true;
        }
    }

    fn acknowledges(&mut self, p: &AccountPacket, ack: u64) {
        let mut after = i64::MAX;
        let (waiting, acknowledged) = &mut self.waiting;
        // In registers, as most of the time here goes into this loop.
        let (mut d1, mut heard) = (self.delays.d1, *acknowledged);
        for &k in &waiting[heard..] {
            let data = &mut self.data[k as usize];
            if data.end > ack {
                break;
            }
            heard += 1;
            if !data.repeated {
                let waited = self.latest - data.time;
                data.acked_after = micros(waited);
                d1.add(data.acked_after);
                after = after.min(waited);
            }
        }
        (self.delays.d1, *acknowledged) = (d1, heard);
        if p.stamped && self.stamps.back().is_none_or(|s| s.0 != p.stamp) {
            self.stamps.push_back((p.stamp, self.latest));
            if self.stamps.len() > MOST_STAMPS {
                self.stamps.pop_front();
            }
        }
        self.acks.extend(std::iter::once_with(|| Ack {
            time: self.latest,
            ack,
            stamp: p.stamp,
            window: p.window,
            unscaled: p.has(AccountPacket::SYN),
            after,
        }));
    }

    /// Since the first acknowledgement with a timestamp. Those before it are not asked for again.
    // See `repeats`.
    #[inline(never)]
    fn since_echoed(&mut self, echo: u32) -> u32 {
        while self.stamps.len() > 1
            && self
                .stamps
                .front()
                .is_some_and(|s| (echo.wrapping_sub(s.0) as i32) > 0)
        {
            self.stamps.pop_front();
        }
        let first = self.stamps.front().filter(|s| s.0 == echo);
        first.map_or(u32::MAX, |s| micros(self.latest - s.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::at;
    use rekeyscope_model::time::Timestamp;

    #[test]
    fn timestamps_that_nobody_echoes_do_not_pile_up() {
        let data = AccountPacket {
            payload: 1,
            ..AccountPacket::default()
        };
        let acknowledgement = |stamp: u32| AccountPacket {
            stamp,
            reverse: true,
            flags: AccountPacket::ACK,
            stamped: true,
            ..AccountPacket::default()
        };
        let many = 0..MOST_STAMPS as u32 + 10;
        let packets: Vec<AccountPacket> = std::iter::once(data).chain(many.map(acknowledgement)).collect();
        let mut reading = Reading::default();
        reading.read(&Source {
            packets: &packets,
            syns: &[None, None],
            tcp: true,
            slot: 0,
        });
        assert_eq!(reading.stamps.len(), MOST_STAMPS);
    }

    fn sent(ms: i64, seq: u32, payload: u16) -> AccountPacket {
        AccountPacket {
            time: Timestamp(at(ms)),
            frame: ms as u64,
            seq,
            payload,
            new: payload,
            ..AccountPacket::default()
        }
    }

    fn heard(ms: i64, ack: u32) -> AccountPacket {
        AccountPacket {
            time: Timestamp(at(ms)),
            ack,
            reverse: true,
            flags: AccountPacket::ACK,
            ..AccountPacket::default()
        }
    }

    fn read_all(packets: &[AccountPacket], tcp: bool) -> Reading {
        let mut reading = Reading::default();
        reading.read(&Source {
            packets,
            syns: &[None, None],
            tcp,
            slot: 0,
        });
        reading
    }

    fn read(packets: &[AccountPacket]) -> Reading {
        read_all(packets, true)
    }

    /// From the first data on: begin, end, and whether it was sent again.
    fn places(reading: &Reading) -> Vec<(u64, u64, bool)> {
        let place = |number: u64| number - ORIGIN;
        let data = reading.data.iter();
        data.map(|d| (place(d.start), place(d.end), d.again)).collect()
    }

    #[test]
    fn sequence_numbers_are_unwrapped() {
        let begin = u32::MAX - 1_499;
        let packets = [
            sent(0, begin, 1_000),
            sent(1, begin.wrapping_add(1_000), 1_000),
            sent(2, begin.wrapping_add(2_000), 500),
            sent(3, begin.wrapping_add(1_000), 1_000),
        ];
        let reading = read(&packets);
        assert_eq!(
            places(&reading),
            [
                (0, 1_000, false),
                (1_000, 2_000, false),
                (2_000, 2_500, false),
                (1_000, 2_000, true)
            ]
        );
        assert_eq!(reading.largest, 1_000);
        assert!(reading.data[1].repeated && !reading.data[0].repeated && !reading.data[2].repeated);
        let other = read_all(&packets, false);
        let expected = [(0, 1_000), (1_000, 2_000), (2_000, 2_500), (2_500, 3_500)];
        assert_eq!(
            places(&other),
            expected.map(|(from, to)| (from, to, false)),
            "everything is new"
        );
    }

    #[test]
    fn a_syn_tells_the_first_number() {
        let syn = AccountPacket {
            flags: AccountPacket::SYN,
            ..sent(0, 999, 0)
        };
        let reading = read(&[syn, sent(1, 2_000, 1_000), sent(2, 1_000, 1_000)]);
        assert_eq!(places(&reading), [(1_000, 2_000, false), (0, 1_000, true)]);
        let ends = AccountPacket {
            flags: AccountPacket::FIN,
            ..sent(3, 3_000, 0)
        };
        assert!(!reading.is_ended() && read(&[ends]).is_ended());
    }

    /// Of a packet that was overtaken the segment is new; one of which some was seen is a copy all the same.
    #[test]
    fn what_was_overtaken_is_no_copy() {
        let late = |seen_before| {
            let late = AccountPacket {
                late: true,
                seen_before,
                ..sent(2, 1_000, 1_000)
            };
            let reading = read(&[sent(0, 0, 1_000), sent(1, 2_000, 1_000), late]);
            reading.data[2].again
        };
        assert_eq!((late(false), late(true)), (false, true));
    }

    #[test]
    fn a_keep_alive_is_no_data() {
        let count = |packet| read(&[sent(0, 0, 1_000), heard(5, 1_000), packet]).data.len();
        assert_eq!(count(sent(9, 999, 1)), 1);
        assert_eq!(count(sent(9, 998, 2)), 2, "a copy of two bytes");
        assert_eq!(count(sent(9, 1_000, 1)), 2, "a new byte");
    }

    /// In a piece in which nothing is sent what is acknowledged is still learned, and nothing else.
    #[test]
    fn a_quiet_piece_tells_the_last_acknowledgement() {
        let mut reading = read(&[sent(0, 0, 1_000)]);
        let next = |reading: &mut Reading, packet: AccountPacket| {
            reading.data.clear();
            reading.read(&Source {
                packets: &[packet],
                syns: &[None, None],
                tcp: true,
                slot: 0,
            });
            (reading.data.len(), reading.acks.len())
        };
        let mut not_yet = reading.clone();
        assert_eq!(next(&mut not_yet, sent(9, 999, 1)), (1, 0), "a copy of a byte");
        assert_eq!(next(&mut reading, heard(5, 1_000)), (0, 0));
        assert_eq!(next(&mut reading, sent(9, 999, 1)), (0, 0), "a keep-alive");
    }

    #[test]
    fn delays_are_those_of_data_that_was_sent_once() {
        let packets = [
            sent(0, 0, 1_000),
            sent(10, 1_000, 1_000),
            sent(20, 2_000, 1_000),
            sent(25, 1_000, 1_000),
            heard(30, 999),
            heard(42, 3_000),
        ];
        let reading = read(&packets);
        let delays: Vec<u32> = reading.data.iter().map(|d| d.acked_after).collect();
        assert_eq!(delays, [42_000, u32::MAX, 22_000, u32::MAX]);
        let after: Vec<i64> = reading.acks.iter().map(|a| a.after).collect();
        assert_eq!(after, [i64::MAX, at(22)], "the least of them");
        assert_eq!(reading.acks[1].ack, ORIGIN + 3_000);
    }

    #[test]
    fn a_clock_that_steps_back_makes_no_wait_negative() {
        let reading = read(&[sent(10, 0, 1_000), sent(7, 1_000, 1_000), heard(8, 1_000)]);
        let times: Vec<i64> = reading.data.iter().map(|d| d.time).collect();
        assert_eq!(times, [at(10), at(10)]);
        assert_eq!(reading.data[0].acked_after, 0);
    }

    /// Timestamps are echoed from the first acknowledgement that has them on.
    #[test]
    fn data_echoes_the_first_acknowledgement_with_its_timestamp() {
        let stamped = |packet: AccountPacket, stamp, echo| AccountPacket {
            stamped: true,
            stamp,
            echo,
            ..packet
        };
        let reading = read(&[
            sent(0, 0, 1_000),
            stamped(heard(10, 500), 7, 0),
            stamped(heard(12, 1_000), 7, 0),
            stamped(heard(20, 1_000), 9, 0),
            stamped(sent(25, 1_000, 1_000), 1, 7),
            stamped(sent(26, 2_000, 1_000), 1, 8),
            stamped(sent(30, 3_000, 1_000), 1, 9),
            sent(31, 4_000, 1_000),
            stamped(sent(32, 5_000, 1_000), 1, 7),
        ]);
        let echoes: Vec<u32> = reading.data.iter().map(|d| d.echo_after).collect();
        let unknown = u32::MAX;
        assert_eq!(echoes, [unknown, 15_000, unknown, 10_000, unknown, unknown]);
    }
}
