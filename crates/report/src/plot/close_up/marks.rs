//! Packets as marks. Written here rather than drawn: a path of dots takes ten bytes a packet, a shape each takes a hundred.

use super::drawing::{CloseUpDrawing, LEFT, MOST_DRAWN, WIDTH, width_of};
use crate::plot::canvas::{Canvas, Drawn};
use crate::plot::style::{self, at, px};
use plotters::element::Text;
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rekeyscope_model::analysis::{CloseUpSeries, SaAge};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Data on the SA that ends, and on the one that begins.
const OLD: RGBColor = style::REKEY;
const NEW: RGBColor = style::BLUE;
const ANSWERS: RGBColor = style::GREEN;
const EDGE: RGBColor = style::OVERLAY;
const LOST: RGBColor = style::HURT;
/// Opacity of the old SA, where the colour says something else.
const PALE: f64 = 0.5;

impl CloseUpDrawing<'_> {
    /// All marks.
    pub(super) fn marks(&self) -> String {
        let mut out = String::new();
        if self.edge_fits {
            let edges = self.points(false, |s| &s.window_edges, |_| true);
            out += &steps(EDGE, 1.0, "8 6", &edges);
        }
        for (age, opacity) in [(SaAge::Old, PALE), (SaAge::New, 1.0), (SaAge::Other, 1.0)] {
            let answers = self.points(false, |s| &s.values, |s| s.sa == age);
            out += &match self.is_tcp() {
                true => steps(ANSWERS, opacity, "", &answers),
                false => dots(ANSWERS, opacity, &answers),
            };
        }
        for (age, color) in [(SaAge::Other, style::INK), (SaAge::Old, OLD), (SaAge::New, NEW)] {
            out += &dots(color, 1.0, &self.points(true, |s| &s.values, |s| s.sa == age));
        }
        out += &triangles(&self.places_of(&self.shown.repeated_frames));
        out + &crosses(&self.places_of(&self.shown.lost_frames))
    }

    /// Places of the packets of the chosen series, in order of time.
    fn points(
        &self,
        data: bool,
        values: fn(&CloseUpSeries) -> &Vec<i64>,
        wanted: impl Fn(&CloseUpSeries) -> bool,
    ) -> Vec<(i32, i32)> {
        let own = self.series(data).filter(|s| wanted(s));
        let all = own.flat_map(|s| s.ms.iter().zip(values(s)).take(MOST_DRAWN));
        let mut timed: Vec<(f64, i64)> = all.map(|(ms, value)| (*ms, *value)).collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0));
        timed
            .into_iter()
            .map(|(ms, value)| (self.x(ms), self.y(value)))
            .collect()
    }

    /// Places of the data packets with these frames.
    fn places_of(&self, frames: &[u64]) -> Vec<(i32, i32)> {
        let frames: HashSet<u64> = frames.iter().copied().collect();
        let all = self.series(true).flat_map(|s| {
            let columns = s.frames.iter().zip(s.ms.iter().zip(&s.values));
            columns.take(MOST_DRAWN)
        });
        all.filter(|(frame, _)| frames.contains(frame))
            .map(|(_, (ms, value))| (self.x(*ms), self.y(*value)))
            .collect()
    }
}

fn path(color: RGBColor, opacity: f64, attributes: &str, d: &str) -> String {
    match d.is_empty() {
        true => String::new(),
        false => format!(
            "<path fill=\"none\" stroke=\"{}\" opacity=\"{opacity}\" {attributes} d=\"{d}\"/>\n",
            style::hex(color)
        ),
    }
}

/// A dot each.
fn dots(color: RGBColor, opacity: f64, places: &[(i32, i32)]) -> String {
    let d = at_each(places, |x, y| format!("M{x} {y}h1"));
    let round = format!("stroke-width=\"{}\" stroke-linecap=\"round\"", px(3));
    path(color, opacity, &round, &d)
}

/// Repeats strokes at each place.
fn at_each(places: &[(i32, i32)], strokes: impl Fn(i32, i32) -> String) -> String {
    places.iter().map(|(x, y)| strokes(*x, *y)).collect()
}

