//! Stretches in which nothing was delivered → outages: those that a failed attempt, a limit, a Delete, or an SA that swallows
//! everything explains. Other stretches are rest, loss or the application's.

use crate::diagnosis::{DeliveredPacket, LEAST_STRETCH, ProgressKind, UndeliveredStretch};
use crate::pipeline::record::Record;
use rekeyscope_ipsec::rekey::attempt::{AttemptSeen, PEER_SILENT, UnansweredCheck};
use rekeyscope_ipsec::rekey::pair::ChildSa;
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_ipsec::sa::volume::expired;
use rekeyscope_model::analysis::{AttemptOutcome, Direction, OutageEnd};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// A limit or a Delete this close to the last data that arrived ended it: the busy host's scheduling (0.2 s in the lab), a
/// queue before the capture point, and a round trip lie between.
const NEAR: i64 = NANOS_PER_SECOND;
/// A check of the peer this long before or after an attempt, or after the last data, belongs to the same trouble: strongSwan and
/// racoon ask every 30 s.
pub(crate) const CHECK_NEAR: i64 = 60 * NANOS_PER_SECOND;
/// What a sender repeats so often without an answer is lost: one or two segments may be.
const LEAST_AGAIN: u32 = 3;
/// An exchange whose first message is older than this says nothing more.
const LONGEST_EXCHANGE: i64 = 300 * NANOS_PER_SECOND;
/// Doubling timeouts from [`LEAST_STRETCH`] on take longer than this for [`LEAST_AGAIN`] copies (0.2 + 0.4 + 0.8 s).
const LEAST_BLACKHOLE: i64 = 7 * LEAST_STRETCH;

/// An outage, and what it comes from.
#[derive(Debug, Clone)]
pub(crate) struct OutageSeen {
    pub(crate) stretch: UndeliveredStretch,
    pub(crate) end: OutageEnd,
    /// Indexes of the attempts it comes from; empty where there is none.
    pub(crate) attempts: Vec<usize>,
    /// ESP went one way and was sent again.
    pub(crate) blackhole: bool,
    /// Index of the check that nobody answered meanwhile.
    pub(crate) check: Option<usize>,
}

impl OutageSeen {
    /// The other one is part of it.
    fn holds(&self, other: &OutageSeen) -> bool {
        let (own, other) = (&self.stretch, &other.stretch);
        let until = |s: &UndeliveredStretch| s.to.map(|to| to.time);
        (own.tunnel, own.slot) == (other.tunnel, other.slot)
            && own.from.time <= other.from.time
            && until(own).is_none_or(|end| until(other).is_some_and(|other| other <= end))
    }
}

/// What an outage can come from.
pub(crate) struct Suspects<'a> {
    record: &'a Record,
    successions: &'a [Succession],
    attempts: &'a [AttemptSeen],
    checks: &'a [UnansweredCheck],
    /// Last frame of the capture.
    ends: Timestamp,
    /// Attempts that failed, or nearly did, by tunnel.
    failed: HashMap<TunnelIndex, Vec<usize>>,
    /// The attempt that made each SA.
    makers: HashMap<SaIndex, usize>,
    /// SAs that reached their hard limit while the next one was negotiated: what was lost then is that rekey's.
    limited: HashSet<SaIndex>,
    /// The exchange that made each SA.
    exchanges: HashMap<SaIndex, usize>,
    /// When each SA was deleted, by who receives on it.
    deletes: HashMap<(IpAddr, Spi), Vec<Timestamp>>,
}

