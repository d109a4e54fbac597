//! Which direction a rekey held up, on **synthetic** captures: an upload, and both directions at once, with IKEv2.

use crate::support::analyze_world;
use rekeyscope_model::analysis::{Analysis, Direction, Impact, Verdict};
use rekeyscope_testkit::scenario::World;

/// Rekeys, one every [`BETWEEN`] ms; the method asks for three at least, and for undisturbed time between them.
const REKEYS: usize = 6;
const BETWEEN: u64 = 6_000;
/// What is planted, ms. A bin is 10 ms; the estimate's own error in even traffic is a few of them.
const STALL: u64 = 300;
const TOLERANCE: f64 = 45.0;

/// Renewals by CREATE_CHILD_SA; `hold` says what happens in the [`STALL`] ms behind each switch.
fn played(download: bool, upload: bool, hold: fn(&mut World)) -> Analysis {
    let mut w = World::new();
    (w.download, w.upload) = (download, upload);
    w.steady(BETWEEN);
    for _ in 0..REKEYS {
        let mut rekey = w.begin_v2(true);
        let old = [w.down.spi, w.up.spi];
        w.message_v2(&mut rekey);
        w.steady(20);
        w.message_v2(&mut rekey);
        w.steady(20);
        w.switch_up_v2(&rekey);
        w.switch_down_v2(&rekey);
        w.steady(4);
        hold(&mut w);
        w.delete_v2(true, old[0], old[1]);
        w.steady(BETWEEN);
    }
    analyze_world(w, true)
}

/// Only the download goes on.
fn hold_upload(w: &mut World) {
    let upload = std::mem::replace(&mut w.upload, false);
    w.steady(STALL);
    w.upload = upload;
}

/// Only the upload goes on.
fn hold_download(w: &mut World) {
    let download = std::mem::replace(&mut w.download, false);
    w.steady(STALL);
    w.download = download;
}

fn nothing(w: &mut World) {
    w.steady(STALL);
}

/// Upload: client (a, 10.9.0.2, or b: the document says which) to the server at 10.9.0.1.
fn impact(analysis: &Analysis, upload: bool) -> &Impact {
    let tunnel = &analysis.tunnels[0];
    let server_is_b = tunnel.b.to_string() == "10.9.0.1";
    let direction = if upload == server_is_b {
        Direction::AToB
    } else {
        Direction::BToA
    };
    analysis.impact.iter().find(|i| i.direction == direction).unwrap()
}

fn assert_shown(analysis: &Analysis, impact: &Impact) {
    assert_eq!(impact.verdict, Verdict::Shown, "{impact:?}");
    let costs = analysis.ledger_of(impact.tunnel, impact.direction).unwrap();
    let mean = 1_000.0 * costs.cost_seconds / impact.rekeys_hurt.len() as f64;
    assert!((mean - STALL as f64).abs() < TOLERANCE, "{costs:?}");
}

fn assert_free(impact: &Impact) {
    assert_eq!(impact.verdict, Verdict::Bounded, "{impact:?}");
    assert!(impact.rekeys_hurt.is_empty(), "{impact:?}");
}

#[test]
fn an_upload_that_stalls_is_the_headline() {
    let analysis = played(false, true, hold_upload);
    assert_eq!(analysis.rekeys.len(), REKEYS);
    assert_eq!(analysis.impact[0].direction, impact(&analysis, true).direction);
    assert_shown(&analysis, impact(&analysis, true));
}

#[test]
fn an_upload_without_stalls_is_bounded() {
    let analysis = played(false, true, nothing);
    assert_eq!(analysis.rekeys.len(), REKEYS);
    assert_free(impact(&analysis, true));
}

#[test]
fn of_both_directions_the_one_that_stalls_is_named() {
    let analysis = played(true, true, hold_upload);
    assert_shown(&analysis, impact(&analysis, true));
    assert_free(impact(&analysis, false));
    let analysis = played(true, true, hold_download);
    assert_shown(&analysis, impact(&analysis, false));
    assert_free(impact(&analysis, true));
}

#[test]
fn both_directions_without_stalls_are_bounded() {
    let analysis = played(true, true, nothing);
    assert_free(impact(&analysis, false));
    assert_free(impact(&analysis, true));
}

/// Pairs that are negotiated and never used are no renewals; one that is used is.
#[test]
fn pairs_that_nobody_uses_renew_nothing() {
    let mut w = World::new();
    w.steady(BETWEEN);
    for _ in 0..4 {
        w.agree_v2(true, 20);
        w.steady(1_000);
    }
    w.renew_v2(true);
    w.steady(BETWEEN);
    let rekeys = analyze_world(w, true).rekeys;
    assert_eq!(rekeys.iter().filter(|r| r.switched.b_to_a.is_some()).count(), 1);
}
