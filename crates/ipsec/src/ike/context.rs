//! The circumstances of a message.

use crate::ike::notice::Notice;
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
    /// IP packets that it came in.
    pub ip_packets: u16,
}

impl MessageContext {
    /// What its sender says with it.
    pub(super) fn notice(&self) -> Notice {
        Notice {
            by: self.src,
            frame: self.frame,
            time: self.time,
        }
    }
}
