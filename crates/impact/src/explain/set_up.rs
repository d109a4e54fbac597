//! A tunnel that did not come up: no ESP, and the last request of the set-up was refused or not answered; or a login inside it was refused.

use crate::explain::remarks::refuses_child;

use rekeyscope_model::analysis::{Analysis, Event, EventKind, Exchange, ExchangeKind, Impact, Verdict};
use rekeyscope_model::chance::{LEAST_NOT_BY_CHANCE, SEVERAL};
use std::collections::HashSet;

/// Kind of failure of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUpFailure {
    /// An answer says so.
    Refused,
    /// Each copy of a message brought an error message back, and none went on (IKEv1).
    Rejected,
    /// Nothing came back.
    Unanswered,
}

/// A set-up that failed.
#[derive(Debug, Clone, Copy)]
pub struct ToldSetUp<'a> {
    /// Kind of failure.
    pub failure: SetUpFailure,
    /// The exchange that failed.
    pub exchange: &'a Exchange,
    /// The event that tells it; of several alike the last.
    pub event: &'a Event,
    /// Number of refusals, or of copies of the message.
    pub count: u64,
    /// The gateway proved who it is, and its answer has no room for a child SA.
    pub childless: bool,
}

/// The exchange at which the set-up ended, of a capture that holds no ESP, or of a client that had none while no other one suffers.
pub fn told_set_up(analysis: &Analysis) -> Option<ToldSetUp<'_>> {
    let sas = analysis.security_associations.iter();
    let up: HashSet<usize> = sas.filter(|sa| sa.packets > 0).map(|sa| sa.tunnel).collect();
    if !up.is_empty() && analysis.impact.iter().any(suffers) {
        return None;
    }
    let exchange_of = |event: &Event| {
        let index = event.exchange?;
        analysis.exchanges.iter().find(|exchange| exchange.index == index)
    };
    let failures = || {
        let told = analysis
            .events
            .iter()
            .filter(|event| matches!(event.kind, EventKind::Refused | EventKind::Unanswered));
        told.filter_map(|event| Some((event, exchange_of(event)?)))
            .filter(|(_, exchange)| exchange.kind != ExchangeKind::Informational)
            // Anybody who looks for gateways sends a message that begins a set-up.
            .filter(|(_, exchange)| {
                up.is_empty() || !up.contains(&exchange.tunnel) && !exchange.kind.begins_ike_sa()
            })
    };
    let (event, exchange) = failures().next_back()?;
    let alike = || failures().filter(|(_, other)| up.is_empty() || other.tunnel == exchange.tunnel);
    let succeeded = |later: &Event| {
        let own = up.is_empty() || later.tunnel == Some(exchange.tunnel);
        own && later.kind == EventKind::NewIkeSa && later.time > event.time
    };
    if analysis.events.iter().any(succeeded) {
        return None;
    }
    let brought_an_error = |other: &Exchange| {
        other.kind == ExchangeKind::Informational
            && other.tunnel == exchange.tunnel
            && event.by.is_some()
            && other.initiator == event.by
            && event.time <= other.first_time
    };
    let failure = match event.kind {
        EventKind::Refused => SetUpFailure::Refused,
        _ if analysis.exchanges.iter().any(brought_an_error) => SetUpFailure::Rejected,
        _ => SetUpFailure::Unanswered,
    };
    let count = match failure {
        SetUpFailure::Refused => alike().filter(|(_, other)| other.kind == exchange.kind).count() as u64,
        _ => event.count.unwrap_or(1),
    };
    let enough = match failure {
        SetUpFailure::Refused => SEVERAL,
        _ => LEAST_NOT_BY_CHANCE,
    };
    (up.is_empty() || count >= enough).then(|| ToldSetUp {
        failure,
        exchange,
        event,
        count,
        childless: refuses_child(analysis, event),
    })
}

fn suffers(impact: &Impact) -> bool {
    matches!(impact.verdict, Verdict::Failed | Verdict::Shown)
}

/// The refusals of a login over PPP after which none was accepted and no transfer goes on; of one client among others there are several.
pub fn told_login(analysis: &Analysis) -> Option<Vec<&Event>> {
    let open = || {
        let events = analysis.events.iter();
        events.filter(|event| event.kind == EventKind::LoginRefused && event.successor != Some(true))
    };
    let last = open().next_back()?;
    let own = |tunnel: usize| Some(tunnel) == last.tunnel;
    let goes_on = |impact: &Impact| impact.transfers.iter().any(|transfer| transfer.end > last.time);
    let is_told = |impact: &Impact| match own(impact.tunnel) {
        true => !goes_on(impact),
        false => !suffers(impact),
    };
    let refusals: Vec<&Event> = open()
        .filter(|event| (event.tunnel, event.by) == (last.tunnel, last.by))
        .collect();
    let others_carry = analysis.flows.iter().any(|flow| !own(flow.tunnel));
    let enough = !others_carry || refusals.len() as u64 >= SEVERAL;
    (enough && analysis.impact.iter().all(is_told)).then_some(refusals)
}
