//! Sentences on outages: every row in both languages, one line, and what outages are told at all.

use crate::words::advice::of_label;
use crate::words::answer::{Answer, answer};
use crate::words::focus::Focus;
use crate::words::format;
use rekeyscope_impact::explain::{COSTS, FINDINGS, ROWS, told_outages};
use rekeyscope_model::analysis::{Analysis, ExplanationCause, Outage, Verdict};
use rekeyscope_model::text::{Catalogue, Language, take_missing};
use rekeyscope_testkit::example::{self, cause_of};

fn said(document: &Analysis, language: Language) -> Answer {
    answer(&Focus::new(document, language))
}

fn of_row(row: ExplanationCause) -> Analysis {
    let mut all = example::outages().into_iter();
    all.find(|document| cause_of(document) == row)
        .expect("an example")
}

#[test]
fn every_row_has_its_words() {
    let documents = example::outages();
    for row in &ROWS {
        assert!(
            documents.iter().any(|own| cause_of(own) == row.cause),
            "{}",
            row.cause
        );
    }
    for language in Language::ALL {
        for document in &documents {
            let id = cause_of(document);
            let Answer {
                headline,
                why,
                change,
            } = said(document, language);
            assert!(!headline.is_empty() && !why.is_empty(), "{id}");
            for text in [&headline, &why, &change] {
                assert!(!text.contains('–') || text.contains("5.5–6.8"), "{id}: {text}");
            }
        }
    }
    assert_eq!(take_missing(), Vec::<String>::new());
}

#[test]
fn a_first_line_is_short() {
    for document in example::outages() {
        let id = cause_of(&document);
        let english = said(&document, Language::English).headline;
        // A moment besides a length makes a few words more.
        assert!(english.split_whitespace().count() <= 18, "{id}: {english}");
        assert!(console::measure_text_width(&english) <= 86, "{id}: {english}");
        let japanese = said(&document, Language::Japanese).headline;
        assert!(console::measure_text_width(&japanese) <= 80, "{id}: {japanese}");
    }
}

#[test]
fn the_three_lines_of_every_row() {
    let lines = |language| {
        let all = example::outages();
        let lines = all.iter().map(|document| {
            let id = cause_of(document);
            let Answer {
                headline,
                why,
                change,
            } = said(document, language);
            format!("[{id}]\n{headline}\n{why}\n{change}\n")
        });
        lines.collect::<Vec<String>>().join("\n")
    };
    insta::assert_snapshot!("english", lines(Language::English));
    insta::assert_snapshot!("japanese", lines(Language::Japanese));
}

#[test]
fn rekeys_that_cost_more_come_first() {
    let mut document = of_row(ExplanationCause::PeerSilent);
    let impact = &mut document.impact[0];
    (impact.verdict, impact.rekeys_used) = (Verdict::Shown, 10);
    document.ledger[0].cost_seconds = 5.5;
    assert!(told_outages(&document).is_some());
    document.ledger[0].cost_seconds = 5.7;
    assert!(told_outages(&document).is_none());
    document.outages[0].end = None;
    assert!(told_outages(&document).is_some(), "it has not ended");
}

#[test]
fn what_has_not_ended_comes_before_what_was_longer() {
    let mut document = of_row(ExplanationCause::PeerSilent);
    let mut open = of_row(ExplanationCause::Deleted);
    let mut outage: Outage = open.outages.remove(0);
    (outage.index, outage.seconds, outage.start) = (1, 2.0, document.outages[0].start.plus_seconds(19.0));
    document.events = open.events;
    document.outages.push(outage);
    let answer = said(&document, Language::English);
    assert!(
        answer.headline.ends_with("nothing since (2.00 s)."),
        "{}",
        answer.headline
    );
    assert!(
        answer.why.contains("One more outage has another cause (-v)."),
        "{}",
        answer.why
    );
}

/// A stretch that nothing explains, behind a longer one that ended by itself, may end so, too; a longer one than that has not.
#[test]
fn what_nothing_explains_is_not_down_before_it_lasts() {
    let said = |seconds: f64| {
        let mut document = of_row(ExplanationCause::Unexplained);
        let first = document.outages[0].clone();
        document.outages.push(Outage {
            index: 1,
            start: first.until().plus_seconds(20.0),
            seconds,
            end: None,
            ..first
        });
        said(&document, Language::English).headline
    };
    let longest = of_row(ExplanationCause::Unexplained).outages[0].seconds;
    assert!(!said(longest / 2.0).contains("since"), "{}", said(longest / 2.0));
    assert!(said(2.0 * longest).contains("since"), "{}", said(2.0 * longest));
}

/// One request waits for its answer, and the data stands still several times meanwhile.
#[test]
fn outages_of_one_request_are_one() {
    let times = |event: usize| {
        let mut document = of_row(ExplanationCause::AnsweredLate);
        let first = document.outages[0].clone();
        let mut explanation = first.explanation.clone().unwrap();
        explanation.event = explanation.event.map(|own| own + event);
        document.outages.push(Outage {
            index: 1,
            start: first.start.plus_seconds(20.0),
            end: first.end.map(|end| end.plus_seconds(20.0)),
            explanation: Some(explanation),
            ..first
        });
        told_outages(&document).unwrap().alike.len()
    };
    assert_eq!(times(0), 1);
    assert_eq!(times(1), 2, "another request");
}

