//! Rows about the SAs: limit, new SA lost, deleted too early, slow exchange, replay window.

use crate::explain::same_limits::{is_below_read_limits, learnt_limit, read_limit};
use crate::explain::scene::{ExchangeInScene, MadeByExchange, SaInScene, SilencesOfSide, SwallowedPacket};
use crate::explain::view::{DELETE_OF_A_REKEY, OutageView};
use rekeyscope_model::analysis::{Certainty, Event, EventKind, Explanation, ExplanationCause};
use rekeyscope_model::chance::{LEAST_NOT_BY_CHANCE, SEVERAL};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::{CarriedKind, FINEST, INITIAL_RTO, LEAST_TIMEOUT, ShownBy};
use std::net::IpAddr;

/// The first packets of an SA: the sender counts from 1 (RFC 4303 §3.3.3), and one or two may be what tests the SA.
const FIRST_NUMBERS: u64 = 3;
/// A packet that its sender handed to the network before the Delete may wait so long in the queues of both hosts.
const HANDED_OVER: i64 = 50 * NANOS_PER_MILLI;

/// Whether the packets are half of those that are known to be lost.
fn are_half(view: &OutageView<'_>, packets: usize) -> bool {
    packets > 0 && 2 * packets >= view.outage.swallowed_packets.len()
}

pub(super) fn new_sa_lost(view: &OutageView<'_>) -> Option<Explanation> {
    swallowed_from_the_first(view)
        .or_else(|| lost_behind_the_switch(view))
        .or_else(|| unheard_on_the_new(view))
        .or_else(|| first_numbers(view))
        .or_else(|| never_answered(view))
        .filter(|found| !was_dead_before(view, found))
}

/// Packets were lost on an older SA, or acknowledgements unheard, long before anybody asked for the new one: that SA is not the cause.
fn was_dead_before(view: &OutageView<'_>, found: &Explanation) -> bool {
    view.exchange(found.exchange).is_some_and(|exchange| {
        let long_before = |time: Timestamp| exchange.begin.nanos_since(time) > DELETE_OF_A_REKEY;
        let undelivered = &view.outage.undelivered;
        let unheard = u64::from(undelivered.unheard) >= LEAST_NOT_BY_CHANCE;
        let lost = view.outage.swallowed_packets.iter().map(|packet| packet.time);
        lost.filter(|time| long_before(*time)).count() as u64 >= LEAST_NOT_BY_CHANCE
            || unheard && undelivered.dead.is_some_and(|(first, _)| long_before(first))
    })
}

/// New SAs of the direction that was not delivered, and their first and last packets.
fn new_sas<'a>(view: &OutageView<'a>) -> impl Iterator<Item = (usize, &'a SaInScene)> {
    let (beside, direction) = (view.beside(), view.outage.direction);
    view.placed_sas().filter(move |(_, sa)| {
        sa.direction == direction && sa.used.is_some_and(|(first, _)| beside.contains(&first))
    })
}

fn of_new_sa(view: &OutageView<'_>, sa: &SaInScene, certainty: Certainty) -> Explanation {
    Explanation {
        by: Some(view.outage.silences[1].side),
        ..of_exchange(ExplanationCause::NewSaLost, certainty, view.made(sa))
    }
}

/// An explanation with the length of an exchange.
fn of_exchange(
    cause: ExplanationCause,
    certainty: Certainty,
    exchange: Option<&ExchangeInScene>,
) -> Explanation {
    Explanation {
        exchange: exchange.map(|exchange| exchange.index),
        seconds: exchange.map(|exchange| exchange.end.seconds_since(exchange.begin)),
        computed_seconds: exchange.and_then(ExchangeInScene::computed_s),
        ..Explanation::of(cause, certainty)
    }
}

/// Packets on an SA that did not arrive.
fn lost_on<'a>(view: &OutageView<'a>, place: usize) -> impl Iterator<Item = &'a SwallowedPacket> + use<'a> {
    let packets = view.outage.swallowed_packets.iter();
    packets.filter(move |packet| packet.sa == place)
}

