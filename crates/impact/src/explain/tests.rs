//! Scenes: two for every row, one that plants its cause and one that only looks like it; and controls.

use super::*;
use rekeyscope_model::analysis::ExplanationCause::*;
use rekeyscope_model::analysis::{
    AccountLabel, Certainty, Direction, Event, EventKind, Explanation, ExplanationCause, FindingKind,
};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::{CarriedKind, ShownBy, Undelivered};
use std::net::{IpAddr, Ipv4Addr};

/// The client, which sends, and the gateway, which receives.
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 0, 1));
const GATEWAY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 0, 2));
const LAN: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::new(10, 65, 0, 1)),
    IpAddr::V4(Ipv4Addr::new(10, 65, 0, 2)),
);
const DMZ: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::new(10, 66, 0, 1)),
    IpAddr::V4(Ipv4Addr::new(10, 66, 0, 2)),
);

fn at(seconds: f64) -> Timestamp {
    Timestamp::default().plus_seconds(seconds)
}

fn sa(direction: Direction, spi: u32, used: Option<(f64, f64)>) -> SaInScene {
    SaInScene {
        tunnel: 0,
        direction,
        spi: Spi(spi),
        used: used.map(|(first, last)| (at(first), at(last))),
        sent: None,
        limit_bytes: None,
        limit_seconds: None,
        exchange: None,
        opposite: None,
        predecessor: None,
        successor: None,
        inner: vec![LAN],
        deleted: None,
    }
}

fn packet(time: f64, sa: usize, number: u64) -> SwallowedPacket {
    SwallowedPacket {
        time: at(time),
        frame: (time * 1000.0) as u64,
        sa,
        number,
        bytes: 1400,
    }
}

fn silences(side: IpAddr, nothing: (f64, f64)) -> SilencesOfSide {
    let nothing = (at(nothing.0), at(nothing.1));
    SilencesOfSide {
        rested: None,
        side,
        nothing,
        no_esp: nothing,
        last_frame: Some(7),
    }
}

fn outage(from: f64, to: f64) -> OutageInScene {
    OutageInScene {
        tunnel: 0,
        direction: Direction::AToB,
        inner: Some(LAN),
        from: at(from),
        to: at(to),
        open: false,
        short: false,
        of_rekey: false,
        lost_on_new: false,
        undelivered: Undelivered {
            dead: Some((at(from + 0.01), at(to - 1.0))),
            swallowed: 4,
            ..Undelivered::shown(CarriedKind::Tcp, ShownBy::Swallowed)
        },
        swallowed_packets: (0..4)
            .map(|n| packet(from + 0.01 + f64::from(n), 0, 5000))
            .collect(),
        round_trip: 20 * NANOS_PER_MILLI,
        sa: Some(0),
        sa_bytes: Some(70_000_000),
        back_on: Some(0),
        silences: [
            silences(CLIENT, (from, from + 1.0)),
            silences(GATEWAY, (from, from + 1.0)),
        ],
    }
}

/// One SA pair from 1 s on, and an outage of the upload from 10 to 20 s.
fn scene() -> Scene {
    let mut scene = Scene {
        sas: vec![
            sa(Direction::AToB, 0xa0, Some((1.0, 30.0))),
            sa(Direction::BToA, 0xb0, Some((1.0, 30.0))),
        ],
        outages: vec![outage(10.0, 20.0)],
        ..Scene::default()
    };
    (scene.sas[0].opposite, scene.sas[1].opposite) = (Some(1), Some(0));
    scene
}

/// The same with a second SA pair, which an exchange made and which replaces the first.
fn rekeyed(begin: f64, end: f64) -> Scene {
    let mut scene = scene();
    scene
        .exchanges
        .push(exchange(begin, end, MadeByExchange::ChildSa));
    for (old, direction, spi) in [(0, Direction::AToB, 0xa1), (1, Direction::BToA, 0xb1)] {
        let mut new = sa(direction, spi, Some((end + 0.01, 30.0)));
        new.exchange = Some(0);
        new.predecessor = Some(old);
        scene.sas[old].successor = Some(scene.sas.len());
        scene.sas.push(new);
    }
    (scene.sas[2].opposite, scene.sas[3].opposite) = (Some(3), Some(2));
    scene.outages[0].back_on = Some(2);
    scene
}

fn exchange(begin: f64, end: f64, made: MadeByExchange) -> ExchangeInScene {
    ExchangeInScene {
        index: 40,
        tunnel: 0,
        initiator: Some(CLIENT),
        begin: at(begin),
        answered: Some(at(end)),
        end: at(end),
        computed: None,
        made,
        renews: None,
    }
}

impl Scene {
    fn event(&mut self, kind: EventKind, time: f64, by: IpAddr) -> &mut Event {
        let index = self.events.len();
        self.events.push(Event {
            index,
            tunnel: Some(0),
            by: Some(by),
            ..Event::at(kind, Certainty::Read, at(time), 100 + index as u64)
        });
        &mut self.events[index]
    }

    fn outage(&mut self) -> &mut OutageInScene {
        &mut self.outages[0]
    }

    fn silent(&mut self, side: IpAddr, from: f64, to: f64) {
        let place = usize::from(side == GATEWAY);
        self.outages[0].silences[place] = silences(side, (from, to));
    }
}

fn explained(scene: &Scene) -> Explanation {
    explain(scene).swap_remove(0).expect("explained")
}

#[track_caller]
fn is(scene: &Scene, cause: ExplanationCause) -> Explanation {
    let explanation = explained(scene);
    assert_eq!(explanation.cause, cause, "{explanation:?}");
    explanation
}

#[test]
fn nothing_else_is_not_explained() {
    let explanation = is(&scene(), Unexplained);
    assert_eq!(explanation.frames.first(), Some(&10010));
    let mut over = scene();
    over.outage().undelivered.over = true;
    is(&over, Unexplained);
    over.outage().undelivered.swallowed = 0;
    assert_eq!(explain(&over), [None], "the end of a transfer is no outage");
    let mut short = scene();
    short.outage().short = true;
    assert_eq!(explain(&short), [None], "a short one needs a row");
}

/// A page that ends with a full segment, and nothing behind it but a Delete long after, or nothing at all.
#[test]
fn an_event_that_explains_nothing_shows_nothing() {
    let stops = |shown_by: ShownBy| {
        let mut scene = scene();
        let outage = scene.outage();
        outage.undelivered = Undelivered::shown(CarriedKind::Tcp, shown_by);
        outage.swallowed_packets.clear();
        explain(&scene).swap_remove(0)
    };
    for nothing in [ShownBy::ControlPlane, ShownBy::Unfinished] {
        assert_eq!(stops(nothing), None);
    }
    assert!(stops(ShownBy::MissingNumbers).is_some());
}

