//! Key files and logs → keys. One file per format; nothing in here decrypts: a key is only a claim until the ICV of a
//! packet proves it (in `sa`).
//!
//! ```text
//! bytes → lines (bounded) → order (`reverse` logs flipped) → outer (syslog framing off) → formats → sink → KeyMaterial
//! ```
//!
//! To add a format: write `name.rs` with a type that implements `KeyFormat`, and add its row to `formats.rs`.

mod algorithm_names;
mod beside;
mod bounds;
mod charon;
mod charon_child;
mod claim;
mod dump;
mod esp_sa;
mod fields;
mod format;
mod formats;
mod fortios;
mod hex;
mod ike_tables;
mod index;
mod key;
mod lines;
mod material;
mod mikrotik;
pub mod mine;
mod order;
mod outer;
mod pluto;
mod pre_shared_key;
mod racoon;
mod read;
mod setkey;
mod sink;
mod tcpdump;
mod xfrm;
mod yamaha;
mod yamaha_labels;
mod yamaha_records;
mod yamaha_show_sa;

pub use beside::find_beside;
pub use bounds::{
    LONGEST_LINE, MOST_BLOB_BYTES, MOST_BLOBS, MOST_ESP_KEYS, MOST_IKE_KEYS, MOST_PROBLEMS,
    MOST_SPI_SIGHTINGS, SHORTEST_BLOB,
};
pub use index::EspKeyIndex;
pub use key::{EspKey, IkeKey, IkeSecrets, KeyDefect, KeyOrigin, KeyRoad, Seed, SeedOf};
pub use material::{Blob, KeyFileInfo, KeyMaterial, KeyProblem, SpiSighting};
pub use pre_shared_key::read_pre_shared_key;
