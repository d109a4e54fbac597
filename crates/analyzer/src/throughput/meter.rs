//! Throughput meters: per tunnel and direction, new inner bytes where the key is proven, and ESP bytes always.

use crate::decode::Pending;
use crate::throughput::series::{DirectionSeries, SeriesSet};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Direction;
use std::collections::BTreeMap;

/// Below this share of opened packets the inner series has holes, and outer bytes are the honest measure.
const ENOUGH_OPENED: f64 = 0.98;

/// Packets of one tunnel and direction.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    opened: u64,
    all: u64,
}

/// All meters. Bounded by their [`SeriesSet`]s.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    inner: SeriesSet,
    outer: SeriesSet,
    shares: BTreeMap<(TunnelIndex, Direction), Share>,
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
        let share = self.shares.entry((tunnel, direction)).or_default();
        share.opened += u64::from(opened);
        share.all += 1;
        self.inner
            .record(tunnel, direction, pending.time, new, pending.outer_bytes);
        self.outer.record(
            tunnel,
            direction,
            pending.time,
            pending.esp_bytes,
            pending.outer_bytes,
        );
    }

    /// What follows was captured before what was recorded: silences are sought anew.
    pub(crate) fn begin_earlier_part(&mut self) {
        self.inner.begin_earlier_part();
        self.outer.begin_earlier_part();
    }

    /// True where the inner series is whole enough to be used.
    pub(crate) fn inner_is_whole(&self, tunnel: TunnelIndex, direction: Direction) -> bool {
        self.shares
            .get(&(tunnel, direction))
            .is_some_and(|s| s.opened as f64 >= ENOUGH_OPENED * s.all as f64)
    }

    /// The series that the verdict counts: new inner bytes, or ESP bytes where keys are missing.
    pub(crate) fn counted(&self, tunnel: TunnelIndex, direction: Direction) -> Option<&DirectionSeries> {
        let whole = self.inner_is_whole(tunnel, direction);
        let set = if whole { &self.inner } else { &self.outer };
        set.get(tunnel, direction)
    }

    /// Tunnels and internal directions with packets.
    pub(crate) fn directions(&self) -> impl Iterator<Item = (TunnelIndex, Direction)> {
        self.shares.keys().copied()
    }

    /// Bin width of the document that fits both sets, milliseconds.
    pub(crate) fn document_bin_ms(&self) -> f64 {
        self.inner.document_bin_ms().max(self.outer.document_bin_ms())
    }

    /// ESP packets of a tunnel and direction.
    pub(crate) fn packets(&self, tunnel: TunnelIndex, direction: Direction) -> u64 {
        self.shares.get(&(tunnel, direction)).map_or(0, |s| s.all)
    }

    /// ESP bytes of a tunnel and direction.
    pub(crate) fn esp_bytes(&self, tunnel: TunnelIndex, direction: Direction) -> u64 {
        self.outer
            .get(tunnel, direction)
            .map_or(0, DirectionSeries::new_bytes)
    }

    /// Packets that no series could take.
    pub(crate) fn dropped(&self) -> u64 {
        self.outer.dropped()
    }
}
