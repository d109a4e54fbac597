//! The contents of a decrypted ESP payload, down to the transport header: [`rekeyscope_capture::layers`] walks through the tunnels, here is
//! noted what they say, and the header where the walk ends is read.

mod found;
mod transport;

use etherparse::{IpNumber, ip_number};
pub use found::MOST_NESTING;
pub use found::{AhInside, ESP_IN_ESP, EchoHeader, Inner, PREFIX, WHOLE_PAYLOAD_NEEDED};
use rekeyscope_capture::layers::ip::{self, IpPacket};
pub use rekeyscope_capture::layers::{Control, Layers, MAX_DEPTH};
use rekeyscope_capture::layers::{Found, Layer, Place, Stop, Walk, deflate};
use std::net::IpAddr;
use transport::{Descent, saturated};

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
        inner: &mut inner,
    }
    .down(IpNumber(next_header));
    inner
}

impl Descent<'_, '_> {
    fn down(&mut self, mut protocol: IpNumber) {
        loop {
            let below = match self.walk.next(Layer::Protocol(protocol)) {
                Ok(Found::Ip(packet, place)) => {
                    self.enter(&packet, place);
                    self.inner.first_fragment = packet.piece.is_some_and(|piece| piece.offset == 0);
                    if packet.piece.is_some_and(|piece| piece.offset > 0) {
                        self.inner.fragment = true;
                        let len = self.walk.layer_len();
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
        self.inner.ip_id = packet.identification.unwrap_or(0);
        if place.in_ppp && self.inner.ip_in_ppp_at.is_none() {
            self.inner.ip_in_ppp_at = at;
        }
        if at == Some(0) && self.inner.layers.contains(Layers::TUNNEL_MODE) {
            self.inner.tfc_padding = saturated(place.room - place.len);
        }
        if let Some(ah) = &packet.ah {
            self.inner.note_ah(ah.bytes, ah.wire_len, self.ends);
        }
    }

    /// Right behind ESP, another tunnel or an IPv6 fragment header: not read with an IP header.
    fn authentication_header(&mut self) -> Result<IpNumber, Stop> {
        let header = ip::authentication_header(self.walk.bytes()).map_err(Stop::Broken)?;
        self.inner
            .note_ah(self.walk.bytes(), saturated(self.walk.layer_len()), self.ends);
        self.walk.skip("AH", header.slice().len())?;
        Ok(header.next_header())
    }

    fn down_inflated(&mut self, protocol: IpNumber) {
        let (bytes, len) = (self.walk.bytes(), self.walk.layer_len());
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
}

#[cfg(test)]
mod tests;
