//! The input: one inner packet as the wire had it.

mod tcp_header;
mod wire_packet;

pub(crate) use tcp_header::MOST_SACK_BLOCKS;
pub use tcp_header::{SackBlocks, TcpHeader};
pub use wire_packet::{EspNumber, FiveTuple, InnerPayload, Packet};
