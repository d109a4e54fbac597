//! The comparison as a whole.

use crate::tell::two_points as tell;
use crate::two_points::clock::{ClockLine, Clouds, LagOrigin, MS};
use crate::two_points::lane::{PointLane, PointLaneKey, lanes};
use crate::two_points::messages::{Seen, messages};
use crate::two_points::numbers::{SaMatch, matches, pairs};
use crate::two_points::rekey_loss::{PassedFirst, RekeyAt, RekeyLosses};
use crate::two_points::trace::PointTrace;
use rekeyscope_model::analysis::{PointDelay, PointDirection, PointOrder, TwoPoints};
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;

/// The time that counts begins so long after both captures do, and ends so long before, at least …
const LEAST_MARGIN_S: f64 = 0.01;
/// … and at most, where one packet took longer than all others.
const MOST_MARGIN_S: f64 = 2.0;
/// Sightings of a message closer than this are one: half of the shortest time after which IKE sends again (0.5 s, Solaris).
const SAME_MESSAGE_S: f64 = 0.25;
/// A sender that skips more numbers at once did not lose packets.
const LARGEST_HOLE: i64 = 1 << 20;

/// The comparison of this capture with another one, with what each of these rekeys lost.
pub fn two_points(here: &PointTrace, there: &PointTrace, rekeys: &[RekeyAt]) -> TwoPoints {
    let found = pairs(here, there);
    let matches = matches(here, there, &found.pairs);
    // Those that only an SPI paired, without one packet in common.
    let unpaired = (found.pairs.len() - matches.len()) as u64;
    let base = TwoPoints {
        path: there.path.clone(),
        files: there.files.clone(),
        packets: there.packets_seen,
        dropped_reported: there.dropped_reported,
        truncated_file: there.truncated,
        from: None,
        to: None,
        sas: matches.len() as u64,
        sas_behind_nat: matches.iter().filter(|sa| sa.behind_nat).count() as u64,
        sas_only_here: found.only_here + unpaired,
        sas_only_there: found.only_there + unpaired,
        kept_until: None,
        clock: None,
        directions: Vec::new(),
        rekeys: Vec::new(),
        sentence: String::new(),
        messages: Vec::new(),
    };
    let compared = match PointComparison::of(here, there, &matches) {
        Some(comparison) => comparison.told(base, here, there, &matches, rekeys),
        None => base,
    };
    let said = tell::whole(&compared, here.dropped_reported, &here.files);
    TwoPoints {
        sentence: said.sentence,
        messages: said.messages,
        ..compared
    }
}

/// The clock, the lanes and the time that counts.
struct PointComparison<'m> {
    origin: LagOrigin,
    line: ClockLine,
    lanes: Vec<PointLane<'m>>,
    from: Timestamp,
    to: Timestamp,
    kept_until: Option<Timestamp>,
    /// What two sightings of one message may be apart, seconds.
    same_message_s: f64,
}

impl<'m> PointComparison<'m> {
    /// `None` without one packet that both points saw.
    fn of(here: &PointTrace, there: &PointTrace, matches: &'m [SaMatch]) -> Option<Self> {
        let &(_, first, first_there) = matches.iter().find_map(|sa| sa.both.first())?;
        let origin = LagOrigin {
            time: first,
            lag: first_there.nanos_since(first),
        };
        let lanes = lanes(here, there, matches, origin);
        let line = ClockLine::of(origin, clouds(&lanes, origin))?;
        let longest = lanes.iter().flat_map(|lane| lane.lags(origin));
        let longest = longest
            .map(|lag| (lag.y - line.at(lag.x)).abs())
            .fold(0.0, f64::max);
        let margin = longest.clamp(LEAST_MARGIN_S, MOST_MARGIN_S);
        let kept_there = there.kept_until.map(|time| line.here(time));
        let kept_until = [here.kept_until, kept_there].into_iter().flatten().min();
        let (ours, theirs) = (here.covered?, there.covered?);
        let to = ours.1.min(line.here(theirs.1));
        let to = kept_until.map_or(to, |kept| kept.min(to));
        Some(PointComparison {
            origin,
            from: ours.0.max(line.here(theirs.0)).plus_seconds(margin),
            to: to.plus_seconds(-margin),
            kept_until,
            same_message_s: margin.max(SAME_MESSAGE_S),
            line,
            lanes,
        })
    }

    fn counts(&self, time: Timestamp) -> bool {
        (self.from..=self.to).contains(&time)
    }

