//! Stretches of time.

mod lost;
mod stretch;

pub use lost::LostPacket;
pub use stretch::{CarriedKind, Interval, IntervalKind, SenderBefore, ShownBy, Undelivered};
