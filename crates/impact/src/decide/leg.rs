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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::grid::tests::synthetic_series;
    use crate::input::moment::ProvenEffect;
    use crate::input::start::Start;
    use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

    /// Ten seconds of traffic that begin at these seconds.
    fn stretches(begins: &[i64]) -> Vec<Traffic> {
        let of = |&begin: &i64| Traffic {
            start: Timestamp(begin * NANOS_PER_SECOND),
            ..synthetic_series(vec![1; 2_000])
        };
        begins.iter().map(of).collect()
    }

    #[test]
    fn what_lies_between_stretches_is_rest() {
        let rest = |begins: &[i64]| rest_s(&legs(&stretches(begins), &[]));
        assert!((rest(&[100, 115, 140]) - (5.0 + 15.0)).abs() < 1e-9);
        assert_eq!(rest(&[100, 105]), 0.0, "they overlap");
        assert_eq!((rest(&[100]), rest(&[])), (0.0, 0.0));
    }

    #[test]
    fn a_rekey_belongs_to_the_stretch_that_it_switched_in() {
        let rekey = |index: usize, switched_s: f64| RekeyMoment {
            index,
            start: Start::Message(switched_s - 0.5),
            switched_s,
            proven: ProvenEffect::Nothing,
        };
        let traffic = stretches(&[100, 120]);
        // The third one in the rest, the last before everything.
        let given = [rekey(0, 20.0), rekey(1, 3.0), rekey(2, 15.0), rekey(3, -1.0)];
        let legs = legs(&traffic, &given);
        let seen = |leg: &Leg<'_>| {
            let rekeys = leg.rekeys.iter().map(|r| (r.index, r.switched_s));
            (leg.positions.clone(), rekeys.collect::<Vec<_>>())
        };
        assert_eq!(
            seen(&legs[0]),
            (vec![1, 2, 3], vec![(1, 3.0), (2, 15.0), (3, -1.0)])
        );
        assert_eq!(seen(&legs[1]), (vec![0], vec![(0, 0.0)]));
        assert_eq!(legs[1].rekeys[0].start, Start::Message(-0.5));
    }
}
