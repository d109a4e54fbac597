//! The whole run: throughput of both directions with every rekey marked, over the lanes of the SAs, on one time axis.
//!
//! Drawn in layers, so that a page's script can zoom into it: axes stand still; data, bars and links are stretched
//! along the time axis; labels move with it but keep their shape.

mod account;
mod course;
mod extra;
mod frame;
mod lanes;
mod marks;
mod outages;
mod span;

use crate::plot::axes::{Chart, title};
use crate::plot::canvas::{Canvas, Drawn, Plot};
use crate::plot::reduce::{ceiling, columns};
use crate::plot::style::{self, px};
use crate::words::focus::{Focus, at_most, is_hurt, number};
use crate::words::{self, format};
use frame::{HEIGHTS, LEFT, NUMBERS, RateLane, RunDrawing, TITLE, WIDTH};
use marks::MOST_FULL_MARKS;
use plotters::element::Polygon;
use plotters::series::LineSeries;
use plotters::style::Color;
use rekeyscope_model::analysis::Direction;
use std::fmt::Write as _;

/// Rekeys drawn; the hurt ones first.
const MOST_MARKS: usize = 600;
/// Columns drawn, likewise: for the data one per drawing unit, so that a zoomed plot still has something to show.
const MOST_COLUMNS: [usize; 2] = [2000, 1000];
/// Longest time axis, seconds (three years): beyond it a time is an error.
const LONGEST: f64 = 1e8;

/// The plot; `None` where the document has no time to draw over.
pub(crate) fn draw(focus: &Focus, tunnel: usize) -> Option<Plot> {
    let mut lanes = lanes_of(focus, tunnel);
    let whole = end_of_time(focus, tunnel)?;
    let (begin, end) = span::span(focus, tunnel, whole);
    let extras = extra::extras(focus, tunnel, &lanes);
    let accounts = if lanes.is_empty() {
        Vec::new()
    } else {
        account::strips(focus, tunnel)
    };
    let row = frame::below(&lanes, &extras);
    lanes.extend(course::lanes(focus, tunnel, &accounts, row));
    let timeline = RunDrawing {
        focus,
        tunnel,
        begin,
        end,
        extras,
        accounts,
        lanes,
        rekeys: at_most(focus.rekeys(tunnel).collect(), MOST_MARKS),
    };
    let t = focus.t;
    let title = t.fill("plot-timeline-title", &[("tunnel", &tunnel.to_string())]);
    let texts = [title, description(focus, tunnel, whole)];
    let size = (WIDTH, timeline.height());
    let blank = Plot::blank(t.language(), format!("timeline-{tunnel}"), size, texts);
    let mut body = timeline.clip();
    body += &blank.layer(|root| timeline.draw_axes(root))?;
    for lane in &timeline.lanes {
        let data = blank.layer(|root| timeline.draw_data(root, lane))?;
        body += &timeline.zoomed(&timeline.lane_attributes(lane), &data);
    }
    for extra in &timeline.extras {
        let data = blank.layer(|root| timeline.draw_extra(root, extra))?;
        body += &timeline.zoomed(&extra.attributes(), &data);
    }
    body += &timeline.zoomed("", &timeline.strips());
    let bars = blank.layer(|root| timeline.draw_bars(root))?;
    body += &timeline.zoomed("", &bars);
    let labels = blank.layer(|root| timeline.draw_labels(root))?;
    let ticks = blank.layer(|root| timeline.draw_ticks(root))?;
    let _ = writeln!(
        body,
        "<g class=\"labels\">\n{labels}</g>\n{}<g class=\"ticks\">\n{ticks}</g>",
        timeline.spis()
    );
    let links = timeline.zoomed("", &timeline.links());
    Some(blank.compose(body, links))
}

/// Which part of the capture is drawn, where it is not all of it.
pub(crate) fn drawn(focus: &Focus, tunnel: usize) -> Option<String> {
    let whole = end_of_time(focus, tunnel)?;
    let (begin, end) = span::span(focus, tunnel, whole);
    (begin > 0.0 || end < whole).then(|| {
        let [from, to, whole] = [begin, end, whole].map(format::seconds);
        focus.t.fill(
            "page-timeline-part",
            &[("from", &from), ("to", &to), ("whole", &whole)],
        )
    })
}

/// Seconds from the origin to the end of the axis.
fn end_of_time(focus: &Focus, tunnel: usize) -> Option<f64> {
    let origin = focus.origin?;
    let bin_s = focus.analysis.series.bin_ms / 1000.0;
    let series = focus
        .analysis
        .series
        .tunnels
        .iter()
        .filter(|s| s.tunnel == tunnel);
    let ends = series.map(|s| s.start.seconds_since(origin) + s.inner_new_bytes.len() as f64 * bin_s);
    let end = ends
        .chain(focus.analysis.capture.duration_s)
        .filter(|e| e.is_finite())
        .fold(0.0, f64::max);
    (end > 0.0).then_some(end.min(LONGEST))
}

/// The directions that have a series, one below the other.
fn lanes_of(focus: &Focus, tunnel: usize) -> Vec<RateLane> {
    let mut lanes: Vec<RateLane> = Vec::new();
    for direction in focus.directions(tunnel) {
        let numbers = if lanes.is_empty() { NUMBERS } else { 0 };
        let height = if lanes.is_empty() { HEIGHTS[0] } else { HEIGHTS[1] };
        let row = lanes.last().map_or(0, |l| l.rows.1);
        let above = TITLE + numbers;
        let rows = (row, row + above + height);
        let most = MOST_COLUMNS[usize::from(!lanes.is_empty())];
        lanes.extend(lane(focus, tunnel, direction, most).map(|l| RateLane { rows, above, ..l }));
    }
    lanes
}

