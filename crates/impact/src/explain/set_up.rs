//! A tunnel that did not come up: no ESP, and the last request of the set-up was refused or not answered, or the client went no further, or ended what
//! it had set up; or a login inside it was refused.

use crate::explain::remarks::refuses_child;
use rekeyscope_model::analysis::{Analysis, Event, EventKind, Exchange, ExchangeKind, Impact, Verdict};
use rekeyscope_model::chance::{LEAST_NOT_BY_CHANCE, SEVERAL};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::INITIAL_RTO;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// Kind of failure of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUpFailure {
    /// An answer says so.
    Refused,
    /// Each copy of a message brought an error message back, and none went on (IKEv1).
    Rejected,
    /// Nothing came back.
    Unanswered,
    /// The answer left each time, and the client asked again.
    Unheard,
    /// The answer left, and the client's next message did not come.
    Stopped,
}

/// A set-up that failed.
#[derive(Debug, Clone, Copy)]
pub struct ToldSetUp<'a> {
    /// Kind of failure.
    pub failure: SetUpFailure,
    /// The exchange that failed; of several alike the last.
    pub exchange: &'a Exchange,
    /// The end that refused it, did not answer, did not hear, or did not go on.
    pub by: Option<IpAddr>,
    /// Time and frame of that: the refusal, the first copy of the request, or the answer after which nothing came.
    pub at: (Timestamp, u64),
    /// Name of the notification that refuses, as far as it can be read.
    pub notify: Option<&'a str>,
    /// Number of refusals, of copies of the message, or of set-ups that stopped.
    pub count: u64,
    /// The gateway proved who it is, and its answer has no room for a child SA.
    pub childless: bool,
    /// Begin of the set-up of the same tunnel that succeeded later.
    pub later: Option<Timestamp>,
}

/// The exchange at which the set-up ended, of a capture that holds no ESP, or of a client that had none while no other one suffers.
pub fn told_set_up(analysis: &Analysis) -> Option<ToldSetUp<'_>> {
    let up = without_harm(analysis)?;
    failed(analysis, &up).or_else(|| stopped(analysis, &up))
}

/// The tunnels with ESP; `None` where one of them suffers, which is what there is to tell.
fn without_harm(analysis: &Analysis) -> Option<HashSet<usize>> {
    let sas = analysis.security_associations.iter();
    let up: HashSet<usize> = sas.filter(|sa| sa.packets > 0).map(|sa| sa.tunnel).collect();
    (up.is_empty() || !analysis.impact.iter().any(suffers)).then_some(up)
}

/// Tunnels that a client ended as soon as they stood, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct ToldEnded<'a> {
    /// The Quick Mode that made the last of them.
    pub exchange: &'a Exchange,
    /// The last Delete.
    pub event: &'a Event,
    /// Number of the tunnels.
    pub count: u64,
    /// The gateway is behind a NAT.
    pub nat_at_gateway: bool,
}

/// The Quick Modes (the third message is the client's consent) after which their client deleted everything within the time that it would wait for an
/// answer at least, and nothing passed. Where no tunnel has ESP, the capture may only lack ESP beside UDP.
pub fn told_ended(analysis: &Analysis) -> Option<ToldEnded<'_>> {
    let up = without_harm(analysis)?;
    let ended = |made: &Exchange| {
        let mut own = analysis.events_of(made.tunnel);
        own.find(|event| {
            EventKind::DELETES.contains(&event.kind)
                && event.by == made.initiator
                && (0..=INITIAL_RTO).contains(&event.time.nanos_since(made.last_time))
        })
    };
    let made = analysis.exchanges.iter().filter(|exchange| {
        exchange.kind == ExchangeKind::QuickMode && exchange.messages > 2 && !up.contains(&exchange.tunnel)
    });
    let all: Vec<(&Exchange, &Event)> = made.filter_map(|made| Some((made, ended(made)?))).collect();
    let (exchange, event) = *all.last()?;
    let tunnel = analysis.tunnels.get(exchange.tunnel)?;
    let count = all.iter().filter(|(own, _)| own.tunnel == tunnel.id).count() as u64;
    let is_told = count >= SEVERAL && Some(tunnel.a) == event.by && (tunnel.nat || !up.is_empty());
    is_told.then_some(ToldEnded {
        exchange,
        event,
        count,
        nat_at_gateway: tunnel.nat && is_private(tunnel.b) && !is_private(tunnel.a),
    })
}

