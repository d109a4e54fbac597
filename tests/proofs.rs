//! What the packets prove of each rekey: a **synthetic** capture for each rule, and the real captures against the logs of the
//! daemons and kernels that `truth.json` was made of.

mod acquitted;
mod beyond;
mod logs;
mod lost;
mod unsent;

use crate::scenarios::steps::{AFTER, BEFORE};
use crate::support::analyze_world;
use rekeyscope_model::analysis::*;
use rekeyscope_testkit::scenario::World;

fn played(play: fn(&mut World)) -> Analysis {
    let mut world = World::new();
    play(&mut world);
    analyze_world(world, true)
}

fn download(rekey: &Rekey) -> &RekeyImpact {
    let mut impact = rekey.impact.iter();
    impact.find(|i| i.direction == Direction::BToA).unwrap()
}

/// The proof of the only rekey's download.
fn proof(analysis: &Analysis) -> Option<&Proof> {
    assert_eq!(analysis.rekeys.len(), 1);
    download(&analysis.rekeys[0]).proof.as_ref()
}

fn assert_proof(analysis: &Analysis, rule: ProofRule, planted_ms: f64, segments: u64) {
    let proof = proof(analysis).unwrap_or_else(|| panic!("nothing is proven of {rule}"));
    assert_eq!((proof.rule, proof.segments), (rule, segments));
    // The clock of the scenarios steps by a tick of 2 ms.
    assert!((proof.outage_ms - planted_ms).abs() <= 4.0, "{proof:?}");
    let frames = &proof.frames;
    assert!(
        (2..=20).contains(&frames.len()) && frames.is_sorted(),
        "{proof:?}"
    );
    let hurt = download(&analysis.rekeys[0]).hurt;
    assert_eq!(hurt, rule.is_outage());
}

/// The server sends all that the SA may carry, and nothing more until the new one stands: all was acknowledged, and the next
/// byte in sequence ends the silence.
fn silent_at(w: &mut World, kilobytes: u32) {
    w.establish(kilobytes);
    w.steady(BEFORE);
    let mut qm = w.begin(true);
    w.message(&mut qm);
    while w.carried()[0].inner + 1_300 < 7_900_000 {
        w.steady(2);
    }
    w.acknowledge_all();
    w.wait(200);
    w.message(&mut qm);
    w.wait(200);
    w.message(&mut qm);
    w.wait(100);
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.steady(AFTER);
}
