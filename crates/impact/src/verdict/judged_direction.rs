//! One direction of a tunnel.

use rekeyscope_model::analysis::{Counted, Direction, Ledger, TransferImpact};

/// A direction of a tunnel, and the facts known of it.
#[derive(Debug, Clone, Copy)]
pub struct JudgedDirection<'a> {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// Direction of the data.
    pub direction: Direction,
    /// Kind of bytes that are counted.
    pub counted: Counted,
    /// Ledger of the direction; `None` where it is no transfer.
    pub ledger: Option<&'a Ledger>,
    /// The stretches between rests, in order.
    pub transfers: &'a [TransferImpact],
    /// Rekeys of the tunnel, as indexes in the document's `rekeys`, ascending.
    pub rekeys: &'a [usize],
    /// Renewals of the tunnel: its rekeys, and those whose SAs no packet used.
    pub renewals: usize,
    /// Rekeys within the transfer of which the capture lacks nothing.
    pub observed: &'a [usize],
    /// True where some of the observed rekeys came near the volume at which their old SA ends, or nothing tells how near.
    pub near_limit: bool,
    /// Stretches that the capture lacks within the transfer, and their seconds.
    pub holes: (usize, f64),
    /// The rate to compare with, bit/s.
    pub reference_bps: Option<f64>,
}

impl JudgedDirection<'_> {
    /// Seconds between the transfers.
    pub(super) fn rest_s(&self) -> f64 {
        let rest = |pair: &[TransferImpact]| pair[1].start.seconds_since(pair[0].end).max(0.0);
        self.transfers.windows(2).map(rest).sum()
    }

    /// Mean rate of the transfer, bit/s, without what the capture lacks.
    pub(super) fn observed_bps(&self) -> Option<f64> {
        let ledger = self.ledger?;
        let seconds = ledger.seconds - self.holes.1;
        (seconds > 0.0).then(|| ledger.bytes as f64 * 8.0 / seconds)
    }
}
