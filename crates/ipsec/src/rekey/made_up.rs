//! Tunnels made up for tests of recognition: exchanges and SAs that no packet stands behind. Times are milliseconds.

use crate::ike::exchange::MessageRecord;
use crate::ike::timeline::Exchange;
use crate::rekey::detect::successions;
use crate::rekey::evidence::Succession;
use crate::rekey::evidence::{Evidence, Snapshot};
use crate::rekey::pair::{ChildSa, child_sas};
use crate::sa::association::{Association, Counters, SaContext};
use crate::sa::database::SaIndex;
use crate::sa::tunnel::{Tunnel, TunnelIndex};
use rekeyscope_model::analysis::{Direction, ExchangeKind};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use std::net::{IpAddr, Ipv4Addr};

pub(super) const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
pub(super) const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

pub(super) fn at(ms: i64) -> Timestamp {
    Timestamp(ms * NANOS_PER_MILLI)
}

/// What a capture shows of tunnels between the same two ends.
pub(super) struct MadeUp {
    tunnels: Vec<Tunnel>,
    pub(super) exchanges: Vec<Exchange>,
    exchange_tunnels: Vec<Option<TunnelIndex>>,
    pub(super) associations: Vec<Association>,
    pub(super) snapshots: Vec<Snapshot>,
}

impl MadeUp {
    pub(super) fn new() -> Self {
        let tunnel = || Tunnel::between([CLIENT, SERVER]);
        MadeUp {
            tunnels: vec![tunnel(), tunnel()],
            exchanges: Vec::new(),
            exchange_tunnels: Vec::new(),
            associations: Vec::new(),
            snapshots: Vec::new(),
        }
    }

    /// A request and its answer; of a Quick Mode the third message too, 10 ms later.
    pub(super) fn exchange(
        &mut self,
        kind: ExchangeKind,
        by: IpAddr,
        (from, to): (i64, i64),
        ike_sa: usize,
    ) -> usize {
        let peer = if by == CLIENT { SERVER } else { CLIENT };
        let mut messages = vec![(from, by, 300), (to, peer, 300)];
        if kind == ExchangeKind::QuickMode {
            messages.push((to + 10, by, 60));
        }
        let record = |(ms, src, len): (i64, IpAddr, u32)| MessageRecord::of(ms as u64 + 1, at(ms), src, len);
        self.exchanges.push(Exchange {
            message_id: 0x1000 + self.exchanges.len() as u32,
            messages: messages.len() as u64,
            records: messages.into_iter().map(record).collect(),
            ..Exchange::between(by, peer, Some(ike_sa), kind)
        });
        self.exchange_tunnels.push(Some(0));
        self.exchanges.len() - 1
    }

    /// An SA that carries packets from the first moment to the second.
    pub(super) fn sa(
        &mut self,
        direction: Direction,
        (first, last): (i64, i64),
        exchange: Option<usize>,
    ) -> SaIndex {
        let (src, dst) = match direction {
            Direction::AToB => (CLIENT, SERVER),
            Direction::BToA => (SERVER, CLIENT),
        };
        let spi = Spi(0x100 + self.associations.len() as u32);
        let mut sa = Association::new(SaContext::made_up(direction, src, dst), spi);
        sa.exchange = exchange;
        sa.first = Some((at(first), first as u64 + 1));
        sa.last = Some((at(last), last as u64 + 1));
        self.associations.push(sa);
        self.associations.len() - 1
    }

    /// One of each direction.
    pub(super) fn pair(&mut self, span: (i64, i64), exchange: Option<usize>) -> [SaIndex; 2] {
        [Direction::AToB, Direction::BToA].map(|direction| self.sa(direction, span, exchange))
    }

    /// A Quick Mode of the client of 50 ms, and what it made: in use from 100 ms after its begin.
    pub(super) fn quick_mode(&mut self, from: i64, last: i64) -> [SaIndex; 2] {
        let exchange = self.exchange(ExchangeKind::QuickMode, CLIENT, (from, from + 40), 0);
        self.pair((from + 100, last), Some(exchange))
    }

    /// What an SA had carried when an exchange began: packets with their bytes inside, all opened.
    pub(super) fn had_carried(&mut self, sa: SaIndex, exchange: usize, packets: u64, inner_bytes: u64) {
        let counters = Counters {
            packets,
            opened: packets,
            inner_bytes,
            esp_bytes: inner_bytes + 40 * packets,
            outer_bytes: inner_bytes + 60 * packets,
            ..Counters::default()
        };
        self.associations[sa].counters = counters;
        self.snapshots.push(Snapshot {
            exchange,
            sa,
            counters,
            missing: 0,
        });
        self.snapshots.sort_by_key(|s| s.exchange);
    }

    pub(super) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            tunnels: &self.tunnels,
            exchanges: &self.exchanges,
            exchange_tunnels: &self.exchange_tunnels,
            associations: &self.associations,
            snapshots: &self.snapshots,
        }
    }

    pub(super) fn children(&self) -> Vec<ChildSa> {
        child_sas(&self.evidence())
    }

    pub(super) fn successions(&self) -> Vec<Succession> {
        successions(&self.evidence(), &self.children())
    }

    /// Which SA renews which, by those from client to server.
    pub(super) fn renewals(&self) -> Vec<(Option<SaIndex>, Option<SaIndex>)> {
        self.successions().iter().map(|s| (s.old[0], s.new[0])).collect()
    }
}
