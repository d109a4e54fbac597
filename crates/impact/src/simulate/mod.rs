//! **Synthetic** traffic with and without planted stalls, to calibrate the method: nothing in here was ever measured.

mod bursts;
pub mod calibration;
mod synthesis;

pub use bursts::{BurstScenario, PathChange, simulate_bursts};
pub use synthesis::{Scenario, Simulated, simulate};
