//! An overlay's values around each rekey.

use rekeyscope_model::analysis::{Analysis, Overlay, OverlayAtRekey, OverlayPoint, Rekey};
use rekeyscope_model::time::NANOS_PER_SECOND;

/// Time after the switch within which values still belong to the rekey: programs that measure a processor say a value for each second
/// before.
const AFTER_NANOS: i64 = 2 * NANOS_PER_SECOND;

/// One entry per rekey that lies between the overlay's first and last value. The values are in order of time.
pub(crate) fn rekeys(analysis: &Analysis, overlay: &Overlay) -> Vec<OverlayAtRekey> {
    let rekeys = analysis.rekeys.iter();
    rekeys.filter_map(|rekey| at(&overlay.points, rekey)).collect()
}

fn at(points: &[OverlayPoint], rekey: &Rekey) -> Option<OverlayAtRekey> {
    let switches = rekey.switched.values();
    let from = rekey.started.or_else(|| switches.clone().min())?;
    let to = switches.max().unwrap_or(from).plus_nanos(AFTER_NANOS);
    let end = |p: &OverlayPoint| p.time.plus_seconds(p.seconds);
    let (first, last) = (points.first()?, points.last()?);
    if from < first.time || from > end(last) {
        return None;
    }
    // The last value that was complete, or taken, before the rekey, and those that touch it.
    let complete = points.partition_point(|p| end(p) <= from);
    let before = complete.checked_sub(1).and_then(|last| points.get(last));
    let touching = points.iter().skip_while(|p| end(p) < from);
    let touching = touching.take_while(|p| p.time <= to).map(|p| p.value);
    let values = || touching.clone().filter(|value| value.is_finite());
    Some(OverlayAtRekey {
        rekey: rekey.index,
        before: before.map(|p| p.value),
        lowest: values().reduce(f64::min),
        highest: values().reduce(f64::max),
    })
}
