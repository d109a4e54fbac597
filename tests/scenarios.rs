//! One planted cause after the other, in **synthetic** captures that are really encrypted, and the set of causes that the
//! analysis names. The table of both is `docs/causes.md`; `BLESS=1 cargo test --test tests every_cause` writes it anew.
//!
//! A scenario lists everything that truly holds in it: a responder that is not ready makes its peer's sender run into its
//! retransmission timeout, and so on. Whatever else is named is a defect, and so is whatever is missing.

mod exchange;
mod failure;
mod ikev2;
mod path;
mod sas;
pub(crate) mod steps;
mod transport;

use crate::support::{analyze, repository};
use exchange::*;
use failure::*;
use ikev2::*;
use path::*;
use rekeyscope_model::analysis::{Analysis, AttemptOutcome, Cause, OutageEnd, Verdict};
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
    scenario(
        "IKEv2, initiator not ready",
        &["initiator_not_ready", "rto_stall"],
        initiator_not_ready,
    ),
    scenario("IKEv2, refused", &["rekey_refused"], refused_v2),
    Scenario {
        with_ike_key: false,
        ..scenario("IKEv2, refused, unreadable", &["rekey_refused"], refused_v2)
    },
    scenario("refused", &["rekey_refused"], refused),
    Scenario {
        with_ike_key: false,
        ..scenario("refused, unreadable", &["rekey_refused"], refused)
    },
    scenario("refused by message ID", &["rekey_refused"], refused_by_message_id),
    scenario("IKEv2, refused, fails open", &["rekey_refused"], refused_and_open),
    scenario("no answer", &["rekey_unanswered"], unanswered),
    Scenario {
        with_ike_key: false,
        ..scenario("no answer, unreadable", &["rekey_unanswered"], unanswered)
    },
    scenario(
        "answered late",
        &["exchange_retransmitted", "rekey_unanswered", "rto_stall"],
        answered_late,
    ),
    scenario(
        "limit without a rekey",
        &["hard_limit_reached", "limit_without_rekey", "rto_stall"],
        limit_without_rekey,
    ),
    scenario(
        "deleted before negotiated",
        &["break_before_make"],
        break_before_make,
    ),
    scenario(
        "SA lost after a rekey",
        &["blackhole_after_rekey", "rto_stall"],
        blackhole_after_rekey,
    ),
    scenario("IKEv2, peer dies", &["dpd_unanswered"], dpd_unanswered),
    scenario("IKEv2, sender dies", &["dpd_unanswered"], sender_dies),
    scenario("IKEv2, storm", &["rekey_refused", "rekey_storm"], rekey_storm),
];

fn played(scenario: &Scenario) -> Analysis {
    let mut world = World::new();
    (scenario.play)(&mut world);
    let folder = tempfile::tempdir().unwrap();
    let keys = world.write(folder.path(), scenario.with_ike_key);
    analyze(&folder.path().join("trace.pcap"), &keys)
}

/// All causes, of rekeys, attempts and outages.
fn causes(analysis: &Analysis) -> impl Iterator<Item = &Cause> {
    let of_rekeys = analysis.rekeys.iter().map(|r| &r.causes);
    let of_attempts = analysis.attempts.iter().map(|a| &a.causes);
    let of_outages = analysis.outages.iter().map(|o| &o.causes);
    of_rekeys.chain(of_attempts).chain(of_outages).flatten()
}

/// Those that are named anywhere.
fn named(analysis: &Analysis) -> Vec<String> {
    let mut list: Vec<String> = causes(analysis).map(|c| c.id.clone()).collect();
    list.sort();
    list.dedup();
    list
}

