//! pcapng (draft-ietf-opsawg-pcapng): sections in either byte order, any number of interfaces, enhanced, simple and
//! obsolete packet blocks, drop counters, and the ESP keys of Decryption Secrets Blocks. Other blocks are stepped over.
//!
//! pcap-parser reads the blocks that matter, each when it is whole in the buffer. Type, lengths and byte order are looked at
//! before: a length has to be bounded before a block is waited for, and a malformed block of a kind that is only stepped over
//! must not end the capture, as it would in the crate's hands (`the_same_packets_from_every_container`: secrets).

use crate::file::buffer::{Buffer, LARGEST_RECORD};
use crate::file::info::CaptureInfo;
use crate::file::interface::{Interface, listed, number};
use crate::file::magic::{begins_file, order_of_section};
use crate::file::order::ByteOrder;
use crate::file::record::{CaptureEnd, ContainerRecord, RecordStep};
use crate::file::secrets::{SECRETS_BLOCK, SecretsSeen};
use pcap_parser::{
    Block, EPB_MAGIC, EnhancedPacketBlock, IDB_MAGIC, ISB_MAGIC, InterfaceDescriptionBlock, OptionCode,
    SHB_MAGIC, SPB_MAGIC, SimplePacketBlock,
};
use rekeyscope_model::diagnostic::FrameDiagnostics;
use rekeyscope_model::text::Message;
use rekeyscope_model::time::Timestamp;
use std::io;

/// Types of blocks that are unknown to pcap-parser.
pub(super) const OBSOLETE_PACKET: u32 = 2;
pub(super) const JOURNAL: u32 = 9;
pub(super) const CUSTOM: u32 = 0x0bad;
pub(super) const CUSTOM_NOT_COPIED: u32 = 0x4000_0bad;
pub(super) const SYSDIG_EVENT: u32 = 0x204;
pub(super) const SYSDIG_EVENT_2: u32 = 0x216;
pub(super) const SYSDIG_EVENT_2_LARGE: u32 = 0x221;
/// Blocks that Wireshark lists as frames although they hold no packet, so that they take a number.
const NUMBERED: [u32; 6] = [
    JOURNAL,
    CUSTOM,
    CUSTOM_NOT_COPIED,
    SYSDIG_EVENT,
    SYSDIG_EVENT_2,
    SYSDIG_EVENT_2_LARGE,
];

/// Block type and two lengths.
const BLOCK_OVERHEAD: usize = 12;
/// Most interfaces that a section may describe; packets of further ones are counted and left out.
const MOST_INTERFACES: usize = 65_536;

/// pcap-parser names the options of other blocks only.
const EPB_DROPCOUNT: OptionCode = OptionCode(4);
/// Offset of the packet in an enhanced packet block.
const PACKET_DATA_AT: usize = 28;

/// Bytes of the shortest section header block (draft-ietf-opsawg-pcapng §4.1).
pub(super) const SHORTEST_SECTION_HEADER: usize = 28;

/// The state of a walk through a pcapng file.
#[derive(Debug, Default)]
pub(super) struct PcapngWalk {
    /// Byte order of the section.
    pub(super) order: ByteOrder,
    interfaces: Vec<Interface>,
    /// Drops of the sections that are over.
    dropped_before: Option<u64>,
    last_time: Timestamp,
    /// Secrets that were met; a copy takes them as blocks like others.
    pub(super) secrets: SecretsSeen,
    /// Blocks without a packet are steps of their own.
    pub(super) gives_blocks: bool,
    /// A section header was read.
    in_section: bool,
}

/// A packet whose interface is not known yet; as [`ContainerRecord`].
struct Ticked {
    ticks: u64,
    original_len: u32,
    back: usize,
    len: usize,
}

