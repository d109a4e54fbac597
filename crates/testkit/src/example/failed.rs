//! Synthetic attempts and outages.

use super::build::build;
use super::shape::{RATE_BPS, Shape, at};
use rekeyscope_model::analysis::*;

/// Three rekeys, and a fourth that nobody answers: nothing passes until the end.
pub fn one_failed() -> Analysis {
    let mut document = build(&Shape {
        rekeys: 3,
        ..Shape::default()
    });
    let first_time = at(25.0);
    let outage = Outage {
        index: 0,
        tunnel: 0,
        direction: Direction::BToA,
        start: at(26.0),
        end: None,
        seconds: 4.0,
        at_least: true,
        ended_by: OutageEnd::End,
        explanation: Some(Explanation {
            by: Some(document.tunnels[0].b),
            count: Some(3),
            frames: vec![19_000, 19_100, 19_200],
            ..Explanation::of(ExplanationCause::Unanswered, Certainty::Proven)
        }),
        inner: None,
        dead: None,
        swallowed: 0,
        confidence: Confidence::High,
        frames: vec![20_000, 20_100],
        display_filter: "frame.number in {20000, 20100}".into(),
    };
    let frames = vec![19_000, 19_100, 19_200];
    let filter = "frame.number in {19000, 19100, 19200}";
    document.attempts.push(Attempt {
        index: document.attempts.len(),
        tunnel: 0,
        exchange: None,
        initiator: Some(document.tunnels[0].a),
        first_time,
        last_time: at(28.0),
        messages: 3,
        transmissions: 3,
        requests: vec![first_time, at(26.0), at(28.0)],
        answered_after_s: None,
        outcome: AttemptOutcome::Unanswered,
        reason: Some("peer_silent".into()),
        rekey: None,
        outage: Some(outage.clone()),
        evidence_frames: frames,
        display_filter: filter.into(),
    });
    document.ledger[0].down.push(LedgerDown {
        outage: None,
        attempt: document.attempts.last().map(|attempt| attempt.index),
        rekey: None,
        cost_seconds: outage.seconds,
        r0_mbps: RATE_BPS / 1e6,
        at_least: true,
        swallowed: 9,
        interval: LedgerInterval {
            from: outage.start,
            arrived: None,
            to: at(30.0),
            from_frame: Some(20_000),
            to_frame: None,
        },
    });
    document.outages.push(outage);
    if let Some(headline) = document.impact.first_mut() {
        headline.verdict = Verdict::Failed;
    }
    document
}
