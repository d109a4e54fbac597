//! A document → the events that were not told before.

use super::look::{
    Look, REVIEWED, SETTLED, UnreadStretches, WatchedDirection, is_opened, keys_given, note_unread,
};
use super::outage_news::OutageNews;
use super::totals::SettledRekey;
use indexmap::IndexMap;
use rekeyscope_model::analysis::*;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::{Occurrence, TunnelEnd, TunnelEnds, WatchEvent};
use rekeyscope_report::words::line_1;
use std::collections::BTreeMap;
use std::hash::Hash;

/// Time after which a request is told as unanswered: a person wants to know, although an answer may still come.
const UNANSWERED_AFTER: i64 = 10 * NANOS_PER_SECOND;
/// Least time between two verdicts of a direction that are told: each rekey moves the figures, and who is told of each change learns nothing.
const VERDICT_STANDS: i64 = 60 * NANOS_PER_SECOND;
/// Packets of an SA without a key before it is told.
const KEY_PACKETS: u64 = 8;

#[derive(Debug, Clone, Copy)]
struct KnownVerdict {
    /// The verdict that was told, and the time.
    told: Option<(Verdict, Timestamp)>,
    /// The verdict of the last look.
    last: Verdict,
}

/// A rekey that was told, by one of its new SAs.
#[derive(Debug, Clone, Copy)]
struct KnownRekey {
    /// Trigger as told.
    trigger: TriggerKind,
    /// True once the cost is final.
    settled: bool,
}

/// The events that were told.
#[derive(Debug, Default)]
pub(super) struct News {
    rekeys: KnownNames<(WatchedDirection, Spi), KnownRekey>,
    costs: KnownNames<(WatchedDirection, Timestamp)>,
    attempts: KnownNames<(TunnelEnds, Timestamp)>,
    keyless: KnownNames<(TunnelEnds, Option<Spi>)>,
    outages: OutageNews,
    verdicts: BTreeMap<WatchedDirection, KnownVerdict>,
    unread: UnreadStretches,
    /// Rekeys whose cost became final since the last look.
    pub(super) settled: Vec<SettledRekey>,
}

impl News {
    /// Says the news of `analysis`, in order of time. `last`: nothing comes after it, so all is settled. `read_again`: packets without a key
    /// are read once it comes; else they stay unread.
    pub(super) fn of(
        &mut self,
        analysis: &Analysis,
        now: Timestamp,
        last: bool,
        read_again: bool,
    ) -> Vec<WatchEvent> {
        if read_again {
            self.unread.clear();
        }
        note_unread(analysis, &mut self.unread);
        let look = Look {
            analysis,
            now,
            last,
            unread: self.unread.clone(),
        };
        let mut events = Vec::new();
        for rekey in &analysis.rekeys {
            let Some(ends) = look.ends(rekey.tunnel) else {
                continue;
            };
            events.extend(self.rekey(ends, rekey, &look));
            self.settle(ends, rekey, &look);
            let costs = rekey.impact.iter().filter(|impact| impact.hurt);
            events.extend(costs.filter_map(|impact| self.cost((ends, rekey), impact, &look)));
        }
        let attempts = analysis.attempts.iter();
        events.extend(attempts.filter_map(|attempt| self.attempt(attempt, &look)));
        self.outages.of(&look, &mut events);
        let sas = analysis.security_associations.iter();
        events.extend(sas.filter_map(|sa| self.keyless(sa, &look)));
        let verdicts = analysis.impact.iter();
        events.extend(verdicts.filter_map(|impact| self.verdict(impact, &look)));
        events.sort_by_key(|event| event.time);
        events
    }

    fn rekey(&mut self, ends: TunnelEnds, rekey: &Rekey, look: &Look<'_>) -> Option<WatchEvent> {
        let switched = rekey.switched.values();
        let (first, last) = (switched.clone().min(), switched.max());
        let time = rekey.started.or(first)?;
        let done = rekey.exchange_ms.map(|ms| time.plus_seconds(ms / 1_000.0));
        // A rekey without a packet yet is agreed on and not in use.
        if !look.settled(last.max(done).unwrap_or(time), SETTLED) {
            return None;
        }
        let event = |what| Some(WatchEvent::of(ends, time, what));
        let trigger = rekey.trigger.kind;
        let names = names_of(ends, &rekey.new);
        if names.iter().any(|name| self.rekeys.get_mut(*name).is_some()) {
            let mut learnt = false;
            for name in names {
                let Some(known) = self.rekeys.get_mut(name) else {
                    continue;
                };
                learnt |= known.trigger == TriggerKind::Unknown && trigger != TriggerKind::Unknown;
                if learnt {
                    known.trigger = trigger;
                }
            }
            let new = rekey.new.clone();
            return learnt.then(|| event(Occurrence::RekeyTrigger { trigger, new }))?;
        }
        for name in &names {
            let settled = false;
            self.rekeys.insert(*name, KnownRekey { trigger, settled });
        }
        if names.is_empty() {
            return None;
        }
        let costs = rekey.impact.iter().filter_map(|impact| impact.cost_seconds);
        let silences = rekey.impact.iter().filter_map(|impact| impact.silence_ms);
        event(Occurrence::Rekey {
            trigger,
            initiator: end_of(ends, rekey.initiator),
            old: rekey.old.clone(),
            new: rekey.new.clone(),
            exchange_ms: rekey.exchange_ms,
            gap_ms: rekey.gap_ms.values().reduce(f64::max),
            silence_ms: silences.reduce(f64::max),
            cost_so_far_seconds: costs.reduce(f64::max),
        })
    }

