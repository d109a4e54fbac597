//! Limits that SAs passed and that somebody enforces.

use crate::pipeline::record::Record;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::volume::expired;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;

/// Deletes of SAs, by the side that deletes and the SPI: the last of each.
#[derive(Debug)]
pub(super) struct EnforcedLimits(HashMap<(IpAddr, Spi), Timestamp>);

impl EnforcedLimits {
    pub(super) fn of(record: &Record) -> Self {
        let mut deletes: HashMap<(IpAddr, Spi), Timestamp> = HashMap::new();
        for deletion in record.timeline.exchanges().iter().flat_map(|e| &e.deletes) {
            let last = deletes
                .entry((deletion.by, deletion.spi))
                .or_insert(deletion.time);
            *last = (*last).max(deletion.time);
        }
        EnforcedLimits(deletes)
    }

    /// When an SA had passed a limit after which its receiver drops what comes: it expired, or its receiver deleted it then.
    pub(super) fn passed(&self, association: &Association) -> Option<Timestamp> {
        let deleted = || {
            let (passed, _) = association.limit_passed?;
            let last = self.0.get(&(association.dst, association.spi))?;
            (*last >= passed).then_some(passed)
        };
        expired(association).or_else(deleted)
    }
}
