//! The marks of the rekeys: spans, numbers, links.

use crate::plot::axes::Chart;
use crate::plot::canvas::{Canvas, Drawn, link};
use crate::plot::label::effect_of;
use crate::plot::stalls::{MARK, stalls};
use crate::plot::style::{self, at, px};
use crate::plot::timeline::frame::{AXIS, LEFT, PlotLane, RunDrawing, TITLE};
use crate::words::focus::{began, is_hurt, number};
use crate::words::{cost_of, cost_seconds, format, is_trouble};
use plotters::element::{PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor};
use rekeyscope_model::analysis::{Direction, Rekey};

/// More rekeys than this are marked at the upper edge only, or their marks would hide the curve.
pub(super) const MOST_FULL_MARKS: usize = 100;
/// Above this share of a lane the exchanges are drawn: the curve below them is shaded where it stalls only.
const EDGE: f64 = 0.965;

impl RunDrawing<'_> {
    /// From the first message to the switch of one direction, seconds.
    fn span(&self, rekey: &Rekey, direction: Direction) -> Option<(f64, f64)> {
        let from = self.focus.seconds(began(rekey)?)?;
        let to = rekey
            .switched
            .get(direction)
            .and_then(|t| self.focus.seconds(t))
            .unwrap_or(from);
        (from.is_finite() && to.is_finite()).then(|| (self.within(from), self.within(to.max(from))))
    }

    /// The exchange at the upper edge, and a line at its first message.
    pub(super) fn draw_span(
        &self,
        chart: &mut Chart,
        rekey: &Rekey,
        direction: Direction,
        top: f64,
    ) -> Drawn<()> {
        let Some((from, to)) = self.span(rekey, direction) else {
            return Ok(());
        };
        let color = color_of(rekey);
        let bottom = if self.rekeys.len() > MOST_FULL_MARKS {
            top * 0.92
        } else {
            0.0
        };
        if to - from >= self.pixel() {
            let shape = Rectangle::new([(from, top * EDGE), (to, top)], color.mix(0.8).filled());
            chart.draw_series(std::iter::once(shape))?;
        }
        let stroke = color
            .mix(if is_hurt(rekey) { 1.0 } else { 0.6 })
            .stroke_width(px(1));
        let line = PathElement::new(vec![(from, bottom), (from, top)], stroke);
        chart.draw_series(std::iter::once(line))?;
        Ok(())
    }

    /// Numbers above the marks as far as there is room: first those of rekeys that hurt, the costliest before others.
    pub(super) fn draw_labels(&self, root: &Canvas) -> Drawn<()> {
        let mut taken: Vec<(i32, i32)> = Vec::new();
        let mut ordered: Vec<&&Rekey> = self.rekeys.iter().collect();
        ordered.sort_by(|a, b| cost_seconds(self.focus, b).total_cmp(&cost_seconds(self.focus, a)));
        ordered.sort_by_key(|r| !is_hurt(r));
        // The numbers stand above the first curve.
        let has_curve = self.lanes.iter().any(|lane| lane.direction.is_some());
        for rekey in ordered.into_iter().filter(|_| has_curve) {
            let Some((from, _)) = self.span(rekey, Direction::AToB) else {
                continue;
            };
            self.draw_number(root, rekey, self.x(from), &mut taken)?;
        }
        Ok(())
    }

    fn draw_number(&self, root: &Canvas, rekey: &Rekey, x: i32, taken: &mut Vec<(i32, i32)>) -> Drawn<()> {
        let number = number(rekey).to_string();
        let color = if is_hurt(rekey) {
            style::HURT_TEXT
        } else {
            style::MUTED
        };
        let font = style::label(self.focus.t.language(), 12, color).pos(Pos::new(HPos::Center, VPos::Top));
        let long = cost_of(self.focus, rekey).map(|cost| format!("{number}: {cost}"));
        for text in long.into_iter().chain([number]) {
            let half = style::width(self.focus.t.language(), 12, &text) / 2 + at(4);
            let (from, to) = (x - half, x + half);
            let outside = from < at(LEFT - 20) || to > at(self.width);
            if outside || taken.iter().any(|t| from < t.1 && to > t.0) {
                continue;
            }
            taken.push((from, to));
            root.draw(&Text::new(text, (x, at(TITLE - 2)), font))?;
            break;
        }
        Ok(())
    }

    /// A link over each mark, to the row of the rekey.
    pub(super) fn links(&self) -> String {
        let mut out = String::new();
        // A strip has tool tips of its own.
        let bottom = match self.accounts.is_empty() {
            true => self.height() - AXIS,
            false => self.first_strip_row(),
        };
        for rekey in &self.rekeys {
            let spans = Direction::BOTH.map(|d| self.span(rekey, d));
            let Some((from, _)) = spans[0] else { continue };
            let to = spans.iter().flatten().map(|s| s.1).fold(from, f64::max);
            let label = fill!(
                self.focus.t,
                "plot-mark",
                number = number(rekey),
                when = format::clock(from),
                effect = effect_of(self.focus, rekey)
            );
            let x = (self.x(from) - at(4), self.x(to) + at(4));
            link(
                &mut out,
                &format!("rekey-{}", self.focus.key(rekey)),
                &label,
                x,
                (at(TITLE), at(bottom)),
            );
        }
        out
    }
}

fn color_of(rekey: &Rekey) -> RGBColor {
    if is_hurt(rekey) { style::HURT } else { style::REKEY }
}

// Times during which nothing passed, and the requests that nobody answered, on the time axis of the run.

/// Attempts drawn.
const MOST_DRAWN: usize = 600;

impl RunDrawing<'_> {
    /// The ledger of the direction of a lane is shaded; on the first lane a mark at each request of an attempt that failed.
    pub(super) fn draw_outages(&self, chart: &mut Chart, lane: &PlotLane) -> Drawn<()> {
        let (analysis, top) = (self.focus.analysis, lane.top);
        let Some(direction) = lane.direction else {
            return Ok(());
        };
        let shown = || {
            self.lanes
                .iter()
                .filter(|l| l.direction.is_some() && l.rows == lane.rows)
        };
        let all = stalls(self.focus, self.tunnel, direction);
        for shaded in all
            .into_iter()
            .filter_map(|s| s.within(0.0, self.begin, self.end))
            .filter(|s| s.silent || s.to - s.from >= self.pixel())
        {
            let share = shaded.share(shown().flat_map(|l| &l.columns));
            let corners = [
                (self.within(shaded.from), 0.0),
                (self.within(shaded.to), top * share),
            ];
            chart.draw_series(std::iter::once(Rectangle::new(corners, shaded.fill())))?;
        }
        if self
            .lanes
            .first()
            .is_some_and(|first| first.direction != Some(direction))
        {
            return Ok(());
        }
        let failed = analysis.attempts_of(self.tunnel).filter(|a| is_trouble(a));
        let requests = failed.take(MOST_DRAWN).flat_map(|a| &a.requests);
        for at in requests
            .filter_map(|time| self.focus.seconds(*time))
            .filter(|s| s.is_finite())
        {
            let at = self.within(at);
            let mark = vec![(at, top * (1.0 - MARK)), (at, top)];
            let line = PathElement::new(mark, style::HURT.stroke_width(px(2)));
            chart.draw_series(std::iter::once(line))?;
        }
        Ok(())
    }
}
