//! The walk from layer to layer, down to the next IP header or to where no tunnel leads on; and the place of it: the bytes of the
//! current layer, how long it is, and how deep it lies.

use crate::layers::ip;
use crate::layers::layer::{Found, Layer, LayerStep, Layers, Place, Stop};
use etherparse::{IpNumber, ip_number};
use rekeyscope_model::error::WireError;

/// Deepest nesting of one walk, counted in IP headers, Ethernet and PPP frames: five of the tunnels that need three of them.
pub const MAX_DEPTH: usize = 16;
/// Most VLAN tags and MPLS labels of one walk that are stepped over.
pub(crate) const MOST_HEADERS: usize = 32;

/// The walk's present state.
#[derive(Debug, Clone, Copy)]
pub struct Walk<'a> {
    pub(super) bytes: &'a [u8],
    /// Length of the current layer by the headers above it: at least that of `bytes`.
    pub(super) len: usize,
    /// Bytes between the first byte of the walk and the current layer.
    pub(super) at: usize,
    pub(super) depth: usize,
    headers: usize,
    passed: Layers,
}

impl<'a> Walk<'a> {
    /// Begins at the first of `bytes`, the beginning of a layer of `len` bytes.
    #[inline]
    pub fn new(bytes: &'a [u8], len: usize) -> Self {
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
    pub fn inflated<'b>(&self, bytes: &'b [u8], len: usize) -> Result<Walk<'b>, Stop> {
        let mut walk = Walk {
            bytes,
            len: len.max(bytes.len()),
            at: 0,
            ..*self
        };
        walk.descend(Layers::IPCOMP)?;
        Ok(walk)
    }

    /// The captured bytes of the current layer.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The length of the current layer by the headers above it.
    pub fn layer_len(&self) -> usize {
        self.len
    }

    /// Bytes between the first byte of the walk and the current layer.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The tunnels that were passed through.
    pub fn passed(&self) -> Layers {
        self.passed
    }

    pub(super) fn pass(&mut self, through: Layers) {
        self.passed = self.passed.with(through);
    }

    /// The first `N` bytes of the current layer, without moving on.
    pub(crate) fn peek<const N: usize>(&self, layer: &'static str) -> Result<&'a [u8; N], Stop> {
        self.bytes.first_chunk().ok_or_else(|| self.short(layer, N))
    }

    /// Moves `n` bytes on.
    pub fn skip(&mut self, layer: &'static str, n: usize) -> Result<(), Stop> {
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
    pub fn short(&self, layer: &'static str, required: usize) -> Stop {
        Stop::Broken(WireError {
            layer,
            offset: self.at,
            required,
            available: self.bytes.len(),
        })
    }

    /// Cuts the current layer to `len` bytes, as a header above it declares.
    pub(super) fn cut_to(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.bytes = self.bytes.get(..self.len).unwrap_or(self.bytes);
    }

    /// Enters one more level of nesting.
    pub(super) fn descend(&mut self, through: Layers) -> Result<(), Stop> {
        self.pass(through);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            Err(Stop::Other("too many layers"))
        } else {
            Ok(())
        }
    }

    /// Steps over one more header of a kind that is stacked.
    pub(super) fn stacked(&mut self, name: &'static str) -> Result<(), Stop> {
        self.headers += 1;
        if self.headers > MOST_HEADERS {
            Err(Stop::Other(name))
        } else {
            Ok(())
        }
    }

    /// Goes to the next IP header, or as far as tunnels lead.
    ///
    /// # Errors
    /// [`Stop`] when no packet is below.
    #[inline]
    pub fn next(&mut self, mut layer: Layer) -> Result<Found<'a>, Stop> {
        loop {
            match self.step(layer)? {
                LayerStep::Below(below) => layer = below,
                LayerStep::Found(found) => return Ok(found),
            }
        }
    }

    #[inline]
    fn step(&mut self, layer: Layer) -> Result<LayerStep<'a>, Stop> {
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

    #[inline]
    fn protocol(&mut self, number: IpNumber) -> Result<LayerStep<'a>, Stop> {
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
            other => Ok(LayerStep::Found(Found::Upper(other))),
        }
    }

    /// An IP packet, whichever version the layer above has announced: senders get that wrong.
    #[inline]
    pub(super) fn ip(&mut self, in_ppp: bool) -> Result<LayerStep<'a>, Stop> {
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
        Ok(LayerStep::Found(Found::Ip(packet, place)))
    }
}
