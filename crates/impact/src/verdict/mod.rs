//! Verdicts, read off the ledger of a direction: nothing is estimated.
//!
//! ```text
//! judged_direction  a direction and what is known of it
//! judge       shown, some, bounded, inconclusive; what each rekey cost
//! projection  what other lifetimes would give, and how much of a gap to a reference rate rekeys explain
//! loss        seconds lost to rekeys and failures, where a sentence names them
//! sentence    the verdict in words
//! ```

mod judge;
mod judged_direction;
mod limits;
mod loss;
mod projection;
mod sentence;
#[cfg(test)]
mod tests;

pub use judge::{judge, rekey_costs};
pub use judged_direction::JudgedDirection;
pub use limits::{INTEREST, LEAST_SHARE};
pub use loss::named_loss;
pub(crate) use projection::cost_of_a_rekey;
pub use projection::{PROJECTED_KILOBYTES, project};
pub(crate) use sentence::is_all_clear;
