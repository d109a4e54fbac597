//! SHA-1 and SHA-256 as lanes take them.

mod lane_hash;
// Only processors with lanes have rounds.
#[cfg(any(target_arch = "x86_64", target_arch = "wasm32"))]
#[macro_use]
pub(crate) mod rounds;
mod state;

pub use lane_hash::{Block, Chain, LaneHash};
pub use state::{Compress, Messages, States};
