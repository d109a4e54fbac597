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
    /// Behind the highest byte sent: as on the wire and unwrapped.
    next: Option<(u32, u64)>,
    acked: u64,
    /// Largest payload, bytes.
    pub(crate) largest: u64,
    latest: i64,
    /// Indices of data that waits for its acknowledgement, in order of sequence numbers.
    waiting: VecDeque<usize>,
    /// The first acknowledgement with each of the receiver's timestamps.
    stamps: VecDeque<(u32, i64)>,
    pub(crate) delays: Delays,
    /// The shift of the receiver's window that its data needs.
    pub(crate) scale: u8,
    /// It was closed.
    pub(crate) ended: bool,
}

impl Reading {
    /// Reads the next piece.
    pub(crate) fn read(&mut self, source: &Source<'_>) {
        for p in source.packets {
            self.take(p, source.slot, source.tcp);
        }
        // Indices of this piece mean nothing in the next; nor does a direction without data echo anything.
        self.waiting.clear();
        if self.data.is_empty() {
            self.stamps.clear();
            self.acks.clear();
        }
    }

    fn take(&mut self, p: &AccountPacket, slot: usize, tcp: bool) {
        // A clock that steps back by a little makes no wait negative.
        self.latest = self.latest.max(p.time.0);
        if p.slot() == slot {
            self.ended |= p.ends;
            if p.syn {
                self.next.get_or_insert((p.seq.wrapping_add(1), ORIGIN));
            } else if p.payload > 0 {
                self.sends(p, tcp);
            }
        } else if tcp && p.acknowledges {
            self.acknowledges(p);
        }
    }

    fn place(&mut self, number: u32) -> u64 {
        let (on_wire, unwrapped) = *self.next.get_or_insert((number, ORIGIN));
        unwrapped.saturating_add_signed(i64::from(number.wrapping_sub(on_wire) as i32))
    }

    fn sends(&mut self, p: &AccountPacket, tcp: bool) {
        let payload = u64::from(p.payload);
        let start = match (tcp, self.next) {
            (true, _) => self.place(p.seq),
            // Everything is new.
            (false, next) => next.map_or(ORIGIN, |n| n.1),
        };
        let end = start + payload;
        if tcp && payload == 1 && end <= self.acked {
            return; // a keep-alive (RFC 9293 §3.8.4)
        }
        let highest = self.next.map_or(start, |n| n.1);
        let behind = start < highest;
        let echo_after = if p.stamped {
            self.since_echoed(p.echo)
        } else {
            u32::MAX
        };
        // A packet that was overtaken brings its segment for the first time.
        let again = behind && (p.seen_before || !p.late);
        if again {
            let first = self.waiting.partition_point(|&k| self.data[k].end <= start);
            for &k in self.waiting.range(first..) {
                if self.data[k].start >= end {
                    break;
                }
                self.data[k].repeated = true;
            }
        } else if tcp && !p.late {
            self.waiting.push_back(self.data.len());
        }
        self.data.push(Data {
            time: self.latest,
            frame: p.frame,
            start,
            end,
            esp: p.esp,
            sa: p.sa,
            missing: p.missing,
            acked_after: u32::MAX,
            echo_after,
            new: p.new,
            ip_id: p.ip_id,
            again,
            repeated: false,
            seen_before: p.seen_before,
            late: p.late,
            numbered: p.numbered,
        });
        self.largest = self.largest.max(payload);
        if end > highest || self.next.is_none() {
            self.next = Some((p.seq.wrapping_add(u32::from(p.payload)), end));
        }
    }

    fn acknowledges(&mut self, p: &AccountPacket) {
        let ack = self.place(p.ack);
        let mut after = i64::MAX;
        while let Some(&k) = self.waiting.front()
            && self.data[k].end <= ack
        {
            self.waiting.pop_front();
            let data = &mut self.data[k];
            if !data.repeated {
                let waited = self.latest - data.time;
                data.acked_after = micros(waited);
                after = after.min(waited);
            }
        }
        if p.stamped && self.stamps.back().is_none_or(|s| s.0 != p.stamp) {
            self.stamps.push_back((p.stamp, self.latest));
            if self.stamps.len() > MOST_STAMPS {
                self.stamps.pop_front();
            }
        }
        self.acked = self.acked.max(ack);
        self.acks.push(Ack {
            time: self.latest,
            ack,
            stamp: p.stamp,
            window: p.window,
            unscaled: p.syn,
            after,
        });
    }

    /// Since the first acknowledgement with a timestamp. Those before it are not asked for again.
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

    #[test]
    fn timestamps_that_nobody_echoes_do_not_pile_up() {
        let data = AccountPacket {
            payload: 1,
            ..AccountPacket::default()
        };
        let acknowledgement = |stamp: u32| AccountPacket {
            stamp,
            reverse: true,
            acknowledges: true,
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
}
