//! One side of a connection, in the words of RFC 9293 (send sequence), RFC 6675 (scoreboard) and RFC 6298 (round trip time).

mod acknowledging;
mod handshake;
mod identification;
mod retransmission_queue;
mod rtt;
mod send_mark;
mod send_sequence;
mod sender_clock;
mod sequence_gaps;

pub(crate) use acknowledging::AckSource;
pub(crate) use handshake::slot;
pub use handshake::{Handshake, LARGEST_WINDOW_SCALE};
pub(crate) use identification::SharedCounters;
pub(crate) use retransmission_queue::Transmitted;
pub use rtt::{
    DEFAULT_MSS, INITIAL_RTO, INITIAL_WINDOW, LEAST_TIMEOUT, LONGEST_ACK_DELAY, RttEstimator, doubled_timer,
};
pub(crate) use send_mark::SendMark;
pub(crate) use send_sequence::{Advance, SendContext, SendSequence};
