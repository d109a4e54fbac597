//! SAs that ended although nobody had asked for new ones: they passed a limit, or were deleted first.

use crate::ike::timeline::Exchange;
use crate::rekey::attempt::seen::AttemptSeen;
use crate::rekey::attempt::tables::{AttemptTables, span};
use crate::rekey::detect::REAUTHENTICATION_NANOS;
use crate::rekey::pair::{ChildSa, last_time, makes_children};
use crate::sa::tunnel::TunnelIndex;
use crate::sa::volume::expired;
use rekeyscope_model::analysis::AttemptOutcome;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::HashMap;
use std::net::IpAddr;

/// A daemon that reacts to the end of an SA asks at once; messages were seen 0.4 s late. After this nobody asks.
const NOBODY_ASKS: i64 = 3 * NANOS_PER_SECOND;
/// Packets that were on their way when an SA ended, or when an exchange began, arrive within this, and so does an answer that nothing has
/// to be computed for: a round trip, and a busy host's scheduling.
pub const ON_ITS_WAY: i64 = NANOS_PER_SECOND;
/// An SA whose last packet is older was not in use when it ended.
const IN_USE: i64 = 5 * NANOS_PER_SECOND;

/// The Delete of an SA pair: time, frame and sender.
type Deleted = (Timestamp, Option<u64>, Option<IpAddr>);

pub(super) fn without_attempt(tables: &AttemptTables<'_>, found: &[AttemptSeen]) -> Vec<AttemptSeen> {
    let search = UnaskedSearch::new(tables, found);
    let unasked = |child: &ChildSa| {
        search
            .passed_its_limit(child)
            .or_else(|| search.deleted_first(child))
    };
    tables.children.iter().filter_map(unasked).collect()
}

struct UnaskedSearch<'a> {
    tables: &'a AttemptTables<'a>,
    attempts: HashMap<TunnelIndex, Vec<&'a AttemptSeen>>,
    /// Exchanges that make child SAs, by their first messages.
    exchanges: HashMap<TunnelIndex, Vec<(Timestamp, &'a Exchange)>>,
    /// The first Delete of each SA, by its receiver.
    deletes: HashMap<(IpAddr, Spi), (Timestamp, u64)>,
}

impl<'a> UnaskedSearch<'a> {
    fn new(tables: &'a AttemptTables<'a>, found: &'a [AttemptSeen]) -> Self {
        let mut search = UnaskedSearch {
            tables,
            attempts: HashMap::new(),
            exchanges: HashMap::new(),
            deletes: HashMap::new(),
        };
        for attempt in found {
            search.attempts.entry(attempt.tunnel).or_default().push(attempt);
        }
        for (index, exchange) in tables.evidence.exchanges.iter().enumerate() {
            if let Some(tunnel) = tables.tunnel(index).filter(|_| makes_children(exchange)) {
                let own = search.exchanges.entry(tunnel).or_default();
                own.push((span(exchange).0, exchange));
            }
            for deletion in &exchange.deletes {
                let said = (deletion.time, deletion.frame);
                search.deletes.entry((deletion.by, deletion.spi)).or_insert(said);
            }
        }
        search
    }

    /// The first exchange of a tunnel after `time` that makes child SAs.
    fn next_exchange(&self, tunnel: TunnelIndex, time: Timestamp) -> Option<(Timestamp, &'a Exchange)> {
        let own = self.exchanges.get(&tunnel)?;
        own.get(own.partition_point(|(begins, _)| *begins <= time))
            .copied()
    }

    /// Somebody asked for a new SA, or a new one was there, between the birth of this one and `time`.
    fn renewed_before(&self, child: &ChildSa, time: Timestamp) -> bool {
        let of_tunnel = self
            .tables
            .of_tunnel
            .get(&child.tunnel)
            .map_or(&[][..], Vec::as_slice);
        let from = of_tunnel.partition_point(|c| c.born <= child.born);
        let asked = self.attempts.get(&child.tunnel).map_or(&[][..], Vec::as_slice);
        let after_birth = asked.partition_point(|a| a.first_time <= child.born);
        of_tunnel.get(from).is_some_and(|c| c.born <= time)
            || asked
                .iter()
                .skip(after_birth)
                .take_while(|a| a.first_time <= time)
                .any(|a| a.exchange != child.exchange)
    }

