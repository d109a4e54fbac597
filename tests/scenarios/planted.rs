//! The scenarios: what is planted in each, and what truly holds then.

use super::costs_planted::*;
use super::exchange::*;
use super::failure::*;
use super::findings::*;
use super::ikev2::*;
use super::limits::*;
use super::one_sided::*;
use super::outages::*;
use super::path::*;
use super::sas::*;
use super::steps::nothing;
use super::transport::*;
use rekeyscope_testkit::scenario::World;
use std::path::Path;

/// What was planted, what truly holds, and how it is done.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) holds: &'static [&'static str],
    pub(super) keys: Keys,
    pub(super) play: fn(&mut World),
    /// Changes the files of the capture and of its keys, in this folder, after they are written.
    pub(super) rewrite: fn(&Path),
}

/// The keys that the program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    All,
    OfEsp,
    None,
}

const fn scenario(name: &'static str, holds: &'static [&'static str], play: fn(&mut World)) -> Scenario {
    Scenario {
        name,
        holds,
        keys: Keys::All,
        play,
        rewrite: |_| (),
    }
}

const fn rewritten(
    name: &'static str,
    holds: &'static [&'static str],
    play: fn(&mut World),
    rewrite: fn(&Path),
) -> Scenario {
    Scenario {
        rewrite,
        ..scenario(name, holds, play)
    }
}

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("nothing", &[], nothing),
    scenario(
        "third message lost",
        &[
            "answer_lost",
            "event answer_lost",
            "event esp_silent",
            "event everything_silent",
        ],
        third_message_lost,
    ),
    scenario(
        "third message lost, heard on the old SA",
        &["answer_lost", "event answer_lost", "event everything_silent"],
        heard_on_the_old_sa,
    ),
    scenario(
        "data overtakes the third message",
        &["new_sa_lost"],
        data_overtakes,
    ),
    scenario(
        "old SA deleted early",
        &["deleted_early", "event child_deleted"],
        old_sa_deleted_early,
    ),
    scenario("directions far apart", &[], asymmetric_switch),
    scenario(
        "hard limit",
        &["event child_deleted", "event limit_reached", "limit_reached"],
        hard_limit,
    ),
    Scenario {
        keys: Keys::OfEsp,
        ..scenario("hard limit, unreadable", &["limit_reached"], hard_limit)
    },
    scenario(
        "first message repeated",
        &["event answered_late"],
        first_message_repeated,
    ),
    scenario("collision", &["event collision"], collision),
    scenario("deep reordering", &["replay_window"], deep_reordering),
    scenario(
        "L2TP call cleared",
        &[
            "event call_disconnected",
            "event everything_silent",
            "l2tp_closed",
        ],
        l2tp_call_cleared,
    ),
    scenario("slow Diffie–Hellman", &["slow_exchange"], slow_key_exchange),
    scenario(
        "slow Diffie–Hellman, and data goes on",
        &[],
        slow_key_exchange_alone,
    ),
    scenario("slow path", &[], slow_path),
    scenario("burst lost", &[], burst_lost),
    scenario("burst lost, no IKE captured", &[], burst_lost_without_ike),
    scenario("one segment lost", &[], one_segment_lost),
    scenario("receiver stops", &[], receiver_stops),
    scenario("application pauses", &[], application_pauses),
    scenario(
        "fragments begin",
        &["finding fragmentation_cliff", "finding path_mtu"],
        fragments_begin,
    ),
    scenario("NAT port changes", &["event port_changed"], nat_port_changes),
    scenario("NAT port stays", &[], nat_port_stays),
    scenario("phase 1 renewed", &["event new_ike_sa"], phase_1_renewed),
    scenario("Hello without answer", &[], hello_without_answer),
    scenario("Hello with answer", &[], hello_with_answer),
    scenario(
        "capture drops frames",
        &["event capture_hole", "finding capture_drops"],
        capture_drops_frames,
    ),
    scenario("cleartext leak", &["finding l2tp_in_clear"], cleartext_leak),
    scenario("IKEv2", &["event child_deleted"], renewed_v2),
    scenario(
        "IKEv2, hard limit",
        &["event child_deleted", "limit_reached"],
        hard_limit_v2,
    ),
    scenario(
        "IKEv2, hard limit, acknowledged late",
        &["event child_deleted", "limit_reached"],
        acknowledged_late,
    ),
    scenario(
        "IKEv2, SA lost after a rekey",
        &["event esp_silent", "peer_silent"],
        blackhole_v2,
    ),
    scenario(
        "IKEv2, hard limit, request lost before the capture",
        &["event esp_silent", "peer_silent"],
        request_lost_before_the_capture,
    ),
    scenario(
        "IKEv2, in a pause",
        &[
            "event child_deleted",
            "event esp_silent",
            "event everything_silent",
        ],
        renewed_in_a_pause_v2,
    ),
    scenario(
        "IKEv2, collision",
        &["event child_deleted", "event collision"],
        collision_v2,
    ),
    scenario(
        "IKEv2, by the server",
        &["event child_deleted"],
        renewed_by_the_server_v2,
    ),
    scenario(
        "IKEv2, initiator not ready",
        &["new_sa_lost"],
        initiator_not_ready,
    ),
    scenario("IKEv2, refused", &["event refused", "refused"], refused_v2),
    Scenario {
        keys: Keys::OfEsp,
        ..scenario(
            "IKEv2, refused, unreadable",
            &["event refused", "refused"],
            refused_v2,
        )
    },
    scenario("refused", &["event refused", "refused"], refused),
    Scenario {
        keys: Keys::OfEsp,
        ..scenario("refused, unreadable", &["event refused", "refused"], refused)
    },
    scenario(
        "refused by message ID",
        &["event refused", "refused"],
        refused_by_message_id,
    ),
    scenario(
        "IKEv2, refused, fails open",
        &["event refused", "refused", "finding cleartext_leak"],
        refused_and_open,
    ),
    scenario(
        "IKEv2, refused, fails open in GRE",
        &["event refused", "refused", "finding cleartext_leak"],
        refused_and_open_gre,
    ),
    scenario(
        "no answer",
        &["event ike_silent", "event unanswered", "unanswered"],
        unanswered,
    ),
    Scenario {
        keys: Keys::OfEsp,
        ..scenario(
            "no answer, unreadable",
            &["event ike_silent", "event unanswered", "unanswered"],
            unanswered,
        )
    },
    scenario(
        "answered late",
        &["answered_late", "event answered_late", "event esp_silent"],
        answered_late,
    ),
    scenario(
        "limit without a rekey",
        &["event esp_silent", "event limit_reached", "limit_reached"],
        limit_without_rekey,
    ),
    scenario(
        "deleted before negotiated",
        &["break_before_make", "event child_deleted"],
        break_before_make,
    ),
    scenario(
        "SA lost after a rekey",
        &["event esp_silent", "peer_silent"],
        blackhole_after_rekey,
    ),
    scenario(
        "IKEv2, peer dies",
        &["event checks_unanswered", "peer_silent"],
        dpd_unanswered,
    ),
    scenario(
        "IKEv2, sender dies",
        &["event checks_unanswered", "peer_silent"],
        sender_dies,
    ),
    scenario("IKEv2, storm", &["event collision", "event refused"], rekey_storm),
    scenario(
        "capture stops",
        &["capture_hole", "event capture_hole", "finding capture_drops"],
        capture_stops,
    ),
    scenario(
        "server lost its SAs",
        &[
            "event echo_unanswered",
            "event invalid_spi",
            "event new_ike_sa",
            "invalid_spi",
        ],
        server_lost_its_sas,
    ),
    scenario(
        "INVALID-SPI, and data goes on",
        &["event invalid_spi"],
        invalid_spi_in_vain,
    ),
    scenario(
        "collision, data lost",
        &["collision", "event collision", "event esp_silent"],
        collision_with_loss,
    ),
    scenario(
        "client restarts",
        &["event esp_silent", "event new_ike_sa", "peer_restarted"],
        client_restarts,
    ),
    scenario(
        "IKEv2, living IKE SA given up",
        &[
            "event checks_unanswered",
            "event esp_silent",
            "event ike_silent",
            "event new_ike_sa",
            "given_up",
        ],
        living_ike_sa_given_up,
    ),
    scenario(
        "IKEv2, check answered too late",
        &[
            "event checks_answered_late",
            "event esp_silent",
            "given_up_too_soon",
        ],
        check_answered_too_late,
    ),
    scenario(
        "given up beside its data",
        &[
            "event checks_unanswered",
            "event child_deleted",
            "event esp_silent",
            "event everything_silent",
            "event ike_silent",
            "event new_ike_sa",
            "given_up_too_soon",
        ],
        given_up_beside_its_data,
    ),
    scenario(
        "given up when silent",
        &[
            "event checks_unanswered",
            "event child_deleted",
            "event esp_silent",
            "event new_ike_sa",
            "peer_silent",
        ],
        given_up_when_silent,
    ),
    scenario(
        "IKEv2, dialled again through another port",
        &[
            "break_before_make",
            "event esp_silent",
            "event ike_sa_deleted",
            "event new_ike_sa",
        ],
        dialled_again_through_another_port,
    ),
    scenario(
        "IKEv2, gone as another dials in",
        &[
            "deleted",
            "event ike_sa_deleted",
            "event new_ike_sa",
            "path_silent",
        ],
        gone_as_another_dials_in,
    ),
    scenario(
        "IKEv2, new SA taken back",
        &[
            "event child_deleted",
            "event esp_silent",
            "event everything_silent",
            "new_sa_lost",
        ],
        new_sa_taken_back,
    ),
    scenario(
        "too big by ICMP, and sent on",
        &["event unreachable", "too_big"],
        too_big_and_sent_on,
    ),
    scenario(
        "too big by ICMP, and heeded",
        &["event unreachable"],
        too_big_and_heeded,
    ),
    scenario(
        "too big by ICMP inside, and sent on",
        &["event too_big_inside", "too_big"],
        too_big_inside_and_sent_on,
    ),
    scenario(
        "too big by ICMP inside, and heeded",
        &["event too_big_inside"],
        too_big_inside_and_heeded,
    ),
    scenario(
        "IKEv2, checks unheard, and data goes on",
        &["event checks_unanswered", "event ike_silent"],
        checks_unheard_and_data_goes_on,
    ),
    scenario(
        "IKEv2, fragments of a request lost",
        &["event fragments_incomplete", "ike_fragments"],
        ike_fragments_lost,
    ),
    scenario(
        "IKEv2, fragments of a request lost, and data goes on",
        &["event fragments_incomplete"],
        ike_fragments_lost_and_data_goes_on,
    ),
    scenario(
        "IKEv2, first packets of new SAs lost before the capture",
        &["event first_number", "first_number", "finding one_direction_loss"],
        first_packets_lost_before_the_capture,
    ),
    scenario(
        "IKEv2, IKE SA deleted",
        &["deleted", "event ike_sa_deleted"],
        ike_sa_deleted,
    ),
    scenario(
        "IKEv2, new IKE SA deleted behind a cut",
        &[
            "break_before_make",
            "event esp_silent",
            "event ike_sa_deleted",
            "event ike_sa_rekeyed",
            "event new_ike_sa",
        ],
        new_ike_sa_deleted,
    ),
    scenario(
        "IKEv2, old IKE SA deleted behind a cut",
        &[
            "event esp_silent",
            "event ike_sa_deleted",
            "event ike_sa_rekeyed",
            "peer_silent",
        ],
        old_ike_sa_deleted,
    ),
    scenario(
        "IKEv2, IKE SA and child renewed",
        &["event ike_sa_deleted", "event ike_sa_rekeyed"],
        ike_sa_and_child_renewed,
    ),
    scenario(
        "IKEv2, a host left out",
        &["event child_deleted", "left_out"],
        host_left_out,
    ),
    scenario(
        "IKEv2, a call ends behind the switch",
        &["event child_deleted"],
        call_ends_behind_the_switch,
    ),
    scenario(
        "IKEv2, two clients served by turns",
        &["by_turns"],
        served_by_turns,
    ),
    scenario(
        "IKEv2, silent as another client dials in",
        &["peer_silent"],
        silent_as_another_dials_in,
    ),
    scenario(
        "IKEv2, renewal given up",
        &[
            "event esp_silent",
            "event ike_silent",
            "event unanswered",
            "unanswered",
        ],
        renewal_given_up,
    ),
    scenario(
        "IKEv2, silent long after a request",
        &[
            "event esp_silent",
            "event ike_silent",
            "event unanswered",
            "peer_silent",
        ],
        silent_long_after_a_request,
    ),
    scenario(
        "IKEv2, asked for and not taken",
        &["one_sided"],
        asked_and_not_taken,
    ),
    scenario(
        "IKEv2, given up while away",
        &["event checks_unanswered", "event ike_silent", "given_up"],
        given_up_while_away,
    ),
    scenario(
        "IKEv2, lost behind the capture, and renewed",
        &["unheard"],
        lost_behind_the_capture_and_renewed,
    ),
    scenario(
        "IKEv2, sent on upon a deleted SA",
        &["event child_deleted", "event one_sided", "one_sided"],
        sent_on_upon_a_deleted_sa,
    ),
    scenario(
        "IKEv2, back to the older SA",
        &["event one_sided", "one_sided"],
        back_to_the_older_sa,
    ),
    scenario(
        "IKEv2, old SA drains behind its Delete",
        &["event child_deleted"],
        old_sa_drains,
    ),
    scenario(
        "IKEv2, old SA dropped by its receiver",
        &["one_sided"],
        old_sa_dropped,
    ),
    scenario(
        "IKEv2, old SA dropped at the renewal",
        &["deleted_early"],
        dropped_at_the_renewal,
    ),
    scenario(
        "IKEv2, old SA taken behind the renewal",
        &[],
        old_sa_taken_behind_the_renewal,
    ),
    scenario("IKEv2, old SA used on", &[], old_sa_used_on),
    scenario("IKEv2, calls through two pairs", &[], calls_through_two_pairs),
    scenario(
        "IKEv2, one of two SAs stops",
        &["esp_silent", "event child_deleted", "event esp_silent"],
        one_of_two_sas_stops,
    ),
    scenario(
        "IKEv2, one of two hosts rests",
        &["event child_deleted", "event esp_silent"],
        one_of_two_hosts_rests,
    ),
    scenario(
        "IKEv2, one of two SAs dead",
        &["event child_deleted", "one_sided"],
        one_of_two_sas_is_dead,
    ),
    scenario(
        "IKEv2, one of two hosts away",
        &["event child_deleted", "unexplained"],
        one_of_two_hosts_is_away,
    ),
    scenario(
        "IKEv2, two networks by turns",
        &["event child_deleted", "event networks_by_turns"],
        networks_by_turns,
    ),
    scenario(
        "IKEv2, two networks side by side",
        &["event child_deleted"],
        networks_side_by_side,
    ),
    scenario(
        "IKEv2, answered from elsewhere",
        &["answered_elsewhere", "event answered_elsewhere"],
        answered_elsewhere,
    ),
    scenario("IKEv2, server moves", &["event address_changed"], server_moves),
    scenario(
        "data in the tunnel of another client",
        &["event other_tunnel", "other_tunnel"],
        data_in_the_tunnel_of_another,
    ),
    Scenario {
        keys: Keys::None,
        ..scenario(
            "data in the tunnel of another client, without keys",
            &["event other_tunnel", "other_tunnel"],
            data_in_the_tunnel_of_another,
        )
    },
    Scenario {
        keys: Keys::None,
        ..scenario(
            "silent as another client begins, without keys",
            &["peer_silent"],
            silent_as_another_begins,
        )
    },
    scenario(
        "data in the tunnel of another client for a time",
        &["event other_tunnel", "other_tunnel"],
        data_back_from_the_tunnel_of_another,
    ),
    scenario(
        "tunnel replaced by another one",
        &["event other_tunnel"],
        tunnel_replaced,
    ),
    scenario(
        "IKEv2, tunnel deleted and replaced by another one",
        &["deleted", "event ike_sa_deleted", "event other_tunnel"],
        deleted_and_replaced,
    ),
    scenario(
        "IKEv2, one side of a call pauses",
        &["event child_deleted"],
        one_side_of_a_call_pauses,
    ),
    scenario(
        "IKEv2, one side of a call lost before the capture",
        &["event child_deleted", "finding one_direction_loss", "peer_silent"],
        one_side_of_a_call_lost,
    ),
    scenario("large packets lost", &["large_packets"], large_packets_lost),
    scenario(
        "large packets never pass",
        &["large_never_passed"],
        large_packets_never_pass,
    ),
    scenario(
        "large segments cut by their sender",
        &["large_never_passed"],
        large_segments_cut,
    ),
    scenario(
        "segments cut by their sender in an outage",
        &["peer_silent"],
        segments_cut_in_an_outage,
    ),
    scenario(
        "nothing passes behind small answers",
        &["event esp_silent", "peer_silent"],
        nothing_passes_any_more,
    ),
    scenario("server stalls", &[], server_stalls),
    scenario(
        "IKEv2, replies on a new SA that is not taken",
        &["new_sa_lost"],
        replies_on_the_new_sa,
    ),
    scenario("receiver full", &[], receiver_full),
    scenario(
        "all packets lost, echoes before and after",
        &["peer_silent"],
        all_packets_lost,
    ),
    scenario(
        "counter goes back",
        &["event numbers_back", "numbers_back"],
        counter_goes_back,
    ),
    scenario("numbers used up", &["numbers_used_up"], numbers_used_up),
    scenario("numbers left", &[], numbers_left),
    scenario(
        "large packets damaged",
        &["bad_icv", "event bad_icv", "finding damaged"],
        large_packets_damaged,
    ),
    scenario("packets damaged now and then", &[], packets_damaged_now_and_then),
    scenario("connection dropped", &["connection_dead"], connection_dropped),
    scenario(
        "later fragments dropped",
        &[
            "event only_small_pass",
            "finding fragmentation_cliff",
            "finding lost_fragments",
            "finding path_mtu",
            "first_fragments",
        ],
        later_fragments_dropped,
    ),
    scenario("echoes lost beside data", &[], echoes_lost_beside_data),
    scenario(
        "compressed packets never pass",
        &["large_never_passed"],
        compressed_packets_never_pass,
    ),
    scenario(
        "large compressed packets lost",
        &["large_packets"],
        large_compressed_packets_lost,
    ),
    scenario("pings lost", &["unexplained"], pings_lost),
    scenario(
        "pings in fragments lost",
        &["unexplained"],
        pings_in_fragments_lost,
    ),
    scenario(
        "later fragments not captured",
        &[
            "finding capture_drops",
            "finding fragmentation_cliff",
            "finding path_mtu",
        ],
        later_fragments_not_captured,
    ),
    scenario(
        "first packets of new SAs not captured",
        &[
            "capture_hole",
            "event capture_hole",
            "event first_number",
            "finding capture_drops",
        ],
        first_packets_not_captured,
    ),
    scenario(
        "client moves, unnoticed",
        &["address_changed", "event address_changed"],
        client_moves_unnoticed,
    ),
    scenario(
        "client moves, and data goes on",
        &["event address_changed"],
        client_moves_at_once,
    ),
    scenario(
        "renewal too slow",
        &["event esp_silent", "slow_renewal"],
        renewal_too_slow,
    ),
    scenario("acknowledgements unheard", &["unheard"], acknowledgements_unheard),
    scenario(
        "IKEv2, only IKE comes",
        &["esp_silent", "event esp_silent"],
        only_ike_comes,
    ),
    scenario("IKEv2, nothing comes", &["peer_silent"], nothing_comes),
    scenario(
        "IKEv2, both sides silent",
        &["event everything_silent", "path_silent"],
        both_sides_silent,
    ),
    scenario(
        "IKEv2, nothing comes on the new SA",
        &["event esp_silent", "silent_on_new_sa"],
        silent_on_the_new_sa,
    ),
    scenario("shallow reordering", &[], shallow_reordering),
    scenario(
        "one of two transfers dies",
        &["unexplained"],
        one_of_two_transfers_dies,
    ),
    scenario(
        "IKEv2, answer lost, and data goes on",
        &["event answer_lost"],
        answer_lost_without_loss,
    ),
    scenario(
        "IKEv2, granted with another group",
        &[],
        granted_with_another_group,
    ),
    scenario("window full", &[], window_full),
    scenario("buffer full", &[], buffer_full),
    scenario("buffer full, begun before", &[], buffer_full_begun_before),
    scenario("link full", &[], link_full),
    scenario("slow start", &[], slow_start),
    scenario("queue overflows", &[], queue_overflows),
    scenario("lost without a queue", &[], lost_without_a_queue),
    scenario("segments overtaken", &[], segments_overtaken),
    scenario(
        "as many segments lost",
        &["finding one_direction_loss"],
        as_many_lost,
    ),
    scenario(
        "as many lost before encryption",
        &["finding lost_before_encryption"],
        as_many_lost_before_encryption,
    ),
    scenario(
        "later fragments lost",
        &["finding lost_fragments", "finding path_mtu"],
        later_fragments_lost,
    ),
    scenario(
        "packets lost whole",
        &["finding one_direction_loss", "finding path_mtu"],
        packets_lost_whole,
    ),
    scenario(
        "packets too long",
        &["finding path_mtu", "finding fragmentation_cliff"],
        packets_too_long,
    ),
    scenario(
        "packets a little too long",
        &["finding path_mtu", "finding fragmentation_cliff"],
        packets_a_little_too_long,
    ),
    scenario(
        "datagrams too long for the tunnel",
        &[],
        datagrams_too_long_for_the_tunnel,
    ),
    scenario(
        "writes a byte too long",
        &["finding fragmentation_cliff"],
        writes_a_byte_too_long,
    ),
    scenario("signs of life", &[], signs_of_life),
    scenario(
        "two pairs by turns",
        &["finding duplicate_sas"],
        two_pairs_by_turns,
    ),
    scenario("a pair for each host", &[], a_pair_for_each_host),
    scenario(
        "pairs that nobody uses",
        &["finding redundant_sas"],
        pairs_that_nobody_uses,
    ),
    scenario(
        "pairs of an idle tunnel",
        &["event esp_silent"],
        pairs_of_an_idle_tunnel,
    ),
    scenario(
        "datagrams far overtaken",
        &["finding behind_window"],
        datagrams_far_overtaken,
    ),
    scenario("datagrams overtaken", &[], datagrams_overtaken),
    scenario(
        "segments far overtaken, and taken",
        &[],
        segments_far_overtaken_and_taken,
    ),
    scenario("packets damaged", &["finding damaged"], packets_damaged),
    rewritten("key of another SA", &[], nothing, last_key_is_wrong),
    rewritten(
        "data not captured",
        &["finding capture_drops"],
        download,
        data_not_captured,
    ),
    rewritten(
        "any packets not captured",
        &["finding capture_drops"],
        download,
        any_not_captured,
    ),
    scenario(
        "lost in one direction",
        &["finding one_direction_loss"],
        lost_in_one_direction,
    ),
    scenario(
        "lost in both directions",
        &["finding both_directions_loss"],
        lost_in_both_directions,
    ),
    scenario("datagrams lost", &["finding packet_loss"], datagrams_lost),
    Scenario {
        keys: Keys::None,
        ..scenario(
            "lost, without keys",
            &["finding packets_missing"],
            lost_in_one_direction,
        )
    },
    Scenario {
        keys: Keys::None,
        ..rewritten("begun later, without keys", &[], steady, begun_later)
    },
    rewritten(
        "files merged by hand",
        &["finding clock_trouble"],
        steady,
        merged_by_hand,
    ),
    rewritten("stamped by two processors", &[], steady, stamped_by_two),
    rewritten(
        "clock set forward",
        &["finding clock_step"],
        steady,
        clock_set_forward,
    ),
    rewritten("clock set back", &["finding clock_step"], steady, clock_set_back),
    scenario(
        "a long standstill",
        &["event everything_silent", "path_silent"],
        a_long_standstill,
    ),
    rewritten(
        "halves swapped",
        &["finding out_of_order"],
        steady,
        halves_swapped,
    ),
    scenario(
        "datagrams stop",
        &["event everything_silent", "finding silence_or_clock_step"],
        datagrams_stop,
    ),
    scenario("a long rest", &["event everything_silent"], a_long_rest),
    scenario(
        "captured inside too",
        &["event refused", "refused"],
        captured_inside_too,
    ),
    scenario("L2TP of another client", &[], l2tp_of_another_client),
];