    /// Notes a rekey that was told, once its cost in both directions is final.
    fn settle(&mut self, ends: TunnelEnds, rekey: &Rekey, look: &Look<'_>) {
        let names = names_of(ends, &rekey.new);
        let pending = |name| self.rekeys.get_mut(name).is_some_and(|known| !known.settled);
        let is_final = Direction::ALL
            .iter()
            .all(|direction| look.cost_is_final(ends, rekey, *direction));
        if !names.iter().copied().any(pending) || !is_final {
            return;
        }
        for name in names {
            if let Some(known) = self.rekeys.get_mut(name) {
                known.settled = true;
            }
        }
        let own = Direction::ALL
            .iter()
            .filter_map(|direction| look.own(rekey, *direction));
        let none = SettledRekey {
            silence_ms: 0.0,
            cost_seconds: 0.0,
        };
        self.settled.push(own.fold(none, |sum, own| SettledRekey {
            silence_ms: sum.silence_ms.max(own.silence_ms),
            cost_seconds: sum.cost_seconds + own.cost_seconds,
        }));
    }

    /// The cost of a rekey in a direction, once the time behind it gives the rate without it.
    fn cost(
        &mut self,
        (ends, rekey): (TunnelEnds, &Rekey),
        impact: &RekeyImpact,
        look: &Look<'_>,
    ) -> Option<WatchEvent> {
        let switched = rekey.switched.get(impact.direction)?;
        let own = look.own(rekey, impact.direction)?;
        if !look.cost_is_final(ends, rekey, impact.direction) {
            return None;
        }
        let lane = (ends, impact.direction);
        let what = Occurrence::RekeyCost {
            direction: impact.direction,
            new: rekey.new.get(impact.direction),
            cost_seconds: own.cost_seconds,
            silence_ms: own.silence_ms,
            at_least: own.at_least,
            why: own.why,
        };
        self.costs
            .insert((lane, switched), ())
            .then(|| WatchEvent::of(ends, switched, what))
    }

    fn attempt(&mut self, attempt: &Attempt, look: &Look<'_>) -> Option<WatchEvent> {
        let (ends, now) = (look.ends(attempt.tunnel)?, look.now);
        if !attempt.outcome.failed() {
            return None;
        }
        let is_certain = match attempt.outcome {
            AttemptOutcome::Unanswered => {
                attempt.transmissions >= LEAST_NOT_BY_CHANCE
                    || now.nanos_since(attempt.first_time) >= UNANSWERED_AFTER
            }
            AttemptOutcome::Refused => true,
            _ => now.nanos_since(attempt.last_time) >= SETTLED,
        };
        if !(look.last || is_certain) || !self.attempts.insert((ends, attempt.first_time), ()) {
            return None;
        }
        let what = Occurrence::RekeyFailed {
            outcome: attempt.outcome,
            reason: attempt.reason.clone(),
            initiator: end_of(ends, attempt.initiator),
            transmissions: attempt.transmissions,
        };
        Some(WatchEvent::of(ends, attempt.first_time, what))
    }

    fn keyless(&mut self, sa: &SecurityAssociation, look: &Look<'_>) -> Option<WatchEvent> {
        let ends = look.ends(sa.tunnel)?;
        let (first, last) = (sa.first_time?, sa.last_time?);
        let settled = |since| look.settled(since, SETTLED);
        let awaited = sa.packets >= KEY_PACKETS && settled(first) || settled(last);
        if is_opened(sa) || !awaited {
            return None;
        }
        // A single line for the tunnel is enough where there are no keys at all.
        let name = (ends, keys_given(look.analysis).then_some(sa.spi));
        let new = self.keyless.insert(name, ());
        // The line for the tunnel names its first SA.
        self.keyless.insert((ends, Some(sa.spi)), ());
        let what = Occurrence::KeyMissing {
            spi: sa.spi,
            dst: sa.dst,
            status: sa.key.status,
        };
        new.then_some(WatchEvent::of(ends, first, what))
    }

