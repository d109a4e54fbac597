//! Transmissions of one kind as runs of 20 ms, and the bound of all of them.

mod run_bound;
mod transmission_run;

pub(crate) use run_bound::RunBound;
pub(crate) use transmission_run::Runs;
pub use transmission_run::{FINEST, TransmissionRun};
