//! Which rekeys hurt.

use crate::estimate::baseline::CHOSEN_WINDOW_S;
use crate::estimate::gap::{LEAST_STALL_S, OrderedGaps, touches};
use crate::input::moment::{ProvenEffect, ProvenOutage};
use crate::input::traffic::Gap;
use crate::input::transfer::PlacedRekey;

/// False discovery rate of the list.
pub(crate) const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// What the tests say about one used rekey.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Hurt {
    /// Longest gap that touches it, seconds.
    pub(crate) gap_s: Option<f64>,
    /// Gap test.
    pub(crate) p_gap: f64,
    /// Benjamini–Hochberg adjusted p.
    pub(crate) q: f64,
    /// By [`is_hurt`].
    pub(crate) hurt: bool,
    /// The outage that the packets prove.
    pub(crate) proven: Option<ProvenOutage>,
}

/// Proven, or q ≤ [`FALSE_DISCOVERY_RATE`] and not acquitted by the packets.
pub(crate) fn is_hurt(q: f64, proven: ProvenEffect) -> bool {
    match proven {
        ProvenEffect::Outage(_) => true,
        ProvenEffect::Nothing | ProvenEffect::Collided => q <= FALSE_DISCOVERY_RATE,
        ProvenEffect::Acquitted => false,
    }
}

/// The longest of the gaps that touch a rekey and are its own, seconds: one silence belongs to one rekey, of those that it
/// touches to the one on whose SA it ends. `placed` are all in order of their starts; only neighbours share a silence.
pub(crate) fn longest_own(gaps: &OrderedGaps, placed: &[PlacedRekey], rekey: &PlacedRekey) -> Option<f64> {
    let before = placed.partition_point(|p| p.started_s < rekey.started_s);
    let own = placed[before..].iter().position(|p| p.moment == rekey.moment)?;
    let position = before + own;
    let neighbours = [position.checked_sub(1), Some(position + 1)];
    let neighbours = || neighbours.into_iter().flatten().filter_map(|p| placed.get(p));
    // The last one that had switched by then, else the first.
    let claim = |r: &PlacedRekey, gap: &Gap| match r.switched_s <= gap.end_s {
        true => (true, r.switched_s),
        false => (false, -r.started_s),
    };
    let is_own = |gap: &Gap| {
        let mut rivals = neighbours().filter(|other| touches(gap, other));
        rivals.all(|other| claim(other, gap) <= claim(rekey, gap))
    };
    // What begins behind the switch of the next one that switches later is that one's: in a row of rekeys nothing is walked over for each of them.
    let next = placed[position + 1..]
        .iter()
        .find(|next| next.switched_s > rekey.switched_s);
    let behind = next.map_or(f64::INFINITY, |next| next.switched_s);
    // And what ends before its own switch is the previous one's, if that one began earlier and reaches so far.
    let previous = position.checked_sub(1).map(|at| placed[at]);
    let takes_all =
        |p: PlacedRekey| p.started_s < rekey.started_s && p.switched_s + CHOSEN_WINDOW_S >= rekey.switched_s;
    let from = match previous.is_some_and(takes_all) {
        true => rekey.switched_s,
        false => rekey.started_s,
    };
    gaps.longest_at(rekey, (from, behind), is_own)
}

/// p_stall: the rank of the stall among the placebos, 1 for stalls under 50 ms or half a burst period (0 where there is none).
pub(crate) fn p_stall(stall_s: f64, rank: f64, burst_s: f64) -> f64 {
    if stall_s < LEAST_STALL_S.max(burst_s / 2.0) {
        1.0
    } else {
        rank
    }
}

/// p_k = min(1, 2·min(p_stall, p_gap)): two looks, Bonferroni. p_gap alone where p_stall is absent.
pub(crate) fn combine(p_stall: Option<f64>, p_gap: f64) -> f64 {
    p_stall.map_or(p_gap, |p| (2.0 * p.min(p_gap)).min(1.0))
}

