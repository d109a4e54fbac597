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
    /// The bytes, at least [`SHORTEST_BLOB`](crate::material::bounds::SHORTEST_BLOB).
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
