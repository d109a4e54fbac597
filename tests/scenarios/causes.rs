//! The table `docs/evidence/causes.md` puts what is named beside what holds.

use super::planted::{SCENARIOS, Scenario};
use super::{played, played_by_name};
use crate::support::repository;
use rekeyscope_impact::explain::ROWS;
use rekeyscope_model::analysis::{AccountLabel, Analysis, Explanation, ExplanationCause};
use std::fmt::Write;

/// Lists the explanations of the rekeys and of the outages.
fn explanations(analysis: &Analysis) -> impl Iterator<Item = &Explanation> {
    let of_rekeys = analysis.ledger.iter().flat_map(|ledger| &ledger.rekeys);
    let of_outages = analysis.outages.iter().filter_map(|o| o.explanation.as_ref());
    of_rekeys
        .filter_map(|own| own.explanation.as_ref())
        .chain(of_outages)
}

/// Causes and events that are named anywhere. A rekey whose cost nothing explains names nothing.
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

/// The rows of the table of explanations, each with a scenario in which it holds, and one that looks like it and in which it does not.
const ROWS_PLANTED: [(&str, &str, &str); 41] = [
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

fn words<S: AsRef<str>>(list: impl IntoIterator<Item = S>) -> String {
    let words = list.into_iter().map(|id| id.as_ref().replace('_', " "));
    words.collect::<Vec<_>>().join(", ")
}

fn page(results: &[(&Scenario, Vec<String>)]) -> String {
    let mut text = String::from(
        "# What is named in which scenario\n\nMade by `BLESS=1 cargo test --test tests every_cause` from synthetic captures \
         (`tests/scenarios/planted.rs`).\n\n\
         ## Rows of the table of explanations\n\n\
         A scenario in which the row holds, and one that looks like it and in which it does not.\n\n\
         | row | holds | looks like it |\n|---|---|---|\n",
    );
    for (row, holds, twin) in ROWS_PLANTED {
        writeln!(text, "| {row} | {holds} | {twin} |").unwrap();
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

#[test]
fn every_row_is_planted_beside_one_that_looks_like_it() {
    let ids = ROWS_PLANTED.map(|(row, ..)| row);
    assert_eq!(Vec::from_iter(ROWS.iter().map(|row| row.cause.as_str())), ids);
    for (id, planted, twin) in ROWS_PLANTED {
        let rows = |name| Vec::from_iter(explanations(&played_by_name(name)).map(|e| e.cause));
        let [holds, looks_alike] = [planted, twin].map(rows);
        let is_it = |cause: &ExplanationCause| cause.as_str() == id;
        assert!(
            holds.iter().any(is_it) && !looks_alike.iter().any(is_it),
            "{id}: {holds:?}, {looks_alike:?}"
        );
    }
}

/// Labels of the account, each with a scenario in which it takes a hundredth of the time, and one that looks like it and in which it does not.
/// Windows, buffers, growth, queues and reordering take more than a scenario's one connection: `rekeyscope_impact` has their tests.
const LABELS_PLANTED: [(AccountLabel, &str, &str); 6] = [
    (AccountLabel::CaptureHole, "capture drops frames", "burst lost"),
    (AccountLabel::TunnelDown, "no answer", "first message repeated"),
    (AccountLabel::Rekey, "hard limit", "first message repeated"),
    (AccountLabel::ZeroWindow, "receiver stops", "application pauses"),
    (AccountLabel::Application, "application pauses", "receiver stops"),
    (
        AccountLabel::PathLoss,
        "one segment lost",
        "packets damaged now and then",
    ),
];

#[test]
fn labels_are_planted_beside_what_looks_like_them() {
    for (label, planted, twin) in LABELS_PLANTED {
        let is_it = |name: &str| {
            let analysis = played_by_name(name);
            let mut lines = analysis.account.iter().flat_map(|account| &account.labels);
            lines.any(|line| line.label == label && line.share >= 0.01)
        };
        assert!(is_it(planted) && !is_it(twin), "{label}: {planted}, {twin}");
    }
}

#[test]
fn every_cause_is_named_where_it_holds_and_nowhere_else() {
    let results: Vec<(&Scenario, Vec<String>)> = SCENARIOS
        .iter()
        .map(|scenario| {
            let analysis = played(scenario);
            let told = analysis.rekeys.len()
                + analysis.attempts.len()
                + analysis.outages.len()
                + analysis.events.len();
            assert!(
                told > 0 || scenario.holds.is_empty(),
                "{}: nothing is told",
                scenario.name
            );
            assert_evidence(scenario.name, &analysis);
            let found = named(&analysis);
            if std::env::var_os("SHOW").is_some() {
                let hurt: Vec<_> = analysis
                    .rekeys
                    .iter()
                    .flat_map(|r| &r.impact)
                    .map(|i| (i.hurt, i.silence_ms, i.why))
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
    let text = page(&results);
    let path = repository().join("docs/evidence/causes.md");
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
