//! Attempts and outages in the document.

use crate::assembly::outages::{OutageSeen, is_harmless, outages};
use crate::assembly::scene::Explored;
use crate::diagnosis::failure::{AttemptScene, LEAST_IN_VAIN, LEAST_STORM};
use crate::diagnosis::{CAUSES, Detector, MOST_FRAMES, display_filter};
use crate::pipeline::record::Record;
use rekeyscope_ipsec::rekey::attempt::{AttemptSeen, UnansweredCheck};
use rekeyscope_model::analysis::{Attempt, AttemptOutcome, Cause, Confidence, Outage};
use rekeyscope_model::time::NANOS_PER_SECOND;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{CarriedKind, Interval};
use std::collections::{HashMap, HashSet};

/// A check of the peer this long before or after an attempt belongs to the same trouble: strongSwan and racoon ask every 30 s.
const CHECK_NEAR: i64 = 60 * NANOS_PER_SECOND;

/// What failed, and when nothing passed.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) outages: Vec<Outage>,
    /// Exchanges that made nothing: indexes in the timeline.
    pub(crate) in_vain: HashSet<usize>,
    /// The attempts as they were seen, in the order of `attempts`.
    pub(crate) seen: Vec<AttemptSeen>,
}

/// Makes the lists. `found.successions` are in the order of the document's rekeys, and `found.attempts` all that were seen.
pub(crate) fn failures(found: Explored<'_>, checks: &[UnansweredCheck], stretches: &[Interval]) -> Failures {
    let Explored {
        record,
        places,
        successions,
        ..
    } = found;
    if record.totals.last_time.is_none() {
        return Failures::default();
    }
    let mut seen = found.attempts.to_vec();
    seen.retain(|a| record.wants(a.tunnel));
    let outages_of = |attempts: &[AttemptSeen]| outages(Explored { attempts, ..found }, stretches);
    // A limit that nobody enforces is passed without harm.
    let before = outages_of(&seen);
    let mut index = 0..seen.len();
    seen.retain(|a| index.next().is_none_or(|own| !is_harmless(a, own, &before)));
    let found = outages_of(&seen);
    let of_attempts = by_attempt(&found);
    let of_exchanges = successions.iter().enumerate();
    let renewals: HashMap<usize, usize> = of_exchanges
        .rev()
        .filter_map(|(k, s)| Some((s.exchange?, k)))
        .collect();
    let outages: Vec<Outage> = found
        .iter()
        .enumerate()
        .map(|(index, o)| outage(record, checks, index, o))
        .collect();
    let storms = storms(record, &seen);
    let describe = |(index, a): (usize, &AttemptSeen)| {
        let own = of_attempts.get(&index).copied();
        let scene = AttemptScene {
            attempt: Some(a),
            check: checks.iter().find(|c| a.outcome.failed() && near(c, a)),
            storm: storms.get(&index).map_or(&[], Vec::as_slice),
        };
        Attempt {
            index,
            tunnel: a.tunnel,
            exchange: a.exchange.and_then(|e| places.exchange(e)),
            initiator: a.initiator,
            first_time: a.first_time,
            last_time: a.last_time,
            messages: a.messages,
            transmissions: a.transmissions,
            requests: a.requests.clone(),
            answered_after_s: a.answered.map(|t| t.seconds_since(a.first_time)),
            outcome: a.outcome,
            reason: a.reason.map(Into::into),
            rekey: a.exchange.and_then(|e| renewals.get(&e).copied()),
            outage: own.and_then(|o| outages.get(o).cloned()),
            causes: causes(&scene),
            display_filter: display_filter(&a.frames),
            evidence_frames: a.frames.clone(),
        }
    };
    Failures {
        attempts: seen.iter().enumerate().map(describe).collect(),
        outages,
        in_vain: in_vain(&seen),
        seen,
    }
}

