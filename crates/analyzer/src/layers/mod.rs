//! One walker over everything that encloses a packet: link layers, tunnels, mirror headers. [`crate::framing`] goes from a
//! frame to the packet that carries IPsec, [`crate::esp::inner`] from the next header of ESP to the transport header; a layer
//! is read the same way for both.
//!
//! [`Walk::next`] leads to the next IP header, or to where no tunnel leads on. It is a loop, not a recursion: layers can enclose
//! one another in a circle, which ends at [`MAX_DEPTH`] or [`MOST_HEADERS`] and costs no stack.

pub(crate) mod deflate;
mod ethernet;
pub(crate) mod ip;
mod l2tp;
mod ppp;
mod tunnel;
mod udp;

use crate::error::WireError;
use etherparse::{IpNumber, ip_number};
use ip::IpPacket;

/// Deepest nesting, counted in IP headers, Ethernet and PPP frames.
pub const MAX_DEPTH: usize = 8;
/// Most VLAN tags and MPLS labels of one packet that are stepped over.
pub(crate) const MOST_HEADERS: usize = 32;

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

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// What an IP protocol number announces.
    Protocol(IpNumber),
    /// What an EtherType announces, or an IEEE 802.3 length.
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

/// Where an IP packet is in what is walked over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where its header begins, in bytes from the start of the walk.
    pub(crate) at: usize,
    /// Its length, or that of the layer around it if that is shorter.
    pub(crate) len: usize,
    /// The length of the layer around it from there on.
    pub(crate) room: usize,
    /// The layer around it is PPP.
    pub(crate) in_ppp: bool,
}

/// Where [`Walk::next`] led.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// To an IP packet. The walk stands behind its header, extension headers and AH.
    Ip(IpPacket<'a>, Place),
    /// To a protocol that is no tunnel. The walk stands at its header.
    Upper(IpNumber),
    /// To data compressed with DEFLATE (RFC 2394) that holds this protocol.
    Deflated(IpNumber),
}

/// Why a walk leads on to no packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The next layer is something else, by name.
    Other(&'static str),
    /// It is a control message of the tunnel.
    Control(Control),
    /// Its header cannot be read.
    Broken(WireError),
}

impl Stop {
    /// What the walk stopped at, as it is counted.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stop::Other(name) => name,
            Stop::Control(Control::L2tp(_)) => "L2TP control",
            Stop::Control(Control::Ppp { protocol, .. }) => ppp::control_name(protocol),
            Stop::Broken(error) => error.layer,
        }
    }
}

/// One step of [`Walk::next`].
#[derive(Debug)]
enum Step<'a> {
    Below(Layer),
    Found(Found<'a>),
}

/// Where the walk is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk<'a> {
    /// What was captured, or decrypted, of the current layer.
    bytes: &'a [u8],
    /// How long the current layer is by the headers above it: at least as long as `bytes`.
    len: usize,
    /// How far the current layer begins behind the first byte.
    at: usize,
    depth: usize,
    headers: usize,
    passed: Layers,
}

