//! Synthetic verdicts.

use super::shape::Shape;
use rekeyscope_model::analysis::*;

pub(super) fn impact(shape: &Shape, document: &Analysis, tunnel: usize, direction: Direction) -> Impact {
    let rekeys_hurt: Vec<usize> = document
        .rekeys
        .iter()
        .filter(|r| r.tunnel == tunnel && r.impact.iter().any(|i| i.hurt && i.direction == direction))
        .map(|r| r.index)
        .collect();
    let data = shape.traffic && direction == Direction::BToA;
    let verdict = match (shape.traffic, shape.rekeys, data, rekeys_hurt.len()) {
        (false, ..) => Verdict::NoTraffic,
        (_, 0, ..) => Verdict::NoRekeys,
        (_, _, false, _) => Verdict::NoTraffic,
        (_, _, _, 0) => Verdict::Bounded,
        _ => Verdict::Some,
    };
    let measured = data && shape.rekeys > 0;
    Impact {
        tunnel,
        direction,
        verdict,
        sentence: sentence(verdict, &rekeys_hurt, shape),
        messages: Vec::new(),
        counted: if shape.keys {
            Counted::InnerNewBytes
        } else {
            Counted::OuterBytes
        },
        rekeys: shape.rekeys,
        rekeys_used: if measured { shape.rekeys } else { 0 },
        rekeys_hurt,
        observed_bps: data.then_some(8.61e6),
        counterfactual_bps: measured.then_some(8.72e6),
        transfer: None,
        transfers: Vec::new(),
        burst_ms: measured.then_some(80.0),
        reference_bps: measured.then_some(9.6e6),
        interest_ms: measured.then_some(110.0),
        stall_ms: measured.then_some(Interval {
            mean: 62.0,
            low: -31.0,
            high: 155.0,
        }),
        at_least: false,
        decision_window_s: measured.then_some(0.5),
        affected_share: measured.then_some(0.142),
        bias_ms: None,
        p: measured.then_some(0.083),
        mde_ms: measured.then_some(118.0),
        explained_share: measured.then_some(Estimate {
            estimate: 0.11,
            low: 0.0,
            high: 0.27,
        }),
        arithmetic_bound: match measured {
            true => {
                "To turn 9.60 into 8.61 Mbit/s by rekeys alone, each of the 7 would have to waste 0.43 s."
                    .into()
            }
            false => String::new(),
        },
        arithmetic_bound_messages: Vec::new(),
        sensitivity: if measured { sensitivity() } else { Vec::new() },
        seed: 1_795_205_509,
    }
}

fn sentence(verdict: Verdict, hurt: &[usize], shape: &Shape) -> String {
    let list: Vec<String> = hurt.iter().map(|k| (k + 1).to_string()).collect();
    match verdict {
        Verdict::Some => format!(
            "A cost of the {} rekeys is not shown in the mean (62 ms per rekey, 95 % interval −31 to 155 ms, \
             p = 0.083), but rekeys {} hurt.",
            shape.rekeys,
            list.join(", ")
        ),
        Verdict::Bounded => "Rekeys cost at most 45 ms each (1.2 % of throughput), less than matters.".into(),
        Verdict::NoRekeys => "No rekey happened in this capture, so none can have cost throughput.".into(),
        _ => "There is no data transfer in this direction, so there is nothing to measure.".into(),
    }
}

fn sensitivity() -> Vec<Sensitivity> {
    let run = |change: &str, verdict, p| Sensitivity {
        change: change.into(),
        messages: Vec::new(),
        verdict,
        stall_ms: Some(60.0),
        p: Some(p),
        disagrees: verdict != Verdict::Some,
    };
    vec![
        run("bins of 5 ms", Verdict::Some, 0.079),
        run("bins of 50 ms", Verdict::Inconclusive, 0.2),
        run("windows begin at the switch", Verdict::Some, 0.085),
    ]
}

pub(super) fn projection(tunnel: usize, lifetime_kilobytes: u64) -> Projection {
    Projection {
        tunnel,
        direction: Direction::BToA,
        lifetime_kilobytes,
        expected_bps: Estimate {
            estimate: 8.718e6,
            low: 8.70e6,
            high: 8.72e6,
        },
    }
}
