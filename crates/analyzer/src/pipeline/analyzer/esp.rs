//! ESP packets: which SA, which key, and into the batch.

use super::Analyzer;
use crate::decode::Pending;
use rekeyscope_capture::framing::{Datagram, UdpPorts};
use rekeyscope_ipsec::esp::header::spi_and_sequence;
use rekeyscope_ipsec::sa::association::SaContext;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::database::path::Arriving;
use rekeyscope_ipsec::sa::specimen::Specimen;
use rekeyscope_ipsec::sa::whereabouts::{OuterPath, RoleShownBy};
use rekeyscope_model::analysis::Encapsulation;
use rekeyscope_model::spi::IpsecProtocol;

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
        let Some((spi, sequence)) = spi_and_sequence(packet) else {
            return self.note("too_short", "ESP", datagram.frame, "oddity-esp-too-short");
        };
        let whole = !datagram.cut;
        if self.nested.depth == 0 && whole {
            self.duplicates
                .note_esp(packet, self.clock.as_stamped(datagram.time));
        }
        let specimen = Specimen { packet, whole };
        let arriving = Arriving {
            path: OuterPath {
                src: datagram.src,
                dst: datagram.dst,
                udp,
            },
            protocol: IpsecProtocol::Esp,
            spi,
            number: sequence,
            time: datagram.time,
            specimen: Some(specimen),
        };
        let Some(sa) = self.sa_of(&arriving, encapsulation, datagram.frame) else {
            return;
        };
        self.note_nested(self.record.sas.associations()[sa].tunnel, datagram.frame);
        if let Some(point) = self.point() {
            point.packet(datagram, sa, sequence);
        }
        if self.record.sas.prove(sa, specimen) || self.record.sas.recognise_null(sa, specimen) {
            self.open_waiting(sa);
        }
        self.await_key(sa, datagram.time);
        let association = self.record.sas.get_mut(sa);
        let ends = (association.src, association.dst);
        let pending = Pending {
            esn_high: association.esn_high(sequence),
            proven: association.proven,
            opens: association.opens(),
            nesting: self.nested.depth,
            ..Pending::of(datagram, sa, ends, sequence)
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

    /// The SA of a packet, made on first sight; `None` at the bound, which is counted.
    pub(super) fn sa_of(
        &mut self,
        packet: &Arriving<'_>,
        encapsulation: Encapsulation,
        frame: u64,
    ) -> Option<SaIndex> {
        if let Some(sa) = self.record.sas.on_path(packet) {
            return Some(sa);
        }
        let Some(sa) = self.look_for_sa(packet, encapsulation) else {
            self.count_too_many(frame);
            return None;
        };
        let association = self.record.sas.get_mut(sa);
        if !association.was_seen() {
            association.encapsulation = encapsulation;
        }
        let (tunnel, direction) = (association.tunnel, association.direction);
        let tunnels = &mut self.record.tunnels;
        tunnels.take_encapsulation(tunnel, encapsulation);
        tunnels.join(tunnel, &packet.path, direction);
        if self.record.sas.take_path(sa, packet) {
            let seen = (packet.time, frame);
            tunnels.show(tunnel, &packet.path, RoleShownBy::Esp, direction, seen);
        }
        Some(sa)
    }

    /// The SA of a packet that is not where the one before it was.
    fn look_for_sa(&mut self, packet: &Arriving<'_>, encapsulation: Encapsulation) -> Option<SaIndex> {
        let Arriving {
            path, protocol, spi, ..
        } = *packet;
        let (tunnels, sas) = (&mut self.record.tunnels, &mut self.record.sas);
        let known = tunnels.of_path(&path);
        let own = known.and_then(|tunnel| {
            let direction = tunnels.tunnels[tunnel].direction_of(&path);
            sas.of_end(tunnel, direction, protocol, spi)
        });
        // An end that says by IKE where it is now has not sent ESP from there yet.
        let of_ike = known.filter(|tunnel| tunnels.tunnels[*tunnel].encapsulation.is_none());
        let is_known = known.is_some() && of_ike.is_none();
        if let Some(sa) = own.or_else(|| sas.going_on(packet, is_known)) {
            if let Some(part) = of_ike {
                tunnels.unite(part, sas.get_mut(sa).tunnel);
            }
            return Some(sa);
        }
        let tunnel = tunnels.begin(&path)?;
        let direction = tunnels.tunnels[tunnel].direction_of(&path);
        let (src, dst) = tunnels.tunnels[tunnel].names(direction);
        let context = SaContext {
            tunnel,
            direction,
            src,
            dst,
            encapsulation,
            protocol,
        };
        sas.of_packet(context, spi)
    }
}
