//! Measurements of one flow of a connection: round trips, the receiver's window, the data in flight.

mod course;
pub(super) mod measured;
mod median;
