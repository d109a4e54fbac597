//! Key files and logs → keys. One file per format; nothing in here decrypts: a key is only a claim until the ICV of a
//! packet proves it ([`crate::sa`]).
//!
//! ```text
//! bytes → lines (bounded) → order (`reverse` logs flipped) → outer (syslog framing off) → formats → sink → KeyMaterial
//! ```
//!
//! To add a format: write `name.rs` with a type that implements `Format`, and add its line to `formats`.

mod algorithm_names;
mod beside;
mod charon;
mod charon_child;
mod claim;
mod dump;
mod esp_sa;
mod fields;
mod fortios;
mod hex;
mod ike_tables;
mod index;
mod lines;
mod mikrotik;
pub mod mine;
mod order;
mod outer;
mod pluto;
mod pre_shared_key;
mod racoon;
mod setkey;
mod sink;
mod tcpdump;
mod xfrm;
mod yamaha;
mod yamaha_labels;
mod yamaha_records;
mod yamaha_show_sa;

pub use beside::find_beside;
pub use index::EspKeyIndex;
pub use pre_shared_key::read_pre_shared_key;

use crate::algorithm::{Encryption, Integrity};
use crate::error::Error;
use crate::secret::SecretBytes;
use crate::spi::{IkeSpi, Spi};
use outer::Line;
use sink::Sink;
use std::collections::HashSet;
use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Most ESP keys that are kept (about 30 MB); further ones are counted in one [`KeyProblem`].
pub const MOST_ESP_KEYS: usize = 100_000;
/// Most IKE keys that are kept; further ones are counted in one [`KeyProblem`].
pub const MOST_IKE_KEYS: usize = 10_000;
/// Most problems that are kept per file; further ones are counted in a last one.
pub const MOST_PROBLEMS: usize = 1_000;
/// Most unassigned blobs that are kept for mining; further ones are counted in one [`KeyProblem`].
pub const MOST_BLOBS: usize = 50_000;
/// Most bytes of one blob, and of all blobs together, that are kept for mining.
pub const MOST_BLOB_BYTES: usize = 4 << 20;
/// Most places of SPIs that are kept for mining; further ones only make mining slower, not wrong.
pub const MOST_SPI_SIGHTINGS: usize = 200_000;
/// Longest line in bytes; the rest of a longer one is skipped and a [`KeyProblem`] says so. The longest row that a
/// format knows is under 1 kB.
pub const LONGEST_LINE: usize = 64 << 10;

/// A text format of keys. One value reads one file, line by line.
trait Format {
    /// The name that reports show, asked at the end of the file.
    fn name(&self) -> &'static str;
    /// Looks at a line; true when it belongs to this format, then no later format in the table sees it.
    fn line(&mut self, line: &Line<'_>, sink: &mut Sink<'_>) -> bool;
    /// The file ends.
    fn finish(&mut self, _sink: &mut Sink<'_>) {}
}

/// The formats, the strictest first: a line belongs to the first that takes it.
fn formats() -> Vec<Box<dyn Format>> {
    vec![
        Box::new(esp_sa::EspSa::default()),
        Box::new(ike_tables::Ikev1Table),
        Box::new(ike_tables::Ikev2Table),
        Box::new(charon::Charon::default()),
        Box::new(xfrm::Xfrm::default()),
        Box::new(setkey::Setkey::default()),
        Box::new(tcpdump::TcpdumpE),
        Box::new(fortios::FortiOs::default()),
        Box::new(mikrotik::MikroTik::default()),
        Box::new(pluto::Pluto::default()),
        Box::new(racoon::Racoon::default()),
        Box::new(yamaha_show_sa::YamahaShowSa::default()),
        Box::new(yamaha::YamahaKeyInfo::default()),
    ]
}

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
    /// IKEv1 SKEYID, from which the other three follow (RFC 2409 §5).
    pub skeyid: Option<SecretBytes>,
    /// IKEv2 SKEYSEED, from which the other five follow (RFC 7296 §2.14).
    pub skeyseed: Option<SecretBytes>,
    /// The shared Diffie–Hellman secret of the key exchange that made this IKE SA.
    pub dh_secret: Option<SecretBytes>,
    /// First bytes of Ka (a Yamaha console shows eight): only a check value.
    pub ka_prefix: Option<SecretBytes>,
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

/// What a seed yields keys for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeedOf {
    /// IKEv1: the SA on which the Quick Mode's initiator sends. Its KEYMAT is `prf(SKEYID_d, seed)`, iterated; the seed
    /// is `[g(qm)^xy |] protocol | SPI | Ni_b | Nr_b` (RFC 2409 §5.5).
    InitiatorSa,
    /// IKEv1: the same for the SA on which the Quick Mode's responder sends.
    ResponderSa,
    /// IKEv2: both SAs, `prf+(SK_d, seed)`, seed = `[g^ir |] Ni | Nr` (RFC 7296 §2.17).
    ChildSa,
}

/// The input of a key derivation, as a log prints it (strongSwan, level 4). With it not even the capture's Quick Mode
/// is needed, and PFS is no obstacle.
#[derive(Debug, Clone)]
pub struct Seed {
    /// What it yields.
    pub of: SeedOf,
    /// The whole seed, the Diffie–Hellman secret at its start included.
    pub bytes: SecretBytes,
    /// The new Diffie–Hellman secret by itself, where the log prints it.
    pub dh_secret: Option<SecretBytes>,
    /// SPIs that the log names for this CHILD_SA: the logging side's inbound one, then its outbound one.
    pub spis: Option<(Spi, Spi)>,
    /// Where it stands.
    pub origin: KeyOrigin,
}

