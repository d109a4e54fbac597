//! SAs, tunnels, and which key is proven for which SA.
//!
//! An SA is known by (destination, protocol, SPI), RFC 4301 §4.1; the same SPI towards another destination is another
//! SA, and the same triple may come again later as a new generation. A key is used only once the ICV of a packet proved
//! its integrity half and what packets decrypt to the other, within the error budget of the whole capture.

pub mod association;
pub mod budget;
pub mod database;
mod docket;
mod evidence;
#[cfg(test)]
mod measure;
pub mod mine;
#[cfg(test)]
mod proof_test;
pub mod prove;
pub mod renumbering;
pub mod seen;
pub mod sequence;
pub mod specimen;
pub mod step_back;
pub mod tunnel;
pub mod volume;
mod weigh;
pub mod whereabouts;
