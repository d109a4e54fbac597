//! Limits of SAs, and who would notice what is lost beyond them.

use crate::pipeline::record::Record;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_ipsec::sa::volume::expired;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;

/// Limits of all SAs, and who would notice what is lost beyond them.
#[derive(Debug)]
pub(super) struct EnforcedLimits {
    deletes: HashMap<(IpAddr, Spi), (Timestamp, Timestamp)>,
    /// TCP bytes and all bytes of each direction.
    shares: HashMap<(TunnelIndex, usize), (u64, u64)>,
}

impl EnforcedLimits {
    pub(super) fn of(record: &Record) -> Self {
        let mut shares: HashMap<(TunnelIndex, usize), (u64, u64)> = HashMap::new();
        for (_, flow) in record.flows.flows() {
            let share = shares.entry((flow.tunnel, slot(flow.direction))).or_default();
            share.1 += flow.bytes;
            share.0 += if flow.protocol == "tcp" { flow.bytes } else { 0 };
        }
        EnforcedLimits {
            deletes: record.deletes(),
            shares,
        }
    }

    /// Tells whether TCP carries half of a direction: what is lost is sent again then.
    pub(super) fn are_acknowledged(&self, tunnel: TunnelIndex, direction: Direction) -> bool {
        let share = self.shares.get(&(tunnel, slot(direction)));
        share.is_some_and(|(tcp, all)| is_half(*tcp, *all))
    }

    /// Tells when an SA passed a limit after which its receiver drops what comes: it expired, or its receiver deleted it then.
    pub(super) fn passed(&self, association: &Association) -> Option<Timestamp> {
        let deleted = || {
            let (passed, _) = association.limit_passed?;
            let (_, last) = self.deletes.get(&(association.dst, association.spi))?;
            (*last >= passed).then_some(passed)
        };
        expired(association).or_else(deleted)
    }
}

/// Tells whether TCP carries half of some bytes.
pub(super) fn is_half(tcp: u64, all: u64) -> bool {
    2 * tcp >= all
}
