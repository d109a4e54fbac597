//! Events: each kind where it was planted, and nothing where something like it was.

use super::outages::{later_fragments_dropped, later_fragments_never_come};
use super::steps::{AFTER, BEFORE, GENEROUS, rekey_in_silence};
use super::{ikev2, played_by_name};
use crate::support::analyze_world;
use rekeyscope_model::analysis::{Analysis, Certainty, Event, EventKind};
use rekeyscope_testkit::scenario::World;
use std::net::{IpAddr, Ipv4Addr};

const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 0, 1));

fn of(analysis: &Analysis, kind: EventKind) -> Vec<&Event> {
    analysis.events.iter().filter(|e| e.kind == kind).collect()
}

fn kinds(analysis: &Analysis) -> Vec<EventKind> {
    analysis.events.iter().map(|e| e.kind).collect()
}

/// The one event of this kind in a scenario.
fn one(name: &str, kind: EventKind) -> Event {
    let analysis = played_by_name(name);
    let found = of(analysis, kind);
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
        assert_eq!(kinds(played_by_name(name)), [], "{name}");
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
        of(played_by_name("answered late"), EventKind::Unanswered),
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
        kinds(played_by_name("IKEv2, by the server")),
        [EventKind::ChildDeleted]
    );
    // The server says four times that it is busy.
    assert_eq!(of(played_by_name("IKEv2, storm"), EventKind::Collision).len(), 4);
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

fn played(play: impl FnOnce(&mut World), with_ike_key: bool) -> Analysis {
    let mut world = World::new();
    play(&mut world);
    analyze_world(world, with_ike_key)
}

/// The one event of a kind, read and unread.
fn both(play: fn(&mut World), kind: EventKind) -> [Event; 2] {
    [true, false].map(|with_ike_key| {
        let analysis = played(play, with_ike_key);
        let found = of(&analysis, kind);
        assert_eq!(found.len(), 1, "{with_ike_key}: {:?}", analysis.events);
        found[0].clone()
    })
}

fn server_deletes_the_ike_sa(w: &mut World) {
    w.steady(BEFORE);
    w.check_v2(true);
    w.steady(BEFORE);
    w.delete_ike_sa_v2(false);
    w.wait(5_000);
    w.go_deaf(3);
    w.wait(5_000);
}

#[test]
fn a_delete_of_the_ike_sa_is_told_without_keys_too() {
    let gone = |w: &mut World| {
        w.steady(BEFORE);
        w.check_v2(true);
        w.steady(BEFORE);
        w.acknowledge_all();
        w.wait(40);
        w.delete_ike_sa_v2(false);
        w.wait(5_000);
        w.icmp(3, 1, 0);
    };
    let [read, unread] = both(gone, EventKind::IkeSaDeleted);
    for event in [&read, &unread] {
        assert_eq!((event.by, event.successor), (Some(SERVER), Some(false)));
    }
    assert_eq!((read.known, unread.known), (Certainty::Read, Certainty::Inferred));
    // ESP goes on: what was deleted, nobody can tell.
    let goes_on = played(server_deletes_the_ike_sa, false);
    assert_eq!(of(&goes_on, EventKind::IkeSaDeleted), Vec::<&Event>::new());
    assert_eq!(of(&goes_on, EventKind::Deleted).len(), 1);
    // A child SA after its rekey, and a check under the same SPIs behind it.
    let child = |w: &mut World| {
        ikev2::renewed_v2(w);
        w.check_v2(true);
        w.steady(100);
    };
    let [read, unread] = both(child, EventKind::ChildDeleted);
    assert_eq!((read.successor, unread.successor), (Some(true), Some(true)));
    assert_eq!((read.known, unread.known), (Certainty::Read, Certainty::Proven));
}

/// No key opens a message of IKEv1; the SAs that end with it tell. A message after a silence may as well be a check of a peer.
#[test]
fn a_delete_of_ikev1_is_known_by_the_sas_that_end_with_it() {
    let [read, unread] = both(super::failure::break_before_make, EventKind::ChildDeleted);
    assert_eq!(
        (read.by, read.successor, read.frame),
        (unread.by, unread.successor, unread.frame)
    );
    assert_eq!((read.known, unread.known), (Certainty::Read, Certainty::Inferred));
    let late = |w: &mut World| {
        w.establish(GENEROUS);
        w.steady(BEFORE);
        w.acknowledge_all();
        w.wait(500);
        w.delete(w.down.spi);
        w.wait(500);
        rekey_in_silence(w);
        w.steady(AFTER);
    };
    assert_eq!(
        of(&played(late, false), EventKind::ChildDeleted),
        Vec::<&Event>::new()
    );
}