/// The packets of a new SA did not arrive, from the first ones on, and the outage is mostly what came after. Without keys an answer to what came
/// before looks like one to them for a while; then the way has to come back with another SA.
fn swallowed_from_the_first(view: &OutageView<'_>) -> Option<Explanation> {
    new_sas(view).find_map(|(place, sa)| {
        let own = || lost_on(view, place);
        let lowest = own().map(|packet| packet.number).min()?;
        let lost = own().count();
        let first = own().map(|packet| packet.time).min()?;
        let since_then = view.fills_half((first, view.outage.to));
        let unread = view.outage.undelivered.carried == CarriedKind::Unread;
        let soon = sa.used.map(|(begin, _)| begin.plus_nanos(view.near())) >= Some(first);
        let replaced = view.outage.back_on.is_some_and(|back_on| back_on != place);
        // A host that does not answer on the next SA either was away itself.
        let next = view.back_on().filter(|_| replaced).and_then(|next| next.used);
        let in_vain = |begin: Timestamp| begin > first && view.outage.to.nanos_since(begin) > INITIAL_RTO;
        if next.is_some_and(|(begin, _)| in_vain(begin)) {
            return None;
        }
        let from_the_first = lowest <= FIRST_NUMBERS || unread && soon && replaced;
        (from_the_first && since_then && are_half(view, lost)).then(|| {
            let certainty = match unread {
                true => Certainty::Inferred,
                false => Certainty::Proven,
            };
            let of_new_sa = of_new_sa(view, sa, certainty);
            // A side that does not take it may delete it, and has none then.
            let mut deletes = view.events(EventKind::DELETES, first..=view.outage.to);
            let taken_back =
                deletes.find(|delete| delete.by == of_new_sa.by && delete.successor == Some(false));
            Explanation {
                count: Some(lost as u64),
                event: taken_back.map(|delete| delete.index),
                frames: Vec::from_iter(own().map(|packet| packet.frame)),
                ..of_new_sa
            }
        })
    })
}

/// The ledger counts several packets that were lost on the new SA, and knows none of them; nothing on that SA had arrived before.
fn lost_behind_the_switch(view: &OutageView<'_>) -> Option<Explanation> {
    let lost = u64::from(view.outage.undelivered.swallowed);
    let known = view.outage.lost_on_new && lost >= LEAST_NOT_BY_CHANCE;
    let from_the_first = |sa: &SaInScene| sa.used.is_some_and(|(first, _)| view.outage.from <= first);
    let (_, sa) = new_sas(view).find(|(_, sa)| known && from_the_first(sa))?;
    Some(Explanation {
        count: Some(lost),
        ..of_new_sa(view, sa, Certainty::Proven)
    })
}

/// Data arrived and was acknowledged on a new SA that the sender of the data did not have yet: it still sends on the old one.
fn unheard_on_the_new(view: &OutageView<'_>) -> Option<Explanation> {
    // Bytes that did not arrive at all were lost on the old SA.
    let undelivered = &view.outage.undelivered;
    if undelivered.unheard == 0 || undelivered.unheard < undelivered.swallowed {
        return None;
    }
    let mut back = view.sas_towards(view.outage.direction.reverse());
    let sa = back.find(|sa| {
        let opposite = view.opposite_used(sa);
        sa.used.is_some_and(|(first, _)| {
            first >= view.just_before()
                && view.fills_half((first, view.outage.to))
                && opposite.is_none_or(|(taken, _)| taken > first && taken >= view.outage.from)
        })
    })?;
    Some(Explanation {
        by: Some(view.outage.silences[0].side),
        ..of_new_sa(view, sa, Certainty::Proven)
    })
}

/// Tells whether the first packets of a new SA never came to the capture.
pub(super) fn misses_first(event: &Event) -> bool {
    event.kind == EventKind::FirstNumber && event.count > Some(FIRST_NUMBERS)
}

/// The first packets of several new SAs never came to the capture.
fn first_numbers(view: &OutageView<'_>) -> Option<Explanation> {
    let above = |event: &&Event| misses_first(event) && event.tunnel == Some(view.outage.tunnel);
    let all = view.scene.events.iter().filter(above);
    let until = view.outage.to.plus_nanos(view.near());
    let mut numbers = view.events(&[EventKind::FirstNumber], view.just_before()..=until);
    let own = numbers.find(above)?;
    let mut new = new_sas(view).map(|(_, sa)| sa);
    let sa = new.find(|sa| own.spis.contains(&sa.spi)).or(view.back_on())?;
    (all.count() as u64 >= SEVERAL).then(|| Explanation {
        cause: ExplanationCause::FirstNumber,
        event: Some(own.index),
        count: own.count.map(|number| number - 1),
        ..of_new_sa(view, sa, own.known)
    })
}

