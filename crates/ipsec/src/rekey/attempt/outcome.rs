//! One exchange → what became of it.

use crate::ike::opening::{LONGEST_THIRD_MESSAGE, Opening};
use crate::ike::timeline::{ErrorNotice, Exchange, MessageRecord, Notice};
use crate::rekey::attempt::seen::{AttemptSeen, FIRST_REPEAT_NANOS, PEER_SENDS_ESP, PEER_SILENT};
use crate::rekey::attempt::tables::{AttemptTables, frames};
use crate::rekey::short_answer::refused_by_length;
use rekeyscope_model::analysis::{AttemptOutcome, ExchangeKind};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};

/// Longest round trip from a request to its refusal, which needs no computation. (IKE messages were seen 0.4 s late.)
pub(super) const REFUSAL_WITHIN: i64 = 2 * NANOS_PER_SECOND;

/// A refusal: what the notification says, where it could be read.
pub(super) struct Refusal {
    pub(super) reason: Option<&'static str>,
    pub(super) notice: Notice,
}

impl Refusal {
    pub(super) fn of(error: &ErrorNotice) -> Refusal {
        let &ErrorNotice { by, frame, time, .. } = error;
        Refusal {
            reason: Some(error.name),
            notice: Notice { by, frame, time },
        }
    }

    pub(super) fn by_message(said: &MessageRecord, reason: Option<&'static str>) -> Refusal {
        Refusal {
            reason,
            notice: Notice {
                by: said.src,
                frame: said.frame,
                time: said.time,
            },
        }
    }
}

/// The attempt that an exchange is; `None` for other exchanges, and where the capture holds one side only or lacks the answer.
pub(super) fn of_exchange(tables: &AttemptTables<'_>, index: usize) -> Option<AttemptSeen> {
    let exchange = &tables.evidence.exchanges[index];
    let kinds = [ExchangeKind::QuickMode, ExchangeKind::CreateChildSa];
    if !kinds.contains(&exchange.kind) || exchange.rekeys_ike_sa {
        return None;
    }
    let tunnel = tables.evidence.tunnel_of(index)?;
    let used = tables.made_a_child(index);
    if !used && tables.lacks_the_answer(exchange) {
        return None;
    }
    let refusal = refusal(tables, index).filter(|_| !used);
    let whole = exchange.opening() == Opening::Whole;
    if !(used || tables.speakers.both(tunnel) && whole) {
        return None;
    }
    let (outcome, reason) = match &refusal {
        _ if used => (AttemptOutcome::Completed, None),
        Some(refusal) => (AttemptOutcome::Refused, refusal.reason),
        None => without_refusal(tables, exchange),
    };
    let (first_time, last) = exchange.span();
    let answered = exchange
        .answer()
        .map(|r| r.time)
        .or(refusal.as_ref().map(|r| r.notice.time))
        .filter(|_| whole);
    let mut frames = frames(exchange);
    let joined = refusal.as_ref().map(|r| r.notice.frame);
    frames.extend(joined.filter(|f| !frames.contains(f)));
    Some(AttemptSeen {
        tunnel,
        exchange: index,
        initiator: exchange.known_initiator(),
        first_time,
        last_time: refusal.as_ref().map_or(last, |r| last.max(r.notice.time)),
        messages: exchange.messages,
        transmissions: exchange.requests().count() as u64,
        requests: exchange.requests().map(|r| r.time).collect(),
        answered,
        refused: refusal.map(|r| r.notice),
        outcome,
        reason,
        frames,
    })
}

/// Judges an exchange that made nothing in use and that nobody refused.
fn without_refusal(
    tables: &AttemptTables<'_>,
    exchange: &Exchange,
) -> (AttemptOutcome, Option<&'static str>) {
    let last_request = exchange.requests().last().map(|r| r.time).unwrap_or_default();
    let answered = exchange.answer().map(|r| r.time);
    // The initiator of a Quick Mode that heard the answer sends a third message; one that asks again did not hear it.
    let heard = match (exchange.kind, answered) {
        (_, None) => false,
        (ExchangeKind::QuickMode, Some(answered)) => {
            let third = |r: &&MessageRecord| r.src == exchange.initiator && r.len <= LONGEST_THIRD_MESSAGE;
            exchange.records.iter().any(|r| third(&r)) || last_request <= answered
        }
        (_, Some(answered)) => last_request <= answered,
    };
    if heard {
        return (AttemptOutcome::CompletedUnused, None);
    }
    let copies: Vec<Timestamp> = exchange.requests().map(|r| r.time).collect();
    let ends = deletes_behind(tables, exchange, last_request).unwrap_or(tables.ends);
    if is_cut(ends, &copies) {
        return (AttemptOutcome::Cut, None);
    }
    (AttemptOutcome::Unanswered, Some(silence_of(tables, exchange)))
}