impl<'a> Suspects<'a> {
    pub(crate) fn new(
        record: &'a Record,
        (children, successions): (&[ChildSa], &'a [Succession]),
        attempts: &'a [AttemptSeen],
        checks: &'a [UnansweredCheck],
        ends: Timestamp,
    ) -> Self {
        let mut suspects = Suspects {
            record,
            successions,
            attempts,
            checks,
            ends,
            failed: HashMap::new(),
            makers: HashMap::new(),
            limited: HashSet::new(),
            exchanges: HashMap::new(),
            deletes: HashMap::new(),
        };
        for (index, attempt) in attempts.iter().enumerate() {
            if attempt.outcome.failed() || attempt.answered_late() {
                suspects.failed.entry(attempt.tunnel).or_default().push(index);
            }
            if attempt.outcome == AttemptOutcome::Completed {
                let made = attempt.sas.into_iter().flatten();
                suspects.makers.extend(made.map(|sa| (sa, index)));
            }
        }
        for succession in successions {
            let facts = record.diagnosis.causes(succession, &[]);
            if facts.iter().any(|c| c.id == "hard_limit_reached") {
                suspects.limited.extend(succession.old.into_iter().flatten());
            }
        }
        for child in children {
            let made = child.sa.into_iter().flatten();
            suspects
                .exchanges
                .extend(made.filter_map(|sa| Some((sa, child.exchange?))));
        }
        for deletion in record.timeline.exchanges().iter().flat_map(|e| &e.deletes) {
            let own = suspects.deletes.entry((deletion.by, deletion.spi)).or_default();
            own.push(deletion.time);
        }
        suspects
    }
}

/// All outages in order of time.
pub(crate) fn outages(suspects: &Suspects<'_>) -> Vec<OutageSeen> {
    let record = suspects.record;
    let stretches = record.diagnosis.stretches(suspects.ends);
    let wanted = stretches
        .into_iter()
        .filter(|s| record.wants(s.tunnel) && !only_answers(record, s));
    let mut found: Vec<OutageSeen> = wanted.filter_map(|s| suspects.explain(s)).collect();
    let beyond = suspects.beyond_the_limit();
    found.retain(|o| !beyond.iter().any(|longer| longer.holds(o)));
    found.extend(beyond);
    found.sort_by_key(|o| (o.stretch.from.time, o.stretch.tunnel, o.stretch.slot));
    found
}

/// Without keys each direction answers the other: the outage is that of the busier one.
fn only_answers(record: &Record, stretch: &UndeliveredStretch) -> bool {
    let of = |slot: usize| record.meters.esp_bytes(stretch.tunnel, direction(slot));
    stretch.kind == ProgressKind::Answered && of(stretch.slot) < of(1 - stretch.slot)
}

pub(crate) fn direction(slot: usize) -> Direction {
    Direction::BOTH[slot]
}

impl Suspects<'_> {
    fn association(&self, sa: SaIndex) -> &Association {
        &self.record.sas.associations()[sa]
    }

    fn explain(&self, stretch: UndeliveredStretch) -> Option<OutageSeen> {
        let until = stretch.to.map_or(self.ends, |to| to.time);
        let old = self.association(stretch.from.sa);
        let made = self.maker_of(stretch.to);
        let near = |time: Timestamp| time.nanos_since(stretch.from.time).abs() <= NEAR;
        let expired = expired(old).is_some_and(near);
        let deleted = self.deletes(old).iter().any(|time| near(*time));
        let unheard_since = self.unheard_since(&stretch, until);
        let made = unheard_since.or(made);
        let changed = unheard_since.is_some() || stretch.to.is_none_or(|to| to.sa != stretch.from.sa);
        let mut attempts = self.failed_before(&stretch, until, made.filter(|_| changed));
        if !changed {
            attempts.retain(|&a| self.overlaps(a, &stretch, until));
        }
        let broken = attempts.iter().any(|&a| {
            let attempt = &self.attempts[a];
            attempt.exchange.is_none() && near(attempt.first_time)
        });
        // Where the old SA works again, it was the path that failed: for longer than random loss holds a sender up.
        let gone = changed && (expired || deleted || broken);
        let long = until.nanos_since(stretch.from.time) >= LEAST_BLACKHOLE;
        let check = self.checks.iter().position(|c| {
            c.tunnel == stretch.tunnel && c.first_time <= until && c.last_time >= stretch.from.time
        });
        // A sender that died has nothing in flight: who asks soon after its last word whether it lives had expected more.
        let dead =
            check.is_some_and(|c| self.checks[c].first_time.nanos_since(stretch.from.time) <= CHECK_NEAR);
        // Or it was asked for a new SA just then.
        let mute = attempts.iter().any(|&a| {
            let attempt = &self.attempts[a];
            attempt.outcome == AttemptOutcome::Unanswered
                && attempt.reason == Some(PEER_SILENT)
                && near(attempt.first_time)
        });
        let mut lost = self.record.diagnosis.vanished((stretch.tunnel, stretch.slot));
        let vanished = lost.any(|v| v.from >= stretch.from.time && v.to <= until);
        let ended = (gone || dead || mute) && !stretch.rested || vanished;
        if !(stretch.waiting_since.is_some() || ended) || !(changed || long) {
            return None;
        }
        let known = gone || check.is_some() || !attempts.is_empty();
        let swallowed = changed && !known && (vanished || self.swallows(&stretch, until));
        // What is lost while the next pair is negotiated is that rekey's.
        let lost_since = stretch.waiting_since.unwrap_or(stretch.from.time);
        let before = made.is_none_or(|made| lost_since < self.attempts[made].first_time);
        let limited = self.limited.contains(&stretch.from.sa);
        let blackhole = swallowed && before && !limited;
        if attempts.is_empty() && changed {
            attempts.extend(if blackhole {
                self.maker_of(Some(stretch.from))
            } else {
                made
            });
        }
        let failed = attempts.iter().any(|&a| self.failed(a));
        (gone || failed || swallowed || check.is_some()).then(|| OutageSeen {
            end: match unheard_since {
                Some(_) if stretch.to.is_some() => OutageEnd::NewSa,
                _ => self.end_of(stretch.from, stretch.to),
            },
            stretch,
            attempts,
            blackhole,
            check,
        })
    }

