//! Rows about the control plane: deleted, deleted first, refused, unanswered, both at once, SAs lost.

use crate::explain::path::{address_changed, one_sa_silent};
use crate::explain::same_limits::learnt_limit;
use crate::explain::sas::new_sa_lost;
use crate::explain::scene::{ExchangeInScene, MadeByExchange, SilencesOfSide};
use crate::explain::view::{CHARON_REPEATS, DELETE_OF_A_REKEY, NEAR_AT_LEAST, OutageView, seconds};
use rekeyscope_model::analysis::{Certainty, Event, EventKind, Explanation, ExplanationCause};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// A refusal takes effect so soon, and a successor carries packets by then: who gives up deletes the SA after one more try, and daemons try again after a second or two.
pub const REFUSAL_TAKES_EFFECT: i64 = seconds(3);
/// The longest wait between two copies of a request that daemons choose by default (charon: 4, 7, 13, 23 s): until then the request
/// is still out.
pub(super) const REQUEST_IS_OUT: i64 = seconds(30);
/// A collision is settled by a Delete of the SA that is superfluous; charon repeats a request first after 4 s, and its answer comes back
/// within another one or two.
const COLLISION_IS_SETTLED: i64 = seconds(6);

/// Errors of ICMP that a host sends where no daemon listens, and no protocol ESP is known (RFC 792).
const NO_DAEMON: [&str; 2] = ["port unreachable", "protocol unreachable"];

/// An explanation by an event, with others beside it.
fn by_events(cause: ExplanationCause, first: &Event, others: &[&Event]) -> Explanation {
    Explanation {
        evidence: others.iter().map(|event| event.index).collect(),
        frames: others.iter().map(|event| event.frame).collect(),
        ..Explanation::shown(cause, first)
    }
}

pub(super) fn invalid_spi(view: &OutageView<'_>) -> Option<Explanation> {
    let told: Vec<&Event> = view.events(&[EventKind::InvalidSpi], view.beside()).collect();
    let (first, others) = told.split_first()?;
    Some(Explanation {
        count: Some(told.iter().map(|event| event.count.unwrap_or(1)).sum()),
        ..by_events(ExplanationCause::InvalidSpi, first, others)
    })
}

/// ESP of the side that is said to have lost its SAs passes.
pub(super) fn esp_passes(view: &OutageView<'_>, explanation: &Explanation) -> bool {
    esp_passes_until(view, explanation, view.outage.to)
}

fn esp_passes_until(view: &OutageView<'_>, explanation: &Explanation, until: Timestamp) -> bool {
    explanation.by.is_some() && !view.sends_no_esp(explanation.by, until)
}

/// The Delete of the side that refuses a renewal for now, which crossed the request: it closes the SA that the other side wants to renew
/// (TEMPORARY_FAILURE, RFC 7296 §2.25.1).
fn delete_crossed<'a>(view: &OutageView<'a>, refusal: &Event) -> Option<&'a Event> {
    let for_now = refusal.notify.as_deref() == Some("TEMPORARY_FAILURE");
    let since = refusal.time.plus_nanos(-COLLISION_IS_SETTLED);
    let mut deletes = view.events(EventKind::DELETES, since..=refusal.time);
    let crossed = deletes.find(|delete| delete.successor != Some(true) && delete.by == refusal.by);
    crossed.filter(|_| for_now)
}

pub(super) fn collision(view: &OutageView<'_>) -> Option<Explanation> {
    let since = view.outage.from.plus_nanos(-COLLISION_IS_SETTLED);
    let both = view.events(&[EventKind::Collision], since..=*view.beside_begin().end());
    let both: Vec<&Event> = both
        .filter(|event| delete_crossed(view, event).is_none())
        .collect();
    let (first, others) = both.split_first()?;
    let mut silences = view.events(&[EventKind::EspSilent], since..=*view.beside_begin().end());
    Some(Explanation {
        by: silences
            .find(|silence| view.lasts_half(silence))
            .and_then(|silence| silence.by),
        ..by_events(ExplanationCause::Collision, first, others)
    })
}

