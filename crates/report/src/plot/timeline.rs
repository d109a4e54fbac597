//! The whole run, in two pictures on one time axis: throughput with every rekey marked; beneath it round trips, data in flight,
//! where the time went, and the lanes of the SAs.
//!
//! Drawn in layers, so that a page's script can zoom into it: axes stand still; data, bars and links are stretched
//! along the time axis; labels move with it but keep their shape.

mod account;
mod course;
mod frame;
mod lanes;
mod marks;
mod overlays;
mod span;

use crate::plot::axes::title;
use crate::plot::canvas::{Canvas, Drawn, Plot};
use crate::plot::reduce::{ceiling, columns, joined, joined_bins};
use crate::plot::stalls::stalls;
use crate::plot::style::{self, px};
use crate::words::focus::{Focus, at_most, is_hurt, number};
use crate::words::{self, format};
use frame::{LEFT, NARROW, PlotLane, RunDrawing, WIDTH};
use marks::MOST_FULL_MARKS;
use plotters::element::Polygon;
use plotters::series::LineSeries;
use plotters::style::Color;
use rekeyscope_model::analysis::{Direction, TunnelSeries};
use std::fmt::Write as _;

/// Rekeys drawn; the hurt ones first.
const MOST_MARKS: usize = 600;
/// Columns drawn, likewise: for the data one per drawing unit, so that a zoomed plot still has something to show.
const MOST_COLUMNS: [usize; 2] = [2000, 1000];
/// Longest time axis, seconds (three years): beyond it a time is an error.
const LONGEST: f64 = 1e8;

/// Draws the first picture of a run, the same for a telephone (of the first tunnel), and the second one where the first has not all there is;
/// `None` where the document has no time to draw over.
pub(crate) fn draw(focus: &Focus, tunnel: usize) -> Option<[Option<Plot>; 3]> {
    let whole = end_of_time(focus, tunnel)?;
    let (begin, end) = span::span(focus, tunnel, whole);
    let of_width = |width: u32, name: &str| {
        let (lanes, quiet) = lanes_of(focus, tunnel, width);
        let has_rates = !lanes.is_empty();
        let mut lanes = frame::stacked(lanes, 0);
        let overlays = overlays::lanes(focus, tunnel, &lanes, (begin, end));
        lanes.extend(overlays);
        let drawing = RunDrawing {
            focus,
            tunnel,
            width,
            name: format!("{name}-{tunnel}"),
            begin,
            end,
            accounts: Vec::new(),
            lanes,
            has_sas: !has_rates,
            is_shaded: true,
            rekeys: at_most(
                focus.analysis.rekeys_of(tunnel).collect(),
                most(MOST_MARKS, width),
            ),
        };
        (drawing, quiet)
    };
    let t = focus.t;
    let title = |id| fill!(t, id, tunnel);
    let texts = || [title("plot-timeline-title"), description(focus, tunnel, whole)];
    let (rates, quiet) = of_width(WIDTH, "timeline");
    let has_rates = !rates.has_sas;
    let timeline = rates.draw(texts())?;
    let is_first = focus.tunnels.first() == Some(&tunnel);
    let narrow = is_first
        .then(|| of_width(NARROW, "narrow").0.draw(texts()))
        .flatten();
    let texts = [title("plot-detail-title"), t.word("plot-detail-text")];
    let detail = has_rates.then(|| rates.beneath(quiet).draw(texts)).flatten();
    Some([Some(timeline), narrow, detail])
}

/// Number of marks that a picture of a width has room for, where the wide one has room for so many.
fn most(of: usize, width: u32) -> usize {
    of * width as usize / WIDTH as usize
}

/// A lane of the first picture: a direction with a transfer, or one that stalls; either of them where no direction has an account.
fn has_something(focus: &Focus, tunnel: usize, direction: Direction) -> bool {
    let mut accounts = focus.analysis.accounts_of(tunnel).peekable();
    accounts.peek().is_none()
        || accounts.any(|a| a.direction == direction)
        || !stalls(focus, tunnel, direction).is_empty()
}

