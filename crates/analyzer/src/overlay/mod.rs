//! Series from elsewhere on the capture's time axis: what iperf3 saw, what the router's processor did.
//!
//! They change no verdict. An iperf3 run is placed by cross-correlation ([`align`]), samples by their own times.

pub mod add;
mod align;
mod around;
mod iperf3;
mod samples;

pub use add::with_overlays;
