//! Synthetic attempts and outages.

use super::build::build;
use super::shape::{Shape, at};
use rekeyscope_model::analysis::*;

/// One completed attempt for each rekey with an exchange.
pub(super) fn completed(document: &Analysis) -> Vec<Attempt> {
    let of_rekey = |rekey: &Rekey| {
        let exchange = document.exchanges.get(rekey.exchange?)?;
        Some(Attempt {
            index: 0,
            tunnel: rekey.tunnel,
            exchange: rekey.exchange,
            initiator: rekey.initiator,
            first_time: exchange.first_time,
            last_time: exchange.last_time,
            messages: exchange.messages,
            transmissions: 1,
            requests: vec![exchange.first_time],
            answered_after_s: Some(0.05),
            outcome: AttemptOutcome::Completed,
            reason: None,
            rekey: Some(rekey.index),
            outage: None,
            causes: Vec::new(),
            evidence_frames: exchange.frames.clone(),
            display_filter: String::new(),
        })
    };
    let mut attempts: Vec<Attempt> = document.rekeys.iter().filter_map(of_rekey).collect();
    for (index, attempt) in attempts.iter_mut().enumerate() {
        attempt.index = index;
    }
    attempts
}

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
        confidence: Confidence::High,
        causes: Vec::new(),
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
        causes: vec![Cause {
            id: "rekey_unanswered".into(),
            confidence: Confidence::High,
            evidence_frames: frames.clone(),
            display_filter: filter.into(),
        }],
        evidence_frames: frames,
        display_filter: filter.into(),
    });
    document.outages.push(outage);
    if let Some(headline) = document.impact.first_mut() {
        headline.verdict = Verdict::Failed;
        headline.sentence =
            "A rekey failed at 25.0 s: 3 requests, no answer; nothing passed for 4.00 s or more.".into();
    }
    document
}
