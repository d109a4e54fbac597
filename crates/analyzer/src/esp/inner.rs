//! What is inside a decrypted ESP payload: one walker over tunnel mode, L2TP, PPP, GRE, IPIP, … down to the transport
//! header. Each layer's step lives with its protocol: [`ip`], [`tunnel`], [`ppp`], [`transport`].

pub(super) mod deflate;
mod ip;
mod ppp;
mod transport;
mod tunnel;

use crate::spi::Spi;
use std::net::IpAddr;

/// Bytes of payload that the walker wants to see; enough for every header stack within [`MAX_DEPTH`].
pub const PREFIX: usize = 192;
/// Where a walk stops at ESP inside ESP: another SA's packet.
pub const ESP_IN_ESP: &str = "ESP in ESP";
/// Deepest nesting of ESP that is followed; what is deeper counts as payload.
pub(crate) const MOST_NESTING: u8 = 4;
/// IKE, and ESP in UDP (RFC 7296 §2, RFC 3948).
const IPSEC_PORTS: [u16; 2] = [500, 4500];
/// Where a walk stops that has only a prefix of a compressed payload (RFC 3173) whose length shows at its end.
pub const WHOLE_PAYLOAD_NEEDED: &str = "IPComp (whole payload needed)";
/// Deepest nesting, counted in IP headers, Ethernet and PPP frames.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// Shift of the window scale option (RFC 7323 §2.2), on a SYN that has it.
    pub window_scale: Option<u8>,
    /// Maximum segment size option (RFC 9293 §3.7.1), on a SYN that has it.
    pub mss: Option<u16>,
    /// The sender's clock (TSval of the timestamps option, RFC 7323 §3), in ticks of its own.
    pub timestamp: Option<u32>,
}

impl TcpSegment {
    /// FIN flag.
    pub const FIN: u8 = 1;
    /// SYN flag.
    pub const SYN: u8 = 2;
    /// RST flag.
    pub const RST: u8 = 4;
    /// PSH flag.
    pub const PSH: u8 = 8;
    /// ACK flag.
    pub const ACK: u8 = 16;

    /// Whether all of `flags` are set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }
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

/// An authentication header inside a payload (RFC 4302 §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AhInside {
    /// SPI.
    pub spi: Spi,
    /// Sequence number field.
    pub sequence: u32,
    /// The beginning of its ICV.
    pub icv_begin: u64,
    /// Bytes from its header to the end of its packet.
    pub bytes: u32,
    /// Of the IP header before it; `None` right behind ESP where the outer ends are not known.
    pub ends: Option<(IpAddr, IpAddr)>,
}

/// What a payload holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inner {
    /// Tunnel protocols passed through.
    pub layers: Layers,
    /// Transport flow, when one was reached.
    pub flow: Option<FlowKey>,
    /// Transport payload bytes (as the inner headers declare them). Where the walk stopped short of transport, what is
    /// left from there on; 0 for control messages.
    pub transport_bytes: u32,
    /// TCP header.
    pub tcp: Option<TcpSegment>,
    /// Control message.
    pub control: Option<Control>,
    /// Length of the innermost IP packet.
    pub ip_bytes: u32,
    /// Where the innermost IP header begins in the payload; `None` where there is none, or it lies in compressed data.
    pub ip_at: Option<u16>,
    /// A non-first fragment of an inner packet: no ports, bytes counted as payload.
    pub fragment: bool,
    /// Where in the payload the first IP packet inside PPP begins; `None` without one, or behind compression.
    pub ip_in_ppp_at: Option<u16>,
    /// The first authentication header on the way; rare, so on the heap, where it makes no other packet larger.
    pub ah: Option<Box<AhInside>>,
    /// Tunnel mode: bytes of the payload after the inner packet's end (traffic flow confidentiality padding, RFC 4303
    /// §2.7).
    pub tfc_padding: u32,
    /// Name of the layer where the walk stopped without reaching transport; `None` when it reached it.
    pub stopped_at: Option<&'static str>,
}

impl Inner {
    /// ESP, a piece of ESP, or UDP of IKE and ESP: these ports beside their own.
    pub(crate) fn carries_ipsec(&self, esp_ports: &[u16]) -> bool {
        let of_ipsec = |port: u16| IPSEC_PORTS.contains(&port) || esp_ports.contains(&port);
        let flow = self.flow.is_some_and(|flow| match flow.protocol {
            ip::PROTOCOL_UDP => of_ipsec(flow.src_port) || of_ipsec(flow.dst_port),
            protocol => protocol == ip::PROTOCOL_ESP && self.fragment,
        });
        flow || self.stopped_at == Some(ESP_IN_ESP)
    }
}

