//! Attempts and outages in the document.

use crate::assembly::outages::{OutageSeen, outages};
use crate::assembly::scene::Explored;
use crate::diagnosis::{MOST_FRAMES, display_filter};
use crate::pipeline::record::Record;
use rekeyscope_ipsec::rekey::attempt::AttemptSeen;
use rekeyscope_model::analysis::{Attempt, AttemptOutcome, Confidence, Outage};
use rekeyscope_traffic::{CarriedKind, Interval};
use std::collections::{HashMap, HashSet};

/// What failed, and when nothing passed.
#[derive(Debug)]
pub(crate) struct Failures {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) outages: Vec<Outage>,
    /// Exchanges that made nothing: indexes in the timeline.
    pub(crate) in_vain: HashSet<usize>,
}

/// Makes the lists. `found.successions` are in the order of the document's rekeys.
pub(crate) fn failures(found: Explored<'_>, stretches: &[Interval]) -> Failures {
    let Explored {
        record,
        places,
        successions,
        attempts,
        ..
    } = found;
    let found = outages(found, stretches);
    let of_attempts = by_attempt(&found);
    let of_exchanges = successions.iter().enumerate();
    let renewals: HashMap<usize, usize> = of_exchanges
        .rev()
        .filter_map(|(k, s)| Some((s.exchange?, k)))
        .collect();
    let outages: Vec<Outage> = found
        .iter()
        .enumerate()
        .map(|(index, o)| outage(record, index, o))
        .collect();
    let describe = |(index, a): (usize, &AttemptSeen)| {
        let own = of_attempts.get(&index).copied();
        Attempt {
            index,
            tunnel: a.tunnel,
            exchange: places.exchange(a.exchange),
            initiator: a.initiator,
            first_time: a.first_time,
            last_time: a.last_time,
            messages: a.messages,
            transmissions: a.transmissions,
            requests: a.requests.clone(),
            answered_after_s: a.answered.map(|t| t.seconds_since(a.first_time)),
            outcome: a.outcome,
            reason: a.reason.map(Into::into),
            rekey: renewals.get(&a.exchange).copied(),
            outage: own.and_then(|o| outages.get(o).cloned()),
            display_filter: display_filter(&a.frames),
            evidence_frames: a.frames.clone(),
        }
    };
    Failures {
        attempts: attempts.iter().enumerate().map(describe).collect(),
        outages,
        in_vain: in_vain(attempts),
    }
}

/// Exchanges that made nothing.
fn in_vain(seen: &[AttemptSeen]) -> HashSet<usize> {
    let vain = seen
        .iter()
        .filter(|a| matches!(a.outcome, AttemptOutcome::Refused | AttemptOutcome::Unanswered));
    vain.map(|a| a.exchange).collect()
}

/// The first outage of each attempt.
fn by_attempt(found: &[OutageSeen]) -> HashMap<usize, usize> {
    let mut first = HashMap::new();
    for (index, outage) in found.iter().enumerate() {
        for &attempt in &outage.attempts {
            first.entry(attempt).or_insert(index);
        }
    }
    first
}

fn outage(record: &Record, index: usize, seen: &OutageSeen) -> Outage {
    let OutageSeen {
        interval,
        explanation,
        end,
        ..
    } = seen;
    let undelivered = &interval.facts.undelivered;
    let tunnel = interval.facts.tunnel as usize;
    let mut frames = vec![interval.facts.frames.0];
    frames.extend(interval.facts.lost.iter().map(|lost| lost.frame));
    frames.truncate(MOST_FRAMES - 1);
    frames.extend(interval.facts.frames.1);
    frames.sort_unstable();
    frames.dedup();
    let open = interval.facts.frames.1.is_none();
    Outage {
        index,
        tunnel,
        direction: record.published((tunnel, interval.facts.direction)),
        start: interval.from,
        end: (!open || undelivered.over).then_some(interval.to),
        seconds: interval.to.seconds_since(interval.from),
        at_least: open && !undelivered.over,
        ended_by: *end,
        explanation: Some(explanation.clone()),
        inner: record.traffic.addresses(interval),
        dead: undelivered.dead,
        swallowed: u64::from(undelivered.swallowed),
        confidence: match undelivered.carried {
            CarriedKind::Tcp | CarriedKind::Echo => Confidence::High,
            CarriedKind::Datagrams => Confidence::Medium,
            CarriedKind::Unread => Confidence::Low,
        },
        display_filter: display_filter(&frames),
        frames,
    }
}