#[test]
fn a_hole_of_the_capture() {
    let mut hole = scene();
    hole.event(EventKind::CaptureHole, 11.0, CLIENT).until = Some(at(19.0));
    is(&hole, CaptureHole);
    hole.events[0].until = Some(at(12.0));
    is(&hole, Unexplained);
}

#[test]
fn a_peer_that_does_not_know_the_spi() {
    let mut lost = scene();
    lost.silent(GATEWAY, 10.0, 20.0);
    for time in [11.0, 13.0, 15.0] {
        lost.event(EventKind::InvalidSpi, time, GATEWAY).spis = vec![Spi(0xa0)];
    }
    let explanation = is(&lost, InvalidSpi);
    assert_eq!(explanation.by, Some(GATEWAY));
    assert_eq!((explanation.count, explanation.evidence), (Some(3), vec![1, 2]));

    let mut esp_passes = lost.clone();
    esp_passes.silent(GATEWAY, 10.0, 11.0);
    is(&esp_passes, Unexplained);
    let mut of_another_child = lost.clone();
    of_another_child.sas.push(SaInScene {
        inner: vec![DMZ],
        ..sa(Direction::AToB, 0xd0, Some((1.0, 30.0)))
    });
    of_another_child
        .events
        .iter_mut()
        .for_each(|event| event.spis = vec![Spi(0xd0)]);
    is(&of_another_child, PeerSilent);
}

#[test]
fn both_sides_at_once() {
    let mut both = scene();
    both.event(EventKind::Collision, 6.0, CLIENT);
    let explanation = is(&both, Collision);
    assert_eq!(explanation.by, None);
    let mut without_packets = both.clone();
    (
        without_packets.outage().undelivered.swallowed,
        without_packets.outage().undelivered.dead,
    ) = (0, None);
    without_packets.outage().swallowed_packets.clear();
    is(&without_packets, Collision);
    both.events[0].time = at(3.0);
    is(&both, Unexplained);

    // Both sides went on with the pair that was made behind it, until all stopped: they kept the same one.
    let mut settled = rekeyed(6.0, 6.1);
    settled.event(EventKind::Collision, 6.0, CLIENT);
    is(&settled, Collision);
    settled.outage().sa = Some(2);
    is(&settled, Unexplained);
    let mut one_side_alone = settled.clone();
    one_side_alone.sas[3].used = None;
    is(&one_side_alone, Collision);
    settled.event(EventKind::ChildDeleted, 10.1, CLIENT).successor = Some(true);
    is(&settled, Collision);
}

#[test]
fn a_refusal() {
    let mut open = scene();
    open.outage().open = true;
    for time in [2.0, 3.0, 4.0] {
        open.event(EventKind::Refused, time, GATEWAY).notify = Some("NO_PROPOSAL_CHOSEN".into());
    }
    let explanation = is(&open, Refused);
    assert_eq!((explanation.count, explanation.by), (Some(3), Some(GATEWAY)));

    let mut deleted = open.clone();
    deleted.outage().open = false;
    is(&deleted, Unexplained);
    deleted.event(EventKind::IkeSaDeleted, 10.1, GATEWAY);
    is(&deleted, Refused);
    let mut soon = open.clone();
    soon.outage().open = false;
    soon.events[2].time = at(8.0);
    assert_eq!(is(&soon, Refused).count, Some(1));

    let mut renewed_since = open.clone();
    renewed_since
        .sas
        .push(sa(Direction::AToB, 0xa1, Some((8.0, 9.0))));
    is(&renewed_since, Unexplained);
    let mut of_another_child = open.clone();
    of_another_child.sas.push(SaInScene {
        inner: vec![DMZ],
        ..sa(Direction::AToB, 0xd0, Some((1.0, 30.0)))
    });
    of_another_child.exchanges.push(ExchangeInScene {
        renews: Some(2),
        ..exchange(2.0, 2.1, MadeByExchange::Nothing)
    });
    of_another_child
        .events
        .iter_mut()
        .for_each(|event| event.exchange = Some(40));
    is(&of_another_child, Unexplained);
}

/// RFC 7296 §2.25.1: whoever closes an SA refuses its renewal for now.
#[test]
fn a_refusal_that_crosses_a_delete() {
    let mut crossed = scene();
    crossed.event(EventKind::ChildDeleted, 9.0, GATEWAY).successor = Some(false);
    for kind in [EventKind::Refused, EventKind::Collision] {
        crossed.event(kind, 9.4, GATEWAY).notify = Some("TEMPORARY_FAILURE".into());
    }
    assert_eq!(is(&crossed, Deleted).by, Some(GATEWAY));
    let mut by_the_other = crossed.clone();
    by_the_other.events[0].by = Some(CLIENT);
    is(&by_the_other, Collision);
    crossed.events[1].notify = Some("NO_PROPOSAL_CHOSEN".into());
    crossed.events[2].notify = Some("NO_PROPOSAL_CHOSEN".into());
    is(&crossed, Collision);
}

/// The Delete was lost: the side that sent it keeps its SAs for the answer, and then says nothing any more.
#[test]
fn a_delete_that_nobody_answers() {
    let mut waits = scene();
    waits.event(EventKind::IkeSaDeleted, 7.0, GATEWAY).successor = Some(false);
    is(&waits, Unexplained);
    waits.silent(GATEWAY, 10.0, 16.0);
    is(&waits, Deleted);
    waits.events[0].time = at(5.0);
    is(&waits, PeerSilent);
}

#[test]
fn a_second_try_with_the_group_that_was_asked_for_costs_nothing() {
    let mut refused = rekeyed(9.96, 10.0);
    refused.event(EventKind::Refused, 9.94, GATEWAY).notify = Some("INVALID_KE_PAYLOAD".into());
    refused.outage().back_on = Some(0);
    is(&refused, Unexplained);
    refused.exchanges[0].made = MadeByExchange::Nothing;
    refused.sas.truncate(2);
    is(&refused, Refused);
}

