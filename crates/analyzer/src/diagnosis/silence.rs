//! Was the initiator of an exchange cut off before its first captured message?
//!
//! An SA that reached its hard limit drops what comes in, so its receiver falls silent. Where the first copy of its
//! request was lost before the capture point, or came late, the first message in the capture is a retransmission,
//! and the outage began before it. IKEv2 puts no limit on the wire (RFC 7296 §2.8); what shows the outage is that silence.

use crate::diagnosis::record::PacketRecord;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};

/// A TCP receiver acknowledges within this (RFC 9293 §3.8.6.3).
const LATEST_ACKNOWLEDGEMENT: i64 = 500 * NANOS_PER_MILLI;
/// The least silence that counts: two acknowledgements could not have been held back for longer, and no implementation sends a
/// request again sooner (Windows after 1 s, strongSwan after 4 s, racoon after 10 s; RFC 7296 §2.1 leaves it open).
const LEAST: i64 = 2 * LATEST_ACKNOWLEDGEMENT;
/// The longest: strongSwan's third retransmission comes after 4.0 + 7.2 + 13.0 s.
pub(super) const LONGEST: i64 = 25 * NANOS_PER_SECOND;
/// What went before the silence is looked for within this.
const BUSY_WITHIN: i64 = NANOS_PER_SECOND;
/// Packets within it: a link with fewer is as good as idle, and a second of silence is usual there (the chance of none
/// where ten are expected is e⁻¹⁰).
const LEAST_BEFORE: usize = 10;
/// How far back all of that reaches.
pub(super) const REACH: i64 = LONGEST + BUSY_WITHIN;
/// Segments without an answer. One or two may be lost on their way; three sent apart are not.
const LEAST_UNANSWERED: usize = 3;

/// Last ESP packet before the direction `slot` fell silent before `now` though the other side sent TCP data meanwhile, which nobody
/// acknowledged; looked for from the `newest` packets of the tunnel backwards.
pub(super) fn before<'a>(
    newest: impl Iterator<Item = &'a PacketRecord>,
    slot: usize,
    now: Timestamp,
) -> Option<Timestamp> {
    let mut since: Option<Timestamp> = None;
    let (mut own, mut unanswered) = (0, 0);
    for p in newest.filter(|p| !p.is_icmpv6()) {
        let end = since.unwrap_or(now);
        let reach = if since.is_some() { BUSY_WITHIN } else { LONGEST };
        if end.nanos_since(p.time) > reach {
            break;
        }
        if p.slot() != slot {
            let due = p.is_tcp_data() && now.nanos_since(p.time) >= LATEST_ACKNOWLEDGEMENT;
            unanswered += usize::from(due && since.is_none());
            continue;
        }
        if since.is_none() {
            if now.nanos_since(p.time) < LEAST {
                return None;
            }
            since = Some(p.time);
        }
        own += 1;
    }
    since.filter(|_| own >= LEAST_BEFORE && unanswered >= LEAST_UNANSWERED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The initiator sends towards slot 1 every 10 ms until `own_ms`, the other side until `other_ms` (then every `later_ms`
    /// until 5 s); the message comes at 5 s.
    fn silence(own_ms: i64, other_ms: i64, later_ms: i64) -> Option<Timestamp> {
        let at = |ms: i64| Timestamp(ms * NANOS_PER_MILLI);
        let mut packets = Vec::new();
        for ms in (0..5_000).step_by(10) {
            if ms < own_ms {
                packets.push(PacketRecord::for_test(true, at(ms), 1, (0, 0, 5)));
            }
            if ms < other_ms || (later_ms > 0 && ms % later_ms == 0) {
                packets.push(PacketRecord::for_test(false, at(ms), 1, (0, 1_200, 0)));
            }
        }
        before(packets.iter().rev(), 1, at(5_000))
    }

    #[test]
    fn unanswered_data_before_the_message_shows_a_deaf_initiator() {
        assert_eq!(
            silence(1_300, 1_400, 800),
            Some(Timestamp(1_290 * NANOS_PER_MILLI))
        );
    }

    /// One or two unanswered segments are no silence: they may have been lost.
    #[test]
    fn both_may_stop_together() {
        assert_eq!(silence(1_300, 1_290, 0), None);
        assert_eq!(silence(1_300, 1_310, 0), None, "two unanswered segments");
    }

    #[test]
    fn a_solicitation_ends_no_silence() {
        let at = |ms: i64| Timestamp(ms * NANOS_PER_MILLI);
        let data = (0..130).flat_map(|k| {
            let own = PacketRecord::for_test(true, at(10 * k), 1, (0, 0, 5));
            [own, PacketRecord::for_test(false, at(10 * k), 1, (0, 1_200, 0))]
        });
        let lost = (140..145).map(|k| PacketRecord::for_test(false, at(10 * k), 1, (0, 1_200, 0)));
        let solicits = PacketRecord::for_test(true, at(3_000), 1, (0, 0, 0));
        let found = |last: PacketRecord| {
            let packets: Vec<PacketRecord> = data.clone().chain(lost.clone()).chain([last]).collect();
            before(packets.iter().rev(), 1, at(5_000))
        };
        assert_eq!(found(solicits.as_icmpv6()), Some(at(1_290)));
        assert_eq!(found(solicits), None, "an acknowledgement ends it");
    }

    #[test]
    fn an_initiator_that_goes_on_or_never_sent_is_not_silent() {
        assert_eq!(silence(4_990, 4_990, 0), None);
        assert_eq!(silence(4_050, 4_990, 0), None, "under a second");
        assert_eq!(silence(0, 4_990, 0), None, "one-way traffic");
        assert_eq!(silence(90, 4_990, 0), None, "nine packets");
        assert_eq!(silence(0, 0, 0), None, "idle");
    }
}