/// A line that keeps its height until the next place.
fn steps(color: RGBColor, opacity: f64, dashes: &str, places: &[(i32, i32)]) -> String {
    let mut d = String::new();
    for (x, y) in places {
        let _ = match d.is_empty() {
            true => write!(d, "M{x} {y}"),
            false => write!(d, "H{x}V{y}"),
        };
    }
    let dashed = match dashes {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    };
    path(color, opacity, &format!("stroke-width=\"{}\"{dashed}", px(1)), &d)
}

/// Crosses mark what was lost.
fn crosses(places: &[(i32, i32)]) -> String {
    let d = at_each(places, |x, y| format!("M{} {}l12 12m0 -12l-12 12", x - 6, y - 6));
    path(LOST, 1.0, "stroke-width=\"3\"", &d)
}

/// Triangles mark what is sent again.
fn triangles(places: &[(i32, i32)]) -> String {
    let d = at_each(places, |x, y| format!("M{} {}l7 -12l7 12z", x - 7, y + 6));
    path(LOST, 1.0, "stroke-width=\"3\"", &d)
}

// The legend, a line below the plot.

/// Between two entries.
const APART: u32 = 14;
/// Width of a mark in the legend, and from it to its words.
const MARK: u32 = 20;

/// A mark before its words, drawn at three places in a row.
type Glyph = fn(&[(i32, i32)]) -> String;

impl CloseUpDrawing<'_> {
    /// The words are drawn, `glyphs` takes the marks before them.
    pub(super) fn draw_legend(&self, root: &Canvas, glyphs: &mut String) -> Drawn<()> {
        let y = at(self.height() - 12);
        let font = style::label(self.focus.t.language(), 12, style::MUTED);
        let font = font.pos(Pos::new(HPos::Left, VPos::Center));
        let mut x = at(LEFT);
        for (glyph, words) in self.entries() {
            let width = width_of(self.focus.t.language(), 12, &words);
            if x + at(MARK) + width > at(WIDTH) {
                break;
            }
            let (from, to) = (x, x + at(MARK - 6));
            *glyphs += &glyph(&[(from, y), ((from + to) / 2, y), (to, y)]);
            root.draw(&Text::new(words, (x + at(MARK), y), font.clone()))?;
            x += at(MARK) + width + at(APART);
        }
        Ok(())
    }

    /// An entry of the legend: its mark, and its words.
    fn entries(&self) -> Vec<(Glyph, String)> {
        let has = |data: bool, age: SaAge| self.series(data).any(|s| s.sa == age && !s.values.is_empty());
        let answers = self.series(false).next().is_some();
        let edges = self.series(false).any(|s| !s.window_edges.is_empty());
        let (lost, repeated) = (
            !self.shown.lost_frames.is_empty(),
            !self.shown.repeated_frames.is_empty(),
        );
        let all: [(bool, Glyph, &str); 8] = [
            (has(true, SaAge::Old), |at| dots(OLD, 1.0, at), "plot-close-old"),
            (has(true, SaAge::New), |at| dots(NEW, 1.0, at), "plot-close-new"),
            (lost, |at| crosses(&at[1..2]), "plot-close-lost"),
            (repeated, |at| triangles(&at[1..2]), "plot-close-repeated"),
            (
                answers && self.is_tcp(),
                |at| steps(ANSWERS, 1.0, "", at),
                "plot-close-answers",
            ),
            (
                answers && !self.is_tcp(),
                |at| dots(ANSWERS, 1.0, at),
                "plot-close-back",
            ),
            (
                edges && self.edge_fits,
                |at| steps(EDGE, 1.0, "8 6", at),
                "plot-close-edge",
            ),
            (
                edges && !self.edge_fits,
                |_| String::new(),
                "plot-close-edge-above",
            ),
        ];
        let drawn = all.into_iter().filter(|entry| entry.0);
        drawn
            .map(|(_, glyph, id)| (glyph, self.focus.t.word(id)))
            .collect()
    }
}
