//! A decoded ESP packet in the words of the crate `traffic`.

use crate::decode::{Decoded, Pending};
use rekeyscope_ipsec::esp::inner::Inner;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_traffic::{EspNumber, InnerPayload, Packet};

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
        tuple: inner.flow.filter(|_| opened),
        ip_id: inner.ip_id,
        payload: if opened {
            payload(inner)
        } else {
            InnerPayload::Unread(pending.esp_bytes)
        },
    }
}

fn payload(inner: &Inner) -> InnerPayload {
    match (inner.tcp, inner.echo) {
        (Some(tcp), _) => InnerPayload::Tcp(tcp),
        (None, Some(echo)) => InnerPayload::Echo {
            request: echo.request,
            id: echo.id,
            seq: echo.seq,
            bytes: inner.ip_bytes.max(inner.transport_bytes),
        },
        (None, None) => InnerPayload::Datagram(inner.transport_bytes),
    }
}
