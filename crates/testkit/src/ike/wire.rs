//! What messages are sent over.

/// The address of the initiator.
pub const INITIATOR: [u8; 4] = [192, 0, 2, 1];
/// The address of the responder.
pub const RESPONDER: [u8; 4] = [198, 51, 100, 7];

/// Takes messages.
pub trait Wire {
    /// What it tells of a message.
    type Seen;

    /// The next message passes.
    fn send(&mut self, from_initiator: bool, message: &[u8]) -> Self::Seen;
}
