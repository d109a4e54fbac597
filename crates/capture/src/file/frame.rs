//! Frames that a reader hands out: packets, and for a copy of the capture also what is between them.

use crate::file::block::ReadBlock;
use crate::file::link_type::LinkType;
use crate::file::order::ByteOrder;
use rekeyscope_model::time::Timestamp;

/// One captured packet, borrowed from the reader's buffer.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// 1-based, as Wireshark counts.
    pub number: u64,
    /// Time of the packet. A simple packet block has none: it takes its predecessor's and a diagnostic counts it.
    pub time: Timestamp,
    /// Link type of its interface.
    pub link_type: LinkType,
    /// Bytes on the wire; more than `data.len()` when the snap length cut it.
    pub original_len: u32,
    /// The captured bytes, from the link header on.
    pub data: &'a [u8],
    /// The block that they lie in, to keep them without a copy; `None` where they lie elsewhere.
    pub block: Option<&'a ReadBlock>,
}

/// A step through a capture for a copy of it.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// The packet, where it holds one.
    pub frame: Option<Frame<'a>>,
    /// Frame number, where Wireshark gives it one.
    pub number: Option<u64>,
    pub(super) raw: Raw<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Raw<'a> {
    /// A pcapng block, whole, with the byte order of its section.
    Block { bytes: &'a [u8], order: ByteOrder },
    /// A record of another container.
    Record { nanos_per_tick: i64, snap_len: u32 },
}
