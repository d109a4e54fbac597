//! Rows about the path and the capture: hole, address changed, silent, large packets, and what nothing explains.

use crate::explain::sas::by_run;
use crate::explain::scene::{ExchangeInScene, MadeByExchange, OutageInScene, SaInScene, SilencesOfSide};
use crate::explain::view::OutageView;
use rekeyscope_model::analysis::{Certainty, Event, EventKind, Explanation, ExplanationCause};
use rekeyscope_model::chance::{LEAST_NOT_BY_CHANCE, SEVERAL};
use rekeyscope_model::time::{Timestamp, seconds};
use rekeyscope_traffic::{CarriedKind, INITIAL_RTO, PacketForm, ShownBy};

/// A sender whose data went to the old address has tried twice again by then (after one timeout, and two more).
pub(super) const CHANGE_TAKES_EFFECT: i64 = 3 * INITIAL_RTO;

pub(super) fn capture_hole(view: &OutageView<'_>) -> Option<Explanation> {
    by_run(view, &[EventKind::CaptureHole], ExplanationCause::CaptureHole)
}

pub(super) fn address_changed(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let since = outage.from.plus_nanos(-CHANGE_TAKES_EFFECT);
    let moves: &[EventKind] = &[EventKind::AddressChanged, EventKind::PortChanged];
    let change = view.events(moves, since..=outage.to).next()?;
    let silent = outage.silences.iter().any(|side| view.fills_half(side.nothing));
    // The other side may go on to the old place, and hear from the new one all the time.
    let at_begin = change.time <= outage.from.plus_nanos(CHANGE_TAKES_EFFECT);
    // Data that was delivered after it shows that the new way worked, unless the peer still sent to the old place.
    let left_behind = change.until.is_some_and(|until| until > outage.from);
    let worked = !left_behind && outage.from > change.time.plus_nanos(view.near());
    // Packets that vanish once the peer has followed are lost to something else.
    let lost_later = |until: Timestamp| {
        let lost = outage.swallowed_packets.iter();
        lost.filter(|packet| packet.time > until.plus_nanos(view.near()))
            .count() as u64
    };
    let held = at_begin && change.until.map_or(0, lost_later) < LEAST_NOT_BY_CHANCE;
    // The peer followed within a round trip or so, nothing vanished behind that, and data came: the move did what it could. Another port alone
    // shows that NAT forgot the one before, which keepalives prevent.
    let followed = change.until.filter(|until| {
        let at_once = until.nanos_since(change.time) <= view.near();
        let moved = change.kind == EventKind::AddressChanged;
        moved && at_once && lost_later(*until) == 0 && !outage.open
    });
    // The line came back with another address.
    let ended = view.events(&[EventKind::PppoeEnded], since..=change.time).last();
    ((silent || held) && !worked).then(|| Explanation {
        count: None,
        evidence: ended.map_or_else(
            || kept_waiting(view, Some(change.frame)),
            |ended| vec![ended.index],
        ),
        seconds: followed.map(|until| until.seconds_since(change.time)),
        ..Explanation::shown(ExplanationCause::AddressChanged, change)
    })
}

/// Requests for a new tunnel from elsewhere that got no answer until the old one was given up, in the order of time: the first request, the Delete of
/// the old IKE SA where there is one, and the new IKE SA. A client is known by the `frame` of its change of address; else that Delete tells that the one
/// waited for the other.
fn kept_waiting(view: &OutageView<'_>, frame: Option<u64>) -> Vec<usize> {
    let (outage, events) = (view.outage, &view.scene.events);
    let is_request = |event: &&Event| {
        event.kind == EventKind::Unanswered
            && event.count >= Some(LEAST_NOT_BY_CHANCE)
            && event.tunnel != Some(outage.tunnel)
            && event.time > outage.from
            && frame.is_none_or(|frame| event.frame == frame)
    };
    let waited = |asked: &Event| {
        let gave_up = asked.until?;
        let mut later = events.iter().filter(|event| event.time > gave_up);
        let anew = later.find(|event| event.kind == EventKind::NewIkeSa && event.tunnel == asked.tunnel)?;
        let deletes = view.events(&[EventKind::IkeSaDeleted], gave_up..=anew.time);
        let old = deletes.filter(|event| event.by == asked.by).last();
        let is_it = frame.is_some() || old.is_some();
        let told = [Some(asked), old, Some(anew)].into_iter().flatten();
        is_it.then(|| told.map(|event| event.index).collect())
    };
    let mut requests = events.iter().filter(is_request);
    requests.find_map(waited).unwrap_or_default()
}

