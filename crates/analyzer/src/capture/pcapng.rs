//! pcapng (draft-ietf-opsawg-pcapng): sections in either byte order, any number of interfaces, enhanced, simple and
//! obsolete packet blocks, drop counters. Other blocks are stepped over.
//!
//! Own block reader: only four block types matter here, and a packet whose *options* are malformed is still a packet.

use super::buffer::{Buffer, LARGEST_RECORD};
use super::clock::Clock;
use super::record::{End, Record, Step};
use super::{CaptureInfo, LinkType};
use crate::diagnostic::Diagnostics;
use crate::time::Timestamp;
use std::io;

/// Section header: the same in both byte orders.
pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// Blocks that Wireshark lists as frames although they hold no packet, so that they take a number: systemd journal entries,
/// custom blocks (copied or not), sysdig events in three versions.
const NUMBERED: [u32; 6] = [9, 0x0bad, 0x4000_0bad, 0x204, 0x216, 0x221];

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Block type and two lengths.
const BLOCK_OVERHEAD: usize = 12;
/// Most interfaces that a section may describe; packets of further ones are counted and left out.
const MOST_INTERFACES: usize = 65_536;

const OPTION_IF_TSRESOL: u16 = 9;
const OPTION_IF_TSOFFSET: u16 = 14;
const OPTION_EPB_DROPCOUNT: u16 = 4;
const OPTION_ISB_IFDROP: u16 = 5;
const OPTION_ISB_OSDROP: u16 = 7;

/// The byte order of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn bytes<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
        bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        Self::bytes(bytes, at).map(|b| {
            if self == Order::Big {
                u16::from_be_bytes(b)
            } else {
                u16::from_le_bytes(b)
            }
        })
    }

    #[inline]
    fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        Self::bytes(bytes, at).map(|b| {
            if self == Order::Big {
                u32::from_be_bytes(b)
            } else {
                u32::from_le_bytes(b)
            }
        })
    }

    fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        Self::bytes(bytes, at).map(|b| {
            if self == Order::Big {
                u64::from_be_bytes(b)
            } else {
                u64::from_le_bytes(b)
            }
        })
    }

    /// Of a section header, by its byte-order magic.
    fn of_section(block: &[u8]) -> Option<Order> {
        let magic = Self::bytes(block, 8)?;
        match (u32::from_le_bytes(magic), u32::from_be_bytes(magic)) {
            (BYTE_ORDER_MAGIC, _) => Some(Order::Little),
            (_, BYTE_ORDER_MAGIC) => Some(Order::Big),
            _ => None,
        }
    }
}

/// True when the first bytes can begin a pcapng file; with fewer than 12 of them only the block type is looked at.
pub(super) fn is_pcapng(head: &[u8]) -> bool {
    head.starts_with(&SECTION_HEADER.to_be_bytes()) && (head.len() < 12 || Order::of_section(head).is_some())
}

#[derive(Debug, Default)]
struct Interface {
    link_type: LinkType,
    /// 0: no limit.
    snap_len: u32,
    clock: Clock,
    /// Losses that packets told (`epb_dropcount`, the drops field of obsolete packet blocks).
    dropped_by_packets: Option<u64>,
    /// The latest totals of its statistics: interface, operating system.
    dropped_by_statistics: [Option<u64>; 2],
}

impl Interface {
    /// A writer may tell the same loss packet by packet and as a total: the larger sum holds.
    fn dropped(&self) -> Option<u64> {
        let [interface, system] = self.dropped_by_statistics;
        let statistics = match (interface, system) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        statistics.max(self.dropped_by_packets)
    }
}

/// The state of a walk through a pcapng file.
#[derive(Debug)]
pub(super) struct PcapngWalk {
    order: Order,
    interfaces: Vec<Interface>,
    /// Drops of the sections that are over.
    dropped_before: Option<u64>,
    last_time: Timestamp,
}