/// Both sides kept the same pair of SAs, or renewed at once because an end had moved, which cost the packets before.
pub(super) fn did_no_harm(view: &OutageView<'_>, explanation: &Explanation) -> bool {
    let moved = address_changed(view).and_then(|change| view.event_of(&change));
    let moved_before = moved.zip(view.event_of(explanation));
    was_settled(view, explanation)
        || moved_before.is_some_and(|(moved, collided)| moved.time <= collided.time)
}

/// The SA that carried the data is one of a pair that both sides went on with behind the collision until the data stopped, and no Delete came
/// then: they kept the same pair.
fn was_settled(view: &OutageView<'_>, explanation: &Explanation) -> bool {
    let begin = view.begin();
    let soonest = begin.plus_nanos(-view.near());
    let last_collision = explanation.evidence.last().copied().max(explanation.event);
    let collided = last_collision.and_then(|index| view.scene.events.get(index));
    let goes_on = |used: Option<(Timestamp, Timestamp)>| {
        let used = collided.zip(used);
        used.is_some_and(|(collided, (first, last))| collided.time < first && soonest <= last)
    };
    let mut deletes = view.events(EventKind::DELETES, soonest..=begin.plus_nanos(view.near()));
    let pair = view.own_sa().map(|own| [own.used, view.opposite_used(own)]);
    pair.is_some_and(|pair| pair.into_iter().all(goes_on)) && deletes.next().is_none()
}

/// What ends an L2TP session, and the link that it carries (RFC 2661 §6.4, §6.12, RFC 1661 §5.5).
const L2TP_ENDS: &[EventKind] = &[
    EventKind::StopCcn,
    EventKind::CallDisconnected,
    EventKind::LcpTerminated,
];

pub(super) fn l2tp_closed(view: &OutageView<'_>) -> Option<Explanation> {
    let ended = view.events(L2TP_ENDS, view.beside_begin()).next()?;
    // Nothing may come from the side that they asked, until it sends in a session that is over.
    let silence = |asked: &Event| {
        let (from, to) = view.side(asked.by?)?.nothing;
        (from <= asked.time && asked.until <= Some(to)).then(|| to.seconds_since(from))
    };
    let in_silence =
        || keepalives_in_vain(view, ended, view.begin()).filter(|asked| silence(asked).is_some());
    let asked = keepalives_in_vain(view, ended, view.outage.from).or_else(in_silence);
    Some(Explanation {
        count: None,
        seconds: asked.and_then(silence),
        ..by_events(ExplanationCause::L2tpClosed, ended, asked.as_slice())
    })
}

/// The keepalives of the side that ended the session or the tunnel, begun by a moment, none of which the other one answered until then. A timer that
/// doubles waits behind the last copy once more (RFC 2661 §5.8).
fn keepalives_in_vain<'a>(view: &OutageView<'a>, ended: &Event, by: Timestamp) -> Option<&'a Event> {
    let passes = ended.time <= view.begin().plus_nanos(view.near());
    let mut asked = view.events(&[EventKind::EchoUnanswered], ..=by);
    asked.find(|asked| {
        passes && asked.by != ended.by && asked.successor != Some(true) && waits_no_longer(asked, ended.time)
    })
}

pub(super) fn refused(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let mut refusals: Vec<&Event> = view
        .events(&[EventKind::Refused], ..=outage.to)
        .filter(|event| !view.got_new_sa_since(event.time) && delete_crossed(view, event).is_none())
        .collect();
    let deleted = view.events(EventKind::DELETES, view.beside()).next().is_some();
    if !deleted && !outage.open {
        let soonest = outage.from.plus_nanos(-REFUSAL_TAKES_EFFECT);
        let latest = view.begin().plus_nanos(REFUSAL_TAKES_EFFECT);
        refusals.retain(|event| (soonest..=latest).contains(&event.time));
    }
    let (first, others) = refusals.split_first()?;
    Some(Explanation {
        count: Some(refusals.len() as u64),
        ..by_events(ExplanationCause::Refused, first, others)
    })
}

