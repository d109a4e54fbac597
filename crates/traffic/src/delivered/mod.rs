//! Arrived bytes over time, and transmissions in vain.

mod delivered_bytes;
mod line;

pub use delivered_bytes::{CONNECTION_SHARE, DeliveredBytes};
pub use line::DeliveryLine;
