//! Frame → [`Datagram`]: link types, then [`crate::layers`] to the packet that carries IPsec, fragments, UDP.

mod datagram;
mod decoder;
mod first_fragments;
mod fragments;
#[cfg(test)]
mod lab_test;
mod link;
pub mod tcp_stream;
#[cfg(test)]
mod tests;
mod transport;
mod tunnel;
#[cfg(test)]
mod walk_rate;
mod wifi;

pub use crate::layers::ip::Authentication;
pub use datagram::AH;
pub use datagram::{Datagram, DatagramKind, TcpSegment, UdpPorts};
pub use decoder::Framing;
pub use first_fragments::{CutPackets, FirstFragments};
pub use fragments::IncompleteIke;
