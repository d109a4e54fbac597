//! A keyed ESP transform: checks ICVs and decrypts.

use crate::algorithm::{Encryption, Integrity};

/// The key does not have a length that the transform takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} key of {given} bytes: {algorithm} takes {expected}")]
pub struct KeyLengthError {
    /// `"encryption"` or `"integrity"`.
    pub what: &'static str,
    /// Bytes given (with salt).
    pub given: usize,
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Lengths it takes, in words.
    pub expected: &'static str,
}

/// What the ICV of a packet said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icv {
    /// It fits.
    Verified,
    /// It does not.
    Failed,
    /// The transform has none, or the packet is cut.
    Unchecked,
}

/// What decryption showed about a packet.
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

/// A transform with its keys. Cheap to share between threads; `Debug` shows no key.
pub struct EspCipher {
    _private: (),
}

impl std::fmt::Debug for EspCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EspCipher(…)")
    }
}

impl EspCipher {
    /// Keys a transform. `encryption_key` carries the salt at its end where the transform has one.
    ///
    /// # Errors
    /// [`KeyLengthError`].
    pub fn new(
        _encryption: Encryption,
        _encryption_key: &[u8],
        _integrity: Integrity,
        _integrity_key: &[u8],
    ) -> Result<Self, KeyLengthError> {
        unimplemented!()
    }

    /// Bytes of ICV at the end of each packet.
    pub fn icv_len(&self) -> usize {
        unimplemented!()
    }

    /// Bytes of explicit IV.
    pub fn iv_len(&self) -> usize {
        unimplemented!()
    }

    /// Checks the ICV of a whole packet (from the SPI on). `esn_high`: upper half of an extended sequence number.
    pub fn verify(&self, _packet: &[u8], _esn_high: Option<u32>) -> Icv {
        unimplemented!()
    }

    /// Decrypts the first `prefix` bytes of the payload into `out` (cleared first; fewer when the payload is shorter)
    /// and reads the trailer. CBC: only the blocks that are needed are decrypted (block i needs ciphertext i−1 and i).
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(&self, _packet: &[u8], _prefix: usize, _out: &mut Vec<u8>) -> Result<Opened, OpenError> {
        unimplemented!()
    }
}
