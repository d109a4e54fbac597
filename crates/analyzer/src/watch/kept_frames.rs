//! The frames of a watch that is young, to be read once more when a key comes late.

use rekeyscope_capture::file::{Frame, LinkType};
use rekeyscope_model::time::Timestamp;

#[derive(Debug)]
struct KeptFrame {
    number: u64,
    time: Timestamp,
    link_type: LinkType,
    original_len: u32,
    /// Where its bytes end; they begin where those of the frame before end.
    end: usize,
}

/// All frames since the beginning.
#[derive(Debug, Default)]
pub(super) struct KeptFrames {
    list: Vec<KeptFrame>,
    bytes: Vec<u8>,
}

impl KeptFrames {
    /// Keeps a frame; false where there is no more room in `most` bytes.
    pub(super) fn take(&mut self, frame: &Frame<'_>, most: usize) -> bool {
        let size = self.bytes.len() + frame.data.len() + self.list.len() * size_of::<KeptFrame>();
        if size > most {
            return false;
        }
        self.bytes.extend_from_slice(frame.data);
        self.list.push(KeptFrame {
            number: frame.number,
            time: frame.time,
            link_type: frame.link_type,
            original_len: frame.original_len,
            end: self.bytes.len(),
        });
        true
    }

    pub(super) fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
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
}
