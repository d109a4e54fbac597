//! A tunnel that did not come up: no ESP, and the last request of the set-up was refused or not answered.

use rekeyscope_model::analysis::{Analysis, Event, EventKind, Exchange, ExchangeKind};

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
}

/// The exchange at which the set-up ended, of a capture that holds no ESP.
pub fn told_set_up(analysis: &Analysis) -> Option<ToldSetUp<'_>> {
    if analysis.security_associations.iter().any(|sa| sa.packets > 0) {
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
    };
    let (event, exchange) = failures().next_back()?;
    let succeeded = |later: &Event| later.kind == EventKind::NewIkeSa && later.time > event.time;
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
        SetUpFailure::Refused => failures()
            .filter(|(_, other)| other.kind == exchange.kind)
            .count() as u64,
        _ => event.count.unwrap_or(1),
    };
    Some(ToldSetUp {
        failure,
        exchange,
        event,
        count,
    })
}
