//! The parts of the plot, and where they lie.

use crate::plot::axes::Axes;
use crate::plot::canvas::{Canvas, escaped};
use crate::plot::reduce::PlotColumn;
use crate::plot::style::{self, at, px};
use crate::words::focus::Focus;
use plotters::style::{Color, ShapeStyle};
use rekeyscope_model::analysis::{Account, Direction, Rekey};

pub(super) const WIDTH: u32 = 1100;
/// Width of a telephone's screen: the picture is not made smaller there, and its labels are read.
pub(super) const NARROW: u32 = 390;
pub(super) const LEFT: u32 = 64;
pub(super) const RIGHT: u32 = 20;
/// Height of the first lane of the throughput, and of every other lane.
pub(super) const HEIGHTS: [u32; 2] = [240, 84];
pub(super) const TITLE: u32 = 32;
/// Room for the numbers of the rekeys.
pub(super) const NUMBERS: u32 = 18;
/// Height of a row of SAs; those that overlap have rows of their own.
pub(super) const LANE: u32 = 16;
pub(super) const AXIS: u32 = 42;
/// Height of the marks at the numbers of the time axis.
const TICK: u32 = 4;
/// Height of the strip of what the time went to.
pub(super) const STRIP: u32 = 16;

/// Values over time, ready to draw: the rate of a direction, what a course of its flows has, or an overlay.
#[derive(Default)]
pub(super) struct PlotLane {
    /// The direction whose values these are; `None` of an overlay.
    pub(super) direction: Option<Direction>,
    /// The name that a script shows beside values.
    pub(super) name: String,
    /// A lane over another one adds its headline to that one's.
    pub(super) headline: String,
    /// The lane lies over one before it and has that one's axis.
    pub(super) over: bool,
    pub(super) columns: Vec<PlotColumn>,
    /// Ends of the axis in units of `factor`.
    pub(super) bottom: f64,
    pub(super) top: f64,
    pub(super) factor: f64,
    pub(super) unit: String,
    /// First and last row of the whole plot that belong to it, CSS pixels, titles included.
    pub(super) rows: (u32, u32),
    /// Height of what stands above the plotting area.
    pub(super) above: u32,
}

pub(super) struct RunDrawing<'a> {
    pub(super) focus: &'a Focus<'a>,
    pub(super) tunnel: usize,
    /// CSS pixels.
    pub(super) width: u32,
    /// Name of the plot.
    pub(super) name: String,
    /// Ends of the time axis, seconds since the start of the capture.
    pub(super) begin: f64,
    pub(super) end: f64,
    pub(super) lanes: Vec<PlotLane>,
    /// A strip each.
    pub(super) accounts: Vec<&'a Account>,
    /// The lanes of the SAs are drawn.
    pub(super) has_sas: bool,
    /// Stalls are shaded.
    pub(super) is_shaded: bool,
    pub(super) rekeys: Vec<&'a Rekey>,
}

impl PlotLane {
    /// The line through its values.
    pub(super) fn stroke(&self) -> ShapeStyle {
        match (self.direction, self.over) {
            (None, _) => style::OVERLAY.stroke_width(px(1)),
            (Some(direction), true) => style::of(direction).mix(0.5).stroke_width(px(1)),
            (Some(direction), false) => style::of(direction).stroke_width(px(1)),
        }
    }

    /// The values that a script reads off the line; an axis without an end of its own begins at 0.
    pub(super) fn attributes(&self) -> String {
        let bottom = match self.direction {
            None => format!(" data-bottom=\"{}\"", self.bottom),
            Some(_) => String::new(),
        };
        format!(
            " data-name=\"{}\" data-unit=\"{}\"{bottom} data-top=\"{}\" data-y-top=\"{}\" data-y-bottom=\"{}\"",
            escaped(&self.name),
            escaped(&self.unit),
            self.top,
            px(self.rows.0 + self.above),
            px(self.rows.1)
        )
    }
}

/// The lanes one below the other, with room above the first one for the numbers of the rekeys; `small`: how many of the [`HEIGHTS`]
/// are skipped. A lane over another one lies where that lies.
pub(super) fn stacked(lanes: Vec<PlotLane>, small: usize) -> Vec<PlotLane> {
    let mut rows = (0, 0);
    let mut above = 0;
    let mut out = Vec::new();
    for lane in lanes {
        if !lane.over {
            let first = out.is_empty();
            let height = if first { HEIGHTS[small] } else { HEIGHTS[1] };
            above = if first { TITLE + NUMBERS } else { TITLE };
            rows = (rows.1, rows.1 + above + height);
        }
        out.push(PlotLane { rows, above, ..lane });
    }
    out
}

impl RunDrawing<'_> {
    /// CSS pixels.
    pub(super) fn height(&self) -> u32 {
        self.first_lane_row() + self.lane_rows() + AXIS
    }

    /// Height of the part with the SAs; of a plot without it, what the time axis needs above itself.
    pub(super) fn lane_rows(&self) -> u32 {
        match self.has_sas {
            true => TITLE + self.sa_rows().iter().sum::<u32>() * LANE,
            false => TICK,
        }
    }

    /// First row of the part with the SAs.
    pub(super) fn first_lane_row(&self) -> u32 {
        self.first_strip_row() + self.accounts.len() as u32 * (TITLE + STRIP)
    }

    /// First row below the rates: that of the first strip.
    pub(super) fn first_strip_row(&self) -> u32 {
        self.lanes.iter().map(|l| l.rows.1).max().unwrap_or(0)
    }

    /// The area of a lane, and its axes.
    pub(super) fn lane_area<'b>(&self, root: &Canvas<'b>, lane: &PlotLane) -> (Canvas<'b>, Axes) {
        let height = px(lane.rows.1 - lane.rows.0);
        let area = root
            .clone()
            .shrink((0, px(lane.rows.0)), (px(self.width), height));
        let numbers = if height - px(lane.above) > px(HEIGHTS[1]) {
            6
        } else {
            3
        };
        let axes = Axes {
            lines: (false, true),
            labels: (0, numbers),
            ..Axes::new(self.focus.t.language(), [lane.above, RIGHT, 0, LEFT])
        };
        (area, axes)
    }

    /// The plotting areas lie within these, units.
    pub(super) fn x_range(&self) -> (i32, i32) {
        (at(LEFT), at(self.width - RIGHT))
    }

    pub(super) fn x(&self, seconds: f64) -> i32 {
        let (left, right) = self.x_range();
        let share = (self.within(seconds) - self.begin) / (self.end - self.begin);
        left + (share * f64::from(right - left)).round() as i32
    }

    /// On the axis.
    pub(super) fn within(&self, seconds: f64) -> f64 {
        seconds.clamp(self.begin, self.end)
    }

    /// Seconds per CSS pixel.
    pub(super) fn pixel(&self) -> f64 {
        (self.end - self.begin) / f64::from(self.width - LEFT - RIGHT)
    }
}