#[test]
fn a_request_without_an_answer() {
    let mut unanswered = scene();
    let event = unanswered.event(EventKind::Unanswered, 2.0, GATEWAY);
    (event.until, event.count) = (Some(at(9.0)), Some(3));
    let explanation = is(&unanswered, Unanswered);
    assert_eq!((explanation.count, explanation.by), (Some(3), Some(GATEWAY)));
    let mut fragments = unanswered.clone();
    fragments.events[0].kind = EventKind::FragmentsIncomplete;
    is(&fragments, IkeFragments);

    let mut nothing_passes = unanswered.clone();
    nothing_passes.silent(GATEWAY, 10.0, 20.0);
    is(&nothing_passes, PeerSilent);
    nothing_passes.outage().undelivered.swallowed = 0;
    is(&nothing_passes, Unanswered);
    let mut long_ago = unanswered;
    long_ago.outages = vec![outage(45.0, 55.0)];
    is(&long_ago, Unexplained);
}

#[test]
fn an_answer_that_did_not_arrive() {
    let mut lost = scene();
    let event = lost.event(EventKind::AnswerLost, 6.0, GATEWAY);
    event.until = Some(at(13.0));
    is(&lost, AnswerLost);
    let mut asks_on = lost.clone();
    asks_on.silent(CLIENT, 13.0, 20.0);
    is(&asks_on, AnswerLost);
    asks_on.events[0].until = Some(at(10.0));
    is(&asks_on, PeerSilent);
    lost.events[0].until = Some(at(8.0));
    is(&lost, Unexplained);
}

#[test]
fn a_peer_that_began_anew() {
    let mut checked = scene();
    checked.silent(GATEWAY, 10.0, 19.5);
    checked.event(EventKind::ChecksUnanswered, 12.0, GATEWAY);
    checked.event(EventKind::NewIkeSa, 19.5, CLIENT).successor = Some(true);
    let explanation = is(&checked, PeerRestarted);
    assert_eq!(
        (explanation.by, explanation.certainty),
        (Some(GATEWAY), Certainty::Inferred)
    );
    let mut heard_in_between = checked.clone();
    heard_in_between.silent(GATEWAY, 10.0, 13.0);
    is(&heard_in_between, Unexplained);
    // The sender waits for its timer behind the new IKE SA.
    let mut waits = checked.clone();
    waits.outage().to = at(40.0);
    is(&waits, PeerRestarted);

    let mut restarted = scene();
    restarted.silent(GATEWAY, 10.0, 19.5);
    restarted.event(EventKind::NewIkeSa, 19.5, GATEWAY).successor = Some(true);
    let explanation = is(&restarted, PeerRestarted);
    assert_eq!(explanation.certainty, Certainty::Inferred);
    restarted.event(EventKind::InitialContact, 19.6, GATEWAY);
    assert_eq!(is(&restarted, PeerRestarted).certainty, Certainty::Proven);
    let mut the_first_one = restarted.clone();
    the_first_one.events[0].successor = Some(false);
    is(&the_first_one, PeerSilent);
    let mut deleted = restarted;
    deleted.event(EventKind::IkeSaDeleted, 10.1, GATEWAY);
    is(&deleted, Deleted);
}

#[test]
fn a_delete_that_nothing_follows() {
    let mut deleted = scene();
    deleted.event(EventKind::IkeSaDeleted, 10.2, GATEWAY).successor = Some(false);
    deleted.silent(GATEWAY, 10.2, 20.0);
    let explanation = is(&deleted, Deleted);
    assert_eq!((explanation.by, explanation.event), (Some(GATEWAY), Some(0)));

    let mut rested = deleted.clone();
    rested.events[0].time = at(17.0);
    is(&rested, PeerSilent);
    rested.outage().undelivered.dead = Some((at(17.1), at(19.0)));
    is(&rested, Deleted);

    let mut ordinary = rekeyed(6.0, 6.1);
    ordinary.event(EventKind::Deleted, 10.2, GATEWAY);
    is(&ordinary, Unexplained);
    let mut replaced = deleted;
    replaced.events[0].successor = Some(true);
    is(&replaced, PeerSilent);
}

#[test]
fn deleted_first_and_negotiated_then() {
    let mut reauthenticated = rekeyed(10.3, 10.6);
    reauthenticated.event(EventKind::IkeSaDeleted, 10.0, CLIENT);
    let explanation = is(&reauthenticated, BreakBeforeMake);
    assert_eq!((explanation.exchange, explanation.seconds), (Some(40), Some(0.6)));
    let mut made_first = reauthenticated.clone();
    made_first.exchanges[0] = exchange(9.0, 9.3, MadeByExchange::ChildSa);
    made_first.outage().back_on = Some(0);
    is(&made_first, Unexplained);

    let mut twice = reauthenticated;
    twice.sas.push(sa(Direction::AToB, 0xa2, Some((50.0, 90.0))));
    let (last, mut second) = (twice.sas.len() - 1, outage(59.1, 60.0));
    (second.sa, second.sa_bytes) = (Some(last), Some(90_000_000));
    second.back_on = None;
    twice.outages.push(second);
    assert_eq!(is(&twice, BreakBeforeMake).limit_seconds, Some(9));
}

#[test]
fn only_small_packets_pass() {
    let mut large = scene();
    (
        large.outage().undelivered.echoes,
        large.outage().undelivered.largest_passed,
    ) = (5, 84);
    is(&large, Unexplained);
    large.outage().back_on = None;
    let explanation = is(&large, LargePackets);
    assert_eq!(
        (explanation.count, explanation.certainty),
        (Some(84), Certainty::Inferred)
    );
    let mut never = large.clone();
    let undelivered = &mut never.outage().undelivered;
    (undelivered.never_larger, undelivered.connections) = (true, 3);
    never.event(EventKind::Refused, 9.0, GATEWAY);
    assert_eq!(is(&never, LargeNeverPassed).connections, Some(3));

    // A sender that cuts them by itself shows the same, though data passes again on the same SA.
    let mut cut = scene();
    let undelivered = &mut cut.outage().undelivered;
    (undelivered.cut, undelivered.largest_passed) = (true, 1_000);
    assert_eq!(is(&cut, LargePackets).lost_bytes, Some(1_400));

    let mut told = scene();
    told.event(EventKind::OnlySmallPass, 10.0, CLIENT).count = Some(1372);
    assert_eq!(is(&told, FirstFragments).count, Some(1372));

    // Replies show it where their receiver has the SA that they came on, and may itself have been behind the capture.
    let mut replies = large.clone();
    let undelivered = &mut replies.outage().undelivered;
    (undelivered.echoes, undelivered.replies) = (0, 5);
    assert_eq!(is(&replies, LargePackets).by, Some(GATEWAY));
    replies.outage().undelivered.beside_receiver = true;
    is(&replies, Unexplained);
    replies.outage().undelivered.beside_receiver = false;
    replies.outage().sa = Some(1);
    replies.sas.iter_mut().for_each(|sa| sa.opposite = None);
    is(&replies, Unexplained);

    let mut one_echo = large.clone();
    one_echo.outage().undelivered.echoes = 1;
    is(&one_echo, Unexplained);
    let mut small_lost = large.clone();
    small_lost.outage().swallowed_packets[2].bytes = 60;
    is(&small_lost, Unexplained);
    let mut reordering = large;
    reordering.outage().undelivered.behind_window = 1;
    is(&reordering, Unexplained);
}

