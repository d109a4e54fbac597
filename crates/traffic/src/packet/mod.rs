//! The input: one inner packet as the wire had it.

mod wire_packet;

pub use rekeyscope_model::flow::{FiveTuple, MOST_SACK_BLOCKS, SackBlocks, TcpHeader};
pub use wire_packet::{EspNumber, InnerPayload, Packet, PacketForm};
