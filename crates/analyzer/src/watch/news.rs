//! What a document says that was not said before.

use super::totals::SettledRekey;
use rekeyscope_model::analysis::*;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::{Occurrence, TunnelEnd, TunnelEnds, WatchEvent};
use std::collections::{BTreeMap, HashMap, VecDeque};
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
/// An outage that is over is looked at once more after this, and told again where it was another one: by then the ledger has its four seconds
/// on each side, and what IKE asked meanwhile is answered or known as unanswered.
const REVIEWED: i64 = 10 * NANOS_PER_SECOND;
/// Outages of a direction that are remembered for that.
const MOST_OUTAGES: usize = 64;
/// An outage that was told is another one when its length differs by more than a capture's clock may.
const SAME_LENGTH_S: f64 = 0.001;
/// A verdict is told again after this at the earliest: each rekey moves the figures, and who is told of each change learns nothing.
const VERDICT_STANDS: i64 = 60 * NANOS_PER_SECOND;
/// A cost waits this long at most for the keys of the packets around it.
const KEYS_AWAITED: i64 = 30 * NANOS_PER_SECOND;
/// Packets of an SA without a key before it is told.
const KEY_PACKETS: u64 = 8;
/// Most of each kind that are known by name; the oldest are forgotten, which the analysis left behind long ago.
const MOST_KNOWN: usize = 1 << 14;

/// What is known by name, with a bound: the oldest give way.
#[derive(Debug)]
struct KnownNames<T, V = ()> {
    names: HashMap<T, V>,
    order: VecDeque<T>,
}

