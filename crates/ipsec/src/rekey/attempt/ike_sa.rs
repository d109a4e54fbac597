//! Outcome of an exchange that makes or renews an IKE SA.

use crate::ike::opening::Opening;
use crate::ike::outline::FirstInside;
use crate::ike::timeline::{Exchange, MessageRecord};
use crate::rekey::attempt::outcome::{REFUSAL_WITHIN, Refusal, is_cut, silence_of};
use crate::rekey::attempt::seen::AttemptSeen;
use crate::rekey::attempt::tables::{AttemptTables, frames, whole_answer};
use crate::rekey::short_answer::{LEAST_OF_A_CHILD, SHORTEST_ANSWER};
use rekeyscope_model::analysis::{AttemptOutcome, ExchangeKind};
use rekeyscope_model::time::Timestamp;

/// Attempt that an exchange is; `None` for other exchanges, and where the capture holds one side only.
pub(super) fn of_exchange(tables: &AttemptTables<'_>, index: usize) -> Option<AttemptSeen> {
    let exchange = &tables.evidence.exchanges[index];
    let makes = match exchange.kind {
        ExchangeKind::IkeAuth => true,
        ExchangeKind::CreateChildSa => exchange.rekeys_ike_sa,
        kind => kind.begins_ike_sa(),
    };
    if !makes || exchange.opening() != Opening::Whole || tables.lacks_the_answer(exchange) {
        return None;
    }
    let tunnel = tables.evidence.tunnel_of(index)?;
    let answer = exchange.answer();
    let both = tables.speakers.both(tunnel);
    if answer.is_none() && !(both || begins_in_vain(tables, exchange)) {
        return None;
    }
    let waiting = waiting(exchange);
    let refusal = refusal(tables, exchange, &waiting).or_else(|| childless(tables, index));
    let is_open = !waiting.is_empty();
    let times: Vec<Timestamp> = match is_open {
        true => waiting.iter().map(|r| r.time).collect(),
        false => exchange.requests().map(|r| r.time).collect(),
    };
    let (outcome, reason) = match &refusal {
        Some(refusal) => (AttemptOutcome::Refused, refusal.reason),
        None if !is_open => (AttemptOutcome::Completed, None),
        None if is_cut(tables.ends, &times) => (AttemptOutcome::Cut, None),
        None => (AttemptOutcome::Unanswered, Some(silence_of(tables, exchange))),
    };
    let unanswered = outcome == AttemptOutcome::Unanswered;
    let (first, last) = exchange.span();
    Some(AttemptSeen {
        tunnel,
        exchange: index,
        initiator: Some(exchange.initiator),
        first_time: times.first().copied().filter(|_| unanswered).unwrap_or(first),
        last_time: last,
        messages: exchange.messages,
        transmissions: times.len() as u64,
        requests: times,
        answered: answer.map(|a| a.time).filter(|_| !unanswered),
        refused: refusal.map(|r| r.notice),
        outcome,
        reason,
        frames: frames(exchange),
    })
}

/// The exchange is a first message and its copies, and no IKE_AUTH follows: an initiator that heard its peer would go on.
fn begins_in_vain(tables: &AttemptTables<'_>, exchange: &Exchange) -> bool {
    exchange.kind != ExchangeKind::IkeAuth
        && exchange.requests().count() == exchange.records.len()
        && !tables
            .newest
            .contains_key(&(exchange.ike_sa, exchange.initiator, ExchangeKind::IkeAuth))
}

/// Copies of the initiator's message that still waits for the other side. An IKEv2 request waits until it is answered; in Main Mode
/// each of the three messages does (RFC 2409 §5), in Aggressive Mode the first.
fn waiting(exchange: &Exchange) -> Vec<&MessageRecord> {
    let answered = exchange.records.iter().rposition(|r| exchange.is_answer(r));
    let behind = match answered {
        None => 0,
        Some(_) if exchange.kind != ExchangeKind::MainMode => return Vec::new(),
        Some(last) => last + 1,
    };
    let tail = &exchange.records[behind..];
    // A copy of an answered message asks for that answer again.
    let begins_anew = tail.first().is_some_and(|r| !r.retransmission);
    tail.iter().filter(|_| begins_anew).collect()
}

fn refusal(tables: &AttemptTables<'_>, exchange: &Exchange, waiting: &[&MessageRecord]) -> Option<Refusal> {
    let by_responder = |e: &Exchange| {
        let mut own = e.errors.iter().filter(|error| error.by == exchange.responder);
        own.find(|error| !asks_again(exchange, error.time))
            .map(Refusal::of)
    };
    by_responder(exchange).or_else(|| unread(exchange)).or_else(|| {
        // Phase 1 is refused in an exchange of its own (RFC 2409 §5.7).
        let (first, last) = exchange.span();
        let near = tables.informational.get(&exchange.ike_sa?)?.iter();
        let near = near
            .map(|&i| &tables.evidence.exchanges[i])
            .filter(|_| !waiting.is_empty());
        let in_time = |time| time >= first && time <= last.plus_nanos(REFUSAL_WITHIN);
        near.filter_map(by_responder)
            .find(|refusal| in_time(refusal.notice.time))
    })
}

/// The initiator sends another request in the same exchange, with another group (RFC 7296 §1.2) or a cookie (§2.6).
fn asks_again(exchange: &Exchange, time: Timestamp) -> bool {
    let mut later = exchange.records.iter().filter(|r| r.time > time);
    later.any(|r| !exchange.is_answer(r) && !r.retransmission)
}

/// An answer to IKE_AUTH or CREATE_CHILD_SA that begins with a notification and is too short to make an SA.
fn unread(exchange: &Exchange) -> Option<Refusal> {
    let answer = exchange.answer().filter(|_| !exchange.decrypted)?;
    let refuses = answer.outline.inside == Some(FirstInside::Notify) && answer.len < SHORTEST_ANSWER;
    refuses.then(|| Refusal::by_message(answer, None))
}

/// An unread answer to IKE_AUTH that has no room for the child SA which an earlier one of the same sides made, and no packet came on an SA of
/// this exchange: the IKE SA stands, and its child SA was refused (RFC 7296 §1.2, §2.21.2). A client that never had one, and dials again, is compared
/// with another one of the same gateway.
fn childless(tables: &AttemptTables<'_>, index: usize) -> Option<Refusal> {
    let exchange = &tables.evidence.exchanges[index];
    let answer = whole_answer(exchange)?;
    let earlier = (0..index).filter(|&other| {
        let before = &tables.evidence.exchanges[other];
        before.ike_sa != exchange.ike_sa
            && (before.initiator, before.responder) == (exchange.initiator, exchange.responder)
            && before.message_id == exchange.message_id
            && tables.made_a_child(other)
    });
    let lens = earlier.filter_map(|other| Some(whole_answer(&tables.evidence.exchanges[other])?.len));
    let of_others = || {
        let shortest = tables.shortest_with_a_child(exchange);
        // EAP goes on in further messages.
        let goes_on = tables.asks_after(exchange, answer.time);
        shortest.filter(|_| !goes_on && tables.dials_in_vain(exchange))
    };
    let shortest = lens.min().or_else(of_others)?;
    (answer.len + LEAST_OF_A_CHILD <= shortest && !tables.made_a_child(index))
        .then(|| Refusal::by_message(answer, None))
}
