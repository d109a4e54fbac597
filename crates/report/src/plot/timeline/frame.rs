//! What every layer of the plot needs: its parts, and where they lie.

use crate::plot::canvas::{Canvas, Drawn};
use crate::plot::reduce::PlotColumn;
use crate::plot::style::{self, px};
use crate::words::focus::Focus;
use plotters::chart::ChartContext;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::element::Text;
use plotters::prelude::SVGBackend;
use rekeyscope_model::analysis::{Direction, Overlay, Rekey};
use rekeyscope_model::text::Language;

pub(super) const WIDTH: u32 = 1100;
pub(super) const LEFT: u32 = 64;
pub(super) const RIGHT: u32 = 20;
/// Height of the plot of the direction with the data, and of the other one.
pub(super) const HEIGHTS: [u32; 2] = [210, 84];
pub(super) const TITLE: u32 = 32;
/// Room for the numbers of the rekeys.
pub(super) const NUMBERS: u32 = 18;
/// Two rows for each direction, so that overlapping SAs are seen.
pub(super) const LANE: u32 = 16;
pub(super) const AXIS: u32 = 42;

pub(super) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// One direction, ready to draw.
pub(super) struct RateLane {
    pub(super) direction: Direction,
    pub(super) columns: Vec<PlotColumn>,
    /// Upper end of the axis in units of `factor` bit/s.
    pub(super) top: f64,
    pub(super) factor: f64,
    pub(super) prefix: &'static str,
    /// First and last row of the whole plot that belong to it, CSS pixels, titles included.
    pub(super) rows: (u32, u32),
    /// Height of what stands above the plotting area.
    pub(super) above: u32,
}

/// What every layer needs.
pub(super) struct RunDrawing<'a> {
    pub(super) focus: &'a Focus<'a>,
    pub(super) tunnel: usize,
    pub(super) end: f64,
    pub(super) lanes: Vec<RateLane>,
    pub(super) extras: Vec<Extra<'a>>,
    pub(super) rekeys: Vec<&'a Rekey>,
}

/// One overlay, ready to draw.
pub(super) struct Extra<'a> {
    pub(super) name: String,
    pub(super) overlay: &'a Overlay,
    /// The same as its lane's where it lies over one.
    pub(super) rows: (u32, u32),
    pub(super) above: u32,
    /// It lies over a lane, whose axis is its own.
    pub(super) shares_axis: bool,
    /// Ends of the axis in units of `factor`.
    pub(super) bottom: f64,
    pub(super) top: f64,
    pub(super) factor: f64,
    pub(super) unit: String,
}

impl RunDrawing<'_> {
    /// CSS pixels.
    pub(super) fn height(&self) -> u32 {
        self.first_lane_row() + TITLE + 4 * LANE + AXIS
    }

    /// First row of the part with the SAs.
    pub(super) fn first_lane_row(&self) -> u32 {
        let lanes = self.lanes.iter().map(|l| l.rows.1);
        let extras = self.extras.iter().map(|e| e.rows.1);
        lanes.chain(extras).max().unwrap_or(0)
    }

    /// The plotting areas lie within these, units.
    pub(super) fn x_range(&self) -> (i32, i32) {
        (px(LEFT) as i32, px(WIDTH - RIGHT) as i32)
    }

    pub(super) fn x(&self, seconds: f64) -> i32 {
        let (left, right) = self.x_range();
        left + (seconds.clamp(0.0, self.end) / self.end * f64::from(right - left)).round() as i32
    }

    /// Seconds per CSS pixel.
    pub(super) fn pixel(&self) -> f64 {
        self.end / f64::from(WIDTH - LEFT - RIGHT)
    }
}

/// A headline within the plot.
pub(super) fn title(root: &Canvas, language: Language, text: String, row: u32) -> Drawn<()> {
    root.draw(&Text::new(
        text,
        (px(LEFT) as i32, px(row + 9) as i32),
        style::label(language, 13, style::INK),
    ))?;
    Ok(())
}