    fn told(
        &self,
        base: TwoPoints,
        here: &PointTrace,
        there: &PointTrace,
        matches: &[SaMatch],
        rekeys: &[RekeyAt],
    ) -> TwoPoints {
        let mut losses = RekeyLosses::of(rekeys);
        let mut directions: Vec<PointDirection> =
            self.lanes.iter().map(|lane| self.direction(lane, here)).collect();
        for lane in &self.lanes {
            self.packets_sent(lane, here, &mut losses);
        }
        let found = messages(&self.line, self.same_message_s, here, there);
        let orders: HashMap<PointLaneKey, PointOrder> =
            self.lanes.iter().map(|lane| (lane.key, lane.order)).collect();
        for message in found.into_iter().filter(|m| self.counts(m.time)) {
            let mut all = directions.iter_mut();
            let Some(d) = all.find(|d| (d.tunnel, d.direction) == message.lane) else {
                continue;
            };
            let seen = match message.seen {
                Seen::Both => &mut d.ike_both,
                Seen::Here => &mut d.ike_only_here,
                Seen::There => &mut d.ike_only_there,
            };
            *seen += 1;
            let order = orders.get(&message.lane).copied().unwrap_or(PointOrder::Unknown);
            if message.seen.is_lost(order) {
                let sent = PassedFirst::LostMessage(message.initiator_spi, message.message_id);
                losses.take(message.lane, message.time, sent);
            }
        }
        let known = |sa: &&SaMatch| !sa.both.is_empty();
        let sas = matches.iter().filter(known).count() as u64;
        TwoPoints {
            sas,
            from: Some(self.from),
            to: Some(self.to),
            kept_until: self.kept_until,
            clock: Some(self.line.told(self.from)),
            directions,
            rekeys: losses.told(),
            ..base
        }
    }

    /// The figures of one lane.
    fn direction(&self, lane: &PointLane, here: &PointTrace) -> PointDirection {
        let ends = lane.sas.first().map(|sa| here.sas[sa.sa]);
        let unknown = std::net::IpAddr::from([0; 4]);
        let mut d = PointDirection {
            tunnel: lane.key.0,
            direction: lane.key.1,
            src: ends.map_or(unknown, |sa| sa.src),
            dst: ends.map_or(unknown, |sa| sa.id.dst),
            order: lane.order,
            order_by: lane.order_by,
            both: 0,
            only_here: 0,
            only_there: 0,
            outside: 0,
            lost_between: None,
            not_recorded: None,
            missing_at_both: 0,
            duplicates_here: 0,
            duplicates_there: 0,
            reordered: 0,
            delay_ms: None,
            variation_ms: None,
            ike_both: 0,
            ike_only_here: 0,
            ike_only_there: 0,
        };
        for sa in &lane.sas {
            let mut numbers: Vec<(i64, bool)> = Vec::with_capacity(sa.both.len());
            for &(n, time, _) in &sa.both {
                numbers.push((n, self.count(&mut d, time, |d| &mut d.both)));
            }
            for &(n, time) in &sa.only_here {
                numbers.push((n, self.count(&mut d, time, |d| &mut d.only_here)));
            }
            for &(n, time) in &sa.only_there {
                let time = self.line.here(time);
                numbers.push((n, self.count(&mut d, time, |d| &mut d.only_there)));
            }
            numbers.sort_unstable();
            d.missing_at_both += holes(&numbers);
            d.duplicates_here += sa.copies_here;
            d.duplicates_there += sa.copies_there;
            d.reordered += self.overtaken(sa, lane.order);
        }
        (d.lost_between, d.not_recorded) = match lane.order {
            PointOrder::HereFirst => (Some(d.only_here), Some(d.only_there)),
            PointOrder::ThereFirst => (Some(d.only_there), Some(d.only_here)),
            PointOrder::Unknown => (None, None),
        };
        self.measure(&mut d, lane);
        d
    }

    fn count(
        &self,
        d: &mut PointDirection,
        time: Timestamp,
        counter: fn(&mut PointDirection) -> &mut u64,
    ) -> bool {
        let counts = self.counts(time);
        *(if counts { counter(d) } else { &mut d.outside }) += 1;
        counts
    }

    /// The delays, where one line fits the clocks.
    fn measure(&self, d: &mut PointDirection, lane: &PointLane) {
        if !self.line.straight {
            return;
        }
        let counted = lane.lags(self.origin).into_iter().filter(|lag| {
            let time = self.origin.time.plus_seconds(lag.x);
            self.counts(time)
        });
        let above = counted.map(|lag| lag.y - self.line.at(lag.x));
        let order = lane.order_by_times();
        let mut delays: Vec<f64> = match order {
            PointOrder::ThereFirst => above.map(|above| -above * MS).collect(),
            PointOrder::HereFirst => above.map(|above| above * MS).collect(),
            // The line lies along the one cloud, below it or above.
            PointOrder::Unknown => above.map(|above| above.abs() * MS).collect(),
        };
        delays.sort_by(f64::total_cmp);
        let Some(all) = distribution(&delays) else {
            return;
        };
        let fastest = self.line.half_gap.unwrap_or(0.0) * MS;
        let fastest = if order == PointOrder::Unknown {
            0.0
        } else {
            fastest
        };
        d.variation_ms = Some(PointDelay {
            least: (all.least - fastest).max(0.0),
            median: (all.median - fastest).max(0.0),
            p95: (all.p95 - fastest).max(0.0),
            most: (all.most - fastest).max(0.0),
        });
        d.delay_ms = (order != PointOrder::Unknown && self.line.half_gap.is_some()).then_some(all);
    }

