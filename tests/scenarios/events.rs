//! Events: each kind where it was planted, and nothing where something like it was.

use super::played_by_name;
use rekeyscope_model::analysis::{Analysis, Certainty, Event, EventKind};

fn of(analysis: &Analysis, kind: EventKind) -> Vec<&Event> {
    analysis.events.iter().filter(|e| e.kind == kind).collect()
}

fn kinds(analysis: &Analysis) -> Vec<EventKind> {
    analysis.events.iter().map(|e| e.kind).collect()
}

/// The one event of this kind in a scenario.
fn one(name: &str, kind: EventKind) -> Event {
    let analysis = played_by_name(name);
    let found = of(&analysis, kind);
    assert_eq!(found.len(), 1, "{name}: {:?}", analysis.events);
    found[0].clone()
}

#[test]
fn where_nothing_was_planted_nothing_happened() {
    for name in [
        "nothing",
        "NAT port stays",
        "directions far apart",
        "application pauses",
    ] {
        assert_eq!(kinds(&played_by_name(name)), [], "{name}");
    }
}

#[test]
fn a_refusal_is_known_as_far_as_it_was_read() {
    use Certainty::{Inferred, Proven, Read};
    for (name, notify, known) in [
        ("IKEv2, refused", Some("NO_PROPOSAL_CHOSEN"), Read),
        ("IKEv2, refused, unreadable", None, Proven),
        ("refused", Some("NO-PROPOSAL-CHOSEN"), Read),
        ("refused, unreadable", None, Inferred),
    ] {
        let refused = one(name, EventKind::Refused);
        assert_eq!(
            (refused.notify.as_deref(), refused.known),
            (notify, known),
            "{name}"
        );
        assert_eq!(refused.by, Some([10, 9, 0, 1].into()), "{name}");
        assert!(refused.exchange.is_some(), "{name}");
    }
}

/// An attempt and its repeats are one event.
#[test]
fn requests_without_an_answer_are_counted_together() {
    for name in ["no answer", "no answer, unreadable"] {
        let unanswered = one(name, EventKind::Unanswered);
        assert_eq!(unanswered.count, Some(3), "{name}");
        let lasts = unanswered.until.unwrap().seconds_since(unanswered.time);
        assert!((2.9..3.2).contains(&lasts), "{name}: {lasts}");
        // The server goes on sending data.
        assert_eq!(one(name, EventKind::IkeSilent).by, unanswered.by, "{name}");
    }
    let late = one("answered late", EventKind::AnsweredLate);
    assert_eq!(late.count, Some(4));
    let lasts = late.until.unwrap().seconds_since(late.time);
    assert!((5.5..6.0).contains(&lasts), "{lasts}");
    assert_eq!(
        of(&played_by_name("answered late"), EventKind::Unanswered),
        Vec::<&Event>::new()
    );
}

#[test]
fn a_delete_says_whether_something_stood_in_its_place() {
    let ordinary = one("IKEv2", EventKind::ChildDeleted);
    assert_eq!((ordinary.successor, ordinary.spis.len()), (Some(true), 2));
    assert_eq!(ordinary.by, Some([10, 9, 0, 2].into()));
    let broken = one("deleted before negotiated", EventKind::ChildDeleted);
    assert_eq!((broken.successor, broken.known), (Some(false), Certainty::Read));
}

#[test]
fn exchanges_that_cross_are_one_collision() {
    for name in ["collision", "IKEv2, collision"] {
        one(name, EventKind::Collision);
    }
    assert_eq!(
        kinds(&played_by_name("IKEv2, by the server")),
        [EventKind::ChildDeleted]
    );
    // The server says four times that it is busy.
    assert_eq!(of(&played_by_name("IKEv2, storm"), EventKind::Collision).len(), 4);
}

#[test]
fn a_phase_1_in_place_of_another_is_a_new_ike_sa() {
    let new = one("phase 1 renewed", EventKind::NewIkeSa);
    assert_eq!((new.successor, new.known), (Some(true), Certainty::Read));
}

#[test]
fn checks_without_an_answer_are_one_event() {
    let dead = one("IKEv2, peer dies", EventKind::ChecksUnanswered);
    assert_eq!((dead.count, dead.by), (Some(4), Some([10, 9, 0, 1].into())));
}
