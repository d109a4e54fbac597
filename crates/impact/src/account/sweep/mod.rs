//! One direction of a connection in order of time → a label for every wait for a packet.

mod receiver;
mod rounds;
pub(super) mod rules;
pub(super) mod sender;
pub(super) mod track;