    /// Packets that came to the second point behind one that was behind them at the first (RFC 4737 §3.3 counts them so).
    fn overtaken(&self, sa: &SaMatch, order: PointOrder) -> u64 {
        let both = sa.both.iter().filter(|(_, time, _)| self.counts(*time));
        let mut arrivals: Vec<(Timestamp, Timestamp)> = both
            .map(|&(_, here, there)| match order {
                PointOrder::ThereFirst => (here, there),
                _ => (there, here),
            })
            .collect();
        arrivals.sort_unstable();
        let mut latest = Timestamp(i64::MIN);
        let mut overtaken = 0;
        for (_, left) in arrivals {
            overtaken += u64::from(left < latest);
            latest = latest.max(left);
        }
        overtaken
    }

    /// Hands every packet that passed the first point to its rekey.
    fn packets_sent(&self, lane: &PointLane, here: &PointTrace, losses: &mut RekeyLosses<'_>) {
        for sa in &lane.sas {
            let spi = here.sas[sa.sa].id.spi;
            let lost: Vec<Timestamp> = match lane.order {
                PointOrder::HereFirst => sa.only_here.iter().map(|&(_, time)| time).collect(),
                PointOrder::ThereFirst => sa.only_there.iter().map(|&(_, t)| self.line.here(t)).collect(),
                PointOrder::Unknown => Vec::new(),
            };
            let lost = lost.into_iter().filter(|time| self.counts(*time));
            lost.for_each(|time| losses.take(lane.key, time, PassedFirst::Lost(spi)));
            let arrived = sa.both.iter().filter(|(_, time, _)| self.counts(*time));
            arrived.for_each(|&(_, time, _)| losses.take(lane.key, time, PassedFirst::Arrived(spi)));
        }
    }
}

/// The lags of the lanes, by which point they pass first. Those whose times do not tell count only where there are no others.
fn clouds(lanes: &[PointLane], origin: LagOrigin) -> Clouds {
    let of = |order: PointOrder| -> Vec<_> {
        let lanes = lanes.iter().filter(|lane| lane.order_by_times() == order);
        lanes.flat_map(|lane| lane.lags(origin)).collect()
    };
    let (first, second) = (of(PointOrder::HereFirst), of(PointOrder::ThereFirst));
    if !first.is_empty() || !second.is_empty() {
        return Clouds { first, second };
    }
    let mut unknown = of(PointOrder::Unknown);
    unknown.sort_by(|a, b| a.y.total_cmp(&b.y));
    let by_hops = |order| lanes.iter().any(|lane| lane.order == order);
    let orders = (by_hops(PointOrder::HereFirst), by_hops(PointOrder::ThereFirst));
    let tail_above = match (orders, unknown.first(), unknown.last()) {
        ((true, false), ..) => true,
        ((false, true), ..) => false,
        // Delays have a long tail: on its side the cloud is away from the line.
        (_, Some(least), Some(most)) => {
            let median = unknown.get(unknown.len() / 2).map_or(least.y, |median| median.y);
            most.y - median >= median - least.y
        }
        _ => true,
    };
    match tail_above {
        true => Clouds {
            first: unknown,
            second: Vec::new(),
        },
        false => Clouds {
            first: Vec::new(),
            second: unknown,
        },
    }
}

/// Numbers that are missing between two that were seen, both within the time that counts.
fn holes(numbers: &[(i64, bool)]) -> u64 {
    let pairs = numbers.windows(2).filter_map(|pair| match pair {
        [(a, true), (b, true)] => Some(b - a - 1),
        _ => None,
    });
    let holes = pairs.filter(|hole| (1..LARGEST_HOLE).contains(hole));
    holes.map(i64::cast_unsigned).sum()
}

/// Of sorted values.
fn distribution(sorted: &[f64]) -> Option<PointDelay> {
    let at = |share: f64| {
        let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
        sorted.get(place).copied()
    };
    Some(PointDelay {
        least: at(0.0)?,
        median: at(0.5)?,
        p95: at(0.95)?,
        most: at(1.0)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_missing_between_two_that_count() {
        let seen = |numbers: &[i64]| numbers.iter().map(|&n| (n, true)).collect::<Vec<_>>();
        assert_eq!(holes(&seen(&[1, 2, 5, 6, 9])), 4);
        assert_eq!(holes(&seen(&[4])), 0);
        assert_eq!(
            holes(&[(1, true), (4, false), (9, true)]),
            0,
            "outside the time that counts"
        );
        assert_eq!(holes(&seen(&[0, LARGEST_HOLE])) as i64, LARGEST_HOLE - 1);
        assert_eq!(holes(&seen(&[0, LARGEST_HOLE + 1])), 0, "the sender skipped them");
    }

    #[test]
    fn a_distribution_takes_the_nearest_values() {
        let sorted: Vec<f64> = (0..=20).map(f64::from).collect();
        let of = distribution(&sorted).unwrap();
        assert_eq!((of.least, of.median, of.p95, of.most), (0.0, 10.0, 19.0, 20.0));
        assert_eq!(distribution(&[7.0]).unwrap().p95, 7.0);
        assert_eq!(distribution(&[]), None);
    }
}
