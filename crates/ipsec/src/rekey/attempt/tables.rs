//! What the rules look at.

use crate::ike::timeline::{Exchange, IkeSa};
use crate::rekey::attempt::seen::MOST_FRAMES;
use crate::rekey::evidence::Evidence;
use crate::rekey::pair::{ChildSa, Speakers, first_time, last_time};
use crate::sa::association::Association;
use crate::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;

/// The finished tables, and what is looked up in them.
pub(super) struct Tables<'a> {
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) ike_sas: &'a [IkeSa],
    pub(super) children: &'a [ChildSa],
    /// Last frame of the capture.
    pub(super) ends: Timestamp,
    /// Children by exchange.
    made: HashMap<usize, Vec<&'a ChildSa>>,
    /// Children by tunnel, in order of birth.
    pub(super) of_tunnel: HashMap<TunnelIndex, Vec<&'a ChildSa>>,
    /// Informational exchanges by IKE SA.
    pub(super) informational: HashMap<usize, Vec<usize>>,
    pub(super) speakers: Speakers,
}

impl<'a> Tables<'a> {
    pub(super) fn new(
        evidence: &'a Evidence<'a>,
        ike_sas: &'a [IkeSa],
        children: &'a [ChildSa],
        ends: Timestamp,
    ) -> Self {
        let mut tables = Tables {
            evidence,
            ike_sas,
            children,
            ends,
            made: HashMap::new(),
            of_tunnel: HashMap::new(),
            informational: HashMap::new(),
            speakers: Speakers::of(evidence),
        };
        for child in children {
            tables.of_tunnel.entry(child.tunnel).or_default().push(child);
            if let Some(exchange) = child.exchange {
                tables.made.entry(exchange).or_default().push(child);
            }
        }
        for (index, exchange) in evidence.exchanges.iter().enumerate() {
            if let (ExchangeKind::Informational, Some(sa)) = (exchange.kind, exchange.ike_sa) {
                tables.informational.entry(sa).or_default().push(index);
            }
        }
        tables
    }

    pub(super) fn tunnel(&self, exchange: usize) -> Option<TunnelIndex> {
        self.evidence.exchange_tunnels.get(exchange).copied().flatten()
    }

    pub(super) fn children_of(&self, exchange: usize) -> &[&'a ChildSa] {
        self.made.get(&exchange).map_or(&[], Vec::as_slice)
    }

    pub(super) fn associations(&self, child: &ChildSa) -> impl Iterator<Item = &'a Association> {
        let associations = self.evidence.associations;
        child.sa.into_iter().flatten().map(move |sa| &associations[sa])
    }

    pub(super) fn used(&self, child: &ChildSa) -> bool {
        self.associations(child).any(|a| a.first.is_some())
    }
}

pub(super) fn frames(exchange: &Exchange) -> Vec<u64> {
    exchange.records.iter().map(|r| r.frame).take(MOST_FRAMES).collect()
}

/// First and last message.
pub(super) fn span(exchange: &Exchange) -> (Timestamp, Timestamp) {
    (first_time(exchange), last_time(exchange))
}
