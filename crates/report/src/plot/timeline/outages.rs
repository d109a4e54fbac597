//! Times during which nothing passed, and the requests that nobody answered, on the time axis of the run.

use crate::plot::axes::Chart;
use crate::plot::canvas::Drawn;
use crate::plot::stalls::{MARK, stalls};
use crate::plot::style::{self, px};
use crate::plot::timeline::frame::{PlotLane, RunDrawing};
use crate::words::is_trouble;
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color;

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
