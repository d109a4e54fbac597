//! Explanations of rekeys in real captures are held against what is known of them: `truth.json` and what was planted.

use crate::support::{analyses, keyless, one};
use rekeyscope_model::analysis::{
    Analysis, Certainty, EventKind, Explanation, ExplanationCause, LedgerRekey,
};

/// Rekeys of the headline's direction that cost something.
fn hurt(analysis: &Analysis) -> impl Iterator<Item = &LedgerRekey> {
    let headline = analysis.impact.first();
    let own = analysis.ledger.iter().filter(move |ledger| {
        headline.is_some_and(|i| (i.tunnel, i.direction) == (ledger.tunnel, ledger.direction))
    });
    own.flat_map(|ledger| &ledger.rekeys)
}

fn causes(analysis: &Analysis) -> Vec<Option<ExplanationCause>> {
    let cause = |own: &LedgerRekey| own.explanation.as_ref().map(|explanation| explanation.cause);
    hurt(analysis).map(cause).collect()
}

/// The kernel's own log says which SAs reached their hard limit. No other SA is said to have reached one, and where one did, the limit is
/// named, or the request that was answered too late.
#[test]
fn hard_limits_are_those_of_the_kernel() {
    for (lab, analysis) in analyses() {
        let expired: Vec<&str> = lab.truth["hard_expires"]
            .as_array()
            .unwrap()
            .iter()
            .map(|h| h["spi"].as_str().unwrap())
            .collect();
        for own in hurt(analysis) {
            let old = analysis.rekeys[own.rekey].old.b_to_a;
            let spi = old.map(|s| format!("{:08x}", s.0)).unwrap_or_default();
            let label = format!("{} rekey {} (old inbound {spi})", lab.name, own.rekey);
            let cause = own.explanation.as_ref().map(|explanation| explanation.cause);
            let limit = [ExplanationCause::LimitReached, ExplanationCause::AnsweredLate];
            let named = cause.is_some_and(|cause| limit.contains(&cause));
            assert_eq!(named, expired.contains(&spi.as_str()), "{label}: {cause:?}");
        }
    }
}

/// IKEv2 negotiates no limit, so none can be read.
#[test]
fn a_limit_that_nobody_negotiated_is_inferred() {
    let Some(analysis) = one("ikev2_gcm_kb_down") else {
        return;
    };
    let explanations: Vec<&Explanation> = hurt(analysis)
        .filter_map(|own| own.explanation.as_ref())
        .collect();
    assert_eq!(explanations.len(), 3);
    assert!(explanations.iter().all(|e| e.certainty == Certainty::Inferred));
}

/// Most of an exchange with a large group is computation.
#[test]
fn slow_diffie_hellman() {
    let analysis = one("l2tp_pfs4096_down").expect("a sample");
    let explanations: Vec<&Explanation> = hurt(analysis)
        .filter_map(|own| own.explanation.as_ref())
        .collect();
    assert_eq!(explanations.len(), 5);
    for e in explanations {
        assert!(2.0 * e.computed_seconds.unwrap() > e.seconds.unwrap(), "{e:?}");
    }
    for (lab, analysis) in analyses().iter().filter(|(lab, _)| lab.name.contains("modp1024")) {
        for e in hurt(analysis).filter_map(|own| own.explanation.as_ref()) {
            assert!(
                2.0 * e.computed_seconds.unwrap_or(0.0) < e.seconds.unwrap(),
                "{}: {e:?}",
                lab.name
            );
        }
    }
}

#[test]
fn a_lost_third_message() {
    let Some(analysis) = one("l2tp_qm3drop_down") else {
        return;
    };
    assert_eq!(causes(analysis), [Some(ExplanationCause::AnswerLost); 5]);
}

/// Acknowledgements on the new SA were not heard: the responder had not taken it into use.
#[test]
fn a_responder_that_is_not_ready() {
    let Some(analysis) = one("acct_rwnd_down") else {
        return;
    };
    assert_eq!(causes(analysis), [Some(ExplanationCause::NewSaLost); 3]);
}

/// Lab captures have no two initiators, no moved NAT and no lost frames.
#[test]
fn what_is_not_there_is_not_named() {
    let absent = [
        EventKind::Collision,
        EventKind::PortChanged,
        EventKind::AddressChanged,
        EventKind::CaptureHole,
        EventKind::InvalidSpi,
        EventKind::FirstNumber,
    ];
    for (lab, analysis) in analyses() {
        let found = analysis.events.iter().find(|event| absent.contains(&event.kind));
        assert!(found.is_none(), "{}: {found:?}", lab.name);
    }
}

#[test]
fn the_control_without_loss_has_no_cause() {
    let analysis = one("l2tp_time_down").expect("a sample");
    assert!(causes(analysis).is_empty() && analysis.outages.is_empty());
}

/// A capture without keys gets the same causes or none, because the packets inside are not seen.
#[test]
fn without_keys_no_other_cause_is_named() {
    for (lab, analysis) in keyless() {
        let with_keys = analyses().iter().find(|(other, _)| other.name == lab.name);
        let Some((_, keyed)) = with_keys else { continue };
        for own in hurt(analysis) {
            let same = hurt(keyed).find(|other| other.rekey == own.rekey);
            let cause = |own: &LedgerRekey| own.explanation.as_ref().map(|explanation| explanation.cause);
            let (found, known) = (cause(own), same.and_then(cause));
            let late = [ExplanationCause::LimitReached, ExplanationCause::NewSaLost];
            let alike = found == known
                || found.is_some_and(|cause| late.contains(&cause))
                    && known.is_some_and(|cause| late.contains(&cause));
            assert!(
                found.is_none() || alike,
                "{} rekey {}: {found:?}, {known:?}",
                lab.name,
                own.rekey
            );
        }
    }
}