#[test]
fn a_new_sa_whose_receiver_is_not_ready() {
    let mut not_ready = rekeyed(9.5, 9.9);
    not_ready.outage().swallowed_packets = (0..4u32)
        .map(|n| packet(10.0 + f64::from(n), 2, 1 + u64::from(n)))
        .collect();
    let explanation = is(&not_ready, NewSaLost);
    assert_eq!((explanation.count, explanation.by), (Some(4), Some(GATEWAY)));
    assert_eq!(explanation.exchange, Some(40));

    let mut later_ones = not_ready.clone();
    for lost in &mut later_ones.outage().swallowed_packets {
        lost.number += 500;
    }
    is(&later_ones, Unexplained);
    let mut hole = not_ready.clone();
    hole.event(EventKind::CaptureHole, 12.0, CLIENT).until = Some(at(12.5));
    is(&hole, Unexplained);
    let mut old_ones = not_ready;
    for lost in &mut old_ones.outage().swallowed_packets[..3] {
        lost.sa = 0;
    }
    is(&old_ones, Unexplained);
}

#[test]
fn first_packets_that_never_came() {
    let mut offload = rekeyed(9.5, 9.9);
    offload.outage().swallowed_packets.clear();
    for (time, spi, number) in [(9.95, 0xa1, 47), (70.0, 0xa2, 43)] {
        let event = offload.event(EventKind::FirstNumber, time, CLIENT);
        (event.spis, event.count) = (vec![Spi(spi)], Some(number));
    }
    assert_eq!(is(&offload, FirstNumber).count, Some(46));
    offload.events.pop();
    is(&offload, Unexplained);
}

#[test]
fn a_new_sa_that_nobody_answers() {
    let mut dead = rekeyed(9.5, 9.9);
    dead.sas[2].used = Some((at(9.91), at(10.0)));
    dead.sas[3].used = None;
    is(&dead, NewSaLost);
    dead.sas[3].used = Some((at(9.95), at(10.1)));
    is(&dead, Unexplained);
}

#[test]
fn an_address_that_changed() {
    let mut moved = scene();
    moved.event(EventKind::AddressChanged, 10.5, CLIENT);
    is(&moved, AddressChanged);
    moved.events[0].until = Some(at(10.6));
    is(&moved, Unexplained);
    (moved.events[0].time, moved.events[0].until) = (at(14.0), None);
    is(&moved, Unexplained);
    let mut silent = moved.clone();
    silent.silent(GATEWAY, 10.0, 18.0);
    assert_eq!(is(&silent, AddressChanged).by, Some(CLIENT));
    silent.events[0].time = at(6.0);
    is(&silent, PeerSilent);
    // The new way worked, unless the peer still sends to the old place.
    moved.events[0].time = at(9.5);
    is(&moved, Unexplained);
    moved.events[0].until = Some(at(15.0));
    is(&moved, AddressChanged);
}

#[test]
fn an_sa_that_was_deleted_under_way() {
    let mut early = rekeyed(9.9, 9.99);
    early.sas[0].deleted = Some(at(10.02));
    early.event(EventKind::ChildDeleted, 10.02, CLIENT).successor = Some(true);
    early.outage().swallowed_packets = vec![packet(10.0, 0, 900), packet(10.01, 0, 901), packet(10.3, 2, 7)];
    let explanation = is(&early, DeletedEarly);
    assert_eq!((explanation.count, explanation.by), (Some(2), Some(CLIENT)));

    let mut dead_before = early.clone();
    dead_before
        .outage()
        .swallowed_packets
        .insert(0, packet(9.9, 0, 800));
    is(&dead_before, Unexplained);
    let mut on_the_new_one = early;
    for lost in &mut on_the_new_one.outage().swallowed_packets {
        (lost.sa, lost.number) = (2, 100);
    }
    is(&on_the_new_one, Unexplained);
}

#[test]
fn a_limit_that_is_reached() {
    let mut read = rekeyed(12.0, 12.1);
    read.sas[0].limit_bytes = Some(70_500_000);
    let explanation = is(&read, LimitReached);
    assert_eq!(explanation.certainty, Certainty::Read);
    assert_eq!(
        (explanation.limit_kilobytes, explanation.limit_seconds),
        (Some(70_500), None)
    );
    let mut far_from_it = read.clone();
    far_from_it.sas[0].limit_bytes = Some(80_000_000);
    is(&far_from_it, Unexplained);
    let mut the_sa_goes_on = read;
    the_sa_goes_on.outage().back_on = Some(0);
    is(&the_sa_goes_on, Unexplained);

    let mut too_late = rekeyed(9.9, 12.0);
    too_late.exchanges[0].renews = Some(0);
    let explanation = is(&too_late, LimitReached);
    assert_eq!((explanation.exchange, explanation.by), (Some(40), Some(CLIENT)));
    assert_eq!(explanation.certainty, Certainty::Inferred);
}

#[test]
fn two_that_end_alike_and_one_that_a_rekey_brings_back() {
    let mut alike = rekeyed(15.0, 15.1);
    alike.silent(GATEWAY, 10.0, 15.0);
    alike.sas[1].used = Some((at(0.0), at(10.0)));
    alike.sas.push(sa(Direction::AToB, 0xa2, Some((15.2, 90.0))));
    let mut second = outage(60.0, 70.0);
    (second.sa, second.back_on, second.sa_bytes) = (Some(2), Some(4), Some(71_000_000));
    alike.outages.push(second);
    let explanation = is(&alike, LimitReached);
    assert_eq!(
        (explanation.limit_kilobytes, explanation.limit_seconds),
        (Some(70_000), None)
    );
    assert_eq!(
        (explanation.count, explanation.certainty),
        (Some(2), Certainty::Inferred)
    );

    let mut opposite = alike.clone();
    opposite.outages[1].sa = Some(1);
    is(&opposite, PeerSilent);
    let mut only_one = alike;
    only_one.outages[1].sa_bytes = Some(90_000_000);
    let explanation = is(&only_one, PeerSilent);
    assert_eq!(
        explanation.exchange,
        Some(40),
        "the rekey that brought the way back"
    );
    let mut lost_longer = only_one.clone();
    lost_longer.event(EventKind::FirstNumber, 17.0, GATEWAY).count = Some(70);
    let not_by_it = is(&lost_longer, PeerSilent).exchange;
    assert_eq!(not_by_it, None, "the first packets of the new SA were lost, too");
    only_one.sas[1].used = Some((at(0.0), at(15.0)));
    assert_eq!(is(&only_one, PeerSilent).exchange, None, "the old SA goes on");
}

