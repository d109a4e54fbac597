//! Requests and what became of them: refused, unanswered, answered late, answered in vain.

use crate::events::fragments::came_in_pieces;
use crate::events::sources::EventSources;
use rekeyscope_ipsec::ike::outline::FirstInside;
use rekeyscope_ipsec::ike::timeline::{Exchange, MessageRecord};
use rekeyscope_ipsec::rekey::attempt::{AttemptSeen, PEER_SENDS_ESP};
use rekeyscope_model::analysis::{AttemptOutcome, Certainty, Event, EventKind, ExchangeKind};
use rekeyscope_model::time::NANOS_PER_SECOND;
use std::collections::HashMap;
use std::net::IpAddr;

/// No implementation repeats a request sooner (Windows after 1 s, strongSwan after 4 s, racoon after 10 s): a copy that comes earlier
/// crossed its answer, or was made on the way.
const LEAST_WAIT: i64 = NANOS_PER_SECOND;
/// Messages of a Quick Mode's initiator where its request was repeated: two, and the third message or one more copy.
const LEAST_OF_QUICK_MODE: usize = 3;

/// Events of all requests.
pub(super) fn of(sources: &EventSources<'_>) -> Vec<Event> {
    let mut found: Vec<Event> = Vec::new();
    for attempt in sources.attempts {
        found.extend(of_attempt(sources, attempt));
    }
    found.extend(of_ike_sas(sources));
    let exchanges = sources.exchanges();
    found.extend(exchanges.filter_map(|(index, tunnel, _, exchange)| {
        Some(Event {
            tunnel: Some(tunnel),
            exchange: Some(index),
            ..answer_lost(exchange)?
        })
    }));
    found
}

/// Phase 1 begins with new cookies each time: attempts that fail alike, one after the other, are one event.
fn of_ike_sas(sources: &EventSources<'_>) -> Vec<Event> {
    let mut found: Vec<Event> = Vec::new();
    let mut open: HashMap<(usize, Option<IpAddr>), usize> = HashMap::new();
    for attempt in sources.ike_attempts {
        let key = (attempt.tunnel, attempt.initiator);
        if attempt.outcome != AttemptOutcome::Unanswered {
            open.remove(&key);
            found.extend(of_attempt(sources, attempt));
            continue;
        }
        let own = of_attempt(sources, attempt);
        match open.get(&key).and_then(|&k| found.get_mut(k)) {
            Some(before) => {
                let ends = own.iter().filter_map(|e| e.until).max();
                before.until = before.until.max(ends);
                before.count = before.count.map(|n| n + attempt.transmissions);
            }
            None => {
                open.insert(key, found.len());
                found.extend(own);
            }
        }
    }
    found
}

fn of_attempt(sources: &EventSources<'_>, attempt: &AttemptSeen) -> Vec<Event> {
    let index = attempt.exchange;
    let exchange = sources.exchange(index);
    let Some(first) = exchange.records.iter().find(|r| r.time >= attempt.first_time) else {
        return Vec::new();
    };
    let base = |kind, known| Event {
        tunnel: Some(attempt.tunnel),
        exchange: Some(index),
        spis: exchange.rekeys.clone(),
        by: Some(exchange.responder),
        ..Event::at(kind, known, attempt.first_time, first.frame)
    };
    let mut found = Vec::new();
    if let Some(refused) = attempt.refused {
        found.push(Event {
            time: refused.time,
            frame: refused.frame,
            by: Some(refused.by),
            notify: attempt.reason.map(Into::into),
            ..base(EventKind::Refused, how_refused(exchange, attempt))
        });
    } else if attempt.outcome == AttemptOutcome::Unanswered && attempt.answered.is_none() {
        let unanswered = Event {
            until: attempt.requests.last().copied(),
            count: Some(attempt.transmissions),
            ..base(EventKind::Unanswered, Certainty::Proven)
        };
        found.extend(came_in_pieces(exchange).then(|| Event {
            kind: EventKind::FragmentsIncomplete,
            known: Certainty::Inferred,
            ..unanswered.clone()
        }));
        found.extend((attempt.reason == Some(PEER_SENDS_ESP)).then(|| Event {
            kind: EventKind::IkeSilent,
            count: None,
            ..unanswered.clone()
        }));
        found.push(unanswered);
    } else if let Some(last) = attempt.repeats_before_answer().last()
        && last.nanos_since(attempt.first_time) >= LEAST_WAIT
    {
        found.push(Event {
            until: attempt.answered,
            count: Some(attempt.repeats_before_answer().count() as u64 + 1),
            ..base(EventKind::AnsweredLate, Certainty::Proven)
        });
    }
    found
}

/// An answer whose first payload is a notification, and that has no room for what makes an SA, refuses; that an Informational message
/// of IKEv1 does follows from when it comes.
fn how_refused(exchange: &Exchange, attempt: &AttemptSeen) -> Certainty {
    let inside = exchange.answer().and_then(|a| a.outline.inside);
    match (attempt.reason, inside) {
        (Some(_), _) => Certainty::Read,
        (None, Some(FirstInside::Notify)) => Certainty::Proven,
        (None, _) => Certainty::Inferred,
    }
}

/// The answer is in the capture, and what it answers comes again long after it: its receiver never heard it.
fn answer_lost(exchange: &Exchange) -> Option<Event> {
    let answer = exchange.answer()?;
    let waits = |r: &&MessageRecord| r.time.nanos_since(answer.time) >= LEAST_WAIT;
    let of_initiator = || exchange.records.iter().filter(|r| !exchange.is_answer(r));
    let is_quick_mode = exchange.kind == ExchangeKind::QuickMode;
    let repeats = || !is_quick_mode || of_initiator().count() >= LEAST_OF_QUICK_MODE;
    let mut copies = exchange.records.iter().filter(waits).filter(|r| r.retransmission);
    let last_copy = copies.clone().next_back();
    let responder_asks = copies.next().is_some_and(|first| exchange.is_answer(first));
    // The third message of a Quick Mode answers the second, and comes again like a request, or its initiator takes it for delivered.
    let came = |r: &MessageRecord| r.time >= answer.time && !r.retransmission;
    let third_alone = || last_copy.filter(|_| is_quick_mode && responder_asks && of_initiator().any(came));
    let by_initiator = of_initiator().rfind(waits).filter(|_| repeats());
    let last = by_initiator.or_else(third_alone)?;
    let third = of_initiator().find(|r| responder_asks && r.time >= answer.time);
    let (unheard, by) = match third {
        Some(third) => (third, exchange.initiator),
        None => (answer, exchange.responder),
    };
    let copies = || of_initiator().filter(|r| r.time >= answer.time).count();
    let sent = third.map_or_else(|| exchange.requests().count(), |_| copies());
    Some(Event {
        by: Some(by),
        until: Some(last.time),
        count: Some(sent as u64),
        spis: exchange.rekeys.clone(),
        ..Event::at(
            match exchange.kind {
                ExchangeKind::Informational => EventKind::ChecksUnheard,
                _ => EventKind::AnswerLost,
            },
            Certainty::Proven,
            unheard.time,
            unheard.frame,
        )
    })
}