/// The new SA stops soon after its first packet, and nothing comes back on it.
fn never_answered(view: &OutageView<'_>) -> Option<Explanation> {
    let (place, sa) = new_sas(view).find(|(_, sa)| {
        let ends_early = sa.used.is_some_and(|(first, last)| {
            last.nanos_since(first) <= view.near() && last.plus_nanos(view.near()) < view.outage.to
        });
        ends_early && sa.opposite.is_some() && view.opposite_used(sa).is_none()
    })?;
    let lost = lost_on(view, place).count();
    Some(Explanation {
        count: (lost > 0).then_some(lost as u64),
        ..of_new_sa(view, sa, Certainty::Inferred)
    })
}

/// ESP of a side stops as a renewal ends whose SA the other side uses, and its IKE passes: nothing comes on its own new SA until a later one.
pub(super) fn silent_on_the_new(view: &OutageView<'_>) -> Option<Explanation> {
    let silences = view.events(&[EventKind::EspSilent], ..=view.outage.to);
    silences
        .filter(|silence| view.lasts_half(silence))
        .find_map(|silence| {
            let side = view.side(silence.by?)?;
            let direction = view.direction_of(side);
            let near = |time: Timestamp, exchange: &ExchangeInScene| {
                time.nanos_since(exchange.end).abs() <= view.near()
            };
            let made_then = |exchange: &ExchangeInScene| {
                exchange.made == MadeByExchange::ChildSa && near(silence.time, exchange)
            };
            let exchange = view.exchanges().find(|exchange| made_then(exchange))?;
            let begins = |sa: &SaInScene| sa.used.is_some_and(|(first, _)| near(first, exchange));
            let other_uses = view.sas_towards(direction.reverse()).any(begins);
            let later = silence.until.unwrap_or(view.outage.to);
            let begins_later = |sa: &SaInScene| sa.used.is_some_and(|(first, _)| first >= later);
            let none_until_then = view
                .sas_towards(direction)
                .all(|sa| begins_later(sa) || sa.used.is_none_or(|(_, last)| last <= silence.time));
            (other_uses && none_until_then).then(|| Explanation {
                by: silence.by,
                exchange: Some(exchange.index),
                seconds: Some(later.seconds_since(silence.time)),
                frames: Vec::from_iter(side.last_frame),
                ..Explanation::of(ExplanationCause::SilentOnNewSa, Certainty::Proven)
            })
        })
}

/// The capture lacks packets at the outage.
pub(super) fn hole_in_it(view: &OutageView<'_>, _: &Explanation) -> bool {
    view.scene.events.iter().any(|event| {
        event.kind == EventKind::CaptureHole
            && event.time <= view.outage.to
            && event.until.unwrap_or(event.time) >= view.outage.from
    })
}

/// Tells how long before a Delete packets may be sent that meet it.
fn in_flight(view: &OutageView<'_>) -> i64 {
    view.outage.round_trip + HANDED_OVER
}

pub(super) fn deleted_early(view: &OutageView<'_>) -> Option<Explanation> {
    named_by_a_delete(view).or_else(|| dropped_at_the_renewal(view))
}

/// Packets that went on upon the old SA behind its renewal are lost, and none before; its receiver sends on the new one meanwhile, and no limit that
/// was read is reached.
fn dropped_at_the_renewal(view: &OutageView<'_>) -> Option<Explanation> {
    let (place, sa) = sa_of_the_lost(view)?;
    let successor = view.sa(sa.successor.filter(|next| view.outage.back_on == Some(*next))?)?;
    let made = view.made(successor)?;
    let taken = successor.used?.0;
    let between = made.end.plus_nanos(-in_flight(view))..taken;
    let own = || lost_on(view, place);
    let on_and_on = own().filter(|packet| packet.time > made.end).count() as u64;
    let switched = view
        .opposite_used(successor)
        .is_some_and(|(first, _)| first.nanos_since(made.end) <= view.near());
    let by_limit = || limit_reached(view).is_some_and(|limit| limit.certainty == Certainty::Read);
    let is_dropped = on_and_on >= LEAST_NOT_BY_CHANCE && own().all(|packet| between.contains(&packet.time));
    (is_dropped && switched && !by_limit()).then(|| Explanation {
        by: Some(view.outage.silences[1].side),
        count: Some(on_and_on),
        frames: Vec::from_iter(own().map(|packet| packet.frame)),
        ..of_exchange(ExplanationCause::DeletedEarly, Certainty::Inferred, Some(made))
    })
}

