//! SAs, tunnels, and which key is proven for which SA.
//!
//! An SA is known by (destination, protocol, SPI), RFC 4301 §4.1; the same SPI towards another destination is another
//! SA, and the same triple may come again later as a new generation. A key is used only once the ICV of a packet proved
//! it.

pub mod association;
pub mod database;
pub mod mine;
pub mod prove;
pub mod seen;
pub mod sequence;
pub mod tunnel;
