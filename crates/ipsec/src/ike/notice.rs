//! Sender, frame and time of a statement.

use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// Sender, frame and time of a statement.
#[derive(Debug, Clone, Copy)]
pub struct Notice {
    /// Sender.
    pub by: IpAddr,
    /// Frame.
    pub frame: u64,
    /// Time.
    pub time: Timestamp,
}