    fn verdict(&mut self, impact: &Impact, look: &Look<'_>) -> Option<WatchEvent> {
        let ends = look.ends(impact.tunnel)?;
        let (now, last) = (look.now, look.last);
        let (lane, verdict) = ((ends, impact.direction), impact.verdict);
        let says_something = |verdict: Verdict| verdict.is_harm() || verdict == Verdict::Bounded;
        let known = self.verdicts.entry(lane).or_insert(KnownVerdict {
            told: None,
            last: verdict,
        });
        // A verdict of one look may be gone at the next.
        let holds = last || known.last == verdict;
        known.last = verdict;
        let told = known.told.map(|(told, _)| told);
        let is_news = told != Some(verdict) && (told.is_some() || says_something(verdict));
        let stands = known
            .told
            .is_some_and(|(_, when)| !look.settled(when, VERDICT_STANDS));
        let is_unread = !last && look.is_unread(ends, now.plus_nanos(-REVIEWED), now);
        // Rekeys that were left behind are gone from the verdict, which is no other one for that.
        let is_empty = matches!(verdict, Verdict::NoRekeys | Verdict::NoTraffic);
        if !holds || !is_news || is_empty || stands || is_unread {
            return None;
        }
        let before = known.told.replace((verdict, now)).map(|(before, _)| before);
        // The verdict's own words are on rekeys.
        let failed = (verdict == Verdict::Failed).then(|| line_1(look.analysis));
        let failed = failed.filter(|(tunnel, _)| tunnel.is_none_or(|tunnel| tunnel == impact.tunnel));
        let (sentence, messages) = match failed {
            Some((_, said)) => (said.sentence, said.messages),
            None => (impact.sentence.clone(), impact.messages.clone()),
        };
        let what = Occurrence::VerdictChanged {
            direction: impact.direction,
            verdict,
            before,
            sentence,
            messages,
        };
        Some(WatchEvent::of(ends, now, what))
    }

    /// Takes an event that an earlier run told.
    pub(super) fn remember(&mut self, event: &WatchEvent) {
        let Some(ends) = event.ends else { return };
        let time = event.time;
        match &event.what {
            Occurrence::Rekey { new, trigger, .. } => {
                let (trigger, settled) = (*trigger, true);
                for name in names_of(ends, new) {
                    self.rekeys.insert(name, KnownRekey { trigger, settled });
                }
            }
            Occurrence::RekeyTrigger { new, trigger } => {
                for name in names_of(ends, new) {
                    if let Some(known) = self.rekeys.get_mut(name) {
                        known.trigger = *trigger;
                    }
                }
            }
            Occurrence::RekeyCost { direction, .. } => {
                self.costs.insert(((ends, *direction), time), ());
            }
            Occurrence::RekeyFailed { .. } => drop(self.attempts.insert((ends, time), ())),
            Occurrence::OutageBegan { .. }
            | Occurrence::OutageEnded { .. }
            | Occurrence::OutageCorrected { .. } => self.outages.remember(ends, event),
            Occurrence::KeyMissing { spi, .. } => {
                for name in [None, Some(*spi)] {
                    self.keyless.insert((ends, name), ());
                }
            }
            Occurrence::VerdictChanged {
                direction, verdict, ..
            } => {
                let known = KnownVerdict {
                    told: Some((*verdict, time)),
                    last: *verdict,
                };
                self.verdicts.insert((ends, *direction), known);
            }
            Occurrence::Kernel { .. } => {}
        }
    }
}

/// The names of a rekey: its new SAs.
fn names_of(ends: TunnelEnds, new: &SpiPair) -> Vec<(WatchedDirection, Spi)> {
    let name = |direction: &Direction| Some(((ends, *direction), new.get(*direction)?));
    Direction::ALL.iter().filter_map(name).collect()
}

fn end_of(ends: TunnelEnds, address: Option<std::net::IpAddr>) -> TunnelEnd {
    match address {
        Some(address) if address == ends.client => TunnelEnd::Client,
        Some(address) if address == ends.gateway => TunnelEnd::Gateway,
        _ => TunnelEnd::Unknown,
    }
}

/// Most names of a kind that are known; the oldest are forgotten, which the analysis left behind long ago.
const MOST_KNOWN: usize = 1 << 14;

/// Values by name, with a bound: the oldest give way.
#[derive(Debug)]
pub(super) struct KnownNames<T, V = ()>(IndexMap<T, V>);

impl<T, V> Default for KnownNames<T, V> {
    fn default() -> Self {
        KnownNames(IndexMap::new())
    }
}

impl<T: Copy + Eq + Hash, V> KnownNames<T, V> {
    /// True when it was not known.
    pub(super) fn insert(&mut self, name: T, what: V) -> bool {
        let new = self.0.insert(name, what).is_none();
        if self.0.len() > MOST_KNOWN {
            self.0.shift_remove_index(0);
        }
        new
    }

    pub(super) fn get_mut(&mut self, name: T) -> Option<&mut V> {
        self.0.get_mut(&name)
    }
}
