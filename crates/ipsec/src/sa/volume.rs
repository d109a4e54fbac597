//! An SA's bytes against its limit. What the capture lacks was sent all the same: missing ESP numbers count as
//! packets of the usual size.

use crate::sa::association::Association;
use rekeyscope_model::time::Timestamp;

/// Packets that a receiver may have counted beside those that were captured: one in flight, and one that was not data.
const PACKETS_OF_DOUBT: u64 = 2;

/// SAs that the kernel reports as expired carried 1.003 to 1.103 times their limit (lab); one that carried more than this
/// went on, so nobody enforces the limit.
pub const MOST_EXCESS: f64 = 1.25;

/// Decrypted payload, bytes.
#[derive(Debug, Clone, Copy)]
pub struct VolumeSent {
    /// At most: what was captured, and what is missing.
    pub most: u64,
    /// The largest packet.
    largest: u64,
    limit: Option<u64>,
}

/// Volume of an SA of which something was decrypted.
pub fn volume_sent(sa: &Association) -> Option<VolumeSent> {
    let c = &sa.counters;
    let usual = c.inner_bytes.checked_div(c.opened)?;
    Some(VolumeSent {
        most: c.inner_bytes.saturating_add(sa.missing().saturating_mul(usual)),
        largest: c.largest_inner,
        limit: sa.volume_limit,
    })
}

/// Time at which an SA reached its negotiated volume, where that looks enforced: by its receiver, who drops what comes after, or by its
/// sender, who counts also what was lost before the capture, and sends no more.
pub fn expired(sa: &Association) -> Option<Timestamp> {
    expiry(sa).map(|(time, _)| time)
}

/// Time of [`expired`], with the frame that shows it.
pub fn expiry(sa: &Association) -> Option<(Timestamp, u64)> {
    let limit = sa.volume_limit?;
    let enforced = sa.counters.inner_bytes as f64 <= MOST_EXCESS * limit as f64;
    let by_sender = || {
        let all_sent = volume_sent(sa)?.reaches_limit();
        sa.last.filter(|_| all_sent)
    };
    sa.limit_passed.or_else(by_sender).filter(|_| enforced)
}

impl VolumeSent {
    /// Tells whether the SA reached its negotiated volume, as far as the capture can tell.
    pub fn reaches_limit(&self) -> bool {
        let doubt = PACKETS_OF_DOUBT.saturating_mul(self.largest);
        self.limit
            .is_some_and(|limit| self.most.saturating_add(doubt) >= limit)
    }

    /// Share of the negotiated volume, at most; `None` where none is known.
    pub fn share(&self) -> Option<f64> {
        Some(self.most as f64 / self.limit? as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sa::association::{Counters, SaContext};
    use rekeyscope_model::analysis::Direction;
    use rekeyscope_model::spi::Spi;
    use std::net::{IpAddr, Ipv4Addr};

    /// A **synthetic** SA with a limit of 100 kB and packets of 1,000 bytes: so many sent, and so many of them captured.
    fn sa(sent: u64, captured: u64) -> Association {
        let end = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let mut sa = Association::new(SaContext::made_up(Direction::AToB, end, end), Spi(1));
        sa.volume_limit = Some(100_000);
        sa.last = Some((Timestamp(7), 7));
        sa.counters = Counters {
            inner_bytes: 1_000 * captured,
            opened: captured,
            largest_inner: 1_000,
            ..Counters::default()
        };
        // What the capture lacks was lost behind the first packet.
        for number in (1..2).chain(sent - captured + 2..=sent) {
            sa.sequence.observe(number, false);
        }
        sa
    }

    #[test]
    fn a_sender_counts_what_was_lost_before_the_capture() {
        assert_eq!(expired(&sa(100, 90)), Some(Timestamp(7)), "its last packet");
        assert_eq!(expired(&sa(98, 90)), Some(Timestamp(7)), "and two of doubt");
        assert_eq!(expired(&sa(97, 90)), None);
        let mut received = sa(120, 110);
        received.limit_passed = Some((Timestamp(5), 5));
        assert_eq!(
            expired(&received),
            Some(Timestamp(5)),
            "its receiver drops what comes after"
        );
        let mut ignored = sa(200, 190);
        ignored.limit_passed = Some((Timestamp(5), 5));
        assert_eq!(expired(&ignored), None, "nobody enforces it");
    }
}