/// The request came again with the group that the other side asked for, and was granted.
pub(super) fn granted_at_once(view: &OutageView<'_>, explanation: &Explanation) -> bool {
    let Some(refusal) = view.event_of(explanation) else {
        return false;
    };
    let soon = refusal.time..=refusal.time.plus_nanos(view.near());
    view.exchanges().any(|exchange| {
        soon.contains(&exchange.begin)
            && exchange.made != MadeByExchange::Nothing
            && Some(exchange.index) != refusal.exchange
            && exchange.end < view.outage.to
            && exchange.initiator != refusal.by
    })
}

/// Events of some kinds that reach into the outage, or ended a while before it, or, where several copies of a request without an answer came, no
/// longer before than their sender waits.
fn out<'a>(view: &OutageView<'a>, kinds: &'static [EventKind], before: i64) -> Vec<&'a Event> {
    let from = view.outage.from;
    let since = from.plus_nanos(-before);
    let has_waits = |e: &Event| e.kind == EventKind::Unanswered && e.count >= Some(LEAST_NOT_BY_CHANCE);
    let is_out = |e: &Event| e.until.unwrap_or(e.time) >= since || has_waits(e) && waits_no_longer(e, from);
    view.events(kinds, ..=view.outage.to)
        .filter(|event| is_out(event) && !view.got_new_sa_since(event.time))
        .collect()
}

pub(super) fn unanswered(view: &OutageView<'_>) -> Option<Explanation> {
    given_up_too_soon(view)
        .or_else(|| never_answered(view))
        .or_else(|| answered_late(view))
        .or_else(|| given_up(view))
        .or_else(|| fell_silent_too_soon(view))
        .or_else(|| given_up_while_away(view))
}

fn never_answered(view: &OutageView<'_>) -> Option<Explanation> {
    let kinds: &[EventKind] = &[EventKind::Unanswered, EventKind::FragmentsIncomplete];
    let requests = out(view, kinds, REQUEST_IS_OUT);
    let (first, others) = requests.split_first()?;
    let cause = match first.kind {
        EventKind::FragmentsIncomplete => ExplanationCause::IkeFragments,
        _ => ExplanationCause::Unanswered,
    };
    let whole = requests
        .iter()
        .filter(|event| event.kind == EventKind::Unanswered);
    let sent: u64 = whole.filter_map(|event| event.count).sum();
    // A side that gives a request up takes the tunnel down with it (RFC 7296 §2.4).
    let asker = view.other(first.by).map(|side| side.side);
    let last = requests.last()?;
    let gave_up = view.is_silent(asker) && gives_up(last, view.outage.from);
    Some(Explanation {
        count: (sent > 0).then_some(sent),
        seconds: gave_up.then(|| view.outage.from.seconds_since(last.time)),
        ..by_events(cause, first, others)
    })
}

/// The first copies of a request were not answered; the last one was, after data had stopped. Child SAs go on under an IKE SA that waits for its
/// renewal.
fn answered_late(view: &OutageView<'_>) -> Option<Explanation> {
    let late = answered_in_it(view, &[EventKind::AnsweredLate])
        .find(|event| !view.got_new_sa_since(event.time) && !renews_ike_sa(view, event))?;
    let took = late.until?.seconds_since(late.time);
    Some(Explanation {
        exchange: late.exchange,
        seconds: Some(took),
        ..Explanation::shown(ExplanationCause::AnsweredLate, late)
    })
}

/// Requests whose answer came when data had stopped.
fn answered_in_it<'a>(view: &OutageView<'a>, kinds: &'static [EventKind]) -> impl Iterator<Item = &'a Event> {
    let late = view.events(kinds, ..=*view.beside_begin().end());
    late.filter(|event| event.until.is_some_and(|answered| answered > view.outage.from))
}

fn renews_ike_sa(view: &OutageView<'_>, asked: &Event) -> bool {
    let mut renewals = view.events(&[EventKind::IkeSaRekeyed], asked.time..=asked.time);
    renewals.any(|renewal| renewal.exchange == asked.exchange)
}