impl PcapngWalk {
    /// The next packet, with the buffer behind its block.
    pub(super) fn step(
        &mut self,
        buffer: &mut Buffer,
        info: &mut CaptureInfo,
        diagnostics: &mut FrameDiagnostics<'_>,
    ) -> io::Result<RecordStep> {
        loop {
            if !buffer.ensure(BLOCK_OVERHEAD)? {
                return Ok(RecordStep::End(buffer.ending()));
            }
            // Within a section no block has a type that reads like the magic number of pcap.
            if begins_file(buffer)? {
                return Ok(RecordStep::Appended);
            }
            let told = match self.block_len(buffer.available()) {
                Ok(told) => told,
                Err(end) => return Ok(RecordStep::End(end)),
            };
            let len = told.next_multiple_of(4);
            if !buffer.ensure(len)? {
                return Ok(RecordStep::End(CaptureEnd::Cut));
            }
            if told != len {
                self.count_padding_in(buffer.available_mut().get_mut(..len).unwrap_or_default());
            }
            let block = buffer.available().get(..len).unwrap_or_default();
            let holds_keys = self.order.u32(block, 0) == Some(SECRETS_BLOCK) && !self.gives_blocks;
            let step = self.block(block, info, diagnostics);
            if holds_keys {
                // They are elsewhere now.
                buffer.available_mut().get_mut(..len).unwrap_or_default().fill(0);
            }
            buffer.consume(len);
            match step {
                Ok(RecordStep::Block) if !self.gives_blocks => {}
                Ok(step) => return Ok(step),
                Err(end) => return Ok(RecordStep::End(end)),
            }
        }
    }

    /// Total length of the block that begins here, perhaps without its padding. A section header sets the byte order for itself
    /// already.
    #[inline]
    fn block_len(&mut self, head: &[u8]) -> Result<usize, CaptureEnd> {
        if self.order.u32(head, 0) == Some(SHB_MAGIC) {
            self.order = order_of_section(head).ok_or(CaptureEnd::Damaged(
                "a section header without its byte-order magic",
            ))?;
        }
        let len = self.order.u32(head, 4).unwrap_or(0) as usize;
        if !(BLOCK_OVERHEAD..=LARGEST_RECORD).contains(&len) {
            return Err(CaptureEnd::Damaged("a block with an impossible length"));
        }
        Ok(len)
    }

    /// Some writers leave the padding out of both lengths, and Wireshark reads their files too; pcap-parser looks for the second
    /// length where the first one says (`a_block_length_without_the_padding_is_understood`). It gets the lengths that should
    /// have been written.
    #[cold]
    fn count_padding_in(&self, block: &mut [u8]) {
        let whole = self.order.u32_bytes(block.len() as u32);
        if let [_, _, _, _, first @ .., a, b, c, d] = block
            && let Some(first) = first.first_chunk_mut::<4>()
            && *first == [*a, *b, *c, *d]
        {
            *first = whole;
            [*a, *b, *c, *d] = whole;
        }
    }

    #[inline]
    fn block(
        &mut self,
        block: &[u8],
        info: &mut CaptureInfo,
        diagnostics: &mut FrameDiagnostics<'_>,
    ) -> Result<RecordStep, CaptureEnd> {
        // pcap-parser does not compare them in simple packets and unknown blocks.
        if self.order.u32(block, block.len() - 4) != self.order.u32(block, 4) {
            return Err(CaptureEnd::Damaged("a block whose two lengths differ"));
        }
        match self.order.u32(block, 0).unwrap_or(0) {
            IDB_MAGIC | OBSOLETE_PACKET | SPB_MAGIC | ISB_MAGIC | EPB_MAGIC => {}
            SHB_MAGIC => {
                if std::mem::replace(&mut self.in_section, true) {
                    diagnostics.note("appended", "oddity-appended");
                }
                self.dropped_before = self.dropped();
                self.interfaces.clear();
                return Ok(RecordStep::Block);
            }
            other if NUMBERED.contains(&other) => {
                diagnostics.note("not_a_packet", "oddity-no-packet");
                return Ok(RecordStep::Numbered);
            }
            SECRETS_BLOCK if !self.gives_blocks => {
                self.secrets.take(self.order, block, diagnostics.all);
                return Ok(RecordStep::Block);
            }
            _ => return Ok(RecordStep::Block),
        }
        match self.order.parse(block) {
            Some(Block::EnhancedPacket(told)) => Ok(self.enhanced_packet(&told, block.len(), diagnostics)),
            Some(Block::SimplePacket(told)) => Ok(self.simple_packet(&told, diagnostics)),
            Some(Block::Unknown(told)) => self.obsolete_packet(told.data, diagnostics),
            Some(Block::InterfaceDescription(told)) => {
                self.interface_description(&told, info, diagnostics);
                Ok(RecordStep::Block)
            }
            // §4.6
            Some(Block::InterfaceStatistics(told)) => {
                if let Some(interface) = self.interfaces.get_mut(told.if_id as usize) {
                    interface.note_statistics(self.order, &told.options);
                }
                Ok(RecordStep::Block)
            }
            _ => Err(CaptureEnd::Damaged("a block that is shorter than what it holds")),
        }
    }

