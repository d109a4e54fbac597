//! Which causes were looked for and are not there, with what was seen instead.
//!
//! The detectors ([`crate::diagnosis`]) look at the packets around every rekey. Here it is said, from the finished document,
//! which of them had something to look at, and the figures that belong to their answer.

use crate::analysis::{
    Analysis, Exchange, ExchangeKind, KeyStatus, Outcome, Rekey, RuledOut, SecurityAssociation,
};
use crate::diagnosis::ASYMMETRY_MARGIN;
use crate::text::{Message, Said, grouped};
use crate::time::NANOS_PER_MILLI;

/// What a detector must be able to see.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// ESP headers.
    Esp,
    /// The exchange of the rekey.
    Ike,
    /// Decrypted packets.
    Keys,
    /// Inner TCP connections.
    Tcp,
    /// The limit of an SA and what it had carried, or a receiver that goes deaf while IKE between the two works.
    Limit,
    /// Deletes, and inner TCP that shows what was lost behind them.
    Deletes,
}

/// A cause as it is ruled out.
struct Cause {
    id: &'static str,
    needs: Needs,
    /// Looked for at every rekey; otherwise only at those that hurt, because it explains a loss.
    fact: bool,
    evidence: fn(&Analysis) -> Message,
}

const fn fact(id: &'static str, needs: Needs, evidence: fn(&Analysis) -> Message) -> Cause {
    Cause {
        id,
        needs,
        fact: true,
        evidence,
    }
}

const fn explains(id: &'static str, needs: Needs, evidence: fn(&Analysis) -> Message) -> Cause {
    Cause {
        id,
        needs,
        fact: false,
        evidence,
    }
}

/// All causes, in the order of the detectors.
const CAUSES: [Cause; 19] = [
    fact("hard_limit_reached", Needs::Limit, limits),
    explains("responder_not_ready", Needs::Tcp, |_| {
        Message::new("absent-responder-not-ready")
    }),
    explains("old_sa_deleted_early", Needs::Deletes, deletes),
    explains("asymmetric_switch", Needs::Esp, switches),
    fact("exchange_retransmitted", Needs::Ike, repeats),
    fact("collision", Needs::Ike, initiators),
    explains("slow_key_exchange", Needs::Ike, durations),
    fact("phase1_renewal", Needs::Ike, phase1),
    fact("fragmentation_change", Needs::Esp, suites),
    fact("nat_mapping_change", Needs::Esp, |_| Message::new("absent-nat")),
    fact("ppp_trouble", Needs::Keys, |_| Message::new("absent-ppp")),
    fact("desync", Needs::Esp, |_| Message::new("absent-desync")),
    explains("capture_artefact", Needs::Esp, holes),
    explains("replay_drops", Needs::Tcp, order),
    explains("slow_path", Needs::Tcp, |_| Message::new("absent-slow-path")),
    explains("rto_stall", Needs::Tcp, |a| {
        retransmitted(a, Message::new("absent-rto"))
    }),
    explains("window_cut", Needs::Tcp, |a| {
        retransmitted(a, Message::new("absent-window-cut"))
    }),
    explains("receiver_limited", Needs::Tcp, |_| {
        Message::new("absent-receiver")
    }),
    explains("application_limited", Needs::Tcp, |_| {
        Message::new("absent-application")
    }),
];

/// One entry for each cause that no rekey has; none where there is no rekey.
pub(crate) fn ruled_out(analysis: &Analysis) -> Vec<RuledOut> {
    if analysis.rekeys.is_empty() {
        return Vec::new();
    }
    let named = |id: &str| {
        let mut causes = analysis.rekeys.iter().flat_map(|r| &r.causes);
        causes.any(|c| c.id == id)
    };
    CAUSES
        .iter()
        .filter(|c| !named(c.id))
        .map(|c| entry(analysis, c))
        .collect()
}

fn entry(analysis: &Analysis, cause: &Cause) -> RuledOut {
    let occasions = analysis.rekeys.iter().filter(|r| cause.fact || hurt(r));
    let by_ike = matches!(cause.needs, Needs::Ike | Needs::Deletes);
    let visible = occasions.filter(|r| !by_ike || r.exchange.is_some());
    let rekeys_tested = visible.count();
    let none_hurt = !cause.fact && !analysis.rekeys.iter().any(hurt);
    let (outcome, message) = match unseen(analysis, cause.needs) {
        Some(reason) => (Outcome::NotTestable, reason),
        None if none_hurt => (Outcome::NoOccasion, Message::new("no-occasion")),
        None => (Outcome::Absent, (cause.evidence)(analysis)),
    };
    let evidence = Said::from(message);
    RuledOut {
        id: cause.id.into(),
        outcome,
        rekeys_tested: if outcome == Outcome::Absent {
            rekeys_tested
        } else {
            0
        },
        evidence: evidence.sentence,
        messages: evidence.messages,
    }
}

