//! Stretches of work between rests. Each is measured as if it were a capture of its own: no baseline, window, placebo or gap
//! reaches across a rest.

use crate::decide::course::Course;
use crate::input::moment::RekeyMoment;
use crate::input::traffic::Traffic;

/// A stretch between two rests with the rekeys that belong to it.
#[derive(Debug)]
pub(crate) struct Leg<'a> {
    /// Its series.
    pub(crate) course: Course<'a>,
    /// Its rekeys, seconds from the start of its own series.
    pub(crate) rekeys: Vec<RekeyMoment>,
    /// Where they stand in the list that was given.
    pub(crate) positions: Vec<usize>,
}

/// Gives every rekey to the stretch that it switched in; one in a rest to the stretch before it. `rekeys` are told in seconds
/// from the start of the first series.
pub(crate) fn legs<'a>(traffic: &'a [Traffic], rekeys: &[RekeyMoment]) -> Vec<Leg<'a>> {
    let Some(first) = traffic.first() else {
        return Vec::new();
    };
    let offsets: Vec<f64> = traffic
        .iter()
        .map(|t| t.start.seconds_since(first.start))
        .collect();
    let mut own = vec![(Vec::new(), Vec::new()); traffic.len()];
    for (position, rekey) in rekeys.iter().enumerate() {
        let leg = offsets
            .partition_point(|&o| o <= rekey.switched_s)
            .saturating_sub(1);
        own[leg].0.push(RekeyMoment {
            start: rekey.start.rebased(offsets[leg]),
            switched_s: rekey.switched_s - offsets[leg],
            ..*rekey
        });
        own[leg].1.push(position);
    }
    let leg = |(traffic, (rekeys, positions)): (&'a Traffic, (Vec<RekeyMoment>, Vec<usize>))| Leg {
        course: Course::new(traffic, &rekeys),
        rekeys,
        positions,
    };
    traffic.iter().zip(own).map(leg).collect()
}

/// What lies between the stretches, seconds.
pub(crate) fn rest_s(legs: &[Leg<'_>]) -> f64 {
    let length = |t: &Traffic| t.bytes.len() as f64 * t.base_bin_s;
    let rest = |pair: &[Leg<'_>]| {
        let (before, after) = (pair[0].course.traffic, pair[1].course.traffic);
        (after.start.seconds_since(before.start) - length(before)).max(0.0)
    };
    legs.windows(2).map(rest).sum()
}
