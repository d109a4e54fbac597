//! Checks of the peer that stay without an answer: dead peer detection (RFC 3706) and IKEv2's INFORMATIONAL (RFC 7296 §2.4).

use crate::ike::opening::Opening;
use crate::ike::timeline::{Exchange, IkeSa};
use crate::rekey::attempt::seen::MOST_FRAMES;
use crate::rekey::attempt::tables::frames;
use crate::rekey::evidence::Evidence;
use crate::rekey::pair::Speakers;
use crate::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::HashMap;
use std::net::IpAddr;

/// Below the shortest retry timer of a check: Cisco asks again after 2 s, strongSwan and racoon later (RFC 3706 §5.4 leaves it open).
const LEAST_WAIT: i64 = NANOS_PER_SECOND;

/// A peer that does not answer.
#[derive(Debug, Clone)]
pub struct UnansweredCheck {
    /// Tunnel.
    pub tunnel: TunnelIndex,
    /// The side that asks.
    pub by: IpAddr,
    /// Side that does not answer.
    pub peer: IpAddr,
    /// True for checks that were read, and for empty requests (RFC 7296 §1.4). False for checks inferred from how they come, because
    /// IKEv1 encrypts what its Informational messages say.
    pub known: bool,
    /// First question.
    pub first_time: Timestamp,
    /// Last question.
    pub last_time: Timestamp,
    /// The frames, at most [`MOST_FRAMES`].
    pub frames: Vec<u64>,
    /// Number of questions.
    pub asked: u64,
}

/// Checks in order of time that were asked [`LEAST_NOT_BY_CHANCE`] times or more without an answer.
pub fn unanswered_checks(evidence: &Evidence<'_>, ike_sas: &[IkeSa]) -> Vec<UnansweredCheck> {
    let speakers = Speakers::of(evidence);
    let mut found = Vec::new();
    // IKEv1 asks in a new exchange each time: by IKE SA and who asks, until something comes back.
    let mut asking: HashMap<(usize, IpAddr), UnansweredCheck> = HashMap::new();
    let mut unread: HashMap<(usize, IpAddr), UnreadRun> = HashMap::new();
    for (exchange, tunnel) in evidence.exchanges.iter().zip(evidence.exchange_tunnels) {
        let (Some(ike_sa), Some(tunnel)) = (exchange.ike_sa, *tunnel) else {
            continue;
        };
        if !speakers.both(tunnel) {
            continue;
        }
        let Some(check) = check(exchange, tunnel) else {
            continue;
        };
        let is_check = exchange.kind == ExchangeKind::Informational;
        // Questions for a user and a password, or for addresses, are repeated like a check (XAUTH, mode config).
        if exchange.kind == ExchangeKind::Transaction {
            found.extend(Some(check).filter(|c| exchange.is_one_sided() && is_dead(c)));
            continue;
        }
        if ike_sas.get(ike_sa).is_some_and(|sa| sa.version == 2) {
            let whole = is_check && exchange.is_one_sided() && exchange.opening() == Opening::Whole;
            found.extend(Some(check).filter(|c| whole && is_dead(c)));
            continue;
        }
        // Whatever the peer says, it lives.
        let own = (ike_sa, check.by);
        let answered = (!exchange.is_one_sided()).then_some(own);
        for heard in [Some((ike_sa, exchange.responder)), answered]
            .into_iter()
            .flatten()
        {
            found.extend(asking.remove(&heard).filter(is_dead));
            found.extend(unread.remove(&heard).map(|run| run.check).filter(is_dead));
        }
        if !is_check {
            continue;
        }
        if exchange.notifications.contains(&"R-U-THERE") {
            let so_far = asking.entry(own);
            so_far.and_modify(|before| before.go_on(&check)).or_insert(check);
        } else if !exchange.decrypted {
            let len = exchange.records.first().map_or(0, |r| r.len);
            let check = UnansweredCheck {
                known: false,
                ..check
            };
            match unread.get_mut(&own).filter(|run| run.goes_on(len, &check)) {
                Some(run) => {
                    run.earlier = run.check.last_time;
                    run.check.go_on(&check);
                }
                None => {
                    let (now, earlier) = (check.first_time, check.first_time);
                    let before = unread.insert(own, UnreadRun { len, earlier, check });
                    found.extend(before.map(|run| run.until(now)).filter(is_dead));
                }
            }
        }
    }
    found.extend(asking.into_values().filter(is_dead));
    found.extend(unread.into_values().map(|run| run.check).filter(is_dead));
    found.sort_by_key(|c| (c.first_time, c.tunnel, c.by));
    found
}

/// A run of unread messages of one length: R-U-THERE has the same fields each time (RFC 3706 §5.4).
#[derive(Debug)]
struct UnreadRun {
    len: u32,
    /// The question before the last one.
    earlier: Timestamp,
    check: UnansweredCheck,
}

impl UnreadRun {
    /// A check is repeated after a wait, while Deletes of several SAs, which may be as long, come at once.
    fn goes_on(&self, len: u32, next: &UnansweredCheck) -> bool {
        self.len == len && next.first_time.nanos_since(self.check.last_time) >= LEAST_WAIT
    }

    /// The checks before another message at `now`. A message right before that one is no check: who gives up sends its Deletes at once, and one of them
    /// may be as long as a check.
    fn until(self, now: Timestamp) -> UnansweredCheck {
        let mut check = self.check;
        if now.nanos_since(check.last_time) < LEAST_WAIT && check.asked > 1 {
            check.asked -= 1;
            check.frames.truncate(check.asked as usize);
            check.last_time = self.earlier;
        }
        check
    }
}

fn is_dead(check: &UnansweredCheck) -> bool {
    check.asked >= LEAST_NOT_BY_CHANCE
}

fn check(exchange: &Exchange, tunnel: TunnelIndex) -> Option<UnansweredCheck> {
    Some(UnansweredCheck {
        tunnel,
        by: exchange.initiator,
        peer: exchange.responder,
        known: true,
        first_time: exchange.first_time()?,
        last_time: exchange.last_time()?,
        frames: frames(exchange),
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
