//! A keyed ESP transform: checks ICVs and decrypts (RFC 4303 §3.4.4).
//!
//! Checking and decrypting are apart: an ICV covers the whole packet, but an analysis needs only the first headers and
//! the trailer, so [`EspCipher::open`] decrypts only the blocks that hold them. Nothing allocates per packet.

mod aead;
mod decrypt;
mod hmac_sha1;
mod integrity;
mod many;
mod sha1_lanes;

use super::null::NullFormat;
use crate::algorithm::{Encryption, Integrity};
use aead::new_aead;
use decrypt::{Decrypt, new_decrypt};
use integrity::{Authenticate, Parts, new_integrity};
pub use many::{Check, verify_many};

/// Bytes of SPI and sequence number before the IV (RFC 4303 §2).
pub const HEADER_LEN: usize = 8;
/// Pad length and next header (RFC 4303 §2.4).
const TRAILER_LEN: usize = 2;
/// ESP right-aligns its trailer in a word of four bytes (RFC 4303 §2.4).
const WORD: usize = 4;
/// The longest block of any cipher here.
const MOST_BLOCK: usize = 16;
/// The longest padding with its trailer, from a block boundary on.
const MOST_TAIL: usize = 255 + TRAILER_LEN + MOST_BLOCK;

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
    /// It does not, or the packet is too short to hold one.
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

/// Which padding bytes are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Padding {
    /// 1, 2, 3, … as RFC 4303 §2.4 asks where the cipher does not say otherwise.
    Monotonic,
    /// Any: the sender may choose, and the ICV has already shown that the key fits.
    Any,
}

/// A transform with its keys. Cheap to share between threads; `Debug` shows no key.
pub struct EspCipher {
    decrypt: Box<dyn Decrypt>,
    authenticate: Option<Box<dyn Authenticate>>,
    iv_len: usize,
    icv_len: usize,
    block_len: usize,
    implicit_iv: bool,
}

impl std::fmt::Debug for EspCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EspCipher(…)")
    }
}

impl EspCipher {
    /// Keys a transform. `encryption_key` carries the salt at its end where the transform has one. A combined mode
    /// brings its own ICV: `integrity` and its key are not looked at then.
    ///
    /// # Errors
    /// [`KeyLengthError`].
    pub fn new(
        encryption: Encryption,
        encryption_key: &[u8],
        integrity: Integrity,
        integrity_key: &[u8],
    ) -> Result<Self, KeyLengthError> {
        let wrong_key = || encryption_key_error(encryption, encryption_key.len());
        let (iv_len, implicit_iv) = (encryption.iv_len(), encryption.with_explicit_iv() != encryption);
        let encryption = encryption.with_explicit_iv();
        let key_len = encryption_key
            .len()
            .checked_sub(encryption.salt_len())
            .filter(|len| encryption.key_lens().contains(len))
            .ok_or_else(wrong_key)?;
        let (key, salt) = encryption_key.split_at(key_len);
        let decrypt = new_decrypt(encryption, key, salt).ok_or_else(wrong_key)?;
        let (authenticate, icv_len) = if encryption.is_aead() {
            let (mode, icv_len) = new_aead(encryption, key, salt).ok_or_else(wrong_key)?;
            (Some(mode), icv_len)
        } else if matches!(integrity, Integrity::None | Integrity::Unknown { .. }) {
            (None, integrity.icv_len())
        } else {
            let mac = new_integrity(integrity, integrity_key)
                .ok_or_else(|| integrity_key_error(integrity, integrity_key.len()))?;
            (Some(mac), integrity.icv_len())
        };
        Ok(EspCipher {
            decrypt,
            authenticate,
            iv_len,
            icv_len,
            block_len: encryption.block_len(),
            implicit_iv,
        })
    }

    /// NULL encryption whose integrity key is unknown: opens packets, checks no ICV.
    pub fn null_unchecked(format: NullFormat) -> Self {
        EspCipher {
            decrypt: Box::new(decrypt::Null),
            authenticate: None,
            iv_len: format.iv_len,
            icv_len: format.icv_len,
            block_len: 1,
            implicit_iv: false,
        }
    }

    /// Bytes of ICV at the end of each packet.
    pub fn icv_len(&self) -> usize {
        self.icv_len
    }

    /// Bytes of explicit IV.
    pub fn iv_len(&self) -> usize {
        self.iv_len
    }

