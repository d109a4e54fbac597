//! One step of a walk: over an IP header.

use crate::layers::cursor::Walk;
use crate::layers::ip;
use crate::layers::layer::{Found, LayerStep, Layers, Place, Stop};

impl<'a> Walk<'a> {
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
