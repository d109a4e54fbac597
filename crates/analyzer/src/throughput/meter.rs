//! Throughput meters: per tunnel and direction, new inner bytes where the key is proven, and ESP bytes always.

use crate::decode::Pending;
use crate::throughput::series::{Bin, CountedSeries, Measure, SeriesSet};
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::rekey::trigger::ENOUGH_OPENED;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// Packets of one tunnel and direction.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    opened: u64,
    all: u64,
}

/// All meters. Bounded by their [`SeriesSet`].
#[derive(Debug, Default)]
pub(crate) struct Meters {
    series: SeriesSet,
    /// By tunnel and position of the direction.
    shares: Vec<[Share; 2]>,
}

impl Meters {
    /// Takes one packet. `new` counts new inner bytes where it could be opened.
    pub(crate) fn observe(
        &mut self,
        tunnel: TunnelIndex,
        direction: Direction,
        pending: &Pending,
        opened: bool,
        new: u32,
    ) {
        if tunnel >= self.shares.len() {
            self.shares.resize_with(tunnel + 1, Default::default);
        }
        let share = &mut self.shares[tunnel][slot(direction)];
        share.opened += u64::from(opened);
        share.all += 1;
        let bytes = Bin {
            new,
            esp: pending.esp_bytes,
            outer: pending.outer_bytes,
        };
        self.series.record(tunnel, direction, pending.time, bytes);
    }

    fn share(&self, tunnel: TunnelIndex, direction: Direction) -> Share {
        self.shares
            .get(tunnel)
            .map_or_else(Share::default, |shares| shares[slot(direction)])
    }

    /// True where the inner series is whole enough to be used.
    pub(crate) fn inner_is_whole(&self, tunnel: TunnelIndex, direction: Direction) -> bool {
        let share = self.share(tunnel, direction);
        share.all > 0 && share.opened as f64 >= ENOUGH_OPENED * share.all as f64
    }

    /// The series that the verdict counts: new inner bytes, or ESP bytes where keys are missing.
    pub(crate) fn counted(&self, tunnel: TunnelIndex, direction: Direction) -> Option<CountedSeries<'_>> {
        let whole = self.inner_is_whole(tunnel, direction);
        let measure = if whole { Measure::New } else { Measure::Esp };
        self.series.get(tunnel, direction, measure)
    }

    /// Tunnels and internal directions with packets, in order.
    pub(crate) fn directions(&self) -> impl Iterator<Item = (TunnelIndex, Direction)> {
        let all = (0..self.shares.len()).flat_map(|tunnel| Direction::BOTH.map(|d| (tunnel, d)));
        all.filter(|&(tunnel, direction)| self.packets(tunnel, direction) > 0)
    }

    /// Bin width of the document, milliseconds.
    pub(crate) fn document_bin_ms(&self) -> f64 {
        self.series.document_bin_ms()
    }

    /// ESP packets of a tunnel and direction.
    pub(crate) fn packets(&self, tunnel: TunnelIndex, direction: Direction) -> u64 {
        self.share(tunnel, direction).all
    }

    /// Packets of a tunnel and direction between two times, by their bytes and their usual size.
    pub(crate) fn packets_within(
        &self,
        tunnel: TunnelIndex,
        direction: Direction,
        from: Timestamp,
        to: Timestamp,
    ) -> f64 {
        let Some(series) = self.series.get(tunnel, direction, Measure::Esp) else {
            return 0.0;
        };
        let packets = self.packets(tunnel, direction) as f64;
        let share = series.bytes_within(from, to) as f64 / series.counted_bytes().max(1) as f64;
        packets * share
    }

    /// Packets that no series could take.
    pub(crate) fn dropped(&self) -> u64 {
        self.series.dropped()
    }
}
