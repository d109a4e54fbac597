//! The axes of a plot that is one chart.

use crate::plot::canvas::{Canvas, Drawn};
use crate::plot::label::plain;
use crate::plot::style::{self, at, px};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::element::Text;
use plotters::prelude::SVGBackend;
use plotters::style::Color;
use rekeyscope_model::text::Language;
use std::ops::Range;

/// A chart on whose axes are numbers.
pub(crate) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Measures and words around a chart.
pub(crate) struct Axes {
    pub(crate) language: Language,
    /// Margins above, at the right, below and at the left, CSS pixels; the last two have room for the numbers of the axes.
    pub(crate) margins: [u32; 4],
    /// Lines of the grid: down from the numbers of the horizontal axis, across from those of the vertical one.
    pub(crate) lines: (bool, bool),
    /// Numbers at the horizontal axis, and at the vertical one.
    pub(crate) labels: (usize, usize),
    /// Height of the numbers, CSS pixels.
    pub(crate) size: u32,
    /// A number of the horizontal axis in words.
    pub(crate) x_label: fn(f64) -> String,
    /// Words below the horizontal axis.
    pub(crate) below: Option<String>,
}

impl Axes {
    /// Axes with a grid and plain numbers.
    pub(crate) fn new(language: Language, margins: [u32; 4]) -> Self {
        Axes {
            language,
            margins,
            lines: (true, true),
            labels: (0, 0),
            size: 12,
            x_label: plain,
            below: None,
        }
    }

    /// The chart between the axes, which are not drawn.
    pub(crate) fn chart<'a, 'b>(
        &self,
        root: &Canvas<'b>,
        x: Range<f64>,
        y: Range<f64>,
    ) -> Drawn<Chart<'a, 'b>> {
        let [above, right, below, left] = self.margins.map(px);
        let chart = ChartBuilder::on(root)
            .margin_top(above)
            .margin_right(right)
            .y_label_area_size(left)
            .x_label_area_size(below)
            .build_cartesian_2d(x, y)?;
        Ok(chart)
    }

    /// The chart with its axes.
    pub(crate) fn draw<'a, 'b>(
        self,
        root: &Canvas<'b>,
        x: Range<f64>,
        y: Range<f64>,
    ) -> Drawn<Chart<'a, 'b>> {
        let mut chart = self.chart(root, x, y)?;
        let text = style::label(self.language, self.size, style::MUTED);
        let x_label = |x: &f64| (self.x_label)(*x);
        let mut mesh = chart.configure_mesh();
        mesh.max_light_lines(0)
            .x_labels(self.labels.0)
            .y_labels(self.labels.1)
            .bold_line_style(style::GRID.stroke_width(px(1)))
            .axis_style(style::GRID.stroke_width(px(1)))
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_label_formatter(&x_label)
            .y_label_formatter(&|y| plain(*y));
        if !self.lines.0 {
            mesh.disable_x_mesh();
        }
        if !self.lines.1 {
            mesh.disable_y_mesh();
        }
        if let Some(below) = &self.below {
            mesh.x_desc(below);
        }
        mesh.draw()?;
        drop(mesh);
        Ok(chart)
    }
}

/// A headline within a plot, at this place in CSS pixels.
pub(crate) fn title(root: &Canvas, language: Language, text: String, (x, y): (u32, u32)) -> Drawn<()> {
    let font = style::label(language, 13, style::INK);
    root.draw(&Text::new(text, (at(x), at(y)), font))?;
    Ok(())
}
