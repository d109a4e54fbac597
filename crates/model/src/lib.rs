//! model

pub mod algorithm;
pub mod analysis;
pub mod diagnostic;
pub mod error;
pub mod lifetime;
pub mod mining;
pub mod sample;
pub mod secret;
pub mod spi;
pub mod text;
pub mod time;
