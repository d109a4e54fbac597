//! IKE SAs and exchanges of the chosen tunnels, and where each stands in the document: others leave no gap in the lists.

use crate::pipeline::record::{Record, key_source};
use rekeyscope_ipsec::ike::opening::Opening;
use rekeyscope_ipsec::ike::timeline;
use rekeyscope_ipsec::rekey::{Evidence, pair};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Exchange, IkeSa, Key};

/// Most frames listed of an exchange.
const MOST_FRAMES: usize = 64;

/// Places in the document's lists, by index in the timeline; `None` for what is not listed.
pub(crate) struct Places {
    exchanges: Vec<Option<usize>>,
    ike_sas: Vec<Option<usize>>,
    /// Of each IKE SA, by its first exchange that has one.
    tunnels: Vec<Option<TunnelIndex>>,
}

impl Places {
    pub(crate) fn new(record: &Record) -> Self {
        let exchanges = record.timeline.exchanges();
        let mut tunnels = vec![None; record.timeline.ike_sas().len()];
        for (index, exchange) in exchanges.iter().enumerate() {
            if let Some(tunnel) = exchange.ike_sa.and_then(|sa| tunnels.get_mut(sa)) {
                *tunnel = tunnel.or(tunnel_of(record, index));
            }
        }
        // An exchange beyond the bound of tunnels belongs to none; it shows where nothing was chosen.
        let chosen = |tunnel: Option<TunnelIndex>| match tunnel {
            Some(tunnel) => record.wants(tunnel),
            None => record.options.tunnel.is_none(),
        };
        Places {
            exchanges: numbered((0..exchanges.len()).map(|e| chosen(tunnel_of(record, e)))),
            ike_sas: numbered(
                tunnels
                    .iter()
                    .map(|tunnel| tunnel.is_some_and(|t| record.wants(t))),
            ),
            tunnels,
        }
    }

    /// Where an exchange of the timeline stands in `exchanges`.
    pub(crate) fn exchange(&self, index: usize) -> Option<usize> {
        self.exchanges.get(index).copied().flatten()
    }

    fn ike_sa(&self, index: usize) -> Option<usize> {
        self.ike_sas.get(index).copied().flatten()
    }

    pub(crate) fn ike_sas(&self, record: &Record) -> Vec<IkeSa> {
        let describe = |(index, sa): (usize, &timeline::IkeSa)| {
            self.ike_sa(index)?;
            Some(IkeSa {
                tunnel: self.tunnels.get(index).copied().flatten()?,
                initiator_spi: sa.initiator_spi,
                responder_spi: sa.responder_spi,
                ike_version: sa.version,
                key: Key {
                    status: sa.key_status,
                    source: sa.key_origin.as_ref().map(|o| key_source(record, o)),
                },
                first_time: sa.first_time,
                last_time: sa.last_time,
            })
        };
        let all = record.timeline.ike_sas().iter().enumerate();
        all.filter_map(describe).collect()
    }

    pub(crate) fn exchanges(
        &self,
        record: &Record,
        evidence: &Evidence<'_>,
        openings: &pair::Openings,
    ) -> Vec<Exchange> {
        let describe = |(index, e): (usize, &timeline::Exchange)| {
            let (first, last) = e.span();
            let opening = openings.of(evidence, index);
            Some(Exchange {
                index: self.exchange(index)?,
                tunnel: tunnel_of(record, index).unwrap_or_default(),
                ike_sa: e.ike_sa.and_then(|sa| self.ike_sa(sa)),
                kind: e.kind,
                message_id: format!("0x{:08x}", e.message_id),
                initiator: e.initiator_by(opening),
                began_earlier: opening != Opening::Whole,
                first_time: first,
                last_time: last,
                duration_ms: last.millis_since(first),
                messages: e.messages,
                retransmissions: e.retransmissions,
                frames: e.records.iter().map(|r| r.frame).take(MOST_FRAMES).collect(),
                decrypted: e.decrypted,
                key_exchange: e.decrypted.then_some(e.key_exchange),
                lifetime: e.lifetime,
                spis: e.children.iter().map(|c| c.spi).collect(),
                deletes: e.deletes.iter().map(|d| d.spi).collect(),
                notifications: e.notifications.iter().map(|n| (*n).into()).collect(),
            })
        };
        let all = record.timeline.exchanges().iter().enumerate();
        all.filter_map(describe).collect()
    }
}

fn tunnel_of(record: &Record, exchange: usize) -> Option<TunnelIndex> {
    record.exchange_tunnels.get(exchange).copied().flatten()
}

/// The wanted ones, counted from 0.
fn numbered(wanted: impl Iterator<Item = bool>) -> Vec<Option<usize>> {
    let mut next = 0;
    let place = |wanted: bool| {
        wanted.then(|| {
            next += 1;
            next - 1
        })
    };
    wanted.map(place).collect()
}
