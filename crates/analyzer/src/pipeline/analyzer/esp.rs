//! ESP packets: which SA, which key, and into the batch.

use super::Analyzer;
use crate::decode::Pending;
use crate::pipeline::options::Verify;
use rekeyscope_capture::framing::{Datagram, UdpPorts};
use rekeyscope_ipsec::sa::database::{SaContext, SaIndex};
use rekeyscope_ipsec::sa::specimen::Specimen;
use rekeyscope_model::analysis::Encapsulation;
use rekeyscope_model::spi::{IpsecProtocol, Spi};
use rekeyscope_model::text::Message;
use std::net::IpAddr;

impl Analyzer {
    pub(super) fn push_esp(
        &mut self,
        datagram: &Datagram<'_>,
        udp: Option<UdpPorts>,
        encapsulation: Encapsulation,
        packet: &[u8],
    ) {
        // A packet inside another was counted with that one.
        self.record.totals.esp_packets += u64::from(self.nested.depth == 0);
        let Some((&[s0, s1, s2, s3, n0, n1, n2, n3], _)) = packet.split_first_chunk::<8>() else {
            self.record
                .diagnostics
                .count("too_short", "ESP", Some(datagram.frame), || {
                    Message::new("oddity-esp-too-short")
                });
            return;
        };
        let spi = Spi(u32::from_be_bytes([s0, s1, s2, s3]));
        let sequence = u32::from_be_bytes([n0, n1, n2, n3]);
        let ends = (datagram.src, datagram.dst);
        let Some(sa) = self.sa_of(ends, udp, encapsulation, spi) else {
            self.count_too_many(datagram.frame);
            return;
        };
        self.note_nested(self.record.sas.associations()[sa].tunnel, datagram.frame);
        if let Some(point) = &mut self.record.point
            && self.nested.depth == 0
        {
            point.packet(datagram, sa, sequence);
        }
        let whole = !datagram.cut;
        let specimen = Specimen { packet, whole };
        if self.record.sas.prove(sa, specimen) || self.record.sas.recognise_null(sa, specimen) {
            self.open_waiting(sa);
        }
        let Datagram {
            frame,
            time,
            outer_bytes,
            wire_len,
            cut,
            ..
        } = *datagram;
        let mut pending = Pending::new(sa, frame, time, outer_bytes, wire_len, ends, cut, sequence);
        let association = self.record.sas.get_mut(sa);
        pending.esn_high = association.esn_high(sequence);
        pending.proven = association.proven;
        pending.opens = association.opens();
        pending.fragments = datagram.fragments;
        pending.largest_fragment = datagram.largest_fragment;
        pending.udp = udp.filter(|_| encapsulation == Encapsulation::Udp);
        pending.nesting = self.nested.depth;
        pending.check = match self.record.options.verify {
            Verify::All => true,
            Verify::Sample(n) => u64::from(sequence) % n.max(1) == 0,
            Verify::First(n) => association.queued < n,
        };
        association.queued += 1;
        let cipher = self.record.sas.associations()[sa].checker();
        if self.batch.push(pending, packet, cipher, self.block.as_ref()) {
            self.hand_over();
        }
    }

    /// The packets of an SA that are not on their way yet are opened with what was found since.
    pub(super) fn open_waiting(&mut self, sa: SaIndex) {
        let association = &self.record.sas.associations()[sa];
        if let Some(cipher) = association.cipher() {
            self.batch
                .assign(sa, cipher, |sequence| association.esn_high(sequence));
        }
    }

    /// The SA of a packet between `ends`, made on first sight; `None` at the bound.
    pub(super) fn sa_of(
        &mut self,
        (src, dst): (IpAddr, IpAddr),
        udp: Option<UdpPorts>,
        encapsulation: Encapsulation,
        spi: Spi,
    ) -> Option<SaIndex> {
        let protocol = match encapsulation {
            Encapsulation::Ah => IpsecProtocol::Ah,
            _ => IpsecProtocol::Esp,
        };
        if let Some(sa) = self.record.sas.newest(dst, protocol, spi)
            && self.record.sas.associations()[sa].was_seen()
        {
            return Some(sa);
        }
        let tunnel = self.record.tunnels.of_esp(src, dst, udp, encapsulation)?;
        let direction = self.record.tunnels.tunnels[tunnel].direction_to(dst);
        let context = SaContext {
            tunnel,
            direction,
            src,
            dst,
            encapsulation,
            protocol,
        };
        let sa = self.record.sas.of_packet(context, spi)?;
        let association = self.record.sas.get_mut(sa);
        association.encapsulation = encapsulation;
        Some(sa)
    }
}