/// An end sends from another address than the one that its peer sends to, and nothing was delivered since it does.
pub(super) fn answered_elsewhere(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let mut events = view.events(&[EventKind::AnsweredElsewhere], ..=outage.to);
    let event = events.find(|event| event.until > Some(outage.from))?;
    let dead = outage.undelivered.dead;
    let in_vain_from_the_first = dead.is_some_and(|(first, _)| first == outage.from);
    let at_begin = outage.from <= event.time.plus_nanos(view.near());
    (at_begin || in_vain_from_the_first)
        .then(|| Explanation::shown(ExplanationCause::AnsweredElsewhere, event))
}

/// Events that belong to a silence: ICMP errors, and checks and echoes without an answer.
const SIGNS_OF_SILENCE: &[EventKind] = &[
    EventKind::EverythingSilent,
    EventKind::Unreachable,
    EventKind::ChecksUnanswered,
    EventKind::EchoUnanswered,
];

pub(super) fn silent(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let [sender, receiver] = view.silent_sides();
    let signs: Vec<&Event> = view.events(SIGNS_OF_SILENCE, view.beside()).collect();
    let everything = signs
        .iter()
        .find(|event| event.kind == EventKind::EverythingSilent && view.lasts_half(event));
    let (cause, of) = match (sender, receiver) {
        (true, true) => (ExplanationCause::PathSilent, None),
        (true, false) => (ExplanationCause::PeerSilent, Some(outage.silences[0])),
        (false, true) => (ExplanationCause::PeerSilent, Some(outage.silences[1])),
        (false, false) => return None,
    };
    let silence = of.unwrap_or(outage.silences[1]).nothing;
    let goes_on = outage
        .silences
        .iter()
        .zip([sender, receiver])
        .any(|(side, silent)| silent && view.goes_on_upon_its_sa(side, side.nothing));
    let new_sa = view.back_on().filter(|_| view.stopped_on_its_sa());
    let came_back = || of.and_then(|side| came_back_on(view, &side, side.nothing.1));
    let new_sa = new_sa.or_else(came_back).filter(|_| !goes_on);
    let brought_back = new_sa
        .and_then(|sa| view.made(sa))
        .filter(|exchange| !is_lost_on_new_sa(view, exchange.end) && !waited_for_the_way(view, exchange));
    let main = everything.or(signs.first()).copied();
    let last = outage
        .silences
        .iter()
        .filter(|side| of.is_none_or(|of| of.side == side.side));
    Some(Explanation {
        by: of.map(|side| side.side),
        event: main.map(|event| event.index),
        evidence: signs
            .iter()
            .map(|event| event.index)
            .filter(|index| main.is_none_or(|main| main.index != *index))
            .chain(of.map_or_else(Vec::new, |_| kept_waiting(view, None)))
            .collect(),
        exchange: brought_back.map(|exchange| exchange.index),
        seconds: Some(silence.1.seconds_since(silence.0)),
        count: main.and_then(|main| of.and(only_checks(view, main))),
        frames: last.filter_map(|side| side.last_frame).collect(),
        rested_seconds: of.filter(|_| goes_on).and_then(|side| side.rested.map(seconds)),
        ..Explanation::of(cause, Certainty::Proven)
    })
}