fn named_by_a_delete(view: &OutageView<'_>) -> Option<Explanation> {
    let in_flight = in_flight(view);
    view.placed_sas().find_map(|(place, sa)| {
        let deleted = sa.deleted.filter(|_| sa.successor.is_some())?;
        let (earliest, latest) = (deleted.plus_nanos(-in_flight), deleted.plus_nanos(view.near()));
        let own = || lost_on(view, place);
        let died_before = own().any(|packet| packet.time < earliest);
        let lost = own().filter(|packet| packet.time <= latest).count();
        // A copy that is sent when the way is back may meet the Delete, too.
        let of_packets = !died_before && are_half(view, lost) && view.fills_half((earliest, view.outage.to));
        if !of_packets && !comes_behind_its_delete(view, place, sa) {
            return None;
        }
        let delete = view.events(EventKind::DELETES, deleted..=deleted).next();
        Some(Explanation {
            by: delete.and_then(|event| event.by),
            event: delete.map(|event| event.index),
            count: Some(match of_packets {
                true => lost as u64,
                false => view.outage.undelivered.swallowed.into(),
            }),
            frames: Vec::from_iter(own().map(|packet| packet.frame)),
            ..Explanation::of(ExplanationCause::DeletedEarly, Certainty::Proven)
        })
    })
}

/// The ledger counts several lost packets and does not know which; data stopped with the Delete of its SA, at no common volume, and for half of
/// the silence packets passed on that SA behind the Delete.
fn comes_behind_its_delete(view: &OutageView<'_>, place: usize, sa: &SaInScene) -> bool {
    let outage = view.outage;
    let last = sa.used.map(|(_, last)| last);
    outage.swallowed_packets.is_empty()
        && u64::from(outage.undelivered.swallowed) >= LEAST_NOT_BY_CHANCE
        && outage.sa == Some(place)
        && sa
            .deleted
            .zip(last)
            .is_some_and(|behind| behind.0 <= outage.from.plus_nanos(FINEST) && view.fills_half(behind))
        && limit_reached(view).is_none_or(|limit| limit.limit_kilobytes.or(limit.limit_packets).is_none())
}

pub(super) fn limit_reached(view: &OutageView<'_>) -> Option<Explanation> {
    if !view.stopped_on_its_sa() {
        return None;
    }
    let told = view
        .events(&[EventKind::LimitReached], view.beside_begin())
        .next();
    let (kilobytes, seconds) = read_limit(view);
    let was_read = kilobytes.or(seconds).is_some();
    let renewal = renewal_under_way(view);
    let nothing = Explanation::of(ExplanationCause::LimitReached, Certainty::Inferred);
    let mut learnt = learnt_limit(view, nothing);
    // Renewals by volume come at even times on an even line: a common age is no evidence then.
    if renewal.is_some() && learnt.limit_seconds.take().is_some() {
        learnt.count = learnt.count.filter(|_| learnt.limit_kilobytes.is_some());
    }
    let certainty = match told {
        _ if was_read => Certainty::Read,
        Some(event) => event.known,
        None if learnt.has_limit() => Certainty::Inferred,
        None if renewal.is_some()
            && u64::from(view.outage.undelivered.swallowed) >= LEAST_NOT_BY_CHANCE
            && !is_below_read_limits(view) =>
        {
            Certainty::Inferred
        }
        None => return None,
    };
    let brought_back = || view.made(view.back_on()?);
    let (limit_kilobytes, limit_seconds, limit_packets) = match was_read {
        true => (kilobytes, seconds, None),
        false => (learnt.limit_kilobytes, learnt.limit_seconds, learnt.limit_packets),
    };
    Some(Explanation {
        by: renewal
            .or_else(brought_back)
            .and_then(|exchange| exchange.initiator),
        event: told.map(|event| event.index),
        limit_kilobytes,
        limit_seconds,
        limit_packets,
        count: learnt.count,
        ..of_exchange(ExplanationCause::LimitReached, certainty, renewal)
    })
}