/// What a block meant.
enum Meaning {
    Packet(Record),
    Numbered,
    Nothing,
}

/// A block that contradicts itself.
struct Damage(&'static str);

impl PcapngWalk {
    pub(super) fn new() -> PcapngWalk {
        PcapngWalk {
            order: Order::Little,
            interfaces: Vec::new(),
            dropped_before: None,
            last_time: Timestamp::default(),
        }
    }

    /// The next packet, with the buffer behind its block.
    pub(super) fn step(
        &mut self,
        buffer: &mut Buffer,
        info: &mut CaptureInfo,
        frame: u64,
        diagnostics: &mut Diagnostics,
    ) -> io::Result<Step> {
        loop {
            if !buffer.ensure(BLOCK_OVERHEAD)? {
                info.dropped_reported = self.dropped();
                let clean = buffer.available().is_empty();
                return Ok(Step::End(if clean { End::Clean } else { End::Cut }));
            }
            let len = match self.block_len(buffer.available()) {
                Ok(len) => len,
                Err(Damage(what)) => return Ok(self.damaged(info, what)),
            };
            if !buffer.ensure(len)? {
                info.dropped_reported = self.dropped();
                return Ok(Step::End(End::Cut));
            }
            let block = buffer.available().get(..len).unwrap_or_default();
            let meaning = self.block(block, info, frame, diagnostics);
            buffer.consume(len);
            match meaning {
                Ok(Meaning::Packet(record)) => return Ok(Step::Packet(record)),
                Ok(Meaning::Numbered) => return Ok(Step::Numbered),
                Ok(Meaning::Nothing) => {}
                Err(Damage(what)) => return Ok(self.damaged(info, what)),
            }
        }
    }

    fn damaged(&self, info: &mut CaptureInfo, what: &'static str) -> Step {
        info.dropped_reported = self.dropped();
        Step::End(End::Damaged(what))
    }

    /// Total length of the block that begins here. A section header sets the byte order for itself already.
    #[inline]
    fn block_len(&mut self, head: &[u8]) -> Result<usize, Damage> {
        if self.order.u32(head, 0) == Some(SECTION_HEADER) {
            self.order =
                Order::of_section(head).ok_or(Damage("a section header without its byte-order magic"))?;
        }
        let len = self.order.u32(head, 4).unwrap_or(0) as usize;
        if len < BLOCK_OVERHEAD || !len.is_multiple_of(4) || len > LARGEST_RECORD {
            return Err(Damage("a block with an impossible length"));
        }
        Ok(len)
    }

    #[inline]
    fn block(
        &mut self,
        block: &[u8],
        info: &mut CaptureInfo,
        frame: u64,
        diagnostics: &mut Diagnostics,
    ) -> Result<Meaning, Damage> {
        if self.order.u32(block, block.len() - 4) != self.order.u32(block, 4) {
            return Err(Damage("a block whose two lengths differ"));
        }
        match self.order.u32(block, 0).unwrap_or(0) {
            ENHANCED_PACKET => self.enhanced_packet(block, frame, diagnostics),
            OBSOLETE_PACKET => self.obsolete_packet(block, frame, diagnostics),
            SIMPLE_PACKET => self.simple_packet(block, frame, diagnostics),
            SECTION_HEADER => {
                self.dropped_before = self.dropped();
                self.interfaces.clear();
                Ok(Meaning::Nothing)
            }
            INTERFACE_DESCRIPTION => {
                self.interface_description(block, info, diagnostics);
                Ok(Meaning::Nothing)
            }
            INTERFACE_STATISTICS => {
                self.interface_statistics(block);
                Ok(Meaning::Nothing)
            }
            other if NUMBERED.contains(&other) => {
                diagnostics.count("not_a_packet", "pcapng", Some(frame), || {
                    "a block that Wireshark shows as a frame holds no packet (journal entry, custom block, system call)"
                        .to_owned()
                });
                Ok(Meaning::Numbered)
            }
            _ => Ok(Meaning::Nothing),
        }
    }

    /// §4.2.
    fn interface_description(&mut self, block: &[u8], info: &mut CaptureInfo, diagnostics: &mut Diagnostics) {
        if self.interfaces.len() >= MOST_INTERFACES {
            diagnostics.count("too_many_interfaces", "pcapng", None, || {
                format!("a section describes more than {MOST_INTERFACES} interfaces; packets of the others are left out")
            });
            return;
        }
        let mut interface = Interface {
            link_type: LinkType(self.order.u16(block, 8).unwrap_or(0)),
            snap_len: self.order.u32(block, 12).unwrap_or(0),
            ..Interface::default()
        };
        for (code, value) in self.options(block, 16) {
            match (code, value) {
                (OPTION_IF_TSRESOL, [resolution, ..]) => interface.clock.set_resolution(*resolution),
                (OPTION_IF_TSOFFSET, value) => {
                    if let Some(offset) = self.order.u64(value, 0) {
                        interface.clock.set_offset(offset.cast_signed());
                    }
                }
                _ => {}
            }
        }
        info.note_link_type(interface.link_type);
        self.interfaces.push(interface);
    }

    /// §4.3.
    #[inline]
    fn enhanced_packet(
        &mut self,
        block: &[u8],
        frame: u64,
        diagnostics: &mut Diagnostics,
    ) -> Result<Meaning, Damage> {
        let id = self.order.u32(block, 8).unwrap_or(0);
        let ticks = self.ticks(block, 12);
        let captured = self.order.u32(block, 20).unwrap_or(0) as usize;
        let original = self.order.u32(block, 24).unwrap_or(0);
        let after = self.packet_end(block, 28, captured)?;
        let options_at = 28 + captured.next_multiple_of(4);
        let has_options = options_at + 4 < block.len();
        let dropped = if has_options {
            self.dropcount(block, options_at)
        } else {
            None
        };
        self.packet(id, ticks, original, captured, after, dropped, frame, diagnostics)
    }

    /// Appendix A: interface and drops in 16 bits each.
    fn obsolete_packet(
        &mut self,
        block: &[u8],
        frame: u64,
        diagnostics: &mut Diagnostics,
    ) -> Result<Meaning, Damage> {
        let id = u32::from(self.order.u16(block, 8).unwrap_or(0));
        let dropped = self
            .order
            .u16(block, 10)
            .filter(|&drops| drops != u16::MAX)
            .map(u64::from);
        let ticks = self.ticks(block, 12);
        let captured = self.order.u32(block, 20).unwrap_or(0) as usize;
        let original = self.order.u32(block, 24).unwrap_or(0);
        let after = self.packet_end(block, 28, captured)?;
        self.packet(id, ticks, original, captured, after, dropped, frame, diagnostics)
    }

    #[inline]
    fn ticks(&self, block: &[u8], at: usize) -> u64 {
        let high = self.order.u32(block, at).unwrap_or(0);
        let low = self.order.u32(block, at + 4).unwrap_or(0);
        (u64::from(high) << 32) | u64::from(low)
    }

    /// Bytes of the block after the packet data that begin at `at`.
    #[inline]
    fn packet_end(&self, block: &[u8], at: usize, captured: usize) -> Result<usize, Damage> {
        block
            .len()
            .checked_sub(4)
            .and_then(|room| room.checked_sub(at))
            .and_then(|room| room.checked_sub(captured))
            .map(|padding_and_options| padding_and_options + 4)
            .ok_or(Damage("a packet that is longer than its block"))
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the fields that both kinds of packet block have"
    )]
    #[inline]
    fn packet(
        &mut self,
        id: u32,
        ticks: u64,
        original: u32,
        captured: usize,
        after: usize,
        dropped: Option<u64>,
        frame: u64,
        diagnostics: &mut Diagnostics,
    ) -> Result<Meaning, Damage> {
        let Some(interface) = self.interfaces.get_mut(id as usize) else {
            count_unknown_interface(frame, diagnostics);
            return Ok(Meaning::Numbered);
        };
        if let Some(dropped) = dropped {
            let sum = interface.dropped_by_packets.unwrap_or(0).saturating_add(dropped);
            interface.dropped_by_packets = Some(sum);
        }
        self.last_time = interface.clock.at(ticks);
        Ok(Meaning::Packet(Record {
            time: self.last_time,
            link_type: interface.link_type,
            original_len: original.max(captured as u32),
            back: after,
            len: captured,
        }))
    }

    /// §4.4: interface 0, no time, and the captured length only by way of the snap length.
    fn simple_packet(
        &mut self,
        block: &[u8],
        frame: u64,
        diagnostics: &mut Diagnostics,
    ) -> Result<Meaning, Damage> {
        let Some(interface) = self.interfaces.first() else {
            count_unknown_interface(frame, diagnostics);
            return Ok(Meaning::Numbered);
        };
        let original = self.order.u32(block, 8).unwrap_or(0);
        let room = block.len().saturating_sub(16);
        let limit = if interface.snap_len == 0 {
            u32::MAX
        } else {
            interface.snap_len
        };
        let captured = (original.min(limit) as usize).min(room);
        diagnostics.count("packet_without_time", "pcapng", Some(frame), || {
            "a simple packet block has no time: it takes that of the packet before it; convert from the original \
             capture if times matter"
                .to_owned()
        });
        Ok(Meaning::Packet(Record {
            time: self.last_time,
            link_type: interface.link_type,
            original_len: original,
            back: room - captured + 4,
            len: captured,
        }))
    }

    /// §4.6: counters since the start of the capture, so the latest ones replace earlier ones.
    fn interface_statistics(&mut self, block: &[u8]) {
        let id = self.order.u32(block, 8).unwrap_or(0) as usize;
        let mut totals = [None; 2];
        for (code, value) in self.options(block, 20) {
            match code {
                OPTION_ISB_IFDROP => totals[0] = self.order.u64(value, 0),
                OPTION_ISB_OSDROP => totals[1] = self.order.u64(value, 0),
                _ => {}
            }
        }
        if let Some(interface) = self.interfaces.get_mut(id) {
            for (kept, total) in interface.dropped_by_statistics.iter_mut().zip(totals) {
                *kept = total.or(*kept);
            }
        }
    }

    #[cold]
    fn dropcount(&self, block: &[u8], at: usize) -> Option<u64> {
        self.options(block, at)
            .find(|(code, _)| *code == OPTION_EPB_DROPCOUNT)
            .and_then(|(_, value)| self.order.u64(value, 0))
    }

    /// The options from `at` to the block's trailer; ends at the first that does not fit.
    fn options<'b>(&self, block: &'b [u8], at: usize) -> impl Iterator<Item = (u16, &'b [u8])> + use<'b> {
        let order = self.order;
        let mut rest = block.get(at..block.len().saturating_sub(4)).unwrap_or_default();
        std::iter::from_fn(move || {
            let code = order.u16(rest, 0).filter(|&code| code != 0)?;
            let len = usize::from(order.u16(rest, 2)?);
            let value = rest.get(4..4 + len)?;
            rest = rest.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
            Some((code, value))
        })
    }

    /// Drops told so far; `None` where nothing told any number.
    fn dropped(&self) -> Option<u64> {
        self.interfaces
            .iter()
            .filter_map(Interface::dropped)
            .chain(self.dropped_before)
            .reduce(u64::saturating_add)
    }
}

#[cold]
fn count_unknown_interface(frame: u64, diagnostics: &mut Diagnostics) {
    diagnostics.count("unknown_interface", "pcapng", Some(frame), || {
        "a packet names an interface that the file does not describe: its link type is unknown and it is left out"
            .to_owned()
    });
}