/// Tells whether an address is of a private network (RFC 1918, RFC 4193): who comes to it from a public one passes a NAT.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private(),
        IpAddr::V6(address) => address.is_unique_local(),
    }
}

fn failed<'a>(analysis: &'a Analysis, up: &HashSet<usize>) -> Option<ToldSetUp<'a>> {
    let failures = || {
        let events = analysis.events.iter();
        let failures = [EventKind::Refused, EventKind::Unanswered, EventKind::AnswerLost];
        let told = events.filter(move |event| failures.contains(&event.kind));
        told.filter_map(|event| Some((event, analysis.exchanges.get(event.exchange?)?)))
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
        EventKind::AnswerLost => SetUpFailure::Unheard,
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
        by: match failure {
            SetUpFailure::Unheard => exchange.initiator,
            _ => event.by,
        },
        at: (event.time, event.frame),
        notify: event.notify.as_deref(),
        count,
        childless: refuses_child(analysis, event),
        later: None,
    })
}

/// The set-ups of the last client whose first messages were answered, and which then sent nothing: a client that waits for that answer would repeat its
/// request. A stranger who only looks for gateways does the same, so that one client among others is known by a tunnel later, or as Windows.
fn stopped<'a>(analysis: &'a Analysis, up: &HashSet<usize>) -> Option<ToldSetUp<'a>> {
    let events: HashSet<usize> = analysis
        .events
        .iter()
        .filter_map(|event| event.exchange)
        .collect();
    let mut in_ike_sa: HashMap<Option<usize>, usize> = HashMap::new();
    for exchange in &analysis.exchanges {
        *in_ike_sa.entry(exchange.ike_sa).or_default() += 1;
    }
    let is_answered = |exchange: &Exchange| {
        let messages = exchange.messages - exchange.retransmissions;
        let answered = match exchange.kind {
            ExchangeKind::IkeSaInit => messages == 2,
            ExchangeKind::MainMode => [2, 4].contains(&messages),
            _ => false,
        };
        let alone = in_ike_sa.get(&exchange.ike_sa) == Some(&1);
        answered && alone && !exchange.began_earlier && !events.contains(&exchange.index)
    };
    // Whoever has to ask in another way does so at once (INVALID_KE_PAYLOAD, COOKIE).
    let mut next: HashMap<usize, Timestamp> = HashMap::new();
    let mut all: Vec<&Exchange> = Vec::new();
    for exchange in analysis.exchanges.iter().rev() {
        let then = next.insert(exchange.tunnel, exchange.first_time);
        let silent = then
            .or(analysis.capture.last_time)?
            .nanos_since(exchange.last_time);
        if silent > INITIAL_RTO && is_answered(exchange) {
            all.push(exchange);
        }
    }
    let exchange = *all.first()?;
    let count = all.iter().filter(|own| own.tunnel == exchange.tunnel).count() as u64;
    let mut own = analysis.events_of(exchange.tunnel);
    let later = own.find(|event| event.kind == EventKind::NewIkeSa && event.time > exchange.last_time);
    let is_windows = analysis.tunnels.get(exchange.tunnel)?.client_is_windows;
    let is_client = count >= SEVERAL && (later.is_some() || is_windows);
    (up.is_empty() || is_client).then_some(ToldSetUp {
        failure: SetUpFailure::Stopped,
        exchange,
        by: exchange.initiator,
        at: (exchange.last_time, *exchange.frames.last()?),
        notify: None,
        count,
        childless: false,
        later: later.map(|event| event.time),
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
