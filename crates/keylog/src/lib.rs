//! Key files and logs → key claims. Nothing in here decrypts: a key is only a claim until the ICV of a packet proves it.
//!
//! ```text
//! bytes → text (gzip, zstd, UTF-16) → unwrapped, as its writer had it → lines (in order, framing off) → formats → claims
//! ```
//!
//! Everything that people's tools put around a text (quotes, JSON, CSV, a page, a terminal's ends of lines, the newest line first) is taken off by
//! `lines::unwrap`, layer by layer, before any format sees a line: each layer decides by evidence over the whole text whether it is there, and a line keeps
//! its number in the file. Formats are tables of labels (`formats::listing`) or readers of dumps; they know nothing of wrappings. What they find is a claim.
//!
//! - [`reading`]: files, what lies beside a capture, and mining keys from text that no format knows.
//! - `lines`: from bytes to lines, and what is common in them (hex, fields, dumps).
//! - `formats`: one file or folder for each format, and their table.
//! - `material`: keys, seeds and blobs with their bounds: a [`KeyMaterial`].

mod formats;
mod lines;
mod material;
pub mod reading;

pub use crate::lines::encoding::utf8_text;
pub use crate::material::contents::{Blob, KeyFileInfo, KeyMaterial, KeyProblem, SaLifetime, SpiSighting};
pub use crate::material::contents::{
    LONGEST_LINE, MOST_BLOB_BYTES, MOST_BLOBS, MOST_ESP_KEYS, MOST_IKE_KEYS, MOST_PROBLEMS,
    MOST_SPI_SIGHTINGS, SHORTEST_BLOB,
};
pub use crate::material::index::EspKeyIndex;
pub use crate::material::key::{EspKey, IkeKey, IkeSecrets, KeyDefect, KeyOrigin, KeyRoad, Seed, SeedOf};
pub use crate::reading::beside::find_beside;
pub use crate::reading::pre_shared_key::read_pre_shared_key;
