//! All attempts of a capture.

use crate::ike::timeline::IkeSa;
use crate::rekey::attempt::seen::AttemptSeen;
use crate::rekey::attempt::tables::Tables;
use crate::rekey::attempt::{outcome, unasked};
use crate::rekey::evidence::Evidence;
use crate::rekey::pair::ChildSa;
use rekeyscope_model::analysis::AttemptOutcome;
use rekeyscope_model::time::Timestamp;

/// All attempts in order of time. `ends`: the last frame of the capture.
pub fn attempts(
    evidence: &Evidence<'_>,
    ike_sas: &[IkeSa],
    children: &[ChildSa],
    ends: Timestamp,
) -> Vec<AttemptSeen> {
    let tables = Tables::new(evidence, ike_sas, children, ends);
    let all = 0..evidence.exchanges.len();
    let mut found: Vec<AttemptSeen> = all.filter_map(|e| outcome::of_exchange(&tables, e)).collect();
    mark_superseded(&mut found);
    found.sort_by_key(|a| (a.first_time, a.exchange));
    found.extend(unasked::without_attempt(&tables, &found));
    found.sort_by_key(|a| (a.first_time, a.exchange));
    found
}

/// Both sides asked at once (RFC 7296 §2.8.1), and the other exchange made the SAs that are in use.
fn mark_superseded(found: &mut [AttemptSeen]) {
    found.sort_by_key(|a| (a.tunnel, a.first_time));
    for i in 0..found.len() {
        if found[i].outcome != AttemptOutcome::CompletedUnused {
            continue;
        }
        let own = &found[i];
        let rival = |other: &AttemptSeen| {
            other.tunnel == own.tunnel
                && other.outcome == AttemptOutcome::Completed
                && matches!((other.initiator, own.initiator), (Some(a), Some(b)) if a != b)
                && other.first_time <= own.last_time
                && own.first_time <= other.last_time
        };
        let near = found[i.saturating_sub(MOST_RIVALS)..]
            .iter()
            .take(2 * MOST_RIVALS);
        if near.into_iter().any(rival) {
            found[i].outcome = AttemptOutcome::Superseded;
        }
    }
}

/// Exchanges before and after one that are looked at for a collision: two overlap, a storm overlaps more.
const MOST_RIVALS: usize = 16;
