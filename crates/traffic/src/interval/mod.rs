//! Stretches of time.

mod lost;
mod silence;
mod stretch;

pub use lost::LostPacket;
pub use silence::PacketSilence;
pub use stretch::{CarriedKind, Interval, IntervalKind, SenderBefore, ShownBy, Undelivered};
