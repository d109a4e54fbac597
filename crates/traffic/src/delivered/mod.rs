//! Arrived bytes over time, and transmissions in vain.

mod delivered_bytes;
mod line;

pub use delivered_bytes::DeliveredBytes;
pub use line::DeliveryLine;
