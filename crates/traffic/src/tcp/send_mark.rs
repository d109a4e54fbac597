//! Marks that order the transmissions of one side.

use super::rtt::most_of_a_round_trip;
use crate::packet::PacketForm;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// Identifications further apart do not compare: the counter may have gone round.
const ID_REACH: u16 = 1 << 13;
/// Without any round trip known: what is reordered is this late at most (Wireshark takes the same).
const USUAL_DELAY: i64 = 3 * NANOS_PER_MILLI;

/// The time of a transmission, and its kind.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SendMark {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    /// ESP sequence number.
    pub(crate) number: u64,
    pub(crate) spi: u32,
    /// The security association within its direction, counted in the order of their first packets from 1 on; 0: none.
    pub(crate) association: u32,
    /// TSval.
    pub(crate) timestamp: Option<u32>,
    /// 0: none.
    pub(crate) ip_id: u16,
    pub(crate) form: PacketForm,
    /// Length of the whole packet in sequence space.
    pub(crate) len: u32,
    /// The packet is told of with bytes that it carried before these: they came again apart.
    pub(crate) told_before: bool,
}

impl SendMark {
    /// Tells whether the two marks are one packet.
    pub(crate) fn is(&self, other: &SendMark) -> bool {
        self.association != 0 && self.association == other.association && self.number == other.number
    }

    /// Tells whether this one, which passed after `other`, was sent before it; `None` where nothing in the packets tells. In the order of what
    /// proves most:
    ///
    /// 1. its number in the same security association is lower: it was encrypted before;
    /// 2. identifications, where they count on, and timestamps: it was reordered before encryption;
    /// 3. it uses an older security association.
    pub(crate) fn was_sent_before(&self, other: &SendMark, ids_count: bool) -> Option<bool> {
        let same = self.association == other.association && self.association != 0;
        if same && self.number < other.number {
            return Some(true);
        }
        if ids_count && self.ip_id != 0 && other.ip_id != 0 {
            let ahead = self.ip_id.wrapping_sub(other.ip_id).cast_signed();
            if ahead != 0 && ahead.unsigned_abs() <= ID_REACH {
                return Some(ahead < 0);
            }
        }
        if let (Some(own), Some(others)) = (self.timestamp, other.timestamp)
            && own != others
        {
            return Some((own.wrapping_sub(others).cast_signed()) < 0);
        }
        let both = self.association != 0 && other.association != 0;
        (!same && both).then_some(self.association < other.association)
    }

    /// Less than a round trip lies between them: no sender can have learned of a loss.
    pub(crate) fn is_soon_after(&self, other: &SendMark, round_trip: Option<i64>) -> bool {
        let delay = round_trip.map_or(USUAL_DELAY, |rtt| most_of_a_round_trip(rtt).max(USUAL_DELAY));
        self.time.nanos_since(other.time) < delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(ms: i64, association: u32, number: u64) -> SendMark {
        SendMark {
            time: Timestamp(ms * NANOS_PER_MILLI),
            association,
            number,
            ..SendMark::default()
        }
    }

    fn before(own: SendMark, other: SendMark) -> Option<bool> {
        own.was_sent_before(&other, true)
    }

    #[test]
    fn the_number_of_the_association_comes_first() {
        assert_eq!(before(mark(900, 1, 7), mark(0, 1, 9)), Some(true), "however late");
        let perhaps = before(mark(10, 1, 11), mark(0, 1, 9));
        assert_eq!(perhaps, None, "it may have been reordered before encryption");
        assert_eq!(before(mark(100, 1, 500), mark(0, 2, 1)), Some(true), "older");
        assert_eq!(before(mark(1, 2, 2), mark(0, 1, 500)), Some(false), "newer");
    }

    #[test]
    fn identifications_and_timestamps_see_across_associations() {
        let id = |ip_id, mark| SendMark { ip_id, ..mark };
        assert_eq!(before(id(9, mark(1, 1, 3)), id(8, mark(0, 2, 1))), Some(false));
        assert_eq!(
            before(id(65_535, mark(100, 2, 3)), id(1, mark(0, 1, 1))),
            Some(true)
        );
        let stamped = |ticks, mark| SendMark {
            timestamp: Some(ticks),
            ..mark
        };
        assert_eq!(
            before(stamped(5, mark(100, 0, 0)), stamped(6, mark(0, 0, 0))),
            Some(true)
        );
        assert_eq!(
            before(stamped(7, mark(1, 0, 0)), stamped(6, mark(0, 0, 0))),
            Some(false)
        );
    }

    #[test]
    fn without_numbers_time_decides() {
        let soon = |ms, round_trip| mark(ms, 0, 0).is_soon_after(&mark(0, 0, 0), round_trip);
        let round_trip = Some(20 * NANOS_PER_MILLI);
        assert_eq!((soon(15, round_trip), soon(17, round_trip)), (true, false));
        assert_eq!((soon(2, None), soon(4, None)), (true, false));
    }
}
