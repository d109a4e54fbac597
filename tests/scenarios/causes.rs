//! The table `docs/evidence/causes.md` puts what is named beside what holds.

use super::planted::{SCENARIOS, Scenario};
use super::played_by_name;
use crate::support::repository;
use rekeyscope_impact::explain::{COSTS, FINDINGS, ROWS};
use rekeyscope_model::analysis::{Analysis, Explanation, ExplanationCause};
use std::fmt::Write;

/// Lists the explanations of the rekeys and of the outages.
fn explanations(analysis: &Analysis) -> impl Iterator<Item = &Explanation> {
    let of_rekeys = analysis.ledger.iter().flat_map(|ledger| &ledger.rekeys);
    let of_outages = analysis.outages.iter().filter_map(|o| o.explanation.as_ref());
    of_rekeys
        .filter_map(|own| own.explanation.as_ref())
        .chain(of_outages)
}

/// Causes, events and findings that are named anywhere. A rekey whose cost nothing explains names nothing.
fn named(analysis: &Analysis) -> Vec<String> {
    let of_outage = |e: &&Explanation| {
        let mut outages = analysis.outages.iter();
        e.cause != ExplanationCause::Unexplained || outages.any(|o| o.explanation.as_ref() == Some(*e))
    };
    let causes = explanations(analysis).filter(of_outage);
    let mut list: Vec<String> = causes.map(|e| e.cause.as_str().to_owned()).collect();
    list.extend(
        analysis
            .events
            .iter()
            .map(|e| format!("event {}", e.kind.as_str())),
    );
    list.extend(analysis.findings.iter().map(|f| format!("finding {}", f.id)));
    list.sort();
    list.dedup();
    list
}

fn assert_evidence(name: &str, analysis: &Analysis) {
    for explanation in explanations(analysis) {
        let mut frames = explanation.frames.iter();
        assert!(
            frames.all(|f| (1..=analysis.capture.packets).contains(f)),
            "{name}"
        );
    }
}

