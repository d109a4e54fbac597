//! The packets that open a connection (RFC 9293 §3.5), as the capture sees them.

use crate::packet::TcpHeader;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// The largest shift of a window (RFC 7323 §2.3).
pub const LARGEST_WINDOW_SCALE: u8 = 14;

/// A SYN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Syn {
    time: Timestamp,
    /// Shift of its window scale option.
    scale: Option<u8>,
    /// MSS option.
    mss: Option<u16>,
}

/// The two SYNs, and the time that their answers took. A side is named by the direction that it sends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Handshake {
    syn: [Option<Syn>; 2],
    /// A SYN came twice: which copy was answered cannot be told.
    repeated: bool,
    /// Time from the capture to this side and back.
    half: [Option<i64>; 2],
}

/// Position of a direction's sender.
#[inline]
pub(crate) fn slot(direction: Direction) -> usize {
    usize::from(direction == Direction::BToA)
}

impl Handshake {
    #[cold]
    pub(crate) fn take(&mut self, slot: usize, header: &TcpHeader, time: Timestamp) {
        if header.has(TcpHeader::SYN) {
            self.repeated |= self.syn[slot].is_some();
            let scale = header.window_scale;
            self.syn[slot] = Some(Syn {
                time,
                scale,
                mss: header.mss,
            });
            if header.has(TcpHeader::ACK) {
                self.half[slot] = self.syn[1 - slot].map(|syn| time.nanos_since(syn.time));
            }
        } else if self.half[slot].is_none() && header.has(TcpHeader::ACK) && self.half[1 - slot].is_some() {
            self.half[slot] = self.syn[1 - slot].map(|syn| time.nanos_since(syn.time));
        }
    }

    /// One half of the round trip is known, and the packet that shows the other one has not come.
    #[inline]
    pub fn is_under_way(&self) -> bool {
        self.half[0].is_some() != self.half[1].is_some()
    }

    /// Tells whether the SYN of a side was captured.
    pub fn began(&self, side: Direction) -> bool {
        self.syn[slot(side)].is_some()
    }

    /// Time from the capture to a side and back, nanoseconds.
    pub fn half(&self, side: Direction) -> Option<i64> {
        self.half[slot(side)].filter(|_| !self.repeated)
    }

    /// Both halves of the round trip, nanoseconds.
    pub(crate) fn halves(&self) -> Option<[i64; 2]> {
        let [a, b] = Direction::BOTH.map(|side| self.half(side));
        Some([a?, b?])
    }

    /// Bytes of the largest segment that a side takes, as its SYN says.
    pub fn mss(&self, side: Direction) -> Option<u16> {
        self.syn[slot(side)]?.mss
    }

    /// Shift of the windows that a side offers behind its SYN (RFC 7323 §2.2): both SYNs have the option, or neither side scales. A SYN that
    /// the capture lacks is taken for one with the option. `None` where the side's own SYN is missing.
    pub fn window_scale(&self, side: Direction) -> Option<u8> {
        let own = self.syn[slot(side)]?.scale;
        let other = self.syn[1 - slot(side)];
        let both = other.is_none_or(|other| other.scale.is_some());
        Some(own.filter(|_| both).unwrap_or(0).min(LARGEST_WINDOW_SCALE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_MILLI;

    const ACK: u8 = TcpHeader::ACK;
    const SYN: u8 = TcpHeader::SYN;

    /// Direction of each packet, milliseconds, flags, and the shift of its window scale option.
    fn handshake(packets: &[(Direction, i64, u8, Option<u8>)]) -> Handshake {
        let mut handshake = Handshake::default();
        for &(direction, ms, flags, window_scale) in packets {
            let header = TcpHeader {
                flags,
                window_scale,
                ..TcpHeader::default()
            };
            handshake.take(slot(direction), &header, Timestamp(ms * NANOS_PER_MILLI));
        }
        handshake
    }

    use Direction::{AToB, BToA};

    #[test]
    fn each_answer_shows_a_half_of_the_round_trip() {
        let mut packets = vec![(AToB, 100, SYN, None), (BToA, 120, SYN | ACK, None)];
        assert!(handshake(&packets).is_under_way());
        packets.push((AToB, 150, ACK, None));
        let whole = handshake(&packets);
        let millis = |side| whole.half(side).map(|nanos| nanos / NANOS_PER_MILLI);
        assert_eq!((millis(BToA), millis(AToB)), (Some(20), Some(30)));
        assert!(!whole.is_under_way() && whole.began(AToB));
        // The flags tell who answered, not the times.
        let at_once = handshake(&[
            (AToB, 0, SYN, None),
            (BToA, 0, SYN | ACK, None),
            (AToB, 47, ACK, None),
        ]);
        assert_eq!(at_once.halves(), Some([47 * NANOS_PER_MILLI, 0]));
        packets.insert(1, (AToB, 110, SYN, None));
        assert_eq!(handshake(&packets).halves(), None, "which SYN was answered?");
        let alone = handshake(&[(BToA, 120, SYN | ACK, None), (AToB, 150, ACK, None)]);
        assert_eq!((alone.half(AToB), alone.began(AToB)), (None, false));
    }

    #[test]
    fn both_sides_scale_or_neither_does() {
        let scale = |own: Option<u8>, other: Option<u8>| {
            handshake(&[(BToA, 0, SYN, other), (AToB, 9, SYN | ACK, own)]).window_scale(AToB)
        };
        assert_eq!(scale(Some(7), Some(3)), Some(7));
        assert_eq!((scale(Some(7), None), scale(None, Some(3))), (Some(0), Some(0)));
        assert_eq!(scale(Some(15), Some(3)), Some(14), "RFC 7323 §2.3");
        let half = handshake(&[(AToB, 0, SYN, Some(7))]);
        assert_eq!(
            (half.window_scale(AToB), half.window_scale(BToA)),
            (Some(7), None)
        );
    }
}