/// Bytes that may contain a key: mining tries them, nearest to the SPI first.
#[derive(Debug, Clone)]
pub struct Blob {
    /// The text before the bytes, shortened; empty when there is none.
    pub label: String,
    /// The bytes, at least [`SHORTEST_BLOB`].
    pub bytes: SecretBytes,
    /// Where they stand; the road is [`KeyRoad::Mined`].
    pub origin: KeyOrigin,
}

/// Shortest blob that is kept, in bytes: no transform here has a shorter key than AES-128.
pub const SHORTEST_BLOB: usize = 16;

/// A line that names an SPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpiSighting {
    /// Index in [`KeyMaterial::files`].
    pub file: usize,
    /// 1-based line.
    pub line: u64,
    /// The SPI.
    pub spi: Spi,
}

/// Everything the key files claim. Append-only: a second key for the same SA is kept beside the first; only a
/// literal repetition is left out.
#[derive(Debug, Clone, Default)]
pub struct KeyMaterial {
    /// The files, in order.
    pub files: Vec<KeyFileInfo>,
    /// ESP keys in file order.
    pub esp: Vec<EspKey>,
    /// IKE keys in file order.
    pub ike: Vec<IkeKey>,
    /// Seeds of key derivations in file order.
    pub seeds: Vec<Seed>,
    /// Bytes for mining in file order.
    pub blobs: Vec<Blob>,
    /// Places where SPIs are named, for mining.
    pub spi_sightings: Vec<SpiSighting>,
    /// Rows that could not be read.
    pub problems: Vec<KeyProblem>,
    /// The SPIs that matter, where that is known: keys that name only others are not kept.
    wanted: Option<HashSet<Spi>>,
    /// A bound left keys out.
    overflowed: bool,
}

impl EspKey {
    /// The transforms that the key can be meant for: what the file says, and where it does not say, what fits the
    /// lengths of the keys, the most usual first. Empty when there is a defect.
    pub fn transforms(&self) -> Vec<(Encryption, Integrity)> {
        if self.defect.is_some() {
            return Vec::new();
        }
        algorithm_names::plausible(
            self.encryption,
            self.encryption_key.len(),
            self.integrity,
            self.integrity_key.len(),
        )
    }
}

impl KeyMaterial {
    /// Nothing yet; keys that name SPIs, but none of `wanted`, will not be kept. For files with more keys than the bounds
    /// admit.
    pub fn only_for(wanted: HashSet<Spi>) -> Self {
        KeyMaterial {
            wanted: Some(wanted),
            ..KeyMaterial::default()
        }
    }

    /// A bound left ESP keys out: [`KeyMaterial::only_for`] may find the right ones.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Reads one more file; its formats are recognised by content. Streams: memory does not grow with the file beyond
    /// the stated bounds.
    ///
    /// # Errors
    /// [`Error::KeyFile`] when the file cannot be read. A malformed row is a [`KeyProblem`], not an error.
    pub fn read(&mut self, path: &Path) -> Result<(), Error> {
        let failed = |source| Error::KeyFile {
            path: path.to_owned(),
            source,
        };
        let mut file = std::fs::File::open(path).map_err(failed)?;
        let mut head = Vec::new();
        Read::by_ref(&mut file)
            .take(4)
            .read_to_end(&mut head)
            .map_err(failed)?;
        if is_capture(&head) {
            let other =
                std::io::Error::other("it is a capture, and holds no keys; name the captures without --keys");
            return Err(failed(other));
        }
        self.read_from(path, head.as_slice().chain(file)).map_err(failed)
    }

    /// As [`KeyMaterial::read`] for bytes in memory.
    pub fn read_bytes(&mut self, path: &Path, bytes: &[u8]) {
        // Reading from memory cannot fail.
        let _ = self.read_from(path, bytes);
    }

    /// As [`KeyMaterial::read`] for an open stream; `path` only names it.
    ///
    /// # Errors
    /// The reader's. What was read before stays.
    pub fn read_from(&mut self, path: &Path, reader: impl Read) -> std::io::Result<()> {
        let mut formats = formats();
        let mut recognised = vec![false; formats.len()];
        self.files.push(KeyFileInfo {
            path: path.to_owned(),
            formats: Vec::new(),
        });
        let mut sink = Sink::new(self);
        let result = order::for_each_line(reader, &mut sink, &mut |line, sink| {
            for (format, seen) in formats.iter_mut().zip(&mut recognised) {
                if format.line(line, sink) {
                    *seen = true;
                    break;
                }
            }
        });
        for format in &mut formats {
            format.finish(&mut sink);
        }
        let names = formats
            .iter()
            .zip(&recognised)
            .filter(|(_, seen)| **seen)
            .map(|(f, _)| f.name())
            .collect();
        sink.finish(names);
        result
    }
}

/// Whether a file begins as a pcap file (either byte order, micro- or nanoseconds) or a pcapng file does.
fn is_capture(head: &[u8]) -> bool {
    const MAGIC: [u32; 5] = [0xa1b2_c3d4, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x4d3c_b2a1, 0x0a0d_0d0a];
    let head = head.first_chunk().map(|head| u32::from_be_bytes(*head));
    head.is_some_and(|head| MAGIC.contains(&head))
}
