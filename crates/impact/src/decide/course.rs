//! What all runs of the method on one direction have in common: the series, its transfer and its burst period.

use crate::estimate::burst;
use crate::estimate::gap::OrderedGaps;
use crate::input::grid::Grid;
use crate::input::moment::RekeyMoment;
use crate::input::traffic::Traffic;
use crate::input::transfer;

/// Base bins in a bin of the method: 10 ms where the base is 5 ms.
pub(crate) const BASE_BINS: usize = 2;

/// A series that was looked over once.
#[derive(Debug)]
pub(crate) struct Course<'a> {
    /// As it was given.
    pub(crate) traffic: &'a Traffic,
    pub(crate) gaps: OrderedGaps,
    /// The transfer, seconds from the start of the series, on the method's own bins: every sensitivity run speaks of the same one.
    pub(crate) transfer: Option<(f64, f64)>,
    /// New bytes within it.
    pub(crate) bytes: f64,
    /// τ, seconds; `None` where new data does not come in bursts.
    pub(crate) burst_s: Option<f64>,
}

impl Course<'_> {
    /// Finds the transfer, and how far apart its bursts lie.
    pub(crate) fn new<'a>(traffic: &'a Traffic, rekeys: &[RekeyMoment]) -> Course<'a> {
        let gaps = OrderedGaps::new(traffic);
        let grid = transfer::is_sound(traffic).then(|| Grid::new(traffic, BASE_BINS, 0));
        let transfer = grid.as_ref().and_then(transfer::find);
        let span = grid
            .as_ref()
            .zip(transfer)
            .map(|(grid, found)| (grid, transfer::span(grid, found)));
        Course {
            traffic,
            burst_s: transfer.and_then(|found| burst::period_s(traffic, &gaps.all, found, rekeys)),
            gaps,
            transfer,
            bytes: span.map_or(0.0, |(grid, run)| grid.bytes(run.from, run.to)),
        }
    }

    /// Bins of so many base bins after the first `shift`, every byte spread over one burst period.
    pub(crate) fn grid(&self, group: usize, shift: usize) -> Grid {
        match self.burst_s {
            Some(burst_s) => Grid::spread(self.traffic, group, shift, burst_s),
            None => Grid::new(self.traffic, group, shift),
        }
    }
}
