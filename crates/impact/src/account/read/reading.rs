//! Packets of a connection → data and acknowledgements of one direction, piece by piece.

use super::data::{Ack, Data};
use super::delays::Delays;
use crate::account::packet::{AccountPacket, Source};
use crate::account::times::{UNKNOWN, micros};
use rekeyscope_traffic::TcpHeader;
use std::collections::VecDeque;

/// Timestamps that wait to be echoed: one a millisecond for over a minute, 1 MB. A sender may never echo any.
const MOST_STAMPS: usize = 1 << 16;

/// What was read of one direction, and what reading on needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Of the piece that is being read.
    pub(crate) data: Vec<Data>,
    /// See `data`.
    pub(crate) acks: Vec<Ack>,
    /// Bytes that were sent without sequence numbers.
    unnumbered: u64,
    /// Largest payload, bytes.
    pub(crate) largest: u64,
    latest: i64,
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
        for p in source.packets {
            // A clock that steps back by a little makes no wait negative.
            self.latest = self.latest.max(p.time.0);
            if p.slot() == source.slot {
                self.said |= p.flags;
                if p.payload > 0 {
                    self.sends(p, source.tcp);
                }
            } else {
                self.heard |= p.flags;
                if source.tcp && p.acknowledges() && !quiet {
                    self.hears(p);
                }
            }
        }
        // A direction without data echoes nothing.
        if self.data.is_empty() {
            self.stamps.clear();
            self.acks.clear();
        }
    }

    /// The connection was closed.
    pub(crate) fn is_ended(&self) -> bool {
        let (own, any) = (TcpHeader::FIN, TcpHeader::RST);
        self.said & own != 0 || (self.said | self.heard) & any != 0
    }

    fn sends(&mut self, p: &AccountPacket, tcp: bool) {
        let start = if tcp { p.seq } else { self.unnumbered };
        self.unnumbered += u64::from(p.payload);
        let (echo_after, unheard_after) = if p.stamped {
            self.since_echoed(p.echo)
        } else {
            (UNKNOWN, UNKNOWN)
        };
        if echo_after != UNKNOWN {
            self.delays.echoed.add(echo_after);
        }
        if p.acked_after != UNKNOWN {
            self.delays.d1.add(p.acked_after);
        }
        // Put together where it is kept: `push` asks for room afterwards, and all of it waits on the stack.
        self.data.extend(std::iter::once_with(|| Data {
            time: self.latest,
            frame: p.frame,
            start,
            acked_after: p.acked_after,
            echo_after,
            // An overtaken packet was sent before others that have passed already.
            unheard_after: if p.late { UNKNOWN } else { unheard_after },
            payload: p.payload,
            new: p.new,
            again: p.again,
            seen_before: p.seen_before,
            late: p.late,
        }));
        self.largest = self.largest.max(u64::from(p.payload));
    }

    fn hears(&mut self, p: &AccountPacket) {
        if p.stamped && self.stamps.back().is_none_or(|s| s.0 != p.stamp) {
            self.stamps.push_back((p.stamp, self.latest));
            if self.stamps.len() > MOST_STAMPS {
                self.stamps.pop_front();
            }
        }
        self.acks.extend(std::iter::once_with(|| Ack {
            time: self.latest,
            ack: p.ack,
            stamp: p.stamp,
            window: p.window,
            unscaled: p.has(TcpHeader::SYN),
            after: p.answers_after,
        }));
    }

    /// The time since the first acknowledgement with a timestamp, and since the first with the next one. Those before it are not asked
    /// for again.
    // Inlined, it would take the registers from what is done for each packet.
    #[inline(never)]
    fn since_echoed(&mut self, echo: u32) -> (u32, u32) {
        while self.stamps.len() > 1
            && self
                .stamps
                .front()
                .is_some_and(|s| (echo.wrapping_sub(s.0) as i32) > 0)
        {
            self.stamps.pop_front();
        }
        let since = |stamp: Option<&(u32, i64)>| stamp.map_or(UNKNOWN, |s| micros(self.latest - s.1));
        match self.stamps.front() {
            first @ Some(stamp) if stamp.0 == echo => (since(first), since(self.stamps.get(1))),
            _ => (UNKNOWN, UNKNOWN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::at;
    use rekeyscope_model::time::Timestamp;
    use rekeyscope_traffic::Handshake;

    #[test]
    fn timestamps_that_nobody_echoes_do_not_pile_up() {
        let data = AccountPacket {
            payload: 1,
            ..AccountPacket::default()
        };
        let acknowledgement = |stamp: u32| AccountPacket {
            stamp,
            reverse: true,
            flags: TcpHeader::ACK,
            stamped: true,
            ..AccountPacket::default()
        };
        let many = 0..MOST_STAMPS as u32 + 10;
        let packets: Vec<AccountPacket> = std::iter::once(data).chain(many.map(acknowledgement)).collect();
        assert_eq!(read(&packets).stamps.len(), MOST_STAMPS);
    }

    fn sent(ms: i64, seq: u64, payload: u16) -> AccountPacket {
        AccountPacket {
            time: Timestamp(at(ms)),
            frame: ms as u64,
            seq,
            payload,
            new: payload,
            ..AccountPacket::default()
        }
    }

    fn heard(ms: i64, ack: u64) -> AccountPacket {
        AccountPacket {
            time: Timestamp(at(ms)),
            ack,
            reverse: true,
            flags: TcpHeader::ACK,
            ..AccountPacket::default()
        }
    }

    fn read_on(reading: &mut Reading, packets: &[AccountPacket], tcp: bool) {
        reading.read(&Source {
            packets,
            handshake: &Handshake::default(),
            tcp,
            slot: 0,
        });
    }

    fn read(packets: &[AccountPacket]) -> Reading {
        let mut reading = Reading::default();
        read_on(&mut reading, packets, true);
        reading
    }

    #[test]
    fn without_sequence_numbers_everything_is_new() {
        let mut reading = Reading::default();
        for _ in 0..2 {
            read_on(&mut reading, &[sent(0, 77, 1_000), sent(1, 77, 500)], false);
        }
        let places: Vec<(u64, u64)> = reading.data.iter().map(|d| (d.start, d.end())).collect();
        let expected = [(0, 1_000), (1_000, 1_500), (1_500, 2_500), (2_500, 3_000)];
        assert_eq!(places, expected);
        assert_eq!(reading.largest, 1_000);
    }

    #[test]
    fn a_fin_ends_what_its_side_sends_and_a_reset_what_both_do() {
        let ended = |flags: u8, packet: AccountPacket| read(&[AccountPacket { flags, ..packet }]).is_ended();
        assert!(ended(TcpHeader::FIN, sent(0, 0, 0)) && ended(TcpHeader::RST, heard(0, 0)));
        assert!(!ended(TcpHeader::ACK, sent(0, 0, 0)) && !ended(TcpHeader::FIN, heard(0, 0)));
    }

    /// Nothing has to be known of acknowledgements in a piece in which nothing is sent.
    #[test]
    fn a_quiet_piece_is_empty() {
        let mut reading = read(&[sent(0, 0, 1_000), heard(5, 1_000)]);
        assert_eq!((reading.data.len(), reading.acks.len()), (1, 1));
        (reading.data, reading.acks) = (Vec::new(), Vec::new());
        read_on(&mut reading, &[heard(6, 1_000)], true);
        assert_eq!((reading.data.len(), reading.acks.len()), (0, 0));
    }

    #[test]
    fn a_clock_that_steps_back_makes_no_wait_negative() {
        let reading = read(&[sent(10, 0, 1_000), sent(7, 1_000, 1_000), heard(8, 1_000)]);
        let times: Vec<i64> = reading.data.iter().map(|d| d.time).collect();
        assert_eq!((times, reading.acks[0].time), (vec![at(10), at(10)], at(10)));
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
        assert_eq!(echoes, [UNKNOWN, 15_000, UNKNOWN, 10_000, UNKNOWN, UNKNOWN]);
        let unheard: Vec<u32> = reading.data.iter().map(|d| d.unheard_after).collect();
        let none = UNKNOWN;
        assert_eq!(
            unheard,
            [none, 5_000, none, none, none, none],
            "20 passed, and was not heard"
        );
    }
}
