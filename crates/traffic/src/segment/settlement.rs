//! Settlement of a transmission: it arrived, was lost, or brought nothing new.

use super::tcp_segment::{ConnectionId, PairId};
use crate::packet::EspNumber;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// Outcome of a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The copy that arrived: its bytes count.
    Arrived,
    /// Another copy, sent later, is the one that arrived.
    Swallowed,
    /// A retransmission of what had arrived: the sender had not heard of it.
    Superfluous {
        /// Acknowledgements of it, older than a round trip, that the capture shows.
        unheard: u32,
    },
    /// The connection was reset or replaced, or forgotten at a bound, before anybody acknowledged the transmission.
    Abandoned,
    /// Nobody has acknowledged it yet.
    Waiting,
}

/// A transmission of which it is known what became. A segment that is sent once and acknowledged gives one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settlement {
    /// The connection of the packet.
    pub connection: ConnectionId,
    /// The inner addresses of the packet.
    pub pair: PairId,
    /// The direction of the packet.
    pub direction: Direction,
    /// Sequence number, unwrapped.
    pub seq: u64,
    /// Length in sequence space.
    pub len: u32,
    /// The transmission opens a connection.
    pub syn: bool,
    /// True where the transmission closes its side of the connection.
    pub fin: bool,
    /// True where the transmission went beyond bytes that the capture had not shown, or beyond a whole initial window of missing numbers: they
    /// were lost before it, or the capture lost them.
    pub beyond_gap: bool,
    /// Time since which the receiver lacks the bytes: since their first transmission, or since the packet behind them where the capture has
    /// only a later copy.
    pub lacking_since: Timestamp,
    /// The time when it passed the capture.
    pub time: Timestamp,
    /// The packet's frame.
    pub frame: u64,
    /// The packet's place in its security association, where it has one.
    pub esp: Option<EspNumber>,
    /// The transmission was the only one with its bytes up to then: the answer is one to this one (Karn's algorithm, RFC 6298 §3).
    pub sent_once: bool,
    /// Length of the whole packet in sequence space: parts of it may come again apart.
    pub packet: u32,
    /// The first packet with these bytes was larger: its sender has cut it.
    pub cut: bool,
    /// Outcome of the transmission.
    pub fate: Fate,
    /// The packet that showed it: time and frame.
    pub shown: (Timestamp, u64),
}

impl Settlement {
    /// Payload bytes: SYN and FIN occupy one number each (RFC 9293 §3.4).
    pub fn payload(&self) -> u32 {
        self.len.saturating_sub(u32::from(self.syn) + u32::from(self.fin))
    }
}
