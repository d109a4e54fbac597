//! Times during which nothing passed, and the requests that nobody answered, on the time axis of the run.

use crate::plot::axes::Chart;
use crate::plot::canvas::Drawn;
use crate::plot::style::{self, px};
use crate::plot::timeline::frame::{RateLane, RunDrawing};
use crate::words::is_trouble;
use plotters::element::{PathElement, Rectangle};
use plotters::style::Color;

/// Outages and attempts drawn, each.
const MOST_DRAWN: usize = 600;
/// Height of a request's mark, share of the lane.
const MARK: f64 = 0.12;

impl RunDrawing<'_> {
    /// The outages of a lane's direction shaded; on the first lane a mark at each request of an attempt that failed.
    pub(super) fn draw_outages(&self, chart: &mut Chart, lane: &RateLane) -> Drawn<()> {
        let analysis = self.focus.analysis;
        let own = analysis
            .outages
            .iter()
            .filter(|o| o.tunnel == self.tunnel && o.direction == lane.direction);
        for outage in own.take(MOST_DRAWN) {
            let Some(from) = self.focus.seconds(outage.start).filter(|s| s.is_finite()) else {
                continue;
            };
            let to = outage
                .end
                .and_then(|end| self.focus.seconds(end))
                .unwrap_or(self.end);
            let (from, to) = (from.clamp(0.0, self.end), to.clamp(0.0, self.end));
            let fill = style::HURT.mix(0.15).filled();
            chart.draw_series(std::iter::once(Rectangle::new(
                [(from, 0.0), (to, lane.top)],
                fill,
            )))?;
        }
        if self
            .lanes
            .first()
            .is_some_and(|first| first.direction != lane.direction)
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
            let at = at.clamp(0.0, self.end);
            let mark = vec![(at, lane.top * (1.0 - MARK)), (at, lane.top)];
            let line = PathElement::new(mark, style::HURT.stroke_width(px(2)));
            chart.draw_series(std::iter::once(line))?;
        }
        Ok(())
    }
}
