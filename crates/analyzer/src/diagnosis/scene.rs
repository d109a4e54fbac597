//! What a detector looks at: the packets of one window with what they mean together.
//!
//! Made once per window: which SAs end and begin, which direction carries the data, the round-trip time, and the
//! inner-TCP events of [`crate::diagnosis::tcp`]. Directions are internal ones, as positions in a pair.

use crate::diagnosis::proven::{ProofRule, ProvenByPackets};
use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::recorder::{BEFORE, OpenWindow};
use crate::diagnosis::tcp::TcpEvents;
use rekeyscope_ipsec::ike::timeline::{Deletion, Exchange, MessageRecord};
use rekeyscope_ipsec::rekey::{Evidence, pair, slot};
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{ExchangeKind, Lifetime};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};

/// Where no round trip can be measured: above nearly all terrestrial paths, so that a margin of one RTT is kept.
const UNKNOWN_RTT: i64 = 200 * NANOS_PER_MILLI;
/// How long after the switch (of the data direction) an event still counts as the rekey's: two doubled minimum
/// retransmission timeouts (0.2 + 0.4 + 0.8 s, RFC 6298 with Linux' minimum) end within.
const RECOVERY: i64 = 2 * NANOS_PER_SECOND;
/// Time from a message's arrival to an SA that works: scheduling of a busy host (0.2 s measured in the lab) and its
/// installation.
pub(crate) const PROCESSING: i64 = 250 * NANOS_PER_MILLI;
/// Newest SAs of a tunnel that are looked through for those of a rekey.
const MOST_SAS: usize = 64;

/// One direction around the rekey.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LaneChange {
    /// SA that ends.
    pub(crate) old: Option<SaIndex>,
    /// SA that begins.
    pub(crate) new: Option<SaIndex>,
    /// First packet on `new`.
    pub(crate) switched: Option<Timestamp>,
    /// Last packet on `old`.
    pub(crate) left: Option<Timestamp>,
}

/// Everything about one rekey.
#[derive(Debug)]
pub(crate) struct RekeyScene<'a> {
    pub(crate) evidence: Evidence<'a>,
    /// The tunnel's newest SAs, at most [`MOST_SAS`].
    pub(crate) own_sas: &'a [SaIndex],
    pub(crate) tunnel: TunnelIndex,
    /// Index of the exchange, where one was captured.
    pub(crate) exchange: Option<usize>,
    /// First exchange message (the initiator's silence that it ended, where there was one); without one, the first packet on
    /// a new SA.
    pub(crate) started: Timestamp,
    /// End of the time in which events count as the rekey's.
    pub(crate) zone_end: Timestamp,
    pub(crate) lanes: [LaneChange; 2],
    /// The direction with more payload.
    pub(crate) data: usize,
    /// Packets before a silence that began earlier than the window: for proofs of an outage only.
    pub(crate) earlier: Vec<&'a PacketRecord>,
    /// Packets of the tunnel in the window, in capture order, up to the next rekey.
    pub(crate) packets: Vec<&'a PacketRecord>,
    /// Those from the next rekey on: what is lost here may be sent again there.
    pub(crate) beyond: Vec<&'a PacketRecord>,
    /// What inner TCP did, once it was followed ([`RekeyScene::note_tcp`]).
    pub(crate) tcp: TcpEvents,
    /// Least round-trip time seen, or [`UNKNOWN_RTT`].
    pub(crate) rtt: i64,
    /// Holes of the capture.
    pub(crate) holes: Vec<crate::diagnosis::holes::Hole>,
    /// Cleartext packets of the tunnel that belong into it.
    pub(crate) leaks: Vec<(Timestamp, u64)>,
    /// What the packets prove, per direction.
    pub(crate) proofs: [Option<ProvenByPackets>; 2],
}