#[test]
fn an_ike_sa_that_was_renewed_leaves_a_successor() {
    let renewed = |w: &mut World| {
        w.steady(BEFORE);
        w.check_v2(true);
        w.steady(1_000);
        w.renew_ike_sa_v2();
        w.steady(6_000);
        w.check_v2(true);
        w.steady(1_000);
    };
    let [read, unread] = both(renewed, EventKind::IkeSaRekeyed);
    assert_eq!((read.known, unread.known), (Certainty::Read, Certainty::Inferred));
    assert_eq!(read.frame, unread.frame);
    for event in both(renewed, EventKind::IkeSaDeleted) {
        assert_eq!(event.successor, Some(true));
    }
    assert_eq!(
        of(&played(renewed, true), EventKind::NewIkeSa),
        Vec::<&Event>::new()
    );
}

#[test]
fn an_answer_that_was_not_heard_is_asked_for_again() {
    let asks_again = |waits: &'static [u64]| {
        move |w: &mut World| {
            w.steady(BEFORE);
            let rekey = w.agree_v2(true, 30);
            for &wait in waits {
                w.steady(wait);
                w.repeat_v2(&rekey, 0);
                w.repeat_v2(&rekey, 1);
            }
            w.steady(AFTER);
        }
    };
    for with_ike_key in [true, false] {
        let lost = played(asks_again(&[4_000, 7_000]), with_ike_key);
        let found = of(&lost, EventKind::AnswerLost);
        assert_eq!(found.len(), 1, "{:?}", lost.events);
        assert_eq!((found[0].count, found[0].by), (Some(3), Some(SERVER)));
        assert_eq!(of(&lost, EventKind::Unanswered), Vec::<&Event>::new());
        // The third message of a Quick Mode is the client's answer to the second one, which the server sends again.
        let third = one("third message lost", EventKind::AnswerLost);
        assert_eq!(third.by, Some([10, 9, 0, 2].into()));
        // A copy that crossed the answer.
        assert_eq!(kinds(&played(asks_again(&[100]), with_ike_key)), []);
    }
}

/// The first try offers a group that the server does not take, the second one another (RFC 7296 §1.3).
#[test]
fn a_second_try_with_another_group_is_no_refusal() {
    let tries = |second: bool| {
        move |w: &mut World| {
            w.steady(BEFORE);
            let mut rekey = w.begin_v2(true);
            w.message_v2(&mut rekey);
            w.steady(30);
            w.refuse_v2(&mut rekey, 17);
            w.steady(20);
            if second {
                let mut again = w.begin_v2(true);
                again.key_exchange = true;
                w.message_v2(&mut again);
                w.steady(30);
                w.message_v2(&mut again);
                w.switch_up_v2(&again);
                w.switch_down_v2(&again);
            }
            w.steady(AFTER);
        }
    };
    for with_ike_key in [true, false] {
        assert_eq!(kinds(&played(tries(true), with_ike_key)), []);
        let refused = played(tries(false), with_ike_key);
        assert_eq!(kinds(&refused), [EventKind::Refused]);
    }
}

#[test]
fn a_peer_that_does_not_know_an_spi_says_so_once() {
    let unknown = |w: &mut World| {
        w.establish(GENEROUS);
        w.steady(BEFORE);
        for _ in 0..5 {
            w.steady(2_000);
            w.invalid_spi(w.up.spi);
        }
        w.main_mode();
        w.steady(AFTER);
    };
    for event in both(unknown, EventKind::InvalidSpi) {
        assert_eq!((event.count, event.known), (Some(5), Certainty::Read));
        assert_eq!(event.spis.len(), 1);
    }
    // Cookies of a message in clear are none of an IKE SA.
    assert_eq!(both(unknown, EventKind::NewIkeSa)[1].successor, Some(true));
}

