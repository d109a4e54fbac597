//! The context of a message: time, frame, ends and ports; and who said something when.

use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// The context of a message.
#[derive(Debug, Clone, Copy)]
pub struct MessageContext {
    /// Frame number.
    pub frame: u64,
    /// Time.
    pub time: Timestamp,
    /// Sender, by the name of its end of the tunnel, wherever that end is now.
    pub src: IpAddr,
    /// Receiver, by the name of its end of the tunnel.
    pub dst: IpAddr,
    /// Outer source and destination of this packet.
    pub outer: (IpAddr, IpAddr),
    /// Ports.
    pub udp: UdpPorts,
    /// Number of IP packets that carried the message.
    pub ip_packets: u16,
}

impl MessageContext {
    /// Sender, frame and time of this message.
    pub(super) fn notice(&self) -> Notice {
        Notice {
            by: self.src,
            frame: self.frame,
            time: self.time,
        }
    }
}

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
