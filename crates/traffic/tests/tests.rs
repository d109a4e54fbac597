//! The tracker through its public face: tables of packets in, tables of facts out.

#![allow(clippy::unwrap_used, reason = "they are tests")]

mod delivered;
mod outages;
mod properties;
mod sealed;
mod traces;
mod world;