#[test]
fn icmp_about_ipsec_is_an_event_with_the_mtu_of_the_next_hop() {
    let answered = |w: &mut World| {
        w.steady(BEFORE);
        for _ in 0..3 {
            w.icmp(3, 4, 1_400);
            w.steady(1_000);
        }
    };
    for event in both(answered, EventKind::Unreachable) {
        assert_eq!(event.notify.as_deref(), Some("fragmentation needed"));
        assert_eq!((event.count, event.by), (Some(1_400), Some([10, 9, 0, 9].into())));
        assert_eq!(event.spis.len(), 1);
    }
    let echo = |w: &mut World| {
        w.steady(BEFORE);
        w.icmp(8, 0, 0);
        w.steady(AFTER);
    };
    assert_eq!(kinds(&played(echo, true)), []);
}

#[test]
fn fragments_of_a_request_that_are_missing_and_that_are_not() {
    let request = |passing: usize| {
        move |w: &mut World| {
            w.steady(BEFORE);
            w.check_v2(true);
            w.request_in_fragments(passing);
            w.steady(AFTER);
        }
    };
    for with_ike_key in [true, false] {
        let first = played(request(1), with_ike_key);
        let found = of(&first, EventKind::FragmentsIncomplete);
        assert_eq!(found.len(), 1, "{:?}", first.events);
        assert_eq!((found[0].known, found[0].count), (Certainty::Proven, Some(1)));
        let all = played(request(9), with_ike_key);
        let found = of(&all, EventKind::FragmentsIncomplete);
        assert_eq!(found.len(), 1, "{:?}", all.events);
        assert_eq!((found[0].known, found[0].by), (Certainty::Inferred, Some(SERVER)));
        assert_eq!(of(&all, EventKind::Unanswered).len(), 1);
    }
}

#[test]
fn first_fragments_alone_are_told_where_their_sender_waits() {
    let dropped = |in_udp: bool| {
        move |w: &mut World| {
            w.nat_port = in_udp.then_some(31_000);
            later_fragments_dropped(w);
        }
    };
    for in_udp in [false, true] {
        let analysis = played(dropped(in_udp), true);
        let found = of(&analysis, EventKind::OnlySmallPass);
        assert_eq!(found.len(), 1, "{:?}", analysis.events);
        assert_eq!((found[0].by, found[0].count), (Some(SERVER), Some(105)));
        let explanation = analysis.outages[0].explanation.as_ref().unwrap();
        assert_eq!(explanation.event, Some(found[0].index));
    }
    let analysis = played(later_fragments_never_come, true);
    assert_eq!(of(&analysis, EventKind::OnlySmallPass).len(), 1);
    // A capture that was chosen by ports has no later fragments, and another way may take them: the transfer goes on.
    let chosen = |w: &mut World| {
        w.nat_port = Some(31_000);
        w.mtu = Some(1_300);
        w.rest_dropped = Some([10, 9, 0, 1]);
        w.steady(AFTER);
    };
    let another_way = |w: &mut World| {
        w.mtu = Some(1_300);
        w.steady(BEFORE);
        w.rest_dropped = Some([10, 9, 0, 1]);
        w.steady(AFTER);
    };
    for analysis in [played(chosen, true), played(another_way, true)] {
        assert_eq!(of(&analysis, EventKind::OnlySmallPass), Vec::<&Event>::new());
    }
}

#[test]
fn l2tp_and_ppp_take_their_leave() {
    let leaves = |w: &mut World| {
        w.steady(BEFORE);
        w.lcp(false, 5);
        w.l2tp_control(false, Some(14));
        w.l2tp_control(false, Some(4));
        w.wait(1_000);
        w.l2tp_control(false, Some(4));
        w.wait(100);
    };
    let analysis = played(leaves, true);
    let expected = [
        EventKind::LcpTerminated,
        EventKind::CallDisconnected,
        EventKind::StopCcn,
    ];
    assert_eq!(kinds(&analysis), expected);
    assert_eq!(analysis.events[2].count, Some(2));
    assert!(
        analysis
            .events
            .iter()
            .all(|e| e.by == Some(SERVER) && e.known == Certainty::Read)
    );
    let in_clear = |w: &mut World| {
        w.steady(BEFORE);
        w.l2tp_in_clear(4);
        w.steady(100);
    };
    assert_eq!(kinds(&played(in_clear, false)), [EventKind::StopCcn]);
}

