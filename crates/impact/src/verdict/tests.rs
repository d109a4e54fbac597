//! Verdicts on made-up ledgers.

use super::{JudgedDirection, judge, project, rekey_costs};
use rekeyscope_model::analysis::{
    Counted, Direction, Impact, Ledger, LedgerBasis, LedgerDown, LedgerInterval, LedgerRekey, LedgerSlow,
    LedgerWhy, TransferImpact, Verdict,
};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Ledger of 16 s at 8 Mbit/s.
fn ledger(costs: &[(usize, f64, f64)]) -> Ledger {
    let rekey = |&(rekey, cost_seconds, silence_ms): &(usize, f64, f64)| LedgerRekey {
        rekey,
        cost_seconds,
        low: cost_seconds,
        high: cost_seconds,
        silence_ms,
        swallowed: 9,
        r0_mbps: 8.0,
        why: LedgerWhy::LostOnOld,
        at_least: false,
        explanation: None,
        intervals: Vec::new(),
    };
    let cost: f64 = costs.iter().map(|own| own.1).sum();
    Ledger {
        inner: None,
        tunnel: 0,
        direction: Direction::BToA,
        basis: LedgerBasis::Acknowledgements,
        seconds: 16.0,
        bytes: 16_000_000,
        cost_seconds: cost,
        share: cost / 16.0,
        without_mbps: 128.0 / (16.0 - cost),
        at_least: false,
        rekeys: costs.iter().map(rekey).collect(),
        down: Vec::new(),
        slow: None,
        bound_ms: Some(12.0),
        not_observed: Vec::new(),
    }
}

const ALL: [usize; 7] = [0, 1, 2, 3, 4, 5, 6];

fn of<'a>(ledger: &'a Ledger, transfers: &'a [TransferImpact]) -> JudgedDirection<'a> {
    JudgedDirection {
        tunnel: 0,
        direction: Direction::BToA,
        counted: Counted::InnerNewBytes,
        ledger: Some(ledger),
        transfers,
        rekeys: &ALL,
        renewals: ALL.len(),
        observed: &ALL,
        near_limit: false,
        holes: (0, 0.0),
        reference_bps: None,
    }
}

fn judged(ledger: &Ledger) -> Impact {
    judge(&of(ledger, &[]))
}

const FOUR: [(usize, f64, f64); 4] = [(0, 0.1, 80.0), (1, 0.25, 300.0), (4, 0.6, 610.0), (5, 0.15, 99.0)];

#[test]
fn rekeys_that_cost_a_hundredth_or_half_of_which_hurt_are_shown() {
    let impact = judged(&ledger(&FOUR));
    assert_eq!(
        (impact.verdict, &impact.rekeys_hurt[..]),
        (Verdict::Shown, &[0, 1, 4, 5][..])
    );
    let sentences = [
        "4 of 7 rekeys stopped this download for 0.08–0.61 s: 1.1 s of 16 s, 6.9 %.",
        "It carried 8.00 Mbit/s, and would have carried 8.59 Mbit/s without them.",
    ];
    assert_eq!(impact.sentence, sentences.join(" "));
    // A hundredth of 16 s is 0.16 s.
    assert_eq!(judged(&ledger(&[(3, 0.16, 200.0)])).verdict, Verdict::Shown);
    assert_eq!(judged(&ledger(&[(3, 0.159, 200.0)])).verdict, Verdict::Some);
}

#[test]
fn a_cost_that_may_be_larger_is_said_as_such() {
    let open = Ledger {
        at_least: true,
        ..ledger(&FOUR)
    };
    assert!(judged(&open).sentence.contains("0.61 s: at least 1.1 s of 16 s"));
    for basis in [LedgerBasis::Datagrams, LedgerBasis::Packets] {
        let sent = Ledger {
            basis,
            ..ledger(&FOUR)
        };
        assert!(judged(&sent).sentence.contains("at least 1.1 s"), "{basis}");
    }
}

#[test]
fn slow_rekeys_without_a_stop_are_told_apart() {
    let mut slow = ledger(&[(0, 0.1, 0.0), (2, 0.2, 0.0)]);
    slow.slow = Some(LedgerSlow {
        cost_seconds: 0.3,
        p: 0.002,
        rekeys: vec![0, 2],
        bound_ms: 5.0,
    });
    let sentence = judged(&slow).sentence;
    assert!(
        sentence
            .starts_with("2 of 7 rekeys slowed this download without stopping it: 0.30 s of 16 s, 1.9 %."),
        "{sentence}"
    );
    let both = Ledger {
        slow: slow.slow.clone(),
        ..ledger(&[(0, 0.1, 0.0), (2, 0.2, 0.0), (3, 0.5, 500.0)])
    };
    let sentence = judged(&both).sentence;
    assert!(sentence.contains("1 of 7 rekeys stopped"), "{sentence}");
    assert!(
        sentence.contains("0.30 s of that is spread over 2 rekeys at which nothing stopped."),
        "{sentence}"
    );
}

