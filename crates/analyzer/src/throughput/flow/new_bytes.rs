//! What a packet brings.

/// What one packet brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewBytes {
    /// Payload bytes that were not seen before.
    pub new: u32,
    /// Payload bytes that were.
    pub retransmitted: u32,
}