fn assert_evidence(name: &str, analysis: &Analysis) {
    for cause in causes(analysis) {
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
            let told = analysis.rekeys.len() + analysis.attempts.len() + analysis.outages.len();
            assert!(told > 0, "{}: no rekey", scenario.name);
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

/// Outcome of each attempt but the first of IKEv1, which made the first pair.
fn outcomes(analysis: &Analysis) -> Vec<AttemptOutcome> {
    let first = usize::from(analysis.tunnels[0].ike_version == Some(1));
    analysis.attempts[first..].iter().map(|a| a.outcome).collect()
}

/// The first sentence says what failed, and for how long nothing passed; each outcome is what was planted.
#[test]
fn what_failed_is_the_first_sentence() {
    use AttemptOutcome::*;
    for (name, expected, ends, says) in [
        (
            "IKEv2, refused",
            &[Refused][..],
            OutageEnd::End,
            "NO_PROPOSAL_CHOSEN; nothing passed for 12.",
        ),
        (
            "refused",
            &[Refused],
            OutageEnd::End,
            "NO-PROPOSAL-CHOSEN; nothing passed for 12.",
        ),
        (
            "refused by message ID",
            &[Refused],
            OutageEnd::End,
            "NO-PROPOSAL-CHOSEN",
        ),
        (
            "refused, unreadable",
            &[Refused],
            OutageEnd::End,
            "one that makes no SA",
        ),
        (
            "no answer",
            &[Unanswered],
            OutageEnd::End,
            "3 requests, no answer; nothing passed for 12.",
        ),
        (
            "answered late",
            &[Completed],
            OutageEnd::NewSa,
            "4 requests in 5.",
        ),
        (
            "limit without a rekey",
            &[LimitWithoutAttempt, Completed],
            OutageEnd::NewSa,
            "nobody asked",
        ),
        (
            "deleted before negotiated",
            &[BreakBeforeMake, Completed],
            OutageEnd::NewSa,
            "were deleted",
        ),
        (
            "SA lost after a rekey",
            &[Completed, Completed],
            OutageEnd::NewSa,
            "nothing was acknowledged",
        ),
        ("IKEv2, peer dies", &[], OutageEnd::End, "stopped answering"),
    ] {
        let analysis = played_by_name(name);
        let headline = &analysis.impact[0];
        assert_eq!(outcomes(&analysis), expected, "{name}");
        assert_eq!(headline.verdict, Verdict::Failed, "{name}: {}", headline.sentence);
        assert!(headline.sentence.contains(says), "{name}: {}", headline.sentence);
        assert_eq!(analysis.outages.len(), 1, "{name}: {:?}", analysis.outages);
        assert_eq!(analysis.outages[0].ended_by, ends, "{name}");
    }
}

#[test]
fn failures_that_heal_do_not_make_the_headline() {
    use AttemptOutcome::*;
    let storm = played_by_name("IKEv2, storm");
    assert_eq!(outcomes(&storm), [Refused, Refused, Refused, Refused, Completed]);
    assert_ne!(
        storm.impact[0].verdict,
        Verdict::Failed,
        "{}",
        storm.impact[0].sentence
    );
    let collision = played_by_name("IKEv2, collision");
    assert_eq!(outcomes(&collision), [Completed, Superseded]);
    let plain = played_by_name("nothing");
    assert_eq!((outcomes(&plain), plain.outages.len()), (vec![Completed], 0));
}

/// The outage begins with the last segment that was acknowledged, and ends with the first that is again.
#[test]
fn an_outage_is_as_long_as_it_was() {
    let analysis = played_by_name("SA lost after a rekey");
    let outage = &analysis.outages[0];
    // 100 segments of 2 ms, timeouts of 6.2 s, 0.5 s, three messages 20 ms apart; the last segment before,
    // one tick earlier.
    let planted = 0.002 + 0.200 + 6.200 + 0.500 + 0.060;
    assert!((outage.seconds - planted).abs() < 0.005, "{}", outage.seconds);
    assert!(!outage.at_least);
    let of_rekey = analysis.attempts.iter().find(|a| a.outage.is_some()).unwrap();
    assert_eq!(of_rekey.rekey, Some(0), "the rekey that made the SA");
}

/// The client, which had nothing to say, was not cut off for half a minute; the server was as long as the client asks in vain.
#[test]
fn a_sender_that_died_leaves_an_outage_from_its_last_word_on() {
    let analysis = played_by_name("IKEv2, sender dies");
    assert_eq!(analysis.impact[0].verdict, Verdict::Failed);
    let [outage] = &analysis.outages[..] else {
        panic!("{:?}", analysis.outages)
    };
    let sas = analysis.security_associations.iter();
    let last = sas.filter_map(|sa| sa.last_time).max().unwrap();
    assert!(
        outage.at_least && last.seconds_since(outage.start) < 0.1,
        "{outage:?}"
    );
}

/// What is lost while the responder is not ready is an outage of that rekey, though none of a rekey that failed.
#[test]
fn an_outage_at_a_switch_belongs_to_its_rekey() {
    let analysis = played_by_name("third message lost");
    assert_ne!(analysis.impact[0].verdict, Verdict::Failed);
    let longest = analysis
        .attempts
        .iter()
        .filter_map(|a| Some((a.rekey?, a.outage.as_ref()?.seconds)));
    assert!(
        longest
            .clone()
            .any(|(rekey, seconds)| rekey == 0 && seconds > 1.4),
        "{:?}",
        analysis.outages
    );
}

#[test]
fn a_tunnel_that_fails_open_is_told_and_one_that_does_not_is_not() {
    let leaks = |name| {
        let analysis = played_by_name(name);
        let of_it = |f: &&rekeyscope_model::analysis::Finding| f.id == "cleartext_leak";
        analysis.findings.iter().find(of_it).map(|f| f.sentence.clone())
    };
    let said = leaks("IKEv2, refused, fails open").unwrap();
    // Five segments of 1,228 bytes with 40 bytes of headers.
    assert!(
        said.contains("5 packets (6,340 bytes) from 10.66.0.1 to 10.66.0.2"),
        "{said}"
    );
    assert_eq!(leaks("IKEv2, refused"), None);
    assert_eq!(leaks("cleartext leak"), None, "L2TP in clear is another finding");
}

#[test]
fn a_quiet_capture_has_no_findings() {
    assert_eq!(played(&SCENARIOS[0]).findings, []);
}
