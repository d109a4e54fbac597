//! The lanes of the SAs and the time axis below them.

use crate::plot::axes::{Axes, title};
use crate::plot::canvas::{Canvas, Drawn, escaped};
use crate::plot::label::plain;
use crate::plot::style::{self, at, px};
use crate::plot::timeline::frame::{AXIS, LANE, LEFT, RIGHT, RunDrawing, TITLE};
use crate::words::ends::up_or_down;
use crate::words::format;
use plotters::element::{Rectangle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rekeyscope_model::analysis::{Direction, KeyStatus, SecurityAssociation};
use rekeyscope_model::time::Timestamp;
use std::fmt::Write as _;

/// SAs drawn per direction.
const MOST_BARS: usize = 600;
/// SAs without room for their name are drawn without one beyond this number: they would double the plot.
const MOST_HIDDEN_SPIS: usize = 300;
/// CSS pixels that a number of the time axis has.
const TICK_WIDTH: u32 = 60;
/// Numbers of the time axis.
const MOST_TICKS: u32 = 12;
/// Rows of SAs per direction: what overlaps in more of them shares the last one.
const MOST_ROWS: usize = 16;
/// CSS pixels that the name of an SA needs.
const SPI_WIDTH: f64 = 84.0;

/// Place of an SA: seconds, and its row among those of its direction, from above.
struct Bar {
    from: f64,
    to: f64,
    row: usize,
    direction: Direction,
    keyed: bool,
    name: String,
}

impl RunDrawing<'_> {
    /// The area of the SAs, and the axes of the run's time.
    fn sa_area<'b>(&self, root: &Canvas<'b>) -> (Canvas<'b>, Axes) {
        let row = self.first_lane_row();
        let size = (px(self.width), px(self.height() - row));
        let above = if self.has_sas { TITLE } else { 0 };
        let axes = Axes {
            lines: (false, false),
            labels: (
                MOST_TICKS.min((self.width - LEFT - RIGHT) / TICK_WIDTH) as usize,
                0,
            ),
            x_label: seconds,
            below: Some(self.focus.t.word("plot-seconds")),
            ..Axes::new(self.focus.t.language(), [above, RIGHT, AXIS, LEFT])
        };
        (root.clone().shrink((0, px(row)), size), axes)
    }

    /// The names beside the lanes, which stand still.
    pub(super) fn draw_lane_names(&self, root: &Canvas) -> Drawn<()> {
        let row = self.first_lane_row();
        let t = self.focus.t;
        title(root, t.language(), t.word("plot-lanes"), (LEFT, row + 9))?;
        let [first, second] = self.sa_rows();
        let middles = [first, 2 * first + second].map(|halves| at(row + TITLE) + at(LANE * halves) / 2);
        for (y, direction) in middles.into_iter().zip(self.focus.directions(self.tunnel)) {
            let text = up_or_down(t, direction);
            let font = style::label(self.focus.t.language(), 12, style::of(direction))
                .pos(Pos::new(HPos::Right, VPos::Center));
            root.draw(&Text::new(text, (at(LEFT - 8), y), font))?;
        }
        Ok(())
    }

    /// The time axis.
    pub(super) fn draw_ticks(&self, root: &Canvas) -> Drawn<()> {
        let (area, axes) = self.sa_area(root);
        axes.draw(&area, self.begin..self.end, 0.0..4.0)?;
        Ok(())
    }

    pub(super) fn draw_bars(&self, root: &Canvas) -> Drawn<()> {
        let (area, axes) = self.sa_area(root);
        let [first, second] = self.sa_rows();
        let rows = first + second;
        let mut chart = axes.chart(&area, self.begin..self.end, 0.0..f64::from(rows))?;
        for bar in self.bars() {
            let below = f64::from(rows) - 1.0 - self.row(&bar, first);
            let fill = style::of(bar.direction)
                .mix(if bar.keyed { 1.0 } else { 0.35 })
                .filled();
            let shape = Rectangle::new([(bar.from, below + 0.1), (bar.to, below + 0.9)], fill);
            chart.draw_series(std::iter::once(shape))?;
        }
        Ok(())
    }

    /// The SPI in each bar; those that are too short for it come when they are zoomed into. Written here, because a script has to know their ends.
    pub(super) fn spis(&self) -> String {
        let mut out = String::new();
        let least = SPI_WIDTH * f64::from(style::UNITS);
        let (bars, [first, _]) = (self.bars(), self.sa_rows());
        let has_all = bars.len() <= MOST_HIDDEN_SPIS;
        for (keyed, color) in [(true, style::ON_FILL), (false, style::INK)] {
            let _ = writeln!(
                out,
                "<g class=\"spis\" data-least=\"{least}\" text-anchor=\"middle\" font-family=\"{}\" font-size=\"{}\" \
                 fill=\"{}\">",
                style::family(self.focus.t.language()),
                px(11),
                style::hex(color)
            );
            for bar in bars.iter().filter(|bar| bar.keyed == keyed) {
                let (from, to) = (self.x(bar.from), self.x(bar.to));
                let y = f64::from(px(self.first_lane_row() + TITLE))
                    + (self.row(bar, first) + 0.5) * f64::from(px(LANE));
                let hidden = match f64::from(to - from) < least {
                    true if !has_all => continue,
                    true => " display=\"none\"",
                    false => "",
                };
                let _ = writeln!(
                    out,
                    "<text x=\"{}\" y=\"{y}\" dy=\"0.5ex\" data-from=\"{from}\" data-to=\"{to}\"{hidden}>{}</text>",
                    (from + to) / 2,
                    escaped(&bar.name)
                );
            }
            out += "</g>\n";
        }
        out
    }

    /// Rows of each direction, the one with the data first.
    pub(super) fn sa_rows(&self) -> [u32; 2] {
        let bars = self.bars();
        self.focus.directions(self.tunnel).map(|direction| {
            let own = bars.iter().filter(|bar| bar.direction == direction);
            own.map(|bar| bar.row as u32 + 1).max().unwrap_or(0).max(2)
        })
    }

    /// The row of a bar among all, from above, where the direction with the data has the `first` ones.
    fn row(&self, bar: &Bar, first: u32) -> f64 {
        let is_first = bar.direction == self.focus.main_direction(self.tunnel);
        bar.row as f64 + if is_first { 0.0 } else { f64::from(first) }
    }

    fn bars(&self) -> Vec<Bar> {
        let directions = self.focus.directions(self.tunnel).into_iter();
        let of = |direction| {
            let with_packets = self
                .focus
                .analysis
                .sas_towards(self.tunnel, direction)
                .filter(|sa| sa.packets > 0);
            let mut bars: Vec<Bar> = with_packets
                .filter_map(|sa| self.bar(sa, direction))
                .take(MOST_BARS)
                .collect();
            bars.sort_by(|a, b| a.from.total_cmp(&b.from));
            apart(&mut bars);
            bars
        };
        directions.flat_map(of).collect()
    }

    fn bar(&self, sa: &SecurityAssociation, direction: Direction) -> Option<Bar> {
        let seconds = |t: Option<Timestamp>| t.and_then(|t| self.focus.seconds(t));
        let (from, to) = (seconds(sa.first_time)?, seconds(sa.last_time)?);
        if to < self.begin || from > self.end {
            return None;
        }
        let (from, to) = (self.within(from), self.within(to));
        Some(Bar {
            from,
            to: to.max((from + self.pixel()).min(self.end)),
            row: sa.generation as usize % 2,
            direction,
            keyed: sa.key.status == KeyStatus::Verified,
            name: sa.spi.to_string(),
        })
    }
}

/// Gives bars in order of time that overlap rows of their own: each the row that it asks for, else the first one that is free.
fn apart(bars: &mut [Bar]) {
    let mut ends = [f64::MIN; MOST_ROWS];
    for bar in bars {
        let is_free = |row: &usize| ends[*row] <= bar.from;
        bar.row = std::iter::once(bar.row)
            .chain(0..MOST_ROWS)
            .find(is_free)
            .unwrap_or(MOST_ROWS - 1);
        ends[bar.row] = bar.to;
    }
}

/// A tick of the time axis, in the form of the tables.
fn seconds(s: f64) -> String {
    let clock = format::clock(s);
    match clock.contains(':') {
        true => clock.trim_end_matches(".000").to_string(),
        false => plain(s),
    }
}
