//! Causes that the IKE messages show.

use crate::diagnosis::scene::RekeyScene;
use crate::diagnosis::symptom::{Symptom, high_if};
use rekeyscope_ipsec::ike::timeline::{Exchange, MessageRecord};
use rekeyscope_ipsec::rekey::detect::REAUTHENTICATION_NANOS;
use rekeyscope_ipsec::rekey::pair;
use rekeyscope_model::analysis::{Confidence, ExchangeKind};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::LEAST_TIMEOUT;

/// A second message of this length carries a public value: without one, Quick Mode answers are 172 to 230 bytes and
/// CREATE_CHILD_SA ones below 260 (one proposal, two traffic selectors); MODP groups add 132 bytes and more. Elliptic
/// curves add less, and are fast.
const LEAST_LEN_WITH_KEY_EXCHANGE: u32 = 300;
/// An exchange that outlasts a round trip by this costs more than the smallest retransmission timeout: from here on the wait
/// itself can stall a sender.
const SLOW: i64 = LEAST_TIMEOUT;

fn frames(exchange: &Exchange) -> impl Iterator<Item = u64> {
    exchange.records.iter().map(|r| r.frame)
}

/// The same message again: one was lost, or not answered in time.
pub(super) fn exchange_retransmitted(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let exchange = scene.exchange().filter(|e| e.retransmissions > 0)?;
    Some(Symptom::new(Confidence::High, frames(exchange)))
}

/// Another exchange of the other side at the same time (RFC 7296 §2.8.1). "At the same time": each began before the
/// other's last message plus one round trip.
pub(super) fn collision(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let own = scene.exchange()?;
    let (first, last) = (own.first_time()?, own.last_time()?.plus_nanos(scene.rtt));
    let rival = scene.tunnel_exchanges().find(|(e, other, begins)| {
        let ends = other.last_time().map(|t| t.plus_nanos(scene.rtt));
        Some(*e) != scene.exchange
            && other.kind == own.kind
            && matches!((other.known_initiator(), own.known_initiator()), (Some(a), Some(b)) if a != b)
            && *begins <= last
            && ends.is_some_and(|end| end >= first)
    });
    let (_, rival, _) = rival?;
    Some(Symptom::new(Confidence::High, frames(own).chain(frames(rival))))
}

/// Waits between the distinct messages that follow each other; waits that a retransmission ended are the loss's.
fn thinking_times(exchange: &Exchange) -> Vec<(i64, &MessageRecord)> {
    let pairs = exchange.records.windows(2);
    pairs
        .filter(|w| !w[0].retransmission && !w[1].retransmission && w[0].src != w[1].src)
        .map(|w| (w[1].time.nanos_since(w[0].time), &w[1]))
        .collect()
}

/// The peers computed (Diffie–Hellman, as the public values in the exchange show) for much longer than a round trip.
pub(super) fn slow_key_exchange(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let exchange = scene.exchange()?;
    let answer = scene.messages().nth(1)?;
    let carries_keys = exchange.key_exchange || answer.len >= LEAST_LEN_WITH_KEY_EXCHANGE;
    let waits = thinking_times(exchange);
    let total: i64 = waits.iter().map(|(wait, _)| wait).sum();
    if !carries_keys || total < scene.rtt + SLOW {
        return None;
    }
    Some(Symptom::new(high_if(exchange.key_exchange), frames(exchange)))
}

/// New cookies close by: a phase 1, or an IKE SA that replaced another, while the old child SA was in use.
pub(super) fn phase1_renewal(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let in_use_since = oldest_use(scene)?;
    let end = scene.exchange().and_then(Exchange::last_time)?;
    let phase_1 = scene.tunnel_exchanges().find(|(_, e, begins)| {
        let new_cookies = e.rekeys_ike_sa
            || matches!(
                e.kind,
                ExchangeKind::MainMode | ExchangeKind::AggressiveMode | ExchangeKind::IkeSaInit
            );
        let finished = pair::last_time(e);
        new_cookies
            && *begins > in_use_since
            && *begins <= end
            && scene.started.nanos_since(finished) <= REAUTHENTICATION_NANOS
    });
    let (_, phase_1, _) = phase_1?;
    Some(Symptom::new(Confidence::High, frames(phase_1)))
}

fn oldest_use(scene: &RekeyScene<'_>) -> Option<Timestamp> {
    let firsts = scene.lanes.iter().filter_map(|l| scene.sa(l.old?).first);
    firsts.map(|(t, _)| t).min()
}
