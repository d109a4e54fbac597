//! Overhead of ESP in bytes: sizes of packets from the lengths that the RFCs fix, no packet needed. RFC 4303 §2 (header,
//! padding, trailer, ICV), RFC 3948 §2.1 (UDP), and the transform's own RFC for its IV, block and ICV.

mod plan;
mod sizes;
mod suite;

pub use plan::{ENCAPSULATIONS, Plan};
pub use rekeyscope_model::analysis::Mode;
pub use sizes::{EspSizes, Fragments, Split, mss};
pub use sizes::{IPV4_HEADER, IPV6_HEADER, UDP_HEADER};
pub use suite::Suite;
