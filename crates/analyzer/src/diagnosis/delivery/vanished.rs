//! Data that vanished before the capture. At the receiver's end of the path an outage leaves a silence in which everything that
//! was seen is acknowledged, as a rest does. What follows it tells them apart.
//!
//! The sender goes on with the next byte, and then leaves out what it had sent (RFC 5682 §2.1, RFC 6675): a hole that it fills with
//! the packets that vanished. Where the IPv4 identifications count the packets of a connection one by one (Linux), more of them
//! are missing than fill the hole: the others were copies, and the timeouts between copies double (RFC 6298 §5.5).

use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::tcp::{LEAST_RTO, before};
use rekeyscope_model::time::Timestamp;

/// Identifications that followed each other by one: a random one does so once in 65,536 times, three never.
const LEAST_IN_A_ROW: u32 = 3;
/// What is sent so often without an answer is lost: one or two packets may be.
const LEAST_COPIES: u32 = 3;
/// Timeouts double until they reach the longest, 60 s at least (RFC 6298 §2.5): after so many copies.
const MOST_DOUBLED: u32 = 8;

/// They took at most so many times what they take at least: twice where none was a probe, and half as much again, as a timeout is a round
/// trip longer than its least (RFC 6298 §2.3; Linux).
const AT_MOST: i64 = 3;

/// A silence in which a sender sent in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VanishedData {
    /// The last packet of its connection before.
    pub(crate) from: Timestamp,
    /// The first one that arrived.
    pub(crate) to: Timestamp,
}

/// A silence that may be one.
#[derive(Debug, Clone, Copy)]
struct NumberGap {
    span: VanishedData,
    /// Packets that are missing by their identifications.
    packets: u32,
    /// Packets that fill the hole.
    fills: u32,
    /// The sequence number behind the hole, once the sender left it out.
    hole_ends: Option<u32>,
}

/// Follows the packets of one connection in one direction.
#[derive(Debug, Default)]
pub(super) struct NumberedPackets {
    last: Option<(u16, Timestamp)>,
    in_a_row: u32,
    gap: Option<NumberGap>,
}

impl NumberedPackets {
    /// Takes its next packet; `edge`: behind the highest byte before it.
    pub(super) fn take(&mut self, p: &PacketRecord, edge: Option<u32>) -> Option<VanishedData> {
        if p.ip_id == 0 || p.is_late() {
            return None;
        }
        let (id, from) = self.last.replace((p.ip_id, p.time))?;
        let step = u32::from(p.ip_id.wrapping_sub(id));
        let counted = self.in_a_row >= LEAST_IN_A_ROW;
        self.in_a_row = if step == 1 {
            self.in_a_row.saturating_add(1)
        } else {
            0
        };
        let edge = edge.filter(|_| p.is_tcp_data())?;
        if p.seq == edge && counted && step > LEAST_COPIES && p.time.nanos_since(from) >= LEAST_RTO {
            self.gap = Some(NumberGap {
                span: VanishedData { from, to: p.time },
                packets: step - 1,
                fills: 1,
                hole_ends: None,
            });
            return None;
        }
        let mut gap = self.gap.take()?;
        // What fills the hole comes within some round trips.
        let is_late = p.time.nanos_since(gap.span.to) > gap.span.to.nanos_since(gap.span.from);
        match gap.hole_ends {
            _ if is_late => return None,
            None if before(edge, p.seq) => gap.hole_ends = Some(p.seq),
            Some(end) if !before(p.seq, end) => {}
            Some(end) if !before(p.seq_end(), end) => return gap.proven(),
            _ => gap.fills += 1,
        }
        self.gap = Some(gap);
        None
    }
}

impl NumberGap {
    /// The copies may have taken all of the silence. One of them may have been sent sooner, as a probe (RFC 8985 §7), and the
    /// one that arrived is the last.
    fn proven(&self) -> Option<VanishedData> {
        let copies = self.packets.checked_sub(self.fills + 1)?;
        let waited = LEAST_RTO * ((1 << copies.min(MOST_DOUBLED)) - 1);
        let length = self.span.to.nanos_since(self.span.from);
        (copies >= LEAST_COPIES && AT_MOST * waited >= length).then_some(self.span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_MILLI;

    /// What a capture at the receiver's end shows of a **synthetic** connection with segments of 100 bytes that are all
    /// acknowledged until 1 s, and go on after `silence` milliseconds: `vanished` packets later, with the next byte. Then ten
    /// segments that had been sent are filled in, if the sender left them out. `numbered`: packets have identifications.
    fn found(silence: i64, vanished: u16, leaves_out: bool, numbered: bool) -> Option<VanishedData> {
        let mut own = NumberedPackets::default();
        let (mut id, mut edge, mut result) = (1_000_u16, None, None);
        let mut send = |ms: i64, seq: u32, skip: u16| {
            id += 1 + skip;
            let p = PacketRecord {
                ip_id: if numbered { id } else { 0 },
                ..PacketRecord::for_test(false, Timestamp(ms * NANOS_PER_MILLI), 1, (seq, 100, 1))
            };
            result = result.or(own.take(&p, edge));
            edge = edge.max(Some(p.seq_end()));
        };
        for k in 0..100_u32 {
            send(10 * i64::from(k), 100 * k, 0);
        }
        let back = 990 + silence;
        send(back, 10_000, vanished);
        if leaves_out {
            send(back + 40, 11_000, 0);
        }
        for k in 1..10_u32 {
            send(back + 80 + i64::from(k), 10_000 + 100 * k, 0);
        }
        send(back + 120, 11_100, 0);
        result
    }

    #[test]
    fn copies_that_vanished_tell_an_outage_from_a_rest() {
        let at = |ms: i64| Timestamp(ms * NANOS_PER_MILLI);
        let proven = |silence: i64| VanishedData {
            from: at(990),
            to: at(990 + silence),
        };
        // Ten segments and five copies, the last of them 0.2 + 0.4 + 0.8 + 1.6 s behind the first; the sixth arrives 3.2 s later.
        assert_eq!(found(7_900, 15, true, true), Some(proven(7_900)));
        // Of four copies, 3 s at least, none may have been a probe.
        assert_eq!(found(9_000, 14, true, true), Some(proven(9_000)));
        assert_eq!(
            found(9_001, 14, true, true),
            None,
            "they cannot have taken that long: rest before"
        );
        assert_eq!(found(7_900, 10, true, true), None, "each was sent once");
        assert_eq!(found(1_000, 12, true, true), None, "two copies may be lost");
        assert_eq!(found(7_900, 15, false, true), None, "nothing shows what was sent");
        assert_eq!(found(7_900, 0, false, true), None, "a rest");
        assert_eq!(found(7_900, 15, true, false), None, "no identifications");
    }
}
