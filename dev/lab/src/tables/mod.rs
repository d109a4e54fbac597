//! The tables that `run` has tshark write.

mod capture;

pub use capture::{Capture, Theirs, read};