impl<'a> Walk<'a> {
    /// Begins at the first of `bytes`, the beginning of a layer of `len` bytes.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], len: usize) -> Self {
        Walk {
            bytes,
            len: len.max(bytes.len()),
            at: 0,
            depth: 0,
            headers: 0,
            passed: Layers::default(),
        }
    }

    /// Goes on in `bytes`, which the current layer was inflated to.
    ///
    /// # Errors
    /// [`Stop::Other`] when that is too deep.
    pub(crate) fn inflated<'b>(&self, bytes: &'b [u8], len: usize) -> Result<Walk<'b>, Stop> {
        let mut walk = Walk {
            bytes,
            len: len.max(bytes.len()),
            at: 0,
            ..*self
        };
        walk.descend(Layers::IPCOMP)?;
        Ok(walk)
    }

    /// Goes to the next IP header, or as far as tunnels lead.
    ///
    /// # Errors
    /// [`Stop`] when no packet is below.
    #[inline]
    pub(crate) fn next(&mut self, mut layer: Layer) -> Result<Found<'a>, Stop> {
        loop {
            match self.step(layer)? {
                Step::Below(below) => layer = below,
                Step::Found(found) => return Ok(found),
            }
        }
    }

    #[inline]
    fn step(&mut self, layer: Layer) -> Result<Step<'a>, Stop> {
        match layer {
            Layer::Ip { in_ppp } => self.ip(in_ppp),
            Layer::EtherType(number) => self.ether_type(number),
            Layer::Ethernet => self.ethernet(),
            Layer::Protocol(number) => self.protocol(number),
            Layer::Llc => self.llc(),
            Layer::Pppoe => self.pppoe(),
            Layer::Ppp => self.ppp(),
            Layer::L2tp => self.l2tp(),
        }
    }

    /// What an IP protocol number (or ESP next header) announces.
    #[inline]
    fn protocol(&mut self, number: IpNumber) -> Result<Step<'a>, Stop> {
        match number {
            ip_number::IPV4 | ip_number::IPV6 => {
                if self.depth > 0 {
                    self.pass(Layers::IPIP);
                }
                self.ip(false)
            }
            ip_number::UDP => self.udp(),
            ip_number::GRE => self.gre(),
            ip_number::ETHER_IP => self.ether_ip(),
            ip_number::MPLS_IN_IP => self.mpls(),
            ip_number::LAYER2_TUNNELING_PROTOCOL => self.l2tpv3(),
            ip_number::IP_COMP => self.ip_comp(),
            other => Ok(Step::Found(Found::Upper(other))),
        }
    }

    /// An IP packet, whichever version the layer above has announced: senders get that wrong.
    #[inline]
    fn ip(&mut self, in_ppp: bool) -> Result<Step<'a>, Stop> {
        self.descend(Layers::default())?;
        let (at, room) = (self.at, self.len);
        let packet = ip::packet(self.bytes, u32::try_from(room).unwrap_or(u32::MAX)).map_err(Stop::Broken)?;
        let len = room.min(packet.total_len as usize);
        let headers = packet.total_len.saturating_sub(packet.payload_len) as usize;
        self.bytes = packet.payload;
        self.len = len.saturating_sub(headers).max(self.bytes.len());
        self.at += headers;
        let place = Place {
            at,
            len,
            room,
            in_ppp,
        };
        Ok(Step::Found(Found::Ip(packet, place)))
    }

    /// What is there of the current layer.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The length of the current layer by the headers above it.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The tunnels that were passed through.
    pub(crate) fn passed(&self) -> Layers {
        self.passed
    }

    fn pass(&mut self, through: Layers) {
        self.passed = self.passed.with(through);
    }

    /// The first `N` bytes of the current layer, without moving on.
    pub(crate) fn peek<const N: usize>(&self, layer: &'static str) -> Result<&'a [u8; N], Stop> {
        self.bytes.first_chunk().ok_or_else(|| self.short(layer, N))
    }

    /// Moves `n` bytes on.
    pub(crate) fn skip(&mut self, layer: &'static str, n: usize) -> Result<(), Stop> {
        self.bytes = self.bytes.get(n..).ok_or_else(|| self.short(layer, n))?;
        self.len -= n;
        self.at += n;
        Ok(())
    }

    /// The next `N` bytes, moving on.
    pub(crate) fn take<const N: usize>(&mut self, layer: &'static str) -> Result<&'a [u8; N], Stop> {
        let taken = self.peek(layer)?;
        self.skip(layer, N)?;
        Ok(taken)
    }

    /// The next two bytes as a number, moving on.
    pub(crate) fn take_u16(&mut self, layer: &'static str) -> Result<u16, Stop> {
        self.take(layer).map(|bytes| u16::from_be_bytes(*bytes))
    }

    /// Fewer bytes than `required` are there.
    #[cold]
    pub(crate) fn short(&self, layer: &'static str, required: usize) -> Stop {
        Stop::Broken(WireError {
            layer,
            offset: self.at,
            required,
            available: self.bytes.len(),
        })
    }

    /// Cuts the current layer to `len` bytes, as a header above it declares.
    fn cut_to(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.bytes = self.bytes.get(..self.len).unwrap_or(self.bytes);
    }

    /// Enters one more level of nesting.
    fn descend(&mut self, through: Layers) -> Result<(), Stop> {
        self.pass(through);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            Err(Stop::Other("too many layers"))
        } else {
            Ok(())
        }
    }

    /// Steps over one more header of a kind that is stacked.
    fn stacked(&mut self, name: &'static str) -> Result<(), Stop> {
        self.headers += 1;
        if self.headers > MOST_HEADERS {
            Err(Stop::Other(name))
        } else {
            Ok(())
        }
    }
}
