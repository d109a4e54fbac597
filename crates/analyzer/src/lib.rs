//! analyzer

pub mod assembly;
pub mod decode;
pub mod diagnosis;
pub mod findings;
pub mod overlay;
pub mod pipeline;
pub mod throughput;
pub mod write;