impl<T, V> Default for KnownNames<T, V> {
    fn default() -> Self {
        KnownNames {
            names: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T: Copy + Eq + Hash, V> KnownNames<T, V> {
    /// True when it was not known.
    fn insert(&mut self, name: T, what: V) -> bool {
        let new = self.names.insert(name, what).is_none();
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

    fn get_mut(&mut self, name: T) -> Option<&mut V> {
        self.names.get_mut(&name)
    }
}

/// First packet and last one without a key, of the SAs of a tunnel.
type Unread = BTreeMap<TunnelEnds, VecDeque<(Timestamp, Timestamp)>>;
/// A direction of a tunnel.
type WatchedDirection = (TunnelEnds, Direction);

#[derive(Debug, Clone)]
struct KnownOutage {
    start: Timestamp,
    /// Its end and length as told.
    end: Option<(Timestamp, f64)>,
    announced: bool,
    /// It was looked at once more.
    reviewed: bool,
    /// Since then it is in no document.
    absent: Option<Timestamp>,
}

impl KnownOutage {
    fn is(&self, outage: &Outage) -> bool {
        let until = |end: Option<Timestamp>| end.unwrap_or(Timestamp(i64::MAX - SAME_OUTAGE));
        let own = self.end.map(|(end, _)| end).or(self.absent);
        outage.start <= until(own).plus_nanos(SAME_OUTAGE)
            && self.start <= until(outage.end).plus_nanos(SAME_OUTAGE)
    }
}

#[derive(Debug, Clone, Copy)]
struct KnownVerdict {
    /// The one that was told, and when.
    told: Option<(Verdict, Timestamp)>,
    /// The one of the last look.
    last: Verdict,
}

/// A rekey that was told, by one of its new SAs.
#[derive(Debug, Clone, Copy)]
struct KnownRekey {
    /// Its trigger as told.
    trigger: TriggerKind,
    /// Its cost is final.
    settled: bool,
}

/// What was said.
#[derive(Debug, Default)]
pub(super) struct News {
    rekeys: KnownNames<(WatchedDirection, Spi), KnownRekey>,
    costs: KnownNames<(WatchedDirection, Timestamp)>,
    attempts: KnownNames<(TunnelEnds, Timestamp)>,
    keyless: KnownNames<(TunnelEnds, Option<Spi>)>,
    outages: BTreeMap<WatchedDirection, VecDeque<KnownOutage>>,
    verdicts: BTreeMap<WatchedDirection, KnownVerdict>,
    unread: Unread,
    /// Rekeys whose cost became final since the last look.
    settled: Vec<SettledRekey>,
}

/// A document, and when it was looked at.
struct Look<'a> {
    analysis: &'a Analysis,
    now: Timestamp,
    /// Nothing comes after it, so all is settled.
    last: bool,
    unread: Unread,
}

impl<'a> Look<'a> {
    fn ends(&self, tunnel: usize) -> Option<TunnelEnds> {
        let tunnel = self.analysis.tunnels.get(tunnel)?;
        Some(TunnelEnds {
            client: tunnel.a,
            gateway: tunnel.b,
        })
    }

    /// What the ledger has of a rekey in a direction.
    fn own(&self, rekey: &Rekey, direction: Direction) -> Option<&'a LedgerRekey> {
        let ledger = self.analysis.ledger_of(rekey.tunnel, direction)?;
        ledger.rekeys.iter().find(|own| own.rekey == rekey.index)
    }

    /// The rekey is over in both directions, and what it owns; the time behind gives the rate without it, and all of it could be read.
    fn cost_is_final(&self, ends: TunnelEnds, rekey: &Rekey, direction: Direction) -> bool {
        let intervals = self.own(rekey, direction).map_or(&[][..], |own| &own.intervals);
        let switched = [rekey.switched.a_to_b, rekey.switched.b_to_a]
            .into_iter()
            .flatten();
        let Some(over) = intervals.iter().map(|interval| interval.to).chain(switched).max() else {
            return self.last;
        };
        let from = intervals
            .iter()
            .map(|interval| interval.from)
            .min()
            .unwrap_or(over);
        // A ledger speaks of inner bytes where all packets around could be read, and of sealed ones elsewhere.
        let unread = self.is_unread(ends, from.plus_nanos(-COST_SETTLED), self.now);
        self.settled(over, if unread { KEYS_AWAITED } else { COST_SETTLED })
    }

    /// The silence of a rekey that began at `start`: its end, its length in seconds, and what ended it.
    fn silence_of_rekey(
        &self,
        (ends, direction): WatchedDirection,
        start: Timestamp,
    ) -> Option<(Timestamp, f64, OutageEnd)> {
        let rekeys = self.analysis.rekeys.iter();
        let own = rekeys
            .filter(|rekey| self.ends(rekey.tunnel) == Some(ends))
            .flat_map(|rekey| {
                let intervals = self.own(rekey, direction).map_or(&[][..], |own| &own.intervals);
                intervals.iter().map(move |interval| (rekey, interval))
            });
        own.filter_map(|(rekey, interval)| {
            let end = interval.arrived?;
            let is_it = interval.from.nanos_since(start).abs() <= SAME_OUTAGE && start < end;
            let switched = rekey
                .switched
                .get(direction)
                .is_some_and(|switched| switched <= end);
            let ended_by = if switched {
                OutageEnd::NewSa
            } else {
                OutageEnd::OldSa
            };
            is_it.then(|| (end, end.seconds_since(interval.from), ended_by))
        })
        .next()
    }

    /// An outage that the inner transfer tells is none while packets of its tunnel wait for a key: they may have carried what is missed.
    fn is_certain(&self, direction: WatchedDirection, outage: &Outage) -> bool {
        outage.confidence == Confidence::Low
            || !self.is_unread(direction.0, outage.start, outage.end.unwrap_or(self.now))
    }

    fn settled(&self, since: Timestamp, nanos: i64) -> bool {
        self.last || self.now.nanos_since(since) >= nanos
    }

    /// Packets between `from` and `to` wait for a key: what they carried is not known, nor what they acknowledged.
    fn is_unread(&self, ends: TunnelEnds, from: Timestamp, to: Timestamp) -> bool {
        let stretches = self.unread.get(&ends);
        stretches.is_some_and(|all| all.iter().any(|(first, last)| *first <= to && from <= *last))
    }
}

impl News {
    /// What is new in `analysis`, in order of time. `last`: nothing comes after it, so all is settled.
    /// `read_again`: what could not be read is, once its key comes; else it stays unread.
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
        for attempt in &analysis.attempts {
            let Some(ends) = look.ends(attempt.tunnel) else {
                continue;
            };
            events.extend(self.attempt(ends, attempt, now, last));
        }
        self.outages(&look, &mut events);
        for sa in &analysis.security_associations {
            let Some(ends) = look.ends(sa.tunnel) else {
                continue;
            };
            events.extend(self.keyless(ends, sa, &look));
        }
        for impact in &analysis.impact {
            let Some(ends) = look.ends(impact.tunnel) else {
                continue;
            };
            events.extend(self.verdict(ends, impact, &look));
        }
        events.sort_by_key(|event| event.time);
        events
    }

    /// Rekeys whose cost became final since the last call.
    pub(super) fn take_settled(&mut self) -> Vec<SettledRekey> {
        std::mem::take(&mut self.settled)
    }

    fn rekey(&mut self, ends: TunnelEnds, rekey: &Rekey, look: &Look<'_>) -> Option<WatchEvent> {
        let switched = [rekey.switched.a_to_b, rekey.switched.b_to_a]
            .into_iter()
            .flatten();
        let (first, last) = (switched.clone().min(), switched.max());
        let time = rekey.started.or(first)?;
        let done = rekey.exchange_ms.map(|ms| time.plus_seconds(ms / 1_000.0));
        // Without a packet yet it is agreed on and not in use: those told wait for the first.
        if !look.settled(last.max(done).unwrap_or(time), SETTLED) {
            return None;
        }
        let event = |what| {
            Some(WatchEvent {
                time,
                ends: Some(ends),
                what,
            })
        };
        let trigger = rekey.trigger.kind;
        let names = names_of(ends, rekey);
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
        let gaps = [rekey.gap_ms.a_to_b, rekey.gap_ms.b_to_a].into_iter().flatten();
        let costs = rekey.impact.iter().filter_map(|impact| impact.cost_seconds);
        let silences = rekey.impact.iter().filter_map(|impact| impact.silence_ms);
        event(Occurrence::Rekey {
            trigger,
            initiator: end_of(ends, rekey.initiator),
            old: rekey.old.clone(),
            new: rekey.new.clone(),
            exchange_ms: rekey.exchange_ms,
            gap_ms: gaps.reduce(f64::max),
            silence_ms: silences.reduce(f64::max),
            cost_so_far_seconds: costs.reduce(f64::max),
        })
    }

    /// Notes a rekey that was told, once its cost in both directions is final.
    fn settle(&mut self, ends: TunnelEnds, rekey: &Rekey, look: &Look<'_>) {
        let names = names_of(ends, rekey);
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
        self.costs.insert((lane, switched), ()).then(|| WatchEvent {
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
        if !(last || is_certain) || !self.attempts.insert((ends, attempt.first_time), ()) {
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

    fn outages(&mut self, look: &Look<'_>, events: &mut Vec<WatchEvent>) {
        let mut seen: BTreeMap<WatchedDirection, Vec<&Outage>> = BTreeMap::new();
        for outage in &look.analysis.outages {
            if let Some(ends) = look.ends(outage.tunnel) {
                seen.entry((ends, outage.direction)).or_default().push(outage);
            }
        }
        for lane in self.outages.keys() {
            seen.entry(*lane).or_default();
        }
        for (lane, outages) in seen {
            let known = self.outages.entry(lane).or_default();
            let mut rest: VecDeque<KnownOutage> = std::mem::take(known);
            let mut put = |event: Option<Occurrence>, time| {
                events.extend(event.map(|what| WatchEvent {
                    time,
                    ends: Some(lane.0),
                    what,
                }));
            };
            let mut until = Timestamp(i64::MIN);
            for outage in outages {
                // Of several SAs of a direction that are down at once, one stands for all.
                if outage.start < until {
                    continue;
                }
                until = outage.end.unwrap_or(look.now);
                let place = rest.iter().position(|known| known.is(outage));
                let mut own = place.and_then(|place| rest.remove(place));
                own.iter_mut().for_each(|own| own.absent = None);
                if look.is_certain(lane, outage) {
                    let told = tell_outage(&mut own, outage, look);
                    put(
                        told,
                        outage
                            .end
                            .filter(|_| outage.seconds > 0.0)
                            .unwrap_or(outage.start),
                    );
                }
                known.extend(own);
            }
            // They are in the document no more.
            for mut own in rest {
                let told = tell_none(&mut own, lane, look);
                let end = own.end.filter(|(_, seconds)| *seconds > 0.0);
                put(told, end.map_or(own.start, |(end, _)| end));
                known.push_back(own);
            }
            known.make_contiguous().sort_by_key(|own| own.start);
            while known.len() > MOST_OUTAGES {
                known.pop_front();
            }
        }
    }

    fn keyless(&mut self, ends: TunnelEnds, sa: &SecurityAssociation, look: &Look<'_>) -> Option<WatchEvent> {
        let (first, last) = (sa.first_time?, sa.last_time?);
        let settled = |since| look.settled(since, SETTLED);
        let awaited = sa.packets >= KEY_PACKETS && settled(first) || settled(last);
        if is_opened(sa) || !awaited {
            return None;
        }
        // Without any keys one line for the tunnel is enough.
        let name = (ends, keys_given(look.analysis).then_some(sa.spi));
        let new = self.keyless.insert(name, ());
        // The line for the tunnel names its first SA.
        self.keyless.insert((ends, Some(sa.spi)), ());
        new.then_some(WatchEvent {
            time: first,
            ends: Some(ends),
            what: Occurrence::KeyMissing {
                spi: sa.spi,
                dst: sa.dst,
                status: sa.key.status,
            },
        })
    }

    fn verdict(&mut self, ends: TunnelEnds, impact: &Impact, look: &Look<'_>) -> Option<WatchEvent> {
        let (now, last) = (look.now, look.last);
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
        let told = known.told.map(|(told, _)| told);
        let is_news = told != Some(verdict) && (told.is_some() || says_something(verdict));
        let stands = known
            .told
            .is_some_and(|(_, when)| !look.settled(when, VERDICT_STANDS));
        let is_unread = !last && look.is_unread(ends, now.plus_nanos(-REVIEWED), now);
        // What was left behind took the rekeys with it; that is no other verdict.
        let is_empty = matches!(verdict, Verdict::NoRekeys | Verdict::NoTraffic);
        if !holds || !is_news || is_empty || stands || is_unread {
            return None;
        }
        let before = known.told.replace((verdict, now)).map(|(before, _)| before);
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
            Occurrence::Rekey { new, trigger, .. } => {
                let (trigger, settled) = (*trigger, true);
                for direction in [Direction::AToB, Direction::BToA] {
                    if let Some(spi) = new.get(direction) {
                        self.rekeys
                            .insert(((ends, direction), spi), KnownRekey { trigger, settled });
                    }
                }
            }
            Occurrence::RekeyTrigger { new, trigger } => {
                for direction in [Direction::AToB, Direction::BToA] {
                    let known = new
                        .get(direction)
                        .and_then(|spi| self.rekeys.get_mut(((ends, direction), spi)));
                    if let Some(known) = known {
                        known.trigger = *trigger;
                    }
                }
            }
            Occurrence::RekeyCost { direction, .. } => {
                self.costs.insert(((ends, *direction), time), ());
            }
            Occurrence::RekeyFailed { .. } => drop(self.attempts.insert((ends, time), ())),
            Occurrence::OutageBegan { direction } => {
                self.outages
                    .entry((ends, *direction))
                    .or_default()
                    .push_back(KnownOutage {
                        start: time,
                        end: None,
                        announced: true,
                        reviewed: false,
                        absent: None,
                    });
            }
            Occurrence::OutageEnded {
                direction, seconds, ..
            } => {
                let (start, end) = (time.plus_seconds(-seconds), Some((time, *seconds)));
                let known = self.outages.entry((ends, *direction)).or_default();
                match known.back_mut().filter(|known| known.end.is_none()) {
                    Some(known) => known.end = end,
                    None => known.push_back(KnownOutage {
                        start,
                        end,
                        announced: false,
                        reviewed: false,
                        absent: None,
                    }),
                }
            }
            Occurrence::OutageCorrected { direction, began, .. } => {
                let known = self.outages.entry((ends, *direction)).or_default();
                for known in known.iter_mut().filter(|known| known.start == *began) {
                    known.reviewed = true;
                    known.end = known.end.or(Some((time, 0.0)));
                }
            }
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

/// What a look says of an outage; `own` is what is known of it.
fn tell_outage(own: &mut Option<KnownOutage>, outage: &Outage, look: &Look<'_>) -> Option<Occurrence> {
    let direction = outage.direction;
    let over = outage.end.filter(|end| look.settled(*end, SETTLED));
    let (seconds, ended_by) = (outage.seconds, outage.ended_by);
    let ended = |announced| Occurrence::OutageEnded {
        direction,
        announced,
        seconds,
        ended_by,
    };
    let Some(own) = own else {
        let told = match (outage.end, over) {
            (None, _) if outage.seconds >= OUTAGE_BEGAN_S => Occurrence::OutageBegan { direction },
            (_, Some(_)) if outage.seconds >= OUTAGE_ENDED_S => ended(false),
            _ => return None,
        };
        *own = Some(KnownOutage {
            start: outage.start,
            end: over.map(|end| (end, seconds)),
            announced: over.is_none(),
            reviewed: false,
            absent: None,
        });
        return Some(told);
    };
    let Some((end, told_seconds)) = own.end else {
        own.end = Some((over?, seconds));
        return Some(ended(own.announced));
    };
    if own.reviewed || !look.settled(end, REVIEWED) {
        return None;
    }
    own.reviewed = true;
    let differs = (seconds - told_seconds).abs() > SAME_LENGTH_S;
    differs.then_some(Occurrence::OutageCorrected {
        direction,
        began: outage.start,
        seconds,
        told_seconds,
    })
}

/// What is said of an outage that was told and is none by the document. Where the silence is that of a rekey, it ends with that.
fn tell_none(own: &mut KnownOutage, lane: WatchedDirection, look: &Look<'_>) -> Option<Occurrence> {
    let direction = lane.1;
    if own.end.is_none()
        && let Some((end, seconds, ended_by)) = look.silence_of_rekey(lane, own.start)
    {
        if !look.settled(end, SETTLED) {
            return None;
        }
        (own.end, own.reviewed) = (Some((end, seconds)), true);
        return Some(Occurrence::OutageEnded {
            direction,
            announced: own.announced,
            seconds,
            ended_by,
        });
    }
    let told = own.end.unwrap_or((own.start, 0.0));
    let absent = *own.absent.get_or_insert(look.now);
    if own.reviewed || !look.settled(told.0.max(absent), REVIEWED) {
        return None;
    }
    own.reviewed = true;
    own.end = Some(told);
    // What was left behind is in no document.
    let first = look.analysis.capture.first_time;
    first
        .is_some_and(|first| first <= own.start)
        .then_some(Occurrence::OutageCorrected {
            direction,
            began: own.start,
            seconds: 0.0,
            told_seconds: told.1,
        })
}

fn names_of(ends: TunnelEnds, rekey: &Rekey) -> Vec<(WatchedDirection, Spi)> {
    let name = |direction: &Direction| Some(((ends, *direction), rekey.new.get(*direction)?));
    Direction::ALL.iter().filter_map(name).collect()
}

fn is_opened(sa: &SecurityAssociation) -> bool {
    sa.inner_bytes.is_some() || sa.key.status == KeyStatus::Verified || sa.protocol == Protocol::Ah
}

fn keys_given(analysis: &Analysis) -> bool {
    let mut files = analysis.key_files.iter();
    files.any(|file| file.esp_keys + file.ike_keys > 0)
}

/// Notes the SAs that wait for a key, where there are keys at all; without any nothing else comes.
fn note_unread(analysis: &Analysis, unread: &mut Unread) {
    if !keys_given(analysis) {
        return;
    }
    for sa in analysis.security_associations.iter().filter(|sa| !is_opened(sa)) {
        let (Some(tunnel), Some(first), Some(last)) =
            (analysis.tunnels.get(sa.tunnel), sa.first_time, sa.last_time)
        else {
            continue;
        };
        let ends = TunnelEnds {
            client: tunnel.a,
            gateway: tunnel.b,
        };
        let known = unread.entry(ends).or_default();
        match known.iter_mut().find(|(known, _)| *known == first) {
            Some(known) => known.1 = last,
            None => known.push_back((first, last)),
        }
        if known.len() > MOST_OUTAGES {
            known.pop_front();
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
