//! Synthetic captures: a virtual clock, a sender and a receiver that do what a scenario tells them, and real encryption.
//! Constructed, not recorded: what happens is exactly what the scenario says.
//!
//! L2TP/IPsec in transport mode: Ethernet, IPv4, ESP (AES-128-CBC, HMAC-SHA1-96) of UDP 1701, L2TP, PPP, IPv4, TCP. A download
//! from the server at 10.9.0.1 to the client at 10.9.0.2 (an upload too, where a scenario asks for it), captured at the server;
//! round trip [`RTT`]. IKEv1 messages are encrypted with a phase-1 key (AES-128-CBC). Phase 1 itself is not in the capture, so
//! first blocks cannot be read, which is enough for SPIs, lifetimes and Deletes. Nor is the beginning of an IKEv2 SA.

mod control;
mod download;
mod failure;
mod ikev1;
mod ikev2;
mod packets;
mod reno;
mod sa;
mod upload;
mod world;
mod write;

pub use ikev1::QuickMode;
pub use ikev2::ChildRekey;
pub use reno::Reno;
pub use sa::{Carried, Sa};
pub use world::{MILLI, RTT, SEGMENT, TICK, World};
