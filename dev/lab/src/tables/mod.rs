//! The tables that `run` has tshark write.

mod capture;

pub use capture::{LabCapture, Theirs, read};