/// Number of checks that the receiver did not answer up to the end, where nothing else was sent to it.
fn only_checks(view: &OutageView<'_>, checks: &Event) -> Option<u64> {
    let outage = view.outage;
    let (from, to) = outage.silences[0].no_esp;
    let nothing_sent = outage.open
        && outage.undelivered.swallowed == 0
        && outage.to.nanos_since(outage.from) <= to.plus_nanos(view.near()).nanos_since(from);
    let is_check = checks.kind == EventKind::ChecksUnanswered && checks.by == Some(outage.silences[1].side);
    checks.count.filter(|_| is_check && nothing_sent)
}

/// Whether the side that fell silent sent on its new SA before the first packet of it came, for longer than since `end` of the exchange a
/// path takes: then the renewal did not bring the way back.
fn is_lost_on_new_sa(view: &OutageView<'_>, end: Timestamp) -> bool {
    let late = end.plus_nanos(view.near())..=view.outage.to;
    view.events(&[EventKind::FirstNumber], late).next().is_some()
}

/// Tells whether the receiver had nothing to send, and that is all: none of its packets is missing, nobody asked it for anything in vain, and it goes
/// on upon an SA that it had all the time.
pub(super) fn receiver_rests(view: &OutageView<'_>) -> bool {
    let outage = view.outage;
    // IKE of the side may pass meanwhile.
    let side = &outage.silences[1];
    let (_, back) = side.no_esp;
    let asked = view
        .events(ASKED_IN_VAIN, ..=outage.to)
        .any(|event| event.until.unwrap_or(event.time) >= outage.from);
    let had_it = |sa: &SaInScene| {
        let made = view.made(sa).map(|made| made.end);
        let since = made.or(view.opposite_used(sa).map(|(first, _)| first));
        since.is_some_and(|since| since.plus_nanos(view.near()) < back)
    };
    let has_sa =
        || view.goes_on_upon_its_sa(side, side.no_esp) || came_back_on(view, side, back).is_some_and(had_it);
    outage.undelivered.receiver_rests && !asked && has_sa()
}

/// Checks, requests and echoes that nobody answered.
const ASKED_IN_VAIN: &[EventKind] = &[
    EventKind::ChecksUnanswered,
    EventKind::EchoUnanswered,
    EventKind::Unanswered,
];

/// The new SA that a side sends on first when its silence is over.
fn came_back_on<'a>(view: &OutageView<'a>, side: &SilencesOfSide, back: Timestamp) -> Option<&'a SaInScene> {
    let soon = back..=back.plus_nanos(view.near());
    let mut own = view.sas_towards(view.direction_of(side));
    own.find(|sa| sa.used.is_some_and(|(first, _)| soon.contains(&first)))
}

/// Whether the first copies of a renewal were lost like all else: it was over when the way came back.
fn waited_for_the_way(view: &OutageView<'_>, exchange: &ExchangeInScene) -> bool {
    let since = view.outage.from.max(exchange.begin);
    view.repeated(exchange, since).is_some()
}

/// Packets of one side pass the capture and do not reach the other side, which repeats what was acknowledged, or a check that was answered.
pub(super) fn unheard(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let checks: Vec<&Event> = view.events(&[EventKind::ChecksUnheard], view.beside()).collect();
    let [sender, receiver] = &outage.silences;
    let is_unheard = |outage: &OutageInScene| u64::from(outage.undelivered.unheard) >= LEAST_NOT_BY_CHANCE;
    // Acknowledgements that the other direction's sender did not hear went the way of these packets.
    let goes_the_way = |other: &OutageInScene| {
        let back = other.direction == outage.direction.reverse();
        back && is_unheard(other) && view.fills_half((other.from, other.to))
    };
    let mut others = view.outages_of(outage.tunnel);
    let by_segments = match is_unheard(outage) {
        true => Some(receiver.side),
        false => others
            .find(|other| goes_the_way(other.outage))
            .map(|_| sender.side),
    };
    let by_checks = checks.first().and_then(|event| event.by);
    let by = by_segments.or(by_checks)?;
    Some(Explanation {
        by: Some(by),
        event: checks.first().map(|event| event.index),
        frames: Vec::from_iter(checks.iter().map(|event| event.frame)),
        ..Explanation::of(
            ExplanationCause::Unheard,
            certainty_of(outage.undelivered.carried),
        )
    })
}

