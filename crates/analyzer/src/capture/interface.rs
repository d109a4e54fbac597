//! A pcapng interface (draft-ietf-opsawg-pcapng): its link type, its clock, and what it says it lost.

use super::LinkType;
use super::clock::Clock;
use super::order::Order;

const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
const ISB_IFDROP: u16 = 5;
const ISB_OSDROP: u16 = 7;

#[derive(Debug, Default)]
pub(super) struct Interface {
    pub(super) link_type: LinkType,
    /// 0: no limit.
    pub(super) snap_len: u32,
    pub(super) clock: Clock,
    /// Losses that packets told (`epb_dropcount`, the drops field of obsolete packet blocks).
    pub(super) dropped_by_packets: Option<u64>,
    /// The latest totals of its statistics: interface, operating system.
    dropped_by_statistics: [Option<u64>; 2],
}

impl Interface {
    /// From an interface description block (§4.2).
    pub(super) fn described(order: Order, block: &[u8]) -> Interface {
        let mut interface = Interface {
            link_type: LinkType(order.u16(block, 8).unwrap_or(0)),
            snap_len: order.u32(block, 12).unwrap_or(0),
            ..Interface::default()
        };
        for (code, value) in options(order, block, 16) {
            match (code, value) {
                (IF_TSRESOL, [resolution, ..]) => interface.clock.set_resolution(*resolution),
                (IF_TSOFFSET, value) => {
                    if let Some(offset) = order.u64(value, 0) {
                        interface.clock.set_offset(offset.cast_signed());
                    }
                }
                _ => {}
            }
        }
        interface
    }

    /// From an interface statistics block (§4.6): counters since the start of the capture, so the latest ones replace earlier
    /// ones.
    pub(super) fn note_statistics(&mut self, order: Order, block: &[u8]) {
        let [interface, system] = &mut self.dropped_by_statistics;
        for (code, value) in options(order, block, 20) {
            match code {
                ISB_IFDROP => *interface = order.u64(value, 0).or(*interface),
                ISB_OSDROP => *system = order.u64(value, 0).or(*system),
                _ => {}
            }
        }
    }

    /// A writer may tell the same loss packet by packet and as a total: the larger sum holds.
    pub(super) fn dropped(&self) -> Option<u64> {
        let [interface, system] = self.dropped_by_statistics;
        let statistics = match (interface, system) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        statistics.max(self.dropped_by_packets)
    }
}

/// The options (§3.5) from `at` to the block's trailer; ends at the first that does not fit.
pub(super) fn options<'b>(
    order: Order,
    block: &'b [u8],
    at: usize,
) -> impl Iterator<Item = (u16, &'b [u8])> + use<'b> {
    let mut rest = block.get(at..block.len().saturating_sub(4)).unwrap_or_default();
    std::iter::from_fn(move || {
        let code = order.u16(rest, 0).filter(|&code| code != 0)?;
        let len = usize::from(order.u16(rest, 2)?);
        let value = rest.get(4..4 + len)?;
        rest = rest.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    })
}
