//! What the tests of several crates share. It knows the words of `rekeyscope-model` and none of the code under test: what it
//! builds and encrypts is made with outside crates alone.
//!
//! - [`containers`]: capture files of every kind.
//! - [`headers`]: what is around and inside of IPsec.
//! - [`esp`]: ESP of any suite.
//! - [`carried`]: a tunnel and a connection in it.
//! - [`ike`]: peers that talk IKE.
//! - [`scenario`]: a virtual clock, two peers and their transfer, whose rekeys do what a test says.
//! - [`example`]: a document with everything in it.
//! - [`two_points`]: what a second capture point would have seen.
//! - [`lab`]: where the real captures of `../shared/lab` are, and which tests ask for them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod carried;
pub mod containers;
pub mod esp;
pub mod example;
mod figures;
pub mod headers;
pub mod ike;
pub mod lab;
pub mod scenario;
pub mod thread_time;
pub mod two_points;

pub use figures::figures;
