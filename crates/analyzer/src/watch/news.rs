//! What a document says that was not said before.

use rekeyscope_model::analysis::*;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::{Occurrence, TunnelEnd, TunnelEnds, WatchEvent};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::Hash;

/// An event is told when this much has passed since its last packet. An SA that goes on for more than a second beside its supposed
/// successor is none that was renewed (`ipsec::rekey::detect`); with looks every half second this stays below two seconds.
pub(super) const SETTLED: i64 = 1_250 * NANOS_PER_MILLI;
/// A request is told of as unanswered after so many copies, or after so long: it may be answered yet, but a person wants to know.
const UNANSWERED_COPIES: u64 = 3;
const UNANSWERED_AFTER: i64 = 10 * NANOS_PER_SECOND;
/// Time that has to pass behind a rekey before its cost is told: the rate without it is that of four seconds on each side.
const COST_SETTLED: i64 = 4 * NANOS_PER_SECOND;
/// An outage is told while it lasts after this, …
const OUTAGE_BEGAN_S: f64 = 1.0;
/// … and one that ended from this length on.
const OUTAGE_ENDED_S: f64 = 0.2;
/// Two outages of a direction nearer than this are one that was seen better the second time.
const SAME_OUTAGE: i64 = NANOS_PER_SECOND;
/// Packets of an SA without a key before it is told.
const KEY_PACKETS: u64 = 8;
/// Most of each kind that are known by name; the oldest are forgotten, which the analysis left behind long ago.
const MOST_KNOWN: usize = 1 << 14;

/// A set with a bound: the oldest give way.
#[derive(Debug)]
struct KnownNames<T> {
    names: HashSet<T>,
    order: VecDeque<T>,
}

