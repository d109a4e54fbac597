//! Overlays on the time axis of the run: a stepped line over the lane of the direction they were compared with, or a lane
//! of their own.

use crate::plot::reduce::PlotColumn;
use crate::plot::timeline::frame::{HEIGHTS, PlotLane, TITLE};
use crate::words::focus::Focus;
use crate::words::{self, clean, format};
use rekeyscope_model::analysis::{Overlay, OverlayKind};
use rekeyscope_model::text::Message;

/// Overlays drawn per tunnel.
const MOST_OVERLAYS: usize = 6;
/// Points drawn of one overlay; of more, every n-th group is drawn as its lowest and highest.
const MOST_POINTS: usize = 2_000;

/// The lanes of a tunnel's overlays, and of those that belong to none; `lanes` are those of its directions.
pub(super) fn lanes(focus: &Focus, tunnel: usize, lanes: &[PlotLane], span: (f64, f64)) -> Vec<PlotLane> {
    let mut out = Vec::new();
    let mut row = lanes.last().map_or(0, |l| l.rows.1);
    let mine = |o: &&Overlay| o.tunnel.is_none_or(|t| t == tunnel) && !o.points.is_empty();
    for overlay in focus.analysis.overlays.iter().filter(mine).take(MOST_OVERLAYS) {
        let compared = lanes
            .iter()
            .find(|l| overlay.direction.is_some() && overlay.direction == l.direction);
        let lane = match compared {
            Some(lane) => over(focus, overlay, lane),
            None => {
                let lane = alone(focus, overlay, row);
                row = lane.rows.1;
                lane
            }
        };
        let columns = columns(focus, overlay, span);
        out.push(PlotLane { columns, ..lane });
    }
    out
}

/// The name, and how many values there are where they are too few to show anything.
fn named(focus: &Focus, overlay: &Overlay, name: String) -> String {
    match words::few_values(overlay) {
        Some(values) => {
            let few = Message::new("plot-few").with("count", values);
            focus
                .t
                .say(&few.with("n", format::count(values)).with("name", name))
        }
        None => name,
    }
}

/// Over the lane that it was compared with.
fn over(focus: &Focus, overlay: &Overlay, lane: &PlotLane) -> PlotLane {
    let name = named(focus, overlay, clean::line(&overlay.name));
    PlotLane {
        direction: None,
        name: overlay.name.clone(),
        headline: fill!(focus.t, "plot-stepped", name),
        over: true,
        columns: Vec::new(),
        unit: lane.unit.clone(),
        ..*lane
    }
}

/// An overlay in a lane of its own, from the lowest (0 at most) to the highest value.
fn alone(focus: &Focus, overlay: &Overlay, row: u32) -> PlotLane {
    let values = || overlay.points.iter().map(|p| p.value).filter(|v| v.is_finite());
    let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let (factor, unit) = match overlay.kind {
        OverlayKind::Iperf3 => {
            let (factor, prefix) = format::prefix_of(high);
            (factor, format!("{prefix}bit/s"))
        }
        OverlayKind::Samples => (1.0, clean::line(&overlay.unit)),
    };
    let room = ((high - low) / factor * 0.1).max(f64::MIN_POSITIVE);
    let (bottom, top) = (low / factor, high / factor + room);
    PlotLane {
        name: overlay.name.clone(),
        headline: named(focus, overlay, words::overlay(overlay)),
        bottom,
        top: if top > bottom { top } else { bottom + 1.0 },
        factor,
        unit,
        rows: (row, row + TITLE + HEIGHTS[1]),
        above: TITLE,
        ..PlotLane::default()
    }
}

/// Corners of the steps, or the samples.
fn columns(focus: &Focus, overlay: &Overlay, (begin, end): (f64, f64)) -> Vec<PlotColumn> {
    let points = overlay.points.iter().filter(|p| p.value.is_finite());
    let timed: Vec<(f64, f64, f64)> = points
        .filter_map(|p| Some((focus.seconds(p.time)?, p.seconds, p.value)))
        .filter(|p| p.0 + p.1 >= begin && p.0 <= end)
        .collect();
    let group = timed.len().div_ceil(MOST_POINTS).max(1);
    let steps = timed.chunks(group).flat_map(|chunk| {
        let low = chunk.iter().copied().min_by(|a, b| a.2.total_cmp(&b.2));
        let high = chunk.iter().copied().max_by(|a, b| a.2.total_cmp(&b.2));
        let mut ends: Vec<(f64, f64, f64)> = low.into_iter().chain(high.filter(|_| group > 1)).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends
    });
    let at = |time: f64, value: f64| PlotColumn {
        time: time.clamp(begin, end),
        low: value,
        mean: value,
        high: value,
    };
    steps
        .flat_map(|(time, seconds, value)| [at(time, value), at(time + seconds, value)])
        .collect()
}
