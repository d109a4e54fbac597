//! The pipeline: [`Analyzer::push`] takes frames in capture order, [`Analyzer::finish`] gives what it remembers of them.
//!
//! ESP packets are collected and decoded on all cores ([`crate::decode`]). An IKE message leaves a mark among them: where they are
//! accounted for, in capture order, the volume at an exchange's first message is exact.

pub mod analyzer;
pub(crate) mod damaged;
mod options;
pub(crate) mod point;
pub(crate) mod record;
pub mod spi_scan;

pub use analyzer::Analyzer;
pub use options::{Options, TunnelChoice};
pub use record::Record;
