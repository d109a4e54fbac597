//! Packets that are no ESP and stand among ESP packets. They are looked at in their place, when the packets before them were accounted for.

use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// Something that is no ESP packet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Marked {
    /// An IKE message.
    Ike(IkeMark),
    /// A packet that is neither IPsec nor IKE.
    Clear(ClearMark),
}

/// An IKE message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IkeMark {
    pub(crate) tunnel: TunnelIndex,
    /// Index of its exchange.
    pub(crate) exchange: usize,
    pub(crate) time: Timestamp,
    pub(crate) part: IkePart,
}

/// The part of an exchange that a message is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IkePart {
    /// The first of an exchange that makes child SAs, and how many SAs its tunnel had.
    Opening { sas: usize },
    /// A further one.
    Further,
}

/// A packet in clear.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClearMark {
    /// Source and destination.
    pub(crate) ends: (IpAddr, IpAddr),
    /// IP bytes.
    pub(crate) bytes: u32,
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
}
