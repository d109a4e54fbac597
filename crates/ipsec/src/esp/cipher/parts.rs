//! The parts of an ESP packet (RFC 4303 §2), as its transform cuts it.

use crate::esp::header::HEADER_LEN;
use zeroize::Zeroize;

/// A packet cut at its transform's seams.
pub(super) struct Parts<'a> {
    /// SPI and sequence number.
    pub(super) header: &'a [u8; HEADER_LEN],
    /// Explicit or implicit IV.
    pub(super) iv: &'a [u8],
    /// Ciphertext.
    pub(super) body: &'a [u8],
    /// ICV as sent.
    pub(super) icv: &'a [u8],
    /// Everything before the ICV.
    pub(super) authenticated: &'a [u8],
}

// The results of checking and of opening a packet.

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

// Decrypting leaves traces on a thread's stack: the compiler may spill round keys to it, one of which is the key.
// A value that is copied later takes such bytes along, in the parts that it does not use, and the heap is not wiped.

/// Words that are wiped after a task: verifying and decrypting go some kilobytes deep.
const WORDS: usize = 1 << 11;
/// Words that are wiped at the end: trying keys on packets starts far deeper.
const MOST_WORDS: usize = 1 << 14;

/// Wipes 16 kB of the stack below the caller. To be called where packets were decrypted, or a key was expanded, not deeper.
#[inline(never)]
pub fn wipe_stack() {
    [0_u64; WORDS].zeroize();
}

/// Wipes 128 kB of it: where keys were tried on packets, once that is over.
#[inline(never)]
pub fn wipe_deep_stack() {
    [0_u64; MOST_WORDS].zeroize();
}
