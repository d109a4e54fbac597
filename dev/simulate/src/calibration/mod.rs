//! Demands on the ledger, tried on many transfers of each kind.

mod demands;
mod effort;
mod harmless;
mod slowed;
mod stalled;
mod tables;

pub use effort::{Effort, FULL, calibrate};
