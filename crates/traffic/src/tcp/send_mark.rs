//! What orders the transmissions of one side.

use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// Identifications further apart do not compare: the counter may have gone round.
const ID_REACH: u16 = 1 << 13;
/// Without any round trip known: what is reordered is this late at most (Wireshark takes the same).
const USUAL_DELAY: i64 = 3 * NANOS_PER_MILLI;
/// A retransmission takes a round trip; of it so many tenths, as the least that was seen may be a little too long.
const TENTHS_OF_ROUND_TRIP: i64 = 8;

/// When and as what a transmission passed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SendMark {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    /// ESP sequence number.
    pub(crate) number: u64,
    pub(crate) spi: u32,
    /// Which security association of its direction, counted in the order of their first packets from 1 on; 0: none.
    pub(crate) association: u32,
    /// TSval.
    pub(crate) timestamp: Option<u32>,
    /// 0: none.
    pub(crate) ip_id: u16,
}

impl SendMark {
    /// They are one packet.
    pub(crate) fn is(&self, other: &SendMark) -> bool {
        self.association != 0 && self.association == other.association && self.number == other.number
    }

    /// Whether this one, which passed after `other`, was sent before it. In the order of what proves most:
    ///
    /// 1. its number in the same security association is lower: it was encrypted before;
    /// 2. identifications, where they count on, and timestamps: it was reordered before encryption;
    /// 3. it uses an older security association;
    /// 4. less than a round trip lies between them: no sender can have learned of a loss.
    pub(crate) fn was_sent_before(&self, other: &SendMark, ids_count: bool, round_trip: Option<i64>) -> bool {
        let same = self.association == other.association && self.association != 0;
        if same && self.number < other.number {
            return true;
        }
        if ids_count && self.ip_id != 0 && other.ip_id != 0 {
            let ahead = self.ip_id.wrapping_sub(other.ip_id).cast_signed();
            if ahead != 0 && ahead.unsigned_abs() <= ID_REACH {
                return ahead < 0;
            }
        }
        if let (Some(own), Some(others)) = (self.timestamp, other.timestamp)
            && own != others
        {
            return (own.wrapping_sub(others).cast_signed()) < 0;
        }
        if !same && self.association != 0 && other.association != 0 {
            return self.association < other.association;
        }
        let delay = round_trip.map_or(USUAL_DELAY, |rtt| {
            (rtt / 10 * TENTHS_OF_ROUND_TRIP).max(USUAL_DELAY)
        });
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

    fn before(own: SendMark, other: SendMark) -> bool {
        own.was_sent_before(&other, true, Some(20 * NANOS_PER_MILLI))
    }

    #[test]
    fn the_number_of_the_association_comes_first() {
        assert!(before(mark(900, 1, 7), mark(0, 1, 9)), "however late it is");
        assert!(!before(mark(100, 1, 11), mark(0, 1, 9)));
        assert!(
            before(mark(10, 1, 11), mark(0, 1, 9)),
            "reordered before encryption"
        );
        assert!(before(mark(100, 1, 500), mark(0, 2, 1)), "an older association");
        assert!(!before(mark(1, 2, 2), mark(0, 1, 500)), "a newer one");
    }

    #[test]
    fn identifications_and_timestamps_see_across_associations() {
        let id = |ip_id, mark| SendMark { ip_id, ..mark };
        assert!(!before(id(9, mark(1, 1, 3)), id(8, mark(0, 2, 1))));
        assert!(before(id(65_535, mark(100, 2, 3)), id(1, mark(0, 1, 1))));
        let stamped = |ticks, mark| SendMark {
            timestamp: Some(ticks),
            ..mark
        };
        assert!(before(stamped(5, mark(100, 0, 0)), stamped(6, mark(0, 0, 0))));
        assert!(!before(stamped(7, mark(1, 0, 0)), stamped(6, mark(0, 0, 0))));
    }

    #[test]
    fn without_numbers_time_decides() {
        assert!(before(mark(15, 0, 0), mark(0, 0, 0)));
        assert!(!before(mark(17, 0, 0), mark(0, 0, 0)));
        assert!(!mark(4, 0, 0).was_sent_before(&mark(0, 0, 0), false, None));
    }
}
