//! **Synthetic** captures, really encrypted, hold one planted cause each; the tests hold the causes, events and findings
//! that the analysis names against it. The table of both is `docs/evidence/causes.md`; `BLESS=1 cargo test --test tests every_cause` writes it anew.
//!
//! A scenario lists everything that truly holds in it: a responder that is not ready makes its peer's sender run into its
//! retransmission timeout, and so on. Whatever else is named is a defect, and so is whatever is missing.

mod answers;
mod attempts;
mod causes;
mod close_up;
mod costs_planted;
mod events;
mod exchange;
mod failure;
mod findings;
mod ikev2;
mod limits;
mod moves;
mod one_sided;
mod outages;
mod parts;
mod path;
mod planted;
mod sas;
pub(crate) mod steps;
mod transport;

use crate::support::analyze;
use planted::{Keys, SCENARIOS, Scenario};
use rekeyscope_model::analysis::{Analysis, Direction};
use rekeyscope_testkit::scenario::World;
use std::sync::OnceLock;

fn played(scenario: &Scenario) -> Analysis {
    let mut world = World::new();
    (scenario.play)(&mut world);
    let folder = tempfile::tempdir().unwrap();
    let mut keys = world.write(folder.path(), scenario.keys == Keys::All);
    keys.retain(|_| scenario.keys != Keys::None);
    (scenario.rewrite)(folder.path());
    analyze(&folder.path().join("trace.pcap"), &keys)
}

/// The analysis of a scenario, made once.
pub(crate) fn played_by_name(name: &str) -> &'static Analysis {
    static PLAYED: [OnceLock<Analysis>; SCENARIOS.len()] = [const { OnceLock::new() }; SCENARIOS.len()];
    let number = SCENARIOS.iter().position(|s| s.name == name).unwrap();
    PLAYED[number].get_or_init(|| played(&SCENARIOS[number]))
}

/// The outage lasts from the client's last packet (30 ms after the lost request at most) to its first one on the new SA.
#[test]
fn an_outage_before_the_first_captured_message_counts() {
    let analysis = played_by_name("IKEv2, hard limit, request lost before the capture");
    let ledger = analysis.ledger_of(0, Direction::BToA).unwrap();
    let down: f64 = ledger.down.iter().map(|down| down.cost_seconds).sum();
    let cost = ledger.cost_seconds + down;
    // 200 + 3,800 + 60 ms of waiting, less what is sent in one burst at the end: 100 segments of 2 ms.
    assert!((3.7..4.3).contains(&cost), "{ledger:?}");
}

/// A pause of the sender before the exchange is nobody's.
#[test]
fn a_pause_before_the_exchange_costs_nothing() {
    let analysis = played_by_name("IKEv2, in a pause");
    let ledger = analysis.ledger_of(0, Direction::BToA).unwrap();
    assert_eq!(ledger.cost_seconds, 0.0, "{ledger:?}");
}
