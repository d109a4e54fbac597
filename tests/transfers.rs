//! Work and rest in one capture: each transfer is measured as if the capture held nothing else.

mod joined;

use crate::scenarios::steps::{GENEROUS, exchange, resend_lost, switch};
use crate::support::analyze_world;
use rekeyscope_model::analysis::{Analysis, Direction, Impact, Rekey, RekeyImpact, Verdict};
use rekeyscope_testkit::scenario::{SEGMENT, World};

/// Rekeys of a **synthetic** download, one every 4 s.
const REKEYS: usize = 5;
/// At each of them so many segments are lost with the old SA, and nothing is sent for so long.
const LOST: u32 = 10;
const STALL_MS: u64 = 500;
/// How far rates and shares of a transfer may lie from those of the same transfer alone.
const WITHIN: f64 = 0.02;

/// A download of 22 s that stands still at every rekey.
fn download(w: &mut World) {
    for _ in 0..REKEYS {
        w.steady(4_000);
        let mut qm = w.begin(true);
        exchange(w, &mut qm);
        w.go_deaf(LOST);
        w.wait(STALL_MS);
        w.switch_up(&qm);
        w.switch_down(&qm);
        resend_lost(w, LOST);
    }
    w.steady(2_000);
    w.acknowledge_all();
}

/// The direction that carries the data.
fn headline(analysis: &Analysis) -> &Impact {
    let headline = &analysis.impact[0];
    assert_eq!(headline.direction, Direction::BToA);
    headline
}

/// What a rekey cost in that direction.
fn cost(rekey: &Rekey) -> &RekeyImpact {
    let own = rekey.impact.iter().find(|i| i.direction == Direction::BToA);
    own.unwrap()
}

fn assert_close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= WITHIN * b.abs(), "{what}: {a}, alone {b}");
}

#[test]
fn rest_between_two_downloads_dilutes_nothing() {
    let mut w = World::new();
    w.establish(GENEROUS);
    download(&mut w);
    let alone = analyze_world(w, true);
    let mut w = World::new();
    w.establish(GENEROUS);
    download(&mut w);
    w.wait(120_000);
    download(&mut w);
    let both = analyze_world(w, true);
    let (one, two) = (headline(&alone), headline(&both));
    assert_eq!((one.transfers.len(), one.verdict), (1, Verdict::Shown));
    assert_eq!((two.transfers.len(), two.verdict), (2, Verdict::Shown));
    assert_eq!(one.rekeys_hurt.len(), REKEYS);
    assert_eq!(two.rekeys_hurt, (0..2 * REKEYS).collect::<Vec<_>>());
    assert!(
        both.rekeys
            .iter()
            .all(|r| cost(r).silence_ms.unwrap() < 2.0 * STALL_MS as f64)
    );
    let ledger = |of: &Analysis| of.ledger_of(0, Direction::BToA).unwrap().clone();
    let (of_one, of_two) = (ledger(&alone), ledger(&both));
    assert_close(of_two.cost_seconds, 2.0 * of_one.cost_seconds, "the cost");
    assert_close(two.observed_bps.unwrap(), one.observed_bps.unwrap(), "the rate");
    assert_close(of_two.share, of_one.share, "the share");
    for (number, transfer) in two.transfers.iter().enumerate() {
        assert_close(
            transfer.cost_seconds.unwrap(),
            of_one.cost_seconds,
            "the cost of one",
        );
        assert_eq!(
            transfer.rekeys,
            (number * REKEYS..(number + 1) * REKEYS).collect::<Vec<_>>()
        );
        assert_close(transfer.bytes, one.transfers[0].bytes, "bytes");
    }
    assert!(
        two.sentence.contains("2 transfers") && two.sentence.contains("of rest between them"),
        "{}",
        two.sentence
    );
    let whole = two.transfer.as_ref().unwrap();
    assert_close(
        whole.duration_s,
        2.0 * one.transfer.as_ref().unwrap().duration_s,
        "seconds",
    );
}

#[test]
fn each_transfer_has_its_own_cost() {
    let mut w = World::new();
    w.establish(GENEROUS);
    download(&mut w);
    w.wait(60_000);
    for _ in 0..REKEYS {
        w.steady(4_000);
        let mut qm = w.begin(true);
        exchange(&mut w, &mut qm);
        switch(&mut w, &qm);
    }
    w.steady(2_000);
    let analysis = analyze_world(w, true);
    let headline = headline(&analysis);
    let costs: Vec<f64> = headline
        .transfers
        .iter()
        .map(|t| t.cost_seconds.unwrap())
        .collect();
    assert!(costs[0] > 2.0 && costs[1] == 0.0, "{costs:?}");
    assert_eq!(headline.rekeys_hurt, (0..REKEYS).collect::<Vec<_>>());
}

#[test]
fn a_gap_ends_with_its_transfer() {
    let mut w = World::new();
    w.establish(GENEROUS);
    w.steady(12_000);
    let mut qm = w.begin(true);
    exchange(&mut w, &mut qm);
    switch(&mut w, &qm);
    w.steady(400);
    w.acknowledge_all();
    w.wait(6_900);
    w.steady(8_000);
    let analysis = analyze_world(w, true);
    let rekey = cost(&analysis.rekeys[0]);
    assert!(rekey.used && !rekey.hurt, "{rekey:?}");
    assert_eq!(headline(&analysis).transfers.len(), 2);
}

#[test]
fn a_first_rekey_with_an_outage_is_not_idle() {
    let mut w = World::new();
    w.establish(GENEROUS);
    w.steady(2_900);
    let mut qm = w.begin(true);
    exchange(&mut w, &mut qm);
    w.switch_up(&qm);
    w.switch_down(&qm);
    let lost = w.seq;
    (0..4).for_each(|_| w.lost_segment());
    w.wait(950);
    (0..4).for_each(|k| w.resend(lost + k * SEGMENT as u32));
    w.deliver();
    w.steady(20_000);
    let analysis = analyze_world(w, true);
    let rekey = cost(&analysis.rekeys[0]);
    assert!(rekey.used && rekey.hurt, "{rekey:?}");
}

#[test]
fn a_sender_without_an_sa_does_not_rest() {
    // Everything is acknowledged, the SA is deleted and nothing comes for 5 s, but for 4.9 of them the new one is being negotiated.
    let mut w = World::new();
    w.establish(GENEROUS);
    w.steady(12_000);
    w.acknowledge_all();
    w.delete(w.down.spi);
    w.wait(100);
    let mut qm = w.begin(true);
    w.message(&mut qm);
    w.wait(2_400);
    w.message(&mut qm);
    w.wait(2_400);
    w.message(&mut qm);
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.steady(12_000);
    let analysis = analyze_world(w, true);
    let ledger = analysis.ledger_of(0, Direction::BToA).unwrap();
    let [down] = &ledger.down[..] else {
        panic!("{ledger:?}")
    };
    assert!(down.outage == Some(0) && down.cost_seconds > 4.8, "{ledger:?}");
    assert_eq!(headline(&analysis).transfers.len(), 1);
}
