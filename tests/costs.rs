//! Cost of each rekey, and its reason: a **synthetic** capture for each reason, and the real captures against the logs of the daemons and
//! kernels that `truth.json` was made of.

mod beyond;
mod children;
mod logs;
mod lost;
mod of_the_sender;
mod unsent;

use crate::scenarios::steps::{AFTER, BEFORE};
use crate::support::{analyses, analyze_world};
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

/// The ledger's entry of the only rekey's download.
fn owned(analysis: &Analysis) -> Option<&LedgerRekey> {
    assert_eq!(analysis.rekeys.len(), 1);
    let ledger = analysis.ledger_of(0, Direction::BToA).unwrap();
    assert_eq!(download(&analysis.rekeys[0]).hurt, !ledger.rekeys.is_empty());
    ledger.rekeys.first()
}

fn assert_owned(analysis: &Analysis, why: LedgerWhy, planted_ms: f64, swallowed: u32) {
    let own = owned(analysis).unwrap_or_else(|| panic!("the rekey owns nothing, though {why}"));
    assert_eq!((own.why, own.swallowed), (why, swallowed));
    // The clock of the scenarios steps by a tick of 2 ms, and the silence begins with the packet before the first that was lost.
    assert!((own.silence_ms - planted_ms).abs() <= 6.0, "{own:?}");
    let frames = |interval: &LedgerInterval| interval.from_frame < interval.to_frame;
    assert!(own.intervals.iter().all(frames), "{own:?}");
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

/// A rekey that is said to have stopped a transfer lost something that is said, or held it up for a silence that counts. Line 1, the head
/// of the table and the document count the same ones.
#[test]
fn no_rekey_is_counted_that_lost_nothing() {
    for (lab, analysis) in analyses() {
        for ledger in &analysis.ledger {
            let stopped = ledger.rekeys.iter().filter(|own| own.why != LedgerWhy::Slow);
            for own in stopped {
                let counts = own.cost_seconds >= 0.01 || own.silence_ms >= 50.0 || own.at_least;
                assert!(counts, "{:?}: {own:?}", lab.capture);
            }
        }
    }
}
