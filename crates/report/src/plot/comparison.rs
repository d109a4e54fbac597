//! Captures as points, seconds per gigabyte over rekeys per gigabyte, and the line through them.

use crate::plot::canvas::{Blank, Drawn, Plot};
use crate::plot::label::plain;
use crate::plot::style::{self, px};
use crate::words::clean;
use plotters::chart::ChartBuilder;
use plotters::element::{Circle, PathElement, Text};
use plotters::style::Color;
use rekeyscope_model::analysis::comparison::{ComparedCapture, Comparison};
use rekeyscope_model::text::Catalogue;

const WIDTH: u32 = 760;
const HEIGHT: u32 = 340;
const LEFT: u32 = 64;
/// Room above and to the right of the outermost points, as a factor.
const ROOM: f64 = 1.12;
/// Points that get their name: more would cover each other.
const MOST_NAMED: usize = 12;
/// Characters of a name.
const LONGEST_NAME: usize = 28;

/// `None` where no capture is a point.
pub(crate) fn draw(t: &Catalogue, comparison: &Comparison) -> Option<Plot> {
    let points: Vec<(f64, f64, &ComparedCapture)> = comparison
        .captures
        .iter()
        .filter(|c| c.used)
        .filter_map(|c| Some((c.rekeys_per_gb?, c.seconds_per_gb?, c)))
        .filter(|p| p.0.is_finite() && p.1.is_finite())
        .collect();
    let right = points.iter().map(|p| p.0).fold(0.0, f64::max) * ROOM;
    let top = points.iter().map(|p| p.1).fold(0.0, f64::max) * ROOM;
    // Without rekeys in any capture the points stand above each other.
    let right = if right > 0.0 { right } else { 1.0 };
    if points.is_empty() || top <= 0.0 {
        return None;
    }
    let language = t.language();
    let blank = Blank {
        language,
        name: "comparison".to_string(),
        title: t.word("plot-comparison-title"),
        description: t.word("plot-comparison-text"),
        width: WIDTH,
        height: HEIGHT,
    };
    blank.draw(|root| {
        let mut chart = ChartBuilder::on(root)
            .margin_top(px(28))
            .margin_right(px(24))
            .y_label_area_size(px(LEFT))
            .x_label_area_size(px(44))
            .build_cartesian_2d(0.0..right, 0.0..top)?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .x_labels(8)
            .y_labels(6)
            .bold_line_style(style::GRID.stroke_width(px(1)))
            .axis_style(style::GRID.stroke_width(px(1)))
            .label_style(style::label(language, 12, style::MUTED))
            .axis_desc_style(style::label(language, 12, style::MUTED))
            .x_label_formatter(&|x| plain(*x))
            .y_label_formatter(&|y| plain(*y))
            .x_desc(t.word("plot-comparison-x"))
            .draw()?;
        root.draw(&Text::new(
            t.word("plot-comparison-y"),
            (px(LEFT) as i32, px(4) as i32),
            style::label(language, 13, style::INK),
        ))?;
        if let Some(ends) = line(comparison, right, top) {
            let path = PathElement::new(ends, style::REKEY.stroke_width(px(2)));
            chart.draw_series(std::iter::once(path))?;
        }
        chart.draw_series(
            points
                .iter()
                .map(|p| Circle::new((p.0, p.1), px(4) as i32, style::BLUE.filled())),
        )?;
        for (x, y, capture) in points.iter().take(MOST_NAMED) {
            let name: String = clean::line(&capture.name).chars().take(LONGEST_NAME).collect();
            // To the left of points in the right half, so that no name leaves the plot.
            let (px_x, px_y) = chart.backend_coord(&(*x, *y));
            let label = style::label(language, 12, style::INK);
            let width = root.estimate_text_size(&name, &label)?.0 as i32;
            let gap = px(8) as i32;
            let from = if *x > right / 2.0 {
                px_x - gap - width
            } else {
                px_x + gap
            };
            root.draw(&Text::new(name, (from, px_y - gap), label))?;
        }
        Drawn::Ok(())
    })
}

/// The part of the line that lies within the plot.
fn line(comparison: &Comparison, right: f64, top: f64) -> Option<Vec<(f64, f64)>> {
    let slope = comparison.slope.as_ref()?;
    let (a, b) = (slope.seconds_per_gb_without, slope.seconds_per_rekey);
    let inside = |x: f64| (0.0..=top).contains(&(a + b * x));
    let mut ends: Vec<f64> = [0.0, right].into_iter().filter(|x| inside(*x)).collect();
    let crossings = [-a / b, (top - a) / b];
    ends.extend(
        crossings
            .into_iter()
            .filter(|x| x.is_finite() && (0.0..=right).contains(x)),
    );
    let from = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let to = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (to > from).then(|| [from, to].map(|x| (x, (a + b * x).clamp(0.0, top))).to_vec())
}