    /// The attempt whose new SA brings acknowledgements that nobody hears: its receiver did not have it. Data goes on, on the
    /// SA that it went on before, as soon as he does.
    fn unheard_since(&self, stretch: &UndeliveredStretch, until: Timestamp) -> Option<usize> {
        let back = 1 - stretch.slot;
        let from = stretch.from.time.plus_nanos(-NEAR);
        let begun = |sa: &SaIndex| {
            let first = self.association(*sa).first;
            first.is_some_and(|(first, _)| (from..until).contains(&first))
        };
        let own = self.successions.iter().filter(|s| s.tunnel == stretch.tunnel);
        let mut made = own.filter_map(|s| s.new[back].filter(begun));
        let sa = made.next().filter(|_| stretch.unheard)?;
        self.makers.get(&sa).copied()
    }

    /// Requests went unanswered while nothing was delivered.
    fn overlaps(&self, attempt: usize, stretch: &UndeliveredStretch, until: Timestamp) -> bool {
        let attempt = &self.attempts[attempt];
        let unanswered = attempt.outcome == AttemptOutcome::Unanswered || attempt.answered_late();
        unanswered && attempt.first_time <= until && attempt.last_time >= stretch.from.time
    }

    fn failed(&self, attempt: usize) -> bool {
        let attempt = &self.attempts[attempt];
        attempt.outcome.failed() || attempt.answered_late()
    }

    /// The attempts that failed, or nearly did, to replace the SA that was in use, before one succeeded that began later.
    fn failed_before(
        &self,
        stretch: &UndeliveredStretch,
        until: Timestamp,
        made: Option<usize>,
    ) -> Vec<usize> {
        let in_use_since = self.association(stretch.from.sa).first.map(|(t, _)| t);
        let from = stretch.from.time;
        let of_it = |&a: &usize| {
            let attempt = &self.attempts[a];
            let early = match (attempt.outcome, made) {
                _ if attempt.exchange.is_none() => attempt.sas[stretch.slot] == Some(stretch.from.sa),
                (AttemptOutcome::Completed, _) => (attempt.first_time..=attempt.last_time).contains(&from),
                (_, Some(made)) => from < self.attempts[made].first_time,
                (_, None) => true,
            };
            attempt.first_time <= until && Some(attempt.first_time) > in_use_since && early
        };
        let failed = self.failed.get(&stretch.tunnel).map_or(&[][..], Vec::as_slice);
        failed.iter().copied().filter(of_it).collect()
    }

    /// The attempt that made the SA on which a packet went.
    fn maker_of(&self, packet: Option<DeliveredPacket>) -> Option<usize> {
        self.makers.get(&packet?.sa).copied()
    }

    /// When the receiver deleted it.
    fn deletes(&self, association: &Association) -> &[Timestamp] {
        let own = self.deletes.get(&(association.dst, association.spi));
        own.map_or(&[], Vec::as_slice)
    }

