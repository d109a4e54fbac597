//! The one reading of what tunnels carried: ESP packets go to the crate `traffic`, and what its intervals do not hold stands beside them.

mod inner_packet;
mod quiets;
mod reading;
mod silences;
mod volumes;

pub(crate) use inner_packet::inner_packet;
pub(crate) use quiets::Quiet;
pub(crate) use reading::TrafficReading;
pub(crate) use silences::SideSilence;