/// Why the detector had nothing to look at.
fn unseen(analysis: &Analysis, needs: Needs) -> Option<Message> {
    let decrypted = || {
        let mut sas = used(analysis);
        sas.any(|sa| sa.key.status == KeyStatus::Verified)
    };
    match needs {
        Needs::Ike if analysis.rekeys.iter().all(|r| r.exchange.is_none()) => {
            Some(Message::new("unseen-exchange"))
        }
        Needs::Keys | Needs::Tcp if !decrypted() => Some(Message::new("unseen-inner")),
        Needs::Tcp if analysis.flows.iter().all(|f| f.protocol != "tcp") => Some(Message::new("unseen-tcp")),
        Needs::Limit if !limit_is_seen(analysis, decrypted()) => Some(Message::new("unseen-limit")),
        Needs::Deletes => unseen(analysis, Needs::Tcp).or_else(|| {
            let readable = analysis.exchanges.iter().any(|e| e.decrypted);
            (!readable).then(|| Message::new("unseen-deletes"))
        }),
        _ => None,
    }
}

/// A limit that was read shows in payload (kilobytes) or in times (seconds); one that was not read shows in a receiver that
/// drops everything, which inner TCP tells, and sends IKE meanwhile.
fn limit_is_seen(analysis: &Analysis, decrypted: bool) -> bool {
    let triggers = || analysis.rekeys.iter().map(|r| &r.trigger);
    let by_volume = triggers().any(|t| t.limit_kilobytes.is_some_and(|k| k > 0));
    let by_time = triggers().any(|t| t.limit_seconds.is_some_and(|s| s > 0));
    let read = if by_volume { decrypted } else { by_time };
    read || unseen(analysis, Needs::Tcp).is_none() && unseen(analysis, Needs::Ike).is_none()
}

fn used(analysis: &Analysis) -> impl Iterator<Item = &SecurityAssociation> {
    analysis.security_associations.iter().filter(|sa| sa.packets > 0)
}

/// The exchanges of the rekeys.
fn exchanges(analysis: &Analysis) -> impl Iterator<Item = &Exchange> {
    let indexes = analysis.rekeys.iter().filter_map(|r| r.exchange);
    indexes.filter_map(|i| analysis.exchanges.get(i))
}

fn limits(analysis: &Analysis) -> Message {
    let fractions = analysis.rekeys.iter().filter_map(|r| r.trigger.fraction);
    let highest = fractions.fold(None, |m: Option<f64>, f| Some(m.map_or(f, |m| m.max(f))));
    match highest {
        Some(f) => Message::new("absent-hard-limit").with("used", format!("{:.0} %", 100.0 * f)),
        None => Message::new("absent-hard-limit-unread"),
    }
}

fn deletes(analysis: &Analysis) -> Message {
    let seen = analysis.exchanges.iter().map(|e| e.deletes.len()).sum::<usize>();
    Message::new("absent-delete").with("deletes", seen)
}

