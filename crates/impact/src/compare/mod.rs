//! Several analyses against each other: what does a rekey cost, seen from outside, and what does each cipher suite carry?
//!
//! Every capture gives one point to [`line`]: the transfer of its headline direction. Nothing in here looks at
//! packets.

pub mod comparison;
mod gap;
mod line;
mod sentence;

pub use comparison::{compare, row_of};
pub use gap::gap;