/// ESP of one side no longer comes, and its IKE does. A sender that waits for its timer sends nothing either.
pub(super) fn esp_silent(view: &OutageView<'_>) -> Option<Explanation> {
    if let Some(silence) = one_sa_silent(view) {
        return Some(of_one_sa(view, silence));
    }
    let outage = view.outage;
    let is_silent = |side: &&SilencesOfSide| view.fills_half(side.no_esp) && !view.says_nothing(side);
    let [sender, receiver] = &outage.silences;
    let sender = Some(sender)
        .filter(|_| u64::from(outage.undelivered.swallowed) < LEAST_NOT_BY_CHANCE)
        .filter(is_silent);
    let silent = sender.or(Some(receiver).filter(is_silent))?;
    let (stops, back) = silent.no_esp;
    // Numbers that a new SA begins with above 1 are those of packets that were sent and lost.
    let mut numbers = view.events(&[EventKind::FirstNumber], stops..=back.plus_nanos(view.near()));
    let lost = numbers.find(|first| first.by == Some(silent.side) && first.count > Some(LEAST_NOT_BY_CHANCE));
    let mut anew = view.events(&[EventKind::NewIkeSa], stops..=back);
    let same_ike_sa = anew.next().is_none();
    let made = came_back_on(view, silent, back)
        .and_then(|sa| view.made(sa))
        .filter(|own| same_ike_sa && own.made == MadeByExchange::ChildSa && own.begin > stops)
        .filter(|own| lost.is_none() && own.end.plus_nanos(INITIAL_RTO) >= back);
    Some(Explanation {
        by: Some(silent.side),
        exchange: made.map(|made| made.index),
        evidence: Vec::from_iter(lost.map(|first| first.index)),
        count: lost.and_then(|first| first.count),
        seconds: Some(back.seconds_since(stops)),
        frames: Vec::from_iter(silent.last_frame),
        rested_seconds: silent.rested.map(seconds),
        ..Explanation::of(ExplanationCause::EspSilent, Certainty::Proven)
    })
}

/// The event of an SA that stopped while others of its side went on, for half of the outage.
pub(super) fn one_sa_silent<'a>(view: &OutageView<'a>) -> Option<&'a Event> {
    let mut silences = view.events(&[EventKind::EspSilent], ..=view.outage.to);
    silences.find(|silence| !silence.spis.is_empty() && view.lasts_half(silence))
}

/// The numbers of an SA that had carried more before the capture tell how much that was: a limit of volume may have ended it.
fn of_one_sa(view: &OutageView<'_>, silence: &Event) -> Explanation {
    let sent = view
        .own_sas()
        .find(|sa| silence.count.is_some() && silence.spis.contains(&sa.spi));
    Explanation {
        limit_kilobytes: sent.and_then(|sa| Some(sa.sent?.1 / 1_000)),
        seconds: silence.until.map(|until| until.seconds_since(silence.time)),
        ..Explanation::shown(ExplanationCause::EspSilent, silence)
    }
}

/// Every link of IPv6 passes so many bytes (RFC 8200 §5), and hardly any of IPv4 fewer.
const LEAST_LINK_MTU: u64 = 1_280;
/// Headers around the bytes that are counted here: IPv6 and UDP outside, ESP (header, IV, padding, ICV of 16 bytes), IPv6 and TCP inside.
const MOST_HEADERS: u64 = 40 + 8 + (8 + 16 + 17 + 16) + 40 + 20;

