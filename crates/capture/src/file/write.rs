//! pcapng blocks being written (draft-ietf-opsawg-pcapng), in either byte order.
//!
//! Own writer: pcap-parser's serializer makes blocks in little-endian only, and a copy goes on in the byte order of the
//! section that it copies.

use crate::file::frame::Frame;
use crate::file::link_type::LinkType;
use crate::file::order::ByteOrder;
use crate::file::sound::{END_OF_OPTIONS, LONGEST_PACKET, options, sound_options};
use pcap_parser::{BOM_MAGIC, EPB_MAGIC, IDB_MAGIC, SHB_MAGIC};

/// A comment, an option of every block (§3.5).
pub(super) const COMMENT: u16 = 1;
/// Options of an enhanced packet block (§4.3).
pub(super) const EPB_FLAGS: u16 = 2;
pub(super) const EPB_HASH: u16 = 3;
/// `shb_userappl` (§4.1) and `if_tsresol` (§4.2).
const SHB_APPLICATION: u16 = 4;
const IF_TSRESOL: u16 = 9;
/// Version of the format.
const MAJOR: u16 = 1;
/// Longest text of an option; its length field has 16 bits and Wireshark shows no more in a line anyway.
const LONGEST_TEXT: usize = 4_096;

/// A block under construction.
#[derive(Debug)]
pub(super) struct BlockBuilder {
    order: ByteOrder,
    bytes: Vec<u8>,
}

impl BlockBuilder {
    /// Begins a block of a type; its lengths are filled in by [`BlockBuilder::finish`]. `bytes` is reused.
    pub(super) fn new(order: ByteOrder, kind: u32, mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        BlockBuilder { order, bytes }.u32(kind).u32(0)
    }

    pub(super) fn u16(mut self, value: u16) -> Self {
        self.bytes.extend_from_slice(&self.order.u16_bytes(value));
        self
    }

    pub(super) fn u32(mut self, value: u32) -> Self {
        self.bytes.extend_from_slice(&self.order.u32_bytes(value));
        self
    }

    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Fills up to a multiple of four.
    pub(super) fn padded(mut self) -> Self {
        let len = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(len, 0);
        self
    }

    pub(super) fn option(self, code: u16, value: &[u8]) -> Self {
        self.u16(code).u16(value.len() as u16).raw(value).padded()
    }

    /// A text, cut at [`LONGEST_TEXT`] bytes.
    pub(super) fn text(self, code: u16, text: &str) -> Self {
        let mut end = text.len().min(LONGEST_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.option(code, &text.as_bytes()[..end])
    }

    pub(super) fn end_of_options(self) -> Self {
        self.u16(END_OF_OPTIONS).u16(0)
    }

    /// Puts both lengths in place.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let len = self.order.u32_bytes(self.bytes.len() as u32 + 4);
        self.bytes.extend_from_slice(&len);
        if let Some(first) = self.bytes.get_mut(4..8) {
            first.copy_from_slice(&len);
        }
        self.bytes
    }
}

/// The program that wrote a file.
const PROGRAM: &str = concat!("rekeyscope ", env!("CARGO_PKG_VERSION"));
const COPIED: &str = concat!("copied by rekeyscope ", env!("CARGO_PKG_VERSION"));

/// The section header of a copy: of unknown length, as the copy is longer, and with a comment that says who made it.
pub(super) fn copied_section_header(order: ByteOrder, bytes: &[u8]) -> Vec<u8> {
    let tail = bytes.get(24..bytes.len().saturating_sub(4)).unwrap_or_default();
    let kept: Vec<u8> = options(order, &sound_options(order, SHB_MAGIC, tail))
        // A copy of a copy says it once.
        .filter(|(_, option)| {
            option
                .get(4..)
                .is_none_or(|text| !text.starts_with(COPIED.as_bytes()))
        })
        .flat_map(|(_, option)| option)
        .copied()
        .collect();
    begun_section_header(order)
        .text(COMMENT, COPIED)
        .raw(&kept)
        .end_of_options()
        .finish()
}

/// A section header of our own (§4.1).
pub(super) fn section_header(order: ByteOrder) -> Vec<u8> {
    begun_section_header(order)
        .text(SHB_APPLICATION, PROGRAM)
        .end_of_options()
        .finish()
}

/// A section of unknown length, in the version that is written here, whatever version a copied one named.
fn begun_section_header(order: ByteOrder) -> BlockBuilder {
    BlockBuilder::new(order, SHB_MAGIC, Vec::new())
        .u32(BOM_MAGIC)
        .u16(MAJOR)
        .u16(0)
        .raw(&[0xff; 8])
}

/// The interface description of a copy (§4.2): of another link type where packets take the places of others, with the options that fit.
pub(super) fn copied_interface(order: ByteOrder, bytes: &[u8], replaced: Option<LinkType>) -> Vec<u8> {
    let link_type = replaced.unwrap_or(LinkType(order.u16(bytes, 8).unwrap_or(0)));
    let tail = bytes.get(16..bytes.len().saturating_sub(4)).unwrap_or_default();
    let kept = sound_options(order, IDB_MAGIC, tail);
    let block = BlockBuilder::new(order, IDB_MAGIC, Vec::new())
        .u16(link_type.0)
        .u16(0)
        .u32(order.u32(bytes, 12).unwrap_or(0))
        .raw(&kept);
    if kept.is_empty() {
        block
    } else {
        block.end_of_options()
    }
    .finish()
}

/// An interface description (§4.2). `decimals`: ticks are 10^-decimals seconds.
pub(super) fn interface_description(
    order: ByteOrder,
    link_type: LinkType,
    snap_len: u32,
    decimals: u8,
) -> Vec<u8> {
    BlockBuilder::new(order, IDB_MAGIC, Vec::new())
        .u16(link_type.0)
        .u16(0)
        .u32(snap_len)
        .option(IF_TSRESOL, &[decimals])
        .end_of_options()
        .finish()
}

/// A packet's place in a pcapng file.
pub(super) struct BlockPlace {
    pub(super) order: ByteOrder,
    pub(super) interface: u32,
    pub(super) ticks: u64,
    /// Options in the order of the file, without end mark.
    pub(super) options: Vec<u8>,
}

/// An enhanced packet (§4.3), in the memory of `scratch`.
pub(super) fn enhanced_packet(
    place: &BlockPlace,
    packet: &Frame<'_>,
    comment: Option<&str>,
    scratch: Vec<u8>,
) -> Vec<u8> {
    let data = packet.data.get(..LONGEST_PACKET).unwrap_or(packet.data);
    let mut block = BlockBuilder::new(place.order, EPB_MAGIC, scratch)
        .u32(place.interface)
        .u32((place.ticks >> 32) as u32)
        .u32(place.ticks as u32)
        .u32(data.len() as u32)
        .u32(packet.original_len)
        .raw(data)
        .padded()
        .raw(&place.options);
    if let Some(comment) = comment {
        block = block.text(COMMENT, comment);
    }
    if comment.is_some() || !place.options.is_empty() {
        block = block.end_of_options();
    }
    block.finish()
}
