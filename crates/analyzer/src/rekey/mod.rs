//! Recognises rekeys and what triggered them. Runs once, over the finished tables:
//!
//! 1. [`pair`]: SAs → [`pair::ChildSa`]s (one SA per direction), by the exchange that names them, else by time.
//! 2. [`detect`]: child SAs → successions: which one renews which.
//! 3. [`trigger`]: volume, time, … from what the old SAs had carried when the exchange began; `rule`: which counting of it,
//!    by consistency over the trace.

pub mod detect;
pub mod pair;
mod rule;
pub mod trigger;

use crate::analysis::Direction;
use crate::ike::timeline::Exchange;
use crate::sa::association::{Association, Counters};
use crate::sa::database::SaIndex;
use crate::sa::tunnel::{Tunnel, TunnelIndex};
use crate::time::Timestamp;

/// What the SAs of a tunnel had carried when an exchange began.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    /// Exchange index in the timeline.
    pub exchange: usize,
    /// SA.
    pub sa: SaIndex,
    /// Its counters then.
    pub counters: Counters,
    /// Its sequence numbers that were missing then.
    pub missing: u64,
}

/// What recognition looks at.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The tunnels.
    pub tunnels: &'a [Tunnel],
    /// The IKE exchanges.
    pub exchanges: &'a [Exchange],
    /// The tunnel of each.
    pub exchange_tunnels: &'a [Option<TunnelIndex>],
    /// The SAs.
    pub associations: &'a [Association],
    /// Snapshots, by exchange.
    pub snapshots: &'a [Snapshot],
}

/// Position of an internal direction in a pair.
pub fn slot(direction: Direction) -> usize {
    match direction {
        Direction::AToB => 0,
        Direction::BToA => 1,
    }
}

/// A renewal of one child SA by another, in internal directions.
#[derive(Debug, Clone)]
pub struct Succession {
    /// Tunnel.
    pub tunnel: TunnelIndex,
    /// Exchange, where one was captured.
    pub exchange: Option<usize>,
    /// SAs that end.
    pub old: [Option<SaIndex>; 2],
    /// SAs that begin.
    pub new: [Option<SaIndex>; 2],
    /// Who began the exchange, where that is known.
    pub initiator: Option<std::net::IpAddr>,
    /// First exchange message; `None` where it is not in the capture.
    pub started: Option<Timestamp>,
    /// The first message of the exchange that is in the capture.
    pub first_message: Option<Timestamp>,
    /// Last exchange message.
    pub finished: Option<Timestamp>,
    /// First packet on the new SA, per direction.
    pub switched: [Option<Timestamp>; 2],
    /// Last packet on the newest older SA of the succession that carried packets, per direction.
    pub left: [Option<Timestamp>; 2],
    /// Another exchange by the other side at the same time.
    pub collision: bool,
    /// A new IKE SA came with it.
    pub reauthentication: bool,
}
