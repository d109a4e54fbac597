//! **Synthetic** traffic with and without planted stalls, to calibrate the method: nothing in here was ever measured.

pub mod calibration;
mod synthesis;

pub use synthesis::{Scenario, Simulated, simulate};