    /// Data was sent again and again, nothing was acknowledged, and the other side lived: IKE worked meanwhile.
    fn swallows(&self, stretch: &UndeliveredStretch, until: Timestamp) -> bool {
        let receiver = self.association(stretch.from.sa).dst;
        let from = stretch.from.time;
        let alive = || {
            let exchanges = self.record.timeline.exchanges();
            let began =
                exchanges.partition_point(|e| e.first_time() < Some(from.plus_nanos(-LONGEST_EXCHANGE)));
            let later = exchanges[began..]
                .iter()
                .take_while(|e| e.first_time() <= Some(until));
            let mut messages = later.flat_map(|e| &e.records);
            messages.any(|m| m.src == receiver && m.time > from && m.time <= until)
        };
        stretch.kind == ProgressKind::Acknowledged
            && stretch.again >= LEAST_AGAIN
            && until.nanos_since(from) >= LEAST_BLACKHOLE
            && alive()
    }

    fn end_of(&self, from: DeliveredPacket, to: Option<DeliveredPacket>) -> OutageEnd {
        let ike_sa = |sa| {
            let exchange = *self.exchanges.get(&sa)?;
            self.record.timeline.exchanges()[exchange].ike_sa
        };
        match to {
            None => OutageEnd::End,
            Some(to) if to.sa == from.sa => OutageEnd::OldSa,
            Some(to) => match (ike_sa(from.sa), ike_sa(to.sa)) {
                (Some(old), Some(new)) if old != new => OutageEnd::NewIkeSa,
                _ => OutageEnd::NewSa,
            },
        }
    }

    /// Payload that nobody acknowledges goes on beyond the limit of its SA, and is dropped.
    fn beyond_the_limit(&self) -> Vec<OutageSeen> {
        let shares = tcp_shares(self.record);
        let olds = self.successions.iter().flat_map(|s| [0, 1].map(|slot| (s, slot)));
        let renewals: HashMap<(SaIndex, usize), &Succession> = olds
            .filter_map(|(s, slot)| Some(((s.old[slot]?, slot), s)))
            .collect();
        let all = self.record.sas.associations().iter().enumerate();
        let of_sa = |(sa, association): (SaIndex, &Association)| {
            let (tunnel, slot) = (association.tunnel, slot(association.direction));
            let deleted = || {
                let (passed, _) = association.limit_passed?;
                let own = self.deletes(association).iter();
                own.max().is_some_and(|last| *last >= passed).then_some(passed)
            };
            let passed = expired(association).or_else(deleted)?;
            let acknowledged = shares
                .get(&(tunnel, slot))
                .is_some_and(|(tcp, all)| 2 * tcp >= *all);
            if acknowledged || !self.record.wants(tunnel) {
                return None;
            }
            let to = renewals.get(&(sa, slot)).and_then(|s| {
                let first = self.association(s.new[slot]?).first_payload?;
                Some(DeliveredPacket {
                    time: first.0,
                    frame: first.1,
                    sa: s.new[slot]?,
                })
            });
            let until = to.map_or(self.ends, |to| to.time);
            let (_, last_frame) = association.last?;
            let from = DeliveredPacket {
                time: passed,
                frame: last_frame,
                sa,
            };
            (until.nanos_since(passed) >= LEAST_STRETCH).then(|| OutageSeen {
                end: self.end_of(from, to),
                attempts: self
                    .maker_of(to)
                    .or_else(|| self.without_attempt(sa))
                    .into_iter()
                    .collect(),
                stretch: UndeliveredStretch {
                    tunnel,
                    slot,
                    from,
                    to,
                    kind: ProgressKind::Arrived,
                    rested: false,
                    waiting_since: Some(passed),
                    again: 0,
                    unheard: false,
                    frames: Vec::new(),
                },
                blackhole: false,
                check: None,
            })
        };
        all.filter_map(of_sa).collect()
    }

    fn without_attempt(&self, sa: SaIndex) -> Option<usize> {
        let of_it = |a: &AttemptSeen| a.exchange.is_none() && a.sas.contains(&Some(sa));
        self.attempts.iter().position(of_it)
    }
}

/// TCP bytes and all bytes of each direction.
fn tcp_shares(record: &Record) -> HashMap<(usize, usize), (u64, u64)> {
    let mut shares: HashMap<(usize, usize), (u64, u64)> = HashMap::new();
    for (_, flow) in record.flows.flows() {
        let share = shares.entry((flow.tunnel, slot(flow.direction))).or_default();
        share.1 += flow.bytes;
        share.0 += if flow.protocol == "tcp" { flow.bytes } else { 0 };
    }
    shares
}
