//! Which silences were rest. Rest parts transfers: nobody waited for anything, so it is nobody's outage.
//!
//! With inner TCP, everything that was sent is acknowledged and nothing new comes. Without, nothing at all is sent for longer.
//! Either may hide a sender that was kept from sending: while somebody negotiates, and from a request in vain on, it is no rest.

use crate::pipeline::record::Record;
use crate::traffic::Quiet;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Attempt, Direction, ExchangeKind, Outage};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{LEAST_REST, PacketSilence};
use std::collections::HashMap;

/// A window of data comes once per round trip: what lasts for so many is no pause between two of them.
const ROUND_TRIPS: i64 = 20;
/// Where acknowledgements do not tell: longer than three retransmission timers of strongSwan (24.2 s), so that an outage whose
/// first message was lost is not taken for rest.
const LEAST_UNTOLD: i64 = 30 * NANOS_PER_SECOND;
/// When nothing at all passes for so long, IKE included, whoever waited has given up: the longest timers are those of TCP (Linux:
/// 120 s) and of strongSwan (76 s).
const GIVEN_UP: i64 = 120 * NANOS_PER_SECOND;
/// Most rests of a direction: the longest.
const MOST_RESTS: usize = 127;

/// Last new data before a rest, first new data behind it.
pub(crate) type Rest = (Timestamp, Timestamp);
/// The rests of every tunnel and internal direction, in order of time.
pub(crate) type Rests = HashMap<(TunnelIndex, Direction), Vec<Rest>>;

/// Finds the rests of all tunnels.
pub(crate) fn find(record: &Record, attempts: &[Attempt], outages: &[Outage]) -> Rests {
    let rests = |(tunnel, direction)| {
        let finder = RestFinder::new(record, tunnel, attempts, outages);
        ((tunnel, direction), finder.rests(direction))
    };
    record.meters.directions().map(rests).collect()
}

/// What can keep a sender from sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Busy {
    from: Timestamp,
    to: Timestamp,
    /// It came to nothing: what follows is no rest until data comes again.
    in_vain: bool,
}

/// Tells rests from other silences in the directions of one tunnel.
struct RestFinder<'a> {
    record: &'a Record,
    tunnel: TunnelIndex,
    outages: Vec<&'a Outage>,
    busy: Vec<Busy>,
    /// All exchanges, those that only report or ask for a sign of life too.
    talks: Vec<Busy>,
    /// First messages that make a new IKE SA.
    ike_sas_begin: Vec<Timestamp>,
}

impl<'a> RestFinder<'a> {
    fn new(record: &'a Record, tunnel: TunnelIndex, attempts: &[Attempt], outages: &'a [Outage]) -> Self {
        let mut busy: Vec<Busy> = Vec::new();
        let (mut talks, mut ike_sas_begin) = (Vec::new(), Vec::new());
        for (_, exchange) in record.exchanges().filter(|(of, _)| *of == tunnel) {
            let Some((from, to)) = exchange.first_time().zip(exchange.last_time()) else {
                continue;
            };
            let talk = Busy {
                from,
                to,
                in_vain: false,
            };
            talks.push(talk);
            if exchange.kind != ExchangeKind::Informational {
                busy.push(talk);
            }
            if exchange.kind.begins_ike_sa() {
                ike_sas_begin.push(from);
            }
        }
        let failed = attempts
            .iter()
            .filter(|a| a.tunnel == tunnel && a.outcome.failed());
        for attempt in failed {
            let outage = attempt.outage.as_ref();
            busy.push(Busy {
                from: attempt.first_time,
                to: outage.and_then(|o| o.end).unwrap_or(attempt.last_time),
                in_vain: true,
            });
        }
        busy.sort_unstable();
        talks.sort_unstable();
        RestFinder {
            record,
            tunnel,
            outages: outages.iter().filter(|o| o.tunnel == tunnel).collect(),
            busy,
            talks,
            ike_sas_begin,
        }
    }