impl<'a> RekeyScene<'a> {
    /// `None` where no SA begins, or none ends: an exchange that came to nothing makes no rekey here.
    pub(crate) fn new(
        evidence: Evidence<'a>,
        own_sas: &'a [SaIndex],
        exchange: Option<usize>,
        window: &OpenWindow,
        packets: impl FnOnce() -> Vec<&'a PacketRecord>,
    ) -> Option<Self> {
        let lanes = lanes(&evidence, own_sas, exchange, window.opened);
        let switched = lanes.iter().filter_map(|l| l.switched).max()?;
        if lanes.iter().all(|lane| lane.old.is_none()) {
            return None; // the tunnel's first SAs: nothing was renewed
        }
        let mut packets = packets();
        let begins = window.began.plus_nanos(-BEFORE);
        let in_window = packets.split_off(packets.partition_point(|p| p.time < begins));
        let mut scene = RekeyScene {
            evidence,
            own_sas: &own_sas[own_sas.len().saturating_sub(MOST_SAS)..],
            tunnel: window.tunnel,
            exchange,
            started: window.began,
            zone_end: switched.plus_nanos(RECOVERY),
            lanes,
            data: data_slot(&in_window),
            earlier: packets,
            packets: in_window,
            beyond: Vec::new(),
            tcp: TcpEvents::default(),
            rtt: UNKNOWN_RTT,
            holes: Vec::new(),
            leaks: Vec::new(),
            proofs: [None, None],
        };
        scene.cut_at_next_rekey(own_sas);
        Some(scene)
    }

    /// Takes what inner TCP did.
    pub(crate) fn note_tcp(&mut self, tcp: TcpEvents) {
        self.rtt = tcp.rtt.unwrap_or(UNKNOWN_RTT);
        self.tcp = tcp;
    }

    /// What the next rekey brings is not this one's doing.
    fn cut_at_next_rekey(&mut self, own_sas: &[SaIndex]) {
        let own_end = self
            .exchange()
            .and_then(Exchange::last_time)
            .unwrap_or(self.started);
        let exchanges = self
            .tunnel_exchanges()
            .take_while(|&(e, ..)| Some(e) > self.exchange)
            .filter(|(_, exchange, first)| pair::makes_children(exchange) && *first > own_end)
            .map(|(.., first)| first);
        let successors = own_sas.iter().rev().take(MOST_SAS).filter_map(|&sa| {
            let association = &self.evidence.associations[sa];
            let lane = &self.lanes[slot(association.direction)];
            let (first, _) = association.first?;
            (lane.new != Some(sa) && lane.switched.is_some_and(|own| first > own)).then_some(first)
        });
        if let Some(next) = exchanges.chain(successors).min() {
            self.zone_end = self.zone_end.min(next);
            let keep = self.packets.partition_point(|p| p.time < next);
            self.beyond = self.packets.split_off(keep);
        }
    }

    /// Proof by the packets of direction `d`, where it is by this rule.
    pub(crate) fn proof(&self, d: usize, rule: ProofRule) -> Option<&ProvenByPackets> {
        self.proofs[d].as_ref().filter(|proof| proof.rule == rule)
    }

