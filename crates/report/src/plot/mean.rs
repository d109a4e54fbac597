//! The mean rekey over the band of the placebos.

use crate::plot::axes::{Axes, title};
use crate::plot::canvas::{Canvas, Drawn, Plot};
use crate::plot::style::{self, px};
use crate::words::focus::Focus;
use crate::words::{self, format};
use plotters::element::{PathElement, Polygon};
use plotters::series::LineSeries;
use plotters::style::Color;
use rekeyscope_model::analysis::MeanRekey;
use rekeyscope_model::text::Catalogue;
use std::ops::Range;

const WIDTH: u32 = 760;
const HEIGHT: u32 = 300;
const LEFT: u32 = 56;
/// Points drawn; the document's curves are shorter than this.
const MOST_POINTS: usize = 4000;

/// A point of the curve in drawing order: offset ms, rate, band low, band high.
type Point = (f64, f64, f64, f64);

pub(crate) fn draw(focus: &Focus, tunnel: usize) -> Vec<Plot> {
    let of_tunnel = focus.analysis.mean_rekey.iter().filter(|m| m.tunnel == tunnel);
    of_tunnel.take(2).filter_map(|m| draw_one(focus, m)).collect()
}

/// What one sees in each of them, in one sentence.
pub(crate) fn sentences(focus: &Focus, tunnel: usize) -> Vec<String> {
    let of_tunnel = focus.analysis.mean_rekey.iter().filter(|m| m.tunnel == tunnel);
    let drawn = of_tunnel.take(2).filter(|m| draw_one(focus, m).is_some());
    drawn.map(|m| sentence(focus.t, &points(m))).collect()
}

/// Where the curve stays below the band for longest: at two points or more, as a single one is chance.
fn sentence(t: &Catalogue, points: &[Point]) -> String {
    let below = points.chunk_by(|a, b| (a.1 < a.2) == (b.1 < b.2));
    let longest = below
        .filter(|run| run.len() > 1 && run.iter().all(|p| p.1 < p.2))
        .max_by_key(|run| run.len());
    let Some((run, (first, last))) = longest.and_then(|run| Some((run, run.first().zip(run.last())?))) else {
        return t.word("page-mean-within");
    };
    let lowest = run.iter().map(|p| p.1).fold(f64::MAX, f64::min);
    t.fill(
        "page-mean-below",
        &[
            ("from", &format::signed_ms(first.0)),
            ("to", &format::signed_ms(last.0)),
            ("rate", &format::rate(lowest)),
        ],
    )
}

/// What is drawn, in units of `factor` bit/s.
struct Curve<'a> {
    t: &'static Catalogue,
    mean: &'a MeanRekey,
    points: Vec<Point>,
    direction: String,
    factor: f64,
    prefix: &'static str,
    top: f64,
}

fn draw_one(focus: &Focus, mean: &MeanRekey) -> Option<Plot> {
    let points = points(mean);
    let (first, last) = (points.first()?.0, points.last()?.0);
    let highest = points.iter().map(|p| p.1.max(p.3)).fold(0.0, f64::max);
    if last <= first || highest <= 0.0 {
        return None;
    }
    let (factor, prefix) = format::prefix_of(highest);
    let t = focus.t;
    let curve = Curve {
        t,
        mean,
        points,
        direction: words::direction(t, focus.analysis, mean.tunnel, mean.direction),
        factor,
        prefix,
        top: highest / factor * 1.1,
    };
    let name = format!("mean-{}-{}", mean.tunnel, mean.direction);
    let named = t.fill("plot-mean-title", &[("direction", &curve.direction)]);
    let texts = [named, t.word("plot-mean-text")];
    Plot::blank(t.language(), name, (WIDTH, HEIGHT), texts).draw(|root| curve.draw(root, first..last))
}

impl Curve<'_> {
    fn draw(&self, root: &Canvas, range: Range<f64>) -> Drawn<()> {
        let unit = format!("{}bit/s", self.prefix);
        let headline = [("direction", self.direction.as_str()), ("unit", &unit)];
        let headline = self.t.fill("plot-mean-headline", &headline);
        title(root, self.t.language(), headline, (LEFT, 4))?;
        let axes = Axes {
            language: self.t.language(),
            left: LEFT,
            below: self.t.word("plot-mean-axis"),
            x_labels: 9,
        };
        let mut chart = axes.draw(root, range.clone(), self.top)?;
        chart.draw_series(std::iter::once(Polygon::new(
            self.band(),
            style::REKEY.mix(0.3).filled(),
        )))?;
        if range.contains(&0.0) {
            let stroke = style::INK.mix(0.7).stroke_width(px(1));
            let switch = PathElement::new(vec![(0.0, 0.0), (0.0, self.top)], stroke);
            chart.draw_series(std::iter::once(switch))?;
        }
        let line = self.points.iter().map(|p| self.at(p.0, p.1));
        let stroke = style::of(self.mean.direction).stroke_width(px(2));
        chart.draw_series(LineSeries::new(line, stroke))?;
        Ok(())
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (x, (y / self.factor).clamp(0.0, self.top))
    }

    /// The band's outline: along its upper edge, then back along the lower one.
    fn band(&self) -> Vec<(f64, f64)> {
        let upper = self.points.iter().map(|p| self.at(p.0, p.3));
        let lower = self.points.iter().rev().map(|p| self.at(p.0, p.2));
        upper.chain(lower).collect()
    }
}

/// The points of which all four values are known, in order of time.
fn points(mean: &MeanRekey) -> Vec<Point> {
    let bands = mean.placebo_low_bps.iter().zip(&mean.placebo_high_bps);
    let all = mean.offset_ms.iter().zip(&mean.rate_bps).zip(bands);
    let mut points: Vec<Point> = all
        .map(|((x, y), (low, high))| (*x, *y, *low, *high))
        .filter(|p| [p.0, p.1, p.2, p.3].iter().all(|v| v.is_finite()))
        .take(MOST_POINTS)
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}
