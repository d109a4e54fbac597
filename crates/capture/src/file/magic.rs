//! Magic numbers of files, also of one that begins behind another.

use crate::file::buffer::Buffer;
use crate::file::order::ByteOrder;
use pcap_parser::nom::Err;
use pcap_parser::{BOM_MAGIC, SHB_MAGIC, parse_pcap_header};
use std::io;

/// Modified format, big-endian: pcap-parser does not know it (`the_same_packets_from_every_container`). It gets to see
/// [`USUAL_BIG`] instead, and the walk takes the longer record header into account.
pub(super) const MODIFIED_BIG: &[u8] = &[0xa1, 0xb2, 0xcd, 0x34];
pub(super) const USUAL_BIG: &[u8] = &[0xa1, 0xb2, 0xc3, 0xd4];

/// Bytes of the file header (draft-ietf-opsawg-pcap §4).
pub(super) const HEADER_LEN: usize = 24;

/// True when the bytes begin a pcap file; the magic is enough.
pub(super) fn is_pcap(head: &[u8]) -> bool {
    head.len() >= 4
        && (head.starts_with(MODIFIED_BIG) || !matches!(parse_pcap_header(head), Err(Err::Error(_))))
}

/// The byte order of a section, by the magic in its header: wanted before the length of that header can be read, and all that
/// is wanted of it.
pub(super) fn order_of_section(block: &[u8]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big]
        .into_iter()
        .find(|order| order.u32(block, 8) == Some(BOM_MAGIC))
}

/// True when the first bytes can begin a pcapng file; with fewer than 12 of them only the block type is looked at.
pub(super) fn is_pcapng(head: &[u8]) -> bool {
    head.starts_with(&SHB_MAGIC.to_be_bytes()) && (head.len() < 12 || order_of_section(head).is_some())
}

/// Tells whether another pcap file begins here. As the time of a packet its magic number would lie in 1976, 2021 or 2055, and the version that every
/// program writes (2.4) would be its fraction.
#[inline]
pub(super) fn begins_file(buffer: &mut Buffer) -> io::Result<bool> {
    // All magic numbers of pcap begin or end with this byte.
    const MAGIC_END: u8 = 0xa1;
    if !matches!(buffer.available(), [MAGIC_END, ..] | [_, _, _, MAGIC_END, ..]) {
        return Ok(false);
    }
    let is_header = is_pcap(buffer.available()) && buffer.ensure(HEADER_LEN)?;
    Ok(is_header && matches!(buffer.available().get(4..8), Some(&[2, 0, 4, 0] | &[0, 2, 0, 4])))
}

/// A pcapng file begins here.
#[inline]
pub(super) fn begins_section(buffer: &mut Buffer) -> io::Result<bool> {
    Ok(buffer.available().first() == Some(&0x0a)
        && is_pcapng(buffer.available())
        && buffer.ensure(HEADER_LEN)?
        && is_pcapng(buffer.available()))
}
