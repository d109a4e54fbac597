//! Times during which nothing passed, and the requests that nobody answered, on the time axis of the run.

use crate::plot::axes::Chart;
use crate::plot::canvas::Drawn;
use crate::plot::stalls::stalls;
use crate::plot::style::{self, px};
use crate::plot::timeline::frame::RunDrawing;
use crate::words::is_trouble;
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color;
use rekeyscope_model::analysis::Direction;

/// Attempts drawn.
const MOST_DRAWN: usize = 600;
/// Height of a request's mark, share of the lane.
const MARK: f64 = 0.12;

impl RunDrawing<'_> {
    /// The ledger of the direction of a lane, whose axis ends at `top`, is shaded; on the first lane a mark at each request of an attempt that
    /// failed.
    pub(super) fn draw_outages(&self, chart: &mut Chart, direction: Direction, top: f64) -> Drawn<()> {
        let analysis = self.focus.analysis;
        let all = stalls(self.focus, self.tunnel, direction);
        for shaded in all
            .into_iter()
            .filter_map(|s| s.within(0.0, self.begin, self.end))
            .filter(|s| s.silent || s.to - s.from >= self.pixel())
        {
            let corners = [(self.within(shaded.from), 0.0), (self.within(shaded.to), top)];
            chart.draw_series(std::iter::once(Rectangle::new(corners, shaded.fill())))?;
        }
        if self
            .lanes
            .first()
            .is_some_and(|first| first.direction != Some(direction))
        {
            return Ok(());
        }
        let failed = analysis
            .attempts
            .iter()
            .filter(|a| a.tunnel == self.tunnel && is_trouble(a));
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