/// A side takes the tunnel down though its peer lives: the answer to its check comes only when it has begun a new IKE SA, or its checks got no
/// answer, and ESP of the peer came behind the last of them.
fn given_up_too_soon(view: &OutageView<'_>) -> Option<Explanation> {
    if let Some(late) = answered_in_it(view, &[EventKind::ChecksAnsweredLate]).last() {
        return Some(Explanation {
            seconds: Some(late.until?.seconds_since(late.time)),
            ..Explanation::shown(ExplanationCause::GivenUpTooSoon, late)
        });
    }
    let mut deletes = view.events(EventKind::DELETES, view.beside_begin());
    let deleted = deletes.find(|delete| delete.successor != Some(true))?;
    let checks = checks_in_vain(view, deleted)?;
    (last_esp(view, checks.by?, deleted.time) > checks.until).then(|| Explanation {
        by: checks.by,
        count: checks.count,
        seconds: Some(deleted.time.seconds_since(checks.time)),
        ..by_events(ExplanationCause::GivenUpTooSoon, deleted, &[checks])
    })
}

/// ESP of a side ends a wait after its checks without an answer, and that of its peer goes on: no Delete can be read.
fn fell_silent_too_soon(view: &OutageView<'_>) -> Option<Explanation> {
    let mut all = view.events(&[EventKind::ChecksUnanswered], ..=*view.beside().end());
    all.find_map(|checks| {
        let (silent, _) = view.other(checks.by)?.no_esp;
        let (rests, back) = view.side(checks.by?)?.no_esp;
        let away = Some(rests) <= checks.until && Some(back) > checks.until;
        let goes_on = !away && !view.is_silent(checks.by);
        let has_it = last_esp(view, checks.by?, silent) > checks.until;
        (gives_up(checks, silent) && goes_on && has_it).then(|| Explanation {
            seconds: Some(silent.seconds_since(checks.time)),
            count: checks.count,
            certainty: Certainty::Inferred,
            ..Explanation::shown(ExplanationCause::GivenUpTooSoon, checks)
        })
    })
}

/// The checks that a side had sent in vain, a wait before it gave its peer up.
fn checks_in_vain<'a>(view: &OutageView<'a>, gives_up: &Event) -> Option<&'a Event> {
    let checks = view.events(&[EventKind::ChecksUnanswered], ..=gives_up.time);
    checks
        .filter(|checks| checks.by != gives_up.by && waits_no_longer(checks, gives_up.time))
        .last()
}

/// The last packet of an end on the SAs that it had used by a moment.
fn last_esp(view: &OutageView<'_>, address: IpAddr, by: Timestamp) -> Option<Timestamp> {
    let own = view.sas_towards(view.direction_of(view.side(address)?));
    let used = own.filter_map(|sa| sa.used.filter(|(first, _)| *first <= by));
    used.map(|(_, last)| last).max()
}

/// A side sets up a new IKE SA in place of one that lives, because its checks got no answer, though its peer answers the new request at once:
/// the peer's ESP goes on meanwhile, or it sends none that could have stopped.
fn given_up(view: &OutageView<'_>) -> Option<Explanation> {
    let until = view.outage.to.plus_nanos(view.near());
    let mut begins = view.events(&[EventKind::NewIkeSa], view.just_before()..=until);
    let anew = begins.find(|event| event.successor == Some(true))?;
    let checks = checks_in_vain(view, anew)?;
    let last = last_esp(view, view.side(checks.by?)?.side, anew.time);
    let is_alive = last.is_none_or(|last| last > checks.time.plus_nanos(view.near()));
    let answered_at_once = view.is_answered_at_once(view.exchange(anew.exchange)?);
    (is_alive && answered_at_once).then(|| Explanation {
        certainty: Certainty::Inferred,
        exchange: anew.exchange,
        ..by_events(ExplanationCause::GivenUp, checks, &[anew])
    })
}

