//! The steps of a walk through a container.

use crate::file::link_type::LinkType;
use rekeyscope_model::time::Timestamp;

/// A packet that the buffer has just been moved past.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContainerRecord {
    pub(super) time: Timestamp,
    pub(super) link_type: LinkType,
    pub(super) original_len: u32,
    /// Bytes between the end of the packet's data and the buffer's place (padding, options, trailer).
    pub(super) back: usize,
    /// Captured bytes.
    pub(super) len: usize,
}

/// Why there are no more packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaptureEnd {
    /// The data ends between two records.
    Clean,
    /// The data ends inside a record.
    Cut,
    /// The bytes that follow cannot be a record.
    Damaged(&'static str),
}

/// One step of a walk.
#[derive(Debug, Clone, Copy)]
pub(super) enum RecordStep {
    Packet(ContainerRecord),
    /// A block that Wireshark numbers as a frame although it holds no packet.
    Numbered,
    /// Another block; only for a reader that asked for blocks.
    Block,
    /// Another file begins here: `cat` put them one behind the other, or a ring buffer went on to its next file.
    Appended,
    End(CaptureEnd),
}