/// The part of the capture that is drawn, where that is not all of it.
pub(crate) fn drawn(focus: &Focus, tunnel: usize) -> Option<String> {
    let whole = end_of_time(focus, tunnel)?;
    let (begin, end) = span::span(focus, tunnel, whole);
    (begin > 0.0 || end < whole).then(|| {
        let [from, to, whole] = [begin, end, whole].map(format::seconds);
        fill!(focus.t, "page-timeline-part", from, to, whole)
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

/// The directions that have a series, that with the data first: those of the first picture, and the others.
fn lanes_of(focus: &Focus, tunnel: usize, width: u32) -> (Vec<PlotLane>, Vec<PlotLane>) {
    let columns = MOST_COLUMNS.map(|columns| most(columns, width));
    let directions = focus.directions(tunnel).into_iter().zip(columns);
    let lanes = directions.filter_map(|(direction, most)| lane(focus, tunnel, direction, most));
    let something = |lane: &PlotLane| lane.direction.is_some_and(|d| has_something(focus, tunnel, d));
    let (lanes, quiet): (Vec<_>, Vec<_>) = lanes.partition(something);
    match lanes.is_empty() {
        true => (quiet, lanes),
        false => (lanes, quiet),
    }
}

/// Bins of a series that are drawn as one; of documents without its highest rate each for itself.
fn bins_in_one(series: &TunnelSeries, bin_s: f64) -> usize {
    let highest = series.highest.as_ref();
    highest.map_or(1, |highest| joined_bins(highest.bps, bin_s))
}

/// Length of the bins that are drawn of the direction with the data, milliseconds.
pub(crate) fn drawn_bin_ms(focus: &Focus, tunnel: usize) -> f64 {
    let bin_ms = focus.analysis.series.bin_ms;
    let series = focus.series(tunnel, focus.main_direction(tunnel));
    bin_ms * series.map_or(1, |series| bins_in_one(series, bin_ms / 1000.0)) as f64
}

fn lane(focus: &Focus, tunnel: usize, direction: Direction, most: usize) -> Option<PlotLane> {
    let series = focus.series(tunnel, direction)?;
    let offset = focus.seconds(series.start)?;
    let bin_s = focus.analysis.series.bin_ms / 1000.0;
    let bins = bins_in_one(series, bin_s);
    let bytes = joined(&series.inner_new_bytes, bins);
    let mut columns = columns(&bytes, bin_s * bins as f64, most);
    columns.iter_mut().for_each(|c| c.time += offset);
    let highest = ceiling(columns.iter());
    let (factor, prefix) = format::prefix_of(highest);
    let top = if highest > 0.0 {
        highest / factor * 1.12
    } else {
        1.0
    };
    let (t, unit) = (focus.t, format!("{prefix}bit/s"));
    // The series counts what the ledger is about.
    let inner = focus.analysis.ledger_of(tunnel, direction).and_then(|l| l.inner);
    let name = match inner {
        Some((sender, receiver)) => format!("{sender} → {receiver}"),
        None => words::direction(t, focus.analysis, tunnel, direction),
    };
    (!columns.is_empty()).then(|| PlotLane {
        direction: Some(direction),
        headline: fill!(t, "plot-lane", direction = name, unit),
        name,
        columns,
        top,
        factor,
        unit,
        ..PlotLane::default()
    })
}

fn description(focus: &Focus, tunnel: usize, end: f64) -> String {
    let hurt: Vec<String> = focus
        .analysis
        .rekeys_of(tunnel)
        .filter(|r| is_hurt(r))
        .take(20)
        .map(|r| number(r).to_string())
        .collect();
    let t = focus.t;
    let rekeys = format::counted(
        t,
        "counted-rekeys",
        focus.analysis.rekeys_of(tunnel).count() as u64,
    );
    let which = match hurt.is_empty() {
        true => t.word("plot-none-hurt"),
        false => fill!(t, "plot-hurt-list", list = t.joined(&hurt)),
    };
    let run = format::seconds(end);
    fill!(t, "plot-timeline-text", run, rekeys, which)
}

impl RunDrawing<'_> {
    /// The second picture, whose last lanes are those of the directions that the first one left out. Where rekeys are many the first one
    /// alone is marked and shaded.
    fn beneath(self, quiet: Vec<PlotLane>) -> Self {
        let accounts = account::strips(self.focus, self.tunnel);
        let mut lanes = course::lanes(self.focus, self.tunnel, &accounts);
        lanes.extend(quiet);
        let marked = self.rekeys.len() <= MOST_FULL_MARKS;
        RunDrawing {
            name: format!("detail-{}", self.tunnel),
            accounts,
            lanes: frame::stacked(lanes, 1),
            has_sas: true,
            is_shaded: marked,
            rekeys: if marked { self.rekeys } else { Vec::new() },
            ..self
        }
    }

    /// The layers, one on the other.
    fn draw(&self, texts: [String; 2]) -> Option<Plot> {
        let size = (self.width, self.height());
        let blank = Plot::blank(self.focus.t.language(), self.name.clone(), size, texts);
        let mut body = self.clip();
        body += &blank.layer(|root| self.draw_axes(root))?;
        for lane in &self.lanes {
            let data = blank.layer(|root| self.draw_data(root, lane))?;
            body += &self.zoomed(&lane.attributes(), &data);
        }
        if !self.accounts.is_empty() {
            body += &self.zoomed("", &self.strips());
        }
        if self.has_sas {
            let bars = blank.layer(|root| self.draw_bars(root))?;
            body += &self.zoomed("", &bars);
        }
        let labels = blank.layer(|root| self.draw_labels(root))?;
        let ticks = blank.layer(|root| self.draw_ticks(root))?;
        let spis = if self.has_sas { self.spis() } else { String::new() };
        let _ = writeln!(
            body,
            "<g class=\"labels\">\n{labels}</g>\n{spis}<g class=\"ticks\">\n{ticks}</g>"
        );
        let links = self.zoomed("", &self.links());
        Some(blank.compose(body, links))
    }

    fn clip(&self) -> String {
        let (x0, x1) = self.x_range();
        format!(
            "<clipPath id=\"clip-{}\"><rect x=\"{x0}\" y=\"0\" width=\"{}\" height=\"{}\"/></clipPath>\n",
            self.name,
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
            self.name, self.begin, self.end
        )
    }

    fn draw_axes(&self, root: &Canvas) -> Drawn<()> {
        for lane in self.lanes.iter().filter(|lane| !lane.over) {
            let (area, axes) = self.lane_area(root, lane);
            axes.draw(&area, self.begin..self.end, lane.bottom..lane.top)?;
            let over = self.lanes.iter().filter(|l| l.over && l.rows == lane.rows);
            let headlines = std::iter::once(lane).chain(over);
            let headline = headlines.map(|l| l.headline.as_str()).collect();
            title(root, self.focus.t.language(), headline, (LEFT, lane.rows.0 + 9))?;
        }
        self.draw_strip_titles(root)?;
        match self.has_sas {
            true => self.draw_lane_names(root),
            false => Ok(()),
        }
    }

    fn draw_data(&self, root: &Canvas, lane: &PlotLane) -> Drawn<()> {
        let (area, axes) = self.lane_area(root, lane);
        let mut chart = axes.chart(&area, self.begin..self.end, lane.bottom..lane.top)?;
        let at = |time: f64, value: f64| (time, (value / lane.factor).clamp(lane.bottom, lane.top));
        let shown = || {
            lane.columns
                .iter()
                .filter(|c| (self.begin..=self.end).contains(&c.time))
        };
        if let Some(direction) = lane.direction.filter(|_| !lane.over) {
            if self.is_shaded {
                self.draw_outages(&mut chart, lane)?;
            }
            for rekey in &self.rekeys {
                self.draw_span(&mut chart, rekey, direction, lane.top)?;
            }
            let mut band: Vec<(f64, f64)> = shown().map(|c| at(c.time, c.high)).collect();
            band.extend(shown().rev().map(|c| at(c.time, c.low)));
            let fill = style::of(direction).mix(0.25).filled();
            chart.draw_series(std::iter::once(Polygon::new(band, fill)))?;
        }
        let line = shown().map(|c| at(c.time, c.mean));
        chart.draw_series(LineSeries::new(line, lane.stroke()))?;
        Ok(())
    }
}