/// A side falls silent a wait after checks without an answer, and its peer comes back on an SA that it had before: the one gave the tunnel up while the
/// other was away, and the other does not know.
fn given_up_while_away(view: &OutageView<'_>) -> Option<Explanation> {
    let mut all = view.events(&[EventKind::ChecksUnanswered], view.beside());
    all.find_map(|checks| {
        let (silent, until) = view.other(checks.by)?.nothing;
        let away = view.direction_of(view.side(checks.by?)?);
        let back = silent.plus_nanos(view.near());
        let mut used = view.sas_towards(away).filter_map(|sa| sa.used);
        let comes_back = used.any(|(first, last)| first < checks.time && last > back);
        (gives_up(checks, silent) && comes_back).then(|| Explanation {
            seconds: Some(until.seconds_since(silent)),
            ..Explanation::shown(ExplanationCause::GivenUp, checks)
        })
    })
}

/// A side gives up on a request one wait after the last copy, which is at least as long as those before.
fn gives_up(request: &Event, at: Timestamp) -> bool {
    let last = request.until.unwrap_or(request.time);
    let waited = at.nanos_since(last) + NEAR_AT_LEAST;
    waited >= last.nanos_since(request.time) / waits_of(request) && waits_no_longer(request, at)
}

/// Number of waits between the copies of a request.
fn waits_of(request: &Event) -> i64 {
    let copies = request.count.and_then(|count| i64::try_from(count).ok());
    copies.map_or(1, |copies| copies - 1).clamp(1, 32)
}

/// A wait at most doubles from one copy to the next, so that the one behind the last copy is no longer than all before it and the first of them.
pub(super) fn waits_no_longer(request: &Event, until: Timestamp) -> bool {
    let last = request.until.unwrap_or(request.time);
    let all = last.nanos_since(request.time);
    until.nanos_since(last) <= all + all / ((1 << waits_of(request)) - 1) + NEAR_AT_LEAST
}

pub(super) fn answer_lost(view: &OutageView<'_>) -> Option<Explanation> {
    let all = view.events(&[EventKind::AnswerLost], ..=view.outage.to);
    let is_out = |event: &&Event| {
        // The side that hears no third message of Quick Mode has no SA to send on, while the other one has taken its own into use.
        let exchange = view.exchange(event.exchange);
        let is_third =
            exchange.is_some_and(|made| made.made == MadeByExchange::ChildSa && made.initiator == event.by);
        let waiting = view.other(event.by).filter(|_| is_third);
        let waits = waiting.is_some_and(|side| view.fills_half(side.no_esp));
        let has_none = waits || !view.got_new_sa_since(event.time);
        event.until >= Some(view.outage.from) && has_none
    };
    let asked = Vec::from_iter(all.filter(is_out));
    let (first, others) = asked.split_first()?;
    Some(by_events(ExplanationCause::AnswerLost, first, others))
}

/// The side that asked again is silent: no copy of its request lies in the outage.
pub(super) fn asks_no_more(view: &OutageView<'_>, explanation: &Explanation) -> bool {
    let last = view.event_of(explanation).and_then(|event| event.until);
    let asks_on = last > Some(*view.beside_begin().end());
    let asks = view.other(explanation.by).map(|side| side.side);
    !asks_on && !view.outage.of_rekey && view.is_silent(asks)
}

/// Neither ESP nor IKE of the side that did not answer passes, or it lost its SAs before it was asked. Who is sent nothing answers nothing, so
/// a request that already waited while data arrived counts then. Fragments of a message show that their sender lives.
pub(super) fn not_answered_by_the_silent(view: &OutageView<'_>, explanation: &Explanation) -> bool {
    let event = view.event_of(explanation);
    let waited = |event: &Event| event.time.plus_nanos(view.near()) < view.outage.from;
    let waited_before = view.outage.undelivered.swallowed == 0 && event.is_some_and(waited);
    let asked_in_it = |event: &Event| event.time > view.outage.from.plus_nanos(view.near());
    let was_gone = event.is_some_and(asked_in_it)
        && began_anew(view).is_some_and(|lost| lost.by == explanation.by && !no_restart(view, &lost));
    let all_silent = !view.outage.of_rekey && view.is_silent(explanation.by);
    !waited_before && (all_silent || was_gone) || event.is_some_and(|asked| goes_on_before(view, asked))
}

