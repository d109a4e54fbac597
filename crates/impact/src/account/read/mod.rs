//! Packets of a connection → one direction of it: data, acknowledgements, how long they take.

pub(super) mod data;
pub(super) mod delays;
mod dot;
pub(super) mod half;
pub(super) mod reading;
mod scale;