    /// Checks the ICV of a whole packet (from the SPI on). `esn_high`: upper half of an extended sequence number.
    pub fn verify(&self, packet: &[u8], esn_high: Option<u32>) -> Icv {
        let Some(authenticate) = &self.authenticate else {
            return Icv::Unchecked;
        };
        let mut implicit = [0; 8];
        let fits = self
            .parts(packet, esn_high, &mut implicit)
            .is_some_and(|parts| authenticate.fits(&parts, esn_high));
        if fits { Icv::Verified } else { Icv::Failed }
    }

    /// Decrypts the first `prefix` bytes of the payload into `out` (cleared first; fewer when the payload is shorter)
    /// and reads the trailer. CBC: only the blocks that are needed are decrypted (block i needs ciphertext i−1 and i).
    ///
    /// This is the strict way, for packets whose ICV says nothing: padding must be 1, 2, 3, … and end on a word
    /// (RFC 4303 §2.4), so that a wrong key is noticed in most packets. `esn_high` matters for an implicit IV only.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(
        &self,
        packet: &[u8],
        esn_high: Option<u32>,
        prefix: usize,
        out: &mut Vec<u8>,
    ) -> Result<Opened, OpenError> {
        self.open_with(packet, esn_high, prefix, Padding::Monotonic, out)
    }

    /// [`EspCipher::open`] for a packet whose ICV was verified: the sender may have put anything into the padding, only
    /// its length is checked.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_verified(
        &self,
        packet: &[u8],
        esn_high: Option<u32>,
        prefix: usize,
        out: &mut Vec<u8>,
    ) -> Result<Opened, OpenError> {
        self.open_with(packet, esn_high, prefix, Padding::Any, out)
    }

    fn open_with(
        &self,
        packet: &[u8],
        esn_high: Option<u32>,
        prefix: usize,
        padding: Padding,
        out: &mut Vec<u8>,
    ) -> Result<Opened, OpenError> {
        out.clear();
        let mut implicit = [0; 8];
        let parts = self
            .parts(packet, esn_high, &mut implicit)
            .filter(|parts| self.whole_blocks(parts.body.len(), padding))
            .ok_or(OpenError::Length(packet.len()))?;
        let opened = self.trailer(&parts, padding)?;
        let wanted = prefix.min(opened.payload_len as usize);
        let end = wanted.next_multiple_of(self.block_len).min(parts.body.len());
        out.extend_from_slice(parts.body.get(..end).unwrap_or_default());
        self.decrypt.decrypt(parts.iv, parts.body, 0, out);
        out.truncate(wanted);
        Ok(opened)
    }

    /// Pad length and next header, with the padding checked as far as asked.
    fn trailer(&self, parts: &Parts<'_>, padding: Padding) -> Result<Opened, OpenError> {
        let body = parts.body;
        let mut tail = [0; MOST_TAIL];
        let last = self.block_len.max(TRAILER_LEN);
        let opened = match self.decrypt_tail(parts, body.len().saturating_sub(last), &mut tail) {
            [.., pad_len, next_header] => body
                .len()
                .checked_sub(TRAILER_LEN + usize::from(*pad_len))
                .and_then(|len| u32::try_from(len).ok())
                .map(|payload_len| Opened {
                    payload_len,
                    pad_len: *pad_len,
                    next_header: *next_header,
                })
                .ok_or(OpenError::Padding)?,
            _ => return Err(OpenError::Length(parts.packet_len)),
        };
        if padding == Padding::Monotonic && opened.pad_len > 0 {
            let from = opened.payload_len as usize;
            let block_start = from - from % self.block_len;
            let plain = self.decrypt_tail(parts, block_start, &mut tail);
            let pad = plain
                .iter()
                .skip(from - block_start)
                .take(usize::from(opened.pad_len));
            if !pad.zip(1u8..=255).all(|(byte, expected)| *byte == expected) {
                return Err(OpenError::Padding);
            }
        }
        Ok(opened)
    }

    /// Decrypts from `start` (a block boundary) to the end of the body.
    fn decrypt_tail<'t>(&self, parts: &Parts<'_>, start: usize, buffer: &'t mut [u8; MOST_TAIL]) -> &'t [u8] {
        let ciphertext = parts.body.get(start..).unwrap_or_default();
        let Some(tail) = buffer.get_mut(..ciphertext.len()) else {
            return &[];
        };
        tail.copy_from_slice(ciphertext);
        self.decrypt.decrypt(parts.iv, parts.body, start, tail);
        tail
    }

    fn whole_blocks(&self, body_len: usize, padding: Padding) -> bool {
        let unit = match padding {
            Padding::Monotonic => self.block_len.max(WORD),
            Padding::Any => self.block_len,
        };
        body_len >= TRAILER_LEN && body_len.is_multiple_of(unit)
    }

    /// What the ICV covers, and the ICV.
    fn split_icv<'a>(&self, packet: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        packet.split_at_checked(packet.len().checked_sub(self.icv_len)?)
    }

    /// Cuts a packet at the transform's seams; `None` when it is too short.
    fn parts<'a>(
        &self,
        packet: &'a [u8],
        esn_high: Option<u32>,
        implicit: &'a mut [u8; 8],
    ) -> Option<Parts<'a>> {
        let (authenticated, icv) = self.split_icv(packet)?;
        let (header, rest) = authenticated.split_first_chunk::<HEADER_LEN>()?;
        let (mut iv, body) = rest.split_at_checked(self.iv_len)?;
        if self.implicit_iv {
            let [_, _, _, _, sequence @ ..] = *header;
            let number = u64::from(esn_high.unwrap_or(0)) << 32 | u64::from(u32::from_be_bytes(sequence));
            *implicit = number.to_be_bytes();
            iv = implicit;
        }
        Some(Parts {
            header,
            iv,
            body,
            icv,
            authenticated,
            packet_len: packet.len(),
        })
    }
}