impl<T> Default for KnownNames<T> {
    fn default() -> Self {
        KnownNames {
            names: HashSet::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T: Copy + Eq + Hash> KnownNames<T> {
    /// True when it was not known.
    fn insert(&mut self, name: T) -> bool {
        let new = self.names.insert(name);
        if new {
            self.order.push_back(name);
            if self.order.len() > MOST_KNOWN
                && let Some(oldest) = self.order.pop_front()
            {
                self.names.remove(&oldest);
            }
        }
        new
    }
}

/// A direction of a tunnel.
type WatchedDirection = (TunnelEnds, Direction);

#[derive(Debug)]
struct KnownOutage {
    start: Timestamp,
    end: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct KnownVerdict {
    /// The one that was told.
    told: Option<Verdict>,
    /// The one of the last look.
    last: Verdict,
}

/// What was said.
#[derive(Debug, Default)]
pub(super) struct News {
    rekeys: KnownNames<(WatchedDirection, Spi)>,
    costs: KnownNames<(WatchedDirection, Timestamp)>,
    attempts: KnownNames<(TunnelEnds, Timestamp)>,
    keyless: KnownNames<(TunnelEnds, Option<Spi>)>,
    outages: BTreeMap<WatchedDirection, KnownOutage>,
    verdicts: BTreeMap<WatchedDirection, KnownVerdict>,
}

impl News {
    /// What is new in `analysis`, in order of time. `last`: nothing comes after it, so all is settled.
    pub(super) fn of(&mut self, analysis: &Analysis, now: Timestamp, last: bool) -> Vec<WatchEvent> {
        let settled = |since: Timestamp| last || now.nanos_since(since) >= SETTLED;
        let mut events = Vec::new();
        let ends = |tunnel: usize| {
            let t = analysis.tunnels.get(tunnel)?;
            Some(TunnelEnds {
                client: t.a,
                gateway: t.b,
            })
        };
        for rekey in &analysis.rekeys {
            let Some(ends) = ends(rekey.tunnel) else { continue };
            events.extend(self.rekey(ends, rekey, settled));
            let costs = rekey.impact.iter().filter(|impact| impact.hurt);
            events.extend(costs.filter_map(|impact| self.cost((ends, rekey), impact, analysis, (now, last))));
        }
        for attempt in &analysis.attempts {
            let Some(ends) = ends(attempt.tunnel) else {
                continue;
            };
            events.extend(self.attempt(ends, attempt, now, last));
        }
        for outage in &analysis.outages {
            let Some(ends) = ends(outage.tunnel) else { continue };
            events.extend(self.outage(ends, outage));
        }
        let keys_given = analysis
            .key_files
            .iter()
            .any(|file| file.esp_keys + file.ike_keys > 0);
        for sa in &analysis.security_associations {
            let Some(ends) = ends(sa.tunnel) else { continue };
            events.extend(self.keyless(ends, sa, keys_given, settled));
        }
        for impact in &analysis.impact {
            let Some(ends) = ends(impact.tunnel) else { continue };
            events.extend(self.verdict(ends, impact, now, last));
        }
        events.sort_by_key(|event| event.time);
        events
    }

    fn rekey(
        &mut self,
        ends: TunnelEnds,
        rekey: &Rekey,
        settled: impl Fn(Timestamp) -> bool,
    ) -> Option<WatchEvent> {
        let switched = [rekey.switched.a_to_b, rekey.switched.b_to_a]
            .into_iter()
            .flatten();
        let (first, last) = (switched.clone().min(), switched.max());
        let time = rekey.started.or(first)?;
        let done = rekey.exchange_ms.map(|ms| time.plus_seconds(ms / 1_000.0));
        // Without a packet yet it is agreed on and not in use: those told wait for the first.
        if !settled(last.max(done).unwrap_or(time)) {
            return None;
        }
        let new = [Direction::AToB, Direction::BToA].map(|d| Some(((ends, d), rekey.new.get(d)?)));
        let fresh: Vec<bool> = new
            .into_iter()
            .flatten()
            .map(|name| self.rekeys.insert(name))
            .collect();
        if !fresh.iter().all(|fresh| *fresh) || fresh.is_empty() {
            return None;
        }
        let gaps = [rekey.gap_ms.a_to_b, rekey.gap_ms.b_to_a].into_iter().flatten();
        let costs = rekey.impact.iter().filter_map(|impact| impact.cost_seconds);
        let silences = rekey.impact.iter().filter_map(|impact| impact.silence_ms);
        Some(WatchEvent {
            time,
            ends: Some(ends),
            what: Occurrence::Rekey {
                trigger: rekey.trigger.kind,
                initiator: end_of(ends, rekey.initiator),
                old: rekey.old.clone(),
                new: rekey.new.clone(),
                exchange_ms: rekey.exchange_ms,
                gap_ms: gaps.reduce(f64::max),
                silence_ms: silences.reduce(f64::max),
                cost_so_far_seconds: costs.reduce(f64::max),
            },
        })
    }

    /// The cost of a rekey in a direction, once the time behind it gives the rate without it.
    fn cost(
        &mut self,
        (ends, rekey): (TunnelEnds, &Rekey),
        impact: &RekeyImpact,
        analysis: &Analysis,
        (now, last): (Timestamp, bool),
    ) -> Option<WatchEvent> {
        let switched = rekey.switched.get(impact.direction)?;
        let ledger = analysis.ledger_of(rekey.tunnel, impact.direction)?;
        let own = ledger.rekeys.iter().find(|own| own.rekey == rekey.index)?;
        let over = own.intervals.iter().map(|interval| interval.to).max()?;
        if !last && now.nanos_since(over) < COST_SETTLED {
            return None;
        }
        let lane = (ends, impact.direction);
        self.costs.insert((lane, switched)).then(|| WatchEvent {
            time: switched,
            ends: Some(ends),
            what: Occurrence::RekeyCost {
                direction: impact.direction,
                new: rekey.new.get(impact.direction),
                cost_seconds: own.cost_seconds,
                silence_ms: own.silence_ms,
                at_least: own.at_least,
                why: own.why,
            },
        })
    }

    fn attempt(
        &mut self,
        ends: TunnelEnds,
        attempt: &Attempt,
        now: Timestamp,
        last: bool,
    ) -> Option<WatchEvent> {
        if !attempt.outcome.failed() {
            return None;
        }
        let is_certain = match attempt.outcome {
            AttemptOutcome::Unanswered => {
                attempt.transmissions >= UNANSWERED_COPIES
                    || now.nanos_since(attempt.first_time) >= UNANSWERED_AFTER
            }
            AttemptOutcome::Refused => true,
            _ => now.nanos_since(attempt.last_time) >= SETTLED,
        };
        if !(last || is_certain) || !self.attempts.insert((ends, attempt.first_time)) {
            return None;
        }
        Some(WatchEvent {
            time: attempt.first_time,
            ends: Some(ends),
            what: Occurrence::RekeyFailed {
                outcome: attempt.outcome,
                reason: attempt.reason.clone(),
                initiator: end_of(ends, attempt.initiator),
                transmissions: attempt.transmissions,
            },
        })
    }

    fn outage(&mut self, ends: TunnelEnds, outage: &Outage) -> Option<WatchEvent> {
        let lane = (ends, outage.direction);
        let known = self.outages.get(&lane).filter(|known| {
            let until = known.end.unwrap_or(Timestamp(i64::MAX)).plus_nanos(SAME_OUTAGE);
            outage.start <= until
        });
        let (was_told, is_over) = known.map_or((false, false), |known| (true, known.end.is_some()));
        let event = |time, what| {
            Some(WatchEvent {
                time,
                ends: Some(ends),
                what,
            })
        };
        let direction = outage.direction;
        match outage.end {
            _ if is_over => None,
            None if !was_told && outage.seconds >= OUTAGE_BEGAN_S => {
                let start = outage.start;
                self.outages.insert(lane, KnownOutage { start, end: None });
                event(start, Occurrence::OutageBegan { direction })
            }
            Some(end) if was_told || outage.seconds >= OUTAGE_ENDED_S => {
                let start = known.map_or(outage.start, |known| known.start);
                self.outages.insert(
                    lane,
                    KnownOutage {
                        start,
                        end: Some(end),
                    },
                );
                let (seconds, ended_by) = (outage.seconds, outage.ended_by);
                event(
                    end,
                    Occurrence::OutageEnded {
                        direction,
                        seconds,
                        ended_by,
                    },
                )
            }
            _ => None,
        }
    }

    fn keyless(
        &mut self,
        ends: TunnelEnds,
        sa: &SecurityAssociation,
        keys_given: bool,
        settled: impl Fn(Timestamp) -> bool,
    ) -> Option<WatchEvent> {
        let (first, last) = (sa.first_time?, sa.last_time?);
        let opened =
            sa.inner_bytes.is_some() || sa.key.status == KeyStatus::Verified || sa.protocol == Protocol::Ah;
        let awaited = sa.packets >= KEY_PACKETS && settled(first) || settled(last);
        if opened || !awaited {
            return None;
        }
        // Without any keys one line for the tunnel is enough.
        let name = (ends, keys_given.then_some(sa.spi));
        self.keyless.insert(name).then_some(WatchEvent {
            time: first,
            ends: Some(ends),
            what: Occurrence::KeyMissing {
                spi: sa.spi,
                dst: sa.dst,
                status: sa.key.status,
            },
        })
    }

    fn verdict(
        &mut self,
        ends: TunnelEnds,
        impact: &Impact,
        now: Timestamp,
        last: bool,
    ) -> Option<WatchEvent> {
        let (lane, verdict) = ((ends, impact.direction), impact.verdict);
        let says_something = |verdict| {
            matches!(
                verdict,
                Verdict::Failed | Verdict::Shown | Verdict::Some | Verdict::Bounded
            )
        };
        let known = self.verdicts.entry(lane).or_insert(KnownVerdict {
            told: None,
            last: verdict,
        });
        // A verdict of one look may be gone at the next.
        let holds = last || known.last == verdict;
        known.last = verdict;
        let is_news = known.told != Some(verdict) && (known.told.is_some() || says_something(verdict));
        // What was left behind took the rekeys with it; that is no other verdict.
        let is_empty = matches!(verdict, Verdict::NoRekeys | Verdict::NoTraffic);
        if !holds || !is_news || is_empty {
            return None;
        }
        let before = known.told.replace(verdict);
        Some(WatchEvent {
            time: now,
            ends: Some(ends),
            what: Occurrence::VerdictChanged {
                direction: impact.direction,
                verdict,
                before,
                sentence: impact.sentence.clone(),
                messages: impact.messages.clone(),
            },
        })
    }

    /// What an earlier run said.
    pub(super) fn remember(&mut self, event: &WatchEvent) {
        let Some(ends) = event.ends else { return };
        let time = event.time;
        match &event.what {
            Occurrence::Rekey { new, .. } => {
                for direction in [Direction::AToB, Direction::BToA] {
                    if let Some(spi) = new.get(direction) {
                        self.rekeys.insert(((ends, direction), spi));
                    }
                }
            }
            Occurrence::RekeyCost { direction, .. } => {
                self.costs.insert(((ends, *direction), time));
            }
            Occurrence::RekeyFailed { .. } => drop(self.attempts.insert((ends, time))),
            Occurrence::OutageBegan { direction } => {
                let known = KnownOutage {
                    start: time,
                    end: None,
                };
                self.outages.insert((ends, *direction), known);
            }
            Occurrence::OutageEnded {
                direction, seconds, ..
            } => {
                let known = KnownOutage {
                    start: time.plus_seconds(-seconds),
                    end: Some(time),
                };
                self.outages.insert((ends, *direction), known);
            }
            Occurrence::KeyMissing { spi, .. } => drop(self.keyless.insert((ends, Some(*spi)))),
            Occurrence::VerdictChanged {
                direction, verdict, ..
            } => {
                let known = KnownVerdict {
                    told: Some(*verdict),
                    last: *verdict,
                };
                self.verdicts.insert((ends, *direction), known);
            }
            Occurrence::Kernel { .. } => {}
        }
    }
}

fn end_of(ends: TunnelEnds, address: Option<std::net::IpAddr>) -> TunnelEnd {
    match address {
        Some(address) if address == ends.client => TunnelEnd::Client,
        Some(address) if address == ends.gateway => TunnelEnd::Gateway,
        _ => TunnelEnd::Unknown,
    }
}
