//! Least costs that count.

/// A share of the throughput below which nobody would change anything, and up to which an all-clear is given: the bound on what rekeys
/// may have cost unseen has to lie below it.
pub const INTEREST: f64 = 0.03;
pub use crate::ledger::LEAST_SHARE;
