//! Rule D: payload that nobody acknowledges goes on beyond the limit of the old SA. Its receiver drops it; that is no progress.

use crate::diagnosis::proven::ProofRule;
use crate::diagnosis::proven::{LEAST_OUTAGE, ProvenByPackets};
use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::scene::RekeyScene;
use crate::diagnosis::symptom::MOST_FRAMES;
use rekeyscope_ipsec::sa::volume::expired;

/// From the moment at which the old SA reached its volume to the first packet on the new one.
pub(super) fn beyond_limit(scene: &RekeyScene<'_>, d: usize) -> Option<ProvenByPackets> {
    let old = scene.lanes[d].old?;
    let to = scene.lanes[d].switched?;
    let association = scene.sa(old);
    let (from, _) = association.limit_passed?;
    // A limit that nobody enforces harms nobody.
    let enforced = expired(association).is_some()
        || scene
            .delete_of(association)
            .is_some_and(|delete| delete.time >= from);
    if !enforced {
        return None;
    }
    let own = scene.all_packets().filter(|p| p.sa() == old);
    let (mut acknowledged, mut all) = (0_u64, 0_u64);
    let mut shown: Vec<&PacketRecord> = Vec::new();
    for p in own.filter(|p| p.payload > 0 && p.is_opened()) {
        all += u64::from(p.payload);
        if p.is_tcp() {
            acknowledged += u64::from(p.payload);
        } else if p.time > from && p.time < to {
            shown.push(p);
        }
    }
    if shown.is_empty() || 2 * acknowledged >= all {
        return None;
    }
    let proof = ProvenByPackets {
        rule: ProofRule::NoFeedback,
        from,
        to,
        segments: shown.len(),
        frames: shown.iter().take(MOST_FRAMES).map(|p| p.frame).collect(),
    };
    (proof.nanos() >= LEAST_OUTAGE).then_some(proof)
}
