//! Identifications of IPv4 headers, where a sender counts the packets of a connection with them (Linux does). They count on across
//! security associations and tell what vanished before encryption.

use crate::table::BoundedTable;
use std::net::IpAddr;

/// Identifications that followed each other by one: a random one does so once in 65,536 times.
const LEAST_IN_A_ROW: u8 = 3;

/// Follows one side of a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdentificationCounter {
    last: u16,
    begun: bool,
    in_a_row: u8,
    counted: bool,
}

impl IdentificationCounter {
    /// Takes the next one. Gives how many were left out before it, where they count on.
    #[inline]
    pub(crate) fn take(&mut self, id: u16) -> u16 {
        let step = id.wrapping_sub(self.last);
        if step == 1 && self.begun {
            self.last = id;
            if self.in_a_row < LEAST_IN_A_ROW {
                self.in_a_row += 1;
                self.counted |= self.in_a_row == LEAST_IN_A_ROW;
            }
            return 0;
        }
        if !std::mem::replace(&mut self.begun, true) {
            self.last = id;
            return 0;
        }
        // One that is late, or a second packet of the same identification, counts nothing.
        if self.in_a_row >= LEAST_IN_A_ROW && (step == 0 || step.cast_signed() < 0) {
            return 0;
        }
        let jump = if self.in_a_row >= LEAST_IN_A_ROW {
            step.saturating_sub(1)
        } else {
            0
        };
        self.last = id;
        self.in_a_row = 0;
        jump
    }

    /// The identifications counted on at some time: their order is the order of sending.
    pub(crate) fn counts(&self) -> bool {
        self.counted
    }
}

/// Most hosts and paths whose last identification is kept, 1.5 MB; one that is forgotten shares its counter with nobody for one packet.
const MOST_COUNTERS: usize = 1 << 14;

/// The last identification of each host, and of each on its way to another one: some count all their packets with one counter, or all to a host.
#[derive(Debug, Default)]
pub(crate) struct SharedCounters(BoundedTable<(IpAddr, Option<IpAddr>), u16, MOST_COUNTERS>);

impl SharedCounters {
    /// Takes the next one of a host. Gives how many were left out since its last packet, of whatever connection.
    #[inline]
    pub(crate) fn take(&mut self, (src, dst): (IpAddr, IpAddr), id: u16) -> u16 {
        let left_out = [None, Some(dst)].map(|dst| match self.0.get_mut(&(src, dst)) {
            Some(last) => id.wrapping_sub(std::mem::replace(last, id)).wrapping_sub(1),
            None => {
                self.0.insert((src, dst), id);
                u16::MAX
            }
        });
        left_out[0].min(left_out[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jumps(ids: &[u16]) -> Vec<u16> {
        let mut counter = IdentificationCounter::default();
        ids.iter().map(|id| counter.take(*id)).collect()
    }

    #[test]
    fn what_is_left_out_shows_once_they_count_on() {
        assert_eq!(jumps(&[5, 6, 7, 8, 20, 21]), [0, 0, 0, 0, 11, 0]);
        assert_eq!(jumps(&[65_534, 65_535, 0, 1, 5]), [0, 0, 0, 0, 3]);
        assert_eq!(jumps(&[5, 6, 7, 8, 3, 9]), [0, 0, 0, 0, 0, 0], "late");
        assert_eq!(jumps(&[900, 17, 40_000, 3, 12]), [0; 5], "random");
    }

    #[test]
    fn what_other_connections_of_a_host_had_is_not_left_out() {
        let host = |n: u8| IpAddr::from([10, 0, 0, n]);
        let mut shared = SharedCounters::default();
        let mut jump = |to: u8, id: u16| shared.take((host(1), host(to)), id);
        assert_eq!(jump(2, 5), u16::MAX);
        assert_eq!(jump(2, 6), 0);
        assert_eq!([jump(3, 7), jump(3, 8), jump(2, 9)], [0, 0, 0], "one counter");
        assert_eq!(
            [jump(3, 700), jump(2, 10), jump(2, 30)],
            [690, 0, 19],
            "one for each path"
        );
    }
}
