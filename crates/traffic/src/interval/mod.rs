//! Stretches of time.

mod lost;
mod silence;
mod span;
mod standstill;

pub use lost::LostPacket;
pub use silence::{LastPacket, PacketSilence};
pub use span::Interval;
pub use standstill::{CarriedKind, SenderBefore, ShownBy, Standstill, StandstillKind, Undelivered};
