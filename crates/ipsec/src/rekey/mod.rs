//! Recognises rekeys and what triggered them. Runs once, over the finished tables:
//!
//! 1. [`pair`]: SAs → [`pair::ChildSa`]s (one SA per direction), by the exchange that names them, else by time.
//! 2. [`detect`]: child SAs → successions: which one renews which.
//! 3. [`attempt`]: exchanges → what became of each, also of those that failed.
//! 4. [`trigger`]: volume, time, … from what the old SAs had carried when the exchange began; `rule`: which counting of it,
//!    by consistency over the trace.

pub mod attempt;
pub mod detect;
mod evidence;
#[cfg(test)]
mod made_up;
pub mod pair;
mod rule;
mod short_answer;
pub mod trigger;

pub use evidence::{Evidence, Snapshot, Succession, slot};