    /// The exchange.
    pub(crate) fn exchange(&self) -> Option<&'a Exchange> {
        self.exchange.and_then(|e| self.evidence.exchanges.get(e))
    }

    /// One SA.
    pub(crate) fn sa(&self, sa: SaIndex) -> &'a Association {
        &self.evidence.associations[sa]
    }

    /// The exchanges of this tunnel with the time of their first message, newest first (bounded).
    pub(crate) fn tunnel_exchanges(&self) -> impl Iterator<Item = (usize, &'a Exchange, Timestamp)> {
        let evidence = self.evidence;
        let tunnel = self.tunnel;
        (0..evidence.exchanges.len())
            .rev()
            .take(1_024)
            .filter(move |&e| evidence.exchange_tunnels.get(e).copied().flatten() == Some(tunnel))
            .filter_map(move |e| {
                let exchange = &evidence.exchanges[e];
                Some((e, exchange, exchange.first_time()?))
            })
    }

    /// Whether an event counts as the rekey's.
    pub(crate) fn in_zone(&self, time: Timestamp) -> bool {
        (self.started..=self.zone_end).contains(&time)
    }

    /// All packets of the window, also those from the next rekey on.
    pub(crate) fn all_packets(&self) -> impl DoubleEndedIterator<Item = &'a PacketRecord> {
        self.packets.iter().chain(&self.beyond).copied()
    }

    /// A Delete for an SA: its receiver names it (RFC 2408 §3.15).
    pub(crate) fn delete_of(&self, sa: &Association) -> Option<&'a Deletion> {
        let end = self.zone_end;
        self.tunnel_exchanges()
            .flat_map(|(_, e, _)| e.deletes.iter())
            .find(|d| d.spi == sa.spi && d.by == sa.dst && d.time <= end)
    }

    /// The lifetime that was negotiated for an SA.
    pub(crate) fn lifetime_of(&self, sa: &Association) -> Option<Lifetime> {
        let exchange = self.evidence.exchanges.get(sa.exchange?);
        exchange.and_then(|e| e.lifetime)
    }

    /// Packets of one direction.
    pub(crate) fn lane_packets(&self, slot: usize) -> impl Iterator<Item = &'a PacketRecord> {
        self.packets.iter().copied().filter(move |p| p.slot() == slot)
    }

    /// New payload bytes per second of a direction within [from, to).
    pub(crate) fn rate(&self, slot: usize, from: Timestamp, to: Timestamp) -> f64 {
        let bytes: u64 = self
            .lane_packets(slot)
            .filter(|p| (from..to).contains(&p.time))
            .map(|p| u64::from(p.new))
            .sum();
        bytes as f64 / to.seconds_since(from).max(1e-3)
    }

    /// Rate of a direction before the rekey, over what the window holds of it (at most 2 s).
    pub(crate) fn rate_before(&self, slot: usize) -> f64 {
        let from = self.packets.first().map_or(self.started, |p| p.time);
        self.rate(slot, from, self.started)
    }

    /// The switch of the data direction, else of the other one.
    pub(crate) fn data_switch(&self) -> Timestamp {
        let [x, y] = [self.data, 1 - self.data].map(|d| self.lanes[d].switched);
        x.or(y).unwrap_or(self.started)
    }

    /// The distinct messages of the exchange.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &'a MessageRecord> {
        self.exchange()
            .into_iter()
            .flat_map(|e| e.records.iter())
            .filter(|r| !r.retransmission)
    }

    /// A Quick Mode (IKEv1).
    pub(crate) fn is_quick_mode(&self) -> bool {
        self.exchange().is_some_and(|e| e.kind == ExchangeKind::QuickMode)
    }

    /// Direction of the packets that the exchange's initiator sends.
    pub(crate) fn initiator_slot(&self) -> Option<usize> {
        let exchange = self.exchange()?;
        let tunnel = &self.evidence.tunnels[self.tunnel];
        let initiator = exchange.known_initiator()?;
        let responder = if initiator == exchange.initiator {
            exchange.responder
        } else {
            exchange.initiator
        };
        Some(slot(tunnel.direction_to(responder)))
    }
}

fn data_slot(packets: &[&PacketRecord]) -> usize {
    let mut sums = [(0u64, 0u64); 2];
    for p in packets {
        let sum = &mut sums[p.slot()];
        sum.0 += u64::from(p.payload);
        sum.1 += u64::from(p.outer);
    }
    usize::from(sums[1] > sums[0])
}

/// Which SAs end and begin. An exchange that could be read names the new ones; else it is the first that begins after it.
fn lanes(
    evidence: &Evidence<'_>,
    own_sas: &[SaIndex],
    exchange: Option<usize>,
    opened: Timestamp,
) -> [LaneChange; 2] {
    let readable = exchange.is_some_and(|e| !evidence.exchanges[e].children.is_empty());
    [0, 1].map(|d| {
        let used = || {
            own_sas.iter().rev().take(MOST_SAS).filter_map(move |&sa| {
                let a = &evidence.associations[sa];
                (slot(a.direction) == d).then_some((sa, a, a.first?.0))
            })
        };
        let new = used()
            .filter(|(_, a, first)| {
                if readable {
                    a.exchange == exchange
                } else {
                    *first >= opened && a.exchange.is_none_or(|e| Some(e) == exchange)
                }
            })
            .min_by_key(|&(sa, _, first)| (first, sa));
        let before = new.map_or(opened, |(_, _, first)| first);
        let old = used()
            .filter(|(sa, _, first)| *first < before && new.is_none_or(|(n, ..)| n != *sa))
            .max_by_key(|&(sa, a, first)| (a.exchange.is_some_and(|e| Some(e) < exchange), first, sa));
        LaneChange {
            old: old.map(|(sa, ..)| sa),
            new: new.map(|(sa, ..)| sa),
            switched: new.map(|(.., first)| first),
            left: old.and_then(|(_, a, _)| a.last).map(|(t, _)| t),
        }
    })
}