/// The SA that had carried the data carries it again before the request is answered: what had stopped it was something else.
fn goes_on_before(view: &OutageView<'_>, asked: &Event) -> bool {
    let outage = view.outage;
    let on_its_sa = !outage.open && outage.sa.is_some() && outage.back_on == outage.sa;
    let answered = asked.until.filter(|_| asked.kind == EventKind::AnsweredLate);
    on_its_sa && answered.is_some_and(|answered| outage.to < answered)
}

pub(super) fn peer_restarted(view: &OutageView<'_>) -> Option<Explanation> {
    checked_in_vain(view).or_else(|| began_anew(view))
}

/// Checks remain unanswered, and then a new IKE SA begins; nothing came from the peer in between.
fn checked_in_vain(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let until = outage.to.plus_nanos(view.near());
    let mut all = view.events(&[EventKind::ChecksUnanswered], view.beside());
    let (checks, anew) = all.find_map(|checks| {
        let anew = view.events(&[EventKind::NewIkeSa], checks.time..=until).next()?;
        let (from, to) = view.side(checks.by?)?.nothing;
        let silent = from <= checks.time.plus_nanos(view.near())
            && to.plus_nanos(view.near()) >= anew.time.min(outage.to);
        silent.then_some((checks, anew))
    })?;
    Some(Explanation {
        by: checks.by,
        certainty: Certainty::Inferred,
        count: None,
        seconds: silent_s(view, checks.by, anew.time),
        ..by_events(ExplanationCause::PeerRestarted, anew, &[checks])
    })
}

/// A new IKE SA begins although the old one lives, after one side alone had fallen silent: that side lost its SAs, whether it comes back or the
/// other one asks anew. A host that answers "port unreachable" runs no daemon.
fn began_anew(view: &OutageView<'_>) -> Option<Explanation> {
    let outage = view.outage;
    let until = outage.to.plus_nanos(view.near());
    let mut begins = view.events(&[EventKind::NewIkeSa], outage.from..=until);
    let anew = begins.find(|event| event.successor == Some(true))?;
    let half = anew.time.min(outage.to).nanos_since(outage.from) / 2;
    let silent = |side: &&SilencesOfSide| {
        let (from, to) = side.nothing;
        to.min(anew.time).nanos_since(from) >= half
    };
    let no_daemon = |event: &&Event| NO_DAEMON.map(Some).contains(&event.notify.as_deref());
    let mut errors = view.events(&[EventKind::Unreachable], outage.from..=anew.time);
    let unreachable = errors.find(no_daemon);
    let mut silent_sides = outage.silences.iter().filter(silent);
    let lost = match (unreachable, silent_sides.next(), silent_sides.next()) {
        (Some(event), ..) => event.by?,
        (None, Some(only), None) => only.side,
        _ => return None,
    };
    let mut contacts = view.events(&[EventKind::InitialContact], anew.time..=until);
    let told = contacts.find(|event| event.by == Some(lost));
    let beside = Vec::from_iter(told.into_iter().chain(unreachable));
    let certainty = match told.or(unreachable) {
        Some(_) => Certainty::Proven,
        None => Certainty::Inferred,
    };
    Some(Explanation {
        by: Some(lost),
        certainty,
        count: None,
        seconds: silent_s(view, Some(lost), anew.time),
        ..by_events(ExplanationCause::PeerRestarted, anew, &beside)
    })
}

/// Seconds in which nothing came from an end, up to a new IKE SA.
fn silent_s(view: &OutageView<'_>, end: Option<IpAddr>, anew: Timestamp) -> Option<f64> {
    let (from, to) = view.side(end?)?.nothing;
    Some(to.min(anew).seconds_since(from)).filter(|seconds| *seconds > 0.0)
}

