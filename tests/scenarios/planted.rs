//! The scenarios: what is planted in each, and what truly holds then.

use super::exchange::*;
use super::failure::*;
use super::ikev2::*;
use super::path::*;
use super::sas::*;
use super::steps::nothing;
use super::transport::*;
use rekeyscope_testkit::scenario::World;

/// What was planted, what truly holds, and how it is done.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) holds: &'static [&'static str],
    pub(super) with_ike_key: bool,
    pub(super) play: fn(&mut World),
}

const fn scenario(name: &'static str, holds: &'static [&'static str], play: fn(&mut World)) -> Scenario {
    Scenario {
        name,
        holds,
        with_ike_key: true,
        play,
    }
}

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("nothing", &[], nothing),
    scenario(
        "third message lost",
        &[
            "responder_not_ready",
            "asymmetric_switch",
            "exchange_retransmitted",
            "rto_stall",
        ],
        third_message_lost,
    ),
    scenario(
        "third message lost, heard on the old SA",
        &[
            "responder_not_ready",
            "asymmetric_switch",
            "exchange_retransmitted",
            "rto_stall",
        ],
        heard_on_the_old_sa,
    ),
    scenario(
        "data overtakes the third message",
        &["responder_not_ready", "rto_stall"],
        data_overtakes,
    ),
    scenario(
        "old SA deleted early",
        &["old_sa_deleted_early", "rto_stall"],
        old_sa_deleted_early,
    ),
    scenario(
        "directions far apart",
        &["asymmetric_switch", "rto_stall"],
        asymmetric_switch,
    ),
    scenario("hard limit", &["hard_limit_reached", "rto_stall"], hard_limit),
    Scenario {
        with_ike_key: false,
        ..scenario(
            "hard limit, unreadable",
            &["hard_limit_reached", "rto_stall"],
            hard_limit,
        )
    },
    scenario(
        "first message repeated",
        &["exchange_retransmitted"],
        first_message_repeated,
    ),
    scenario("collision", &["collision"], collision),
    scenario("deep reordering", &["replay_drops", "rto_stall"], deep_reordering),
    scenario("slow Diffie–Hellman", &["slow_key_exchange"], slow_key_exchange),
    scenario("slow path", &["slow_path"], slow_path),
    scenario("burst lost", &["rto_stall"], burst_lost),
    scenario(
        "burst lost, no IKE captured",
        &["rto_stall"],
        burst_lost_without_ike,
    ),
    scenario("one segment lost", &[], one_segment_lost),
    scenario("receiver stops", &[], receiver_stops),
    scenario("application pauses", &["application_limited"], application_pauses),
    scenario("fragments begin", &["fragmentation_change"], fragments_begin),
    scenario("NAT port changes", &["nat_mapping_change"], nat_port_changes),
    scenario("NAT port stays", &[], nat_port_stays),
    scenario("phase 1 renewed", &["phase1_renewal"], phase_1_renewed),
    scenario("Hello without answer", &["ppp_trouble"], hello_without_answer),
    scenario("Hello with answer", &[], hello_with_answer),
    scenario(
        "capture drops frames",
        &["capture_artefact"],
        capture_drops_frames,
    ),
    scenario("cleartext leak", &["desync"], cleartext_leak),
    scenario("IKEv2", &[], renewed_v2),
    scenario(
        "IKEv2, hard limit",
        &["hard_limit_reached", "rto_stall"],
        hard_limit_v2,
    ),
    scenario(
        "IKEv2, hard limit, acknowledged late",
        &["hard_limit_reached", "rto_stall"],
        acknowledged_late,
    ),
    scenario("IKEv2, SA lost after a rekey", &[], blackhole_v2),
    scenario(
        "IKEv2, hard limit, request lost before the capture",
        &["hard_limit_reached"],
        request_lost_before_the_capture,
    ),
    scenario("IKEv2, in a pause", &[], renewed_in_a_pause_v2),
    scenario("IKEv2, collision", &["collision"], collision_v2),
    scenario("IKEv2, by the server", &[], renewed_by_the_server_v2),
    scenario(
        "IKEv2, initiator not ready",
        &["initiator_not_ready", "rto_stall"],
        initiator_not_ready,
    ),
    scenario("IKEv2, refused", &["rekey_refused"], refused_v2),
    Scenario {
        with_ike_key: false,
        ..scenario("IKEv2, refused, unreadable", &["rekey_refused"], refused_v2)
    },
    scenario("refused", &["rekey_refused"], refused),
    Scenario {
        with_ike_key: false,
        ..scenario("refused, unreadable", &["rekey_refused"], refused)
    },
    scenario("refused by message ID", &["rekey_refused"], refused_by_message_id),
    scenario("IKEv2, refused, fails open", &["rekey_refused"], refused_and_open),
    scenario("no answer", &["rekey_unanswered"], unanswered),
    Scenario {
        with_ike_key: false,
        ..scenario("no answer, unreadable", &["rekey_unanswered"], unanswered)
    },
    scenario(
        "answered late",
        &["exchange_retransmitted", "rekey_unanswered", "rto_stall"],
        answered_late,
    ),
    scenario(
        "limit without a rekey",
        &["hard_limit_reached", "limit_without_rekey"],
        limit_without_rekey,
    ),
    scenario(
        "deleted before negotiated",
        &["break_before_make"],
        break_before_make,
    ),
    scenario("SA lost after a rekey", &[], blackhole_after_rekey),
    scenario("IKEv2, peer dies", &["dpd_unanswered"], dpd_unanswered),
    scenario("IKEv2, sender dies", &["dpd_unanswered"], sender_dies),
    scenario("IKEv2, storm", &["rekey_refused", "rekey_storm"], rekey_storm),
];
