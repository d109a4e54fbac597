//! Everything that key files claim, with the place of each claim.

use crate::material::key::{EspKey, IkeKey, KeyOrigin, Seed};
use rekeyscope_model::analysis::Lifetime;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use std::collections::HashSet;
use std::path::PathBuf;

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyProblem {
    /// Index in [`KeyMaterial::files`].
    pub file: usize,
    /// 1-based line; 0 is the whole file.
    pub line: u64,
    /// The fault, and the remedy. Holds no byte of a key.
    pub sentence: String,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct KeyFileInfo {
    /// Path as given or found.
    pub path: PathBuf,
    /// The number of its Decryption Secrets Block where the file is the capture itself.
    pub block: Option<u64>,
    /// Formats recognised in it, each once.
    pub formats: Vec<&'static str>,
}

/// Bytes that may contain a key: mining tries them, nearest to the SPI first.
#[derive(Debug, Clone)]
pub struct Blob {
    /// The text before the bytes, shortened; empty when there is none.
    pub label: String,
    /// The bytes, at least [`SHORTEST_BLOB`](crate::material::contents::SHORTEST_BLOB).
    pub bytes: SecretBytes,
    /// Place of the bytes; the road is [`KeyRoad::Mined`](crate::material::key::KeyRoad::Mined).
    pub origin: KeyOrigin,
}

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

/// The lifetime of an SA that a file states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaLifetime {
    /// SPI of the SA.
    pub spi: Spi,
    /// The whole lifetime, not what remained of it.
    pub lifetime: Lifetime,
    /// Place of the lifetime.
    pub origin: KeyOrigin,
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
    /// Lifetimes of SAs, from texts that hold no keys, at most one for each SPI of a text.
    pub lifetimes: Vec<SaLifetime>,
    /// Rows that could not be read.
    pub problems: Vec<KeyProblem>,
    /// The SPIs that matter, where that is known: keys that name only others are not kept.
    pub(crate) wanted: Option<HashSet<Spi>>,
    /// A bound left keys out.
    pub(crate) overflowed: bool,
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
}

// Bounds of what is kept of key files, so that memory is bounded whatever they hold.

/// Most ESP keys that are kept (about 30 MB); further ones are counted in one [`KeyProblem`](crate::material::contents::KeyProblem).
pub const MOST_ESP_KEYS: usize = 100_000;
/// Most IKE keys that are kept; further ones are counted in one [`KeyProblem`](crate::material::contents::KeyProblem).
pub const MOST_IKE_KEYS: usize = 10_000;
/// Most problems that are kept per file; further ones are counted in a last one.
pub const MOST_PROBLEMS: usize = 1_000;
/// Most unassigned blobs that are kept for mining; further ones are counted in one [`KeyProblem`](crate::material::contents::KeyProblem).
pub const MOST_BLOBS: usize = 50_000;
/// Most bytes of one blob, and of all blobs together, that are kept for mining.
pub const MOST_BLOB_BYTES: usize = 4 << 20;
/// Most places of SPIs that are kept for mining; further ones only make mining slower, not wrong.
pub const MOST_SPI_SIGHTINGS: usize = 200_000;
/// Longest line in bytes; the rest of a longer one is skipped and a [`KeyProblem`](crate::material::contents::KeyProblem) says so. The longest row that a
/// format knows is under 1 kB.
pub const LONGEST_LINE: usize = 64 << 10;

/// Shortest blob that is kept, in bytes: no transform here has a shorter key than AES-128.
pub const SHORTEST_BLOB: usize = 16;