fn encryption_key_error(encryption: Encryption, given: usize) -> KeyLengthError {
    let (algorithm, expected) = match encryption.with_explicit_iv() {
        Encryption::Null => ("NULL", "no key"),
        Encryption::AesCbc => ("AES-CBC", "16, 24 or 32"),
        Encryption::AesCtr => ("AES-CTR", "20, 28 or 36 (the last 4 are the nonce)"),
        Encryption::AesGcm { .. } => (
            "AES-GCM",
            "20, 28 or 36 (the last 4 are the salt); ICV 8, 12 or 16",
        ),
        Encryption::AesCcm { .. } => (
            "AES-CCM",
            "19, 27 or 35 (the last 3 are the salt); ICV 8, 12 or 16",
        ),
        Encryption::AesGmac => ("AES-GMAC", "20, 28 or 36 (the last 4 are the salt)"),
        Encryption::ChaCha20Poly1305
        | Encryption::AesCcm8Iiv
        | Encryption::AesGcm16Iiv
        | Encryption::ChaCha20Poly1305Iiv => ("ChaCha20-Poly1305", "36 (the last 4 are the salt)"),
        Encryption::TripleDesCbc => ("3DES-CBC", "24"),
        Encryption::DesCbc => ("DES-CBC", "8"),
        Encryption::CamelliaCbc => ("Camellia-CBC", "16, 24 or 32"),
    };
    KeyLengthError {
        what: "encryption",
        given,
        algorithm,
        expected,
    }
}

fn integrity_key_error(integrity: Integrity, given: usize) -> KeyLengthError {
    let (algorithm, expected) = match integrity {
        Integrity::None | Integrity::Unknown { .. } => ("none", "no key"),
        Integrity::HmacMd5_96 => ("HMAC-MD5-96", "16"),
        Integrity::HmacSha1_96 => ("HMAC-SHA1-96", "20"),
        Integrity::HmacSha256_96 => ("HMAC-SHA2-256-96", "32"),
        Integrity::HmacSha256_128 => ("HMAC-SHA2-256-128", "32"),
        Integrity::HmacSha384_192 => ("HMAC-SHA2-384-192", "48"),
        Integrity::HmacSha512_256 => ("HMAC-SHA2-512-256", "64"),
        Integrity::AesXcbc96 => ("AES-XCBC-96", "16"),
        Integrity::AesCmac96 => ("AES-CMAC-96", "16"),
        Integrity::HmacMd5_128 => ("HMAC-MD5-128", "16"),
        Integrity::HmacSha1_160 => ("HMAC-SHA1-160", "20"),
    };
    KeyLengthError {
        what: "integrity",
        given,
        algorithm,
        expected,
    }
}

#[cfg(test)]
mod tests;
