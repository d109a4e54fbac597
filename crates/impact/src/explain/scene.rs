//! The scene of the outages: what the table of explanations looks at. Every field follows from one pass over the packets.

use rekeyscope_model::analysis::{Direction, Event};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{Timestamp, seconds};
use rekeyscope_traffic::Undelivered;
use std::net::IpAddr;

/// The whole capture as the explanations need it.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// Events of the control plane and of the path, in the order of time; `Event::index` is the place in this list.
    pub events: Vec<Event>,
    /// SAs, one direction each.
    pub sas: Vec<SaInScene>,
    /// Exchanges that make, or would make, an SA: Quick Mode, CREATE_CHILD_SA, Main and Aggressive Mode, IKE_SA_INIT with its IKE_AUTH.
    /// Deletes and checks are events.
    pub exchanges: Vec<ExchangeInScene>,
    /// The outages to explain, in the order of the document.
    pub outages: Vec<OutageInScene>,
}

/// One direction of a child SA.
#[derive(Debug, Clone)]
pub struct SaInScene {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// Direction of the SA's packets.
    pub direction: Direction,
    /// SPI of the SA.
    pub spi: Spi,
    /// First and last packet in the capture; `None` where no packet uses it.
    pub used: Option<(Timestamp, Timestamp)>,
    /// The highest ESP sequence number, and the bytes of ESP of so many packets: what its sender had sent on it by its end.
    pub sent: Option<(u64, u64)>,
    /// The negotiated limit in bytes, where it could be read.
    pub limit_bytes: Option<u64>,
    /// The negotiated limit in seconds, where it could be read.
    pub limit_seconds: Option<u64>,
    /// Place in `exchanges` of the exchange that made it.
    pub exchange: Option<usize>,
    /// Place in `sas` of the SA of the opposite direction that the same exchange made.
    pub opposite: Option<usize>,
    /// Place in `sas` of the SA that it replaced.
    pub predecessor: Option<usize>,
    /// Place in `sas` of the SA that replaced it.
    pub successor: Option<usize>,
    /// Inner addresses that it carried, source and destination; empty where keys are missing.
    pub inner: Vec<(IpAddr, IpAddr)>,
    /// The Delete that names it, or that deletes its IKE SA.
    pub deleted: Option<Timestamp>,
}

/// The product of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MadeByExchange {
    /// Child SAs.
    ChildSa,
    /// An IKE SA, with or without a first child.
    IkeSa,
    /// Nothing: it was refused, unanswered, or gave way to another one.
    Nothing,
}

/// An exchange.
#[derive(Debug, Clone)]
pub struct ExchangeInScene {
    /// Index in `exchanges` of the document.
    pub index: usize,
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// The address that asked.
    pub initiator: Option<IpAddr>,
    /// Time of the first message.
    pub begin: Timestamp,
    /// The first message of the responder.
    pub answered: Option<Timestamp>,
    /// Time of the last message.
    pub end: Timestamp,
    /// Nanoseconds in which the two sides computed, at least, where the messages carry public values: the waits between messages that
    /// answer each other, less a round trip.
    pub computed: Option<i64>,
    /// The product of the exchange.
    pub made: MadeByExchange,
    /// Place in `sas` of the SA that it renews or wanted to renew; `None` where that is not known.
    pub renews: Option<usize>,
}

impl ExchangeInScene {
    pub(super) fn computed_s(&self) -> Option<f64> {
        self.computed.map(seconds)
    }
}

/// A packet that did not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwallowedPacket {
    /// Time of sending.
    pub time: Timestamp,
    /// Frame of the packet.
    pub frame: u64,
    /// Place in `sas`.
    pub sa: usize,
    /// ESP sequence number.
    pub number: u64,
    /// Bytes of the inner packet; of the ESP packet where keys are missing.
    pub bytes: u32,
}

/// The longest silences of one end inside an outage, its bounds included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SilencesOfSide {
    /// Outer address of the side.
    pub side: IpAddr,
    /// The longest time without ESP and without IKE of it. A tunnel's other child counts as sending.
    pub nothing: (Timestamp, Timestamp),
    /// The longest time without ESP between the inner addresses of the outage; without keys, without ESP.
    pub no_esp: (Timestamp, Timestamp),
    /// The frame before `nothing`: the last one that came from it.
    pub last_frame: Option<u64>,
    /// Nanoseconds for which neither side had sent anything that keeps a NAT or a filter open, when the other one sent the first packet that did not
    /// arrive, if that is longer than NAT keepalives are apart.
    pub rested: Option<i64>,
}

/// An outage.
#[derive(Debug, Clone)]
pub struct OutageInScene {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// The direction that was not delivered.
    pub direction: Direction,
    /// Inner addresses, sender and receiver; `None` where keys are missing.
    pub inner: Option<(IpAddr, IpAddr)>,
    /// The last delivery before it.
    pub from: Timestamp,
    /// The first one after it, or the end.
    pub to: Timestamp,
    /// Nothing was delivered any more, though the transfer was not over.
    pub open: bool,
    /// Shorter than two retransmission timeouts: a row with `explains_short` must hold, else it is no outage.
    pub short: bool,
    /// The silence of a rekey: that nothing came is known, and the rows that say no more are left out.
    pub of_rekey: bool,
    /// The ledger knows that most of it was lost behind the switch to a new SA, and not which packets these are.
    pub lost_on_new: bool,
    /// The traffic in it.
    pub undelivered: Undelivered,
    /// The first packets that did not arrive (bounded by the maker), in the order of time.
    pub swallowed_packets: Vec<SwallowedPacket>,
    /// The round trip at its begin, nanoseconds.
    pub round_trip: i64,
    /// Place in `sas` of the SA that carried its direction at the begin.
    pub sa: Option<usize>,
    /// Bytes that this SA had carried at the begin: inner packets, or ESP where keys are missing.
    pub sa_bytes: Option<u64>,
    /// Place in `sas` of the SA that carried the first delivery after it.
    pub back_on: Option<usize>,
    /// The sender's silences and the receiver's, in this order.
    pub silences: [SilencesOfSide; 2],
}
