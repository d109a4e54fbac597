//! Verdicts, read off the ledger of a direction: nothing is estimated.
//!
//! ```text
//! judged_direction  a direction and what is known of it
//! judge       shown, some, bounded, inconclusive; what each rekey cost
//! projection  what other lifetimes would give, and how much of a gap to a reference rate rekeys explain
//! sentence    the verdict in words
//! ```

mod judge;
mod judged_direction;
mod projection;
mod sentence;
#[cfg(test)]
mod tests;

pub use crate::ledger::LEAST_SHARE;
pub use judge::{INTEREST, judge, named_loss, rekey_costs};
pub use judged_direction::JudgedDirection;
pub(crate) use projection::cost_of_a_rekey;
pub use projection::{PROJECTED_KILOBYTES, project};
pub(crate) use sentence::is_all_clear;
