//! **Synthetic** traffic with and without planted stalls, to calibrate the method: nothing in here was ever measured.
//!
//! ```text
//! traffic      what is simulated: an even stream or bursts, with rekeys, pauses and stalls
//! calibration  thousands of runs, judged by the method; what is demanded of it; the tables of docs/evidence/calibration.md
//! bin          calibration: prints these tables
//! ```
//!
//! `tests/method` tries the method of `rekeyscope-impact` on the same traffic.

pub mod calibration;
mod traffic;

pub use traffic::{BurstScenario, PathChange, Scenario, Simulated, simulate, simulate_bursts};
