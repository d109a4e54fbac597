//! Outages that no rekey brings, each beside one that looks like it.

use super::answers::with_keys;
use super::exchange::both_ask;
use super::steps::{AFTER, BEFORE, GENEROUS, begin, exchange, rekey_in_silence, resend_lost};
use super::transport::overtaken;
use crate::support::analyze_world;
use rekeyscope_report::words::answer_lines;
use rekeyscope_testkit::scenario::World;

/// Doubling timeouts of the sender, milliseconds: 6.2 s in all.
const TIMEOUTS: [u64; 5] = [200, 400, 800, 1_600, 3_200];
/// Segments that are lost before the window is full.
const WINDOW: u32 = 100;
/// Bytes of a segment that its sender has cut.
const CUT: usize = 1_000;

/// The capture lacks 1.5 s of a transfer that goes on.
pub(crate) fn capture_stops(w: &mut World) {
    w.steady(BEFORE);
    w.blind = true;
    w.steady(1_500);
    w.blind = false;
    w.steady(AFTER);
}

/// The server lost its SAs: it sends nothing, and says so of what the client asks.
pub(crate) fn server_lost_its_sas(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(1_000);
    for _ in 0..3 {
        w.lcp(true, 9);
        w.invalid_spi(w.up.spi);
        w.wait(1_000);
    }
    w.download = false;
    w.main_mode();
    w.download = true;
    w.establish(GENEROUS);
    w.steady(AFTER);
}

/// The server says INVALID-SPI of an SA that goes on: a packet of somebody else has that SPI.
pub(crate) fn invalid_spi_in_vain(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    for _ in 0..3 {
        w.steady(1_000);
        w.invalid_spi(w.up.spi);
    }
    w.steady(AFTER);
}

/// Both sides ask at once, and each drops the pair that the other one takes.
pub(crate) fn collision_with_loss(w: &mut World) {
    both_ask(w);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS);
    rekey_in_silence(w);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The client falls silent and comes back with a new phase 1, although the old one lives.
pub(crate) fn client_restarts(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS);
    w.download = false;
    w.main_mode();
    w.download = true;
    w.establish(GENEROUS);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The server's answers to the client's checks are lost; the client takes its SAs down, though data came all the time, and begins anew.
pub(crate) fn living_ike_sa_given_up(w: &mut World) {
    w.steady(BEFORE);
    w.check_v2(true);
    w.check_in_vain_v2(4, 1_000, World::steady);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS[..2]);
    w.download = false;
    w.main_mode();
    w.download = true;
    w.establish(GENEROUS);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The server's answer to a check comes when the client has already begun anew: the way was slow.
pub(crate) fn check_answered_too_late(w: &mut World) {
    w.steady(BEFORE);
    w.check_v2(true);
    let answer = w.check_unanswered_yet_v2();
    w.steady(3_000);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS[..2]);
    w.download = false;
    w.sa_init_v2();
    w.answer_v2(&answer);
    w.take_new_sas_v2();
    w.download = true;
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The client asks the server again and again, and hears no answer; then it deletes its SAs and begins anew. `alive`: data comes all the time.
fn given_up(w: &mut World, alive: bool) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.check(true);
    for _ in 0..4 {
        if alive {
            w.steady(2_000);
        } else {
            w.acknowledge_all();
            w.ping_server(false);
            w.wait(2_000);
        }
        w.check(false);
    }
    w.wait(20);
    if alive {
        w.steady(2_000);
        w.go_deaf(WINDOW);
    } else {
        w.wait(2_000);
    }
    w.delete(w.down.spi);
    w.download = false;
    w.wait(1_000);
    w.main_mode();
    w.download = true;
    w.establish(GENEROUS);
    resend_lost(w, if alive { WINDOW } else { 0 });
    w.steady(AFTER);
}

pub(crate) fn given_up_beside_its_data(w: &mut World) {
    given_up(w, true);
}

pub(crate) fn given_up_when_silent(w: &mut World) {
    given_up(w, false);
}

