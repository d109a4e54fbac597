//! One planted cause after the other, in **synthetic** captures that are really encrypted, and the set of causes that the
//! analysis names. The table of both is `docs/causes.md`; `BLESS=1 cargo test --test scenarios` writes it anew.
//!
//! A scenario lists everything that truly holds in it: a responder that is not ready makes its peer's sender run into its
//! retransmission timeout, and so on. Whatever else is named is a defect, and so is whatever is missing.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking and says what it skips

#[path = "support/scenario/mod.rs"]
mod scenario;
#[path = "support/mod.rs"]
mod support;

use rekeyscope::analysis::Analysis;
use scenario::{MILLI, QuickMode, SEGMENT, World};
use std::fmt::Write;
use support::{analyze, repository};

/// Kilobytes that no scenario reaches.
const GENEROUS: u32 = 250_000;
/// Data before and after the rekey: enough for the gap test to know what is usual.
const BEFORE: u64 = 12_000;
const AFTER: u64 = 12_000;

/// What was planted, what truly holds, and how it is done.
struct Scenario {
    name: &'static str,
    holds: &'static [&'static str],
    with_ike_key: bool,
    play: fn(&mut World),
}

const fn scenario(name: &'static str, holds: &'static [&'static str], play: fn(&mut World)) -> Scenario {
    Scenario {
        name,
        holds,
        with_ike_key: true,
        play,
    }
}

const SCENARIOS: &[Scenario] = &[
    scenario("nothing", &[], nothing),
    scenario(
        "third message lost",
        &[
            "responder_not_ready",
            "asymmetric_switch",
            "exchange_retransmitted",
            "rto_stall",
        ],
        third_message_lost,
    ),
    scenario(
        "data overtakes the third message",
        &["responder_not_ready", "rto_stall"],
        data_overtakes,
    ),
    scenario(
        "old SA deleted early",
        &["old_sa_deleted_early", "rto_stall"],
        old_sa_deleted_early,
    ),
    scenario(
        "directions far apart",
        &["asymmetric_switch", "rto_stall"],
        asymmetric_switch,
    ),
    scenario("hard limit", &["hard_limit_reached", "rto_stall"], hard_limit),
    Scenario {
        with_ike_key: false,
        ..scenario(
            "hard limit, unreadable",
            &["hard_limit_reached", "rto_stall"],
            hard_limit,
        )
    },
    scenario(
        "first message repeated",
        &["exchange_retransmitted"],
        first_message_repeated,
    ),
    scenario("collision", &["collision"], collision),
    scenario("deep reordering", &["replay_drops", "rto_stall"], deep_reordering),
    scenario("slow Diffie–Hellman", &["slow_key_exchange"], slow_key_exchange),
    scenario("slow path", &["slow_path"], slow_path),
    scenario("burst lost", &["rto_stall"], burst_lost),
    scenario(
        "burst lost, no IKE captured",
        &["rto_stall"],
        burst_lost_without_ike,
    ),
    scenario("one segment lost", &["window_cut"], one_segment_lost),
    scenario("receiver stops", &["receiver_limited"], receiver_stops),
    scenario("application pauses", &["application_limited"], application_pauses),
    scenario("fragments begin", &["fragmentation_change"], fragments_begin),
    scenario("NAT port changes", &["nat_mapping_change"], nat_port_changes),
    scenario("NAT port stays", &[], nat_port_stays),
    scenario("phase 1 renewed", &["phase1_renewal"], phase_1_renewed),
    scenario("Hello without answer", &["ppp_trouble"], hello_without_answer),
    scenario("Hello with answer", &[], hello_with_answer),
    scenario(
        "capture drops frames",
        &["capture_artefact"],
        capture_drops_frames,
    ),
    scenario("cleartext leak", &["desync"], cleartext_leak),
];

/// Three messages as they come when nothing is wrong; data goes on.
fn exchange(w: &mut World, qm: &mut QuickMode) {
    w.message(qm);
    w.steady(30);
    w.message(qm);
    w.steady(20);
    w.message(qm);
}

fn begin(w: &mut World) -> QuickMode {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.begin(true)
}

fn switch(w: &mut World, qm: &QuickMode) {
    w.steady(20);
    w.switch_up(qm);
    w.steady(4);
    w.switch_down(qm);
}

fn nothing(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}

/// The client sends on an SA that the server lacks: its acknowledgements are not heard. The server repeats its oldest
/// segment until its second message, repeated too, brings the third one again.
fn third_message_lost(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.switch_up(&qm);
    let unheard = w.seq;
    w.steady(60);
    for wait in [300, 600, 1_200] {
        w.wait(wait);
        w.resend(unheard);
    }
    w.repeat(&qm, 1);
    w.wait(20);
    w.repeat(&qm, 2);
    w.switch_down(&qm);
    w.resend(unheard);
    w.steady(AFTER);
}

/// The server initiates and sends on the new SA at once; the client installs it only later.
fn data_overtakes(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    let mut qm = w.begin(false);
    exchange(w, &mut qm);
    w.switch_down(&qm);
    lose_until_timeout(w, 8, 300);
    w.switch_up(&qm);
    resend_lost(w, 8);
    w.steady(AFTER);
}

/// The client deletes the old SA while the server still sends on it.
fn old_sa_deleted_early(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.steady(20);
    w.switch_up(&qm);
    let old = w.down.spi;
    w.delete(old);
    lose_until_timeout(w, 10, 300);
    w.switch_down(&qm);
    resend_lost(w, 10);
    w.steady(AFTER);
}

/// Some segments do not arrive, and the sender waits for its timeout.
fn lose_until_timeout(w: &mut World, segments: u32, wait: u64) {
    w.acknowledge_all();
    for _ in 0..segments {
        w.lost_segment();
        w.step(w.tick);
    }
    w.wait(wait);
}

fn resend_lost(w: &mut World, segments: u32) {
    let first = w.expected;
    for k in 0..segments {
        w.resend(first + k * SEGMENT as u32);
        w.step(w.tick);
    }
    w.deliver();
}

/// The server stays on the old SA for 1.5 s; a burst that is lost meanwhile makes the rekey hurt.
fn asymmetric_switch(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.steady(20);
    w.switch_up(&qm);
    w.steady(1_000);
    lose_until_timeout(w, 10, 400);
    resend_lost(w, 10);
    w.steady(100);
    w.switch_down(&qm);
    w.steady(AFTER);
}

/// The client's inbound SA expires at its limit while Quick Mode is under way; so does the other one, so that the client
/// is silent until the new pair stands.
fn hard_limit(w: &mut World) {
    w.establish(7_500);
    w.steady(BEFORE);
    let mut qm = w.begin(true);
    w.message(&mut qm);
    w.steady(30);
    w.drop_acks();
    w.ack(w.expected, 0xffff);
    let old = w.down.spi;
    for _ in 0..100 {
        w.lost_segment();
        w.step(w.tick);
    }
    w.message(&mut qm);
    w.wait(100);
    w.message(&mut qm);
    w.delete(old);
    w.wait(300);
    w.switch_down(&qm);
    w.switch_up(&qm);
    resend_lost(w, 100);
    w.steady(AFTER);
}

fn first_message_repeated(w: &mut World) {
    let mut qm = begin(w);
    w.message(&mut qm);
    w.steady(1_000);
    w.repeat(&qm, 0);
    w.steady(30);
    w.message(&mut qm);
    w.steady(20);
    w.message(&mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}

/// Both sides begin at once; both exchanges succeed, and the pairs are used one after the other.
fn collision(w: &mut World) {
    let mut ours = begin(w);
    let mut theirs = w.begin(false);
    w.message(&mut ours);
    w.steady(4);
    w.message(&mut theirs);
    w.steady(26);
    w.message(&mut ours);
    w.message(&mut theirs);
    w.steady(20);
    w.message(&mut ours);
    w.message(&mut theirs);
    switch(w, &ours);
    w.steady(100);
    switch(w, &theirs);
    w.steady(AFTER);
}

/// Five packets come 60 packets late, outside a replay window of 32: they are refused and sent again after a timeout.
fn deep_reordering(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(50);
    let (sequence, seq) = (w.down.sequence, w.seq);
    w.down.sequence += 5;
    w.seq += 5 * SEGMENT as u32;
    w.drop_acks();
    w.ack(w.expected, 0xffff);
    for _ in 0..60 {
        w.lost_segment();
        w.step(w.tick);
    }
    let behind = w.down.sequence;
    w.down.sequence = sequence;
    for k in 0..5 {
        w.resend(seq + k * SEGMENT as u32);
    }
    w.down.sequence = behind;
    w.wait(400);
    for k in 0..5 {
        w.resend(seq + k * SEGMENT as u32);
        w.step(w.tick);
    }
    w.deliver();
    w.steady(AFTER);
}

/// The client computes for 0.8 s and does nothing else: acknowledgements wait, nothing is lost.
fn slow_key_exchange(w: &mut World) {
    let mut qm = begin(w);
    qm.key_exchange = true;
    w.message(&mut qm);
    w.steady(30);
    w.message(&mut qm);
    let held = w.drop_acks();
    w.steady(60);
    let late = w.drop_acks();
    w.wait(740);
    for (_, ack) in held.into_iter().chain(late) {
        w.ack(ack, 0xffff);
    }
    w.message(&mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}

fn slow_path(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.tick *= 4;
    w.steady(4_000);
    w.tick /= 4;
    w.steady(AFTER);
}

fn burst_lost(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(20);
    lose_until_timeout(w, 10, 400);
    resend_lost(w, 10);
    w.steady(AFTER);
}

/// Nobody captured the exchange: the SPIs show the rekey.
fn burst_lost_without_ike(w: &mut World) {
    w.steady(BEFORE);
    let qm = w.begin(true);
    switch(w, &qm);
    w.steady(20);
    lose_until_timeout(w, 10, 400);
    resend_lost(w, 10);
    w.steady(AFTER);
}

/// One segment is lost; duplicate acknowledgements ask for it, and the sender goes on at a sixth of its rate.
fn one_segment_lost(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(20);
    let lost = w.expected;
    w.step(40 * MILLI);
    for _ in 0..6 {
        w.lost_segment();
        w.step(w.tick);
    }
    w.ack(lost, 0xffff);
    for _ in 0..5 {
        w.step(w.tick);
        w.ack(lost, 0xffff);
    }
    w.resend(lost);
    w.deliver();
    w.tick *= 6;
    w.steady(3_000);
    w.tick /= 6;
    w.steady(AFTER);
}

fn receiver_stops(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(20);
    w.wait(30);
    w.ack(w.expected, 0);
    w.wait(500);
    w.ack(w.expected, 0xffff);
    w.steady(AFTER);
}

fn application_pauses(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(20);
    w.acknowledge_all();
    w.wait(500);
    w.steady(AFTER);
}

fn fragments_begin(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.steady(20);
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.mtu = Some(1_300);
    w.steady(AFTER);
}

fn nat_port_changes(w: &mut World) {
    w.nat_port = Some(31_000);
    let mut qm = begin(w);
    w.nat_port = Some(31_007);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}

fn nat_port_stays(w: &mut World) {
    w.nat_port = Some(31_000);
    nothing(w);
}

fn phase_1_renewed(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.main_mode();
    let mut qm = w.begin(true);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}

fn hello_without_answer(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.l2tp_control(false, Some(6));
    w.steady(AFTER);
}

fn hello_with_answer(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.l2tp_control(false, Some(6));
    w.steady(30);
    w.l2tp_control(true, None);
    w.steady(AFTER);
}

/// The transfer goes on; the capture misses two times 0.3 s of it.
fn capture_drops_frames(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    for _ in 0..2 {
        w.steady(100);
        w.blind = true;
        w.steady(300);
        w.blind = false;
    }
    w.steady(AFTER);
}

fn cleartext_leak(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.leak();
    switch(w, &qm);
    w.steady(AFTER);
}

fn played(scenario: &Scenario) -> Analysis {
    let mut world = World::new();
    (scenario.play)(&mut world);
    let folder = tempfile::tempdir().unwrap();
    let keys = world.write(folder.path(), scenario.with_ike_key);
    analyze(&folder.path().join("trace.pcap"), &keys)
}

/// Causes named of any rekey.
fn named(analysis: &Analysis) -> Vec<String> {
    let mut list: Vec<String> = analysis
        .rekeys
        .iter()
        .flat_map(|r| r.causes.iter().map(|c| c.id.clone()))
        .collect();
    list.sort();
    list.dedup();
    list
}

fn assert_evidence(name: &str, analysis: &Analysis) {
    for cause in analysis.rekeys.iter().flat_map(|r| &r.causes) {
        let frames = &cause.evidence_frames;
        assert!(
            (1..=20).contains(&frames.len()),
            "{name}: {} has no frames",
            cause.id
        );
        assert!(
            frames.iter().all(|f| (1..=analysis.capture.packets).contains(f)),
            "{name}"
        );
        let listed: Vec<String> = frames.iter().map(u64::to_string).collect();
        assert_eq!(
            cause.display_filter,
            format!("frame.number in {{{}}}", listed.join(", "))
        );
    }
}

/// All ids that a scenario plants.
fn ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = SCENARIOS.iter().flat_map(|s| s.holds.iter().copied()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn table(results: &[(&Scenario, Vec<String>)]) -> String {
    let ids = ids();
    let mut text = String::from(
        "# Which causes are named in which scenario\n\nMade by `BLESS=1 cargo test --test scenarios` from synthetic captures \
         (`tests/scenarios.rs`). A line per scenario: **x** holds and is\nnamed, *missed* holds and is not named, *false* is named and \
         does not hold.\n\n| scenario |",
    );
    for id in &ids {
        write!(text, " {} |", id.replace('_', " ")).unwrap();
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(ids.len()));
    for (scenario, named) in results {
        write!(text, "\n| {} |", scenario.name).unwrap();
        for id in &ids {
            let cell = match (scenario.holds.contains(id), named.iter().any(|n| n == id)) {
                (true, true) => "**x**",
                (true, false) => "missed",
                (false, true) => "false",
                (false, false) => "",
            };
            write!(text, " {cell} |").unwrap();
        }
    }
    text.push('\n');
    text
}

#[test]
fn every_cause_is_named_where_it_holds_and_nowhere_else() {
    let results: Vec<(&Scenario, Vec<String>)> = SCENARIOS
        .iter()
        .map(|scenario| {
            let analysis = played(scenario);
            assert!(!analysis.rekeys.is_empty(), "{}: no rekey", scenario.name);
            assert_evidence(scenario.name, &analysis);
            let found = named(&analysis);
            if std::env::var_os("SHOW").is_some() {
                let hurt: Vec<_> = analysis
                    .rekeys
                    .iter()
                    .flat_map(|r| &r.impact)
                    .map(|i| (i.hurt, i.q, i.longest_gap_ms))
                    .collect();
                println!(
                    "{}: {found:?} {hurt:?} {:?}",
                    scenario.name,
                    analysis.findings.iter().map(|f| &f.id).collect::<Vec<_>>()
                );
            }
            (scenario, found)
        })
        .collect();
    let text = table(&results);
    let path = repository().join("docs/causes.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    for (scenario, named) in &results {
        let mut holds: Vec<&str> = scenario.holds.to_vec();
        holds.sort_unstable();
        assert_eq!(*named, holds, "{}\n{text}", scenario.name);
    }
    assert_eq!(
        std::fs::read_to_string(&path).unwrap_or_default(),
        text,
        "BLESS=1 writes {}",
        path.display()
    );
}

#[test]
fn a_quiet_capture_has_no_findings() {
    assert_eq!(played(&SCENARIOS[0]).findings, []);
}
