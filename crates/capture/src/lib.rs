//! Bytes → frames → datagrams.
//!
//! ```text
//! file → Frame → framing ⇄ layers → Datagram
//! ```
//!
//! - [`file`]: containers (pcap, pcapng), compression, pipes, clocks of interfaces, and writing a capture again.
//! - [`join`]: many files, one timeline.
//! - [`framing`]: a frame becomes the [`framing::Datagram`] that carries IPsec: fragments, UDP, IKE and ESP in TCP (RFC 9329).
//! - [`layers`]: the one walker through link layers and tunnels, around ESP and inside it.

pub mod file;
pub mod framing;
pub mod join;
pub mod layers;