/// Exchanges that made nothing.
fn in_vain(seen: &[AttemptSeen]) -> HashSet<usize> {
    let vain = seen
        .iter()
        .filter(|a| matches!(a.outcome, AttemptOutcome::Refused | AttemptOutcome::Unanswered));
    vain.filter_map(|a| a.exchange).collect()
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

fn near(check: &UnansweredCheck, attempt: &AttemptSeen) -> bool {
    check.tunnel == attempt.tunnel
        && check.first_time <= attempt.last_time.plus_nanos(CHECK_NEAR)
        && check.last_time >= attempt.first_time.plus_nanos(-CHECK_NEAR)
}

fn causes(scene: &AttemptScene<'_>) -> Vec<Cause> {
    let detected = CAUSES.iter().filter_map(|cause| match cause.detect {
        Detector::OfAttempt(detect) => Some(detect(scene)?.report(cause.id)),
        Detector::Around(_) | Detector::InLedger => None,
    });
    detected.collect()
}

fn outage(record: &Record, checks: &[UnansweredCheck], index: usize, seen: &OutageSeen) -> Outage {
    let OutageSeen {
        interval,
        undelivered,
        explanation,
        end,
        ..
    } = seen;
    let tunnel = interval.tunnel as usize;
    let mut frames = vec![interval.frames.0];
    frames.extend(interval.lost.iter().map(|lost| lost.frame));
    frames.truncate(MOST_FRAMES - 1);
    frames.extend(interval.frames.1);
    frames.sort_unstable();
    frames.dedup();
    let open = interval.frames.1.is_none();
    let while_it_lasts = |c: &&UnansweredCheck| {
        c.tunnel == tunnel && c.first_time <= interval.to && c.last_time >= interval.from
    };
    let unanswered = AttemptScene {
        check: checks.iter().find(while_it_lasts),
        ..AttemptScene::default()
    };
    Outage {
        index,
        tunnel,
        direction: record.tunnels.tunnels[tunnel].published(interval.direction),
        start: interval.from,
        end: (!open || undelivered.over).then_some(interval.to),
        seconds: interval.to.seconds_since(interval.from),
        at_least: open && !undelivered.over,
        ended_by: *end,
        explanation: explanation.clone(),
        inner: record.traffic.addresses(interval),
        dead: undelivered.dead,
        swallowed: u64::from(undelivered.swallowed),
        confidence: match undelivered.carried {
            CarriedKind::Tcp | CarriedKind::Echo => Confidence::High,
            CarriedKind::Datagrams => Confidence::Medium,
            CarriedKind::Unread => Confidence::Low,
        },
        causes: if seen.attempts.is_empty() {
            causes(&unanswered)
        } else {
            Vec::new()
        },
        display_filter: display_filter(&frames),
        frames,
    }
}

/// Frames of each attempt that a storm begins with: three and more within the usual interval, and most of them in vain.
fn storms(record: &Record, seen: &[AttemptSeen]) -> HashMap<usize, Vec<u64>> {
    let mut by_tunnel: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, attempt) in seen.iter().enumerate().filter(|(_, a)| a.exchange.is_some()) {
        by_tunnel.entry(attempt.tunnel).or_default().push(index);
    }
    let mut found = HashMap::new();
    for (tunnel, own) in by_tunnel {
        let Some(usual) = usual_interval(record, tunnel, seen, &own) else {
            continue;
        };
        let mut next = 0;
        for (k, &first) in own
            .iter()
            .enumerate()
            .filter(|(k, _)| *k + LEAST_STORM <= own.len())
        {
            let within = |&&i: &&usize| seen[i].first_time.nanos_since(seen[first].first_time) < usual;
            if k < next {
                continue;
            }
            let members: Vec<usize> = own[k..]
                .iter()
                .take(MOST_FRAMES)
                .take_while(within)
                .copied()
                .collect();
            let in_vain = members
                .iter()
                .filter(|&&i| seen[i].outcome != AttemptOutcome::Completed);
            if members.len() < LEAST_STORM || in_vain.count() < LEAST_IN_VAIN {
                continue;
            }
            next = k + members.len();
            let frames = members.iter().filter_map(|&i| seen[i].frames.first().copied());
            found.insert(first, frames.collect());
        }
    }
    found
}

/// The median time between renewals that succeeded; of a single SA its age when the first attempt began, nanoseconds.
fn usual_interval(record: &Record, tunnel: usize, seen: &[AttemptSeen], own: &[usize]) -> Option<i64> {
    let times = own.iter().map(|&i| &seen[i]);
    let completed: Vec<Timestamp> = times
        .filter(|a| a.outcome == AttemptOutcome::Completed)
        .map(|a| a.first_time)
        .collect();
    let mut intervals: Vec<i64> = completed.windows(2).map(|w| w[1].nanos_since(w[0])).collect();
    intervals.sort_unstable();
    let median = intervals.get(intervals.len() / 2).copied();
    median.or_else(|| {
        let sas = record.sas.of_tunnel(tunnel).iter();
        let began = sas.filter_map(|&sa| record.sas.associations()[sa].first).min()?;
        let vain = own
            .iter()
            .find(|&&i| seen[i].outcome != AttemptOutcome::Completed)?;
        Some(seen[*vain].first_time.nanos_since(began.0))
    })
}