/// The client's checks get no answer while the server is away; it sends on until a wait behind the last one, and then nothing. The server comes back on
/// its old SA.
pub(crate) fn given_up_while_away(w: &mut World) {
    w.steady(BEFORE);
    w.check_v2(true);
    w.acknowledge_all();
    w.check_in_vain_v2(4, 1_000, |w, millis| {
        w.ping_server(false);
        w.wait(millis);
    });
    w.wait(1_000);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS);
    w.download = false;
    w.sa_init_v2();
    w.download = true;
    w.take_new_sas_v2();
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The client, behind a NAT, deletes its IKE SA and dials again at once: NAT gives it another port towards the server's port 500, and the server's
/// answers take long. Another client: the one that dials then is not the one that went.
fn dialled_again(w: &mut World, by_another: bool) {
    w.nat_port = Some(40_001);
    w.steady(BEFORE);
    w.check_v2(true);
    w.steady(1_000);
    w.go_deaf(WINDOW);
    w.delete_ike_sa_v2(true);
    let mut other = World::new();
    other.nat_port = Some(40_002);
    other.inner_client = [10, 66, 0, 3];
    other.name_pair(0xd700_0003, 0xa700_0003);
    other.now = w.now;
    let new = if by_another { &mut other } else { &mut *w };
    new.download = false;
    new.wait(40);
    new.begins_at = Some(61_500);
    new.sa_init_v2();
    new.begins_at = None;
    new.authenticate_v2(4, 700);
    let child = new.make_v2(true);
    new.switch_up_v2(&child);
    new.switch_down_v2(&child);
    new.download = true;
    new.steady(100);
    if by_another {
        w.repeat_oldest(&TIMEOUTS);
        w.beside(other);
    } else {
        resend_lost(w, WINDOW);
        w.steady(AFTER);
    }
}

pub(crate) fn dialled_again_through_another_port(w: &mut World) {
    dialled_again(w, false);
}

pub(crate) fn gone_as_another_dials_in(w: &mut World) {
    dialled_again(w, true);
}

/// The server sends on a new SA at once; the client does not take it, deletes both, and asks for another one three seconds later.
pub(crate) fn new_sa_taken_back(w: &mut World) {
    w.steady(BEFORE);
    let rekey = w.agree_v2(true, 30);
    let old = [w.down.spi, w.up.spi];
    w.switch_down_v2(&rekey);
    w.go_deaf(20);
    w.delete_v2(true, old[0], old[1]);
    w.delete_v2(true, rekey.down, rekey.up);
    w.wait(3_000);
    w.take_new_sas_v2();
    resend_lost(w, 20);
    w.steady(AFTER);
}

/// A router on the way says that the server's packets are too big, or one inside the tunnel. Where the server heeds that, it sends smaller ones.
fn too_big(w: &mut World, inside: bool, heeded: bool) {
    let tell = |w: &mut World| match inside {
        true => w.too_big_inside(1_260),
        false => w.icmp(3, 4, 1_260),
    };
    w.steady(BEFORE);
    w.go_deaf(WINDOW);
    tell(w);
    if heeded {
        w.wait(TIMEOUTS[0]);
        resend_lost(w, WINDOW);
    } else {
        for wait in TIMEOUTS {
            // The answers of a router on the way do not show that small packets pass.
            for _ in 0..wait / 200 {
                w.wait(200);
                if !inside {
                    w.lcp(true, 9);
                    w.lcp(false, 10);
                }
            }
            w.repeat_oldest(&[1]);
            tell(w);
        }
    }
    w.steady(AFTER);
}

pub(crate) fn too_big_and_sent_on(w: &mut World) {
    too_big(w, false, false);
}

pub(crate) fn too_big_and_heeded(w: &mut World) {
    too_big(w, false, true);
}

pub(crate) fn too_big_inside_and_sent_on(w: &mut World) {
    too_big(w, true, false);
}

pub(crate) fn too_big_inside_and_heeded(w: &mut World) {
    too_big(w, true, true);
}

/// The answers to the client's checks are lost, and it keeps what it has.
pub(crate) fn checks_unheard_and_data_goes_on(w: &mut World) {
    w.steady(BEFORE);
    w.check_v2(true);
    w.check_in_vain_v2(4, 1_000, World::steady);
    w.steady(AFTER);
}

/// Packets of both sides are lost in front of the capture for some seconds.
pub(crate) fn both_sides_silent(w: &mut World) {
    w.steady(BEFORE);
    w.go_deaf(WINDOW);
    w.blind = true;
    w.repeat_oldest(&TIMEOUTS);
    w.blind = false;
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// Only first fragments of the client's large requests come, and data stops.
pub(crate) fn ike_fragments_lost(w: &mut World) {
    w.steady(BEFORE);
    w.check_v2(true);
    w.request_in_fragments(1);
    w.steady(1_000);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS);
}

/// Only the first fragment of a large request comes, and data goes on.
pub(crate) fn ike_fragments_lost_and_data_goes_on(w: &mut World) {
    w.steady(BEFORE);
    w.check_v2(true);
    w.request_in_fragments(1);
    w.steady(AFTER);
}

