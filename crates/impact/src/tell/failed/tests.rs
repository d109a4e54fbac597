use super::*;
use rekeyscope_model::analysis::{Certainty, Confidence, Encapsulation, Explanation};
use rekeyscope_model::text::Said;
use rekeyscope_model::time::NANOS_PER_SECOND;
use std::net::IpAddr;

fn at(s: i64) -> Timestamp {
    Timestamp(s * NANOS_PER_SECOND)
}

fn tunnel(id: usize) -> Tunnel {
    Tunnel {
        id,
        a: IpAddr::from([192, 0, 2, 1]),
        b: IpAddr::from([192, 0, 2, 2]),
        encapsulation: Encapsulation::Esp,
        ike_version: Some(2),
        roles_known: true,
        nat: false,
        client_is_windows: false,
    }
}

/// At 110 s, refused with a reason.
fn attempt(index: usize) -> Attempt {
    Attempt {
        index,
        tunnel: 0,
        exchange: Some(index),
        initiator: Some(IpAddr::from([192, 0, 2, 1])),
        first_time: at(110),
        last_time: at(111),
        messages: 4,
        transmissions: 3,
        requests: Vec::new(),
        answered_after_s: Some(2.5),
        outcome: AttemptOutcome::Refused,
        reason: Some("NO_PROPOSAL_CHOSEN".to_owned()),
        rekey: None,
        outage: None,
        evidence_frames: Vec::new(),
        display_filter: String::new(),
    }
}

/// 7.5 s from 112 s on.
fn outage(index: usize) -> Outage {
    Outage {
        index,
        tunnel: 0,
        direction: Direction::BToA,
        start: at(112),
        end: Some(at(120)),
        seconds: 7.5,
        at_least: false,
        ended_by: OutageEnd::NewSa,
        explanation: None,
        inner: None,
        dead: None,
        swallowed: 0,
        confidence: Confidence::High,
        frames: Vec::new(),
        display_filter: String::new(),
    }
}

fn told(attempts: &[Attempt], outages: &[Outage]) -> Option<(String, String)> {
    let tunnels = [tunnel(0), tunnel(1)];
    let mut all = failed(FailureFacts {
        tunnels: &tunnels,
        attempts,
        rekeys: &[],
        outages,
        events: &[],
        ledgers: &[],
        origin: at(100),
        end: at(200),
    });
    assert!(all.len() <= 1 && all.iter().all(|f| f.tunnel == 0));
    let own = all.pop()?;
    Some((
        Said::from(own.headline).sentence,
        Said::from(own.messages).sentence,
    ))
}

fn explained(cause: ExplanationCause, outage: Outage) -> Outage {
    Outage {
        explanation: Some(Explanation::of(cause, Certainty::Proven)),
        ..outage
    }
}

#[test]
fn an_outage_is_told_with_its_cause() {
    let down = explained(ExplanationCause::Refused, outage(0));
    let (headline, said) = told(&[attempt(0), attempt(1)], &[down]).unwrap();
    assert_eq!(
        headline,
        "Nothing was delivered from 12.0 s on: the tunnel was down for 7.50 s."
    );
    assert_eq!(
        said,
        "Nothing was delivered from 12.0 s on (the renewal was refused): nothing passed for 7.50 s, until a new SA carried \
         data. 2 of 2 attempts to renew SAs failed."
    );
}

#[test]
fn an_attempt_that_failed_for_good_is_told_without_an_outage() {
    let (headline, said) = told(&[attempt(0)], &[]).unwrap();
    assert_eq!(
        headline,
        "The rekey at 10.0 s failed: no outage is seen up to the end of this capture."
    );
    assert!(said.ends_with(
        "asked for a new SA once, and the answer was NO_PROPOSAL_CHOSEN; no outage is seen in this capture."
    ));
    let nameless = Attempt {
        initiator: None,
        reason: None,
        ..attempt(0)
    };
    let (_, said) = told(&[nameless], &[]).unwrap();
    assert!(
        said.contains("the initiator asked for a new SA once, and the answer was one that makes no SA"),
        "{said}"
    );
    let outcome = |outcome| {
        let own = Attempt {
            outcome,
            ..attempt(0)
        };
        told(&[own], &[]).unwrap().1
    };
    assert!(
        outcome(AttemptOutcome::Unanswered).starts_with("A rekey failed at 10.0 s: 3 requests, no answer")
    );
}

#[test]
fn an_outage_ends_with_something_or_stays_open() {
    let said = |ended_by, at_least| {
        let down = Outage {
            ended_by,
            at_least,
            ..explained(ExplanationCause::PeerSilent, outage(0))
        };
        told(&[], &[down]).unwrap()
    };
    let (headline, open) = said(OutageEnd::End, true);
    assert!(open.contains("nothing passed for 7.50 s or more"));
    assert!(
        headline.ends_with("the tunnel stayed down (7.50 s so far)."),
        "{headline}"
    );
    let ended = |by| said(by, false).1;
    assert!(ended(OutageEnd::NewIkeSa).contains("7.50 s, until a new IKE SA stood"));
    assert!(ended(OutageEnd::OldSa).contains("(the peer fell silent): nothing passed for 7.50 s."));
}

#[test]
fn the_longest_is_told() {
    let short = Outage {
        seconds: 2.0,
        ..explained(ExplanationCause::Deleted, outage(0))
    };
    let long = explained(ExplanationCause::Refused, outage(1));
    let (_, said) = told(&[], &[short, long]).unwrap();
    assert!(said.contains("refused"), "{said}");
}

#[test]
fn what_was_made_good_or_is_the_cost_of_a_renewal_is_no_failure() {
    let completed = Attempt {
        outcome: AttemptOutcome::Completed,
        ..attempt(1)
    };
    assert_eq!(told(&[attempt(0), completed.clone()], &[]), None);
    let unused = Attempt {
        outcome: AttemptOutcome::CompletedUnused,
        ..attempt(1)
    };
    assert_eq!(told(&[attempt(0), unused], &[]), None);
    assert!(told(&[completed.clone(), attempt(2)], &[]).is_some());
    for cause in [ExplanationCause::DeletedEarly, ExplanationCause::CaptureHole] {
        let down = explained(cause, outage(0));
        assert_eq!(told(std::slice::from_ref(&completed), &[down]), None);
    }
    let of_another_tunnel = Attempt {
        tunnel: 5,
        ..attempt(0)
    };
    assert_eq!(told(&[of_another_tunnel], &[]), None);
}
