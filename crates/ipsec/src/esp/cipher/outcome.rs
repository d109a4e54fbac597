//! The results of keying a transform and of opening a packet.

/// The key does not have a length that the transform takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} key of {given} bytes: {algorithm} takes {expected}")]
pub struct KeyLengthError {
    /// `"encryption"` or `"integrity"`.
    pub what: &'static str,
    /// Bytes given (with salt).
    pub given: usize,
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Lengths it takes, in words.
    pub expected: String,
}

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

/// Why a packet could not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Shorter than header, IV, one block and ICV, or not whole blocks.
    #[error("ESP packet of {0} bytes is too short or not whole blocks for its cipher")]
    Length(usize),
    /// Pad length or padding bytes make no sense: wrong key or damaged packet.
    #[error("ESP padding makes no sense: wrong key or damaged packet")]
    Padding,
}
