//! Costs of renewals that succeed, and failures.

use crate::explain::table::{CostOfRenewal, row_of};
use crate::explain::view::{CHARON_REPEATS, NEAR_AT_LEAST};
use rekeyscope_model::analysis::{
    Analysis, Attempt, Event, EventKind, ExchangeKind, Explanation, ExplanationCause, Outage, Rekey,
};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::INITIAL_RTO;
use std::net::IpAddr;

/// IKE_SA_INIT and one IKE_AUTH (RFC 7296 §1.2).
const EXCHANGES_WITHOUT_EAP: usize = 2;

/// The outage is what a renewal costs that succeeds: late, answered late, with a lost message, to a receiver that is not ready, or with an early Delete;
/// and where only silence shows, what begins at a renewal. Others are failures, and so is one that has not ended, or that an attempt in
/// vain led to.
pub fn is_cost_of_renewal(outage: &Outage, attempts: &[Attempt], rekeys: &[Rekey]) -> bool {
    let Some(explanation) = &outage.explanation else {
        return false;
    };
    let mut rekeys = rekeys.iter();
    let of_renewal = match row_of(explanation.cause).cost_of_renewal {
        CostOfRenewal::Always => true,
        CostOfRenewal::WhenAskedInTime => rekeys.any(|rekey| is_asked_in_time(rekey, outage)),
        CostOfRenewal::WhenSoonAnswered => explanation.count.is_none_or(|sent| sent < LEAST_NOT_BY_CHANCE),
        CostOfRenewal::WhenItBeginsThere => rekeys.any(|rekey| begins_at(rekey, outage)),
        CostOfRenewal::Never => false,
    };
    let led_to = |a: &&Attempt| a.outage.as_ref().is_some_and(|o| o.index == outage.index);
    of_renewal && outage.end.is_some() && !attempts.iter().filter(led_to).any(|a| a.outcome.failed())
}

/// Whether the cause lies in the messages or SAs of a renewal that succeeded.
pub fn names_renewal(cause: ExplanationCause) -> bool {
    matches!(
        row_of(cause).cost_of_renewal,
        CostOfRenewal::Always | CostOfRenewal::WhenAskedInTime
    )
}

/// Tells whether rekeys of the tunnel were seen, and the outage begins at none of them.
pub(crate) fn is_beside_rekeys(outage: &Outage, rekeys: &[Rekey]) -> bool {
    let mut own = rekeys
        .iter()
        .filter(|rekey| rekey.tunnel == outage.tunnel)
        .peekable();
    own.peek().is_some() && !own.any(|rekey| begins_at(rekey, outage))
}

/// Whoever loses an SA asks for another one at once, and again soon if that request was lost: who asks later had not noticed. Where no message was
/// seen, nobody can tell.
fn is_asked_in_time(rekey: &Rekey, outage: &Outage) -> bool {
    let latest = outage.start.plus_nanos(CHARON_REPEATS);
    let goes_on = rekey.switched.values().any(|switched| switched >= outage.start);
    rekey.tunnel == outage.tunnel && goes_on && rekey.started.is_none_or(|asked| asked <= latest)
}

/// The outage begins between the first message and a second after the last switch: a receiver that has not got a new SA yet loses what comes
/// on it at once, and what waited for a timer. Where no message was seen, the first packet on a new SA tells by when the exchange was over.
fn begins_at(rekey: &Rekey, outage: &Outage) -> bool {
    let unseen = || Some(rekey.switched.values().min()?.plus_nanos(-CHARON_REPEATS));
    let began = rekey.started.or_else(unseen);
    let last = rekey.switched.values().chain(rekey.started).max();
    rekey.tunnel == outage.tunnel
        && began.is_some_and(|began| began <= outage.start.plus_nanos(NEAR_AT_LEAST))
        && last.is_some_and(|last| last.plus_nanos(INITIAL_RTO) >= outage.start)
}

/// Whether nothing was sent on the new SA for most of a silence, in seconds and with packets that were swallowed: a limit was reached, and the
/// exchange, which took so many seconds at most, does not explain half of it.
pub fn leaves_unused(explanation: &Explanation, (silent, swallowed): (f64, u64), took: f64) -> bool {
    explanation.cause == ExplanationCause::LimitReached && swallowed == 0 && 2.0 * took < silent
}

/// Seconds for which nothing had passed before a Delete, where a sender's first timer is shorter: it did not stop the data.
pub fn stopped_before(analysis: &Analysis, explanation: &Explanation, start: Timestamp) -> Option<f64> {
    let deleted = analysis.event_of(explanation)?.time;
    (deleted.nanos_since(start) > INITIAL_RTO).then(|| deleted.seconds_since(start))
}

/// The end that answered while a new IKE SA was set up behind a Delete, the seconds that it took for that, where they are half of the time until the SA
/// stood, and whether it asked several times (EAP, RFC 7296 §2.16). The shortest answer is the path's part of each.
pub fn slow_answers(analysis: &Analysis, explanation: &Explanation) -> Option<(IpAddr, f64, bool)> {
    let deleted = analysis.event_of(explanation)?.time;
    let made = analysis.exchange_of(explanation)?;
    let (ike_sa, asked) = (made.ike_sa?, made.initiator?);
    let ends = analysis.tunnels.get(made.tunnel)?;
    let sets_up = |kind| matches!(kind, ExchangeKind::IkeSaInit | ExchangeKind::IkeAuth);
    // A copy shows that a message was lost: the wait was for it.
    let own = analysis.exchanges.iter().filter(|e| {
        let is_of_it = e.ike_sa == Some(ike_sa) && e.initiator == Some(asked) && sets_up(e.kind);
        is_of_it && e.first_time >= deleted && e.last_time <= made.last_time && e.retransmissions == 0
    });
    let waits: Vec<f64> = own.map(|e| e.last_time.seconds_since(e.first_time)).collect();
    let shortest = waits.iter().copied().reduce(f64::min)?;
    let took: f64 = waits.iter().map(|wait| wait - shortest).sum();
    let answers = if asked == ends.a { ends.b } else { ends.a };
    (2.0 * took >= explanation.seconds?).then_some((answers, took, waits.len() > EXCHANGES_WITHOUT_EAP))
}

/// Tells whether a request to renew the SA crossed its Delete, and was refused until the outage had ended.
pub fn is_crossed(analysis: &Analysis, explanation: &Explanation, end: Timestamp) -> bool {
    let crosses = |event: &Event| {
        let of_same =
            |e: &&Event| e.kind == EventKind::Refused && (e.tunnel, e.by) == (event.tunnel, event.by);
        let mut refusals = analysis.events.iter().filter(of_same);
        refusals.any(|refusal| (event.time..=end).contains(&refusal.time))
    };
    analysis.event_of(explanation).is_some_and(crosses)
}
