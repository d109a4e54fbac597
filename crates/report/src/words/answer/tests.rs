//! Every answer is short, in both languages.

use super::*;
use rekeyscope_model::analysis::{
    AccountLabel, Analysis, AttemptOutcome, Certainty, Direction, Event, EventKind, Ledger, LedgerBasis,
    LedgerWhy, Tunnel, Verdict,
};
use rekeyscope_model::text::Language;
use rekeyscope_testkit::example;

/// The documents of every verdict, with and without keys, rekeys that hurt, and a transfer beside them.
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
            for (basis, used) in [
                (LedgerBasis::Acknowledgements, 7),
                (LedgerBasis::Datagrams, 7),
                (LedgerBasis::Packets, 1),
                (LedgerBasis::Answers, 0),
            ] {
                let mut document = example::build(&example::Shape {
                    hurt_every,
                    keys,
                    ..Default::default()
                });
                let i = &mut document.impact[0];
                (i.verdict, i.rekeys_used) = (verdict, used);
                document.ledger[0].basis = basis;
                out.push(document);
            }
        }
    }
    out
}

fn said(document: &Analysis, language: Language) -> Answer {
    answer(&Focus::new(document, language))
}

/// A sentence on hundreds of rekeys may take a second line, and one that names a client; what others wrote into a document may have any
/// length.
#[test]
fn a_first_line_is_a_line_of_80_columns() {
    let own = |document: &Analysis| {
        let headline = document.impact.first();
        document.tunnels.len() < 2 && headline.is_none_or(|i| !i.messages.is_empty() && i.rekeys < 100)
    };
    for document in documents().into_iter().filter(own) {
        let english = said(&document, Language::English).headline;
        assert!(console::measure_text_width(&english) <= 80, "{english}");
    }
}

#[test]
fn the_first_line_is_the_first_message_of_the_verdict() {
    let mut document = example::seven_rekeys();
    document.account.clear();
    let i = &document.impact[0];
    for language in Language::ALL {
        let first = rekeyscope_model::text::Catalogue::of(language).say(&i.messages[0]);
        assert_eq!(said(&document, language).headline, first);
    }
    assert!(
        i.sentence
            .starts_with(&said(&document, Language::English).headline)
    );
}

#[test]
fn every_answer_says_what_to_do() {
    for document in documents() {
        assert!(said(&document, Language::English).change.starts_with("Do: "));
        assert!(said(&document, Language::Japanese).change.starts_with("対策: "));
    }
}

/// Whoever looks for the reason finds it behind the same word in every answer.
#[test]
fn every_reason_begins_with_its_label() {
    for document in documents() {
        for (language, label) in [(Language::English, "Why: "), (Language::Japanese, "原因: ")] {
            let why = said(&document, language).why;
            let verdict = document.impact.first().map(|impact| impact.verdict);
            // The rate alone is no reason.
            let rate = matches!(verdict, Some(Verdict::Bounded | Verdict::NoRekeys)) && !why.contains(label);
            let labelled = why.starts_with(label) && why.matches(label).count() == 1;
            assert!(why.is_empty() || rate || labelled, "{why}");
        }
    }
}

/// The glossary's rule: the first mention says what the word means.
#[test]
fn the_first_rekey_of_a_japanese_answer_is_explained() {
    for document in documents().into_iter().chain(example::outages()) {
        let answer = said(&document, Language::Japanese);
        let first = answer.headline.split_once("リキー");
        assert!(
            first.is_none_or(|(_, rest)| rest.starts_with("（鍵更新")),
            "{}",
            answer.headline
        );
    }
}

/// One volume has one rate: that of the table.
#[test]
fn the_rate_of_a_longer_lifetime_is_that_of_its_table() {
    let document = example::seven_rekeys();
    let expected = &document.projection[0].expected_bps;
    let rate = crate::words::format::rate(expected.estimate);
    let change = said(&document, Language::English).change;
    assert!(
        change.contains("to 500,000 kB") && change.contains(&format!("gives about {rate}")),
        "{change}"
    );
    let advice = crate::words::advice::advice(&Focus::new(&document, Language::English), &change);
    assert_eq!(advice[0], change);
}

#[test]
fn the_number_the_cause_and_the_change() {
    let mut document = example::seven_rekeys();
    let lines = |document: &Analysis| {
        let answer = said(document, Language::English);
        [answer.headline, answer.why, answer.change]
    };
    insta::assert_debug_snapshot!(lines(&document));
    document.ledger[0]
        .rekeys
        .iter_mut()
        .for_each(|own| own.explanation = None);
    document.ledger[0].rekeys[1].why = LedgerWhy::Reverse;
    document.ledger[0].rekeys[0].why = LedgerWhy::Reverse;
    insta::assert_debug_snapshot!(lines(&document));
    insta::assert_debug_snapshot!(lines(&example::one_failed()));
}

