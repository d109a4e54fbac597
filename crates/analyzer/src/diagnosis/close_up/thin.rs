//! Fewer points that look the same: pauses keep both of their ends.

use super::points::CloseUpPoint;
use rekeyscope_ipsec::sa::database::SaIndex;

/// Marked packets that stay: what was lost, and what was sent again.
const MOST_MARKED: usize = 400;

/// The points in order of time, and how many were left out. Of the unmarked ones `most` stay, of the marked ones
/// [`MOST_MARKED`], and the first and the last one on each of `sas` always.
pub(super) fn thinned(
    mut points: Vec<CloseUpPoint>,
    most: usize,
    sas: [Option<SaIndex>; 2],
) -> (Vec<CloseUpPoint>, u64) {
    if !points.is_sorted_by_key(|p| p.time) {
        points.sort_by_key(|p| (p.time, p.frame));
    }
    let is_marked = |i: &usize| points[*i].lost || points[*i].repeated;
    let (marked, plain): (Vec<usize>, Vec<usize>) = (0..points.len()).partition(is_marked);
    let mut stay = ends_of_slots(&points, plain, most);
    stay.extend(evenly(&marked, MOST_MARKED));
    for sa in sas.into_iter().flatten() {
        stay.extend(points.iter().position(|p| p.sa == sa));
        stay.extend(points.iter().rposition(|p| p.sa == sa));
    }
    stay.sort_unstable();
    stay.dedup();
    let left_out = (points.len() - stay.len()) as u64;
    (stay.into_iter().map(|i| points[i]).collect(), left_out)
}

/// All, where there are no more than `most`; else the first and the last one of each of `most` / 2 slots of equal length.
fn ends_of_slots(points: &[CloseUpPoint], places: Vec<usize>, most: usize) -> Vec<usize> {
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
        return places;
    };
    if places.len() <= most {
        return places;
    }
    let begin = points[first].time;
    let length = points[last].time.nanos_since(begin) as f64 + 1.0;
    let per_nano = (most / 2) as f64 / length;
    let slot = |i: usize| (points[i].time.nanos_since(begin) as f64 * per_nano) as u64;
    let mut ends = Vec::with_capacity(most);
    let (mut before, mut slot_before) = (first, slot(first));
    ends.push(first);
    for &i in &places {
        let slot = slot(i);
        if slot != slot_before {
            ends.extend([before, i]);
        }
        (before, slot_before) = (i, slot);
    }
    ends.push(last);
    ends
}

/// At most so many of them, evenly: a run of losses shows its ends by its neighbours.
fn evenly(places: &[usize], most: usize) -> impl Iterator<Item = usize> {
    let step = move |i: usize| i * most.min(places.len()) / places.len();
    let stays = move |i: &usize| *i == 0 || step(*i) != step(*i - 1);
    (0..places.len()).filter(stays).map(move |i| places[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

    fn point(k: u64, millis: i64) -> CloseUpPoint {
        CloseUpPoint {
            time: Timestamp(millis * NANOS_PER_MILLI),
            frame: k,
            sa: usize::from(k >= 5_000),
            value: 0,
            window: 0,
            lost: false,
            repeated: false,
        }
    }

    fn frames(points: &[CloseUpPoint]) -> Vec<u64> {
        points.iter().map(|p| p.frame).collect()
    }

    /// Ten thousand packets, a pause of 300 ms after each thousand.
    fn many() -> Vec<CloseUpPoint> {
        (0..10_000)
            .map(|k| point(k, (k + k / 1_000 * 300) as i64))
            .collect()
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let all: Vec<CloseUpPoint> = many().into_iter().take(480).collect();
        let (stay, left_out) = thinned(all.clone(), 480, [None, None]);
        assert_eq!((frames(&stay), left_out), (frames(&all), 0));
    }

    #[test]
    fn of_many_both_ends_of_every_pause_stay() {
        let (stay, left_out) = thinned(many(), 480, [Some(0), Some(1)]);
        let kept = frames(&stay);
        assert!((240..=484).contains(&kept.len()), "{}", kept.len());
        assert_eq!(kept.len() as u64 + left_out, 10_000);
        for pause in (1_000..10_000).step_by(1_000) {
            assert!(kept.contains(&(pause - 1)) && kept.contains(&pause), "{pause}");
        }
        assert!(kept.is_sorted() && kept.first() == Some(&0) && kept.last() == Some(&9_999));
    }

    #[test]
    fn what_is_marked_stays() {
        let mut all = many();
        for k in 0..MOST_MARKED - 1 {
            all[k * 20 + 7].lost = true;
            all[k * 2 + 4_001].repeated = true;
        }
        all[5_555].lost = true;
        let marked: Vec<u64> = all.iter().filter(|p| p.lost).map(|p| p.frame).collect();
        let few: Vec<CloseUpPoint> = all
            .iter()
            .map(|p| CloseUpPoint {
                repeated: false,
                ..*p
            })
            .collect();
        let kept = frames(&thinned(few, 100, [None, None]).0);
        assert!(marked.iter().all(|frame| kept.contains(frame)));
        assert!(kept.len() <= marked.len() + 102, "{}", kept.len());
        // Even they have a bound.
        all.iter_mut().for_each(|p| p.lost = true);
        let kept = thinned(all, 100, [None, None]).0;
        assert_eq!(kept.len(), MOST_MARKED);
    }

    #[test]
    fn the_first_and_the_last_on_each_sa_stay() {
        let mut all = many();
        all.retain(|p| !(4_990..5_010).contains(&p.frame) || [4_995, 5_003].contains(&p.frame));
        let kept = frames(&thinned(all, 10, [Some(0), Some(1)]).0);
        assert!(kept.contains(&4_995) && kept.contains(&5_003), "{kept:?}");
    }
}