/// The exchange that replaces the SA had begun when data stopped on it, and its SA was not in use yet: its margin was too short.
fn renewal_under_way<'a>(view: &OutageView<'a>) -> Option<&'a ExchangeInScene> {
    let sa = view.outage.sa?;
    let successor = view.sa(sa)?.successor;
    let successor = successor.and_then(|successor| view.sa(successor)?.exchange);
    let from = view.outage.from;
    let back_on = view.back_on().and_then(|sa| sa.used);
    let not_in_use = back_on.is_some_and(|(first, _)| first > from);
    let mut exchanges = view.placed_exchanges();
    let under_way = exchanges.find(|(place, exchange)| {
        (exchange.renews == Some(sa) || successor == Some(*place))
            && exchange.made != MadeByExchange::Nothing
            && exchange.begin <= from
            && (exchange.end > from || not_in_use && exchange.end.plus_nanos(view.near()) > from)
    });
    under_way.map(|(_, exchange)| exchange)
}

pub(super) fn slow_exchange(view: &OutageView<'_>) -> Option<Explanation> {
    let back_on = view.back_on().and_then(|sa| sa.exchange);
    // A side that computes may serve nothing else meanwhile: data comes back when it is done, on the old SA still.
    let when_done = |exchange: &ExchangeInScene| {
        let apart = exchange.end.nanos_since(view.outage.to).abs();
        view.outage.of_rekey && apart <= view.near()
    };
    let (_, exchange) = view.placed_exchanges().find(|(place, exchange)| {
        exchange.made != MadeByExchange::Nothing
            && (back_on.is_none_or(|made| made == *place) || when_done(exchange))
            && exchange.begin >= view.just_before()
            && exchange.end <= view.outage.to.plus_nanos(view.near())
            && exchange.end.nanos_since(exchange.begin) > view.near()
            && view.fills_half((exchange.begin, exchange.end))
    })?;
    Some(took_too_long(view, ExplanationCause::SlowExchange, exchange))
}

/// Nothing came of the side that was asked, and packets were lost before it was, or it goes on upon the old SA: the way was closed, and the
/// renewal waited for it, too.
pub(super) fn way_was_closed(view: &OutageView<'_>, explanation: &Explanation) -> bool {
    let exchange = view.exchange(explanation.exchange);
    let lost_before = exchange.is_some_and(|exchange| {
        let lost = view.outage.undelivered.dead;
        lost.is_some_and(|(first, _)| first.plus_nanos(view.near()) < exchange.begin)
    });
    let asked = view.other(explanation.by);
    asked.is_some_and(|side| {
        !view.outage.of_rekey
            && view.is_silent(Some(side.side))
            && (lost_before || view.goes_on_upon_its_sa(side, side.nothing))
    })
}

/// The renewal was not done when data stopped on the old SA, which no limit had ended.
pub(super) fn slow_renewal(view: &OutageView<'_>) -> Option<Explanation> {
    let exchange = renewal_under_way(view).filter(|_| view.stopped_on_its_sa())?;
    Some(took_too_long(view, ExplanationCause::SlowRenewal, exchange))
}

fn took_too_long(view: &OutageView<'_>, cause: ExplanationCause, exchange: &ExchangeInScene) -> Explanation {
    let repeated = view.repeated(exchange, exchange.begin);
    Explanation {
        by: exchange.initiator,
        event: repeated.map(|event| event.index),
        count: repeated.and_then(|event| event.count),
        ..of_exchange(cause, Certainty::Proven, Some(exchange))
    }
}

/// A sender went on with an old counter: a receiver that checks for replays drops what comes until the number before is passed.
pub(super) fn numbers_back(view: &OutageView<'_>) -> Option<Explanation> {
    by_run(view, &[EventKind::NumbersBack], ExplanationCause::NumbersBack)
}

/// Packets of one side came damaged, and its receiver took none of them.
pub(super) fn bad_icv(view: &OutageView<'_>) -> Option<Explanation> {
    by_run(view, &[EventKind::BadIcv], ExplanationCause::BadIcv)
}

/// The receiver of an SA deleted it, or left it, and its sender goes on.
pub(super) fn one_sided(view: &OutageView<'_>) -> Option<Explanation> {
    told_one_sided(view)
        .or_else(|| in_sa_of_others(view))
        .or_else(|| lost_while_another_goes_on(view))
        .or_else(|| answered_on_the_next(view))
}

