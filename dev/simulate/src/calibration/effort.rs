//! Numbers of transfers, and the page that is made of them.

use super::demands::Section;
use super::harmless::harmless;
use super::slowed::slowed;
use super::stalled::stalled;
use super::tables::table;

const HEAD: &str = "# Calibration of the ledger

What the ledger says of **synthetic** transfers whose cost is known. Made by `cargo run --release -p rekeyscope-simulate --bin calibration > \
docs/evidence/calibration.md`, in ten minutes of two processors.

A simulated sender (slow start, CUBIC, loss by three later segments, retransmission timeouts of 200 ms and more) sends segments of 1,200 bytes \
over a path that is limited by its even rate, by the receive window (a burst each round trip), by a queue that overflows, by random losses, by \
an application that pauses, or by a rate that wanders. A capture at the sender's end sees every transmission, and the ledger gets what became \
of each, as it does from a real capture. Rekeys come by time or by volume, 5 to 80 a transfer.
";

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

/// The effort of `docs/evidence/calibration.md`: ten minutes of two processors.
pub const FULL: Effort = Effort {
    harmless: 40,
    slowed: 40,
    stalled: 80,
};

/// The page.
pub fn calibrate(effort: Effort) -> String {
    let sections = [
        harmless(effort.harmless),
        slowed(effort.slowed),
        stalled(effort.stalled),
    ];
    let demands: Vec<Vec<String>> = sections.iter().flat_map(Section::rows).collect();
    let tables: Vec<String> = sections.iter().map(Section::markdown).collect();
    format!(
        "{HEAD}\n{}\n{}",
        table(&["demand", "found"], &demands).replace("--:", "---"),
        tables.join("\n")
    )
}
