//! How many transfers, and all of them.

use super::harmless::harmless;
use super::slowed::slowed;
use super::stalled::stalled;

/// Transfers of each cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Rekeys that harm nobody.
    pub harmless: u64,
    /// Rekeys that slow the transfer.
    pub slowed: u64,
    /// Rekeys that stall it.
    pub stalled: u64,
}

/// Of the tables in `docs/evidence/calibration.md`: ten minutes of two processors.
pub const FULL: Effort = Effort {
    harmless: 60,
    slowed: 60,
    stalled: 100,
};

/// The tables.
pub fn calibrate(effort: Effort) -> String {
    [
        harmless(effort.harmless),
        slowed(effort.slowed),
        stalled(effort.stalled),
    ]
    .join("\n")
}