#[test]
fn both_directions_at_once_are_one_outage() {
    let mut document = of_row(ExplanationCause::PeerSilent);
    let first = document.outages[0].clone();
    document.outages.push(Outage {
        index: 1,
        direction: first.direction.reverse(),
        seconds: 4.0,
        start: first.start.plus_seconds(0.5),
        ..first
    });
    let told = told_outages(&document).unwrap();
    assert_eq!((told.alike.len(), told.others, told.range_s), (1, 0, (5.6, 5.6)));
}

#[test]
fn the_pair_that_suffers_is_named_where_another_goes_on() {
    let mut document = of_row(ExplanationCause::PeerSilent);
    let flow = example::seven_rekeys().flows.remove(0);
    document.outages[0].inner = Some(("10.66.1.1".parse().unwrap(), "10.66.1.2".parse().unwrap()));
    document.flows = vec![flow];
    let headline = said(&document, Language::English).headline;
    assert!(
        headline.ends_with("nothing to 10.66.1.2 passed for 5.60 s."),
        "{headline}"
    );
    document.flows.clear();
    let headline = said(&document, Language::English).headline;
    assert!(headline.ends_with("nothing passed for 5.60 s."), "{headline}");
}

/// The SA that the others used is the only one, so the tunnel was open.
#[test]
fn a_host_that_alone_gets_nothing_is_to_be_looked_at() {
    let mut document = of_row(ExplanationCause::Unexplained);
    let outage = &mut document.outages[0];
    outage.inner = Some(("10.66.1.1".parse().unwrap(), "10.66.1.2".parse().unwrap()));
    outage.end = None;
    let (tunnel, direction, start) = (outage.tunnel, outage.direction, outage.start);
    document.flows = vec![example::seven_rekeys().flows.remove(0)];
    let own = document.sas_towards(tunnel, direction).next().unwrap();
    let (mut alone, src, dst) = (own.clone(), own.src, own.dst);
    (alone.first_time, alone.last_time) = (Some(start), Some(start.plus_seconds(1.0)));
    document
        .security_associations
        .retain(|sa| (sa.src, sa.dst) != (src, dst));
    document.security_associations.push(alone.clone());
    let answer = said(&document, Language::English);
    assert!(
        answer.headline.contains("delivered to 10.66.1.2 since"),
        "{}",
        answer.headline
    );
    assert!(
        answer.change.contains("connection of 10.66.1.2 itself"),
        "{}",
        answer.change
    );
    // With another SA beside it the others may have used that one.
    document.security_associations.push(alone);
    let answer = said(&document, Language::English);
    assert!(!answer.headline.contains("10.66.1.2"), "{}", answer.headline);
}

#[test]
fn a_hole_of_the_capture_is_no_outage_of_the_tunnel() {
    assert!(told_outages(&of_row(ExplanationCause::CaptureHole)).is_none());
}

/// The page of explanations: what each row needs, what excludes it, and the three lines of examples. `BLESS=1` writes it anew.
#[test]
fn docs_list_every_row() {
    let mut page = String::from(
        "# What explains an outage\n\nMade by `BLESS=1 cargo test -p rekeyscope-report docs_list_every_row` from the table of \
         explanations (`crates/impact/src/explain/table.rs`), the catalogues and constructed examples.\n\nAn outage is a time in which \
         data was sent between two inner addresses and none arrived. The first of these rows that holds explains it; it is the `cause` in the \
         document. The answer says \"probably\" of what was inferred and neither read nor proven by packets.\n",
    );
    let examples = example::outages();
    for row in &ROWS {
        page += &format!("\n## {}\n\nHolds when {}.\n", row.cause, row.needs);
        if !row.unless.is_empty() {
            page += &format!("\nNot when {}.\n", row.unless);
        }
        if row.explains_short {
            page += "\nMakes an outage of a time that is shorter than two retransmission timeouts.\n";
        }
        for document in examples.iter().filter(|own| cause_of(own) == row.cause) {
            if told_outages(document).is_some() {
                let Answer {
                    headline,
                    why,
                    change,
                } = said(document, Language::English);
                page += &format!("\n> {headline}  \n> {why}  \n> {change}\n");
            }
        }
    }
    page += "\n# What explains time that is no outage\n\nThe first of these rows that holds has a stretch of the transfer; it is the `label` \
             in the document's account. What rekeys and outages cost is explained above.\n";
    let t = Catalogue::of(Language::English);
    for row in &COSTS {
        page += &format!("\n## {}\n\nHolds when {}.\n", row.label, row.needs);
        if !row.unless.is_empty() {
            page += &format!("\nNot when {}.\n", row.unless);
        }
        page += &format!(
            "\n> {}\n",
            format::capitalised(&t.name("account", row.label.as_str()))
        );
        if let Some(advice) = of_label(t, row.label) {
            page += &format!("> Do: {}\n", advice.instruction(t));
        }
    }
    page += "\n# What else is found\n\nEach is the `id` of a finding of the document, which says it in a sentence with its frames.\n";
    for row in &FINDINGS {
        page += &format!("\n## {}\n\nHolds when {}.\n", row.kind, row.needs);
        if !row.unless.is_empty() {
            page += &format!("\nNot when {}.\n", row.unless);
        }
        if row.limits_figures {
            page += "\nLimits the figures of an answer, so it stands beside it.\n";
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explanations.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &page).expect("the page is writable");
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "BLESS=1 cargo test -p rekeyscope-report docs_list_every_row"
    );
}
