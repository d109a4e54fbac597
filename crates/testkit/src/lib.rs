//! What the tests of several crates share.
//!
//! - [`lab`]: where the real captures of `../shared/lab` are, and which tests ask for them.

pub mod lab;
pub mod thread_time;
