//! Frames that a reader hands out: packets, and for a copy of the capture also what is between them; and frames that are kept beyond their reading.

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

#[derive(Debug)]
struct KeptFrame {
    number: u64,
    time: Timestamp,
    link_type: LinkType,
    original_len: u32,
    /// End of its bytes, which begin where those of the frame before end.
    end: usize,
}

/// Frames in their order, with a copy of their bytes.
#[derive(Debug, Default)]
pub struct KeptFrames {
    list: Vec<KeptFrame>,
    bytes: Vec<u8>,
}

impl KeptFrames {
    /// Adds a copy of a frame.
    pub fn push(&mut self, frame: &Frame<'_>) {
        self.bytes.extend_from_slice(frame.data);
        self.list.push(KeptFrame {
            number: frame.number,
            time: frame.time,
            link_type: frame.link_type,
            original_len: frame.original_len,
            end: self.bytes.len(),
        });
    }

    /// The frames, in no block.
    pub fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        let mut begin = 0;
        self.list.iter().map(move |kept| Frame {
            number: kept.number,
            time: kept.time,
            link_type: kept.link_type,
            original_len: kept.original_len,
            data: &self.bytes[std::mem::replace(&mut begin, kept.end)..kept.end],
            block: None,
        })
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Tells whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Bytes of memory that the frames take.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.list.len() * size_of::<KeptFrame>()
    }

    /// Time of the last frame.
    pub fn last_time(&self) -> Option<Timestamp> {
        self.list.last().map(|last| last.time)
    }

    /// Forgets the frames, and keeps their memory for others.
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
    }
}
