//! SHA-1 and SHA-256 as lanes take them.

mod lane_hash;

pub use lane_hash::{Block, Chain, LANES, LaneHash, Messages, States};
