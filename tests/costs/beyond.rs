//! Datagrams past the limit of an SA are dropped by their receiver, and nothing is ever sent again.

use super::{download, played};
use crate::support::one;
use rekeyscope_model::analysis::{Direction, LedgerBasis, LedgerWhy, Verdict};
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
fn datagrams_beyond_the_limit_are_no_progress() {
    let analysis = played(datagrams_beyond_the_limit);
    assert_eq!(analysis.rekeys.len(), 4);
    let ledger = analysis.ledger_of(0, Direction::BToA).unwrap();
    assert_eq!((ledger.basis, ledger.rekeys.len()), (LedgerBasis::Datagrams, 4));
    for own in &ledger.rekeys {
        assert_eq!(own.why, LedgerWhy::LostOnOld);
        assert!((148..=152).contains(&own.swallowed), "{own:?}");
        assert!((own.silence_ms - 300.0).abs() <= 6.0, "{own:?}");
        assert!((own.cost_seconds - 0.3).abs() <= 0.01, "{own:?}");
    }
    let headline = &analysis.impact[0];
    assert_eq!(headline.verdict, Verdict::Shown, "{}", headline.sentence);
    let says = "4 of 4 rekeys stopped this download for 0.30 s: at least 1.2 s of";
    assert!(headline.sentence.starts_with(says), "{}", headline.sentence);
    assert!(
        analysis
            .rekeys
            .iter()
            .all(|rekey| download(rekey).at_least == ledger.at_least)
    );
}

/// UDP inside: what went past the limit was lost, at every rekey.
#[test]
fn datagrams_past_the_limit_make_the_first_sentence() {
    let Some(analysis) = one("x_udp_slowike") else {
        return;
    };
    assert_eq!(analysis.rekeys.len(), 8);
    let ledger = analysis.ledger_of(0, Direction::BToA).unwrap();
    assert!(ledger.rekeys.iter().all(|own| own.why == LedgerWhy::LostOnOld));
    assert_eq!(ledger.rekeys.len(), 8);
    // The server of iperf3 counted what was lost.
    assert!(
        (ledger.cost_seconds - 7.08).abs() < 0.1,
        "{}",
        ledger.cost_seconds
    );
    let headline = &analysis.impact[0];
    assert_eq!(headline.verdict, Verdict::Shown, "{}", headline.sentence);
}
