//! Rule A: the unbroken run of segments next to the switch, every byte of which is sent again later. At the end of the old SA
//! it was dead; at the start of the new one its receiver was not ready.

use super::segments::Segment;
use crate::diagnosis::proven::ProofRule;
use crate::diagnosis::proven::{LEAST_OUTAGE, LEAST_SEGMENTS, ProvenByPackets};
use crate::diagnosis::symptom::MOST_FRAMES;
use foldhash::HashSet;
use rekeyscope_ipsec::sa::database::SaIndex;

/// The outage lasts from the first segment of the run to the first on the new SA that is never sent again: where that goes
/// on another SA, the outage is the other rekey's.
pub(super) fn lost(segments: &[Segment<'_>], new: SaIndex) -> Option<ProvenByPackets> {
    let begins = segments.iter().position(|s| s.sa() == new)?;
    let (before, after) = segments.split_at(begins);
    let olds: HashSet<SaIndex> = before
        .chunk_by(|a, b| a.sa() == b.sa())
        .map(|s| s[0].sa())
        .collect();
    // What was overtaken at the switch still belongs to the old SA.
    let mut after = after.iter().filter(|s| !olds.contains(&s.sa())).peekable();
    let on_new: Vec<&Segment<'_>> = std::iter::from_fn(|| after.next_if(|s| s.is_sent_again)).collect();
    let arrives = after.next().filter(|s| s.sa() == new)?;
    let on_old = before.iter().rev().take_while(|s| s.is_sent_again).count();
    let (rule, run): (_, Vec<&Segment<'_>>) = if on_old >= LEAST_SEGMENTS {
        (ProofRule::LostOnOld, before[begins - on_old..].iter().collect())
    } else if on_new.len() >= LEAST_SEGMENTS {
        (ProofRule::LostOnNew, on_new)
    } else {
        return None;
    };
    let shown = run.iter().take(MOST_FRAMES - 1).map(|s| s.packet.frame);
    let proof = ProvenByPackets {
        rule,
        from: run.first()?.packet.time,
        to: arrives.packet.time,
        segments: run.len(),
        frames: shown.chain([arrives.packet.frame]).collect(),
    };
    (proof.nanos() >= LEAST_OUTAGE).then_some(proof)
}
