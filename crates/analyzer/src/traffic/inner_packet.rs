//! A decoded ESP packet in the words of the crate `traffic`.

use crate::decode::{Decoded, Pending};
use rekeyscope_ipsec::esp::inner::{FlowKey, Inner, TcpSegment};
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_traffic::{EspNumber, FiveTuple, InnerPayload, Packet, SackBlocks, TcpHeader};

/// The packet. Its SPI is the index of its SA: an SPI may come again, and a reused one begins to count anew.
pub(crate) fn inner_packet(
    sa: SaIndex,
    association: &Association,
    pending: &Pending,
    decoded: &Decoded,
    number: u64,
) -> Packet {
    let inner = &decoded.inner;
    let opened = decoded.opened.is_some();
    Packet {
        time: pending.time,
        frame: pending.frame,
        tunnel: u32::try_from(association.tunnel).unwrap_or(u32::MAX),
        direction: association.direction,
        esp: Some(EspNumber {
            spi: u32::try_from(sa).unwrap_or(u32::MAX),
            number,
        }),
        tuple: inner.flow.as_ref().filter(|_| opened).map(five_tuple),
        ip_id: inner.ip_id,
        payload: if opened {
            payload(inner)
        } else {
            InnerPayload::Unread(pending.esp_bytes)
        },
    }
}

fn payload(inner: &Inner) -> InnerPayload {
    match (&inner.tcp, inner.echo) {
        (Some(tcp), _) => InnerPayload::Tcp(header(tcp, inner)),
        (None, Some(echo)) => InnerPayload::Echo {
            request: echo.request,
            id: echo.id,
            seq: echo.seq,
            bytes: inner.ip_bytes.max(inner.transport_bytes),
        },
        (None, None) => InnerPayload::Datagram(inner.transport_bytes),
    }
}

pub(super) fn five_tuple(flow: &FlowKey) -> FiveTuple {
    FiveTuple {
        protocol: flow.protocol,
        src: flow.src,
        dst: flow.dst,
        src_port: flow.src_port,
        dst_port: flow.dst_port,
    }
}

pub(super) fn header(tcp: &TcpSegment, inner: &Inner) -> TcpHeader {
    let edges = inner.sack.as_deref().map_or(&[][..], |edges| edges.as_slice());
    let blocks = edges.get(..usize::from(tcp.sack_blocks)).unwrap_or(edges);
    TcpHeader {
        seq: tcp.seq,
        ack: tcp.ack,
        flags: tcp.flags,
        window: tcp.window,
        window_scale: tcp.window_scale,
        sack: SackBlocks::new(blocks),
        timestamps: tcp.timestamp.map(|value| (value, tcp.echo)),
        len: inner.transport_bytes,
    }
}
