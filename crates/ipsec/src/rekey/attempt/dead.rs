//! Checks of the peer that stay without an answer: dead peer detection (RFC 3706) and IKEv2's INFORMATIONAL (RFC 7296 §2.4).

use crate::ike::opening::Opening;
use crate::ike::timeline::{Exchange, IkeSa};
use crate::rekey::attempt::seen::{LEAST_UNANSWERED, MOST_FRAMES};
use crate::rekey::evidence::Evidence;
use crate::rekey::pair::Speakers;
use crate::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;

/// A peer that does not answer.
#[derive(Debug, Clone)]
pub struct UnansweredCheck {
    /// Tunnel.
    pub tunnel: TunnelIndex,
    /// Who asks.
    pub by: IpAddr,
    /// First question.
    pub first_time: Timestamp,
    /// Last question.
    pub last_time: Timestamp,
    /// Its frames, at most [`MOST_FRAMES`].
    pub frames: Vec<u64>,
    asked: u64,
}

/// All of them in order of time; each was asked [`LEAST_UNANSWERED`] times or more.
pub fn unanswered_checks(evidence: &Evidence<'_>, ike_sas: &[IkeSa]) -> Vec<UnansweredCheck> {
    let speakers = Speakers::of(evidence);
    let mut found = Vec::new();
    // IKEv1 asks in a new exchange each time: by IKE SA and who asks, until something comes back.
    let mut asking: HashMap<(usize, IpAddr), UnansweredCheck> = HashMap::new();
    for (exchange, tunnel) in evidence.exchanges.iter().zip(evidence.exchange_tunnels) {
        let (Some(ike_sa), Some(tunnel)) = (exchange.ike_sa, *tunnel) else {
            continue;
        };
        if exchange.kind != ExchangeKind::Informational || !speakers.both(tunnel) {
            continue;
        }
        let Some(check) = check(exchange, tunnel) else {
            continue;
        };
        if ike_sas.get(ike_sa).is_some_and(|sa| sa.version == 2) {
            let whole = exchange.is_one_sided() && exchange.opening() == Opening::Whole;
            found.extend(Some(check).filter(|c| whole && c.asked >= LEAST_UNANSWERED));
            continue;
        }
        // Whatever the peer says, it lives.
        found.extend(asking.remove(&(ike_sa, exchange.responder)).filter(is_dead));
        if exchange.notifications.contains(&"R-U-THERE") {
            let so_far = asking.entry((ike_sa, check.by));
            so_far.and_modify(|before| before.go_on(&check)).or_insert(check);
        }
    }
    found.extend(asking.into_values().filter(is_dead));
    found.sort_by_key(|c| (c.first_time, c.tunnel));
    found
}

fn is_dead(check: &UnansweredCheck) -> bool {
    check.asked >= LEAST_UNANSWERED
}

fn check(exchange: &Exchange, tunnel: TunnelIndex) -> Option<UnansweredCheck> {
    Some(UnansweredCheck {
        tunnel,
        by: exchange.initiator,
        first_time: exchange.first_time()?,
        last_time: exchange.last_time()?,
        frames: exchange
            .records
            .iter()
            .map(|r| r.frame)
            .take(MOST_FRAMES)
            .collect(),
        asked: exchange.messages,
    })
}

impl UnansweredCheck {
    fn go_on(&mut self, later: &UnansweredCheck) {
        self.last_time = later.last_time;
        self.asked += later.asked;
        let room = MOST_FRAMES.saturating_sub(self.frames.len());
        self.frames.extend(later.frames.iter().take(room));
    }
}
