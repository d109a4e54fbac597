//! Causes in real captures against what is known of them: `truth.json` and what was planted.

use crate::support::{analyses, keyless, one};
use rekeyscope_model::analysis::{Analysis, Confidence};

fn has(analysis: &Analysis, rekey: usize, id: &str) -> bool {
    analysis.rekeys[rekey].causes.iter().any(|c| c.id == id)
}

/// Indexes of the rekeys with a cause.
fn with(analysis: &Analysis, id: &str) -> Vec<usize> {
    (0..analysis.rekeys.len())
        .filter(|&r| has(analysis, r, id))
        .collect()
}

/// The kernel's own log says which SAs reached their hard limit. (`l2tp_time_down` has a time limit: its SAs expire 2.9 s
/// after they were replaced, when nobody uses them.)
#[test]
fn hard_limits_are_those_of_the_kernel() {
    for (lab, analysis) in analyses().iter().filter(|(lab, _)| lab.name != "l2tp_time_down") {
        let expired: Vec<&str> = lab.truth["hard_expires"]
            .as_array()
            .unwrap()
            .iter()
            .map(|h| h["spi"].as_str().unwrap())
            .collect();
        for rekey in &analysis.rekeys {
            let spi = rekey
                .old
                .b_to_a
                .map(|s| format!("{:08x}", s.0))
                .unwrap_or_default();
            let label = format!("{} rekey {} (old inbound {spi})", lab.name, rekey.index);
            let named = has(analysis, rekey.index, "hard_limit_reached");
            assert_eq!(named, expired.contains(&spi.as_str()), "{label}");
        }
    }
}

/// IKEv2 negotiates no limit: the receiver's silence is the evidence, and it is not certainty.
#[test]
fn a_hard_limit_without_a_negotiated_one_is_of_medium_confidence() {
    let Some(analysis) = one("ikev2_gcm_kb_down") else {
        return;
    };
    let causes = analysis.rekeys.iter().flat_map(|r| &r.causes);
    for cause in causes.filter(|c| c.id == "hard_limit_reached") {
        assert_eq!(cause.confidence, Confidence::Medium);
    }
}

#[test]
fn slow_diffie_hellman() {
    let analysis = one("l2tp_pfs4096_down").expect("a sample");
    assert_eq!(with(analysis, "slow_key_exchange"), [0, 1, 2, 3, 4]);
    assert_eq!(with(analysis, "hard_limit_reached"), [0, 1, 2, 3, 4]);
    for (lab, analysis) in analyses()
        .iter()
        .filter(|(lab, _)| lab.name.starts_with("l2tp_kb"))
    {
        assert!(with(analysis, "slow_key_exchange").is_empty(), "{}", lab.name);
    }
}

#[test]
fn a_lost_third_message() {
    let Some(analysis) = one("l2tp_qm3drop_down") else {
        return;
    };
    assert_eq!(with(analysis, "responder_not_ready"), [0, 1, 2, 3, 4]);
    assert_eq!(with(analysis, "exchange_retransmitted"), [0, 1, 2, 3, 4]);
    assert!(with(analysis, "hard_limit_reached").is_empty());
}

/// What no lab capture has: two initiators, a moved NAT, fragments, a second phase 1, lost frames, leaks within the
/// transfer.
#[test]
fn what_is_not_there_is_not_named() {
    let absent = [
        "collision",
        "nat_mapping_change",
        "fragmentation_change",
        "phase1_renewal",
        "ppp_trouble",
        "capture_artefact",
        "desync",
        "replay_drops",
        "application_limited",
        "slow_path",
    ];
    for (lab, analysis) in analyses() {
        for id in absent {
            assert!(with(analysis, id).is_empty(), "{}: {id}", lab.name);
        }
    }
}

#[test]
fn the_control_without_loss_has_no_cause() {
    let analysis = one("l2tp_time_down").expect("a sample");
    assert!(analysis.rekeys.iter().all(|r| r.causes.is_empty()));
}

#[test]
fn frames_and_filters_agree() {
    for (lab, analysis) in analyses() {
        for cause in analysis.rekeys.iter().flat_map(|r| &r.causes) {
            let frames = &cause.evidence_frames;
            assert!((1..=20).contains(&frames.len()), "{}: {}", lab.name, cause.id);
            let listed: Vec<String> = frames.iter().map(u64::to_string).collect();
            let filter = format!("frame.number in {{{}}}", listed.join(", "));
            assert_eq!(cause.display_filter, filter, "{}", lab.name);
        }
    }
}

/// Without keys nothing inside can be seen; what IKE headers and SPIs show stays.
#[test]
fn without_keys_only_the_outside_is_judged() {
    for (lab, analysis) in keyless() {
        let allowed = ["exchange_retransmitted", "slow_key_exchange", "asymmetric_switch"];
        for cause in analysis.rekeys.iter().flat_map(|r| &r.causes) {
            assert!(allowed.contains(&cause.id.as_str()), "{}: {}", lab.name, cause.id);
        }
    }
}
