//! All attempts of a capture.

use crate::ike::timeline::Exchange;
use crate::rekey::attempt::seen::AttemptSeen;
use crate::rekey::attempt::tables::AttemptTables;
use crate::rekey::attempt::{ike_sa, outcome};
use crate::rekey::evidence::Evidence;
use crate::rekey::pair::ChildSa;
use rekeyscope_model::analysis::AttemptOutcome;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// All attempts in order of time: those of child SAs, and those to make or renew IKE SAs. `ends`: the last frame of the capture.
pub fn attempts(evidence: &Evidence<'_>, children: &[ChildSa], ends: Timestamp) -> [Vec<AttemptSeen>; 2] {
    let tables = AttemptTables::new(evidence, children, ends);
    let all = || 0..evidence.exchanges.len();
    let mut found: Vec<AttemptSeen> = all().filter_map(|e| outcome::of_exchange(&tables, e)).collect();
    leave_out_first_tries(evidence.exchanges, &mut found);
    mark_superseded(&mut found);
    let mut of_ike: Vec<AttemptSeen> = all().filter_map(|e| ike_sa::of_exchange(&tables, e)).collect();
    leave_out_first_tries(evidence.exchanges, &mut of_ike);
    for found in [&mut found, &mut of_ike] {
        found.sort_by_key(|a| (a.first_time, a.exchange));
    }
    [found, of_ike]
}

/// A request that is refused for its Diffie–Hellman group alone is sent again at once with another one (RFC 7296 §1.3); the two are
/// one attempt. If the notification is unread, the other length of the second request shows the other group.
fn leave_out_first_tries(exchanges: &[Exchange], found: &mut Vec<AttemptSeen>) {
    found.sort_by_key(|a| (a.tunnel, a.first_time));
    let is_first_try = |(k, first): (usize, &AttemptSeen)| {
        let mut later = found[k + 1..].iter().take(MOST_RIVALS);
        let second = later.find(|a| a.tunnel == first.tunnel && a.initiator == first.initiator);
        first.refused.zip(second).is_some_and(|(refused, second)| {
            let len = |a: &AttemptSeen| Some(exchanges[a.exchange].records.first()?.len);
            let of_group = match first.reason {
                Some(reason) => reason == "INVALID_KE_PAYLOAD",
                None => len(first) != len(second),
            };
            let accepted = second.answered.is_some() && second.refused.is_none();
            of_group && accepted && second.first_time.nanos_since(refused.time) <= SECOND_TRY
        })
    };
    let mut keep: Vec<bool> = found
        .iter()
        .enumerate()
        .map(|(k, a)| !is_first_try((k, a)))
        .collect();
    keep.reverse();
    found.retain(|_| keep.pop().unwrap_or(true));
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

/// Computation of the other group's public value, the only wait before the second try: a second on the slowest machine with the
/// slowest group.
const SECOND_TRY: i64 = NANOS_PER_SECOND;
/// Exchanges before and after one that are looked at for a collision: two overlap, a storm overlaps more.
const MOST_RIVALS: usize = 16;
