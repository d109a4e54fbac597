//! pcapng (draft-ietf-opsawg-pcapng): sections in either byte order, any number of interfaces, enhanced, simple and
//! obsolete packet blocks, drop counters. Other blocks are stepped over.
//!
//! Own block reader: only four block types matter here, and a packet whose *options* are malformed is still a packet.

use super::CaptureInfo;
use super::buffer::{Buffer, LARGEST_RECORD};
use super::interface::{Interface, options};
use super::order::Order;
use super::record::{End, Record, Step};
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

const OPTION_EPB_DROPCOUNT: u16 = 4;

/// The byte order of a section, by the magic in its header.
fn order_of_section(block: &[u8]) -> Option<Order> {
    [Order::Little, Order::Big]
        .into_iter()
        .find(|order| order.u32(block, 8) == Some(BYTE_ORDER_MAGIC))
}

/// True when the first bytes can begin a pcapng file; with fewer than 12 of them only the block type is looked at.
pub(super) fn is_pcapng(head: &[u8]) -> bool {
    head.starts_with(&SECTION_HEADER.to_be_bytes()) && (head.len() < 12 || order_of_section(head).is_some())
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

/// A packet whose interface is not known yet; as [`Record`].
struct Ticked {
    ticks: u64,
    original_len: u32,
    back: usize,
    len: usize,
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
                order_of_section(head).ok_or(Damage("a section header without its byte-order magic"))?;
        }
        let len = self.order.u32(head, 4).unwrap_or(0) as usize;
        if !(BLOCK_OVERHEAD..=LARGEST_RECORD).contains(&len) {
            return Err(Damage("a block with an impossible length"));
        }
        // Some writers leave the padding out of the length; Wireshark reads their files too.
        Ok(len.next_multiple_of(4))
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
        let interface = Interface::described(self.order, block);
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
        let (record, options_at) = self.packet(block)?;
        let has_options = options_at + 4 < block.len();
        let dropped = if has_options {
            self.dropcount(block, options_at)
        } else {
            None
        };
        Ok(self.of_interface(id, record, dropped, frame, diagnostics))
    }

    /// Appendix A: interface and drops in 16 bits each, then the same.
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
        let (record, _) = self.packet(block)?;
        Ok(self.of_interface(id, record, dropped, frame, diagnostics))
    }

    /// The fields that both kinds of packet block share, and where the options begin. The time is still in ticks.
    #[inline]
    fn packet(&self, block: &[u8]) -> Result<(Ticked, usize), Damage> {
        const DATA_AT: usize = 28;
        let field = |at| self.order.u32(block, at).unwrap_or(0);
        let captured = field(20);
        let data_end = DATA_AT.saturating_add(captured as usize);
        let room = block.len().saturating_sub(4);
        if data_end > room {
            return Err(Damage("a packet that is longer than its block"));
        }
        let packet = Ticked {
            ticks: (u64::from(field(12)) << 32) | u64::from(field(16)),
            original_len: field(24).max(captured),
            back: block.len() - data_end,
            len: captured as usize,
        };
        Ok((packet, data_end.next_multiple_of(4)))
    }

    /// Gives the packet its interface's clock and link type.
    #[inline]
    fn of_interface(
        &mut self,
        id: u32,
        packet: Ticked,
        dropped: Option<u64>,
        frame: u64,
        diagnostics: &mut Diagnostics,
    ) -> Meaning {
        let Some(interface) = self.interfaces.get_mut(id as usize) else {
            count_unknown_interface(frame, diagnostics);
            return Meaning::Numbered;
        };
        if let Some(dropped) = dropped {
            let sum = interface.dropped_by_packets.unwrap_or(0).saturating_add(dropped);
            interface.dropped_by_packets = Some(sum);
        }
        self.last_time = interface.clock.at(packet.ticks);
        Meaning::Packet(Record {
            time: self.last_time,
            link_type: interface.link_type,
            original_len: packet.original_len,
            back: packet.back,
            len: packet.len,
        })
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

    /// §4.6.
    fn interface_statistics(&mut self, block: &[u8]) {
        let id = self.order.u32(block, 8).unwrap_or(0) as usize;
        if let Some(interface) = self.interfaces.get_mut(id) {
            interface.note_statistics(self.order, block);
        }
    }

    #[cold]
    fn dropcount(&self, block: &[u8], at: usize) -> Option<u64> {
        options(self.order, block, at)
            .find(|(code, _)| *code == OPTION_EPB_DROPCOUNT)
            .and_then(|(_, value)| self.order.u64(value, 0))
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