/// Of the rekeys that hurt: at the others it is not looked for.
fn switches(analysis: &Analysis) -> Message {
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

fn hurt(rekey: &Rekey) -> bool {
    rekey.impact.iter().any(|i| i.hurt)
}

fn repeats(analysis: &Analysis) -> Message {
    let (mut count, mut messages) = (0_u64, 0_u64);
    for exchange in exchanges(analysis) {
        count += 1;
        messages += exchange.messages;
    }
    Message::new("absent-retransmitted")
        .with("messages", messages)
        .with("exchanges", count)
}

fn initiators(analysis: &Analysis) -> Message {
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

fn durations(analysis: &Analysis) -> Message {
    let longest = exchanges(analysis).map(|e| e.duration_ms).fold(0.0, f64::max);
    Message::new("absent-slow-exchange").with("longest", format!("{longest:.0} ms"))
}

fn phase1(analysis: &Analysis) -> Message {
    let is_phase1 = |e: &&Exchange| {
        matches!(
            e.kind,
            ExchangeKind::MainMode | ExchangeKind::AggressiveMode | ExchangeKind::IkeSaInit
        )
    };
    let count = analysis.exchanges.iter().filter(is_phase1).count();
    Message::new("absent-phase1").with("count", count)
}

fn suites(analysis: &Analysis) -> Message {
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

fn holes(analysis: &Analysis) -> Message {
    let missing = used(analysis).fold(0_u64, |n, sa| n.saturating_add(sa.sequence.missing));
    match missing {
        0 => Message::new("absent-capture-artefact-none"),
        _ => Message::new("absent-capture-artefact").with("missing", grouped(missing)),
    }
}

fn order(analysis: &Analysis) -> Message {
    let late = used(analysis).fold(0_u64, |n, sa| n.saturating_add(sa.sequence.reordered));
    match late {
        0 => Message::new("absent-replay-none"),
        _ => Message::new("absent-replay").with("late", grouped(late)),
    }
}

/// How much was sent again, for causes that are retransmissions.
fn retransmitted(analysis: &Analysis, message: Message) -> Message {
    let sum = |f: fn(&crate::analysis::Flow) -> u64| {
        let tcp = analysis.flows.iter().filter(|f| f.protocol == "tcp");
        tcp.fold(0_u64, |n, flow| n.saturating_add(f(flow)))
    };
    message
        .with("again", grouped(sum(|f| f.retransmitted_bytes)))
        .with("bytes", grouped(sum(|f| f.bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn a_cause_is_named_or_ruled_out_never_both() {
        let document = example::seven_rekeys();
        let out = ruled_out(&document);
        let named = ["hard_limit_reached", "rto_stall"];
        assert_eq!(out.len(), CAUSES.len() - named.len());
        assert!(out.iter().all(|r| !named.contains(&r.id.as_str())));
        let tested = |id: &str| {
            out.iter()
                .find(|r| r.id == id)
                .map(|r| (r.outcome, r.rekeys_tested))
        };
        assert_eq!(tested("collision"), Some((Outcome::Absent, 7)));
        assert_eq!(
            tested("window_cut"),
            Some((Outcome::Absent, 2)),
            "looked for where it hurt"
        );
    }

    /// What is said must not read like the cause itself, and not count nothing.
    #[test]
    fn the_evidence_is_of_the_rekeys_and_zero_has_its_own_words() {
        let mut document = example::seven_rekeys();
        for sa in &mut document.security_associations {
            (sa.sequence.missing, sa.sequence.reordered) = (0, 0);
            (sa.encryption, sa.integrity) = (Some("AES-GCM-16-128".into()), Some("none".into()));
        }
        document.exchanges.clear();
        let hurt_at = document.rekeys.iter().position(hurt).unwrap();
        for (k, rekey) in document.rekeys.iter_mut().enumerate() {
            // Far apart where nothing was lost, 40 ms where it was.
            let apart = if k == hurt_at {
                40
            } else if hurt(rekey) {
                0
            } else {
                900
            };
            let at = rekey.switched.a_to_b.unwrap();
            rekey.switched.b_to_a = Some(at.plus_nanos(apart * NANOS_PER_MILLI));
        }
        let out = ruled_out(&document);
        let of = |id: &str| &out.iter().find(|r| r.id == id).unwrap().evidence;
        assert_eq!(
            of("capture_artefact"),
            "no ESP number is missing in the whole capture"
        );
        assert_eq!(
            of("replay_drops"),
            "no packet came after a higher ESP number in the whole capture"
        );
        assert_eq!(of("phase1_renewal"), "no phase-1 exchange is in the capture");
        assert!(of("fragmentation_change").starts_with("all SAs use AES-GCM-16-128;"));
        assert!(
            of("asymmetric_switch").contains("at most 40 ms apart"),
            "{}",
            of("asymmetric_switch")
        );
        for id in ["desync", "ppp_trouble"] {
            assert!(of(id).starts_with("around the rekeys "), "{}", of(id));
        }
    }

    #[test]
    fn what_cannot_be_seen_is_not_ruled_out() {
        let mut document = example::build(&example::Shape {
            keys: false,
            ..Default::default()
        });
        document.rekeys.iter_mut().for_each(|r| r.exchange = None);
        for entry in ruled_out(&document) {
            let hidden = CAUSES.iter().any(|c| c.id == entry.id && c.needs != Needs::Esp);
            assert_eq!(entry.outcome == Outcome::NotTestable, hidden, "{}", entry.id);
        }
        let outcome = |document: &Analysis, id: &str| {
            let out = ruled_out(document);
            out.iter().find(|r| r.id == id).map(|r| r.outcome)
        };
        document.rekeys.iter_mut().for_each(|r| r.causes.clear());
        let hidden = ["hard_limit_reached", "old_sa_deleted_early"];
        for id in hidden {
            assert_eq!(outcome(&document, id), Some(Outcome::NotTestable), "{id}");
        }
        let mut unread = example::seven_rekeys();
        unread.exchanges.iter_mut().for_each(|e| e.decrypted = false);
        assert_eq!(
            outcome(&unread, hidden[1]),
            Some(Outcome::NotTestable),
            "no Delete was read"
        );
        let mut quiet = example::build(&example::Shape {
            hurt_every: 0,
            ..Default::default()
        });
        quiet.rekeys.truncate(3);
        let out = ruled_out(&quiet);
        assert!(
            out.iter()
                .any(|r| r.outcome == Outcome::NoOccasion && r.rekeys_tested == 0)
        );
        assert!(ruled_out(&example::empty()).is_empty());
    }

    /// The list of causes and the list of detectors are the same.
    #[test]
    fn every_documented_cause_is_in_the_list() {
        let docs = include_str!("../../../docs/diagnosis.md");
        let rows: Vec<&str> = docs
            .lines()
            .filter_map(|l| l.strip_prefix("| `")?.split('`').next())
            .collect();
        let ids: Vec<&str> = CAUSES.iter().map(|c| c.id).collect();
        let documented: Vec<&&str> = rows.iter().filter(|r| ids.contains(r)).collect();
        assert_eq!(documented.len(), CAUSES.len(), "{rows:?}");
    }
}
