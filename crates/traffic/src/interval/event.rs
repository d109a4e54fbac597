//! Events of the control plane and of the path, as far as outages need them. The caller knows them.

use rekeyscope_model::time::Timestamp;

/// The kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// Dead peer detection asked and was not answered.
    DpdUnanswered,
    /// A peer did not know an SPI (RFC 7296 §1.5, INVALID_SPI).
    InvalidSpi,
    /// Another IKE SA began beside or in place of the one that was there.
    NewIkeSa,
    /// An IKE SA was deleted.
    IkeSaDeleted,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time: Timestamp,
    /// The frame that shows it.
    pub frame: u64,
    /// The kind of the event.
    pub kind: EventKind,
}
