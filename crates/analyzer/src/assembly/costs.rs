//! The cost of each rekey → its explanation, by the same table as outages.

use crate::assembly::scene::{Explored, scene};
use rekeyscope_impact::explain::explain;
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_model::analysis::{Direction, Ledger, LedgerInterval, LedgerRekey, LedgerWhy};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{CarriedKind, Interval, ShownBy, Standstill, StandstillKind, Undelivered};

/// Explains the longest interval of every rekey of the ledgers. `stretches`: all stretches without delivery.
pub(crate) fn explain_costs(found: Explored<'_>, stretches: &[Interval], ledgers: &mut [Ledger]) {
    let mut owned: Vec<Interval> = Vec::new();
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (place, ledger) in ledgers.iter().enumerate() {
        let tunnel = &found.record.tunnels.tunnels[ledger.tunnel];
        let Some(direction) = Direction::BOTH
            .into_iter()
            .find(|wire| tunnel.published(*wire) == ledger.direction)
        else {
            continue;
        };
        for (own, rekey) in ledger.rekeys.iter().enumerate() {
            let longest = rekey
                .intervals
                .iter()
                .max_by_key(|interval| stop(interval).nanos_since(interval.from));
            let Some(interval) = longest else { continue };
            let of = |stretch: &&Interval| {
                (stretch.facts.tunnel as usize, stretch.facts.direction) == (ledger.tunnel, direction)
                    && stretch.facts.kind != StandstillKind::Unseen
                    && 2 * shared(stretch, interval) >= stop(interval).nanos_since(interval.from)
            };
            let seen = stretches
                .iter()
                .filter(of)
                .max_by_key(|stretch| shared(stretch, interval));
            owned.push(match seen {
                Some(stretch) => of_stretch(stretch, rekey),
                None => from_ledger(
                    (ledger.tunnel, direction),
                    found.successions.get(rekey.rekey),
                    (rekey, interval),
                ),
            });
            places.push((place, own));
        }
    }
    let mut scene = scene(found, &owned, true);
    for (&(place, own), outage) in places.iter().zip(&mut scene.outages) {
        outage.lost_on_new = ledgers[place].rekeys[own].why == LedgerWhy::LostOnNew;
    }
    let explanations = explain(&scene);
    for ((place, own), explanation) in places.into_iter().zip(explanations) {
        ledgers[place].rekeys[own].explanation = explanation;
    }
}

/// The end of the silence of an interval.
fn stop(interval: &LedgerInterval) -> Timestamp {
    interval.arrived.unwrap_or(interval.to)
}

/// Nanoseconds that a stretch and the silence of an interval have in common.
fn shared(stretch: &Interval, interval: &LedgerInterval) -> i64 {
    let to = stretch.to.min(stop(interval));
    to.nanos_since(stretch.from.max(interval.from))
}

/// The stretch as a rekey owns it, so that rows do not hold that only say that nothing came. Where its sender seemed to rest, the ledger
/// knows how many packets were lost.
fn of_stretch(stretch: &Interval, rekey: &LedgerRekey) -> Interval {
    let known = undelivered(rekey);
    let mut own = stretch.clone();
    if own.facts.kind == StandstillKind::Rest {
        own.facts.undelivered = known;
    }
    let unheard = &mut own.facts.undelivered.unheard;
    *unheard = known.unheard.max(*unheard);
    own.facts.kind = StandstillKind::ShortOutage;
    own
}

fn undelivered(rekey: &LedgerRekey) -> Undelivered {
    Undelivered {
        swallowed: rekey.swallowed,
        unheard: match rekey.why {
            LedgerWhy::Reverse => rekey.swallowed.max(1),
            _ => 0,
        },
        ..Undelivered::shown(CarriedKind::Unread, ShownBy::Swallowed)
    }
}

/// A silence in which no packet is known that was lost, or whose packets no key opens.
fn from_ledger(
    (tunnel, direction): (usize, Direction),
    succession: Option<&Succession>,
    (rekey, interval): (&LedgerRekey, &LedgerInterval),
) -> Interval {
    let own = slot(direction);
    let of = |pair: [Option<usize>; 2]| pair[own].and_then(|sa| u32::try_from(sa).ok());
    let (old, new) = succession.map_or((None, None), |s| (of(s.old), of(s.new)));
    let switched = succession.and_then(|s| s.switched[own]);
    let on = |time: Timestamp| match switched {
        Some(switched) if switched <= time => new,
        _ => old,
    };
    Interval {
        from: interval.from,
        to: stop(interval),
        facts: Standstill {
            frames: (interval.from_frame.unwrap_or(0), interval.to_frame),
            spis: (on(interval.from), interval.arrived.and_then(on)),
            kind: StandstillKind::ShortOutage,
            ..Standstill::new(
                (u32::try_from(tunnel).unwrap_or(u32::MAX), direction),
                undelivered(rekey),
            )
        },
    }
}
