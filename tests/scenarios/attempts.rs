//! Attempts and outages: what became of each rekey, when nothing passed, and what is said of both.

use super::played_by_name;
use rekeyscope_model::analysis::{Analysis, AttemptOutcome, Finding, OutageEnd, Verdict};
use rekeyscope_report::words::answer_lines;

/// Outcome of each attempt but the first of IKEv1, which made the first pair.
fn outcomes(analysis: &Analysis) -> Vec<AttemptOutcome> {
    let first = usize::from(analysis.tunnels[0].ike_version == Some(1));
    analysis.attempts[first..].iter().map(|a| a.outcome).collect()
}

/// Line 1 says what failed, and for how long nothing passed; each outcome is what was planted.
#[test]
fn what_failed_is_line_1() {
    use AttemptOutcome::*;
    for (name, expected, ends, says) in [
        (
            "IKEv2, refused",
            &[Refused][..],
            OutageEnd::End,
            "refused the renewal: down since",
        ),
        (
            "refused",
            &[Refused],
            OutageEnd::End,
            "refused the renewal: down since",
        ),
        (
            "refused by message ID",
            &[Refused],
            OutageEnd::End,
            "refused the renewal: down since",
        ),
        (
            "refused, unreadable",
            &[Refused],
            OutageEnd::End,
            "refused the renewal: down since",
        ),
        (
            "no answer",
            &[Unanswered],
            OutageEnd::End,
            "did not answer the renewal: down since",
        ),
        (
            "answered late",
            &[Completed],
            OutageEnd::NewSa,
            "The renewal got no answer for",
        ),
        (
            "limit without a rekey",
            &[Completed],
            OutageEnd::NewSa,
            "An SA reached its limit at",
        ),
        (
            "deleted before negotiated",
            &[Completed],
            OutageEnd::NewSa,
            "renews by deleting first",
        ),
        (
            "SA lost after a rekey",
            &[Completed, Completed],
            OutageEnd::NewSa,
            "fell silent",
        ),
        ("IKEv2, peer dies", &[], OutageEnd::End, "fell silent"),
    ] {
        let analysis = played_by_name(name);
        let headline = &analysis.impact[0];
        assert_eq!(outcomes(analysis), expected, "{name}");
        let line = answer_lines(analysis).headline;
        assert_eq!(headline.verdict, Verdict::Failed, "{name}: {line}");
        assert!(line.contains(says), "{name}: {line}");
        assert_eq!(analysis.outages.len(), 1, "{name}: {:?}", analysis.outages);
        assert_eq!(analysis.outages[0].ended_by, ends, "{name}");
    }
}

#[test]
fn failures_that_heal_do_not_make_the_headline() {
    use AttemptOutcome::*;
    let storm = played_by_name("IKEv2, storm");
    assert_eq!(outcomes(storm), [Refused, Refused, Refused, Refused, Completed]);
    assert_ne!(
        storm.impact[0].verdict,
        Verdict::Failed,
        "{}",
        storm.impact[0].sentence
    );
    let collision = played_by_name("IKEv2, collision");
    assert_eq!(outcomes(collision), [Completed, Superseded]);
    let plain = played_by_name("nothing");
    assert_eq!((outcomes(plain), plain.outages.len()), (vec![Completed], 0));
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
    assert!(outage.explanation.is_some(), "{outage:?}");
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
    for name in ["third message lost", "third message lost, heard on the old SA"] {
        let analysis = played_by_name(name);
        assert_ne!(analysis.impact[0].verdict, Verdict::Failed);
        let mut longest = analysis
            .attempts
            .iter()
            .filter_map(|a| Some((a.rekey?, a.outage.as_ref()?)));
        let of_it = longest
            .any(|(rekey, outage)| rekey == 0 && outage.seconds > 2.0 && outage.ended_by == OutageEnd::NewSa);
        assert!(of_it, "{name}: {:?}", analysis.outages);
    }
}

#[test]
fn a_tunnel_that_fails_open_is_told_and_one_that_does_not_is_not() {
    let leaks = |name| {
        let analysis = played_by_name(name);
        let of_it = |f: &&Finding| f.id == "cleartext_leak";
        analysis.findings.iter().find(of_it).map(|f| f.sentence.clone())
    };
    let said = leaks("IKEv2, refused, fails open").unwrap();
    // Five segments of 1,228 bytes with 40 bytes of headers.
    assert!(
        said.contains("5 packets (6,340 bytes) from 10.66.0.1 to 10.66.0.2"),
        "{said}"
    );
    // GRE and an IP header around each of them.
    let said = leaks("IKEv2, refused, fails open in GRE").unwrap();
    assert!(
        said.contains("5 packets (6,460 bytes) from 10.66.0.1 to 10.66.0.2"),
        "{said}"
    );
    assert_eq!(leaks("IKEv2, refused"), None);
    assert_eq!(leaks("cleartext leak"), None, "L2TP in clear is another finding");
}
