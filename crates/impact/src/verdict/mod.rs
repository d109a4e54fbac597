//! From the ledger of a direction to its verdict: read off, nothing is estimated.
//!
//! ```text
//! judge       failed, shown, some, bounded, inconclusive; what each rekey cost
//! projection  what other lifetimes would give, and how much of a gap to a reference rate rekeys explain
//! sentence    the verdict in words
//! ```

mod judge;
mod projection;
mod sentence;
#[cfg(test)]
mod tests;

pub use judge::{JudgedDirection, judge, rekey_costs};
pub use projection::{PROJECTED_KILOBYTES, project};

/// A share of the throughput below which nobody would change anything, and up to which an all-clear is given: the bound on what rekeys
/// may have cost unseen has to lie below it.
pub const INTEREST: f64 = 0.03;
/// Rekeys that cost this share of a transfer cost throughput; sentences name no smaller one.
pub const LEAST_SHARE: f64 = 0.01;
