//! What was seen instead of a cause that no rekey has, from the finished document.

use crate::diagnosis::switch::ASYMMETRY_MARGIN;
use rekeyscope_model::analysis::{
    Analysis, EventKind, Exchange, ExchangeKind, Flow, Rekey, SecurityAssociation,
};
use rekeyscope_model::text::{Message, grouped};
use rekeyscope_model::time::NANOS_PER_MILLI;

/// The SAs that carried packets.
pub(crate) fn used(analysis: &Analysis) -> impl Iterator<Item = &SecurityAssociation> {
    analysis.security_associations.iter().filter(|sa| sa.packets > 0)
}

/// Whether the rekey cost something.
pub(crate) fn hurt(rekey: &Rekey) -> bool {
    rekey.impact.iter().any(|i| i.hurt)
}

/// The exchanges of the rekeys.
fn exchanges(analysis: &Analysis) -> impl Iterator<Item = &Exchange> {
    let indexes = analysis.rekeys.iter().filter_map(|r| r.exchange);
    indexes.filter_map(|i| analysis.exchanges.get(i))
}

pub(super) fn hard_limit_reached(analysis: &Analysis) -> Message {
    let fractions = analysis.rekeys.iter().filter_map(|r| r.trigger.fraction);
    let highest = fractions.fold(None, |m: Option<f64>, f| Some(m.map_or(f, |m| m.max(f))));
    match highest {
        Some(f) => Message::new("absent-hard-limit").with("used", format!("{:.0} %", 100.0 * f)),
        None => Message::new("absent-hard-limit-unread"),
    }
}

pub(super) fn rekey_refused(analysis: &Analysis) -> Message {
    asked("absent-refused", analysis)
}

pub(super) fn rekey_unanswered(analysis: &Analysis) -> Message {
    asked("absent-unanswered", analysis)
}

/// How many attempts there were.
fn asked(id: &str, analysis: &Analysis) -> Message {
    let asked = analysis.attempts.iter().filter(|a| a.exchange.is_some());
    Message::new(id).with("attempts", asked.count())
}

pub(super) fn rekey_storm(analysis: &Analysis) -> Message {
    asked("absent-storm", analysis)
}

pub(super) fn old_sa_deleted_early(analysis: &Analysis) -> Message {
    let seen = analysis.exchanges.iter().map(|e| e.deletes.len()).sum::<usize>();
    Message::new("absent-delete").with("deletes", seen)
}

/// Of the rekeys that hurt: at the others it is not looked for.
pub(super) fn asymmetric_switch(analysis: &Analysis) -> Message {
    let apart = analysis.rekeys.iter().filter(|r| hurt(r)).filter_map(|r| {
        let (a, b) = (r.switched.a_to_b?, r.switched.b_to_a?);
        Some(a.millis_since(b).abs())
    });
    match apart.reduce(f64::max) {
        Some(most) => Message::new("absent-asymmetric")
            .with("most", format!("{most:.0} ms"))
            .with("margin", format!("{} ms", ASYMMETRY_MARGIN / NANOS_PER_MILLI)),
        None => Message::new("absent-asymmetric-one-way"),
    }
}

pub(super) fn exchange_retransmitted(analysis: &Analysis) -> Message {
    let (mut count, mut messages) = (0_u64, 0_u64);
    for exchange in exchanges(analysis) {
        count += 1;
        messages += exchange.messages;
    }
    Message::new("absent-retransmitted")
        .with("messages", messages)
        .with("exchanges", count)
}

pub(super) fn collision(analysis: &Analysis) -> Message {
    let tunnels = analysis.tunnels.iter();
    let both = tunnels.filter(|t| {
        let by = |address| exchanges(analysis).any(|e| e.tunnel == t.id && e.initiator == Some(address));
        by(t.a) && by(t.b)
    });
    match both.count() {
        0 => Message::new("absent-collision-one-side"),
        _ => Message::new("absent-collision-both-sides"),
    }
}

pub(super) fn slow_key_exchange(analysis: &Analysis) -> Message {
    let longest = exchanges(analysis).map(|e| e.duration_ms).fold(0.0, f64::max);
    Message::new("absent-slow-exchange").with("longest", format!("{longest:.0} ms"))
}

pub(super) fn phase1_renewal(analysis: &Analysis) -> Message {
    let is_phase1 = |e: &&Exchange| {
        matches!(
            e.kind,
            ExchangeKind::MainMode | ExchangeKind::AggressiveMode | ExchangeKind::IkeSaInit
        )
    };
    let count = analysis.exchanges.iter().filter(is_phase1).count();
    Message::new("absent-phase1").with("count", count)
}

pub(super) fn fragmentation_change(analysis: &Analysis) -> Message {
    let mut suites: Vec<String> = used(analysis)
        .filter_map(|sa| match (sa.encryption.as_ref()?, sa.integrity.as_deref()?) {
            (encryption, "none") => Some(encryption.clone()),
            (encryption, integrity) => Some(format!("{encryption}/{integrity}")),
        })
        .collect();
    suites.sort_unstable();
    suites.dedup();
    match suites.as_slice() {
        [one] => Message::new("absent-fragmentation-suite").with("suite", one.as_str()),
        _ => Message::new("absent-fragmentation"),
    }
}

pub(super) fn nat_mapping_change(analysis: &Analysis) -> Message {
    let mut changes = analysis
        .events
        .iter()
        .filter(|e| e.kind == EventKind::PortChanged);
    match changes.next() {
        None => Message::new("absent-nat"),
        Some(first) => Message::new("absent-nat-elsewhere")
            .with("count", changes.count() + 1)
            .with("from", first.from.clone().unwrap_or_default())
            .with("to", first.to.clone().unwrap_or_default())
            .with("frame", first.frame),
    }
}

pub(super) fn capture_artefact(analysis: &Analysis) -> Message {
    let missing = used(analysis).fold(0_u64, |n, sa| n.saturating_add(sa.sequence.missing));
    match missing {
        0 => Message::new("absent-capture-artefact-none"),
        _ => Message::new("absent-capture-artefact").with("missing", grouped(missing)),
    }
}

pub(super) fn replay_drops(analysis: &Analysis) -> Message {
    let late = used(analysis).fold(0_u64, |n, sa| n.saturating_add(sa.sequence.reordered));
    match late {
        0 => Message::new("absent-replay-none"),
        _ => Message::new("absent-replay").with("late", grouped(late)),
    }
}

pub(super) fn rto_stall(analysis: &Analysis) -> Message {
    retransmitted(analysis, "absent-rto")
}

/// How much was sent again, for causes that are retransmissions.
fn retransmitted(analysis: &Analysis, id: &str) -> Message {
    let sum = |f: fn(&Flow) -> u64| {
        let tcp = analysis.flows.iter().filter(|f| f.protocol == "tcp");
        tcp.fold(0_u64, |n, flow| n.saturating_add(f(flow)))
    };
    Message::new(id)
        .with("again", grouped(sum(|f| f.retransmitted_bytes)))
        .with("bytes", grouped(sum(|f| f.bytes)))
}
