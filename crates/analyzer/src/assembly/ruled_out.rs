//! Which causes were looked for and are not there, with what was seen instead.
//!
//! The detectors ([`crate::diagnosis`]) look at the packets around every rekey. Here it is said, from the finished document,
//! which of them had something to look at, and the figures that belong to their answer.

use crate::diagnosis::absent::{hurt, used};
use crate::diagnosis::causes::{CAUSES, KnownCause, Nature, Needs};
use rekeyscope_model::analysis::{Analysis, KeyStatus, Outcome, RuledOut};
use rekeyscope_model::text::{Message, Said};

/// TCP with a smaller share of the bytes is the control connection beside datagrams.
const LEAST_TCP_SHARE: f64 = 0.1;

/// One entry for each cause that no rekey has; none where there is no rekey.
pub(crate) fn ruled_out(analysis: &Analysis) -> Vec<RuledOut> {
    if analysis.rekeys.is_empty() {
        return Vec::new();
    }
    let named = |id: &str| {
        let of_attempts = analysis.attempts.iter().flat_map(|a| &a.causes);
        let of_outages = analysis.outages.iter().flat_map(|o| &o.causes);
        let of_rekeys = analysis.rekeys.iter().flat_map(|r| &r.causes);
        of_rekeys.chain(of_attempts).chain(of_outages).any(|c| c.id == id)
    };
    CAUSES
        .iter()
        .filter(|c| !named(c.id))
        .map(|c| entry(analysis, c))
        .collect()
}

fn entry(analysis: &Analysis, cause: &KnownCause) -> RuledOut {
    // A cause that only a proof makes a fact counts as an explanation here.
    let everywhere = cause.nature == Nature::Fact;
    let occasions = analysis.rekeys.iter().filter(|r| everywhere || hurt(r));
    let by_ike = matches!(cause.needs, Needs::Ike | Needs::ReadableIke | Needs::Deletes);
    let visible = occasions.filter(|r| !by_ike || r.exchange.is_some());
    let rekeys_tested = visible.count();
    let none_hurt = !everywhere && !analysis.rekeys.iter().any(hurt);
    let (outcome, message) = match unseen(analysis, cause.needs) {
        Some(reason) => (Outcome::NotTestable, reason),
        None if none_hurt => (Outcome::NoOccasion, Message::new("no-occasion")),
        None => (Outcome::Absent, (cause.absent)(analysis)),
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
        Needs::Tcp if !tcp_tells(analysis) => Some(Message::new("unseen-tcp")),
        Needs::Limit if !limit_is_seen(analysis, decrypted()) => Some(Message::new("unseen-limit")),
        Needs::NegotiatedLimit if !limit_is_read(analysis, decrypted()) => {
            Some(Message::new("unseen-negotiated-limit"))
        }
        Needs::ReadableIke => {
            let readable = analysis.exchanges.iter().any(|e| e.decrypted);
            (!readable).then(|| Message::new("unseen-deletes"))
        }
        Needs::Deletes => unseen(analysis, Needs::Tcp).or_else(|| unseen(analysis, Needs::ReadableIke)),
        _ => None,
    }
}

/// TCP carries enough to show a loss: beside datagrams, a control connection sees none.
fn tcp_tells(analysis: &Analysis) -> bool {
    let of = |tcp: bool| {
        let flows = analysis.flows.iter().filter(move |f| !tcp || f.protocol == "tcp");
        flows.map(|f| f.bytes as f64).sum::<f64>()
    };
    let all = of(false);
    all > 0.0 && of(true) >= LEAST_TCP_SHARE * all
}

/// A limit that was read shows in payload (kilobytes) or in times (seconds); one that was not read shows in a receiver that
/// drops everything, which inner TCP tells, and sends IKE meanwhile.
fn limit_is_seen(analysis: &Analysis, decrypted: bool) -> bool {
    limit_is_read(analysis, decrypted)
        || unseen(analysis, Needs::Tcp).is_none() && unseen(analysis, Needs::Ike).is_none()
}

fn limit_is_read(analysis: &Analysis, decrypted: bool) -> bool {
    let triggers = || analysis.rekeys.iter().map(|r| &r.trigger);
    let by_volume = triggers().any(|t| t.limit_kilobytes.is_some_and(|k| k > 0));
    let by_time = triggers().any(|t| t.limit_seconds.is_some_and(|s| s > 0));
    if by_volume { decrypted } else { by_time }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_MILLI;
    use rekeyscope_testkit::example;

    /// The testkit cannot call this, and keeps a copy for the documents it makes.
    #[test]
    fn the_documents_of_the_testkit_have_it() {
        for keys in [true, false] {
            let document = example::build(&example::Shape {
                keys,
                ..Default::default()
            });
            assert_eq!(ruled_out(&document), document.ruled_out);
        }
    }

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
            tested("replay_drops"),
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
}
