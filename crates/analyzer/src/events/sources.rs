//! The tables that events are made of.

use crate::pipeline::record::Record;
use foldhash::{HashMap, HashMapExt};
use rekeyscope_ipsec::ike::timeline::{Exchange, IkeSa};
use rekeyscope_ipsec::rekey::attempt::{AttemptSeen, UnansweredCheck};
use rekeyscope_ipsec::rekey::pair::ChildSa;
use rekeyscope_ipsec::rekey::{Evidence, Succession};
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::{AttemptOutcome, ExchangeKind};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// The finished tables, and what is looked up in them.
pub(crate) struct EventSources<'a> {
    pub(super) record: &'a Record,
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) children: &'a [ChildSa],
    pub(super) successions: &'a [Succession],
    /// Attempts to make or renew child SAs, and IKE SAs.
    pub(super) attempts: &'a [AttemptSeen],
    pub(super) ike_attempts: &'a [AttemptSeen],
    pub(super) checks: &'a [UnansweredCheck],
    /// Exchanges of each IKE SA.
    of_ike_sa: HashMap<usize, Vec<usize>>,
    /// When exchanges of a tunnel that make an SA were answered, ascending.
    answered: HashMap<TunnelIndex, Vec<Timestamp>>,
    /// SAs by receiver and SPI.
    by_spi: HashMap<(IpAddr, Spi), SaIndex>,
    /// Child SAs by SA.
    child_of: HashMap<SaIndex, usize>,
}

impl<'a> EventSources<'a> {
    pub(crate) fn new(
        record: &'a Record,
        evidence: &'a Evidence<'a>,
        (children, successions): (&'a [ChildSa], &'a [Succession]),
        (attempts, ike_attempts): (&'a [AttemptSeen], &'a [AttemptSeen]),
        checks: &'a [UnansweredCheck],
    ) -> Self {
        let mut sources = EventSources {
            record,
            evidence,
            children,
            successions,
            attempts,
            ike_attempts,
            checks,
            of_ike_sa: HashMap::new(),
            answered: HashMap::new(),
            by_spi: HashMap::new(),
            child_of: HashMap::new(),
        };
        for (index, exchange) in evidence.exchanges.iter().enumerate() {
            if let Some(sa) = exchange.ike_sa {
                sources.of_ike_sa.entry(sa).or_default().push(index);
            }
        }
        for attempt in attempts.iter().chain(ike_attempts) {
            if let Some(answered) = sources.when_answered(attempt) {
                let own = sources.answered.entry(attempt.tunnel).or_default();
                own.push(answered);
            }
        }
        for answered in sources.answered.values_mut() {
            answered.sort_unstable();
        }
        for (sa, association) in evidence.associations.iter().enumerate() {
            sources.by_spi.insert((association.dst, association.spi), sa);
        }
        for (index, child) in children.iter().enumerate() {
            let own = child.sa.into_iter().flatten();
            sources.child_of.extend(own.map(|sa| (sa, index)));
        }
        sources
    }

    /// When an attempt was answered by an SA. IKE_SA_INIT alone makes none yet.
    fn when_answered(&self, attempt: &AttemptSeen) -> Option<Timestamp> {
        let made = [
            AttemptOutcome::Completed,
            AttemptOutcome::CompletedUnused,
            AttemptOutcome::Superseded,
        ];
        let begins = self.exchange(attempt.exchange).kind == ExchangeKind::IkeSaInit;
        attempt
            .answered
            .filter(|_| made.contains(&attempt.outcome) && !begins)
    }

    pub(super) fn exchange(&self, index: usize) -> &'a Exchange {
        &self.evidence.exchanges[index]
    }

    pub(super) fn association(&self, sa: SaIndex) -> &'a Association {
        &self.evidence.associations[sa]
    }

    pub(super) fn ike_sa(&self, index: usize) -> &'a IkeSa {
        &self.record.timeline.ike_sas()[index]
    }

    /// All exchanges of tunnels that the user wants, with their IKE SA.
    pub(super) fn exchanges(&self) -> impl Iterator<Item = (usize, TunnelIndex, usize, &'a Exchange)> {
        let all = self.evidence.exchanges.iter().enumerate();
        all.filter_map(|(index, exchange)| {
            let tunnel = self.tunnel(index).filter(|&t| self.record.wants(t))?;
            Some((index, tunnel, exchange.ike_sa?, exchange))
        })
    }

    pub(super) fn tunnel(&self, exchange: usize) -> Option<TunnelIndex> {
        self.evidence.exchange_tunnels.get(exchange).copied().flatten()
    }

    pub(super) fn of_ike_sa(&self, ike_sa: usize) -> &[usize] {
        self.of_ike_sa.get(&ike_sa).map_or(&[], Vec::as_slice)
    }

    /// The exchanges of an IKE SA but one.
    pub(super) fn others(&self, ike_sa: usize, but: usize) -> impl Iterator<Item = &'a Exchange> + Clone {
        let others = self.of_ike_sa(ike_sa).iter().filter(move |&&e| e != but);
        others.map(|&e| self.exchange(e))
    }

    /// The child SA whose SA `by` receives on.
    pub(super) fn child(&self, by: IpAddr, spi: Spi) -> Option<usize> {
        let sa = self.by_spi.get(&(by, spi))?;
        self.child_of.get(sa).copied()
    }

    /// When exchanges of a tunnel that make an SA were answered, ascending.
    pub(super) fn answered(&self, tunnel: TunnelIndex) -> &[Timestamp] {
        self.answered.get(&tunnel).map_or(&[], Vec::as_slice)
    }

    /// SAs of a tunnel that carried packets.
    pub(super) fn used(&self, tunnel: TunnelIndex) -> impl Iterator<Item = &'a Association> {
        self.record.sas_of(tunnel).filter(|a| a.first.is_some())
    }

    /// SAs of a side that carried packets.
    pub(super) fn used_of(&self, (tunnel, direction): Side) -> impl Iterator<Item = &'a Association> {
        self.used(tunnel).filter(move |sa| sa.direction == direction)
    }

    /// `src` sent ESP of this tunnel on an SA in use between the two times.
    pub(super) fn sends(&self, tunnel: TunnelIndex, src: IpAddr, from: Timestamp, to: Timestamp) -> bool {
        let mut own = self.used(tunnel).filter(|a| a.src == src);
        own.any(|a| a.first.is_some_and(|(t, _)| t <= to) && a.last.is_some_and(|(t, _)| t > from))
    }
}
