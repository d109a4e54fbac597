//! Answers of a walk: which layer comes next, what was found, why it stopped.

use crate::layers::ip::IpPacket;
use etherparse::IpNumber;
use rekeyscope_model::error::WireError;

/// Numbers from here on are control protocols: of a network layer first, then of the link (RFC 1661 §2).
pub(super) const FIRST_CONTROL: u16 = 0x8000;

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
    /// Ethernet inside (gretap, EtherIP, VXLAN, L2TPv3, bridged PPP, a pseudowire).
    pub const ETHERNET: Layers = Layers(32);
    /// IPComp.
    pub const IPCOMP: Layers = Layers(64);
    /// ESP inside ESP.
    pub const ESP: Layers = Layers(128);
    /// VXLAN.
    pub const VXLAN: Layers = Layers(256);
    /// Geneve.
    pub const GENEVE: Layers = Layers(512);
    /// GTP-U.
    pub const GTP: Layers = Layers(1024);

    /// Tells whether all of `other` is in here.
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
    /// A packet of PPPoE discovery with this code (RFC 2516 §5).
    Pppoe(u8),
}

/// The next layer, as the one before it names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// An IP protocol number announces it.
    Protocol(IpNumber),
    /// An EtherType announces it, or an IEEE 802.3 length.
    EtherType(u16),
    /// An Ethernet frame.
    Ethernet,
    /// An IEEE 802.2 LLC header.
    Llc,
    /// A PPPoE session header.
    Pppoe,
    /// A PPP frame.
    Ppp,
    /// An L2TP packet of either version in UDP.
    L2tp,
    /// An IP packet; its first nibble tells the version.
    Ip {
        /// Right behind a PPP header.
        in_ppp: bool,
    },
}

/// The place of an IP packet in what is walked over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Offset of its header from the start of the walk, bytes.
    pub at: usize,
    /// The length, or that of the layer around it if that is shorter.
    pub len: usize,
    /// The length of the layer around it from there on.
    pub room: usize,
    /// The layer around it is PPP.
    pub in_ppp: bool,
}

/// Result of [`Walk::next`](crate::layers::walk::Walk::next).
#[derive(Debug)]
pub enum Found<'a> {
    /// An IP packet. The walk stands behind its header, extension headers and AH.
    Ip(IpPacket<'a>, Place),
    /// A protocol that is no tunnel. The walk stands at its header.
    Upper(IpNumber),
    /// Data compressed with DEFLATE (RFC 2394) that holds this protocol.
    Deflated(IpNumber),
}

/// Why a walk leads on to no packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The next layer is something else, by name.
    Other(&'static str),
    /// A control message of the tunnel.
    Control(Control),
    /// The header cannot be read.
    Broken(WireError),
}

impl Stop {
    /// The name under which the stop is counted.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Other(name) => name,
            Stop::Control(Control::L2tp(_)) => "L2TP control",
            Stop::Control(Control::Pppoe(_)) => "PPPoE discovery",
            Stop::Control(Control::Ppp { protocol, .. }) => control_name(protocol),
            Stop::Broken(error) => error.layer,
        }
    }
}

/// One step of a walk.
#[derive(Debug)]
pub(super) enum LayerStep<'a> {
    Below(Layer),
    Found(Found<'a>),
}

pub(super) fn control_name(protocol: u16) -> &'static str {
    match protocol {
        FIRST_CONTROL..=0xbfff => "PPP network control",
        0xc021 => "PPP LCP",
        0xc023 | 0xc223 | 0xc227 => "PPP authentication",
        _ => "PPP link control",
    }
}
