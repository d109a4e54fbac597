//! Key files and logs → keys. One file per format; nothing in here decrypts: a key is only a claim until the ICV of a
//! packet proves it ([`crate::sa`]).

pub mod index;

use crate::algorithm::{Encryption, Integrity};
use crate::error::Error;
use crate::secret::SecretBytes;
use crate::spi::{IkeSpi, Spi};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// How a key came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyRoad {
    /// A row or line names SPI and key.
    Explicit,
    /// Found among unlabelled bytes and proven.
    Mined,
    /// Computed from phase-1 secrets.
    Derived,
}

/// Where a key stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyOrigin {
    /// Index in [`KeyMaterial::files`].
    pub file: usize,
    /// 1-based line.
    pub line: u64,
    /// The road it came by.
    pub road: KeyRoad,
}

/// Why an explicit entry holds no usable key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyDefect {
    /// `** ** **` / `(confidential)`.
    Masked,
    /// Only eight bytes are shown.
    Prefix8,
    /// Shorter than the algorithm's key.
    Truncated,
}

/// An ESP key that a file claims.
#[derive(Debug, Clone)]
pub struct EspKey {
    /// Outer source as the file knows it; `None` for any. Behind NAT it differs from the capture's.
    pub src: Option<IpAddr>,
    /// Outer destination as the file knows it; `None` for any.
    pub dst: Option<IpAddr>,
    /// SPI; `None` for any (`*`, or a log without SPI on the key lines).
    pub spi: Option<Spi>,
    /// Cipher; `None` where the file does not say.
    pub encryption: Option<Encryption>,
    /// Encryption key, with salt where the transform has one.
    pub encryption_key: SecretBytes,
    /// Integrity; `None` where the file does not say.
    pub integrity: Option<Integrity>,
    /// Integrity key.
    pub integrity_key: SecretBytes,
    /// Set when the entry only shows that there is a key.
    pub defect: Option<KeyDefect>,
    /// Where it stands.
    pub origin: KeyOrigin,
}

/// Secrets of an IKE SA that a file claims. Absent ones are `None`.
#[derive(Debug, Clone, Default)]
pub struct IkeSecrets {
    /// IKEv1: the expanded encryption key Ka (RFC 2409 Appendix B).
    pub ka: Option<SecretBytes>,
    /// IKEv1 SKEYID_e.
    pub skeyid_e: Option<SecretBytes>,
    /// IKEv1 SKEYID_d.
    pub skeyid_d: Option<SecretBytes>,
    /// IKEv1 SKEYID_a.
    pub skeyid_a: Option<SecretBytes>,
    /// IKEv2 SK_ei (with salt for an AEAD).
    pub sk_ei: Option<SecretBytes>,
    /// IKEv2 SK_er.
    pub sk_er: Option<SecretBytes>,
    /// IKEv2 SK_ai.
    pub sk_ai: Option<SecretBytes>,
    /// IKEv2 SK_ar.
    pub sk_ar: Option<SecretBytes>,
    /// IKEv2 SK_d.
    pub sk_d: Option<SecretBytes>,
}

/// An IKE key that a file claims.
#[derive(Debug, Clone)]
pub struct IkeKey {
    /// 1 or 2.
    pub version: u8,
    /// Initiator's SPI; `None` when the file does not say (then every IKE SA is tried).
    pub initiator_spi: Option<IkeSpi>,
    /// Responder's SPI.
    pub responder_spi: Option<IkeSpi>,
    /// The secrets.
    pub secrets: IkeSecrets,
    /// IKEv2 encryption as Wireshark names it; `None` when unknown.
    pub encryption: Option<String>,
    /// IKEv2 integrity as Wireshark names it.
    pub integrity: Option<String>,
    /// Where it stands.
    pub origin: KeyOrigin,
}

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyProblem {
    /// Index in [`KeyMaterial::files`].
    pub file: usize,
    /// 1-based line.
    pub line: u64,
    /// What is wrong and what to do. Holds no byte of the row.
    pub sentence: String,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct KeyFileInfo {
    /// As given or found.
    pub path: PathBuf,
    /// Formats recognised in it, each once.
    pub formats: Vec<&'static str>,
}

/// Everything the key files claim. Append-only: a second key for the same SA is kept beside the first.
#[derive(Debug, Clone, Default)]
pub struct KeyMaterial {
    /// The files, in order.
    pub files: Vec<KeyFileInfo>,
    /// ESP keys in file order.
    pub esp: Vec<EspKey>,
    /// IKE keys in file order.
    pub ike: Vec<IkeKey>,
    /// Rows that could not be read.
    pub problems: Vec<KeyProblem>,
}

impl KeyMaterial {
    /// Reads one more file; its formats are recognised by content.
    ///
    /// # Errors
    /// [`Error::KeyFile`] when the file cannot be read. A malformed row is a [`KeyProblem`], not an error.
    pub fn read(&mut self, _path: &Path) -> Result<(), Error> {
        unimplemented!()
    }

    /// As [`KeyMaterial::read`] for bytes in memory.
    pub fn read_bytes(&mut self, _path: &Path, _bytes: &[u8]) {
        unimplemented!()
    }
}

/// Key files beside a capture, by the names that people use: `<stem>.keylog`, `<stem>.keys`, `<stem>.esp_sa`,
/// `keys.esp_sa`, `keys.ikev1`, `keys.ikev2`, `esp_sa`, `ikev1_decryption_table`, `ikev2_decryption_table` (the stem also without `.gz`,
/// `.zst`, `.lz4`). Existing regular files only, in this order.
pub fn find_beside(_capture: &Path) -> Vec<PathBuf> {
    unimplemented!()
}
