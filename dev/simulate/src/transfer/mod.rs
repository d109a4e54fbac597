//! A transfer: a sender, a path, rekeys, and the fate of each transmission.

mod course;
mod path;
mod random;
mod rekeys;
mod sender;

pub use course::{Course, Transmission};
pub use path::{Application, PATHS, PathKind, SEGMENT, SimulatedPath};
pub use rekeys::{RekeyMoments, RekeyPlan, SimulatedTransfer};
pub use sender::send;
