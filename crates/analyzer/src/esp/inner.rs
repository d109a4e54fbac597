//! What is inside a decrypted ESP payload: one recursive walker over tunnel mode, L2TP, PPP, GRE, IPIP, … down to the
//! transport header.

use std::net::IpAddr;

/// Bytes of payload that the walker wants to see; enough for every header stack within [`MAX_DEPTH`].
pub const PREFIX: usize = 192;
/// Deepest nesting.
pub const MAX_DEPTH: usize = 8;

/// An inner transport flow, one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// IP protocol number.
    pub protocol: u8,
    /// Inner source.
    pub src: IpAddr,
    /// Inner destination.
    pub dst: IpAddr,
    /// Source port; 0 where the protocol has none.
    pub src_port: u16,
    /// Destination port; 0 where the protocol has none.
    pub dst_port: u16,
}

/// A TCP segment's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpSegment {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags byte (FIN 1, SYN 2, RST 4, PSH 8, ACK 16).
    pub flags: u8,
    /// Window field, unscaled.
    pub window: u16,
    /// Number of SACK blocks.
    pub sack_blocks: u8,
}

/// The tunnel protocols on the way down, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct Layers(pub u32);

impl Layers {
    /// Outer-most payload is an IP packet (tunnel mode).
    pub const TUNNEL_MODE: Layers = Layers(1);
    /// UDP port 1701.
    pub const L2TP: Layers = Layers(2);
    /// PPP.
    pub const PPP: Layers = Layers(4);
    /// GRE.
    pub const GRE: Layers = Layers(8);
    /// IP in IP, any versions.
    pub const IPIP: Layers = Layers(16);
    /// Ethernet inside (gretap, EtherIP, VXLAN, L2TPv3).
    pub const ETHERNET: Layers = Layers(32);
    /// IPComp.
    pub const IPCOMP: Layers = Layers(64);
    /// ESP inside ESP.
    pub const ESP: Layers = Layers(128);
    /// VXLAN.
    pub const VXLAN: Layers = Layers(256);

    /// Whether all of `other` is in here.
    pub fn contains(self, other: Layers) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub fn with(self, other: Layers) -> Layers {
        Layers(self.0 | other.0)
    }
}

/// Control traffic that matters for a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// An L2TP control message of this type (RFC 2661 §3.2; `None`: ZLB acknowledgement).
    L2tp(Option<u16>),
    /// A PPP control packet: protocol (0xc021 LCP, 0x8021 IPCP, …) and code.
    Ppp {
        /// PPP protocol number.
        protocol: u16,
        /// Code field.
        code: u8,
    },
}

/// What a payload holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inner {
    /// Tunnel protocols passed through.
    pub layers: Layers,
    /// Transport flow, when one was reached.
    pub flow: Option<FlowKey>,
    /// Transport payload bytes (as the inner headers declare them).
    pub transport_bytes: u32,
    /// TCP header.
    pub tcp: Option<TcpSegment>,
    /// Control message.
    pub control: Option<Control>,
    /// Length of the innermost IP packet.
    pub ip_bytes: u32,
    /// A non-first fragment of an inner packet: no ports, bytes counted as payload.
    pub fragment: bool,
    /// Name of the layer where the walk stopped without reaching transport; `None` when it reached it.
    pub stopped_at: Option<&'static str>,
}

/// Walks down from the ESP next header. `prefix` is the decrypted beginning of a payload of `payload_len` bytes.
/// Never fails: what is not understood is in [`Inner::stopped_at`].
pub fn walk(_next_header: u8, _prefix: &[u8], _payload_len: usize) -> Inner {
    unimplemented!()
}
