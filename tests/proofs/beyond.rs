//! Rule D: datagrams past the limit of an SA are dropped by their receiver, and nothing is ever sent again.

use super::{download, played};
use crate::support::one;
use rekeyscope_model::analysis::{ProofRule, Verdict};
use rekeyscope_testkit::scenario::World;

/// ```text
/// client ◀═ datagrams, more than 1,500 kB on the old SA: the client drops them
///        ◀══▶ server  three messages, late
///        ◀═ datagrams on the new SA
/// ```
/// Four times over.
fn datagrams_beyond_the_limit(w: &mut World) {
    w.establish(1_500);
    for _ in 0..4 {
        let old = w.down.spi;
        while w.carried()[0].inner < 1_500_000 {
            w.datagrams(2);
        }
        let mut qm = w.begin(true);
        qm.kilobytes = 1_500;
        for _ in 0..3 {
            w.message(&mut qm);
            w.datagrams(100);
        }
        w.switch_up(&qm);
        w.switch_down(&qm);
        w.delete(old);
    }
    w.datagrams(2_500);
}

#[test]
fn rule_d_datagrams_beyond_the_limit_are_no_progress() {
    let analysis = played(datagrams_beyond_the_limit);
    assert_eq!(analysis.rekeys.len(), 4);
    for rekey in &analysis.rekeys {
        let proof = download(rekey).proof.as_ref().expect("nothing is proven");
        assert_eq!(
            (proof.rule, proof.segments),
            (ProofRule::NoFeedback, 150),
            "{proof:?}"
        );
        assert!((proof.outage_ms - 300.0).abs() <= 4.0, "{proof:?}");
    }
    let headline = &analysis.impact[0];
    assert_eq!(headline.verdict, Verdict::Shown, "{}", headline.sentence);
    let says = "packets prove an outage at 4 of 4, of at least 0.30 s each";
    assert!(headline.sentence.contains(says), "{}", headline.sentence);
    let stall = headline.stall_ms.as_ref().unwrap().mean;
    assert!(
        (250.0..350.0).contains(&stall),
        "what was dropped is no progress: {stall}"
    );
}

/// UDP inside: what went past the limit was lost, at every rekey.
#[test]
fn datagrams_past_the_limit_make_the_first_sentence() {
    let Some(analysis) = one("x_udp_slowike") else {
        return;
    };
    assert_eq!(analysis.rekeys.len(), 8);
    for rekey in &analysis.rekeys {
        let proof = download(rekey).proof.as_ref();
        assert_eq!(
            proof.map(|p| p.rule),
            Some(ProofRule::NoFeedback),
            "rekey {}",
            rekey.index
        );
    }
    let headline = &analysis.impact[0];
    assert_eq!(headline.verdict, Verdict::Shown, "{}", headline.sentence);
    assert!(
        headline.sentence.contains("past its limit"),
        "{}",
        headline.sentence
    );
}
