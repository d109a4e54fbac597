//! Every answer is short, in both languages.

use super::*;
use rekeyscope_model::analysis::{Analysis, Interval, Verdict};
use rekeyscope_model::text::Language;
use rekeyscope_testkit::example;

/// The documents of every verdict, with and without keys, a mean, rekeys that hurt.
fn documents() -> Vec<Analysis> {
    let mut out = example::all();
    let shapes = [(0, true), (1, true), (3, true), (1, false)];
    for (hurt_every, keys) in shapes {
        for verdict in [
            Verdict::Failed,
            Verdict::Shown,
            Verdict::Some,
            Verdict::Bounded,
            Verdict::Inconclusive,
            Verdict::NoRekeys,
            Verdict::NoTraffic,
        ] {
            for (mean, at_least, used) in [
                (true, false, 7),
                (true, true, 7),
                (false, false, 7),
                (false, false, 1),
                (false, false, 0),
            ] {
                let mut document = example::build(&example::Shape {
                    hurt_every,
                    keys,
                    ..Default::default()
                });
                let i = &mut document.impact[0];
                (i.verdict, i.at_least, i.rekeys_used) = (verdict, at_least, used);
                i.stall_ms = mean.then_some(Interval {
                    mean: 1_234.0,
                    low: -3_456.0,
                    high: 123_456.0,
                });
                out.push(document);
            }
        }
    }
    out
}

fn said(document: &Analysis, language: Language) -> Answer {
    answer(&Focus::new(document, language))
}

#[test]
fn a_first_line_is_a_line_of_15_words() {
    for document in documents() {
        let english = said(&document, Language::English).headline;
        assert!(english.split_whitespace().count() <= 15, "{english}");
        // A line of 80 columns holds 15 English words or 40 wide characters.
        let japanese = said(&document, Language::Japanese).headline;
        assert!(console::measure_text_width(&japanese) <= 80, "{japanese}");
        assert!(console::measure_text_width(&english) <= 80, "{english}");
    }
}

#[test]
fn every_answer_says_what_to_do() {
    for document in documents() {
        assert!(said(&document, Language::English).change.starts_with("Do: "));
        assert!(said(&document, Language::Japanese).change.starts_with("対策: "));
    }
}

#[test]
fn the_number_the_cause_and_the_change() {
    let mut document = example::seven_rekeys();
    let lines = |document: &Analysis| {
        let answer = said(document, Language::English);
        [answer.headline, answer.why, answer.change]
    };
    insta::assert_debug_snapshot!(lines(&document));
    let i = &mut document.impact[0];
    (i.verdict, i.counterfactual_bps) = (Verdict::Shown, i.observed_bps.map(|bps| bps / 0.9));
    insta::assert_debug_snapshot!(lines(&document));
    insta::assert_debug_snapshot!(lines(&example::one_failed()));
}

#[test]
fn one_direction_alone_is_said() {
    let mut document = example::seven_rekeys();
    let client = document.tunnels[0].a;
    document.security_associations.retain(|sa| sa.dst == client);
    let why = said(&document, Language::English).why;
    assert!(
        why.ends_with("10.9.255.1 → 10.9.0.2 was captured: what came back is not seen."),
        "{why}"
    );
}
