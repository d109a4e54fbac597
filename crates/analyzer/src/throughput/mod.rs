//! Throughput of the tunnels: flows, series of bytes over time, and their meters.

pub(crate) mod connections;
pub mod flow;
#[cfg(test)]
mod lab_test;
pub mod meter;
pub(crate) mod rests;
pub mod series;
