//! What the packets of a connection say of one of its flows: round trips, the receiver's window, the data in flight.

mod course;
pub(super) mod measured;
mod median;