/// All that was sent on an SA is lost for longer than a receiver takes to have a new one, and none of its hosts was ever answered, while the receiver
/// goes on for others. The next SA brings answers at once: the SA was dead, and not the hosts behind it.
fn answered_on_the_next(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let (place, sa) = sa_of_the_lost(view).filter(|(_, sa)| !sa.inner.is_empty())?;
    let made = view.made(view.back_on().filter(|next| next.spi != sa.spi)?)?;
    let at_once = outage.to.nanos_since(made.end) <= INITIAL_RTO;
    let lasts = made.begin.nanos_since(outage.from) > DELETE_OF_A_REKEY;
    let back = || {
        let own = view.scene.sas.iter();
        let own = own.filter(|back| back.tunnel == sa.tunnel && back.direction != sa.direction);
        own.filter(|back| back.used.is_some_and(|(first, _)| first < made.begin))
    };
    let was_answered = |(from, to): &(IpAddr, IpAddr)| back().any(|back| back.inner.contains(&(*to, *from)));
    let receiver_goes_on = back().any(|back| back.used.is_some_and(|used| view.fills_half(used)));
    let is_dead = lasts && at_once && receiver_goes_on && !sa.inner.iter().any(was_answered);
    is_dead.then(|| Explanation {
        by: Some(outage.silences[0].side),
        exchange: Some(made.index),
        frames: Vec::from_iter(lost_on(view, place).map(|packet| packet.frame)),
        ..Explanation::of(ExplanationCause::OneSided, Certainty::Inferred)
    })
}

/// Data of a host goes in an SA that carries that of another one, too, and the receiver sends to each of the two on an SA of its own: it drops what
/// comes in that of another network (RFC 4301 §5.2).
fn in_sa_of_others(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let (host, _) = outage.inner?;
    let (place, shared) = sa_of_the_lost(view)?;
    let back = || {
        view.scene.sas.iter().filter(|sa| {
            let meanwhile = sa
                .used
                .is_some_and(|(first, last)| first < outage.to && last > outage.from);
            sa.tunnel == outage.tunnel && sa.direction != outage.direction && meanwhile
        })
    };
    let goes_to = |sa: &SaInScene, host: IpAddr| sa.inner.iter().any(|(_, to)| *to == host);
    let alone = |one: IpAddr, other: IpAddr| back().any(|sa| goes_to(sa, one) && !goes_to(sa, other));
    let is_apart = |other: IpAddr| {
        let together = back().any(|sa| goes_to(sa, host) && goes_to(sa, other));
        !together && alone(host, other) && alone(other, host)
    };
    shared
        .inner
        .iter()
        .any(|(other, _)| is_apart(*other))
        .then(|| Explanation {
            by: Some(outage.silences[0].side),
            count: Some(outage.undelivered.swallowed.into()),
            frames: Vec::from_iter(lost_on(view, place).map(|packet| packet.frame)),
            ..Explanation::of(ExplanationCause::OneSided, Certainty::Proven)
        })
}

/// The SA of half of what was lost.
fn sa_of_the_lost<'a>(view: &OutageView<'a>) -> Option<(usize, &'a SaInScene)> {
    view.placed_sas().find(|(place, sa)| {
        sa.direction == view.outage.direction && are_half(view, lost_on(view, *place).count())
    })
}

fn told_one_sided(view: &OutageView<'_>) -> Option<Explanation> {
    let explanation = by_run(view, &[EventKind::OneSided], ExplanationCause::OneSided)?;
    let event = view.event_of(&explanation)?;
    let is_it = event.spis.contains(&view.own_sa()?.spi);
    is_it.then_some(Explanation {
        seconds: event.until.map(|until| until.seconds_since(event.time)),
        ..explanation
    })
}

