//! Frames that are kept beyond their reading.

use super::frame::Frame;
use super::link_type::LinkType;
use rekeyscope_model::time::Timestamp;

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
