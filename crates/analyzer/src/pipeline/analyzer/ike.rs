//! IKE messages. What they say of SAs and keys counts at once; what they mean to those who count packets is done when everything
//! before them was accounted for ([`IkeMark`]).

use super::Analyzer;
use crate::decode::{IkeMark, Marked};
use crate::diagnosis::Subject;
use rekeyscope_capture::framing::{Datagram, UdpPorts};
use rekeyscope_ipsec::ike::timeline::{MessageContext, Observed};
use rekeyscope_ipsec::rekey::{Snapshot, pair};
use rekeyscope_ipsec::sa::association::SaContext;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_ipsec::sa::whereabouts::{OuterPath, RoleShownBy};
use rekeyscope_model::analysis::{Direction, Encapsulation};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::spi::{IkeSpi, IpsecProtocol};
use rekeyscope_model::time::Timestamp;

/// Newest SAs of a tunnel whose counters are noted when an exchange begins …
const SNAPSHOT_SAS: usize = 32;
/// … and where so many were noted, …
const MANY_SNAPSHOTS: usize = 1 << 16;
/// … so many.
const FEW_SNAPSHOT_SAS: usize = 4;
/// Most snapshots that are kept, 20 MB: those of 20,000 exchanges; later ones go without (their volume is then the SA's total).
const MAX_SNAPSHOTS: usize = 1 << 17;

impl Analyzer {
    pub(super) fn push_ike(&mut self, datagram: &Datagram<'_>, udp: UdpPorts, message: &[u8]) {
        self.record.totals.ike_packets += 1;
        let cookie = message.first_chunk::<8>().map_or(IkeSpi::ZERO, |c| IkeSpi(*c));
        let path = OuterPath {
            src: datagram.src,
            dst: datagram.dst,
            udp: Some(udp),
        };
        let tunnel = self.record.tunnels.of_ike(&path, cookie);
        let wanted = tunnel.is_none_or(|tunnel| self.record.wants(tunnel));
        if self.is_duplicate(datagram, wanted) {
            return;
        }
        if let Some(tunnel) = tunnel {
            self.note_nested(tunnel, datagram.frame);
            let towards = self.record.tunnels.tunnels[tunnel].direction_of(&path);
            if let Some(point) = self.point() {
                point.message(datagram, message, tunnel, towards);
            }
        }
        // IKE of a tunnel that was not chosen gives keys all the same: the chosen one may be inside its ESP.
        let mut unheard = Diagnostics::default();
        let diagnostics = if wanted {
            &mut self.record.diagnostics
        } else {
            &mut unheard
        };
        let (frame, time) = (datagram.frame, datagram.time);
        let ends = tunnel.map(|tunnel| {
            let tunnel = &self.record.tunnels.tunnels[tunnel];
            let direction = tunnel.direction_of(&path);
            (direction, tunnel.names(direction))
        });
        let (src, dst) = ends.map_or((path.src, path.dst), |(_, names)| names);
        let context = MessageContext {
            frame,
            time,
            src,
            dst,
            outer: (path.src, path.dst),
            udp,
            ip_packets: datagram.fragments,
        };
        let observed = self.record.timeline.push(context, message, diagnostics);
        let Some(tunnel) = tunnel else {
            self.count_too_many(frame);
            return;
        };
        // A copy of a message that a NAT translated is no move.
        if let Some((direction, _)) = ends.filter(|_| observed.exchange.is_some() && !observed.repeats) {
            let tunnels = &mut self.record.tunnels;
            tunnels.show(tunnel, &path, RoleShownBy::Ike, direction, (time, frame));
        }
        self.note_exchange(tunnel, observed, time);
    }

    fn note_exchange(&mut self, tunnel: TunnelIndex, observed: Observed, time: Timestamp) {
        let Some(index) = observed.exchange else { return };
        let exchange = &self.record.timeline.exchanges()[index];
        let first = observed.first_of_exchange;
        let makes = first && pair::makes_children(exchange) && self.record.wants(tunnel);
        let opens = makes.then(|| self.record.sas.of_tunnel(tunnel).len());
        if first {
            self.record.exchange_tunnels.resize(index + 1, None);
            self.record.exchange_tunnels[index] = Some(tunnel);
        }
        let mark = Marked::Ike(IkeMark {
            tunnel,
            exchange: index,
            time,
            opens,
        });
        if (makes || !first) && self.batch.mark(mark) {
            self.hand_over();
        }
        if observed.children_changed {
            self.announce_children(tunnel, index);
        }
    }

    /// Everything before the mark was accounted for.
    pub(super) fn take_mark(&mut self, (_, mark): &(usize, Marked)) {
        match *mark {
            Marked::Clear(packet) => {
                let traffic = &self.record.traffic;
                let last = |tunnel, slot: usize| traffic.last_esp((tunnel, Direction::BOTH[slot]));
                self.record.diagnosis.clear.outside(&packet, last);
            }
            Marked::Ike(message) => {
                let subject = Subject::Exchange(message.exchange);
                let Some(sas) = message.opens else {
                    return self.record.diagnosis.recorder.extend(subject, message.time);
                };
                self.take_snapshot(message.tunnel, message.exchange, sas);
                let recorder = &mut self.record.diagnosis.recorder;
                recorder.open(subject, message.tunnel, message.time);
            }
        }
    }

    /// Notes the counters of the newest of the first `sas` of a tunnel.
    fn take_snapshot(&mut self, tunnel: TunnelIndex, exchange: usize, sas: usize) {
        if self.record.snapshots.len() >= MAX_SNAPSHOTS {
            return;
        }
        let most = match self.record.snapshots.len() {
            0..MANY_SNAPSHOTS => SNAPSHOT_SAS,
            _ => FEW_SNAPSHOT_SAS,
        };
        let known = self.record.sas.of_tunnel(tunnel);
        for &sa in known.get(..sas).unwrap_or(known).iter().rev().take(most) {
            let association = &self.record.sas.associations()[sa];
            let (counters, missing) = (association.counters, association.missing());
            if counters.packets > 0 {
                self.record.snapshots.push(Snapshot {
                    exchange,
                    sa,
                    counters,
                    missing,
                });
            }
        }
    }

    fn announce_children(&mut self, tunnel: TunnelIndex, index: usize) {
        let keys = self.record.timeline.child_key_candidates(index);
        let exchange = &self.record.timeline.exchanges()[index];
        for (k, child) in exchange.children.iter().enumerate() {
            let t = &self.record.tunnels.tunnels[tunnel];
            let context = SaContext {
                tunnel,
                direction: t.direction_to(child.dst),
                src: child.src,
                dst: child.dst,
                encapsulation: match child.protocol {
                    IpsecProtocol::Esp => t
                        .encapsulation
                        .filter(|e| *e != Encapsulation::Ah)
                        .unwrap_or(Encapsulation::Esp),
                    IpsecProtocol::Ah => Encapsulation::Ah,
                },
                protocol: child.protocol,
            };
            let derived = keys.get(k).map_or(&[][..], Vec::as_slice);
            let Some(sa) = self.record.sas.announce(context, child, index, derived) else {
                continue;
            };
            let association = self.record.sas.get_mut(sa);
            association.limit_volume(association.lifetime(self.record.timeline.exchanges()));
        }
    }
}