    /// The rests of an internal direction, in order of time.
    fn rests(&self, direction: Direction) -> Vec<Rest> {
        let all = &self.record.traffic.quiets;
        let [quiets, other] = [direction, direction.reverse()].map(|of| all.of(self.tunnel, slot(of)));
        // Both halves of a round trip, as far as data shows them.
        let halves = [quiets, other].into_iter();
        let halves = halves.filter_map(|quiets| quiets.iter().filter_map(|q| q.facts.answered_in).min());
        let round_trip = halves.fold(0_i64, i64::saturating_add);
        let mut rests: Vec<Rest> = quiets
            .iter()
            .filter(|q| self.is_rest(q, direction, round_trip))
            .map(Quiet::span)
            .collect();
        if rests.len() > MOST_RESTS {
            rests.sort_by_key(|(from, to)| std::cmp::Reverse(to.nanos_since(*from)));
            rests.truncate(MOST_RESTS);
        }
        rests.sort_unstable();
        rests
    }

    fn is_rest(&self, quiet: &Quiet, direction: Direction, round_trip: i64) -> bool {
        let direction = self.record.published((self.tunnel, direction));
        let outages = self.outages.iter().filter(|o| {
            let lasts = o.start < quiet.to && o.end.is_none_or(|end| end > quiet.from);
            o.direction == direction && lasts
        });
        let outages: Vec<Busy> = outages
            .map(|o| Busy {
                from: o.start,
                to: o.end.unwrap_or(quiet.to),
                in_vain: o.end.is_none(),
            })
            .collect();
        let mut busy = [&self.busy[..], &outages].concat();
        busy.sort_unstable();
        let free = longest_free(&busy, quiet.facts.since(), quiet.to);
        let was_free = !quiet.facts.other_sa || self.is_negotiated_within(quiet);
        let told = was_free && quiet.facts.acknowledged.is_some();
        let least = if told {
            LEAST_REST.max(round_trip.saturating_mul(ROUND_TRIPS))
        } else {
            LEAST_UNTOLD
        };
        free >= least || outages.is_empty() && self.begins_anew(quiet) || self.is_given_up(quiet)
    }

    /// The change of SA that a silence ends with was negotiated in it.
    fn is_negotiated_within(&self, quiet: &Quiet) -> bool {
        self.busy.iter().any(|b| b.from < quiet.to && b.to >= quiet.from)
    }

    /// A new IKE SA after a silence of everything.
    fn begins_anew(&self, quiet: &Quiet) -> bool {
        let silent = |begins: Timestamp| {
            self.silences(quiet).any(|s| {
                let from = s.from.max(quiet.from);
                s.to >= begins
                    && begins.nanos_since(from) >= LEAST_REST
                    && longest_free(&self.busy, from, begins) >= LEAST_REST
            })
        };
        let mut within = self
            .ike_sas_begin
            .iter()
            .filter(|t| quiet.from < **t && **t <= quiet.to);
        within.any(|&begins| silent(begins))
    }

    /// Nothing at all passed for so long that nobody can still wait for anything.
    fn is_given_up(&self, quiet: &Quiet) -> bool {
        let within = quiet.span();
        let mut silent = self.silences(quiet).filter_map(|s| s.within(within));
        silent.any(|s| s.nanos() >= GIVEN_UP && longest_free(&self.talks, s.from, s.to) >= GIVEN_UP)
    }

    /// Times that reach into a silence in which nobody sent ESP.
    fn silences(&self, quiet: &Quiet) -> impl Iterator<Item = PacketSilence> {
        let within = quiet.span();
        let traffic = &self.record.traffic;
        traffic
            .silences(self.tunnel, &Direction::BOTH, within)
            .into_iter()
    }
}

/// The longest part of a silence in which nothing keeps anybody from sending, nanoseconds. `busy` is in order of time.
fn longest_free(busy: &[Busy], from: Timestamp, to: Timestamp) -> i64 {
    let (mut at, mut longest) = (from, 0);
    for busy in busy.iter().filter(|b| b.from < to && b.to >= from) {
        longest = longest.max(busy.from.nanos_since(at));
        at = at.max(if busy.in_vain { to } else { busy.to });
    }
    longest.max(to.nanos_since(at))
}
