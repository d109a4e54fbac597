//! Holes of the capture: nobody knows what went on in them, so they are neither a stall nor a moment without one.
//!
//! A rekey whose window touches a hole is left out. For the others, a hole counts as if the traffic had gone on at the mean of
//! what lies on both sides: it then takes nothing from a baseline, is no placebo's stall and no silence.

use crate::estimate::baseline::CHOSEN_WINDOW_S;
use crate::input::start::ASSUMED_EXCHANGE_S;
use crate::input::traffic::{Gap, Traffic};
use crate::input::transfer::PlacedRekey;

/// Length of the means on both sides of a hole, seconds: the shortest baseline side.
const SIDE_S: f64 = 0.2;

/// The traffic with its holes bridged.
pub(crate) fn bridge(traffic: &Traffic) -> Traffic {
    let mut bridged = traffic.clone();
    for hole in traffic.holes.iter().filter(|h| is_sound(h)) {
        fill(&mut bridged, traffic, hole);
        bridged.gaps = bridged.gaps.iter().flat_map(|gap| outside(*gap, hole)).collect();
    }
    bridged
}

fn is_sound(hole: &Gap) -> bool {
    hole.start_s.is_finite() && hole.end_s.is_finite() && hole.end_s > hole.start_s
}

/// Adds to every bin what its share of the hole would have carried.
fn fill(bridged: &mut Traffic, traffic: &Traffic, hole: &Gap) {
    let width = traffic.base_bin_s;
    let bins = traffic.bytes.len();
    let bin = |s: f64| (s / width).floor().clamp(0.0, bins as f64) as usize;
    let (first, last) = (bin(hole.start_s), bin(hole.end_s));
    let side = (SIDE_S / width).round().max(1.0) as usize;
    let before = &traffic.bytes[first.saturating_sub(side)..first];
    let after = &traffic.bytes[(last + 1).min(bins)..(last + 1 + side).min(bins)];
    let mean = |side: &[u32]| {
        let sum: f64 = side.iter().map(|&b| f64::from(b)).sum();
        (!side.is_empty()).then(|| sum / side.len() as f64)
    };
    let per_bin = match (mean(before), mean(after)) {
        (Some(a), Some(b)) => f64::midpoint(a, b),
        (a, b) => a.or(b).unwrap_or(0.0),
    };
    let mut owed = 0.0;
    for (k, bytes) in bridged.bytes.iter_mut().enumerate().take(last + 1).skip(first) {
        let (from, to) = (k as f64 * width, (k + 1) as f64 * width);
        let covered = (to.min(hole.end_s) - from.max(hole.start_s)).max(0.0) / width;
        owed += covered * per_bin;
        let whole = owed.floor();
        owed -= whole;
        *bytes = bytes.saturating_add(whole as u32);
    }
}

/// What of a gap lies outside of a hole.
fn outside(gap: Gap, hole: &Gap) -> impl Iterator<Item = Gap> {
    let parts = if gap.end_s <= hole.start_s || gap.start_s >= hole.end_s {
        [Some(gap), None]
    } else {
        let before = Gap {
            end_s: hole.start_s,
            ..gap
        };
        let after = Gap {
            start_s: hole.end_s,
            ..gap
        };
        [before, after].map(|g| Some(g).filter(|g| g.end_s > g.start_s))
    };
    parts.into_iter().flatten()
}

/// Leaves out the rekeys whose window touches a hole.
pub(crate) fn leave_out(holes: &[Gap], placed: &mut [PlacedRekey]) {
    for rekey in placed.iter_mut().filter(|r| r.used) {
        // Where the first message is not in the capture, a hole right before the first captured one may have taken it.
        let unknown_s = if rekey.known.is_late() {
            ASSUMED_EXCHANGE_S
        } else {
            0.0
        };
        let (from, to) = (rekey.started_s - unknown_s, rekey.switched_s + CHOSEN_WINDOW_S);
        let touched = |h: &Gap| is_sound(h) && h.end_s >= from && h.start_s <= to;
        if holes.iter().any(touched) {
            (rekey.used, rekey.unobserved) = (false, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::grid::tests::synthetic_series;

    #[test]
    fn a_hole_is_filled_with_what_lies_around_it_and_is_no_silence() {
        let mut bytes = vec![100; 2000];
        bytes[800..900].fill(0);
        let mut traffic = synthetic_series(bytes);
        let gap = |start_s, end_s| Gap { start_s, end_s };
        traffic.gaps = vec![gap(3.9, 4.6), gap(1.0, 1.2)];
        traffic.holes = vec![gap(4.0, 4.5)];
        let bridged = bridge(&traffic);
        assert!(bridged.bytes.iter().all(|&b| (99..=101).contains(&b)));
        let total: u64 = bridged.bytes.iter().map(|&b| u64::from(b)).sum();
        assert!((199_999..=200_001).contains(&total), "{total}");
        assert_eq!(bridged.gaps, [gap(3.9, 4.0), gap(4.5, 4.6), gap(1.0, 1.2)]);
    }

    #[test]
    fn holes_outside_the_series_change_nothing() {
        let mut traffic = synthetic_series(vec![7; 10]);
        traffic.holes = [(-3.0, -1.0), (90.0, 91.0), (f64::NAN, 1.0), (0.02, 0.01)]
            .map(|(start_s, end_s)| Gap { start_s, end_s })
            .to_vec();
        assert_eq!(bridge(&traffic).bytes, traffic.bytes);
    }

    #[test]
    fn a_rekey_whose_window_touches_a_hole_is_left_out() {
        let used = |hole: (f64, f64), late: bool| {
            let mut placed = [crate::decide::made_up::rekey(0, 5.0)];
            if late {
                placed[0].known = crate::input::start::Start::LaterMessage(5.0);
            }
            let (start_s, end_s) = hole;
            leave_out(&[Gap { start_s, end_s }], &mut placed);
            assert_eq!(placed[0].unobserved, !placed[0].used);
            placed[0].used
        };
        // From its request to half a second behind its switch.
        assert!(used((4.0, 4.99), false) && !used((4.0, 5.0), false));
        assert!(used((5.61, 6.0), false) && !used((5.6, 6.0), false));
        assert!(used((5.3, 5.3), false), "nothing is missing");
        // Its first message may have been in it.
        assert!(used((4.0, 4.69), true) && !used((4.0, 4.71), true));
    }

    /// Bins of 5 ms: one half of the hole lies before the end of the first.
    #[test]
    fn a_part_of_a_bin_gets_its_part() {
        let mut bytes = vec![100; 200];
        (bytes[100], bytes[101]) = (50, 0);
        let mut traffic = synthetic_series(bytes);
        traffic.holes = vec![Gap {
            start_s: 0.5025,
            end_s: 0.51,
        }];
        let bridged = bridge(&traffic);
        assert_eq!(bridged.bytes[99..103], [100, 100, 100, 100]);
        // At the begin of a series there is one side only, and a rate of its own.
        let mut bytes = vec![200; 100];
        bytes[..20].fill(0);
        let mut traffic = synthetic_series(bytes);
        traffic.holes = vec![Gap {
            start_s: -1.0,
            end_s: 0.1,
        }];
        let filled = &bridge(&traffic).bytes[..20];
        assert!(filled.iter().all(|b| (199..=201).contains(b)), "{filled:?}");
        assert!(
            (3_999..=4_001).contains(&filled.iter().sum::<u32>()),
            "{filled:?}"
        );
    }
}