#[test]
fn a_key_exchange_that_takes_long() {
    let mut slow = rekeyed(10.05, 19.0);
    let explanation = is(&slow, SlowExchange);
    assert_eq!(
        (explanation.exchange, explanation.seconds),
        (Some(40), Some(8.95))
    );
    let mut way_was_closed = slow.clone();
    way_was_closed.silent(GATEWAY, 10.0, 18.0);
    way_was_closed.sas[1].used = Some((at(0.0), at(18.0)));
    is(&way_was_closed, PeerSilent);
    way_was_closed.sas[1].used = Some((at(0.0), at(10.0)));
    is(&way_was_closed, SlowExchange);
    slow.outage().back_on = Some(0);
    slow.sas[0].exchange = Some(7);
    is(&slow, Unexplained);
    is(&rekeyed(10.05, 10.25), Unexplained);
}

#[test]
fn silence_of_one_side_and_of_both() {
    let mut peer = scene();
    peer.silent(GATEWAY, 10.0, 18.0);
    peer.event(EventKind::EchoUnanswered, 12.0, GATEWAY);
    let explanation = is(&peer, PeerSilent);
    assert_eq!((explanation.by, explanation.seconds), (Some(GATEWAY), Some(8.0)));
    assert_eq!((explanation.event, explanation.exchange), (Some(0), None));
    let mut path = peer.clone();
    path.silent(CLIENT, 11.0, 19.0);
    assert_eq!(is(&path, PathSilent).by, None);
    // Beside the receiver its own silence shows only that nothing came to answer.
    let mut nothing_came = path.clone();
    nothing_came.outage().swallowed_packets.clear();
    let undelivered = &mut nothing_came.outage().undelivered;
    (undelivered.swallowed, undelivered.shown_by) = (0, ShownBy::MissingNumbers);
    is(&nothing_came, PathSilent);
    nothing_came.outage().undelivered.beside_receiver = true;
    assert_eq!(is(&nothing_came, PeerSilent).by, Some(CLIENT));
    let mut small_packets = peer.clone();
    small_packets.outage().undelivered.echoes = 3;
    small_packets.outage().back_on = None;
    is(&small_packets, LargePackets);
    peer.silent(GATEWAY, 10.0, 14.0);
    is(&peer, Unexplained);
}

#[test]
fn numbers_that_went_back_for_half_of_it() {
    let mut back = scene();
    let until = back.outages[0].to;
    let step = back.event(EventKind::NumbersBack, 10.0, GATEWAY);
    (step.until, step.count) = (Some(until), Some(700));
    let explanation = is(&back, NumbersBack);
    assert_eq!((explanation.count, explanation.by), (Some(700), Some(GATEWAY)));
    back.events[0].until = Some(back.events[0].time);
    is(&back, Unexplained);
}

#[test]
fn hosts_that_the_new_sa_leaves_out() {
    let mut narrowed = rekeyed(9.9, 10.0);
    narrowed.outage().open = true;
    narrowed.outage().undelivered = Undelivered::shown(CarriedKind::Datagrams, ShownBy::ControlPlane);
    narrowed.outage().swallowed_packets.clear();
    for new in [2, 3] {
        narrowed.sas[new].inner = vec![(LAN.0, DMZ.1)];
    }
    let explanation = is(&narrowed, LeftOut);
    assert_eq!((explanation.by, explanation.exchange), (Some(LAN.1), Some(40)));
    narrowed.sas[3].inner.push((LAN.1, LAN.0));
    assert_eq!(is(&narrowed, LeftOut).by, Some(LAN.1), "one way alone");
    narrowed.sas[2].inner.push(LAN);
    is(&narrowed, SlowRenewal);
}

#[test]
fn two_clients_that_are_served_by_turns() {
    let turn = |tunnel: usize, spi: u32, used: (f64, f64)| SaInScene {
        tunnel,
        exchange: Some(0),
        ..sa(Direction::BToA, spi, Some(used))
    };
    let mut turns = scene();
    turns.exchanges.push(exchange(9.8, 9.9, MadeByExchange::ChildSa));
    turns.sas[1].used = Some((at(1.0), at(10.0)));
    turns
        .sas
        .extend([turn(1, 0xc0, (10.1, 18.0)), turn(0, 0xc1, (18.1, 26.0))]);
    turns.outages[0].silences[1] = silences(GATEWAY, (10.0, 18.1));
    turns.outages.push(OutageInScene {
        tunnel: 1,
        silences: [silences(CLIENT, (18.0, 18.1)), silences(GATEWAY, (18.0, 26.0))],
        ..outage(18.0, 26.0)
    });
    let explanation = is(&turns, ByTurns);
    assert_eq!(
        (explanation.by, explanation.certainty),
        (Some(GATEWAY), Certainty::Proven)
    );
    let mut moved = turns.clone();
    moved.outages[0].silences[0] = silences(CLIENT, (10.0, 18.1));
    is(&moved, PathSilent);
    turns.sas[2].inner.clear();
    assert_eq!(is(&turns, ByTurns).certainty, Certainty::Inferred);
    turns.outages.pop();
    is(&turns, PeerSilent);
}

#[test]
fn two_networks_that_end_each_others_sas() {
    let mut turns = scene();
    let until = turns.outages[0].from;
    let event = turns.event(EventKind::NetworksByTurns, 4.0, GATEWAY);
    (event.until, event.count) = (Some(until), Some(7));
    assert_eq!(is(&turns, ByTurns).count, Some(7));
    turns.events[0].until = Some(at(9.0));
    is(&turns, Unexplained);
}