/// Benjamini–Hochberg adjusted p-values: q_(i) = min over j ≥ i of n·p_(j)/j.
pub(crate) fn adjust(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 1.0_f64;
    for (position, &k) in order.iter().enumerate() {
        let rank = p.len() - position;
        least = least.min(p[k] * p.len() as f64 / rank as f64);
        adjusted[k] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::grid::tests::synthetic_series;
    use crate::input::start::Start;

    /// The fifteen p-values of Benjamini & Hochberg 1995, §3.1: at 0.05 the first four are rejected.
    #[test]
    fn the_example_of_benjamini_and_hochberg() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        let q = adjust(&p);
        assert_eq!(q.iter().filter(|&&q| q <= 0.05).count(), 4);
        assert!((q[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-12);
        assert!(q.windows(2).all(|w| w[0] <= w[1]));
    }

    #[test]
    fn two_looks_cost_a_factor_of_two() {
        assert_eq!(combine(Some(0.01), 0.2), 0.02);
        assert_eq!(combine(Some(0.9), 0.8), 1.0);
        assert_eq!(combine(None, 0.2), 0.2);
        let p = |stall_s, burst_s| p_stall(stall_s, 0.001, burst_s);
        assert_eq!((p(0.049, 0.0), p(0.051, 0.0), p(0.051, 0.1)), (1.0, 0.001, 0.001));
        assert_eq!(
            (p(0.074, 0.15), p(0.076, 0.15)),
            (1.0, 0.001),
            "half a burst period"
        );
    }

    /// In a row of rekeys that overlap, what is passed over belongs to a neighbour: the longest silence of each is that of all that it owns,
    /// one by one.
    #[test]
    fn what_is_passed_over_is_a_neighbours() {
        let mut at = 0.0;
        let mut traffic = synthetic_series(vec![1]);
        traffic.gaps = (0..3_000_u32)
            .map(|i| {
                let start_s = at;
                at += 0.001 + f64::from(i * 7_919 % 997) / 50_000.0;
                Gap { start_s, end_s: at }
            })
            .collect();
        let gaps = OrderedGaps::new(&traffic);
        // Every 50, 200, 700 ms and 1.5 s, exchanges of 0 to 0.8 s; some begin at once.
        for step in [0.05, 0.2, 0.7, 1.5] {
            let mut switched_s = 0.0_f64;
            let row: Vec<PlacedRekey> = (0..(20.0 / step) as u32)
                .map(|i| {
                    let started_s = step * f64::from(i - i % 5 / 4);
                    switched_s = (switched_s + 0.001).max(started_s + f64::from(i * 31 % 9) / 10.0);
                    placed(i as usize, started_s, switched_s)
                })
                .collect();
            for (k, rekey) in row.iter().enumerate() {
                let neighbours = [k.checked_sub(1).map(|k| row[k]), row.get(k + 1).copied()];
                let claim = |r: &PlacedRekey, gap: &Gap| match r.switched_s <= gap.end_s {
                    true => (true, r.switched_s),
                    false => (false, -r.started_s),
                };
                let owns = |gap: &&Gap| {
                    let mut rivals = neighbours.iter().flatten().filter(|n| touches(gap, n));
                    touches(gap, rekey) && rivals.all(|rival| claim(rival, gap) <= claim(rekey, gap))
                };
                let longest = traffic.gaps.iter().filter(owns).map(Gap::length_s);
                let longest = longest.max_by(f64::total_cmp);
                assert_eq!(longest_own(&gaps, &row, rekey), longest, "{step} {k}");
            }
        }
    }

    fn placed(moment: usize, started_s: f64, switched_s: f64) -> PlacedRekey {
        PlacedRekey {
            moment,
            started_s,
            switched_s,
            start: 0,
            switch: 0,
            used: true,
            idle: false,
            unobserved: false,
            known: Start::Message(started_s),
        }
    }

    /// A silence that touches two rekeys belongs to the one on whose SA it ends.
    #[test]
    fn one_silence_belongs_to_one_rekey() {
        let both = [placed(0, 10.0, 10.4), placed(1, 10.1, 11.0)];
        let owners = |start_s, end_s| {
            let mut traffic = synthetic_series(vec![1]);
            traffic.gaps = vec![Gap { start_s, end_s }];
            both.map(|r| longest_own(&OrderedGaps::new(&traffic), &both, &r).is_some())
        };
        assert_eq!(owners(10.2, 10.7), [true, false], "on the first one's SA");
        assert_eq!(owners(10.2, 11.2), [false, true], "on the second one's");
        assert_eq!(owners(10.2, 10.3), [true, false], "on the old SA");
        assert_eq!(
            owners(11.3, 11.4),
            [false, true],
            "the first one does not reach as far"
        );
        assert_eq!(owners(20.0, 20.1), [false, false]);
    }
}
