//! L2TP and PPP: farewells, refused logins, and questions without an answer; those of ICMP from end to end, too.

use crate::events::sources::EventSources;
use crate::notices::{ControlNotice, ControlQuestion, ControlWord, Repeats};
use rekeyscope_ipsec::rekey::attempt::ON_ITS_WAY;
use rekeyscope_model::analysis::{Certainty, Event, EventKind, ExchangeKind};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// A tunnel that is taken down says so at each layer, one right after the other: IKEv1 encrypts the last of these words.
const TAKEN_DOWN_WITHIN: i64 = 5 * NANOS_PER_SECOND;

/// Events of all control messages.
pub(super) fn of(sources: &EventSources<'_>, ends: Timestamp) -> Vec<Event> {
    let mut found = Vec::new();
    for (said, run) in sources.record.control.runs() {
        let farewell = match said.notice {
            ControlNotice::StopCcn => EventKind::StopCcn,
            ControlNotice::CallDisconnect => EventKind::CallDisconnected,
            ControlNotice::Terminate => EventKind::LcpTerminated,
            ControlNotice::LoginRefused(name) => {
                found.push(Event {
                    tunnel: Some(said.tunnel),
                    by: Some(said.by),
                    notify: Some(name.into()),
                    successor: Some(sources.record.control.accepts_after(&said, run.first)),
                    ..run.event(EventKind::LoginRefused, Certainty::Read)
                });
                continue;
            }
            ControlNotice::Unanswered(question) | ControlNotice::AnsweredLate(question) => {
                found.extend(unanswered(sources, question, &said, run, ends));
                continue;
            }
        };
        let event = Event {
            tunnel: Some(said.tunnel),
            by: Some(said.by),
            count: Some(run.count),
            ..run.event(farewell, Certainty::Read)
        };
        found.extend(unread_deletes(sources, &event));
        found.push(event);
    }
    found.extend(pings_in_vain(sources));
    found
}

/// Echo requests of one end of a tunnel to the other one, inside of it, of which none was answered: a monitor of the tunnel asks there.
fn pings_in_vain(sources: &EventSources<'_>) -> impl Iterator<Item = Event> {
    let all = sources.record.traffic.echoes_in_vain();
    all.filter_map(|((tunnel, direction), (src, dst), asked)| {
        let mut own = sources.used_of((tunnel, direction));
        let mut back = sources.used_of((tunnel, direction.reverse()));
        let between_ends = asked.count >= LEAST_NOT_BY_CHANCE && own.any(|sa| (sa.src, sa.dst) == (src, dst));
        (between_ends && back.any(|sa| sa.counters.opened > 0)).then(|| Event {
            tunnel: Some(tunnel),
            by: Some(dst),
            until: Some(asked.last),
            count: Some(asked.count),
            notify: Some("ICMP Echo-Request".into()),
            successor: Some(false),
            ..Event::at(
                EventKind::EchoUnanswered,
                Certainty::Proven,
                asked.first.0,
                asked.first.1,
            )
        })
    })
}

/// One question may be lost on its way, or its answer; a Hello is repeated because nobody answered, an LCP echo comes whether the last
/// one was answered or not. What is asked right before the capture ends may be answered behind it.
fn unanswered(
    sources: &EventSources<'_>,
    question: ControlQuestion,
    said: &ControlWord,
    run: Repeats,
    ends: Timestamp,
) -> Option<Event> {
    let (least, name) = match question {
        ControlQuestion::Hello => (LEAST_NOT_BY_CHANCE - 1, "L2TP Hello"),
        ControlQuestion::Echo => (LEAST_NOT_BY_CHANCE, "LCP Echo-Request"),
    };
    let open = u64::from(ends.nanos_since(run.last) < ON_ITS_WAY);
    let count = run.count - open;
    // Where nothing of the other side can be read, its answers cannot.
    let mut heard = sources.used(said.tunnel).filter(|a| a.src == said.peer);
    let is_one = count >= least && heard.any(|a| a.counters.opened > 0);
    is_one.then(|| Event {
        tunnel: Some(said.tunnel),
        by: Some(said.peer),
        until: Some(run.last),
        count: Some(count),
        notify: Some(name.into()),
        successor: Some(matches!(said.notice, ControlNotice::AnsweredLate(_))),
        ..run.event(EventKind::EchoUnanswered, Certainty::Proven)
    })
}

/// Informational messages of IKEv1 that the sender of a farewell sends right behind it: Deletes, as far as one can tell.
fn unread_deletes(sources: &EventSources<'_>, farewell: &Event) -> Option<Event> {
    let until = farewell.time.plus_nanos(TAKEN_DOWN_WITHIN);
    let (index, _, _, exchange) = sources.exchanges().find(|&(_, tunnel, ike_sa, exchange)| {
        let unread =
            !exchange.decrypted && exchange.kind == ExchangeKind::Informational && exchange.is_one_sided();
        let in_time = exchange
            .first_time()
            .is_some_and(|t| (farewell.time..=until).contains(&t));
        Some(tunnel) == farewell.tunnel
            && unread
            && in_time
            && Some(exchange.initiator) == farewell.by
            && sources.ike_sa(ike_sa).version == 1
    })?;
    let first = exchange.records.first()?;
    Some(Event {
        tunnel: farewell.tunnel,
        exchange: Some(index),
        by: farewell.by,
        successor: Some(false),
        ..Event::at(EventKind::Deleted, Certainty::Inferred, first.time, first.frame)
    })
}
