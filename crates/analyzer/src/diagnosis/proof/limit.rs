//! How much an SA carried against its limit. What the capture lacks was sent all the same: missing ESP numbers count as
//! packets of the usual size.

use rekeyscope_ipsec::sa::association::Association;

/// Packets that a receiver may have counted beside those that were captured: one in flight, and one that was not data.
const PACKETS_OF_DOUBT: u64 = 2;

/// Decrypted payload, bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VolumeSent {
    /// At most: what was captured, and what is missing.
    pub(crate) most: u64,
    /// The largest packet.
    largest: u64,
    limit: Option<u64>,
}

/// Volume of an SA of which something was decrypted.
pub(crate) fn volume_sent(sa: &Association) -> Option<VolumeSent> {
    let c = &sa.counters;
    let usual = c.inner_bytes.checked_div(c.opened)?;
    Some(VolumeSent {
        most: c.inner_bytes.saturating_add(sa.missing().saturating_mul(usual)),
        largest: c.largest_inner,
        limit: sa.volume_limit,
    })
}

impl VolumeSent {
    /// It reached the negotiated volume, as far as the capture can tell.
    pub(super) fn reaches_limit(&self) -> bool {
        let doubt = PACKETS_OF_DOUBT.saturating_mul(self.largest);
        self.limit
            .is_some_and(|limit| self.most.saturating_add(doubt) >= limit)
    }

    /// Share of the negotiated volume, at most; `None` where none is known.
    pub(super) fn share(&self) -> Option<f64> {
        Some(self.most as f64 / self.limit? as f64)
    }
}
