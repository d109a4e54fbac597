//! Tunnels without a key around the packet of interest, and what mirror ports wrap packets in: [`crate::layers`] leads through
//! them.

use crate::framing::datagram::DatagramKind;
use crate::framing::transport::{self, Carriers};
use crate::layers::ip::IpPacket;
use crate::layers::udp::is_ipsec;
use crate::layers::{Found, Layer, Walk};
use etherparse::ip_number;

/// Tells whether a packet is no tunnel by its protocol and ports alone, as nearly all are not.
#[inline]
pub(super) fn is_none(packet: &IpPacket<'_>) -> bool {
    match packet.protocol {
        ip_number::ENCAPSULATING_SECURITY_PAYLOAD | ip_number::TCP => true,
        ip_number::UDP => is_ipsec(packet.payload),
        _ => false,
    }
}

/// Looks through the tunnels in `outer`, to the innermost packet where it carries IPsec or is a fragment, which may. Elsewhere `outer` is
/// the answer, so that a tunnel with other content keeps its own name. Compressed data (IPComp) is left closed: nobody puts IPsec in it.
pub(super) fn innermost<'a>(outer: IpPacket<'a>, carriers: &Carriers) -> IpPacket<'a> {
    // A requested or learned port carries no tunnel, whatever its content looks like.
    if is_none(&outer) || outer.piece.is_some() || carries_ipsec(&outer, carriers) {
        return outer;
    }
    let mut walk = Walk::new(outer.payload, outer.payload_len as usize);
    let mut deepest = outer.clone();
    while deepest.piece.is_none()
        && let Ok(Found::Ip(packet, _)) = walk.next(Layer::Protocol(deepest.protocol))
    {
        let around = std::mem::replace(&mut deepest, packet);
        deepest.ah = around.ah.or(deepest.ah.take());
    }
    if deepest.piece.is_some() || carries_ipsec(&deepest, carriers) {
        deepest
    } else {
        outer
    }
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
