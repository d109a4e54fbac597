//! The results of checking and of opening a packet.

/// Result of checking a packet's ICV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Icv {
    /// The ICV fits.
    Verified,
    /// The ICV does not fit, or the packet is too short to hold one.
    Failed,
    /// The transform has none, or the packet is cut.
    #[default]
    Unchecked,
}

/// The trailer of a decrypted packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// ESP payload length in bytes, without padding, pad length, next header.
    pub payload_len: u32,
    /// Pad length field.
    pub pad_len: u8,
    /// Next header (RFC 4303 §2.6).
    pub next_header: u8,
}