#[test]
fn an_sa_that_its_receiver_no_longer_has() {
    let mut gone = scene();
    gone.event(EventKind::OneSided, 10.0, CLIENT).until = Some(at(18.0));
    gone.events[0].spis = vec![Spi(0xa0)];
    let explanation = is(&gone, OneSided);
    assert_eq!((explanation.by, explanation.seconds), (Some(CLIENT), Some(8.0)));
    gone.outage().sa = Some(1);
    is(&gone, Unexplained);
    // The gateway never sends on the new pair and goes on upon the old one, so it did not take the new one.
    let mut alone = rekeyed(9.9, 10.0);
    (alone.sas[1].successor, alone.sas[3].used) = (None, None);
    for packet in &mut alone.outage().swallowed_packets {
        (packet.sa, packet.number) = (2, 1);
    }
    let explanation = is(&alone, OneSided);
    assert_eq!((explanation.by, explanation.event), (Some(CLIENT), None));
    let mut soon = alone.clone();
    soon.outage().to = at(14.0);
    is(&soon, NewSaLost);
    alone.sas[1].used = Some((at(1.0), at(11.0)));
    is(&alone, NewSaLost);
}

#[test]
fn an_end_that_answers_from_another_address() {
    let mut elsewhere = scene();
    let until = elsewhere.outages[0].to;
    elsewhere.event(EventKind::AnsweredElsewhere, 9.9, GATEWAY).until = Some(until);
    assert_eq!(is(&elsewhere, AnsweredElsewhere).by, Some(GATEWAY));
    elsewhere.events[0].time = at(5.0);
    is(&elsewhere, Unexplained);
    elsewhere.outage().undelivered.dead = Some((at(10.0), at(19.0)));
    is(&elsewhere, AnsweredElsewhere);
}

#[test]
fn data_that_comes_through_another_tunnel() {
    let mut crossed = scene();
    crossed.silent(GATEWAY, 10.0, 19.0);
    let gone = crossed.event(EventKind::OtherTunnel, 10.1, GATEWAY);
    gone.until = Some(at(19.0));
    assert_eq!(is(&crossed, OtherTunnel).by, Some(GATEWAY));
    crossed.events[0].until = Some(at(12.0));
    is(&crossed, PeerSilent);
}

/// A silence between two checks that were answered is none of the peer, unless it was asked in vain meanwhile, or took long to answer the request for a new SA.
#[test]
fn a_side_that_answers_checks() {
    let mut alive = scene();
    alive.silent(GATEWAY, 12.0, 18.0);
    alive.outages[0].silences[1].no_esp = (at(10.0), at(19.0));
    assert_eq!(is(&alive, EspSilent).by, Some(GATEWAY));
    // A new SA that comes with a number above 1 shows that it sent ESP.
    let mut lost = alive.clone();
    lost.event(EventKind::FirstNumber, 19.1, GATEWAY).count = Some(54);
    let lost = is(&lost, EspSilent);
    assert_eq!(
        (lost.count, lost.evidence, lost.exchange),
        (Some(54), vec![0], None)
    );
    let mut renewed = alive.clone();
    renewed
        .exchanges
        .push(exchange(17.9, 18.2, MadeByExchange::ChildSa));
    renewed.exchanges[0].answered = Some(at(17.95));
    is(&renewed, EspSilent);
    renewed.exchanges[0].begin = at(15.0);
    is(&renewed, PeerSilent);
    alive.event(EventKind::ChecksUnanswered, 14.0, GATEWAY).count = Some(4);
    is(&alive, PeerSilent);
}

/// A client that sleeps loses nothing, where only checks were sent to it.
#[test]
fn a_side_that_sleeps() {
    let mut asleep = scene();
    asleep.silent(GATEWAY, 10.0, 20.0);
    asleep.outages[0].silences[0].no_esp = (at(10.0), at(20.0));
    let outage = asleep.outage();
    (outage.open, outage.back_on) = (true, None);
    outage.swallowed_packets.clear();
    outage.undelivered = Undelivered::shown(CarriedKind::Echo, ShownBy::Requests);
    asleep.event(EventKind::ChecksUnanswered, 14.0, GATEWAY).count = Some(4);
    assert_eq!(is(&asleep, PeerSilent).count, Some(4));
    asleep.outages[0].silences[0].no_esp.1 = at(18.0);
    assert_eq!(is(&asleep, PeerSilent).count, None);
}

/// A side that goes on where it stopped had nothing to send: on the same SA, or on one that it had all the time.
#[test]
fn a_side_that_rests() {
    let is_none = |scene: &Scene| assert_eq!(explain(scene)[0], None);
    let mut rests = scene();
    rests.silent(GATEWAY, 10.0, 20.0);
    is(&rests, PeerSilent);
    rests.outage().undelivered.receiver_rests = true;
    is_none(&rests);
    let mut asked = rests.clone();
    asked.event(EventKind::ChecksUnanswered, 12.0, CLIENT).until = Some(at(14.0));
    is(&asked, PeerSilent);
    let renewed = |end: f64| {
        let mut scene = rekeyed(end - 0.1, end);
        scene.silent(GATEWAY, 10.0, 20.0);
        scene.sas[1].used = Some((at(1.0), at(10.0)));
        scene.sas[3].used = Some((at(20.0), at(30.0)));
        scene.outage().undelivered.receiver_rests = true;
        scene
    };
    is_none(&renewed(10.2));
    is(&renewed(19.9), PeerSilent);
}

#[test]
fn numbers_that_are_used_up() {
    let mut spent = scene();
    spent.sas[0].used = Some((at(1.0), at(10.0)));
    spent.sas[0].sent = Some((u64::from(u32::MAX), 1));
    spent.outage().swallowed_packets.clear();
    let explanation = is(&spent, NumbersUsedUp);
    assert_eq!(
        (explanation.by, explanation.count),
        (Some(CLIENT), Some(u64::from(u32::MAX)))
    );
    let mut goes_on = spent.clone();
    goes_on.sas[0].used = Some((at(1.0), at(30.0)));
    is(&goes_on, Unexplained);
    spent.sas[0].sent = Some((u64::from(u32::MAX) - 10, 1));
    is(&spent, Unexplained);
}

#[test]
fn packets_that_came_damaged_for_half_of_it() {
    let mut damaged = scene();
    let until = damaged.outages[0].to;
    let run = damaged.event(EventKind::BadIcv, 10.0, CLIENT);
    (run.until, run.count) = (Some(until), Some(25));
    let explanation = is(&damaged, BadIcv);
    assert_eq!((explanation.count, explanation.by), (Some(25), Some(CLIENT)));
    damaged.events[0].until = Some(damaged.events[0].time);
    is(&damaged, Unexplained);
}

#[test]
fn a_connection_that_is_dropped_behind_the_tunnel() {
    let mut dead = scene();
    let undelivered = &mut dead.outage().undelivered;
    (
        undelivered.attempts,
        undelivered.echoes,
        undelivered.largest_passed,
    ) = (4, 14, 84);
    dead.outage().back_on = None;
    is(&dead, LargePackets);
    dead.outage().swallowed_packets[1].bytes = 16;
    assert_eq!(is(&dead, ConnectionDead).by, Some(GATEWAY));
    dead.outage().undelivered.echoes = 2;
    is(&dead, Unexplained);
}

