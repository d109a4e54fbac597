//! Evidence that renewals are recognised by.

use crate::ike::timeline::Exchange;
use crate::sa::association::{Association, Counters};
use crate::sa::database::SaIndex;
use crate::sa::tunnel::{Tunnel, TunnelIndex};

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
