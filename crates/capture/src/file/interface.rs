//! A pcapng interface (draft-ietf-opsawg-pcapng): its link type, its clock, and what it says it lost.

use crate::file::clock::Clock;
use crate::file::link_type::LinkType;
use crate::file::order::ByteOrder;
use pcap_parser::{InterfaceDescriptionBlock, OptionCode, PcapNGOption};

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
    pub(super) fn described(order: ByteOrder, block: &InterfaceDescriptionBlock<'_>) -> Interface {
        let mut interface = Interface {
            link_type: LinkType(block.linktype.0 as u16),
            snap_len: block.snaplen,
            ..Interface::default()
        };
        for option in listed(&block.options) {
            match (option.code, option.as_bytes()) {
                (OptionCode::IfTsresol, Ok([resolution, ..])) => interface.clock.set_resolution(*resolution),
                (OptionCode::IfTsoffset, _) => {
                    if let Some(offset) = number(order, option) {
                        interface.clock.set_offset(offset.cast_signed());
                    }
                }
                _ => {}
            }
        }
        interface
    }

    /// From the options of an interface statistics block (§4.6): counters since the start of the capture, so the latest ones
    /// replace earlier ones.
    pub(super) fn note_statistics(&mut self, order: ByteOrder, options: &[PcapNGOption<'_>]) {
        let [interface, system] = &mut self.dropped_by_statistics;
        for option in listed(options) {
            match option.code {
                OptionCode::IsbIfDrop => *interface = number(order, option).or(*interface),
                OptionCode::IsbOsDrop => *system = number(order, option).or(*system),
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

/// The options (§3.5) before the end mark: pcap-parser goes on behind it.
pub(super) fn listed<'o, 'b>(options: &'o [PcapNGOption<'b>]) -> impl Iterator<Item = &'o PcapNGOption<'b>> {
    options
        .iter()
        .take_while(|option| option.code != OptionCode::EndOfOpt)
}

/// An option's 64-bit number. pcap-parser reads `if_tsoffset`, `isb_ifdrop` and the like as little-endian in every section,
/// which is wrong in big-endian ones (`the_same_packets_from_every_container`, `drop_counters_are_summed_once`).
pub(super) fn number(order: ByteOrder, option: &PcapNGOption<'_>) -> Option<u64> {
    order.u64(option.as_bytes().ok()?, 0)
}
