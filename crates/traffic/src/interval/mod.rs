//! Stretches of time.

mod stretch;

pub use stretch::{CarriedKind, Interval, IntervalKind, ShownBy, Undelivered};
