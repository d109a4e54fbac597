//! What is inside a decrypted ESP payload, down to the transport header: [`crate::layers`] walks through the tunnels, here is
//! noted what they say, and the header where the walk ends is read.

mod transport;

pub use crate::layers::{Control, Layers, MAX_DEPTH};
use crate::layers::{Found, Layer, Place, Stop, Walk, deflate, ip, ip::IpPacket};
use crate::spi::Spi;
use etherparse::{IpNumber, ip_number};
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
        let flow = self.flow.is_some_and(|flow| match IpNumber(flow.protocol) {
            ip_number::UDP => of_ipsec(flow.src_port) || of_ipsec(flow.dst_port),
            protocol => protocol == ip_number::ENCAPSULATING_SECURITY_PAYLOAD && self.fragment,
        });
        flow || self.stopped_at == Some(ESP_IN_ESP)
    }

    /// Keeps the first authentication header of several: `bytes` from its start, of which `wire_len` were sent.
    fn note_ah(&mut self, bytes: &[u8], wire_len: u32, ends: Option<(IpAddr, IpAddr)>) {
        let Some(&[_, _, _, _, s0, s1, s2, s3, n0, n1, n2, n3, ref icv @ ..]) = bytes.first_chunk::<20>()
        else {
            return;
        };
        self.ah.get_or_insert_with(|| {
            Box::new(AhInside {
                spi: Spi(u32::from_be_bytes([s0, s1, s2, s3])),
                sequence: u32::from_be_bytes([n0, n1, n2, n3]),
                icv_begin: u64::from_be_bytes(*icv),
                bytes: wire_len,
                ends,
            })
        });
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
    if matches!(IpNumber(next_header), ip_number::IPV4 | ip_number::IPV6) {
        inner.layers = Layers::TUNNEL_MODE;
    }
    Descent {
        walk: Walk::new(prefix, payload_len),
        ends: outer,
        inflated: false,
        inner,
    }
    .down(IpNumber(next_header))
}

/// Where the walk is.
struct Descent<'a> {
    walk: Walk<'a>,
    /// Source and destination of the innermost IP header so far.
    ends: Option<(IpAddr, IpAddr)>,
    /// What is walked over was compressed: its places are not the payload's.
    inflated: bool,
    inner: Inner,
}

impl Descent<'_> {
    fn down(mut self, mut protocol: IpNumber) -> Inner {
        loop {
            let below = match self.walk.next(Layer::Protocol(protocol)) {
                Ok(Found::Ip(packet, place)) => {
                    self.enter(&packet, place);
                    if packet.piece.is_some_and(|piece| piece.offset > 0) {
                        self.inner.fragment = true;
                        let len = self.walk.len();
                        return self.reached(packet.protocol, (0, 0), len);
                    }
                    Ok(packet.protocol)
                }
                Ok(Found::Upper(ip_number::AUTHENTICATION_HEADER)) => self.authentication_header(),
                Ok(Found::Upper(protocol)) => return self.transport(protocol),
                Ok(Found::Deflated(protocol)) => return self.down_inflated(protocol),
                Err(stop) => Err(stop),
            };
            match below {
                Ok(below) => protocol = below,
                Err(stop) => return self.stop(stop),
            }
        }
    }

    /// An IP packet begins.
    fn enter(&mut self, packet: &IpPacket<'_>, place: Place) {
        // Headers do not fill 64 kB.
        let at = u16::try_from(place.at).ok().filter(|_| !self.inflated);
        self.ends = Some((packet.src, packet.dst));
        self.inner.ip_at = at;
        self.inner.ip_bytes = saturated(place.len);
        if place.in_ppp && self.inner.ip_in_ppp_at.is_none() {
            self.inner.ip_in_ppp_at = at;
        }
        if at == Some(0) && self.inner.layers.contains(Layers::TUNNEL_MODE) {
            self.inner.tfc_padding = saturated(place.room - place.len);
        }
        if let Some(ah) = packet.ah {
            self.inner.note_ah(ah.bytes, ah.wire_len, self.ends);
        }
    }

    /// Right behind ESP or another tunnel, without an IP header before it.
    fn authentication_header(&mut self) -> Result<IpNumber, Stop> {
        let header = ip::authentication_header(self.walk.bytes()).map_err(Stop::Broken)?;
        self.inner
            .note_ah(self.walk.bytes(), saturated(self.walk.len()), self.ends);
        self.walk.skip("AH", header.slice().len())?;
        Ok(header.next_header())
    }

    fn down_inflated(self, protocol: IpNumber) -> Inner {
        let (bytes, len) = (self.walk.bytes(), self.walk.len());
        let mut prefix = [0; PREFIX];
        let Some(inflated) = deflate::inflate(bytes, bytes.len() >= len, &mut prefix) else {
            return self.stop(Stop::Other("IPComp"));
        };
        let len = match inflated.whole_len {
            Some(len) => len,
            // The IP header inside says how long it is.
            None if matches!(protocol, ip_number::IPV4 | ip_number::IPV6) => deflate::MOST_INFLATED,
            None => return self.stop(Stop::Other(WHOLE_PAYLOAD_NEEDED)),
        };
        let prefix = prefix.get(..inflated.filled).unwrap_or_default();
        match self.walk.inflated(prefix, len) {
            Ok(walk) => Descent {
                walk,
                ends: self.ends,
                inflated: true,
                inner: self.inner,
            }
            .down(protocol),
            Err(stop) => self.stop(stop),
        }
    }

    /// The walk ends short of transport: what is left counts as payload, unless it is a control message.
    fn stop(mut self, stop: Stop) -> Inner {
        self.inner.layers = self.inner.layers.with(self.walk.passed());
        self.inner.stopped_at = Some(stop.name());
        match stop {
            Stop::Control(control) => self.inner.control = Some(control),
            _ => self.inner.transport_bytes = saturated(self.walk.len()),
        }
        self.inner
    }

    /// Ends the walk at a flow. Without addresses (transport mode, outer ones not given) there is no flow.
    fn reached(mut self, protocol: IpNumber, (src_port, dst_port): (u16, u16), payload: usize) -> Inner {
        self.inner.layers = self.inner.layers.with(self.walk.passed());
        self.inner.transport_bytes = saturated(payload);
        self.inner.flow = self.ends.map(|(src, dst)| FlowKey {
            protocol: protocol.0,
            src,
            dst,
            src_port,
            dst_port,
        });
        self.inner
    }
}

fn saturated(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