/// ESP of the peer passes, or a Delete took the SAs.
pub(super) fn no_restart(view: &OutageView<'_>, explanation: &Explanation) -> bool {
    let until = view
        .event_of(explanation)
        .map_or(view.outage.to, |event| event.time);
    let mut deletes = view.events(EventKind::DELETES, view.outage.from..=until);
    esp_passes_until(view, explanation, until) || deletes.next().is_some()
}

/// The Delete at the begin that no successor had been made for.
fn delete_at_begin<'a>(view: &OutageView<'a>) -> Option<&'a Event> {
    let (since, until) = view.beside_begin().into_inner();
    let kept = view.outage.from.plus_nanos(-CHARON_REPEATS);
    let mut all = view
        .events(EventKind::DELETES, kept..=until)
        .filter(|event| event.successor != Some(true))
        .filter(|event| {
            let mut refusals = view.events(&[EventKind::Refused], event.time..=until);
            let mut crossed = || refusals.any(|refusal| delete_crossed(view, refusal).is_some());
            // With its IKE SA a tunnel has no SA until the next one, whatever was still on its way.
            let ends_tunnel = event.kind == EventKind::IkeSaDeleted;
            let mut anew = view.events(&[EventKind::NewIkeSa], event.time..=view.outage.to);
            event.time >= since
                || event.by.is_some() && view.is_silent(event.by)
                || crossed()
                || ends_tunnel && anew.next().is_some_and(|anew| anew.time >= view.outage.from)
        });
    let Some(first) = all.next() else {
        return delete_of_tunnel(view);
    };
    // A peer that deletes an IKE SA deletes its child SAs first.
    let of_ike_sa = all.find(|event| event.kind == EventKind::IkeSaDeleted && event.by == first.by);
    Some(of_ike_sa.unwrap_or(first))
}

/// The Delete of an IKE SA after which the tunnel had none for half of the outage, whatever had closed its way before: the peer was heard behind it.
fn delete_of_tunnel<'a>(view: &OutageView<'a>) -> Option<&'a Event> {
    let outage = view.outage;
    let mut all = view.events(&[EventKind::IkeSaDeleted], outage.from..=outage.to);
    all.find(|delete| {
        let anew = view
            .events(&[EventKind::NewIkeSa], delete.time..=outage.to)
            .next();
        let stands = anew.map_or(outage.to, |anew| anew.until.unwrap_or(anew.time));
        let heard = outage.silences.iter().all(|side| side.nothing.0 >= delete.time);
        delete.successor == Some(false) && heard && view.fills_half((delete.time, stands))
    })
}

/// The renewal of the IKE SA right before a Delete that left the tunnel without one: who deletes the old one took the new one, too.
fn renewed_just_before<'a>(view: &OutageView<'a>, delete: &Event) -> Option<&'a Event> {
    let since = delete.time.plus_nanos(-DELETE_OF_A_REKEY);
    let renewals = view.events(&[EventKind::IkeSaRekeyed], ..=delete.time);
    let taken = renewals.filter(|renewal| renewal.until >= Some(since) && delete.successor == Some(false));
    taken.filter(|_| delete.kind == EventKind::IkeSaDeleted).last()
}

/// A Delete as an explanation, with the renewal whose IKE SA it took, and the tunnel in which both directions go on.
fn of_delete(view: &OutageView<'_>, cause: ExplanationCause, delete: &Event) -> Explanation {
    let mut gone = view.events(&[EventKind::OtherTunnel], delete.time..=view.outage.to);
    let replaced = gone.find(|gone| gone.until.is_none());
    let asked = keepalives_in_vain(view, delete, view.outage.from);
    let beside = renewed_just_before(view, delete).into_iter().chain(replaced);
    let explanation = Explanation {
        evidence: beside.chain(asked).map(|event| event.index).collect(),
        ..Explanation::shown(cause, delete)
    };
    match asked {
        Some(_) => explanation,
        None => learnt_limit(view, explanation),
    }
}

