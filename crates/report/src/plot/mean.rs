//! The mean rekey over the band of the placebos.

use crate::plot::canvas::{Blank, Canvas, Drawn, Plot};
use crate::plot::label::plain;
use crate::plot::style::{self, px};
use crate::words::focus::Focus;
use crate::words::{self, format};
use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Polygon, Text};
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
    let blank = Blank {
        language: t.language(),
        name: format!("mean-{}-{}", mean.tunnel, mean.direction),
        title: t.fill("plot-mean-title", &[("direction", &curve.direction)]),
        description: t.word("plot-mean-text"),
        width: WIDTH,
        height: HEIGHT,
    };
    blank.draw(|root| {
        curve.draw_title(root)?;
        curve.draw(root, first..last)
    })
}

impl Curve<'_> {
    fn draw_title(&self, root: &Canvas) -> Drawn<()> {
        let unit = format!("{}bit/s", self.prefix);
        let title = self.t.fill(
            "plot-mean-headline",
            &[("direction", &self.direction), ("unit", &unit)],
        );
        root.draw(&Text::new(
            title,
            (px(LEFT) as i32, px(4) as i32),
            style::label(self.t.language(), 13, style::INK),
        ))?;
        Ok(())
    }

    fn draw(&self, root: &Canvas, range: Range<f64>) -> Drawn<()> {
        let mut chart = ChartBuilder::on(root)
            .margin_top(px(28))
            .margin_right(px(24))
            .y_label_area_size(px(LEFT))
            .x_label_area_size(px(44))
            .build_cartesian_2d(range.clone(), 0.0..self.top)?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .x_labels(9)
            .y_labels(6)
            .bold_line_style(style::GRID.stroke_width(px(1)))
            .axis_style(style::GRID.stroke_width(px(1)))
            .label_style(style::label(self.t.language(), 12, style::MUTED))
            .axis_desc_style(style::label(self.t.language(), 12, style::MUTED))
            .x_label_formatter(&|x| plain(*x))
            .y_label_formatter(&|y| plain(*y))
            .x_desc(self.t.word("plot-mean-axis"))
            .draw()?;
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