fn lane(focus: &Focus, tunnel: usize, direction: Direction, most: usize) -> Option<RateLane> {
    let series = focus.series(tunnel, direction)?;
    let offset = focus.seconds(series.start)?;
    let mut columns = columns(
        &series.inner_new_bytes,
        focus.analysis.series.bin_ms / 1000.0,
        most,
    );
    columns.iter_mut().for_each(|c| c.time += offset);
    let highest = ceiling(columns.iter());
    let (factor, prefix) = format::prefix_of(highest);
    let top = if highest > 0.0 {
        highest / factor * 1.12
    } else {
        1.0
    };
    let (t, unit) = (focus.t, format!("{prefix}bit/s"));
    let name = words::direction(t, focus.analysis, tunnel, direction);
    (!columns.is_empty()).then(|| RateLane {
        direction,
        headline: t.fill("plot-lane", &[("direction", &name), ("unit", &unit)]),
        name,
        course: false,
        over: false,
        columns,
        top,
        factor,
        unit,
        rows: (0, 0),
        above: 0,
    })
}

fn description(focus: &Focus, tunnel: usize, end: f64) -> String {
    let hurt: Vec<String> = focus
        .rekeys(tunnel)
        .filter(|r| is_hurt(r))
        .take(20)
        .map(|r| number(r).to_string())
        .collect();
    let t = focus.t;
    let rekeys = format::counted(t, "counted-rekeys", focus.rekeys(tunnel).count() as u64);
    let which = match hurt.is_empty() {
        true => t.word("plot-none-hurt"),
        false => t.fill("plot-hurt-list", &[("list", &t.joined(&hurt))]),
    };
    let run = format::seconds(end);
    t.fill(
        "plot-timeline-text",
        &[("run", &run), ("rekeys", &rekeys), ("which", &which)],
    )
}

impl RunDrawing<'_> {
    fn clip(&self) -> String {
        let (x0, x1) = self.x_range();
        format!(
            "<clipPath id=\"clip-{}\"><rect x=\"{x0}\" y=\"0\" width=\"{}\" height=\"{}\"/></clipPath>\n",
            self.tunnel,
            x1 - x0,
            px(self.height())
        )
    }

    /// A layer that a script may stretch along the time axis.
    fn zoomed(&self, attributes: &str, layer: &str) -> String {
        let (x0, x1) = self.x_range();
        format!(
            "<g clip-path=\"url(#clip-{})\"><g class=\"zoom\" data-left=\"{x0}\" data-right=\"{x1}\" \
             data-begin=\"{}\" data-end=\"{}\"{attributes}>\n{layer}</g></g>\n",
            self.tunnel, self.begin, self.end
        )
    }

    /// What a script needs to read rates off the line.
    fn lane_attributes(&self, lane: &RateLane) -> String {
        format!(
            " data-name=\"{}\" data-unit=\"{}\" data-top=\"{}\" data-y-top=\"{}\" data-y-bottom=\"{}\"",
            lane.name,
            lane.unit,
            lane.top,
            px(lane.rows.0 + lane.above),
            px(lane.rows.1)
        )
    }

    fn lane_chart<'a, 'b>(&self, root: &Canvas<'b>, lane: &RateLane) -> Drawn<Chart<'a, 'b>> {
        self.chart(root, lane.rows, lane.above, 0.0..lane.top)
    }

    fn draw_axes(&self, root: &Canvas) -> Drawn<()> {
        for (n, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| !lane.over) {
            let y_labels = if n == 0 { 6 } else { 3 };
            self.draw_y_axis(&mut self.lane_chart(root, lane)?, y_labels)?;
            let over = self.extras.iter().filter(|e| e.rows == lane.rows);
            let t = self.focus.t;
            let names: String = over
                .map(|e| t.fill("plot-stepped", &[("name", &e.name)]))
                .collect();
            let headline = lane.headline.clone() + &names;
            title(root, t.language(), headline, (LEFT, lane.rows.0 + 9))?;
        }
        for extra in &self.extras {
            self.draw_extra_axis(root, extra)?;
        }
        self.draw_strip_titles(root)?;
        self.draw_lane_names(root)
    }

    fn draw_data(&self, root: &Canvas, lane: &RateLane) -> Drawn<()> {
        let mut chart = self.lane_chart(root, lane)?;
        let color = style::of(lane.direction);
        if !lane.over {
            let unmarked = lane.course && self.rekeys.len() > MOST_FULL_MARKS;
            if !unmarked {
                self.draw_outages(&mut chart, lane)?;
                for rekey in &self.rekeys {
                    self.draw_span(&mut chart, rekey, lane)?;
                }
            }
        }
        let at = |time: f64, rate: f64| (time, (rate / lane.factor).clamp(0.0, lane.top));
        let shown = || {
            lane.columns
                .iter()
                .filter(|c| (self.begin..=self.end).contains(&c.time))
        };
        let line = shown().map(|c| at(c.time, c.mean));
        if lane.over {
            chart.draw_series(LineSeries::new(line, color.mix(0.5).stroke_width(px(1))))?;
            return Ok(());
        }
        let mut band: Vec<(f64, f64)> = shown().map(|c| at(c.time, c.high)).collect();
        band.extend(shown().rev().map(|c| at(c.time, c.low)));
        chart.draw_series(std::iter::once(Polygon::new(band, color.mix(0.25).filled())))?;
        chart.draw_series(LineSeries::new(line, color.stroke_width(px(1))))?;
        Ok(())
    }
}
