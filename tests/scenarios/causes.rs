//! The table `docs/evidence/causes.md` puts what is named beside what holds.

use super::planted::{SCENARIOS, Scenario};
use super::played;
use crate::support::repository;
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

/// Causes and events that are named anywhere. A cause that is not known names nothing.
fn named(analysis: &Analysis) -> Vec<String> {
    let known = |e: &&Explanation| e.cause != ExplanationCause::Unexplained;
    let causes = explanations(analysis).filter(known);
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
        "# What is named in which scenario\n\nMade by `BLESS=1 cargo test --test tests every_cause` from synthetic captures \
         (`tests/scenarios/planted.rs`). A line per scenario: **x** holds and is\nnamed, *missed* holds and is not named, *false* is named and \
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
    let text = table(&results);
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
