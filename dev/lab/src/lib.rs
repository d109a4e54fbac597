//! Captures through tshark's eyes. `run` beside the sources has tshark decrypt a capture and write tables of it.
//!
//! - [`tables`]: reads the tables.
//! - `bin/tracker`: says where the tracker and tshark's `tcp.analysis` differ, and when nothing was delivered.

pub mod tables;