    /// §4.2.
    fn interface_description(
        &mut self,
        told: &InterfaceDescriptionBlock<'_>,
        info: &mut CaptureInfo,
        diagnostics: &mut FrameDiagnostics<'_>,
    ) {
        if self.interfaces.len() >= MOST_INTERFACES {
            diagnostics.all.count("too_many_interfaces", "pcapng", None, || {
                Message::new("oddity-interfaces").with("most", MOST_INTERFACES)
            });
            return;
        }
        let interface = Interface::described(self.order, told);
        info.note_link_type(interface.link_type);
        self.interfaces.push(interface);
    }

    /// §4.3. The crate collects options in a list of its own, so that a packet that has some costs an allocation; it reads up to
    /// the first malformed one and gives the packet nevertheless (`malformed_options_do_not_cost_the_packet`).
    #[inline]
    fn enhanced_packet(
        &mut self,
        told: &EnhancedPacketBlock<'_>,
        block_len: usize,
        diagnostics: &mut FrameDiagnostics<'_>,
    ) -> RecordStep {
        let dropped = listed(&told.options)
            .find(|option| option.code == EPB_DROPCOUNT)
            .and_then(|option| number(self.order, option));
        let packet = Ticked {
            ticks: (u64::from(told.ts_high) << 32) | u64::from(told.ts_low),
            original_len: told.origlen.max(told.caplen),
            back: block_len - PACKET_DATA_AT - told.caplen as usize,
            len: told.caplen as usize,
        };
        self.of_interface(told.if_id, packet, dropped, diagnostics)
    }

    /// Appendix A: interface and drops in 16 bits each, then as an enhanced packet. Own reader: the crate knows the lengths of
    /// the block only.
    fn obsolete_packet(
        &mut self,
        body: &[u8],
        diagnostics: &mut FrameDiagnostics<'_>,
    ) -> Result<RecordStep, CaptureEnd> {
        const DATA_AT: usize = 20;
        const LONGER: CaptureEnd = CaptureEnd::Damaged("a packet that is longer than its block");
        let field = |at| self.order.u32(body, at).ok_or(LONGER);
        let half = |at| self.order.u16(body, at).ok_or(LONGER);
        let captured = field(12)?;
        let behind = body
            .len()
            .checked_sub(DATA_AT.saturating_add(captured as usize))
            .ok_or(LONGER)?;
        let packet = Ticked {
            ticks: (u64::from(field(4)?) << 32) | u64::from(field(8)?),
            original_len: field(16)?.max(captured),
            back: behind + 4,
            len: captured as usize,
        };
        let dropped = Some(half(2)?).filter(|&drops| drops != u16::MAX).map(u64::from);
        Ok(self.of_interface(u32::from(half(0)?), packet, dropped, diagnostics))
    }

    /// Gives the packet its interface's clock and link type.
    #[inline]
    fn of_interface(
        &mut self,
        id: u32,
        packet: Ticked,
        dropped: Option<u64>,
        diagnostics: &mut FrameDiagnostics<'_>,
    ) -> RecordStep {
        let Some(interface) = self.interfaces.get_mut(id as usize) else {
            diagnostics.note("unknown_interface", "oddity-unknown-interface");
            return RecordStep::Numbered;
        };
        if let Some(dropped) = dropped {
            let sum = interface.dropped_by_packets.unwrap_or(0).saturating_add(dropped);
            interface.dropped_by_packets = Some(sum);
        }
        self.last_time = interface.clock.at(packet.ticks);
        RecordStep::Packet(ContainerRecord {
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
        told: &SimplePacketBlock<'_>,
        diagnostics: &mut FrameDiagnostics<'_>,
    ) -> RecordStep {
        let Some(interface) = self.interfaces.first() else {
            diagnostics.note("unknown_interface", "oddity-unknown-interface");
            return RecordStep::Numbered;
        };
        diagnostics.note("packet_without_time", "oddity-no-time");
        let limit = match interface.snap_len {
            0 => u32::MAX,
            limit => limit,
        };
        // The crate's `packet_data` leaves the snap length out of account: it would take padding for data.
        let captured = (told.origlen.min(limit) as usize).min(told.data.len());
        RecordStep::Packet(ContainerRecord {
            time: self.last_time,
            link_type: interface.link_type,
            original_len: told.origlen,
            back: told.data.len() - captured + 4,
            len: captured,
        })
    }

    /// Drops told so far; `None` where nothing told any number.
    pub(super) fn dropped(&self) -> Option<u64> {
        self.interfaces
            .iter()
            .filter_map(Interface::dropped)
            .chain(self.dropped_before)
            .reduce(u64::saturating_add)
    }
}