/// The document has no outage, because the tunnel was not used then or the capture ended.
#[test]
fn a_renewal_that_failed_for_good_is_told_without_an_outage() {
    let lines = |outcome, reason: Option<&str>| {
        let mut document = example::one_failed();
        document.outages.clear();
        document.ledger[0].down.clear();
        let attempt = document.attempts.last_mut().unwrap();
        (attempt.outcome, attempt.outage, attempt.exchange) = (outcome, None, Some(0));
        attempt.reason = reason.map(str::to_owned);
        document.events.push(Event {
            tunnel: Some(0),
            exchange: Some(0),
            notify: reason.map(str::to_owned),
            ..Event::at(EventKind::Refused, Certainty::Read, attempt.first_time, 9)
        });
        let answer = said(&document, Language::English);
        assert_eq!(line_1(&document).0, Some(0));
        format!("{}\n{}\n{}", answer.headline, answer.why, answer.change)
    };
    use AttemptOutcome::{Refused, Unanswered};
    let told = [
        lines(Refused, Some("NO_PROPOSAL_CHOSEN")),
        lines(Refused, None),
        lines(Unanswered, Some("peer_silent")),
        lines(Unanswered, Some("peer_sends_esp")),
    ];
    insta::assert_snapshot!("failed_renewals", told.join("\n\n"));
}

/// Seven rekeys that hurt, beside which the download lost so many seconds more than to them to something else.
fn lost_more_to(label: AccountLabel, more: f64) -> Analysis {
    let mut document = example::seven_rekeys();
    let lost = document.ledger[0].cost_seconds + more;
    let account = &mut document.account[0];
    for line in &mut account.labels {
        let is_it = line.label == AccountLabel::ReceiveWindow;
        (line.label, line.lost_seconds) = if is_it { (label, lost) } else { (line.label, 0.0) };
    }
    account.lost_seconds = lost;
    document
}

/// A rate below two cures belongs to one of them.
#[test]
fn a_rate_behind_two_cures_says_which_one_gives_it() {
    let document = lost_more_to(AccountLabel::ReceiveWindow, 1.0);
    let change = said(&document, Language::English).change;
    assert!(
        change.contains("receiver's window (") && change.contains("This part alone (rekeys) gives about"),
        "{change}"
    );
}

/// A loss that rekeys may make leads line 1 where more went to it than to them, too.
#[test]
fn a_loss_that_cost_more_than_the_rekeys_leads() {
    let headline = |more: f64| said(&lost_more_to(AccountLabel::PathLoss, more), Language::English).headline;
    let said = " to loss on the path; ";
    assert!(headline(1.0).contains(said), "{}", headline(1.0));
    assert!(!headline(-0.2).contains(said), "{}", headline(-0.2));
}

/// Windows proposes 250,000 kB, and no setting of it raises that; whoever else renews there can be told to.
#[test]
fn nobody_is_told_to_raise_the_limit_of_windows() {
    let change = |windows: bool| {
        let mut document = example::seven_rekeys();
        (
            document.tunnels[0].client_is_windows,
            document.tunnels[0].ike_version,
        ) = (windows, Some(2));
        for rekey in &mut document.rekeys {
            (rekey.trigger.limit_kilobytes, rekey.trigger.bytes) = (Some(248_000), Some(248_000_000));
        }
        said(&document, Language::English).change
    };
    let of_windows = change(true);
    assert!(
        of_windows.contains("No setting moves the limit: 250,000 kB is what Windows proposes"),
        "{of_windows}"
    );
    assert!(!of_windows.contains("500,000"), "{of_windows}");
    assert!(change(false).contains("500,000 kB"));
}

#[test]
fn one_direction_alone_is_said() {
    let mut document = example::seven_rekeys();
    let client = document.tunnels[0].a;
    document.security_associations.retain(|sa| sa.dst == client);
    let why = said(&document, Language::English).why;
    assert!(
        why.ends_with("ESP came only 10.9.255.1 → 10.9.0.2, and IKE both ways: nothing was sent back, or a filter lets IKE pass alone."),
        "{why}"
    );
    document
        .exchanges
        .iter_mut()
        .for_each(|exchange| exchange.messages = 1);
    document
        .attempts
        .iter_mut()
        .for_each(|attempt| attempt.answered_after_s = None);
    let why = said(&document, Language::English).why;
    assert!(
        why.ends_with("10.9.255.1 → 10.9.0.2 was captured: what came back is not seen."),
        "{why}"
    );
}

/// One of two clients gets another port, and the gateway goes on to the old one; the headline's client has no trouble.
#[test]
fn a_peer_that_goes_on_to_the_old_port_of_one_of_two_clients() {
    let document = |seconds: f64, acknowledged: bool| {
        let mut document = example::build(&example::Shape::default());
        document.impact[0].verdict = Verdict::Bounded;
        let tunnel = Tunnel {
            id: 1,
            ..document.tunnels[0].clone()
        };
        let time = document.capture.first_time.unwrap();
        document.events.push(Event {
            tunnel: Some(1),
            by: Some(tunnel.a),
            until: Some(time.plus_seconds(seconds)),
            count: Some(300),
            ..Event::at(EventKind::PortChanged, Certainty::Read, time, 9)
        });
        document.tunnels.push(tunnel);
        if acknowledged {
            document.ledger.push(Ledger {
                tunnel: 1,
                direction: Direction::BToA,
                basis: LedgerBasis::Acknowledgements,
                ..document.ledger[0].clone()
            });
        }
        (said(&document, Language::English).headline, line_1(&document).0)
    };
    let (line, tunnel) = document(4.0, false);
    assert!(line.contains("port of the client changed"), "{line}");
    assert_eq!(tunnel, Some(1));
    for (seconds, acknowledged) in [(2.0, false), (4.0, true)] {
        let (line, _) = document(seconds, acknowledged);
        assert!(!line.contains("changed"), "{seconds} s, {acknowledged}: {line}");
    }
}
