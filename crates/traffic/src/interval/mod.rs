//! Stretches of time, and what the control plane did in them.

mod event;
mod stretch;

pub use event::{Event, EventKind};
pub use stretch::{CarriedKind, Interval, IntervalKind, ShownBy, Undelivered};
