//! SAs that end alike: the limit that nobody could read.

use crate::explain::view::{OutageView, same_limit};
use rekeyscope_model::analysis::Explanation;
use rekeyscope_model::lifetime::LIFETIME_KILOBYTE;

/// One measure is named alone where it differs less by this factor: the mean of three distances is off by 44 % (0.76/√3), so a factor of two is no
/// chance.
const CLOSER: f64 = 2.0;
/// Distances that make such a mean.
const DISTANCES: u64 = 3;

/// Adds the volume, the age or the number of packets at which the SAs of at least two outages stopped. An SA and its opposite are one.
pub(super) fn learnt_limit(view: &OutageView<'_>, mut explanation: Explanation) -> Explanation {
    let Some(place) = view.outage.sa.filter(|_| view.stopped_on_its_sa()) else {
        return explanation;
    };
    let opposite = view.sa(place).and_then(|sa| sa.opposite);
    let own = StopPoint::of(view);
    let others: Vec<StopPoint> = view
        .outages_of(view.outage.tunnel)
        .filter(|other| ![Some(place), opposite].contains(&other.outage.sa) && other.stopped_on_its_sa())
        .map(|other| StopPoint::of(&other))
        .collect();
    let alike = |of: fn(&StopPoint) -> Option<f64>| {
        let own = of(&own)?;
        let same: Vec<f64> = others
            .iter()
            .filter_map(of)
            .filter(|other| same_limit(own, *other))
            .collect();
        let apart = same.iter().map(|other| (other - own).abs() / own);
        let mean = apart.sum::<f64>() / same.len() as f64;
        (!same.is_empty()).then_some((own, same.len() as u64, mean))
    };
    let (by_volume, by_age) = (alike(|stop| stop.volume), alike(|stop| stop.age));
    // A limit in packets is kept to the packet; one in bytes or in seconds to the size or the distance of one.
    let others_apart = [by_volume, by_age, alike(|stop| stop.bytes)]
        .into_iter()
        .flatten();
    let others_apart = others_apart.fold(f64::INFINITY, |least, alike| least.min(alike.2));
    if let Some((own, count, apart)) = alike(|stop| stop.packets)
        && apart * own <= 1.0
        && CLOSER * apart < others_apart
        && others_apart * own > 1.0
    {
        explanation.limit_packets = Some(own as u64);
        explanation.count = Some(count + 1);
        return explanation;
    }
    // A volume takes an even time at an even rate. The limit that holds is kept more closely; where neither is, both are named.
    let closer = |own: Option<(f64, u64, f64)>, other: Option<(f64, u64, f64)>| {
        own.filter(|own| {
            other.is_none_or(|other| own.1.min(other.1) < DISTANCES || own.2 <= CLOSER * other.2)
        })
    };
    let (volume, age) = (closer(by_volume, by_age), closer(by_age, by_volume));
    explanation.limit_kilobytes = volume.map(|(own, ..)| (own / LIFETIME_KILOBYTE as f64).round() as u64);
    explanation.limit_seconds = age.map(|(own, ..)| own.round() as u64);
    explanation.count = volume
        .or(age)
        .map(|(_, count, _)| count + 1)
        .or(explanation.count);
    explanation
}

/// Volume, age and number that an SA had reached when data stopped on it, and by its end.
struct StopPoint {
    volume: Option<f64>,
    age: Option<f64>,
    packets: Option<f64>,
    bytes: Option<f64>,
}

impl StopPoint {
    fn of(view: &OutageView<'_>) -> Self {
        let (volume, age) = view.volume_and_age();
        let sent = view.own_sa().and_then(|sa| sa.sent);
        let (packets, bytes) = sent
            .map(|(packets, bytes)| (packets as f64, bytes as f64))
            .unzip();
        StopPoint {
            volume,
            age,
            packets,
            bytes,
        }
    }
}

/// Limits were read, and the SA reached none of them.
pub(super) fn is_below_read_limits(view: &OutageView<'_>) -> bool {
    let Some(sa) = view.own_sa() else {
        return false;
    };
    let (volume, age) = view.volume_and_age();
    let below = |(limit, own): (Option<u64>, Option<f64>)| {
        let (limit, own) = (limit? as f64, own?);
        Some(own < limit && !same_limit(limit, own))
    };
    let mut read = [(sa.limit_bytes, volume), (sa.limit_seconds, age)]
        .into_iter()
        .filter_map(below)
        .peekable();
    read.peek().is_some() && read.all(|below| below)
}

/// The limit that was read and is reached.
pub(super) fn read_limit(view: &OutageView<'_>) -> (Option<u64>, Option<u64>) {
    let Some(sa) = view.own_sa() else {
        return (None, None);
    };
    let (volume, age) = view.volume_and_age();
    let reached = |limit: Option<u64>, own: Option<f64>| {
        limit.filter(|limit| own.is_some_and(|own| same_limit(*limit as f64, own)))
    };
    let bytes = reached(sa.limit_bytes, volume);
    (
        bytes.map(|bytes| (bytes as f64 / LIFETIME_KILOBYTE as f64).round() as u64),
        reached(sa.limit_seconds, age),
    )
}