#[test]
fn echoes_without_a_reply_are_one_event_and_answered_ones_none() {
    let asks = |replies: bool, times: usize| {
        move |w: &mut World| {
            w.steady(BEFORE);
            for _ in 0..times {
                w.lcp(false, 9);
                w.steady(2_000);
                if replies {
                    w.lcp(true, 10);
                }
            }
        }
    };
    let silent = played(asks(false, 4), true);
    assert_eq!(kinds(&silent), [EventKind::EchoUnanswered]);
    let event = &silent.events[0];
    assert_eq!((event.count, event.by), (Some(4), Some([10, 9, 0, 2].into())));
    assert_eq!(kinds(&played(asks(true, 4), true)), []);
    assert_eq!(kinds(&played(asks(false, 1), true)), [], "one may be lost");
    let hellos = |w: &mut World| {
        w.steady(BEFORE);
        for _ in 0..3 {
            w.l2tp_control(false, Some(6));
            w.steady(2_000);
        }
    };
    assert_eq!(kinds(&played(hellos, true)), [EventKind::EchoUnanswered]);
    assert_eq!(kinds(played_by_name("Hello with answer")), []);
}

#[test]
fn a_new_sa_that_begins_above_1_lost_its_first_packets() {
    let renewed = |lost: u32| {
        move |w: &mut World| {
            w.steady(BEFORE);
            w.renew_v2(true);
            w.down.sequence = lost;
            w.steady(AFTER);
        }
    };
    for with_ike_key in [true, false] {
        let analysis = played(renewed(42), with_ike_key);
        assert_eq!(kinds(&analysis), [EventKind::FirstNumber]);
        assert_eq!(
            (analysis.events[0].count, analysis.events[0].by),
            (Some(43), Some(SERVER))
        );
        assert_eq!(kinds(&played(renewed(0), with_ike_key)), []);
    }
    // The capture begins later than the SA.
    let later = |w: &mut World| {
        w.down.sequence = 42;
        w.steady(BEFORE);
    };
    assert_eq!(kinds(&played(later, true)), []);
}

#[test]
fn a_limit_that_was_reached_is_an_event_and_one_that_was_not_is_none() {
    let reached = one("limit without a rekey", EventKind::LimitReached);
    assert_eq!(reached.count, Some(6_000 * 1_000));
    assert_eq!(
        of(played_by_name("nothing"), EventKind::LimitReached),
        Vec::<&Event>::new()
    );
}

#[test]
fn a_silence_of_everything_is_told_apart_from_a_hole_and_from_rest() {
    let silent = |blind: bool| {
        move |w: &mut World| {
            w.steady(BEFORE);
            w.blind = blind;
            if blind {
                w.steady(1_500);
            } else {
                w.acknowledge_all();
                w.wait(1_500);
            }
            w.blind = false;
            w.steady(AFTER);
        }
    };
    for with_ike_key in [true, false] {
        let quiet = played(silent(false), with_ike_key);
        assert_eq!(kinds(&quiet), [EventKind::EverythingSilent]);
        let lasts = quiet.events[0].until.unwrap().seconds_since(quiet.events[0].time);
        assert!((1.4..1.6).contains(&lasts), "{lasts}");
        let hole = played(silent(true), with_ike_key);
        assert_eq!(kinds(&hole), [EventKind::CaptureHole]);
        assert!(hole.events[0].count > Some(500), "{:?}", hole.events);
    }
    // Who sends one packet now and then is silent in between.
    let slow = |w: &mut World| {
        w.tick = 2_000_000_000;
        w.steady(60_000);
    };
    assert_eq!(kinds(&played(slow, true)), []);
}

/// The client answers checks and sends no ESP any more, though data goes on.
#[test]
fn a_side_whose_ike_lives_and_whose_esp_does_not() {
    let deaf = |checked: bool| {
        move |w: &mut World| {
            w.steady(BEFORE);
            w.go_deaf(100);
            w.repeat_oldest(&[200, 400, 800, 1_600]);
            if checked {
                w.check_v2(false);
            }
            w.repeat_oldest(&[3_200]);
        }
    };
    for with_ike_key in [true, false] {
        let analysis = played(deaf(true), with_ike_key);
        assert_eq!(kinds(&analysis), [EventKind::EspSilent]);
        assert_eq!(analysis.events[0].by, Some([10, 9, 0, 2].into()));
        assert_eq!(kinds(&played(deaf(false), with_ike_key)), []);
    }
}
