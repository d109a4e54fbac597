//! The circumstances of a message.

use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// Where a message was seen.
#[derive(Debug, Clone, Copy)]
pub struct MessageContext {
    /// Frame number.
    pub frame: u64,
    /// Time.
    pub time: Timestamp,
    /// Outer source.
    pub src: IpAddr,
    /// Outer destination.
    pub dst: IpAddr,
    /// Ports.
    pub udp: UdpPorts,
}