/// Bound on rekeys: of 16 s, 3 % are 480 ms: 68 ms for each of seven.
#[test]
fn nothing_is_cleared_without_a_bound_that_means_something() {
    let bound = |bound_ms: Option<f64>| Ledger {
        bound_ms,
        ..ledger(&[])
    };
    let clear = judged(&bound(Some(68.0)));
    assert_eq!(clear.verdict, Verdict::Bounded);
    assert_eq!(
        clear.sentence,
        "None of 7 rekeys slowed this download by more than 68 ms."
    );
    for (unclear, sentence) in [
        (
            Some(69.0),
            "None of 7 rekeys is seen to stop this download; a cost below 69 ms each would not be seen.",
        ),
        (None, "What 7 rekeys cost this download cannot be told."),
    ] {
        let impact = judged(&bound(unclear));
        assert_eq!(impact.verdict, Verdict::Inconclusive);
        assert_eq!(impact.sentence, sentence);
    }
    let outside = bound(Some(1.0));
    let none = JudgedDirection {
        observed: &[],
        ..of(&outside, &[])
    };
    assert_eq!(judge(&none).verdict, Verdict::Inconclusive);
    assert!(
        judge(&none)
            .sentence
            .starts_with("All 7 rekeys happened outside this download")
    );
}

fn down_for_a_second() -> LedgerDown {
    LedgerDown {
        attempt: None,
        outage: Some(0),
        rekey: None,
        cost_seconds: 1.0,
        r0_mbps: 8.0,
        at_least: true,
        swallowed: 0,
        interval: LedgerInterval {
            from: Timestamp(0),
            arrived: None,
            to: Timestamp(NANOS_PER_SECOND),
            from_frame: None,
            to_frame: None,
        },
    }
}

#[test]
fn datagrams_are_cleared_only_where_no_sa_came_near_its_limit() {
    let sent = Ledger {
        basis: LedgerBasis::Datagrams,
        ..ledger(&[])
    };
    let verdict = |near_limit: bool| {
        judge(&JudgedDirection {
            near_limit,
            ..of(&sent, &[])
        })
    };
    assert_eq!(verdict(false).verdict, Verdict::Bounded);
    let near = verdict(true);
    assert_eq!(near.verdict, Verdict::Inconclusive);
    assert!(
        near.sentence.contains("its datagrams went on"),
        "{}",
        near.sentence
    );
    let down = Ledger {
        down: vec![down_for_a_second()],
        ..sent.clone()
    };
    let stood = judge(&JudgedDirection {
        near_limit: true,
        ..of(&down, &[])
    });
    assert!(
        stood.sentence.contains("nobody acknowledges its datagrams"),
        "{}",
        stood.sentence
    );
}

#[test]
fn without_a_transfer_or_a_rekey_there_is_nothing_to_judge() {
    let book = ledger(&[]);
    let nothing = JudgedDirection {
        ledger: None,
        observed: &[],
        ..of(&book, &[])
    };
    let impact = judge(&nothing);
    assert_eq!((impact.verdict, impact.observed_bps), (Verdict::NoTraffic, None));
    assert_eq!(
        impact.sentence,
        "The download carries too little data to tell what 7 rekeys cost."
    );
    let costs = rekey_costs(&nothing);
    assert!(
        costs
            .iter()
            .all(|(_, cost)| !cost.used && cost.cost_seconds.is_none())
    );
    let quiet = JudgedDirection {
        rekeys: &[],
        observed: &[],
        ..of(&book, &[])
    };
    assert_eq!(judge(&quiet).verdict, Verdict::NoRekeys);
    let unused = |renewals| judge(&JudgedDirection { renewals, ..quiet }).sentence;
    let carried = "this download carried 16.0 MB at 8.00 Mbit/s.";
    assert_eq!(unused(0), format!("No rekey in this capture: {carried}"));
    assert_eq!(unused(3), format!("3 renewals, none used by data: {carried}"));
}

