//! One planted cause after the other, in **synthetic** captures that are really encrypted, and the set of causes that the
//! analysis names. The table of both is `docs/causes.md`; `BLESS=1 cargo test --test tests every_cause` writes it anew.
//!
//! A scenario lists everything that truly holds in it: a responder that is not ready makes its peer's sender run into its
//! retransmission timeout, and so on. Whatever else is named is a defect, and so is whatever is missing.

mod exchange;
mod ikev2;
mod path;
mod sas;
mod steps;
mod transport;

use crate::support::{analyze, repository};
use exchange::*;
use ikev2::*;
use path::*;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_testkit::scenario::World;
use sas::*;
use std::fmt::Write;
use steps::nothing;
use transport::*;

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
    scenario("IKEv2", &[], renewed_v2),
    scenario(
        "IKEv2, hard limit",
        &["hard_limit_reached", "rto_stall"],
        hard_limit_v2,
    ),
    scenario(
        "IKEv2, hard limit, request lost before the capture",
        &["hard_limit_reached", "rto_stall"],
        request_lost_before_the_capture,
    ),
    scenario("IKEv2, in a pause", &[], renewed_in_a_pause_v2),
    scenario("IKEv2, collision", &["collision"], collision_v2),
    scenario("IKEv2, by the server", &[], renewed_by_the_server_v2),
];

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
        "# Which causes are named in which scenario\n\nMade by `BLESS=1 cargo test --test tests every_cause` from synthetic captures \
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

fn played_by_name(name: &str) -> Analysis {
    played(SCENARIOS.iter().find(|s| s.name == name).unwrap())
}

/// The outage lasts from the client's last packet (30 ms after the lost request at most) to its first one on the new SA.
#[test]
fn an_outage_before_the_first_captured_message_counts() {
    let analysis = played_by_name("IKEv2, hard limit, request lost before the capture");
    let down = analysis.rekeys[0].impact.iter().find(|i| i.hurt).unwrap();
    let stall = down.windows.iter().find(|w| w.window_s == 0.5).unwrap().stall_ms;
    // 200 + 3,800 + 60 ms of waiting, less what is sent in one burst at the end: 100 segments of 2 ms.
    assert!((3_700.0..4_300.0).contains(&stall), "{stall}");
}

/// A pause before the exchange is not counted, only what the exchange itself held up (30 ms until the response, and a bin);
/// but it could hide an outage: that is said.
#[test]
fn a_pause_before_the_exchange_is_not_counted_but_flagged() {
    let analysis = played_by_name("IKEv2, in a pause");
    let down = &analysis.rekeys[0].impact[0];
    let stall = down.windows.iter().map(|w| w.stall_ms).fold(0.0, f64::max);
    assert!((20.0..=40.0).contains(&stall), "{down:?}");
    assert!(down.flags.contains(&"silence_before".to_owned()), "{down:?}");
    let plain = played_by_name("IKEv2");
    assert!(
        !plain.rekeys[0].impact[0]
            .flags
            .contains(&"silence_before".to_owned())
    );
}

#[test]
fn a_quiet_capture_has_no_findings() {
    assert_eq!(played(&SCENARIOS[0]).findings, []);
}
