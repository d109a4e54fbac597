//! What is simulated.

mod bursts;
mod random;
mod synthesis;

pub(crate) use bursts::WINDOW_PACKETS;
pub use bursts::{BurstScenario, PathChange, simulate_bursts};
pub use synthesis::{Scenario, Simulated, simulate};