/// The first packets of two new SAs do not come to the capture, at the receiver's end: data was lost until its sender's timer.
pub(crate) fn first_packets_lost_before_the_capture(w: &mut World) {
    for _ in 0..2 {
        w.renew_v2(true);
        w.drop_acks();
        w.blind = true;
        for _ in 0..WINDOW {
            w.lost_segment();
            w.step(w.tick);
        }
        w.blind = false;
        w.wait(TIMEOUTS[1]);
        resend_lost(w, WINDOW);
        w.steady(AFTER);
    }
}

/// The server deletes the IKE SA in the middle of a transfer, and nothing follows.
pub(crate) fn ike_sa_deleted(w: &mut World) {
    w.steady(BEFORE);
    w.check_v2(true);
    w.steady(BEFORE);
    w.go_deaf(WINDOW);
    w.delete_ike_sa_v2(false);
    w.repeat_oldest(&TIMEOUTS);
}

/// The old IKE SA is deleted when a new one has taken its children over; two seconds later a child is renewed, too.
pub(crate) fn ike_sa_and_child_renewed(w: &mut World) {
    w.steady(BEFORE);
    w.renew_ike_sa_v2();
    w.steady(2_000);
    w.renew_v2(true);
    w.steady(AFTER);
}

/// The way is closed for a while, and the client renews its IKE SA behind that; it deletes the old one alone, or the new one as well.
fn renewed_behind_a_cut(w: &mut World, takes_both: bool) {
    w.steady(BEFORE);
    w.check_v2(true);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS[..3]);
    w.download = false;
    w.renew_ike_sa_v2();
    if takes_both {
        w.delete_ike_sa_v2(true);
        w.wait(9_000);
        w.sa_init_v2();
        w.authenticate_v2(1, 20);
        let anew = w.make_v2(true);
        w.switch_up_v2(&anew);
        w.switch_down_v2(&anew);
    }
    w.download = true;
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

pub(crate) fn new_ike_sa_deleted(w: &mut World) {
    renewed_behind_a_cut(w, true);
}

pub(crate) fn old_ike_sa_deleted(w: &mut World) {
    renewed_behind_a_cut(w, false);
}

/// Echoes pass meanwhile, where the way is closed for large packets only.
fn only_small_pass(w: &mut World, echoes_pass: bool) {
    w.steady(BEFORE);
    w.ping_client(true);
    w.go_deaf(WINDOW);
    for wait in TIMEOUTS {
        w.repeat_oldest(&[wait]);
        if echoes_pass {
            w.ping_client(true);
        }
    }
    w.ping_client(true);
}

pub(crate) fn large_packets_lost(w: &mut World) {
    only_small_pass(w, true);
}