#[test]
fn every_rekey_has_an_entry_that_adds_up_to_the_headline() {
    let book = Ledger {
        not_observed: vec![6],
        ..ledger(&FOUR)
    };
    let seen = JudgedDirection {
        observed: &ALL[..6],
        ..of(&book, &[])
    };
    let costs = rekey_costs(&seen);
    let sum: f64 = costs.iter().filter_map(|(_, cost)| cost.cost_seconds).sum();
    assert!((sum - book.cost_seconds).abs() < 1e-12);
    let told: Vec<(bool, bool, Option<f64>)> = costs
        .iter()
        .map(|(_, cost)| (cost.used, cost.hurt, cost.cost_seconds))
        .collect();
    assert_eq!(told[1], (true, true, Some(0.25)));
    assert_eq!(told[2], (true, false, Some(0.0)));
    assert_eq!(told[6], (false, false, None));
    assert_eq!(costs[6].1.flags, ["capture_hole"]);
    assert_eq!(
        judge(&seen).rekeys_hurt.len(),
        costs.iter().filter(|(_, cost)| cost.hurt).count()
    );
}

#[test]
fn holes_rests_and_missing_keys_are_said() {
    let book = Ledger {
        not_observed: vec![3],
        ..ledger(&FOUR)
    };
    let at = |second: i64| Timestamp(second * NANOS_PER_SECOND);
    let transfer = |from, to| TransferImpact {
        start: at(from),
        end: at(to),
        bytes: 8e6,
        rekeys: Vec::new(),
        cost_seconds: Some(0.5),
    };
    let transfers = [transfer(0, 8), transfer(20, 28)];
    let impact = judge(&JudgedDirection {
        counted: Counted::OuterBytes,
        holes: (2, 0.75),
        ..of(&book, &transfers)
    });
    for part in [
        "The capture holds 2 transfers; 12.00 s of rest between them is left out.",
        "The capture lacks 2 stretches (0.75 s) in which the tunnel went on",
        "and one rekey is left out because of it.",
        "Counted are ESP bytes",
    ] {
        assert!(impact.sentence.contains(part), "{part}: {}", impact.sentence);
    }
    let transfer = impact.transfer.unwrap();
    assert_eq!(
        (transfer.start, transfer.duration_s, transfer.rekeys),
        (at(0), 16.0, 7)
    );
}

/// 16 MB with seven rekeys, 8 Mbit/s, 8.59 without them.
#[test]
fn rekeys_explain_their_share_of_a_gap() {
    let book = ledger(&FOUR);
    let explained = |reference_bps: f64| {
        let impact = judge(&JudgedDirection {
            reference_bps: Some(reference_bps),
            ..of(&book, &[])
        });
        (
            impact.explained_share.map(|share| share.estimate),
            impact.sentence,
        )
    };
    let without = 128e6 / 14.9;
    let (share, _) = explained(without);
    assert!((share.unwrap() - 1.0).abs() < 1e-9);
    let (share, sentence) = explained(2.0 * without - 8e6);
    assert!((share.unwrap() - 0.5).abs() < 1e-9);
    assert!(
        sentence.contains("Rekeys explain 50 % of the gap to 9.18 Mbit/s."),
        "{sentence}"
    );
    let (share, sentence) = explained(8e6);
    assert!(
        share.is_none() && sentence.contains("there is no gap to explain"),
        "{sentence}"
    );
}

#[test]
fn other_lifetimes_have_other_numbers_of_rekeys() {
    let book = ledger(&FOUR);
    let judged = of(&book, &[]);
    let projected = project(&judged, 1.0);
    assert_eq!(projected.len(), 4);
    // 16 MB are 0.032 lifetimes of 500 MB, each of a seventh of 1.1 s; and 14.9 s without.
    let first = &projected[0];
    let expected = 128e6 / (14.9 + 0.032 * 1.1 / 7.0);
    assert!((first.expected_bps.estimate / expected - 1.0).abs() < 1e-9);
    assert!((first.expected_bps.low - 128e6 / (14.9 + 0.032 * 0.6)).abs() < 1.0);
    assert!(
        (first.expected_bps.high - 128e6 / 14.9).abs() < 1.0,
        "some cost nothing"
    );
    assert!(
        projected
            .windows(2)
            .all(|two| two[0].expected_bps.estimate < two[1].expected_bps.estimate)
    );
    assert!(project(&of(&ledger(&[]), &[]), 1.0).is_empty(), "nothing to win");
    for ratio in [0.0, -1.0, f64::NAN] {
        assert!(project(&judged, ratio).is_empty());
    }
}
