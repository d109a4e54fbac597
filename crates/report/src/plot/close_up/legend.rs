//! The legend, a line below the plot.

use super::drawing::{CloseUpDrawing, LEFT, WIDTH, width_of};
use super::marks;
use crate::plot::canvas::{Canvas, Drawn};
use crate::plot::style::{self, at};
use plotters::element::Text;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rekeyscope_model::analysis::SaAge;

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
        let mut x = at(LEFT);
        for (glyph, words) in self.entries() {
            let width = width_of(self.focus.t.language(), 12, &words);
            if x + at(MARK) + width > at(WIDTH) {
                break;
            }
            let (from, to) = (x, x + at(MARK - 6));
            *glyphs += &glyph(&[(from, y), ((from + to) / 2, y), (to, y)]);
            let place = (x + at(MARK), y);
            root.draw(&Text::new(
                words,
                place,
                font.clone().pos(Pos::new(HPos::Left, VPos::Center)),
            ))?;
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
            (
                has(true, SaAge::Old),
                |at| marks::dots(marks::OLD, 1.0, at),
                "plot-close-old",
            ),
            (
                has(true, SaAge::New),
                |at| marks::dots(marks::NEW, 1.0, at),
                "plot-close-new",
            ),
            (lost, |at| marks::crosses(&at[1..2]), "plot-close-lost"),
            (repeated, |at| marks::triangles(&at[1..2]), "plot-close-repeated"),
            (
                answers && self.is_tcp(),
                |at| marks::steps(marks::ANSWERS, 1.0, "", at),
                "plot-close-answers",
            ),
            (
                answers && !self.is_tcp(),
                |at| marks::dots(marks::ANSWERS, 1.0, at),
                "plot-close-back",
            ),
            (
                edges && self.edge_fits,
                |at| marks::steps(marks::EDGE, 1.0, "8 6", at),
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