pub(crate) fn all_packets_lost(w: &mut World) {
    only_small_pass(w, false);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The server answers with small segments; from the first full-sized one on none arrives, through a renewal that does no harm. `open` tells
/// whether its small packets pass still.
fn small_answers_only(w: &mut World, open: bool) {
    w.establish(GENEROUS);
    let whole = std::mem::replace(&mut w.segment_len, 100);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(100);
    w.segment_len = whole;
    w.go_deaf(10);
    for wait in [200, 400, 800] {
        w.repeat_oldest(&[wait]);
        w.ping_client(open);
    }
    rekey_in_silence(w);
    for wait in [1_600, 3_200, 6_400] {
        w.repeat_oldest(&[wait]);
        w.ping_client(open);
    }
}

pub(crate) fn large_packets_never_pass(w: &mut World) {
    small_answers_only(w, true);
}

/// Lost packets are compressed, and nothing that passes is.
pub(crate) fn compressed_packets_never_pass(w: &mut World) {
    w.compressed = true;
    small_answers_only(w, true);
}

/// Compressed packets passed before, so that compression does not tell what passes.
pub(crate) fn large_compressed_packets_lost(w: &mut World) {
    w.compressed = true;
    only_small_pass(w, true);
}

/// Full-sized segments vanish behind small ones, until the server cuts them after three timeouts as if their size were at fault (RFC 4821 §7.6); what
/// follows is `then` so long.
fn segments_cut(w: &mut World, then: usize) {
    w.establish(GENEROUS);
    let whole = std::mem::replace(&mut w.segment_len, 100);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(100);
    w.segment_len = whole;
    w.go_deaf(10);
    w.repeat_oldest(&[200, 400, 800]);
    w.wait(1_600);
    w.segment_len = CUT;
    for first in (0..10 * whole).step_by(CUT) {
        w.segment_len = CUT.min(10 * whole - first);
        w.resend(w.expected + first as u32);
        w.step(w.tick);
    }
    w.deliver();
    w.segment_len = then;
    w.steady(AFTER);
}

pub(crate) fn large_segments_cut(w: &mut World) {
    segments_cut(w, CUT);
}

/// Segments as large as those that vanished pass later: the way was closed for all.
pub(crate) fn segments_cut_in_an_outage(w: &mut World) {
    segments_cut(w, w.segment_len);
}

/// No link has so small an MTU.
fn small_packets_never_pass(w: &mut World) {
    w.segment_len = 700;
    small_answers_only(w, true);
}

/// The server's pings are not answered for a while; data of the client arrives.
fn pings_lost_then(w: &mut World, cut: bool) {
    (w.download, w.upload) = (false, true);
    w.steady(BEFORE);
    w.ping_client(true);
    w.cut = cut;
    for _ in 0..6 {
        w.steady(1_000);
        w.ping_client(false);
    }
    w.cut = false;
    w.steady(1_000);
    w.ping_client(true);
    w.steady(AFTER);
}

pub(crate) fn pings_lost(w: &mut World) {
    pings_lost_then(w, false);
}

pub(crate) fn pings_in_fragments_lost(w: &mut World) {
    pings_lost_then(w, true);
}

#[test]
fn the_form_of_what_is_lost_is_told() {
    let answer = |play: fn(&mut World), with_keys: bool| {
        let mut w = World::new();
        play(&mut w);
        answer_lines(&analyze_world(w, with_keys))
    };
    let line = |play: fn(&mut World), with_keys: bool| answer(play, with_keys).headline;
    let compressed = answer(compressed_packets_never_pass, true);
    assert!(
        compressed.headline.starts_with("Compressed packets"),
        "{compressed:?}"
    );
    assert!(compressed.change.contains("IPComp"), "{compressed:?}");
    for other in [large_packets_never_pass, large_compressed_packets_lost] {
        let line = line(other, true);
        assert!(line.starts_with("Large packets"), "{line}");
    }
    for keys in [true, false] {
        let small = answer(small_packets_never_pass, keys);
        assert!(small.why.contains("No MTU is so small"), "{keys}: {small:?}");
    }
    let cut = answer(large_segments_cut, true);
    assert!(cut.headline.starts_with("Packets of "), "{cut:?}");
    assert!(cut.why.contains("cut them by itself to 1,000"), "{cut:?}");
    let [cut, whole] = [pings_in_fragments_lost, pings_lost].map(|play| line(play, true));
    assert!(cut.starts_with("Fragmented pings got no reply from"), "{cut}");
    assert!(whole.starts_with("Pings got no reply from"), "{whole}");
}

pub(crate) fn nothing_passes_any_more(w: &mut World) {
    small_answers_only(w, false);
}

/// The server sends nothing for a while behind a small answer, then full-sized segments.
pub(crate) fn server_stalls(w: &mut World) {
    w.establish(GENEROUS);
    let whole = std::mem::replace(&mut w.segment_len, 100);
    w.steady(BEFORE);
    w.acknowledge_all();
    for _ in 0..10 {
        w.wait(1_000);
        w.ping_client(true);
    }
    w.segment_len = whole;
    w.steady(AFTER);
}

/// The client does not take the new SA for a while. Replies to its own echoes come on that SA, too, and it hears none.
pub(crate) fn replies_on_the_new_sa(w: &mut World) {
    w.steady(BEFORE);
    let rekey = w.agree_v2(true, 30);
    w.switch_down_v2(&rekey);
    w.go_deaf(WINDOW);
    for wait in TIMEOUTS {
        w.repeat_oldest(&[wait]);
        w.ping();
    }
    w.switch_up_v2(&rekey);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The client has no room for a while, and says so to each byte that asks for it.
pub(crate) fn receiver_full(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(100);
    let (whole, next) = (std::mem::replace(&mut w.segment_len, 1), w.seq);
    for wait in TIMEOUTS {
        w.ack(w.expected, 0);
        w.wait(wait);
        w.resend(next);
        w.wait(20);
    }
    w.segment_len = whole;
    w.ack(w.expected, 0xffff);
    w.steady(AFTER);
}

/// After a failover the server goes on with a counter of before: the client takes nothing until the old number is passed.
pub(crate) fn counter_goes_back(w: &mut World) {
    w.steady(BEFORE);
    w.down.sequence -= WINDOW + TIMEOUTS.len() as u32;
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The numbers of the server's SA end so many before the last one, and it sends nothing until the client renews.
fn numbers_end(w: &mut World, before: u32) {
    let last = u32::MAX - before;
    w.down.sequence = last - 6_000;
    while w.down.sequence < last {
        w.segment();
        w.step(w.tick);
    }
    w.acknowledge_all();
    w.wait(700);
    rekey_in_silence(w);
    w.steady(AFTER);
}

pub(crate) fn numbers_used_up(w: &mut World) {
    numbers_end(w, 0);
}

pub(crate) fn numbers_left(w: &mut World) {
    numbers_end(w, 100);
}

/// Data is lost again and again, and echoes pass.
fn lose_beside_pings(w: &mut World) {
    w.go_deaf(WINDOW);
    for wait in TIMEOUTS {
        w.repeat_oldest(&[wait]);
        w.ping_client(true);
    }
}

/// Large packets of the server come with a wrong ICV, and echoes pass.
pub(crate) fn large_packets_damaged(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.damaged = true;
    lose_beside_pings(w);
    w.damaged = false;
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// One packet is damaged now and then, and its copy arrives.
pub(crate) fn packets_damaged_now_and_then(w: &mut World) {
    w.establish(GENEROUS);
    for _ in 0..5 {
        w.steady(2_000);
        w.damaged = true;
        let lost = w.seq;
        w.lost_segment();
        w.damaged = false;
        w.steady(60);
        w.resend(lost);
        w.deliver();
    }
    w.steady(AFTER);
}

/// Something behind the tunnel drops the server's connection, whatever size its packets have. Echoes pass.
pub(crate) fn connection_dropped(w: &mut World) {
    w.steady(BEFORE);
    w.ping();
    w.acknowledge_all();
    let whole = std::mem::replace(&mut w.segment_len, 16);
    w.lost_segment();
    w.segment_len = whole;
    lose_beside_pings(w);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// Behind a filter that lets only the first fragments of the server pass, small packets pass.
pub(crate) fn later_fragments_dropped(w: &mut World) {
    w.mtu = Some(1_300);
    w.steady(BEFORE);
    w.ping();
    w.rest_dropped = Some([10, 9, 0, 1]);
    lose_beside_pings(w);
    w.rest_dropped = None;
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// No later fragment of the server ever comes, and those of an upload before do.
pub(crate) fn later_fragments_never_come(w: &mut World) {
    w.mtu = Some(1_300);
    w.rest_dropped = Some([10, 9, 0, 1]);
    (w.download, w.upload) = (false, true);
    w.steady(BEFORE);
    (w.download, w.upload) = (true, false);
    w.ping();
    lose_beside_pings(w);
}

/// A full queue takes four of the server's echo requests, and the data beside them is acknowledged.
pub(crate) fn echoes_lost_beside_data(w: &mut World) {
    w.steady(BEFORE);
    w.ping_client(true);
    for _ in 0..4 {
        w.steady(1_000);
        w.ping_client(false);
    }
    w.steady(1_000);
    w.ping_client(true);
    w.steady(AFTER);
}

/// The capture misses later fragments, a few now and then, and the transfer goes on.
pub(crate) fn later_fragments_not_captured(w: &mut World) {
    w.mtu = Some(1_300);
    for _ in 0..5 {
        w.steady(1_000);
        w.ping();
        w.rest_dropped = Some([10, 9, 0, 1]);
        w.steady(10);
        w.rest_dropped = None;
    }
    w.steady(AFTER);
}

/// The first packets of a new SA are missing in the capture; they were acknowledged.
pub(crate) fn first_packets_not_captured(w: &mut World) {
    for _ in 0..2 {
        let mut qm = begin(w);
        exchange(w, &mut qm);
        w.switch_up(&qm);
        w.switch_down(&qm);
        w.blind = true;
        w.steady(1_000);
        w.blind = false;
        w.steady(AFTER);
    }
}

/// The client goes elsewhere; the server sends to the old address until it hears from the new one.
fn client_moves(w: &mut World, silent: bool) {
    let (old, new) = (w.client, [10, 9, 0, 22]);
    w.steady(BEFORE);
    if silent {
        w.go_deaf(WINDOW);
        w.client = new;
        w.lcp(true, 9);
        w.client = old;
        w.repeat_oldest(&TIMEOUTS);
        w.client = new;
        resend_lost(w, WINDOW);
    }
    w.client = new;
    w.steady(AFTER);
}

pub(crate) fn client_moves_unnoticed(w: &mut World) {
    client_moves(w, true);
}

pub(crate) fn client_moves_at_once(w: &mut World) {
    client_moves(w, false);
}

/// The renewal is under way when data stops on the old SA, far below its limit.
pub(crate) fn renewal_too_slow(w: &mut World) {
    let mut qm = begin(w);
    w.message(&mut qm);
    w.steady(30);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS[..3]);
    w.message(&mut qm);
    w.wait(20);
    w.message(&mut qm);
    w.switch_up(&qm);
    w.switch_down(&qm);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The client's acknowledgements pass the capture and do not reach the server, which repeats what they acknowledge. Gives what it repeats.
fn repeat_the_acknowledged(w: &mut World, beside: fn(&mut World)) -> u32 {
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(100);
    let unheard = w.seq;
    w.steady(40);
    w.acknowledge_all();
    for wait in TIMEOUTS {
        w.wait(wait);
        w.resend(unheard);
        w.acknowledge_all();
        beside(w);
    }
    unheard
}

pub(crate) fn acknowledgements_unheard(w: &mut World) {
    repeat_the_acknowledged(w, |w| w.wait(40));
    w.steady(AFTER);
}

/// Packets of the client come to the capture and not to the server; a new SA does not help.
pub(crate) fn lost_behind_the_capture_and_renewed(w: &mut World) {
    let unheard = repeat_the_acknowledged(w, |w| w.ping_server(false));
    w.take_new_sas_v2();
    for _ in 0..5 {
        w.ping_server(false);
        w.wait(2_000);
        w.resend(unheard);
        w.acknowledge_all();
    }
}

/// The client drops its SA without a word, and answers checks; it asks for a new one when it has data.
fn drops_its_sa(w: &mut World) {
    no_esp_of_the_client(w, true);
    w.take_new_sas_v2();
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

#[test]
fn an_sa_that_its_sender_dropped_is_made_anew() {
    for (play, is_told) in [(drops_its_sa as fn(&mut World), true), (only_ike_comes, false)] {
        let lines = with_keys(play);
        assert!(
            lines.headline.starts_with("ESP of the client stopped"),
            "{lines:?}"
        );
        assert_eq!(lines.why.contains("under the same IKE SA"), is_told, "{lines:?}");
        assert!(!lines.why.contains("NAT"), "{lines:?}");
    }
}

#[test]
fn a_new_sa_is_not_what_a_way_that_was_closed_before_lacks() {
    let lines = with_keys(lost_behind_the_capture_and_renewed);
    assert!(
        lines
            .headline
            .starts_with("Packets of the client stopped arriving"),
        "{lines:?}"
    );
    let lines = with_keys(super::failure::initiator_not_ready);
    assert!(!lines.headline.contains("stopped arriving"), "{lines:?}");
}

#[test]
fn a_peer_that_comes_back_when_it_has_been_given_up() {
    let lines = with_keys(given_up_while_away);
    assert!(
        lines.headline.starts_with("The gateway did not answer checks"),
        "{lines:?}"
    );
    assert!(
        lines.why.contains("so the client gave the gateway up"),
        "{lines:?}"
    );
}

/// The client answers checks and sends no ESP any more; the answers are all that differs from an end that is gone.
fn no_esp_of_the_client(w: &mut World, answers: bool) {
    w.steady(BEFORE);
    w.go_deaf(WINDOW);
    for wait in TIMEOUTS {
        w.repeat_oldest(&[wait]);
        if answers {
            w.check_v2(false);
        }
    }
}

pub(crate) fn only_ike_comes(w: &mut World) {
    no_esp_of_the_client(w, true);
}

pub(crate) fn nothing_comes(w: &mut World) {
    no_esp_of_the_client(w, false);
}

/// A filter lets nothing pass that the client sends on its new SA, and what it sends on the next one.
pub(crate) fn silent_on_the_new_sa(w: &mut World) {
    let renew = |w: &mut World| {
        let mut rekey = w.begin_v2(true);
        w.message_v2(&mut rekey);
        w.wait(20);
        w.message_v2(&mut rekey);
        w.switch_up_v2(&rekey);
        w.switch_down_v2(&rekey);
    };
    w.steady(BEFORE);
    let oldest = w.expected;
    renew(w);
    for _ in 0..WINDOW {
        w.segment();
        w.drop_acks();
        w.step(w.tick);
    }
    for wait in TIMEOUTS {
        w.wait(wait);
        w.resend(oldest);
    }
    w.check_v2(true);
    w.wait(500);
    renew(w);
    w.ack(w.expected, 0xffff);
    w.steady(AFTER);
}

/// The server disconnects the L2TP call; the client dials again, under the same SAs.
pub(crate) fn l2tp_call_cleared(w: &mut World) {
    w.steady(BEFORE);
    w.acknowledge_all();
    w.l2tp_control(false, Some(14));
    w.wait(2_000);
    w.steady(AFTER);
}

/// Five packets come twenty packets late, inside a replay window of 32, and are acknowledged.
pub(crate) fn shallow_reordering(w: &mut World) {
    overtaken(w, 20);
    w.deliver();
    w.steady(AFTER);
}

/// A download dies; an upload beside it goes on both ways, so nobody is silent.
pub(crate) fn one_of_two_transfers_dies(w: &mut World) {
    w.upload = true;
    w.steady(BEFORE);
    w.go_deaf(WINDOW);
    w.download = false;
    let oldest = w.expected;
    for wait in TIMEOUTS {
        w.steady(wait);
        w.resend(oldest);
    }
    resend_lost(w, WINDOW);
    w.download = true;
    w.steady(AFTER);
}

/// The initiator asks again while data goes on, and hears the answer to the third copy.
pub(crate) fn answer_lost_without_loss(w: &mut World) {
    w.steady(BEFORE);
    let rekey = w.agree_v2(true, 30);
    for wait in [4_000, 7_000] {
        w.steady(wait);
        w.repeat_v2(&rekey, 0);
        w.repeat_v2(&rekey, 1);
    }
    w.switch_up_v2(&rekey);
    w.switch_down_v2(&rekey);
    w.steady(AFTER);
}

/// The server refuses the group that the client offers first, and grants the one that it offers next (RFC 7296 §1.3).
pub(crate) fn granted_with_another_group(w: &mut World) {
    const INVALID_KE_PAYLOAD: u16 = 17;
    w.steady(BEFORE);
    let mut first = w.begin_v2(true);
    w.message_v2(&mut first);
    w.steady(30);
    w.refuse_v2(&mut first, INVALID_KE_PAYLOAD);
    w.steady(20);
    let mut second = w.begin_v2(true);
    second.key_exchange = true;
    w.message_v2(&mut second);
    w.steady(30);
    w.message_v2(&mut second);
    w.switch_up_v2(&second);
    w.switch_down_v2(&second);
    w.steady(AFTER);
}

/// A call beside the download: it ends both ways with the switch to a new SA, or goes on upon that one and ends 100 ms later.
fn call_until(w: &mut World, behind_the_switch: u64) {
    const HOST: [u8; 4] = [10, 66, 1, 9];
    let talk = |w: &mut World, millis: u64| {
        for _ in 0..millis / 20 {
            w.talk(HOST);
            w.steady(20);
        }
    };
    talk(w, BEFORE);
    let mut rekey = w.begin_v2(true);
    w.message_v2(&mut rekey);
    talk(w, 20);
    w.message_v2(&mut rekey);
    let old = [w.down.spi, w.up.spi];
    w.switch_up_v2(&rekey);
    w.switch_down_v2(&rekey);
    talk(w, behind_the_switch);
    w.delete_v2(true, old[0], old[1]);
    w.steady(AFTER);
}

pub(crate) fn host_left_out(w: &mut World) {
    call_until(w, 0);
}

pub(crate) fn call_ends_behind_the_switch(w: &mut World) {
    call_until(w, 100);
}

/// Two clients ask whether a host lives; the server answers the one whose new SA came last. Each turn lasts 4 s.
fn answered_in_turns(w: &mut World, turns: usize) {
    let mut second = World::new();
    second.client = [10, 9, 0, 3];
    second.name_pair(0xd700_0003, 0xa700_0003);
    second.begin_ike_sa(3);
    let ask = |w: &mut World, answered: bool, seconds: u64| {
        for _ in 0..4 * seconds {
            w.ping_server(answered);
            w.wait(250);
        }
    };
    let renew = |w: &mut World| {
        let rekey = w.make_v2(true);
        w.switch_up_v2(&rekey);
        w.switch_down_v2(&rekey);
    };
    ask(w, true, BEFORE / 1_000);
    second.now = w.now;
    for turn in 0..turns {
        let (served, other) = if turn % 2 == 0 {
            (&mut second, &mut *w)
        } else {
            (&mut *w, &mut second)
        };
        renew(served);
        ask(served, true, 4);
        ask(other, false, 4);
        served.now = served.now.max(other.now);
        other.now = served.now;
    }
    w.beside(second);
}

/// A second client behind the same NAT dials in, and from then on the server's data for the first one comes on the SA of the second one; or both
/// directions of its connection do, and go on. `comes_back`: the data of the first one does, into its own tunnel.
fn data_in_another_tunnel(w: &mut World, both_ways: bool, comes_back: bool) {
    w.nat_port = Some(40_001);
    w.steady(BEFORE);
    let mut second = World::new();
    second.nat_port = Some(40_002);
    second.name_pair(0xd700_0004, 0xa700_0004);
    second.begin_ike_sa(4);
    second.now = w.now;
    second.seq = w.seq;
    if both_ways {
        second.expected = w.expected;
        w.wait(20);
        second.steady(AFTER);
    } else {
        for _ in 0..WINDOW {
            second.lost_segment();
        }
        w.wait(20);
        for wait in TIMEOUTS {
            w.ping_server(false);
            w.wait(wait);
            second.now = w.now;
            second.resend(w.seq);
        }
        second.inner_client = [10, 66, 0, 3];
        w.now = second.now;
        second.steady(AFTER);
        w.ping_server(false);
        if comes_back {
            resend_lost(w, WINDOW);
            w.steady(AFTER);
        }
    }
    w.beside(second);
}

pub(crate) fn data_in_the_tunnel_of_another(w: &mut World) {
    data_in_another_tunnel(w, false, false);
}

pub(crate) fn data_back_from_the_tunnel_of_another(w: &mut World) {
    data_in_another_tunnel(w, false, true);
}

/// The server deletes the IKE SA, and soon after that both directions of the connection go on in another tunnel of the same client.
pub(crate) fn deleted_and_replaced(w: &mut World) {
    w.nat_port = Some(40_001);
    w.steady(BEFORE);
    w.check_v2(true);
    w.steady(BEFORE);
    let mut second = World::new();
    second.nat_port = Some(40_002);
    second.name_pair(0xd700_0006, 0xa700_0006);
    second.begin_ike_sa(6);
    w.go_deaf(WINDOW);
    w.delete_ike_sa_v2(false);
    w.repeat_oldest(&TIMEOUTS[..3]);
    (second.now, second.seq, second.expected) = (w.now, w.seq, w.expected);
    resend_lost(&mut second, WINDOW);
    second.steady(AFTER);
    w.beside(second);
}

/// A client stops to answer at the moment when another one, at another address, begins its transfer with the same server.
pub(crate) fn silent_as_another_begins(w: &mut World) {
    let mut second = World::new();
    second.client = [10, 9, 0, 3];
    second.name_pair(0xd700_0005, 0xa700_0005);
    second.begin_ike_sa(5);
    w.steady(BEFORE);
    second.now = w.now;
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS);
    second.steady(AFTER);
    w.beside(second);
}

pub(crate) fn tunnel_replaced(w: &mut World) {
    data_in_another_tunnel(w, true, false);
}

/// A call with a host behind the server. The client falls silent twice and goes on with its next packet: a rekey lies at the begin of the second time.
/// If `lost` holds, the packets of the first time are lost before the capture.
fn call(w: &mut World, lost: bool) {
    const HOST: [u8; 4] = [10, 66, 1, 9];
    let hear = |w: &mut World, millis: u64| {
        for _ in 0..millis / 20 {
            w.hear(HOST);
            w.wait(20);
        }
    };
    let talk = |w: &mut World| {
        for _ in 0..BEFORE / 20 {
            w.talk(HOST);
            w.wait(20);
        }
    };
    talk(w);
    hear(w, 4_000);
    w.up.sequence += if lost { 200 } else { 0 };
    talk(w);
    let mut rekey = w.begin_v2(true);
    w.message_v2(&mut rekey);
    w.wait(20);
    w.message_v2(&mut rekey);
    let old = [w.down.spi, w.up.spi];
    w.switch_down_v2(&rekey);
    hear(w, 100);
    w.delete_v2(true, old[0], old[1]);
    hear(w, 4_000);
    w.switch_up_v2(&rekey);
    talk(w);
}

pub(crate) fn one_side_of_a_call_pauses(w: &mut World) {
    call(w, false);
}

pub(crate) fn one_side_of_a_call_lost(w: &mut World) {
    call(w, true);
}

pub(crate) fn served_by_turns(w: &mut World) {
    answered_in_turns(w, 4);
}

pub(crate) fn silent_as_another_dials_in(w: &mut World) {
    answered_in_turns(w, 1);
}