#[test]
fn a_peer_that_was_given_up_too_soon() {
    let mut late = scene();
    let event = late.event(EventKind::ChecksAnsweredLate, 8.0, GATEWAY);
    event.until = Some(at(11.0));
    let explanation = is(&late, GivenUpTooSoon);
    assert_eq!((explanation.by, explanation.seconds), (Some(GATEWAY), Some(3.0)));
    late.events[0].until = Some(at(9.0));
    is(&late, Unexplained);
}

#[test]
fn a_router_that_says_what_passes() {
    let mut told = scene();
    let event = told.event(EventKind::Unreachable, 10.02, GATEWAY);
    (event.until, event.count) = (Some(at(18.0)), Some(1260));
    let explanation = is(&told, TooBig);
    assert_eq!((explanation.count, explanation.by), (Some(1260), Some(CLIENT)));
    told.events[0].until = None;
    is(&told, Unexplained);
}

#[test]
fn packets_behind_the_replay_window() {
    let mut late = scene();
    late.outage().undelivered.behind_window = 3;
    assert_eq!(is(&late, ReplayWindow).count, Some(3));
    late.outage().undelivered.swallowed = 40;
    is(&late, Unexplained);
}

#[test]
fn without_keys_the_tunnel_is_looked_at() {
    let mut sealed = scene();
    sealed.sas.iter_mut().for_each(|sa| sa.inner.clear());
    sealed.outage().inner = None;
    sealed.event(EventKind::Deleted, 10.1, GATEWAY).known = Certainty::Inferred;
    let explanation = is(&sealed, Deleted);
    assert_eq!(explanation.certainty, Certainty::Inferred);
    sealed.events[0].tunnel = Some(1);
    is(&sealed, Unexplained);
}

#[test]
fn the_refusal_comes_before_the_delete_that_it_leads_to() {
    let mut both = scene();
    both.event(EventKind::Refused, 9.9, GATEWAY);
    both.event(EventKind::ChildDeleted, 10.1, CLIENT);
    is(&both, Refused);
}

#[test]
fn every_label_and_every_kind_of_finding_has_one_row() {
    let labels: Vec<AccountLabel> = COSTS.iter().map(|row| row.label).collect();
    assert_eq!(labels, AccountLabel::ALL);
    let kinds: Vec<FindingKind> = FINDINGS.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, FindingKind::ALL);
}

#[test]
fn every_cause_has_one_row() {
    let mut of_rows: Vec<ExplanationCause> = ROWS.iter().map(|row| row.cause).collect();
    of_rows.sort_unstable();
    let mut all = ExplanationCause::ALL.to_vec();
    all.sort_unstable();
    assert_eq!(of_rows, all);
}

/// The other side asks anew after one side alone fell silent, or said that no daemon listens.
#[test]
fn a_peer_that_the_other_side_replaced() {
    let mut asked = scene();
    asked.silent(GATEWAY, 10.0, 19.0);
    asked.event(EventKind::NewIkeSa, 19.0, CLIENT).successor = Some(true);
    assert_eq!(is(&asked, PeerRestarted).by, Some(GATEWAY));
    let mut both = asked.clone();
    both.silent(CLIENT, 10.0, 19.0);
    is(&both, PathSilent);
    let unreachable = both.event(EventKind::Unreachable, 10.5, GATEWAY);
    unreachable.notify = Some("host unreachable".to_owned());
    is(&both, PathSilent);
    both.events[1].notify = Some("port unreachable".to_owned());
    let explanation = is(&both, PeerRestarted);
    assert_eq!(
        (explanation.by, explanation.certainty),
        (Some(GATEWAY), Certainty::Proven)
    );
}

#[test]
fn what_one_side_sends_no_longer_arrives() {
    let mut unheard = scene();
    unheard.outage().undelivered.unheard = 2;
    is(&unheard, Unexplained);
    unheard.outage().undelivered.unheard = 3;
    assert_eq!(is(&unheard, Unheard).by, Some(GATEWAY), "its acknowledgements");
    let mut checked = scene();
    checked.event(EventKind::ChecksUnheard, 12.0, CLIENT);
    assert_eq!(is(&checked, Unheard).by, Some(CLIENT));
    checked.silent(CLIENT, 10.0, 19.0);
    is(&checked, PeerSilent);
}

#[test]
fn esp_stops_and_ike_goes_on() {
    let mut sealed = scene();
    sealed.outages[0].silences[1].no_esp = (at(10.0), at(18.0));
    assert_eq!(is(&sealed, EspSilent).by, Some(GATEWAY));
    let mut sender = scene();
    sender.outages[0].silences[0].no_esp = (at(10.0), at(18.0));
    is(&sender, Unexplained);
    sender.outage().undelivered.swallowed = 0;
    assert_eq!(is(&sender, EspSilent).by, Some(CLIENT), "it waits for no timer");
}

#[test]
fn one_sa_stops_and_the_others_of_its_side_go_on() {
    let mut stops = scene();
    let event = stops.event(EventKind::EspSilent, 10.0, GATEWAY);
    (event.until, event.spis) = (Some(at(18.0)), vec![Spi(0xb0)]);
    event.count = Some(3_000_000);
    stops.sas[1].sent = Some((3_000_000, 4_600_000_000));
    let told = is(&stops, EspSilent);
    assert_eq!((told.by, told.seconds), (Some(GATEWAY), Some(8.0)));
    assert_eq!(
        (told.count, told.limit_kilobytes),
        (Some(3_000_000), Some(4_600_000))
    );
    stops.event(EventKind::IkeSaDeleted, 18.0, GATEWAY).successor = Some(false);
    stops.outage().undelivered.dead = Some((at(18.0), at(19.0)));
    is(&stops, EspSilent);
    stops.events[0].until = Some(at(12.0));
    is(&stops, Deleted);
}

/// The way had been closed before, and the peer is heard behind the Delete, or is not.
#[test]
fn a_delete_of_the_ike_sa_in_an_outage_that_had_begun() {
    let mut deleted = scene();
    deleted.event(EventKind::IkeSaRekeyed, 12.0, CLIENT).until = Some(at(12.9));
    deleted.event(EventKind::IkeSaDeleted, 13.0, CLIENT).successor = Some(false);
    deleted.silent(CLIENT, 13.0, 19.0);
    deleted.silent(GATEWAY, 13.1, 19.0);
    let told = is(&deleted, Deleted);
    assert_eq!((told.by, told.evidence), (Some(CLIENT), vec![0]));
    deleted.silent(GATEWAY, 10.0, 19.0);
    is(&deleted, PathSilent);
}