/// The name of what is told, a scenario in which it is true, and one that looks like it and in which it is not.
type Planted = (&'static str, &'static str, &'static str);

/// The rows of the table of explanations, each with a scenario in which it holds, and one that looks like it and in which it does not.
const ROWS_PLANTED: [Planted; 41] = [
    ("capture_hole", "capture stops", "capture drops frames"),
    ("numbers_back", "counter goes back", "deep reordering"),
    ("numbers_used_up", "numbers used up", "numbers left"),
    ("bad_icv", "large packets damaged", "packets damaged now and then"),
    (
        "invalid_spi",
        "server lost its SAs",
        "INVALID-SPI, and data goes on",
    ),
    (
        "large_never_passed",
        "large packets never pass",
        "nothing passes behind small answers",
    ),
    ("l2tp_closed", "L2TP call cleared", "Hello without answer"),
    ("collision", "collision, data lost", "collision"),
    ("refused", "IKEv2, refused", "IKEv2, granted with another group"),
    ("unanswered", "no answer", "answered late"),
    (
        "ike_fragments",
        "IKEv2, fragments of a request lost",
        "IKEv2, fragments of a request lost, and data goes on",
    ),
    ("answered_late", "answered late", "first message repeated"),
    (
        "given_up",
        "IKEv2, living IKE SA given up",
        "IKEv2, checks unheard, and data goes on",
    ),
    (
        "given_up_too_soon",
        "IKEv2, check answered too late",
        "IKEv2, living IKE SA given up",
    ),
    (
        "answer_lost",
        "third message lost",
        "IKEv2, answer lost, and data goes on",
    ),
    (
        "by_turns",
        "IKEv2, two clients served by turns",
        "IKEv2, silent as another client dials in",
    ),
    (
        "other_tunnel",
        "data in the tunnel of another client",
        "tunnel replaced by another one",
    ),
    ("peer_restarted", "client restarts", "phase 1 renewed"),
    (
        "one_sided",
        "IKEv2, sent on upon a deleted SA",
        "IKEv2, old SA drains behind its Delete",
    ),
    (
        "deleted",
        "IKEv2, IKE SA deleted",
        "IKEv2, IKE SA and child renewed",
    ),
    ("break_before_make", "deleted before negotiated", "IKEv2"),
    (
        "left_out",
        "IKEv2, a host left out",
        "IKEv2, a call ends behind the switch",
    ),
    (
        "first_fragments",
        "later fragments dropped",
        "later fragments not captured",
    ),
    (
        "too_big",
        "too big by ICMP, and sent on",
        "too big by ICMP, and heeded",
    ),
    (
        "large_packets",
        "large packets lost",
        "all packets lost, echoes before and after",
    ),
    (
        "new_sa_lost",
        "IKEv2, initiator not ready",
        "first packets of new SAs not captured",
    ),
    (
        "first_number",
        "IKEv2, first packets of new SAs lost before the capture",
        "first packets of new SAs not captured",
    ),
    (
        "silent_on_new_sa",
        "IKEv2, nothing comes on the new SA",
        "IKEv2, SA lost after a rekey",
    ),
    (
        "answered_elsewhere",
        "IKEv2, answered from elsewhere",
        "IKEv2, server moves",
    ),
    (
        "address_changed",
        "client moves, unnoticed",
        "client moves, and data goes on",
    ),
    ("deleted_early", "old SA deleted early", "IKEv2"),
    ("limit_reached", "hard limit", "SA lost after a rekey"),
    ("slow_renewal", "renewal too slow", "first message repeated"),
    (
        "slow_exchange",
        "slow Diffie–Hellman",
        "slow Diffie–Hellman, and data goes on",
    ),
    ("replay_window", "deep reordering", "shallow reordering"),
    ("path_silent", "IKEv2, both sides silent", "burst lost"),
    (
        "peer_silent",
        "IKEv2, one side of a call lost before the capture",
        "IKEv2, one side of a call pauses",
    ),
    ("unheard", "acknowledgements unheard", "receiver stops"),
    ("esp_silent", "IKEv2, only IKE comes", "IKEv2, nothing comes"),
    ("connection_dead", "connection dropped", "large packets lost"),
    ("unexplained", "one of two transfers dies", "burst lost"),
];

/// The labels of the account, each with a scenario in which it takes a hundredth of the time, and one that looks like it and in which it does not.
const LABELS_PLANTED: [Planted; 13] = [
    ("capture_hole", "capture drops frames", "burst lost"),
    ("tunnel_down", "no answer", "first message repeated"),
    ("rekey", "hard limit", "first message repeated"),
    ("zero_window", "receiver stops", "application pauses"),
    ("receive_window", "window full", "buffer full"),
    ("send_buffer", "buffer full", "window full"),
    ("application", "application pauses", "receiver stops"),
    ("path_loss", "lost without a queue", "queue overflows"),
    ("queue_loss", "queue overflows", "lost without a queue"),
    ("reordering", "segments overtaken", "as many segments lost"),
    ("growth", "slow start", "as many segments lost"),
    ("capacity", "link full", "window full"),
    ("unexplained", "buffer full, begun before", "buffer full"),
];

/// The findings, each with a scenario in which it is made, and one that looks like it and in which it is not.
const FINDINGS_PLANTED: [Planted; 19] = [
    ("fragmentation_cliff", "writes a byte too long", "signs of life"),
    (
        "path_mtu",
        "packets too long",
        "datagrams too long for the tunnel",
    ),
    ("duplicate_sas", "two pairs by turns", "a pair for each host"),
    (
        "redundant_sas",
        "pairs that nobody uses",
        "pairs of an idle tunnel",
    ),
    (
        "behind_window",
        "datagrams far overtaken",
        "segments far overtaken, and taken",
    ),
    ("damaged", "packets damaged", "key of another SA"),
    ("capture_drops", "data not captured", "as many segments lost"),
    ("lost_fragments", "later fragments lost", "packets lost whole"),
    (
        "lost_before_encryption",
        "as many lost before encryption",
        "as many segments lost",
    ),
    ("one_direction_loss", "as many segments lost", "data not captured"),
    (
        "both_directions_loss",
        "lost in both directions",
        "any packets not captured",
    ),
    ("packet_loss", "datagrams lost", "datagrams overtaken"),
    (
        "packets_missing",
        "lost, without keys",
        "begun later, without keys",
    ),
    (
        "clock_trouble",
        "files merged by hand",
        "stamped by two processors",
    ),
    ("clock_step", "clock set forward", "a long standstill"),
    ("out_of_order", "halves swapped", "clock set back"),
    ("silence_or_clock_step", "datagrams stop", "a long rest"),
    (
        "cleartext_leak",
        "IKEv2, refused, fails open",
        "captured inside too",
    ),
    ("l2tp_in_clear", "cleartext leak", "L2TP of another client"),
];

fn words<S: AsRef<str>>(list: impl IntoIterator<Item = S>) -> String {
    let words = list.into_iter().map(|id| id.as_ref().replace('_', " "));
    words.collect::<Vec<_>>().join(", ")
}

fn page(results: &[(&Scenario, Vec<String>)]) -> String {
    let mut text = String::from(
        "# What is named in which scenario\n\nMade by `BLESS=1 cargo test --test tests every_cause` from synthetic captures \
         (`tests/scenarios/planted.rs`).\n\n\
         Of each row of the [table of explanations](../explanations.md): a scenario in which it holds, and one that looks like it and in which it does not.\n",
    );
    let parts: [(&str, &str, &[Planted]); 3] = [
        ("Rows of outages", "row", &ROWS_PLANTED),
        ("Labels of the account", "label", &LABELS_PLANTED),
        ("Findings", "finding", &FINDINGS_PLANTED),
    ];
    for (title, name, planted) in parts {
        write!(
            text,
            "\n## {title}\n\n| {name} | holds | looks like it |\n|---|---|---|\n"
        )
        .unwrap();
        for (id, holds, twin) in planted {
            writeln!(text, "| {id} | {holds} | {twin} |").unwrap();
        }
    }
    text.push_str(
        "\n## Scenarios\n\nAll that is named and holds; *missed* holds and is not named, *false* is named and does not hold.\n\n\
         | scenario | named | missed | false |\n|---|---|---|---|\n",
    );
    for (scenario, named) in results {
        let holds = |id: &str| scenario.holds.contains(&id);
        let is_named = |id: &str| named.iter().any(|own| own == id);
        let right = words(named.iter().filter(|id| holds(id)));
        let missed = words(scenario.holds.iter().filter(|id| !is_named(id)));
        let wrong = words(named.iter().filter(|id| !holds(id)));
        writeln!(text, "| {} | {right} | {missed} | {wrong} |", scenario.name).unwrap();
    }
    text
}

/// `ids` are all planted, and each `is_told` in its scenario and not in the other.
fn assert_planted<'a>(
    planted: &[Planted],
    ids: impl Iterator<Item = &'a str>,
    is_told: fn(&Analysis, &str) -> bool,
) {
    assert_eq!(Vec::from_iter(planted.iter().map(|of| of.0)), Vec::from_iter(ids));
    for (id, holds, twin) in planted {
        let told = [holds, twin].map(|name| is_told(played_by_name(name), id));
        assert_eq!(told, [true, false], "{id}: {holds}, {twin}");
    }
}

