//! An overlay's values around each rekey.

use rekeyscope_model::analysis::{Analysis, Overlay, OverlayAtRekey, OverlayPoint, Rekey};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Time after the switch within which values still belong to the rekey: programs that measure a processor say a value for each second
/// before.
const AFTER_NANOS: i64 = 2 * NANOS_PER_SECOND;

/// One entry per rekey that lies between the overlay's first and last value.
pub(crate) fn rekeys(analysis: &Analysis, overlay: &Overlay) -> Vec<OverlayAtRekey> {
    let mut points: Vec<&OverlayPoint> = overlay.points.iter().collect();
    points.sort_by_key(|p| p.time);
    analysis
        .rekeys
        .iter()
        .filter_map(|rekey| at(&points, rekey))
        .collect()
}

fn at(points: &[&OverlayPoint], rekey: &Rekey) -> Option<OverlayAtRekey> {
    let switched = [rekey.switched.a_to_b, rekey.switched.b_to_a];
    let switches = || switched.into_iter().flatten();
    let from = rekey.started.or_else(|| switches().min())?;
    let to = switches().max().unwrap_or(from).plus_nanos(AFTER_NANOS);
    let (first, last) = (points.first()?, points.last()?);
    if from < first.time || from > last.time.plus_seconds(last.seconds) {
        return None;
    }
    let values = within(points, from, to)
        .map(|p| p.value)
        .filter(|v| v.is_finite());
    let (mut lowest, mut highest) = (None::<f64>, None::<f64>);
    for value in values {
        lowest = Some(lowest.map_or(value, |l| l.min(value)));
        highest = Some(highest.map_or(value, |h| h.max(value)));
    }
    Some(OverlayAtRekey {
        rekey: rekey.index,
        before: before(points, from),
        lowest,
        highest,
    })
}

/// Values that touch the time between two moments.
fn within<'a>(
    points: &'a [&'a OverlayPoint],
    from: Timestamp,
    to: Timestamp,
) -> impl Iterator<Item = &'a OverlayPoint> {
    let begin = points.partition_point(|p| p.time.plus_seconds(p.seconds) < from);
    points
        .iter()
        .skip(begin)
        .take_while(move |p| p.time <= to)
        .copied()
}

/// The last value that was complete, or taken, before a moment.
fn before(points: &[&OverlayPoint], moment: Timestamp) -> Option<f64> {
    let complete = points.partition_point(|p| p.time.plus_seconds(p.seconds) <= moment);
    points.get(complete.checked_sub(1)?).map(|p| p.value)
}
