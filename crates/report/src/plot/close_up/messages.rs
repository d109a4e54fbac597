//! IKE messages as arrows between two lines, the gateway's above and the client's below.

use super::arrow::Arrow;
use super::drawing::{APART, CloseUpDrawing, LEFT, RIGHT, ROW, ROWS, TITLE, WIDTH, width_of};
use crate::plot::canvas::{Canvas, Drawn};
use crate::plot::style::{self, at, px};
use plotters::element::{PathElement, Polygon, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

impl CloseUpDrawing<'_> {
    /// Rows of the gateway's and of the client's line, units.
    fn lines(&self) -> [i32; 2] {
        let upper = TITLE + ROW * ROWS as u32 + 6;
        [at(upper), at(upper + APART)]
    }

    /// Both lines, and the arrows between them.
    pub(super) fn draw_messages(&self, root: &Canvas) -> Drawn<()> {
        if self.arrows.is_empty() {
            return Ok(());
        }
        let t = self.focus.t;
        let ends = [t.word("end-gateway"), t.word("end-client")];
        for (row, end) in self.lines().into_iter().zip(ends) {
            let ends = vec![(at(LEFT), row), (at(WIDTH - RIGHT), row)];
            root.draw(&PathElement::new(ends, style::REKEY.stroke_width(px(1))))?;
            let font = style::label(t.language(), 11, style::MUTED).pos(Pos::new(HPos::Right, VPos::Center));
            root.draw(&Text::new(end, (at(LEFT - 6), row), font))?;
        }
        let mut taken = [0; ROWS];
        for arrow in &self.arrows {
            self.draw_arrow(root, arrow)?;
            self.draw_label(root, arrow, &mut taken)?;
        }
        Ok(())
    }

    fn draw_arrow(&self, root: &Canvas, arrow: &Arrow) -> Drawn<()> {
        let color = if arrow.again { style::MUTED } else { style::INK };
        let [upper, lower] = self.lines();
        let (from, to, head) = arrow.direction.pick((lower, upper, 12), (upper, lower, -12));
        let x = self.x(arrow.ms);
        let shaft = vec![(x, from), (x, to)];
        root.draw(&PathElement::new(shaft, color.stroke_width(px(1))))?;
        let tip = vec![(x, to), (x - 6, to + head), (x + 6, to + head)];
        root.draw(&Polygon::new(tip, color.filled()))?;
        Ok(())
    }

    /// In the first row that has room for it, else not at all: the arrow says it when it is pointed at.
    fn draw_label(&self, root: &Canvas, arrow: &Arrow, taken: &mut [i32; ROWS]) -> Drawn<()> {
        let font = style::label(self.focus.t.language(), 11, style::INK);
        let width = width_of(self.focus.t.language(), 11, &arrow.short);
        let x = self.x(arrow.ms);
        let begin = (x - at(2)).min(at(WIDTH - 2) - width);
        // The lowest row is nearest to the arrow.
        let Some(row) = (0..ROWS).rev().find(|row| taken[*row] <= begin) else {
            return Ok(());
        };
        taken[row] = begin + width + at(6);
        let above = at(TITLE + ROW * row as u32);
        let leader = vec![(x, above + at(13)), (x, self.lines()[0])];
        root.draw(&PathElement::new(leader, style::REKEY.mix(0.6).stroke_width(1)))?;
        root.draw(&Text::new(arrow.short.clone(), (begin, above), font))?;
        Ok(())
    }

    /// The rows in which an arrow answers the pointer: from its label to the client's line.
    pub(super) fn arrow_rows(&self) -> (i32, i32) {
        (at(TITLE), self.lines()[1] + at(4))
    }
}