#[test]
fn every_row_is_planted_beside_one_that_looks_like_it() {
    assert_planted(
        &ROWS_PLANTED,
        ROWS.iter().map(|row| row.cause.as_str()),
        |analysis, id| explanations(analysis).any(|e| e.cause.as_str() == id),
    );
}

#[test]
fn every_label_is_planted_beside_one_that_looks_like_it() {
    assert_planted(
        &LABELS_PLANTED,
        COSTS.iter().map(|row| row.label.as_str()),
        |analysis, id| {
            let mut lines = analysis.account.iter().flat_map(|account| &account.labels);
            lines.any(|line| line.label.as_str() == id && line.share >= 0.01)
        },
    );
}

#[test]
fn every_finding_is_planted_beside_one_that_looks_like_it() {
    assert_planted(
        &FINDINGS_PLANTED,
        FINDINGS.iter().map(|row| row.kind.as_str()),
        |analysis, id| analysis.findings.iter().any(|f| f.id == id),
    );
}

#[test]
fn every_cause_is_named_where_it_holds_and_nowhere_else() {
    let told = |scenario: &'static Scenario| {
        let analysis = played_by_name(scenario.name);
        assert_evidence(scenario.name, analysis);
        (scenario, named(analysis))
    };
    let results = Vec::from_iter(SCENARIOS.iter().map(told));
    let text = page(&results);
    let path = repository().join("docs/evidence/causes.md");
    if std::env::var_os("BLESS").is_some() {
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
