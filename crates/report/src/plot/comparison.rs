//! Captures as points, seconds per gigabyte over rekeys per gigabyte, and the line through them.

use crate::plot::axes::{Axes, title};
use crate::plot::canvas::{Drawn, Plot};
use crate::plot::style::{self, at, px};
use crate::words::clean;
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
    let texts = ["plot-comparison-title", "plot-comparison-text"].map(|id| t.word(id));
    let blank = Plot::blank(language, "comparison".to_string(), (WIDTH, HEIGHT), texts);
    blank.draw(|root| {
        let axes = Axes {
            below: Some(t.word("plot-comparison-x")),
            labels: (8, 6),
            ..Axes::new(language, [28, 24, 44, LEFT])
        };
        let mut chart = axes.draw(root, 0.0..right, 0.0..top)?;
        title(root, language, t.word("plot-comparison-y"), (LEFT, 4))?;
        if let Some(ends) = line(comparison, right, top) {
            let path = PathElement::new(ends, style::REKEY.stroke_width(px(2)));
            chart.draw_series(std::iter::once(path))?;
        }
        chart.draw_series(
            points
                .iter()
                .map(|p| Circle::new((p.0, p.1), at(4), style::BLUE.filled())),
        )?;
        for (x, y, capture) in points.iter().take(MOST_NAMED) {
            let name: String = clean::line(&capture.name).chars().take(LONGEST_NAME).collect();
            // Names of points in the right half stand to the left, so that none leaves the plot.
            let (px_x, px_y) = chart.backend_coord(&(*x, *y));
            let label = style::label(language, 12, style::INK);
            let width = style::width(language, 12, &name);
            let gap = at(8);
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