/// Tells whether any link passes a packet with so many bytes of payload.
pub(super) fn is_below_any_mtu(bytes: u64) -> bool {
    bytes + MOST_HEADERS <= LEAST_LINK_MTU
}

pub(super) fn large_packets(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let undelivered = &outage.undelivered;
    let largest_passed = Some(undelivered.largest_passed).filter(|bytes| *bytes > 0);
    let told = view
        .events(&[EventKind::OnlySmallPass], ..=outage.to)
        .find(|event| event.until.is_none_or(|until| until >= outage.from));
    let smallest = outage.swallowed_packets.iter().map(|packet| packet.bytes).min();
    let only_large = match (smallest, largest_passed) {
        (Some(smallest), Some(passed)) => smallest > passed,
        (Some(_), None) => true,
        // Large packets do not come to the receiver's end, and the numbers of those that were tried are missing between the small ones.
        (None, _) => u64::from(undelivered.gaps) >= LEAST_NOT_BY_CHANCE,
    };
    let proven = u64::from(undelivered.echoes) >= SEVERAL || undelivered.cut;
    let seen = u64::from(undelivered.replies) >= SEVERAL && !undelivered.beside_receiver && takes_it(view);
    if told.is_none() && !(only_large && (proven || seen)) {
        return None;
    }
    let (since, until) = view.beside_begin().into_inner();
    let changed = view
        .exchanges()
        .filter(|exchange| exchange.end <= until && !undelivered.never_larger)
        .last();
    let compressed = undelivered.form == PacketForm::Compressed && told.is_none();
    let telling = |bytes: &u64| (undelivered.cut || is_below_any_mtu(*bytes)) && told.is_none();
    let certainty = if compressed {
        Certainty::Read
    } else {
        Certainty::Inferred
    };
    Some(Explanation {
        event: told.map(|event| event.index),
        evidence: view
            .events(&[EventKind::Unreachable], view.beside())
            .map(|event| event.index)
            .collect(),
        exchange: changed
            .filter(|exchange| exchange.end >= since)
            .map(|exchange| exchange.index),
        // Whoever asked knows whether the replies came.
        by: match told {
            Some(event) => event.by,
            None if compressed => Some(outage.silences[0].side),
            None => (!proven).then_some(outage.silences[1].side),
        },
        count: told
            .and_then(|event| event.count)
            .or(largest_passed.map(u64::from)),
        connections: Some(u64::from(undelivered.connections)).filter(|n| *n >= SEVERAL),
        lost_bytes: smallest.map(u64::from).filter(telling),
        ..match told {
            Some(event) => Explanation::of(ExplanationCause::FirstFragments, event.known),
            None if undelivered.never_larger => {
                Explanation::of(ExplanationCause::LargeNeverPassed, certainty)
            }
            None => Explanation::of(ExplanationCause::LargePackets, certainty),
        }
    })
}

/// Tells whether the receiver has the SAs of what did not arrive: it took packets of them before, or sends on those of the way back.
fn takes_it(view: &OutageView<'_>) -> bool {
    let outage = view.outage;
    let in_use = |place: usize| {
        let opposite = view.sa(place).and_then(|sa| view.opposite_used(sa));
        Some(place) == outage.sa
            || opposite.is_some_and(|(first, last)| first < outage.to && last > outage.from)
    };
    outage.swallowed_packets.iter().all(|packet| in_use(packet.sa))
}

/// A router says again and again which size does not pass: the sender does not heed it. Small packets of both sides pass meanwhile; a router inside
/// the tunnel shows by its answers that the way there and back is open.
pub(super) fn too_big(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let until = *view.beside_begin().end();
    let goes_on = both_send(view);
    let ends = outage
        .inner
        .map(|(from, to)| (Some(from.to_string()), Some(to.to_string())));
    let is_of_it = |event: &Event| match event.kind {
        EventKind::TooBigInside => ends.as_ref() == Some(&(event.from.clone(), event.to.clone())),
        _ => goes_on && event.count.is_some(),
    };
    let kinds: &[EventKind] = &[EventKind::Unreachable, EventKind::TooBigInside];
    let mut told = view.events(kinds, view.beside_begin());
    let event = told.find(|event| is_of_it(event) && event.until.is_some_and(|last| last > until))?;
    Some(Explanation {
        by: Some(outage.silences[0].side),
        event: Some(event.index),
        count: event.count,
        seconds: event.until.map(|until| until.seconds_since(event.time)),
        ..Explanation::of(ExplanationCause::TooBig, Certainty::Read)
    })
}

