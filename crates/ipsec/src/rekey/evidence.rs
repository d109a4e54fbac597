//! Evidence that renewals are recognised by.

use crate::ike::timeline::Exchange;
use crate::sa::association::{Association, Counters};
use crate::sa::database::SaIndex;
use crate::sa::tunnel::{Tunnel, TunnelIndex};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// Counters of a tunnel's SAs when an exchange began.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    /// Exchange index in the timeline.
    pub exchange: usize,
    /// SA.
    pub sa: SaIndex,
    /// The counters then.
    pub counters: Counters,
    /// The sequence numbers that were missing then.
    pub missing: u64,
}

/// Evidence that renewals are recognised by.
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

impl Evidence<'_> {
    /// The tunnel of an exchange.
    pub(super) fn tunnel_of(&self, exchange: usize) -> Option<TunnelIndex> {
        self.exchange_tunnels.get(exchange).copied().flatten()
    }
}

// One child SA taking over from another.

/// Position of an internal direction in a pair.
pub fn slot(direction: Direction) -> usize {
    direction.pick(0, 1)
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
    /// The side that began the exchange, where that is known.
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
