//! The axes of a plot that is one chart.

use crate::plot::backend::Svg;
use crate::plot::canvas::{Canvas, Drawn};
use crate::plot::label::plain;
use crate::plot::style::{self, at, px};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::element::Text;
use plotters::style::Color;
use rekeyscope_model::text::Language;
use std::ops::Range;

/// A chart on whose axes are numbers.
pub(crate) type Chart<'a, 'b> = ChartContext<'a, Svg<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Measures and words around the chart.
pub(crate) struct Axes {
    pub(crate) language: Language,
    /// Margins, CSS pixels; that at the left has room for the numbers of the vertical axis, `room_below` for those of the other one.
    pub(crate) above: u32,
    pub(crate) right: u32,
    pub(crate) left: u32,
    pub(crate) room_below: u32,
    /// Below the horizontal axis.
    pub(crate) below: String,
    /// Numbers at the horizontal axis, and at the vertical one.
    pub(crate) labels: (usize, usize),
}

impl Axes {
    pub(crate) fn draw<'a, 'b>(
        self,
        root: &Canvas<'b>,
        x: Range<f64>,
        y: Range<f64>,
    ) -> Drawn<Chart<'a, 'b>> {
        let mut chart = ChartBuilder::on(root)
            .margin_top(px(self.above))
            .margin_right(px(self.right))
            .y_label_area_size(px(self.left))
            .x_label_area_size(px(self.room_below))
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .x_labels(self.labels.0)
            .y_labels(self.labels.1)
            .bold_line_style(style::GRID.stroke_width(px(1)))
            .axis_style(style::GRID.stroke_width(px(1)))
            .label_style(style::label(self.language, 12, style::MUTED))
            .axis_desc_style(style::label(self.language, 12, style::MUTED))
            .x_label_formatter(&|x| plain(*x))
            .y_label_formatter(&|y| plain(*y))
            .x_desc(self.below)
            .draw()?;
        Ok(chart)
    }
}

/// A headline within a plot, at this place in CSS pixels.
pub(crate) fn title(root: &Canvas, language: Language, text: String, (x, y): (u32, u32)) -> Drawn<()> {
    let font = style::label(language, 13, style::INK);
    root.draw(&Text::new(text, (at(x), at(y)), font))?;
    Ok(())
}
