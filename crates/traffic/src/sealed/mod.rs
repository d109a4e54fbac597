//! Packets without a key, as they pass: data, and small ones that may answer it.

mod line;
mod sealed_traffic;

pub use line::{SealedLine, SealedPacket};
pub use sealed_traffic::SealedTraffic;
