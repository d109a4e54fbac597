//! Many transfers of each kind, what the ledger says of them, and what is asked of it.

mod demands;
mod effort;
mod harmless;
mod slowed;
mod stalled;
mod tables;

pub use effort::{Effort, FULL, calibrate};
