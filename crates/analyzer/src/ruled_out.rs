//! Which causes were looked for and are not there, with what was seen instead.
//!
//! The detectors ([`crate::diagnosis`]) look at the packets around every rekey. Here it is said, from the finished document,
//! which of them had something to look at, and the figures that belong to their answer.

use crate::analysis::{
    Analysis, Exchange, ExchangeKind, KeyStatus, Outcome, Rekey, RuledOut, SecurityAssociation,
};
use crate::text::Said;

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
}

/// A cause as it is ruled out.
struct Cause {
    id: &'static str,
    needs: Needs,
    /// Looked for at every rekey; otherwise only at those that hurt, because it explains a loss.
    fact: bool,
    evidence: fn(&Analysis) -> String,
}

const fn fact(id: &'static str, needs: Needs, evidence: fn(&Analysis) -> String) -> Cause {
    Cause {
        id,
        needs,
        fact: true,
        evidence,
    }
}

const fn explains(id: &'static str, needs: Needs, evidence: fn(&Analysis) -> String) -> Cause {
    Cause {
        id,
        needs,
        fact: false,
        evidence,
    }
}

/// All causes, in the order of the detectors.
const CAUSES: [Cause; 19] = [
    fact("hard_limit_reached", Needs::Esp, limits),
    explains("responder_not_ready", Needs::Tcp, |_| {
        "no first data on a new SA had to be sent again".into()
    }),
    explains("old_sa_deleted_early", Needs::Ike, deletes),
    explains("asymmetric_switch", Needs::Esp, switches),
    fact("exchange_retransmitted", Needs::Ike, repeats),
    fact("collision", Needs::Ike, initiators),
    explains("slow_key_exchange", Needs::Ike, durations),
    fact("phase1_renewal", Needs::Ike, phase1),
    fact("fragmentation_change", Needs::Esp, suites),
    fact("nat_mapping_change", Needs::Esp, |_| {
        "no UDP port of ESP changed within a direction".into()
    }),
    fact("ppp_trouble", Needs::Keys, |_| {
        "no StopCCN, CDN, LCP Terminate, Protocol-Reject or new Configure-Request; no Hello without an answer"
            .into()
    }),
    fact("desync", Needs::Esp, |_| {
        "no INVALID-SPI notification, no L2TP in clear between the ends".into()
    }),
    explains("capture_artefact", Needs::Esp, holes),
    explains("replay_drops", Needs::Tcp, order),
    explains("slow_path", Needs::Tcp, |_| {
        "the rate did not stay below 0.7 of what it was before without a loss".into()
    }),
    explains("rto_stall", Needs::Tcp, |a| {
        format!("no data rested and was then sent again; {}", retransmitted(a))
    }),
    explains("window_cut", Needs::Tcp, |a| {
        format!(
            "no cut after three duplicate acknowledgements; {}",
            retransmitted(a)
        )
    }),
    explains("receiver_limited", Needs::Tcp, |_| {
        "no closed window while data rested".into()
    }),
    explains("application_limited", Needs::Tcp, |_| {
        "no pause began with everything acknowledged and ended with new data".into()
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
    let hurt = |r: &&Rekey| r.impact.iter().any(|i| i.hurt);
    let occasions = analysis.rekeys.iter().filter(|r| cause.fact || hurt(r));
    let visible = occasions.filter(|r| cause.needs != Needs::Ike || r.exchange.is_some());
    let rekeys_tested = visible.count();
    let none_hurt = !cause.fact && !analysis.rekeys.iter().any(|r| hurt(&r));
    let (outcome, evidence) = match unseen(analysis, cause.needs) {
        Some(reason) => (Outcome::NotTestable, Said::from(reason)),
        None if none_hurt => (
            Outcome::NoOccasion,
            "it explains a loss, and no rekey is named as one that hurt".into(),
        ),
        None => (Outcome::Absent, (cause.evidence)(analysis).into()),
    };
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
fn unseen(analysis: &Analysis, needs: Needs) -> Option<&'static str> {
    let decrypted = || {
        let mut sas = used(analysis);
        sas.any(|sa| sa.key.status == KeyStatus::Verified)
    };
    match needs {
        Needs::Ike if analysis.rekeys.iter().all(|r| r.exchange.is_none()) => {
            Some("no exchange of a rekey was captured: capture UDP 500 and 4500 too")
        }
        Needs::Keys | Needs::Tcp if !decrypted() => Some("without keys the inner packets cannot be seen"),
        Needs::Tcp if analysis.flows.iter().all(|f| f.protocol != "tcp") => {
            Some("the tunnel carried no TCP connection that would show it")
        }
        _ => None,
    }
}

fn used(analysis: &Analysis) -> impl Iterator<Item = &SecurityAssociation> {
    analysis.security_associations.iter().filter(|sa| sa.packets > 0)
}

/// The exchanges of the rekeys.
fn exchanges(analysis: &Analysis) -> impl Iterator<Item = &Exchange> {
    let indexes = analysis.rekeys.iter().filter_map(|r| r.exchange);
    indexes.filter_map(|i| analysis.exchanges.get(i))
}

fn limits(analysis: &Analysis) -> String {
    let fractions = analysis.rekeys.iter().filter_map(|r| r.trigger.fraction);
    let highest = fractions.fold(None, |m: Option<f64>, f| Some(m.map_or(f, |m| m.max(f))));
    match highest {
        Some(f) => format!(
            "when the exchanges began, at most {:.0} % of the kilobyte limit was used up, and no SA went past it",
            100.0 * f
        ),
        None => "no SA went past a limit that the packets show (the limit itself was not read)".into(),
    }
}

fn deletes(analysis: &Analysis) -> String {
    let seen = analysis.exchanges.iter().map(|e| e.deletes.len()).sum::<usize>();
    format!("{seen} Deletes could be read; none was followed by a loss on the SA that it names")
}

fn switches(analysis: &Analysis) -> String {
    let apart = analysis.rekeys.iter().filter_map(|r| {
        let (a, b) = (r.switched.a_to_b?, r.switched.b_to_a?);
        Some(a.millis_since(b).abs())
    });
    format!(
        "the two directions switched at most {:.0} ms apart, or one of them was idle",
        apart.fold(0.0, f64::max)
    )
}

fn repeats(analysis: &Analysis) -> String {
    let (mut count, mut messages) = (0_u64, 0_u64);
    for exchange in exchanges(analysis) {
        count += 1;
        messages += exchange.messages;
    }
    format!("{messages} messages in {count} exchanges, none of them twice")
}

fn initiators(analysis: &Analysis) -> String {
    let tunnels = analysis.tunnels.iter();
    let both = tunnels.filter(|t| {
        let by = |address| exchanges(analysis).any(|e| e.tunnel == t.id && e.initiator == Some(address));
        by(t.a) && by(t.b)
    });
    match both.count() {
        0 => "one side of each tunnel began all exchanges".into(),
        _ => "both sides began exchanges, but no two of them overlap".into(),
    }
}

fn durations(analysis: &Analysis) -> String {
    let longest = exchanges(analysis).map(|e| e.duration_ms).fold(0.0, f64::max);
    format!(
        "the longest exchange of a rekey took {longest:.0} ms, its computations no more than a round trip and 200 ms"
    )
}

fn phase1(analysis: &Analysis) -> String {
    let is_phase1 = |e: &&Exchange| {
        matches!(
            e.kind,
            ExchangeKind::MainMode | ExchangeKind::AggressiveMode | ExchangeKind::IkeSaInit
        )
    };
    format!(
        "{} phase 1 in the capture, none in the ten seconds before a rekey while its old SA was in use",
        analysis.exchanges.iter().filter(is_phase1).count()
    )
}

fn suites(analysis: &Analysis) -> String {
    let mut suites: Vec<String> = used(analysis)
        .filter_map(|sa| Some(format!("{} {}", sa.encryption.as_ref()?, sa.integrity.as_ref()?)))
        .collect();
    suites.sort_unstable();
    suites.dedup();
    match suites.as_slice() {
        [one] => format!("all SAs use {one}; the share of fragments did not rise at a switch"),
        _ => "neither transform nor encapsulation nor the share of fragments changed at a switch".into(),
    }
}

fn holes(analysis: &Analysis) -> String {
    let missing = used(analysis).fold(0_u64, |n, sa| n.saturating_add(sa.sequence.missing));
    format!(
        "{missing} ESP numbers are missing in the whole capture, none of them where a rekey hurt and the peer acknowledged the data"
    )
}

fn order(analysis: &Analysis) -> String {
    let late = used(analysis).fold(0_u64, |n, sa| n.saturating_add(sa.sequence.reordered));
    format!(
        "{late} packets came after a higher ESP number in the whole capture, too few or not late enough around the rekeys that hurt"
    )
}

fn retransmitted(analysis: &Analysis) -> String {
    let sum = |f: fn(&crate::analysis::Flow) -> u64| {
        let tcp = analysis.flows.iter().filter(|f| f.protocol == "tcp");
        tcp.fold(0_u64, |n, flow| n.saturating_add(f(flow)))
    };
    format!(
        "{} of {} TCP bytes in the whole capture are retransmissions",
        sum(|f| f.retransmitted_bytes),
        sum(|f| f.bytes)
    )
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
