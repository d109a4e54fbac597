//! How often the method is wrong, on synthetic runs: false verdicts without an effect, coverage of the intervals,
//! recovery of planted stalls, power at the stated minimum detectable stall.

mod bursts;
mod demands;
mod run;
mod tables;
mod tally;

pub use demands::DemandCheck;
pub use run::{Effort, calibrate, cells};
pub use tally::{BurstCell, Calibration, Cell, Tally};
