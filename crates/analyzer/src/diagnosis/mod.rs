//! Packets that are remembered themselves, beside the books that are kept of all.
//!
//! [`observer`] takes every ESP packet. A ring of the last ones ([`recorder`]) lasts until the window of a rekey closes; then the window
//! becomes a [`scene::RekeyScene`], and [`close_up`] keeps what a plot of the packets around the rekey needs. [`holes`] and [`whole_run`]
//! know what the capture lacks, sizes and silences, and [`clear`] what went between the ends of a tunnel without ESP.

mod clear;
mod close_up;
mod filter;
mod holes;
mod observer;
mod record;
mod recorder;
mod scene;
pub(crate) mod whole_run;

pub(crate) use clear::ClearPackets;
pub(crate) use close_up::{CloseUpPoint, CloseUpRecord};
pub(crate) use filter::{MOST_FRAMES, display_filter};
pub(crate) use observer::Diagnosis;
pub(crate) use record::PacketRecord;
pub(crate) use recorder::Subject;
