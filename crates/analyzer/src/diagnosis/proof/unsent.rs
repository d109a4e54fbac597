//! Rule B: nothing was sent between the last data on the old SA and the first on the new one, because the sender's own stack
//! dropped it (where the old SA had been deleted before the new one was asked for, or for another reason), or because the SA had
//! reached its limit.

use super::segments::Segment;
use crate::diagnosis::proven::ProofRule;
use crate::diagnosis::proven::{LEAST_OUTAGE, LEAST_SEGMENTS, ProvenByPackets};
use crate::diagnosis::scene::RekeyScene;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::volume::volume_sent;
use rekeyscope_model::time::Timestamp;

/// An SA that begins with this number or below lacks none: some senders leave out 1.
const FIRST_NUMBERS: u32 = 2;

pub(super) fn unsent(scene: &RekeyScene<'_>, d: usize, segments: &[Segment<'_>]) -> Option<ProvenByPackets> {
    let (old, new) = (scene.lanes[d].old?, scene.lanes[d].new?);
    let begins = segments.iter().position(|s| s.sa() == new)?;
    let (before, after) = segments.split_at(begins);
    let (last, first) = (before.last()?, after.first()?);
    let fresh = after.iter().find(|s| s.is_new).filter(|s| s.sa() == new)?;
    let skipped = (fresh.skips / i64::from(fresh.largest.max(1))) as usize;
    // Where no SA was there, one segment tells that there was something to send; else it may have been lost inside.
    let least = if scene.is_broken_first() {
        1
    } else {
        LEAST_SEGMENTS
    };
    let dropped = skipped >= least
        && fresh.skipped_come_later
        && numbers_are_complete(scene, d, (old, new), fresh.packet.time);
    let at_limit = || volume_sent(scene.sa(old)).is_some_and(|v| v.reaches_limit());
    if last.sa() != old || !scene.holes.is_empty() || !(dropped || at_limit()) {
        return None;
    }
    let proof = ProvenByPackets {
        rule: ProofRule::NotSent,
        from: last.packet.time,
        to: first.packet.time,
        segments: if dropped { skipped } else { 0 },
        frames: vec![last.packet.frame, first.packet.frame],
    };
    (proof.nanos() >= LEAST_OUTAGE).then_some(proof)
}

/// From the beginning of the rekey on no ESP number of the old and of the new SA is missing: who does not send uses up none.
fn numbers_are_complete(
    scene: &RekeyScene<'_>,
    d: usize,
    (old, new): (SaIndex, SaIndex),
    until: Timestamp,
) -> bool {
    let own = scene.all_packets().filter(|p| p.slot() == d && p.time <= until);
    let (mut on_old, mut on_new) = (None, FIRST_NUMBERS - 1);
    for p in own {
        if p.sa() == new {
            if p.sequence > on_new + 1 {
                return false;
            }
            on_new = on_new.max(p.sequence);
        } else if p.sa() == old && p.time >= scene.started {
            let highest: &mut u32 = on_old.get_or_insert(p.sequence);
            if p.sequence > highest.saturating_add(1) {
                return false;
            }
            *highest = (*highest).max(p.sequence);
        }
    }
    true
}
