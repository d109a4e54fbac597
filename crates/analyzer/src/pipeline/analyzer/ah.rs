//! AH (RFC 4302): its SAs count like those of ESP, and what they protect can be read without a key. Where IKE or ESP follows
//! AH, or ESP is around it, that SA tells of the payload: it is counted once.

use super::Analyzer;
use crate::decode::{Authenticated, Pending};
use rekeyscope_capture::framing::{AH, Authentication, Datagram, DatagramKind};
use rekeyscope_ipsec::esp::inner::AhInside;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::database::path::Arriving;
use rekeyscope_ipsec::sa::seen::Appearance;
use rekeyscope_ipsec::sa::whereabouts::OuterPath;
use rekeyscope_model::analysis::Encapsulation;
use rekeyscope_model::spi::{IpsecProtocol, Spi};
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

impl Analyzer {
    /// The header around a datagram.
    pub(super) fn push_ah(&mut self, datagram: &Datagram<'_>, ah: &Authentication<'_>) {
        let seen = (datagram.time, datagram.frame);
        let Some(sa) = self.sa_of_ah(ah.ends, (ah.spi, ah.sequence), seen) else {
            return;
        };
        let around_ipsec = !matches!(datagram.kind, DatagramKind::Other(AH));
        let association = self.record.sas.get_mut(sa);
        association.bundled |= around_ipsec;
        let ends = (association.src, association.dst);
        if let Some(point) = self.point().filter(|_| !around_ipsec) {
            point.packet(datagram, sa, ah.sequence);
        }
        let pending = Pending {
            outer_bytes: ah.outer_bytes,
            esp_bytes: ah.wire_len,
            nesting: self.nested.depth,
            authenticated: Some(Authenticated {
                next_header: ah.next_header,
                header_len: u32::try_from(ah.header_len).unwrap_or(u32::MAX),
                around_ipsec,
            }),
            ..Pending::of(datagram, sa, ends, ah.sequence)
        };
        // The rest of a packet that is around IPsec comes a second time, as that.
        let wanted = if around_ipsec {
            ah.header_len
        } else {
            ah.bytes.len()
        };
        let bytes = ah.bytes.get(..wanted).unwrap_or(ah.bytes);
        if self.batch.push(pending, bytes, None, self.block.as_ref()) {
            self.hand_over();
        }
    }

    fn sa_of_ah(
        &mut self,
        (src, dst): (IpAddr, IpAddr),
        (spi, number): (Spi, u32),
        (time, frame): (Timestamp, u64),
    ) -> Option<SaIndex> {
        let arriving = Arriving {
            path: OuterPath { src, dst, udp: None },
            protocol: IpsecProtocol::Ah,
            spi,
            number,
            time,
            specimen: None,
        };
        self.sa_of(&arriving, Encapsulation::Ah, frame)
    }

    /// The header inside an opened ESP packet.
    pub(super) fn account_ah_inside(&mut self, pending: &Pending, ah: &AhInside) {
        let ends = ah.ends.unwrap_or(pending.ends);
        let seen = (pending.time, pending.frame);
        let Some(sa) = self.sa_of_ah(ends, (ah.spi, ah.sequence), seen) else {
            return;
        };
        let sighting = self.seen.observe(sa, u64::from(ah.sequence), ah.icv_begin);
        let association = self.record.sas.get_mut(sa);
        association.bundled = true;
        // Copies of a packet were told by the ESP around it.
        if sighting == Appearance::Again {
            return;
        }
        let number = association.whole_sequence(ah.sequence);
        association
            .sequence
            .observe(number, sighting == Appearance::NumberUsed);
        association.icv.unchecked += 1;
        association.see((pending.time, pending.frame));
        let c = &mut association.counters;
        c.packets += 1;
        c.outer_bytes += u64::from(ah.bytes);
        c.esp_bytes += u64::from(ah.bytes);
    }
}