/// ESP of both sides goes on.
fn both_send(view: &OutageView<'_>) -> bool {
    let mut sides = view.outage.silences.iter();
    sides.all(|side| !view.fills_half(side.no_esp))
}

/// Segments came behind later ones, or were acknowledged unheard, or an end moved, or the same segments pass in the end on the same SA and nobody cut
/// them: size had nothing to do with it.
pub(super) fn size_does_not_matter(view: &OutageView<'_>, _: &Explanation) -> bool {
    let outage = view.outage;
    let undelivered = &outage.undelivered;
    let arrived = u64::from(undelivered.unheard) >= LEAST_NOT_BY_CHANCE;
    let same_sa = !outage.open && outage.back_on.is_some() && outage.back_on == outage.sa;
    let passed = arrived || same_sa && !undelivered.cut;
    undelivered.behind_window > 0 || passed || address_changed(view).is_some()
}

/// Packets of a connection are lost again and again, though none is larger than what passes: echoes between the same hosts are answered all the
/// time. The tunnel carries everything, and something behind it drops that connection.
pub(super) fn connection_dead(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let undelivered = &outage.undelivered;
    let smallest = outage.swallowed_packets.iter().map(|packet| packet.bytes).min()?;
    let again = undelivered.carried == CarriedKind::Tcp
        && u64::from(undelivered.swallowed.min(undelivered.attempts)) >= LEAST_NOT_BY_CHANCE;
    let open = u64::from(undelivered.echoes) >= LEAST_NOT_BY_CHANCE && smallest <= undelivered.largest_passed;
    (again && open && both_send(view)).then(|| Explanation {
        by: Some(outage.silences[1].side),
        count: Some(undelivered.swallowed.into()),
        ..Explanation::of(ExplanationCause::ConnectionDead, Certainty::Inferred)
    })
}

/// Packets that no key opens show that nobody answered, and not what arrived.
fn certainty_of(carried: CarriedKind) -> Certainty {
    match carried {
        CarriedKind::Unread => Certainty::Inferred,
        _ => Certainty::Proven,
    }
}

pub(super) fn unexplained(view: &OutageView<'_>) -> Option<Explanation> {
    let [sender, _] = &view.outage.silences;
    let undelivered = &view.outage.undelivered;
    // An event of the control plane that explains nothing shows nothing either, and a transfer that stops while others go on may be over.
    let shown = ![ShownBy::ControlPlane, ShownBy::Unfinished].contains(&undelivered.shown_by);
    let rest = undelivered.swallowed == 0 && (undelivered.over || !shown);
    // Copies that TCP sent again and again, and that the capture lacks, were lost on the way to it.
    let lost_before = undelivered.carried == CarriedKind::Tcp
        && undelivered.shown_by == ShownBy::MissingNumbers
        && u64::from(undelivered.gaps) >= LEAST_NOT_BY_CHANCE;
    let echoes = undelivered.carried == CarriedKind::Echo;
    let certainty = match undelivered.form {
        PacketForm::Cut if echoes => Certainty::Read,
        _ => certainty_of(undelivered.carried),
    };
    let asked = || echoes.then_some(undelivered.swallowed.into());
    (!rest).then(|| Explanation {
        by: lost_before.then_some(sender.side),
        count: lost_before.then_some(undelivered.gaps.into()).or_else(asked),
        ..Explanation::of(ExplanationCause::Unexplained, certainty)
    })
}
