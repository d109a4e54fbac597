//! Overlays on the time axis of the run: a stepped line over the lane of the direction they were compared with, or a lane
//! of their own.

use crate::plot::axes::{Chart, title};
use crate::plot::canvas::{Canvas, Drawn, escaped};
use crate::plot::style::{self, px};
use crate::plot::timeline::frame::{Extra, HEIGHTS, LEFT, RateLane, RunDrawing, TITLE};
use crate::words::focus::Focus;
use crate::words::{self, clean, format};
use plotters::series::LineSeries;
use plotters::style::Color;
use rekeyscope_model::analysis::{Overlay, OverlayKind};
use rekeyscope_model::text::Message;

/// Overlays drawn per tunnel.
const MOST_EXTRAS: usize = 6;
/// Points drawn of one overlay; of more, every n-th group is drawn as its lowest and highest.
const MOST_POINTS: usize = 2_000;

/// What is drawn for a tunnel: overlays that belong to it, or to none.
pub(super) fn extras<'a>(focus: &Focus<'a>, tunnel: usize, lanes: &[RateLane]) -> Vec<Extra<'a>> {
    let mut out: Vec<Extra> = Vec::new();
    let mut row = lanes.last().map_or(0, |l| l.rows.1);
    let mine = |o: &&Overlay| o.tunnel.is_none_or(|t| t == tunnel) && !o.points.is_empty();
    for overlay in focus.analysis.overlays.iter().filter(mine).take(MOST_EXTRAS) {
        let lane = lanes.iter().find(|l| overlay.direction == Some(l.direction));
        let extra = match lane {
            Some(lane) => over(focus, overlay, lane),
            None => {
                let extra = alone(focus, overlay, row);
                row = extra.rows.1;
                extra
            }
        };
        out.push(extra);
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
fn over<'a>(focus: &Focus, overlay: &'a Overlay, lane: &RateLane) -> Extra<'a> {
    Extra {
        name: named(focus, overlay, clean::line(&overlay.name)),
        overlay,
        rows: lane.rows,
        above: lane.above,
        shares_axis: true,
        bottom: 0.0,
        top: lane.top,
        factor: lane.factor,
        unit: lane.unit.clone(),
    }
}

/// In a lane of its own, from the lowest (0 at most) to the highest value.
fn alone<'a>(focus: &Focus, overlay: &'a Overlay, row: u32) -> Extra<'a> {
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
    Extra {
        name: named(focus, overlay, words::overlay(overlay)),
        overlay,
        rows: (row, row + TITLE + HEIGHTS[1]),
        above: TITLE,
        shares_axis: false,
        bottom,
        top: if top > bottom { top } else { bottom + 1.0 },
        factor,
        unit,
    }
}

impl Extra<'_> {
    /// What a script needs to read values off the line.
    pub(super) fn attributes(&self) -> String {
        format!(
            " data-name=\"{}\" data-unit=\"{}\" data-bottom=\"{}\" data-top=\"{}\" data-y-top=\"{}\" data-y-bottom=\"{}\"",
            escaped(&self.overlay.name),
            escaped(&self.unit),
            self.bottom,
            self.top,
            px(self.rows.0 + self.above),
            px(self.rows.1)
        )
    }

    /// Corners of the steps, or the samples, in units of the axis.
    fn line(&self, focus: &Focus, (begin, end): (f64, f64)) -> Vec<(f64, f64)> {
        let at = |time: f64, value: f64| {
            (
                time.clamp(begin, end),
                (value / self.factor).clamp(self.bottom, self.top),
            )
        };
        let points = self.overlay.points.iter().filter(|p| p.value.is_finite());
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
        steps
            .flat_map(|(time, seconds, value)| [at(time, value), at(time + seconds, value)])
            .collect()
    }
}

impl RunDrawing<'_> {
    fn extra_chart<'a, 'b>(&self, root: &Canvas<'b>, extra: &Extra) -> Drawn<Chart<'a, 'b>> {
        self.chart(root, extra.rows, extra.above, extra.bottom..extra.top)
    }

    /// The axis and the title of an overlay that has a lane of its own.
    pub(super) fn draw_extra_axis(&self, root: &Canvas, extra: &Extra) -> Drawn<()> {
        if extra.shares_axis {
            return Ok(());
        }
        self.draw_y_axis(&mut self.extra_chart(root, extra)?, 3)?;
        title(
            root,
            self.focus.t.language(),
            extra.name.clone(),
            (LEFT, extra.rows.0 + 9),
        )
    }

    pub(super) fn draw_extra(&self, root: &Canvas, extra: &Extra) -> Drawn<()> {
        let mut chart = self.extra_chart(root, extra)?;
        let line = extra.line(self.focus, (self.begin, self.end));
        chart.draw_series(LineSeries::new(line, style::OVERLAY.stroke_width(px(1))))?;
        Ok(())
    }
}
