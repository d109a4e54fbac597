//! IKE SAs that stood: from when on, and which was made by a rekey of which.

use crate::events::sources::EventSources;
use rekeyscope_ipsec::ike::outline::FirstInside;
use rekeyscope_ipsec::ike::timeline::Exchange;
use rekeyscope_ipsec::rekey::attempt::AttemptSeen;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{AttemptOutcome, ExchangeKind};
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;

/// Messages of a whole Main Mode (RFC 2409 §5).
const MAIN_MODE: usize = 6;
/// Messages of a whole Aggressive Mode (RFC 2409 §5).
const AGGRESSIVE_MODE: usize = 3;

/// An IKE SA that stood.
#[derive(Debug, Clone, Copy)]
pub(super) struct StandingIkeSa {
    pub(super) tunnel: TunnelIndex,
    version: u8,
    pub(super) ends: [IpAddr; 2],
    /// The begin, as far as the capture tells.
    pub(super) since: Timestamp,
    /// The exchange that began it, where that is in the capture.
    pub(super) begun: Option<usize>,
    /// The exchange of another IKE SA that made it by a rekey, and that IKE SA.
    pub(super) made_by: Option<(usize, usize)>,
}

/// The IKE SAs that stood, by their index in the timeline.
pub(super) fn standing(sources: &EventSources<'_>) -> HashMap<usize, StandingIkeSa> {
    let outcomes: HashMap<usize, &AttemptSeen> =
        sources.ike_attempts.iter().map(|a| (a.exchange, a)).collect();
    let mut found = HashMap::new();
    for (index, tunnel, ike_sa, _) in sources.exchanges() {
        let own = sources.of_ike_sa(ike_sa);
        if own.first() != Some(&index) {
            continue;
        }
        let sa = sources.ike_sa(ike_sa);
        let begun = own
            .iter()
            .copied()
            .find(|&e| sources.exchange(e).kind.begins_ike_sa());
        let since = match begun {
            Some(begun) => stood_since(sources, own, begun, &outcomes),
            None => is_real(sources, own).then_some(sa.first_time),
        };
        if let Some(since) = since {
            let stands = StandingIkeSa {
                tunnel,
                version: sa.version,
                ends: [sa.initiator, sa.responder],
                since,
                begun,
                made_by: None,
            };
            found.insert(ike_sa, stands);
        }
    }
    let made: Vec<_> = found
        .iter()
        .filter_map(|(&index, stands)| Some((index, made_by(sources, &found, index, stands)?)))
        .collect();
    for (index, by) in made {
        found.entry(index).and_modify(|stands| stands.made_by = Some(by));
    }
    found
}

/// When an IKE SA stood that began in the capture; `None` where it came to nothing.
fn stood_since(
    sources: &EventSources<'_>,
    own: &[usize],
    begun: usize,
    outcomes: &HashMap<usize, &AttemptSeen>,
) -> Option<Timestamp> {
    let exchange = sources.exchange(begun);
    if exchange.kind == ExchangeKind::IkeSaInit {
        let auth = own
            .iter()
            .filter(|&&e| sources.exchange(e).kind == ExchangeKind::IkeAuth);
        // A child SA that is refused leaves the IKE SA alive (RFC 7296 §1.2).
        let stands = |a: &&&AttemptSeen| match a.outcome {
            AttemptOutcome::Refused => match a.reason {
                Some(reason) => reason != "AUTHENTICATION_FAILED",
                // An answer that refuses the IKE SA begins with a notification.
                None => is_granted(sources.exchange(a.exchange)),
            },
            outcome => outcome == AttemptOutcome::Completed,
        };
        let answered = auth.filter_map(|e| outcomes.get(e)).filter(stands);
        return answered.filter_map(|a| a.answered).max();
    }
    let whole = match exchange.kind {
        ExchangeKind::MainMode => MAIN_MODE,
        _ => AGGRESSIVE_MODE,
    };
    let messages = exchange.records.iter().filter(|r| !r.retransmission).count();
    let used = own
        .iter()
        .any(|&e| sources.exchange(e).kind == ExchangeKind::QuickMode);
    (messages >= whole || used)
        .then(|| exchange.last_time())
        .flatten()
}

/// The answer does not begin with a notification: the responder authenticates itself in it (RFC 7296 §1.2).
fn is_granted(exchange: &Exchange) -> bool {
    let answer = exchange.answer();
    answer.is_some_and(|answer| answer.outline.inside != Some(FirstInside::Notify))
}

/// The IKE SA was there before the capture, or the capture lacks how it began. (Cookies that one message in clear has are those of no IKE SA:
/// RFC 7296 §1.5.)
fn is_real(sources: &EventSources<'_>, own: &[usize]) -> bool {
    own.iter().map(|&e| sources.exchange(e)).any(|e| {
        let says_little = matches!(e.kind, ExchangeKind::Informational | ExchangeKind::Other);
        !says_little || !e.is_one_sided()
    })
}

/// Without keys a rekey of the IKE SA looks like one that makes a child SA, but does not begin with REKEY_SA (RFC 7296 §1.3.2, §1.3.3).
/// An IKE SA that a rekey made numbers its messages from 0 on, and no IKE_SA_INIT begins it (§2.2).
fn made_by(
    sources: &EventSources<'_>,
    all: &HashMap<usize, StandingIkeSa>,
    index: usize,
    stands: &StandingIkeSa,
) -> Option<(usize, usize)> {
    let first = sources.exchange(*sources.of_ike_sa(index).first()?);
    if stands.version != 2 || stands.begun.is_some() || first.message_id != 0 {
        return None;
    }
    let before = all.iter().filter(|(other, o)| {
        **other != index && o.tunnel == stands.tunnel && o.version == 2 && o.since < stands.since
    });
    let exchanges = before.flat_map(|(&other, _)| sources.of_ike_sa(other).iter().map(move |&e| (e, other)));
    let makes = exchanges.filter(|&(e, _)| {
        let exchange = sources.exchange(e);
        let request = exchange.records.first().and_then(|r| r.outline.inside);
        exchange.kind == ExchangeKind::CreateChildSa
            && exchange.answer().is_some_and(|a| a.time <= stands.since)
            && exchange.errors.is_empty()
            && if exchange.decrypted {
                exchange.rekeys_ike_sa
            } else {
                request != Some(FirstInside::Notify)
            }
    });
    makes.max_by_key(|&(e, _)| (sources.exchange(e).first_time(), e))
}
