//! Least costs that count.

/// A share of the throughput below which nobody would change anything, and up to which an all-clear is given: the bound on what rekeys
/// may have cost unseen has to lie below it.
pub const INTEREST: f64 = 0.03;
/// Rekeys that cost this share of a transfer cost throughput; sentences name no smaller one.
pub const LEAST_SHARE: f64 = 0.01;