/// Packets on an SA are lost for longer than a receiver takes to have a new one; nothing comes back on its pair, and ESP of the receiver goes
/// on upon an older one alone, or went over to a newer one so long before the last of them.
fn lost_while_another_goes_on(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let (place, sa) = sa_of_the_lost(view)?;
    let first = lost_on(view, place).map(|packet| packet.time).min()?;
    let (began, last) = sa.used?;
    let lasts = outage.to.nanos_since(first) > DELETE_OF_A_REKEY && view.fills_half((first, outage.to));
    let of_receiver = || {
        let all = view
            .placed_sas()
            .filter(|(other, own)| own.direction != sa.direction && Some(*other) != sa.opposite);
        all.filter_map(|(_, own)| Some((own, own.used?)))
    };
    let back = view.opposite_used(sa);
    let nothing_back = back.is_none_or(|(_, last)| last <= first.plus_nanos(view.near()));
    let older_alone = of_receiver().all(|(_, used)| used.0 < began || used.0 > last.min(outage.to));
    let settled = first.plus_nanos(DELETE_OF_A_REKEY);
    let older_goes_on = older_alone && of_receiver().any(|(_, used)| used.0 < began && used.1 > settled);
    // A sender that waits for a new SA sends on the old one for as long, too; acknowledgements that it does not hear are lost, not its packets.
    let is_newer = |(_, used): &(&SaInScene, (Timestamp, Timestamp))| {
        let lasts = |end: Timestamp| end.nanos_since(used.0) > DELETE_OF_A_REKEY;
        let left = back.is_some_and(|(_, left)| left < used.0);
        left && lasts(last) && lasts(used.1.min(outage.to)) && view.fills_half((used.0, outage.to))
    };
    let newer = of_receiver()
        .find(is_newer)
        .filter(|_| outage.undelivered.unheard == 0);
    (lasts && nothing_back && (older_goes_on || newer.is_some())).then(|| {
        let taken = newer.map_or(sa.exchange, |(own, _)| own.exchange);
        let asked = |made: &&ExchangeInScene| {
            let receiver = Some(outage.silences[1].side);
            // A Delete then may be of this SA.
            let mut deletes = view.events(EventKind::DELETES, made.end..=settled);
            newer.is_some() || made.initiator == receiver && !deletes.any(|delete| delete.by == receiver)
        };
        let made = taken
            .and_then(|place| view.scene.exchanges.get(place))
            .filter(asked);
        Explanation {
            by: Some(outage.silences[0].side),
            exchange: made.map(|made| made.index),
            seconds: newer.map(|(_, used)| last.min(outage.to).seconds_since(used.0)),
            frames: Vec::from_iter(lost_on(view, place).map(|packet| packet.frame)),
            ..Explanation::of(ExplanationCause::OneSided, Certainty::Inferred)
        }
    })
}

/// Packets of an event that lasts for half of the outage were of no use to their receiver.
pub(super) fn by_run(
    view: &OutageView<'_>,
    kinds: &'static [EventKind],
    cause: ExplanationCause,
) -> Option<Explanation> {
    let mut runs = view.events(kinds, ..=view.outage.to);
    let run = runs.find(|event| view.lasts_half(event))?;
    Some(Explanation::shown(cause, run))
}

/// Nothing of two hosts comes any more since an SA replaced theirs that others use: nobody sends, so nothing is lost either.
pub(super) fn left_out(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let (from, to) = outage.inner?;
    let new = view.sa(view.own_sa()?.successor?)?;
    let (switched, _) = new.used?;
    let back = new.opposite.and_then(|place| view.sa(place))?;
    let is_carried =
        |sa: &SaInScene, host: IpAddr| sa.inner.iter().any(|ends| ends.0 == host || ends.1 == host);
    let host = [from, to]
        .into_iter()
        .find(|host| !(is_carried(new, *host) && is_carried(back, *host)))?;
    let ends_with_it = outage.from.nanos_since(switched).abs() <= LEAST_TIMEOUT;
    let nothing_sent = outage.undelivered.shown_by == ShownBy::ControlPlane;
    let exchange = view.made(new);
    (outage.open && nothing_sent && ends_with_it).then(|| Explanation {
        by: Some(host),
        exchange: exchange.map(|exchange| exchange.index),
        ..Explanation::of(ExplanationCause::LeftOut, Certainty::Inferred)
    })
}