/// Reason why nobody answers: the other side is silent altogether, or lives.
pub(super) fn silence_of(tables: &AttemptTables<'_>, exchange: &Exchange) -> &'static str {
    if sends_meanwhile(tables, exchange) {
        PEER_SENDS_ESP
    } else {
        PEER_SILENT
    }
}

/// The capture ends before the request was due again. Three copies are enough whenever it ends.
pub(super) fn is_cut(ends: Timestamp, times: &[Timestamp]) -> bool {
    let (Some(&last), n) = (times.last(), times.len()) else {
        return true;
    };
    // Waits do not grow shorter from one copy to the next.
    let due = match n {
        1 => FIRST_REPEAT_NANOS,
        _ => last.nanos_since(times[n - 2]).min(FIRST_REPEAT_NANOS),
    };
    (n as u64) < LEAST_NOT_BY_CHANCE && ends.nanos_since(last) < due
}

/// The side that does not answer sends ESP after the first request, so it lives and is heard.
fn sends_meanwhile(tables: &AttemptTables<'_>, exchange: &Exchange) -> bool {
    let (first, last) = exchange.span();
    let last = last.max(first.plus_nanos(REFUSAL_WITHIN));
    let ends = (exchange.responder, exchange.initiator);
    tables.sends(ends, first.plus_nanos(REFUSAL_WITHIN), last)
}

fn refusal(tables: &AttemptTables<'_>, index: usize) -> Option<Refusal> {
    let exchange = &tables.evidence.exchanges[index];
    let own = exchange.errors.iter().find(|e| e.by == exchange.responder);
    if let Some(error) = own {
        return Some(Refusal::of(error));
    }
    if refused_by_length(exchange) {
        return Some(Refusal::by_message(exchange.answer()?, None));
    }
    let is_quick = exchange.kind == ExchangeKind::QuickMode && exchange.answer().is_none();
    is_quick.then(|| by_informational(tables, index)).flatten()
}

/// IKEv1 refuses a Quick Mode in an exchange of its own (RFC 2409 §5.7).
fn by_informational(tables: &AttemptTables<'_>, index: usize) -> Option<Refusal> {
    let exchange = &tables.evidence.exchanges[index];
    let (first, last) = exchange.span();
    let near = tables.informational.get(&exchange.ike_sa?)?;
    let from = near.partition_point(|&i| tables.evidence.exchanges[i].span().0 < first);
    let mut later = near[from..].iter().map(|&i| &tables.evidence.exchanges[i]);
    later.find_map(|other| {
        let said = other.records.first().filter(|r| r.src == exchange.responder)?;
        let named = |e: &&ErrorNotice| e.message_id == Some(exchange.message_id);
        let in_time = said.time >= first && said.time.nanos_since(last) <= REFUSAL_WITHIN;
        let newest = newest_request_before(tables, index, said.time);
        let error = other.errors.iter().find(named).or_else(|| {
            let others = |e: &&ErrorNotice| !names_another(tables, exchange, e.message_id);
            other.errors.iter().find(others).filter(|_| in_time && newest)
        });
        // Without keys: the responder says something short and the initiator, who would repeat what nobody answers, does not; or it says
        // so unasked, and no later than it answers others.
        let unread = !other.decrypted && in_time && newest && said.time >= last;
        let unread = unread && !is_of_many(tables, near, exchange, said);
        let unread = unread
            && (gave_up(tables, exchange, last)
                || !asked(tables, near, (last, said.time), exchange)
                    && said.time.nanos_since(last) <= tables.slowest_answer(exchange));
        (error.is_some() || unread).then(|| Refusal::by_message(said, error.map(|e| e.name)))
    })
}

/// Several informational messages of the same side come one behind the other, and more of them than there were requests: it deletes all its SAs. A
/// refusal is one for each request, and of two messages at the same moment one is the Delete of the IKE SA.
fn is_of_many(
    tables: &AttemptTables<'_>,
    informational: &[usize],
    exchange: &Exchange,
    said: &MessageRecord,
) -> bool {
    let all = &tables.evidence.exchanges;
    let (from, to) = (
        said.time.plus_nanos(-REFUSAL_WITHIN),
        said.time.plus_nanos(REFUSAL_WITHIN),
    );
    let begins = |exchange: &Exchange| exchange.span().0;
    let told = informational.partition_point(|&i| begins(&all[i]) < from);
    let told = informational[told..].iter().map(|&i| &all[i]);
    let told = told
        .take_while(|e| begins(e) <= to)
        .filter_map(|e| e.records.first());
    let told: Vec<&MessageRecord> = told.filter(|m| m.src == said.src).collect();
    let messages = told.len();
    // One program sends them without a pause.
    let at_once = |m: &&&MessageRecord| m.time.nanos_since(said.time).abs() <= NANOS_PER_MILLI;
    if told.iter().filter(at_once).count() > 1 && goes_on_anew(tables, exchange, said.time) {
        return true;
    }
    let asked = all.partition_point(|e| begins(e) < from);
    let asked = all[asked..].iter().take_while(|e| begins(e) <= to);
    let asked = asked.filter(|e| (e.ike_sa, e.kind) == (exchange.ike_sa, exchange.kind));
    messages as u64 >= LEAST_NOT_BY_CHANCE && messages > asked.count()
}

/// The initiator of an exchange goes on in another IKE SA behind a moment, and asks for nothing more in this one.
fn goes_on_anew(tables: &AttemptTables<'_>, exchange: &Exchange, time: Timestamp) -> bool {
    let all = &tables.evidence.exchanges;
    let mut later = all[all.partition_point(|e| e.span().0 <= time)..].iter();
    let asks = |e: &&Exchange| e.initiator == exchange.initiator && e.kind != ExchangeKind::Informational;
    let next = later.find(asks);
    next.is_some_and(|next| next.ike_sa != exchange.ike_sa)
}

/// The time at which the responder of an IKEv1 exchange deletes all its SAs behind a request: nobody asks again then.
fn deletes_behind(tables: &AttemptTables<'_>, exchange: &Exchange, last: Timestamp) -> Option<Timestamp> {
    let ike_sa = exchange
        .ike_sa
        .filter(|_| exchange.kind == ExchangeKind::QuickMode)?;
    let informational = tables.informational.get(&ike_sa)?;
    let all = &tables.evidence.exchanges;
    let behind = informational.partition_point(|&i| all[i].span().0 < last);
    let told = informational[behind..]
        .iter()
        .filter_map(|&i| all[i].records.first());
    let in_time = told.take_while(|m| m.time.nanos_since(last) < FIRST_REPEAT_NANOS);
    let mut own = in_time.filter(|m| m.src == exchange.responder);
    let deletes = own.find(|m| is_of_many(tables, informational, exchange, m))?;
    Some(deletes.time)
}

/// The data of a notification is the message ID of another exchange of this IKE SA.
fn names_another(tables: &AttemptTables<'_>, exchange: &Exchange, id: Option<u32>) -> bool {
    let other = id.filter(|id| *id != exchange.message_id);
    other.is_some_and(|id| tables.message_ids.contains(&(exchange.ike_sa, id)))
}

/// No other Quick Mode of the same initiator began between this one and `time`.
fn newest_request_before(tables: &AttemptTables<'_>, index: usize, time: Timestamp) -> bool {
    let own = &tables.evidence.exchanges[index];
    let later = tables.evidence.exchanges[index + 1..].iter();
    let mut others = later
        .take_while(|e| e.span().0 <= time)
        .filter(|e| e.kind == own.kind && e.initiator == own.initiator && e.ike_sa == own.ike_sa);
    others.next().is_none()
}

/// The initiator of an exchange sent an informational message within a time, which may be answered.
fn asked(
    tables: &AttemptTables<'_>,
    informational: &[usize],
    (from, to): (Timestamp, Timestamp),
    exchange: &Exchange,
) -> bool {
    let said = informational
        .iter()
        .flat_map(|&i| &tables.evidence.exchanges[i].records);
    let mut own = said.filter(|m| m.src == exchange.initiator);
    // Unless one is answered at once, it comes again: a whole timer lies between.
    own.any(|m| from.plus_nanos(-REFUSAL_WITHIN) <= m.time && m.time <= to)
}

/// The initiator did not ask again although it would have had to, or went on with a new request.
fn gave_up(tables: &AttemptTables<'_>, exchange: &Exchange, last: Timestamp) -> bool {
    tables.ends.nanos_since(last) >= FIRST_REPEAT_NANOS || tables.asks_after(exchange, last)
}
