//! The tracker: packets in the order of the capture → segments and settlements.

mod associations;
mod connection;
mod packet_tracker;

pub(crate) use connection::Unanswered;
pub use connection::{BESIDE_RECEIVER, Preview, SenderState, Tap};
pub use packet_tracker::Tracker;
