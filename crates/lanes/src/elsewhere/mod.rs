//! Processors other than those of x86-64 have no lanes.

mod none;

pub use none::{AesNi, Avx2, Avx512, ShaNi, WideGhash, fetch_behind};