    fn last_use(&self, child: &ChildSa) -> Option<(Timestamp, u64)> {
        self.tables.associations(child).filter_map(|a| a.last).max()
    }

    /// The SA passed its volume or its seconds, and nobody asks.
    fn passed_its_limit(&self, child: &ChildSa) -> Option<AttemptSeen> {
        let (passed, reason) = self.limit_of(child)?;
        let until = passed.plus_nanos(NOBODY_ASKS);
        if until > self.tables.ends || self.renewed_before(child, until) {
            return None;
        }
        Some(AttemptSeen {
            reason: Some(reason),
            frames: self.last_use(child).map(|(_, frame)| frame).into_iter().collect(),
            ..unasked(child, passed, AttemptOutcome::LimitWithoutAttempt)
        })
    }

    fn limit_of(&self, child: &ChildSa) -> Option<(Timestamp, &'static str)> {
        let tables = self.tables;
        let volume = tables.associations(child).filter_map(expired).min();
        if let Some(passed) = volume {
            return Some((passed, "volume"));
        }
        let made = &tables.evidence.exchanges[child.exchange?];
        let mut sas = tables.associations(child);
        let stated = || sas.find_map(|sa| sa.lifetime(tables.evidence.exchanges));
        let seconds = made.lifetime.or_else(stated)?.seconds.filter(|s| *s > 0)?;
        let nanos = i64::try_from(seconds).ok()?.checked_mul(NANOS_PER_SECOND)?;
        let passed = Timestamp(last_time(made).0.checked_add(nanos)?);
        let (last, _) = self.last_use(child)?;
        // In use until then; where it goes on beyond, nobody enforces the limit.
        let around = (-IN_USE..=NOBODY_ASKS).contains(&last.nanos_since(passed));
        around.then_some((passed, "seconds"))
    }

    /// The SA was deleted while it was in use, and the new one is negotiated only then.
    fn deleted_first(&self, child: &ChildSa) -> Option<AttemptSeen> {
        let (deleted, frame, by) = self.deleted(child)?;
        let (last, _) = self.last_use(child)?;
        if deleted.nanos_since(last) > IN_USE || self.renewed_before(child, deleted) {
            return None;
        }
        let (begins, next) = self.next_exchange(child.tunnel, deleted)?;
        if begins.nanos_since(deleted) > REAUTHENTICATION_NANOS {
            return None;
        }
        let first = next.records.first().map(|r| r.frame);
        Some(AttemptSeen {
            initiator: by,
            last_time: begins,
            frames: frame.into_iter().chain(first).collect(),
            ..unasked(child, deleted, AttemptOutcome::BreakBeforeMake)
        })
    }

    fn deleted(&self, child: &ChildSa) -> Option<Deleted> {
        let tables = self.tables;
        let by_spi = tables.associations(child).filter_map(|a| {
            let &(time, frame) = self.deletes.get(&(a.dst, a.spi))?;
            Some((time, Some(frame), Some(a.dst)))
        });
        // A Delete of the IKE SA ends its children too (RFC 7296 §1.4.1); with IKEv1 they live on. So does a child that a new IKE SA took over
        // before (§1.3.2): it goes on to carry packets, later than those that were on their way.
        let last = self.last_use(child).map(|(last, _)| last);
        let ike_sa = child.exchange.and_then(|e| tables.evidence.exchanges[e].ike_sa);
        let with_ike = ike_sa
            .map(|sa| &tables.ike_sas[sa])
            .filter(|sa| sa.version == 2)
            .and_then(|sa| Some((sa.deleted?, None, None)))
            .filter(|(deleted, ..)| last.is_none_or(|last| last.nanos_since(*deleted) <= ON_ITS_WAY));
        let own = by_spi.chain(with_ike).filter(|(time, ..)| *time > child.born);
        own.min_by_key(|(time, ..)| *time)
    }
}

/// An attempt without an exchange.
fn unasked(child: &ChildSa, first_time: Timestamp, outcome: AttemptOutcome) -> AttemptSeen {
    AttemptSeen {
        tunnel: child.tunnel,
        exchange: None,
        initiator: None,
        first_time,
        last_time: first_time,
        messages: 0,
        transmissions: 0,
        requests: Vec::new(),
        answered: None,
        refused: None,
        outcome,
        reason: None,
        sas: child.sa,
        frames: Vec::new(),
    }
}
