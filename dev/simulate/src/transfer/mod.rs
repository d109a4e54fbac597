//! One transfer: what a sender sends over a path, and what became of it.

mod course;
mod path;
mod random;
mod rekeys;
mod sender;

pub use course::{Course, Transmission};
pub use path::{Application, PATHS, PathKind, SEGMENT, SimulatedPath};
pub use rekeys::{RekeyMoments, RekeyPlan, SimulatedTransfer};
pub use sender::send;