/// Walks down from the ESP next header. `prefix` is the decrypted beginning of a payload of `payload_len` bytes.
/// `outer`: source and destination of the outer IP header, which are the flow's own in transport mode; without them a
/// transport header right behind ESP has no flow. Never fails: what is not understood is in [`Inner::stopped_at`].
///
/// IPComp in transport mode is the one thing that needs the whole payload: the length of a compressed TCP segment is
/// known at its end only. Given a prefix, the walk stops at [`WHOLE_PAYLOAD_NEEDED`].
pub fn walk(next_header: u8, prefix: &[u8], payload_len: usize, outer: Option<(IpAddr, IpAddr)>) -> Inner {
    let mut inner = Inner::default();
    if matches!(next_header, ip::PROTOCOL_IPV4 | ip::PROTOCOL_IPV6) {
        inner.layers = Layers::TUNNEL_MODE;
    }
    Walk {
        bytes: prefix,
        len: payload_len,
        addresses: outer,
        depth: 0,
        at: Some(0),
        inner,
    }
    .down(Layer::Protocol(next_header))
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// An IP protocol number.
    Protocol(u8),
    /// What an EtherType announces.
    EtherType(u16),
    /// An Ethernet frame.
    Ethernet,
    /// An L2TP packet.
    L2tp,
    /// A VXLAN packet.
    Vxlan,
    /// A PPP frame.
    Ppp,
    /// DEFLATE data that holds this IP protocol.
    Deflated(u8),
}

/// The next layer; `None` when transport was reached. The error names the layer where the walk stops.
type Step = Result<Option<Layer>, &'static str>;

/// Where the walk is.
struct Walk<'a> {
    /// What was decrypted of the current layer.
    bytes: &'a [u8],
    /// How long the current layer is by the headers above it: at least as long as `bytes`.
    len: usize,
    /// Source and destination of the innermost IP header so far.
    addresses: Option<(IpAddr, IpAddr)>,
    depth: usize,
    /// How far the current layer begins behind the payload's first byte; `None` in decompressed data.
    at: Option<u32>,
    inner: Inner,
}

impl<'a> Walk<'a> {
    fn down(mut self, mut layer: Layer) -> Inner {
        loop {
            if let Layer::Deflated(protocol) = layer {
                return self.down_inflated(protocol);
            }
            match self.step(layer) {
                Ok(Some(below)) => layer = below,
                Ok(None) => return self.inner,
                Err(name) => return self.stop(name),
            }
        }
    }

    /// Where the current layer begins, as it is handed on: headers do not fill 64 kB.
    fn header_at(&self) -> Option<u16> {
        self.at.and_then(|at| u16::try_from(at).ok())
    }

    /// The walk ends short of transport: what is left counts as payload, unless it is a control message.
    fn stop(mut self, name: &'static str) -> Inner {
        self.inner.stopped_at = Some(name);
        if self.inner.control.is_none() {
            self.inner.transport_bytes = self.bytes_left();
        }
        self.inner
    }

    fn step(&mut self, layer: Layer) -> Step {
        match layer {
            Layer::Protocol(number) => self.protocol(number),
            Layer::EtherType(number) => self.ether_type(number),
            Layer::Ethernet => self.ethernet(),
            Layer::L2tp => self.l2tp(),
            Layer::Vxlan => self.vxlan(),
            Layer::Ppp => self.ppp(),
            Layer::Deflated(_) => Err("IPComp"),
        }
    }

    /// The first `N` bytes of the current layer, without moving on.
    fn peek<const N: usize>(&self) -> Option<&'a [u8; N]> {
        self.bytes.first_chunk()
    }

    /// Moves `n` bytes on; `None`, and nothing moves, when the layer is shorter.
    fn skip(&mut self, n: usize) -> Option<()> {
        self.bytes = self.bytes.get(n..)?;
        self.len = self.len.saturating_sub(n);
        self.at = self.at.and_then(|at| at.checked_add(u32::try_from(n).ok()?));
        Some(())
    }

    /// The next `N` bytes, moving on.
    fn take<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let taken = self.peek()?;
        self.skip(N)?;
        Some(taken)
    }

    /// Cuts the current layer to `len` bytes, as a header above it declares.
    fn cut_to(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.bytes = self.bytes.get(..self.len).unwrap_or(self.bytes);
    }

    /// Enters one more level of nesting.
    fn descend(&mut self, through: Layers) -> Result<(), &'static str> {
        self.inner.layers = self.inner.layers.with(through);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            Err("nesting limit")
        } else {
            Ok(())
        }
    }

    /// An IP packet begins here, inside PPP.
    fn note_ip_in_ppp(&mut self) {
        if self.inner.ip_in_ppp_at.is_none() && !self.inner.layers.contains(Layers::IPCOMP) {
            self.inner.ip_in_ppp_at = self.header_at();
        }
    }

    fn bytes_left(&self) -> u32 {
        u32::try_from(self.len).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests;
