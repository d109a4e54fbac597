use super::*;
use rekeyscope_model::analysis::{Cause, Confidence, Encapsulation};
use rekeyscope_model::text::Said;
use rekeyscope_model::time::NANOS_PER_SECOND;
use std::net::IpAddr;

fn at(s: i64) -> Timestamp {
    Timestamp(s * NANOS_PER_SECOND)
}

fn cause(id: &str) -> Cause {
    Cause {
        id: id.to_owned(),
        confidence: Confidence::High,
        evidence_frames: Vec::new(),
        display_filter: String::new(),
    }
}

fn tunnel(id: usize) -> Tunnel {
    Tunnel {
        id,
        a: IpAddr::from([192, 0, 2, 1]),
        b: IpAddr::from([192, 0, 2, 2]),
        encapsulation: Encapsulation::Esp,
        ike_version: Some(2),
        nat: false,
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
        causes: vec![cause("refused")],
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
        causes: Vec::new(),
        frames: Vec::new(),
        display_filter: String::new(),
    }
}

fn led_to(outage: &Outage, attempt: Attempt) -> Attempt {
    Attempt {
        outage: Some(outage.clone()),
        ..attempt
    }
}

fn told(attempts: &[Attempt], outages: &[Outage]) -> Option<(String, String)> {
    let tunnels = [tunnel(0), tunnel(1)];
    let mut all = failed(attempts, outages, &tunnels, at(100));
    assert!(all.len() <= 1 && all.iter().all(|f| f.tunnel == 0));
    let own = all.pop()?;
    Some((
        Said::from(own.headline).sentence,
        Said::from(own.messages).sentence,
    ))
}

#[test]
fn a_refusal_with_its_outage() {
    let down = outage(0);
    let twice = [led_to(&down, attempt(0)), led_to(&down, attempt(1))];
    let (headline, said) = told(&twice, &[down]).unwrap();
    assert_eq!(
        headline,
        "The rekey at 10.0 s failed: the tunnel was down for 7.50 s."
    );
    assert_eq!(
        said,
        "A rekey failed at 10.0 s: 192.0.2.1 asked 2 times, and the answer was NO_PROPOSAL_CHOSEN; nothing passed for 7.50 s, \
         until a new SA carried data. 2 of 2 attempts to renew SAs failed."
    );
    let (_, said) = told(&[attempt(0)], &[]).unwrap();
    assert!(
        said.ends_with(
            "asked once, and the answer was NO_PROPOSAL_CHOSEN; no outage is seen in this capture."
        )
    );
    let nameless = Attempt {
        initiator: None,
        reason: None,
        ..attempt(0)
    };
    let (_, said) = told(&[nameless], &[]).unwrap();
    assert!(
        said.contains("the initiator asked once, and the answer was one that makes no SA"),
        "{said}"
    );
}

#[test]
fn each_outcome_has_its_sentence() {
    let said = |change: &dyn Fn(&mut Attempt)| {
        let down = outage(0);
        let mut of = led_to(&down, attempt(0));
        change(&mut of);
        told(&[of], &[down]).unwrap()
    };
    let (headline, unanswered) = said(&|a| a.outcome = AttemptOutcome::Unanswered);
    assert!(unanswered.starts_with("A rekey failed at 10.0 s: 3 requests, no answer; nothing passed"));
    assert!(headline.starts_with("The rekey at 10.0 s failed"));
    let (headline, limit) = said(&|a| a.outcome = AttemptOutcome::LimitWithoutAttempt);
    assert!(
        limit.starts_with("An SA passed its limit at 10.0 s") && headline.starts_with("An SA ran out at")
    );
    let (headline, deleted) = said(&|a| a.outcome = AttemptOutcome::BreakBeforeMake);
    assert!(
        deleted.starts_with("The SAs were deleted at 10.0 s") && headline.starts_with("The SAs were deleted")
    );
    let (headline, late) = said(&|a| a.outcome = AttemptOutcome::Completed);
    assert!(late.starts_with("A rekey nearly failed at 10.0 s: 3 requests in 2.50 s until the first answer"));
    assert!(headline.starts_with("The rekey at 10.0 s nearly failed"));
    let (headline, hole) = said(&|a| {
        (a.outcome, a.causes) = (AttemptOutcome::Completed, vec![cause("blackhole_after_rekey")]);
    });
    assert!(
        hole.starts_with("An SA died unnoticed at 12.0 s: what 192.0.2.2 sent went out"),
        "{hole}"
    );
    assert!(headline.starts_with("An SA died unnoticed at 12.0 s"));
}

#[test]
fn an_outage_ends_with_something_or_stays_open() {
    let said = |ended_by, at_least| {
        let down = Outage {
            ended_by,
            at_least,
            ..outage(0)
        };
        told(&[led_to(&down, attempt(0))], &[down]).unwrap()
    };
    let (headline, open) = said(OutageEnd::End, true);
    assert!(open.contains("nothing passed for 7.50 s or more"));
    assert!(
        headline.ends_with("the tunnel stayed down (7.50 s so far)."),
        "{headline}"
    );
    assert!(
        said(OutageEnd::NewIkeSa, false)
            .1
            .contains("7.50 s, until a new IKE SA stood")
    );
    assert!(
        said(OutageEnd::OldSa, false)
            .1
            .contains("nothing passed for 7.50 s.")
    );
    let check = Outage {
        causes: vec![cause("dead_peer")],
        direction: Direction::AToB,
        ..outage(0)
    };
    let (headline, alone) = told(&[], &[check]).unwrap();
    assert!(alone.starts_with("The peer stopped answering at 12.0 s; nothing passed for 7.50 s"));
    assert!(
        headline.starts_with("The peer fell silent at 12.0 s"),
        "{headline}"
    );
}

/// The longest outage, and of its attempts one that failed before one that did not.
#[test]
fn the_worst_is_told() {
    let short = Outage {
        seconds: 2.0,
        ..outage(0)
    };
    let long = outage(1);
    let completed = Attempt {
        outcome: AttemptOutcome::Completed,
        ..led_to(&long, attempt(0))
    };
    let refused = Attempt {
        first_time: at(105),
        ..led_to(&long, attempt(1))
    };
    let of_the_short_one = led_to(&short, attempt(2));
    let (headline, said) = told(&[completed, refused, of_the_short_one], &[short, long]).unwrap();
    assert_eq!(
        headline,
        "The rekey at 5.0 s failed: the tunnel was down for 7.50 s."
    );
    assert!(
        said.contains("asked once") && said.ends_with("2 of 3 attempts to renew SAs failed."),
        "{said}"
    );
}

#[test]
fn what_was_made_good_or_has_no_cause_is_no_failure() {
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
    assert_eq!(told(&[completed], &[]), None);
    let without_cause = Attempt {
        causes: Vec::new(),
        outcome: AttemptOutcome::Completed,
        ..led_to(&outage(0), attempt(0))
    };
    assert_eq!(told(&[without_cause], &[outage(0)]), None);
    let of_another_tunnel = Attempt {
        tunnel: 5,
        ..attempt(0)
    };
    assert_eq!(told(&[of_another_tunnel], &[]), None);
}