/// Exchanges that began after `time` and before the outage ended, and made no SA of other inner addresses.
fn exchanges_since<'a>(view: &OutageView<'a>, time: Timestamp) -> impl Iterator<Item = &'a ExchangeInScene> {
    let end = view.outage.to;
    view.placed_exchanges()
        .filter(|(place, _)| !view.is_of_others(*place))
        .map(|(_, exchange)| exchange)
        .filter(move |exchange| exchange.begin > time && exchange.begin < end)
}

pub(super) fn deleted(view: &OutageView<'_>) -> Option<Explanation> {
    let delete = delete_at_begin(view)?;
    let anew = of_other_addresses(view, delete);
    let mut exchanges = exchanges_since(view, delete.time);
    exchanges.next().is_none().then(|| Explanation {
        exchange: anew.map(|exchange| exchange.index),
        seconds: anew.map(|exchange| exchange.end.seconds_since(delete.time)),
        ..of_delete(view, ExplanationCause::Deleted, delete)
    })
}

/// The exchange by which the tunnel came back for inner addresses that none of its SAs had carried, where the IKE SA was deleted: a client that dials
/// again may get another address.
fn of_other_addresses<'a>(view: &OutageView<'a>, delete: &Event) -> Option<&'a ExchangeInScene> {
    let own = || view.scene.sas.iter().filter(|sa| sa.tunnel == view.outage.tunnel);
    let is_new = |place: usize| {
        let made = own().filter(|sa| sa.exchange == Some(place));
        let mut pairs = made.flat_map(|sa| &sa.inner).peekable();
        let before = |pair: &(IpAddr, IpAddr)| {
            own().any(|sa| sa.used.is_some_and(|(first, _)| first < delete.time) && sa.inner.contains(pair))
        };
        pairs.peek().is_some() && !pairs.any(before)
    };
    let all = view.placed_exchanges().filter(|(place, _)| is_new(*place));
    let mut all = all.map(|(_, exchange)| exchange);
    all.find(|exchange| {
        delete.kind == EventKind::IkeSaDeleted
            && exchange.begin > delete.time
            && exchange.made != MadeByExchange::Nothing
    })
}

pub(super) fn break_before_make(view: &OutageView<'_>) -> Option<Explanation> {
    let delete = delete_at_begin(view)?;
    let exchanges = || exchanges_since(view, delete.time);
    let made = exchanges().filter(|exchange| exchange.made != MadeByExchange::Nothing);
    let made = made.last();
    Some(Explanation {
        exchange: Some(made.or(exchanges().next())?.index),
        seconds: made.map(|exchange| exchange.end.seconds_since(delete.time)),
        ..of_delete(view, ExplanationCause::BreakBeforeMake, delete)
    })
}

/// An ordinary rekey; or the Delete takes a new SA back on which nothing had arrived, so that the renewal was made before the break; or it takes an SA
/// that had stopped long before.
pub(super) fn made_just_before(view: &OutageView<'_>, explanation: &Explanation) -> bool {
    let Some(delete) = view.event_of(explanation) else {
        return false;
    };
    let taken_back = || {
        let lost_on = new_sa_lost(view)?.exchange;
        Some(view.exchange(lost_on)?.end <= delete.time)
    };
    let had_stopped = || one_sa_silent(view).map(|silence| view.fills_half((silence.time, delete.time)));
    rekeyed_just_before(view, delete) || taken_back() == Some(true) || had_stopped() == Some(true)
}

/// An exchange of this tunnel was answered shortly before the Delete: an ordinary rekey.
fn rekeyed_just_before(view: &OutageView<'_>, delete: &Event) -> bool {
    let before = delete.time.plus_nanos(-DELETE_OF_A_REKEY)..=delete.time;
    let made = view
        .exchanges()
        .filter(|exchange| exchange.made != MadeByExchange::Nothing);
    let mut answered = made.filter_map(|exchange| exchange.answered);
    delete.successor != Some(false) && answered.any(|answered| before.contains(&answered))
}
