//! Key files and logs → keys. One file per format; nothing in here decrypts: a key is only a claim until the ICV of a
//! packet proves it (in `sa`).
//!
//! ```text
//! bytes → lines (bounded) → order (`reverse` logs flipped) → outer (syslog framing off) → formats → sink → KeyMaterial
//! ```
//!
//! To add a format: write `name.rs` with a type that implements `KeyFormat`, and add its row to `formats.rs`.

pub mod formats;
pub mod lines;
pub mod material;
pub mod reading;

pub use crate::material::bounds::{
    LONGEST_LINE, MOST_BLOB_BYTES, MOST_BLOBS, MOST_ESP_KEYS, MOST_IKE_KEYS, MOST_PROBLEMS,
    MOST_SPI_SIGHTINGS, SHORTEST_BLOB,
};
pub use crate::material::index::EspKeyIndex;
pub use crate::material::key::{EspKey, IkeKey, IkeSecrets, KeyDefect, KeyOrigin, KeyRoad, Seed, SeedOf};
pub use crate::material::material::{Blob, KeyFileInfo, KeyMaterial, KeyProblem, SpiSighting};
pub use crate::reading::beside::find_beside;
pub use crate::reading::pre_shared_key::read_pre_shared_key;
