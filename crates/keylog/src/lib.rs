//! Key files and logs → key claims. Nothing in here decrypts: a key is only a claim until the ICV of a packet proves it.
//!
//! ```text
//! bytes → text (gzip, zstd, UTF-16, UTF-32) → lines (bounded, `reverse` logs flipped, syslog framing off) → formats → material
//! ```
//!
//! - [`reading`]: files, what lies beside a capture, and mining keys from text that no format knows.
//! - `lines`: from bytes to lines, and what is common in them (hex, fields, dumps).
//! - `formats`: one file or folder for each format, and their table.
//! - `material`: keys, seeds and blobs with their bounds: a [`KeyMaterial`].

mod formats;
mod lines;
mod material;
pub mod reading;

pub use crate::material::bounds::{
    LONGEST_LINE, MOST_BLOB_BYTES, MOST_BLOBS, MOST_ESP_KEYS, MOST_IKE_KEYS, MOST_PROBLEMS,
    MOST_SPI_SIGHTINGS, SHORTEST_BLOB,
};
pub use crate::material::contents::{Blob, KeyFileInfo, KeyMaterial, KeyProblem, SpiSighting};
pub use crate::material::index::EspKeyIndex;
pub use crate::material::key::{EspKey, IkeKey, IkeSecrets, KeyDefect, KeyOrigin, KeyRoad, Seed, SeedOf};
pub use crate::reading::beside::find_beside;
pub use crate::reading::pre_shared_key::read_pre_shared_key;