/// A side goes over to another one as that one's new SA begins, and back as a new SA of the first does: it takes the two for one.
pub(super) fn by_turns(view: &OutageView<'_>) -> Option<Explanation> {
    if let Some(networks) = networks_by_turns(view) {
        return Some(networks);
    }
    let (silent, new) = goes_over(view)?;
    let others = view.outages_of(new.tunnel);
    let mut back = others.filter_map(|other| goes_over(&other));
    back.find(|(side, sa)| side.side == silent.side && sa.tunnel == view.outage.tunnel)?;
    let hosts = |sa: &SaInScene| sa.inner.iter().map(|ends| ends.1).collect::<Vec<IpAddr>>();
    let mut own = view.sas_towards(view.direction_of(silent));
    let certainty = match own.any(|sa| hosts(sa).iter().any(|host| hosts(new).contains(host))) {
        true => Certainty::Proven,
        false => Certainty::Inferred,
    };
    Some(Explanation {
        by: Some(silent.side),
        exchange: Some(view.made(new)?.index),
        frames: Vec::from_iter(silent.last_frame),
        ..Explanation::of(ExplanationCause::ByTurns, certainty)
    })
}

/// The outage begins while each new SA of the tunnel ends that of another inner network.
fn networks_by_turns(view: &OutageView<'_>) -> Option<Explanation> {
    let mut turns = view.events(&[EventKind::NetworksByTurns], ..=*view.beside_begin().end());
    let event = turns.find(|event| event.until >= Some(view.outage.from))?;
    Some(Explanation::shown(ExplanationCause::ByTurns, event))
}

/// Packets of one side came through another tunnel, and the other side went on in this one.
pub(super) fn other_tunnel(view: &OutageView<'_>) -> Option<Explanation> {
    by_run(view, &[EventKind::OtherTunnel], ExplanationCause::OtherTunnel)
}

/// The side whose ESP stops for half of an outage as it takes a new SA of another tunnel into use, and that SA.
fn goes_over<'a>(view: &OutageView<'a>) -> Option<(&'a SilencesOfSide, &'a SaInScene)> {
    view.outage.silences.iter().find_map(|silent| {
        let direction = view.direction_of(silent);
        let stops = silent.no_esp.0;
        let begins = |sa: &&SaInScene| {
            let takes_over = |(first, last): (Timestamp, Timestamp)| {
                first.nanos_since(stops).abs() <= view.near() && last.nanos_since(first) > view.near()
            };
            sa.tunnel != view.outage.tunnel && sa.direction == direction && sa.used.is_some_and(takes_over)
        };
        let new = view.scene.sas.iter().find(begins)?;
        // An end that went elsewhere sends nothing from the old place.
        let mut others = view.outage.silences.iter();
        let other = others.find(|other| other.side != silent.side)?.nothing;
        let other_goes_on = other.0 > stops.plus_nanos(view.near()) || !view.fills_half(other);
        (view.fills_half(silent.no_esp) && other_goes_on).then_some((silent, new))
    })
}

/// Tells whether an SA has used up the numbers of its packets: without extended ones there are 32 bits of them (RFC 4303 §2.2), and its last packets may
/// have been lost.
pub fn uses_up_numbers(highest: u64) -> bool {
    let of_bits = |most: u64| highest <= most && most - highest < FIRST_NUMBERS;
    of_bits(u64::from(u32::MAX)) || of_bits(u64::MAX)
}

/// An SA that carried the pair, either way, ended with its last number when data stopped.
pub(super) fn numbers_used_up(view: &OutageView<'_>) -> Option<Explanation> {
    let beside = view.beside_begin();
    let sa = view.own_sas().find(|sa| {
        sa.sent.is_some_and(|(number, _)| uses_up_numbers(number))
            && sa.used.is_some_and(|(_, last)| beside.contains(&last))
    })?;
    let [sender, receiver] = &view.outage.silences;
    let side = match sa.direction == view.outage.direction {
        true => sender,
        false => receiver,
    };
    Some(Explanation {
        by: Some(side.side),
        count: sa.sent.map(|(number, _)| number),
        frames: Vec::from_iter(side.last_frame),
        ..Explanation::of(ExplanationCause::NumbersUsedUp, Certainty::Proven)
    })
}

pub(super) fn replay_window(view: &OutageView<'_>) -> Option<Explanation> {
    let late = view.outage.undelivered.behind_window;
    (u64::from(late) >= LEAST_NOT_BY_CHANCE && 2 * late >= view.outage.undelivered.swallowed).then(|| {
        Explanation {
            by: Some(view.outage.silences[1].side),
            count: Some(u64::from(late)),
            ..Explanation::of(ExplanationCause::ReplayWindow, Certainty::Inferred)
        }
    })
}
