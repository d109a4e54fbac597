//! Arrived bytes over time, and transmissions in vain.

mod delivered_bytes;
mod line;
mod runs;

pub use delivered_bytes::DeliveredBytes;
pub use line::DeliveryLine;
pub use runs::TransmissionRun;
