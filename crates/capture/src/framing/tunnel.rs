//! Tunnels without a key around the packet of interest, and what mirror ports wrap packets in: [`crate::layers`] leads through
//! them.

use crate::framing::carriers::Carriers;
use crate::framing::datagram::DatagramKind;
use crate::framing::transport;
use crate::layers::ip::{self, IpPacket};
use crate::layers::udp::is_ipsec;
use crate::layers::{Found, Layer, Walk, deflate};
use etherparse::{IpNumber, ip_number};

/// Bytes of compressed data that are inflated first: a few tunnels' headers and what tells IPsec behind them.
const PREFIX: usize = 512;

/// Where the tunnels of a packet lead.
#[derive(Debug)]
pub(super) enum Innermost<'a> {
    /// To this packet: the innermost when it carries IPsec or is a fragment, which may; else the outermost itself, so that a
    /// tunnel with other content keeps its own name.
    Packet(IpPacket<'a>),
    /// To IPsec that this packet holds compressed (RFC 3173).
    Compressed {
        /// The packet.
        packet: IpPacket<'a>,
        /// What the data is.
        protocol: IpNumber,
        /// The data, inflated.
        bytes: Vec<u8>,
    },
}

impl<'a> Innermost<'a> {
    /// The packet, or the one around compressed data.
    pub(super) fn packet(&self) -> &IpPacket<'a> {
        match self {
            Innermost::Packet(packet) | Innermost::Compressed { packet, .. } => packet,
        }
    }

    /// The packet, when it lies in the frame as it was sent.
    #[inline]
    pub(super) fn as_sent(&self) -> Option<&IpPacket<'a>> {
        match self {
            Innermost::Packet(packet) if packet.piece.is_none() => Some(packet),
            _ => None,
        }
    }
}

/// Whether a packet is no tunnel by its protocol and ports alone, as nearly all are not.
#[inline]
pub(super) fn is_none(packet: &IpPacket<'_>) -> bool {
    match packet.protocol {
        ip_number::ENCAPSULATING_SECURITY_PAYLOAD | ip_number::TCP => true,
        ip_number::UDP => is_ipsec(packet.payload),
        _ => false,
    }
}

/// Looks through the tunnels in `outer`.
pub(super) fn innermost<'a>(outer: IpPacket<'a>, carriers: &Carriers) -> Innermost<'a> {
    if is_none(&outer) || outer.piece.is_some() {
        return Innermost::Packet(outer);
    }
    let mut descent = TunnelDescent::new(outer.clone());
    descent.go();
    let TunnelDescent { walk, deepest, .. } = descent;
    let is_plain = descent.tunnels == 0 && descent.deflated.is_none();
    // What a requested or learned port carries is no tunnel, whatever it looks like.
    if is_plain || carries_ipsec(&outer, carriers) {
        return Innermost::Packet(outer);
    }
    if let Some(protocol) = descent.deflated
        && walk.bytes().len() == walk.layer_len()
        && let Some(bytes) = inflated(&deepest, protocol, walk.bytes(), carriers)
    {
        return Innermost::Compressed {
            packet: deepest,
            protocol,
            bytes,
        };
    }
    Innermost::Packet(if descent.tunnels > 0 && may_carry_ipsec(&deepest, carriers) {
        deepest
    } else {
        outer
    })
}

/// The way through the tunnels of a packet.
#[derive(Debug)]
struct TunnelDescent<'a> {
    walk: Walk<'a>,
    /// The innermost packet so far.
    deepest: IpPacket<'a>,
    tunnels: usize,
    /// It ended at compressed data that holds this.
    deflated: Option<IpNumber>,
}

impl<'a> TunnelDescent<'a> {
    #[inline]
    fn new(outer: IpPacket<'a>) -> Self {
        TunnelDescent {
            walk: Walk::new(outer.payload, outer.payload_len as usize),
            deepest: outer,
            tunnels: 0,
            deflated: None,
        }
    }

    /// To the innermost packet, or a fragment.
    #[inline]
    fn go(&mut self) {
        loop {
            match self.walk.next(Layer::Protocol(self.deepest.protocol)) {
                Ok(Found::Ip(packet, _)) => {
                    let outer = std::mem::replace(&mut self.deepest, packet);
                    self.deepest.ah = outer.ah.or(self.deepest.ah.take());
                    self.tunnels += 1;
                }
                Ok(Found::Deflated(protocol)) => {
                    self.deflated = Some(protocol);
                    return;
                }
                _ => return,
            }
            if self.deepest.piece.is_some() {
                return;
            }
        }
    }
}

/// The data of a compressed packet, when tunnels in it lead to IPsec. Compressed data in compressed data is left alone: nobody
/// sends it, and it grows a thousandfold with every turn.
#[cold]
fn inflated(packet: &IpPacket<'_>, protocol: IpNumber, data: &[u8], carriers: &Carriers) -> Option<Vec<u8>> {
    // Most of what is compressed is no IPsec's: its beginning tells.
    let mut prefix = [0; PREFIX];
    let begins = deflate::inflate(data, false, &mut prefix)?;
    let prefix = prefix.get(..begins.filled)?;
    let leads_on = |bytes: &[u8], len: usize| {
        let ends = (packet.src, packet.dst);
        let upper = ip::upper_layer(protocol, ends, bytes, len as u32, packet.total_len).ok()?;
        let mut descent = TunnelDescent::new(upper);
        descent.go();
        may_carry_ipsec(&descent.deepest, carriers).then_some(())
    };
    leads_on(prefix, begins.whole_len.unwrap_or(deflate::MOST_INFLATED))?;
    let mut bytes = vec![0; deflate::MOST_INFLATED];
    let len = deflate::inflate(data, true, &mut bytes)?.whole_len?;
    bytes.truncate(len);
    leads_on(&bytes, len)?;
    Some(bytes)
}

fn may_carry_ipsec(packet: &IpPacket<'_>, carriers: &Carriers) -> bool {
    packet.piece.is_some() || carries_ipsec(packet, carriers)
}

fn carries_ipsec(packet: &IpPacket<'_>, carriers: &Carriers) -> bool {
    transport::content(
        packet.protocol,
        packet.payload,
        packet.payload_len,
        (packet.src, packet.dst),
        carriers,
    )
    .is_ok_and(|content| !matches!(content.kind, DatagramKind::Other(_)))
}
