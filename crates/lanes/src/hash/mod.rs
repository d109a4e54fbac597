//! SHA-1 and SHA-256 as lanes take them.

mod lane_hash;
mod state;

pub use lane_hash::{Block, Chain, LaneHash};
pub use state::{Compress, Messages, States};