#[test]
fn nothing_comes_on_the_new_sa_of_one_side() {
    let stopped = |at_s: f64| {
        let mut scene = rekeyed(9.9, 9.98);
        scene.sas[1].used = Some((at(1.0), at(at_s)));
        scene.sas[3].used = Some((at(18.5), at(30.0)));
        scene.event(EventKind::EspSilent, at_s, GATEWAY).until = Some(at(18.5));
        scene
    };
    let told = is(&stopped(9.99), SilentOnNewSa);
    assert_eq!((told.by, told.exchange), (Some(GATEWAY), Some(40)));
    is(&stopped(12.0), Unexplained);
    let mut used = stopped(9.99);
    used.sas[3].used = Some((at(9.995), at(30.0)));
    is(&used, OneSided);
    used.sas[0].used = Some((at(1.0), at(14.0)));
    is(&used, Unexplained);
}

#[test]
fn new_sa_lost_without_keys() {
    let lost = |first: f64| {
        let mut scene = rekeyed(9.9, 9.98);
        let outage = scene.outage();
        outage.undelivered.carried = CarriedKind::Unread;
        outage.back_on = Some(0);
        outage.swallowed_packets = (0..4).map(|n| packet(first + f64::from(n), 2, 20)).collect();
        scene
    };
    let told = is(&lost(10.1), NewSaLost);
    assert_eq!(told.certainty, Certainty::Inferred);
    let mut read = lost(10.1);
    read.outage().undelivered.carried = CarriedKind::Tcp;
    is(&read, Unexplained);
    is(&lost(10.6), Unexplained);
}

#[test]
fn fragments_are_a_sign_of_life() {
    let mut pieces = scene();
    pieces.silent(CLIENT, 10.0, 19.0);
    pieces.event(EventKind::FragmentsIncomplete, 9.0, CLIENT);
    assert_eq!(is(&pieces, IkeFragments).by, Some(CLIENT));
    pieces.events[0].kind = EventKind::Unanswered;
    is(&pieces, PeerSilent);
}

/// Two SAs end at the same number, and what they carried differs by more than a packet.
#[test]
fn a_limit_in_packets() {
    let limited = |numbers: [u64; 2], bytes: [u64; 2]| {
        let mut scene = rekeyed(9.9, 12.0);
        scene.exchanges[0].renews = Some(0);
        scene.sas[0].sent = Some((numbers[0], bytes[0]));
        scene.outage().sa_bytes = Some(bytes[0]);
        let mut second = sa(Direction::AToB, 0xa2, Some((15.2, 90.0)));
        second.sent = Some((numbers[1], bytes[1]));
        scene.sas.push(second);
        let mut later = outage(60.0, 70.0);
        (later.sa, later.back_on, later.sa_bytes) = (Some(4), Some(2), Some(bytes[1]));
        scene.outages.push(later);
        let explanation = is(&scene, LimitReached);
        (explanation.limit_packets, explanation.limit_kilobytes)
    };
    let (even, uneven) = ([2_859_539, 2_859_539], [2_859_539, 2_862_950]);
    assert_eq!(limited([2_440, 2_440], uneven), (Some(2_440), None));
    assert_eq!(limited([2_440, 2_440], even), (None, Some(2_860)), "of even size");
    assert_eq!(limited([2_440, 2_443], uneven), (None, Some(2_860)), "it differs");
}

/// ESP of the client ends a wait after its checks without an answer. That of the gateway goes on, or it was away when it was asked, and comes back.
#[test]
fn a_side_that_falls_silent_after_its_checks_gave_its_peer_up() {
    let mut given_up = scene();
    given_up.sas[1].used = Some((at(1.0), at(15.0)));
    given_up.outage().to = at(20.0);
    given_up.silent(CLIENT, 10.0, 20.0);
    let checks = given_up.event(EventKind::ChecksUnanswered, 4.0, GATEWAY);
    (checks.until, checks.count) = (Some(at(8.0)), Some(3));
    let explanation = is(&given_up, GivenUpTooSoon);
    assert_eq!((explanation.by, explanation.seconds), (Some(GATEWAY), Some(6.0)));
    let cause = |scene: &Scene| explain(scene)[0].as_ref().map(|e| e.cause);
    let mut away = given_up.clone();
    away.silent(GATEWAY, 3.0, 14.0);
    assert_ne!(cause(&away), Some(GivenUpTooSoon));
    let mut asked_on = given_up;
    asked_on.events[0].until = Some(at(4.5));
    assert_ne!(cause(&asked_on), Some(GivenUpTooSoon), "it had not given up");
}

/// Checks of the client get no answer, and the gateway answers its new request at once.
#[test]
fn a_peer_that_was_given_up_though_it_lives() {
    let mut given_up = scene();
    given_up.sas[1].used = None;
    given_up.outage().of_rekey = true;
    given_up.outage().to = at(10.3);
    given_up.silent(CLIENT, 10.0, 10.3);
    given_up.silent(GATEWAY, 10.0, 10.3);
    let checks = given_up.event(EventKind::ChecksUnanswered, 4.0, GATEWAY);
    (checks.until, checks.count) = (Some(at(6.8)), Some(3));
    let anew = given_up.event(EventKind::NewIkeSa, 10.0, CLIENT);
    (anew.successor, anew.exchange) = (Some(true), Some(40));
    given_up
        .exchanges
        .push(exchange(10.0, 10.1, MadeByExchange::IkeSa));
    let explanation = is(&given_up, GivenUp);
    assert_eq!((explanation.by, explanation.count), (Some(GATEWAY), Some(3)));
    assert_eq!(explanation.evidence, [1]);
    let mut lives = given_up.clone();
    lives.sas[1].used = Some((at(1.0), at(9.0)));
    is(&lives, GivenUp);
    let mut fell_silent = given_up.clone();
    fell_silent.sas[1].used = Some((at(1.0), at(3.9)));
    assert_ne!(
        explain(&fell_silent)[0].as_ref().map(|e| e.cause),
        Some(Unanswered),
        "its ESP stopped first"
    );
    let mut long_before = given_up;
    long_before.events[0].until = Some(at(4.5));
    assert_ne!(
        explain(&long_before)[0].as_ref().map(|e| e.cause),
        Some(Unanswered),
        "it had not given up"
    );
}
