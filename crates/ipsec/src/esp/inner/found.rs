//! The finds of a walk through an ESP payload.

use etherparse::{IpNumber, ip_number};
use rekeyscope_capture::layers::udp::is_ipsec_port;
use rekeyscope_capture::layers::{Control, IcmpError, Layers};
use rekeyscope_model::flow::{FiveTuple, TcpHeader};
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;

/// Bytes of payload that the walker wants to see: more than nearly every stack of headers. Where it is not
/// ([`Inner::prefix_too_short`]), the whole payload is looked at.
pub const PREFIX: usize = 192;
/// The name of the stop at ESP inside ESP: another SA's packet.
pub const ESP_IN_ESP: &str = "ESP in ESP";
/// Deepest nesting of ESP that is followed; what is deeper counts as payload.
pub const MOST_NESTING: u8 = 4;
/// The name of the stop of a walk that has only a prefix of a compressed payload (RFC 3173) whose length shows at its end.
pub const WHOLE_PAYLOAD_NEEDED: &str = "IPComp (whole payload needed)";

/// An echo request or reply (RFC 792, RFC 4443 §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoHeader {
    /// True for a request, false for a reply.
    pub request: bool,
    /// Identifier.
    pub id: u16,
    /// Sequence number.
    pub seq: u16,
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
    /// Ends of the IP header before it; `None` right behind ESP where the outer ends are not known.
    pub ends: Option<(IpAddr, IpAddr)>,
}

/// The contents of a payload.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inner {
    /// Tunnel protocols passed through.
    pub layers: Layers,
    /// Transport flow, when one was reached.
    pub flow: Option<FiveTuple>,
    /// Transport payload bytes (as the inner headers declare them). Where the walk stopped short of transport, what is
    /// left from there on; 0 for control messages.
    pub transport_bytes: u32,
    /// TCP header.
    pub tcp: Option<TcpHeader>,
    /// Echo request or reply.
    pub echo: Option<EchoHeader>,
    /// Sender of an ICMP error that says how large packets may be, and the error; on the heap, as the authentication header is.
    pub too_big: Option<Box<(IpAddr, IcmpError)>>,
    /// Control message.
    pub control: Option<Control>,
    /// Length of the innermost IP packet.
    pub ip_bytes: u32,
    /// Identification of the innermost IP header, if that is IPv4; else 0.
    pub ip_id: u16,
    /// Offset of the innermost IP header in the payload; `None` where there is none, or it lies in compressed data.
    pub ip_at: Option<u16>,
    /// A non-first fragment of an inner packet: no ports, bytes counted as payload.
    pub fragment: bool,
    /// The first fragment of an inner packet.
    pub first_fragment: bool,
    /// Offset of the first IP packet inside PPP in the payload; `None` without one, or behind compression.
    pub ip_in_ppp_at: Option<u16>,
    /// The first authentication header on the way; rare, so on the heap, where it makes no other packet larger.
    pub ah: Option<Box<AhInside>>,
    /// Tunnel mode: bytes of the payload after the inner packet's end (traffic flow confidentiality padding, RFC 4303
    /// §2.7).
    pub tfc_padding: u32,
    /// The walk stopped where its prefix of the payload did: the whole payload may show more.
    pub prefix_too_short: bool,
    /// Name of the layer where the walk stopped without reaching transport; `None` when it reached it.
    pub stopped_at: Option<&'static str>,
}

impl Inner {
    /// ESP, a piece of ESP, or UDP of IKE and ESP: these ports beside their own.
    pub fn carries_ipsec(&self, esp_ports: &[u16]) -> bool {
        let of_ipsec = |port: u16| is_ipsec_port(port) || esp_ports.contains(&port);
        let flow = self.flow.is_some_and(|flow| match IpNumber(flow.protocol) {
            ip_number::UDP => of_ipsec(flow.src_port) || of_ipsec(flow.dst_port),
            protocol => protocol == ip_number::ENCAPSULATING_SECURITY_PAYLOAD && self.fragment,
        });
        flow || self.stopped_at == Some(ESP_IN_ESP)
    }

    /// Keeps the first authentication header of several: `bytes` from its start, of which `wire_len` were sent.
    pub(super) fn note_ah(&mut self, bytes: &[u8], wire_len: u32, ends: Option<(IpAddr, IpAddr)>) {
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
