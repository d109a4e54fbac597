//! capture

pub mod file;
pub mod framing;
pub mod layers;
