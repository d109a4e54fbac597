//! Who said something, and when.

use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// Who said something, and when.
#[derive(Debug, Clone, Copy)]
pub struct Notice {
    /// Sender.
    pub by: IpAddr,
    /// Frame.
    pub frame: u64,
    /// Time.
    pub time: Timestamp,
}
