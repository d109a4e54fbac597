//! Several **simulated** transfers with rest between them.

use crate::{SYNTHETIC, contains, settings};
use rekeyscope_impact::{DirectionImpact, MethodSettings, RekeyMoment, Start, Traffic, assess_transfers};
use rekeyscope_model::analysis::{Impact, Verdict};
use rekeyscope_simulate::{Scenario, Simulated, simulate};

/// The second run begins so long after the end of the first.
const REST_S: i64 = 120;

/// Runs one behind the other, and the rekeys of all of them.
fn joined(runs: &[&Simulated]) -> (Vec<Traffic>, Vec<RekeyMoment>) {
    let (mut traffic, mut rekeys): (Vec<Traffic>, Vec<RekeyMoment>) = (Vec::new(), Vec::new());
    for run in runs {
        let mut moved = run.traffic.clone();
        if let Some(last) = traffic.last() {
            // A whole number of bins: what follows is moved and not resampled.
            let seconds = (last.bytes.len() as f64 * last.base_bin_s).ceil() as i64 + REST_S;
            moved.start = last.start.plus_nanos(seconds * 1_000_000_000);
        }
        let by = moved
            .start
            .seconds_since(traffic.first().map_or(moved.start, |first| first.start));
        let later = run.rekeys.iter().map(|r| RekeyMoment {
            index: rekeys.len() + r.index,
            start: Start::Message(r.start.latest_s(r.switched_s) + by),
            switched_s: r.switched_s + by,
            proven: r.proven,
        });
        let later: Vec<RekeyMoment> = later.collect();
        rekeys.extend(later);
        traffic.push(moved);
    }
    (traffic, rekeys)
}

fn judged(runs: &[&Simulated]) -> DirectionImpact {
    let (traffic, rekeys) = joined(runs);
    let settings = MethodSettings {
        rekeys_total: rekeys.len(),
        ..settings()
    };
    assess_transfers(&traffic, &rekeys, &settings)
}

fn stalled(stall_s: f64) -> Scenario {
    Scenario { stall_s, ..SYNTHETIC }
}

#[test]
fn every_transfer_is_measured_as_if_it_were_alone() {
    let runs = [simulate(&stalled(0.4), 1), simulate(&SYNTHETIC, 2)];
    let both = judged(&[&runs[0], &runs[1]]);
    let mut rekeys = both.rekeys.iter().map(|(_, r)| r);
    for (number, run) in runs.iter().enumerate() {
        let alone = judged(&[run]);
        let transfer = &both.impact.transfers[number];
        assert_eq!(transfer.verdict, alone.impact.verdict, "{number}");
        assert_eq!(transfer.stall_ms, alone.impact.stall_ms, "{number}");
        assert_eq!(transfer.bytes, alone.impact.transfer.unwrap().bytes, "{number}");
        for (_, own) in &alone.rekeys {
            let there = rekeys.next().unwrap();
            assert_eq!((there.used, there.hurt), (own.used, own.hurt));
            let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
            assert!(close(there.longest_gap_ms.unwrap(), own.longest_gap_ms.unwrap()));
            assert!(close(there.q.unwrap(), own.q.unwrap()), "{there:?} {own:?}");
        }
    }
    contains(
        &both.impact.sentence,
        &["2 transfers", "transfer 1 shown and transfer 2 not shown"],
    );
}

#[test]
fn all_rekeys_are_one_sample() {
    let runs = [simulate(&stalled(0.4), 1), simulate(&stalled(0.4), 3)];
    let both = judged(&[&runs[0], &runs[1]]);
    let each = [&runs[0], &runs[1]].map(|run| judged(&[run]).impact);
    assert_eq!(both.impact.verdict, Verdict::Shown);
    assert_eq!(both.impact.rekeys_hurt, (0..20).collect::<Vec<_>>());
    let mean = |i: &Impact| i.stall_ms.as_ref().unwrap().mean;
    let rekeys = |i: &Impact| i.rekeys_used as f64;
    let (a, b) = (&each[0], &each[1]);
    assert_eq!(a.decision_window_s, both.impact.decision_window_s);
    assert_eq!(b.decision_window_s, both.impact.decision_window_s);
    let expected = (mean(a) * rekeys(a) + mean(b) * rekeys(b)) / (rekeys(a) + rekeys(b));
    assert!((mean(&both.impact) - expected).abs() < 1e-6, "{expected}");
    assert_eq!(
        (a.at_least, b.at_least, both.impact.at_least),
        (false, false, false)
    );
    assert!(
        !both.impact.sentence.contains("Verdicts differ"),
        "{}",
        both.impact.sentence
    );
    let (own, whole) = (
        a.transfer.as_ref().unwrap(),
        both.impact.transfer.as_ref().unwrap(),
    );
    let other = b.transfer.as_ref().unwrap();
    assert!((whole.duration_s - own.duration_s - other.duration_s).abs() < 1e-6);
    assert_eq!(whole.bytes, own.bytes + other.bytes);
}

/// One rekey in each of four transfers: none has a mean of its own, all together do.
#[test]
fn a_mean_needs_no_transfer_with_three_rekeys() {
    let one = Scenario {
        rekeys: 1,
        ..stalled(0.4)
    };
    let runs: Vec<Simulated> = (1..=4).map(|seed| simulate(&one, seed)).collect();
    let all = judged(&runs.iter().collect::<Vec<_>>());
    assert!(all.impact.transfers.iter().all(|t| t.stall_ms.is_none()));
    assert_eq!((all.impact.verdict, all.impact.rekeys_used), (Verdict::Shown, 4));
    let stall = all.impact.stall_ms.unwrap();
    let planted = runs.iter().flat_map(|r| &r.stalls_s).sum::<f64>() / 4.0 * 1000.0;
    assert!((stall.low..=stall.high).contains(&planted), "{stall:?} {planted}");
}

/// A rekey that is told only by a short transfer does not shorten the windows of a long one.
#[test]
fn a_short_transfer_does_not_decide_how_long_windows_are() {
    let long = simulate(&stalled(0.4), 1);
    let mut short = simulate(
        &Scenario {
            rekeys: 1,
            ..SYNTHETIC
        },
        2,
    );
    let rekey_s = short.rekeys[0].switched_s;
    short
        .traffic
        .bytes
        .truncate(((rekey_s + 1.0) / short.traffic.base_bin_s) as usize);
    short.traffic.gaps.retain(|g| g.end_s < rekey_s + 1.0);
    short.traffic.gaps_total = short.traffic.gaps.len() as u64;
    let (alone, both) = (judged(&[&long]), judged(&[&long, &short]));
    assert_eq!(both.impact.decision_window_s, alone.impact.decision_window_s);
    assert_eq!(both.impact.verdict, Verdict::Shown);
}
