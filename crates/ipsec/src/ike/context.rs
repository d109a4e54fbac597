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
    /// Sender: what its end of the tunnel is called, wherever it is now.
    pub src: IpAddr,
    /// Receiver, likewise.
    pub dst: IpAddr,
    /// Outer source and destination of this packet.
    pub outer: (IpAddr, IpAddr),
    /// Ports.
    pub udp: UdpPorts,
}
