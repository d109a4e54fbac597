//! Rekeys that fail, and SAs that die.

use super::answers::with_keys;
use super::steps::{AFTER, BEFORE, GENEROUS, begin, exchange, rekey_in_silence, resend_lost, switch};
use rekeyscope_testkit::scenario::World;

/// Numbers of notifications (RFC 2408 §3.14.1, RFC 7296 §3.10.1).
const NO_PROPOSAL_CHOSEN: u16 = 14;
const TEMPORARY_FAILURE: u16 = 43;
/// Doubling timeouts of the sender, milliseconds: 12.7 s in all.
const TIMEOUTS: [u64; 6] = [200, 400, 800, 1_600, 3_200, 6_500];
/// Segments that are lost before the window is full.
const WINDOW: u32 = 100;

/// The SA goes on for 2 s after its renewal was refused, and dies.
fn dies_later(w: &mut World) {
    w.steady(2_000);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS);
}

pub(crate) fn refused_v2(w: &mut World) {
    w.steady(BEFORE);
    let mut rekey = w.begin_v2(true);
    rekey.key_exchange = true;
    w.message_v2(&mut rekey);
    w.steady(30);
    w.refuse_v2(&mut rekey, NO_PROPOSAL_CHOSEN);
    dies_later(w);
}

pub(crate) fn refused(w: &mut World) {
    let mut qm = begin(w);
    w.message(&mut qm);
    w.steady(30);
    w.refuse(&qm, NO_PROPOSAL_CHOSEN, false);
    dies_later(w);
}

pub(crate) fn refused_by_message_id(w: &mut World) {
    let mut qm = begin(w);
    w.message(&mut qm);
    w.steady(30);
    w.refuse(&qm, NO_PROPOSAL_CHOSEN, true);
    dies_later(w);
}

/// The tunnel fails open: the data goes on without it.
pub(crate) fn refused_and_open(w: &mut World) {
    goes_on_in_clear(w, false);
}

/// The tunnel fails open, and GRE that it protected goes on alone.
pub(crate) fn refused_and_open_gre(w: &mut World) {
    goes_on_in_clear(w, true);
}

fn goes_on_in_clear(w: &mut World, in_gre: bool) {
    refused_v2(w);
    for _ in 0..5 {
        w.wait(1_000);
        w.send_in_clear(in_gre);
    }
}

pub(crate) fn unanswered(w: &mut World) {
    let mut qm = begin(w);
    w.message(&mut qm);
    for wait in [1_000, 2_000] {
        w.steady(wait);
        w.repeat(&qm, 0);
    }
    dies_later(w);
}

/// Copies of the server's request get no answer, though ESP of the client comes all the time. The server falls silent so long after the last one.
fn silent_behind_its_request(w: &mut World, millis: u64) {
    let goes_on = |w: &mut World, millis: u64| {
        for _ in 0..millis / 1_000 {
            w.ping();
            w.steady(1_000);
        }
    };
    w.check_v2(true);
    goes_on(w, BEFORE);
    let mut rekey = w.begin_v2(false);
    w.message_v2(&mut rekey);
    for wait in [5_000, 10_000, 20_000] {
        goes_on(w, wait);
        w.repeat_v2(&rekey, 0);
    }
    goes_on(w, millis);
    w.acknowledge_all();
    for _ in 0..20 {
        w.ping_server(false);
        w.wait(1_000);
    }
    w.download = false;
    w.sa_init_v2();
    w.download = true;
    w.take_new_sas_v2();
    w.steady(AFTER);
}

pub(crate) fn renewal_given_up(w: &mut World) {
    silent_behind_its_request(w, 40_000);
}

pub(crate) fn silent_long_after_a_request(w: &mut World) {
    silent_behind_its_request(w, 60_000);
}

#[test]
fn a_renewal_that_is_given_up_ends_the_tunnel() {
    let lines = with_keys(renewal_given_up);
    assert!(lines.headline.contains("did not answer the renewal"), "{lines:?}");
    assert!(lines.why.contains("had given up"), "{lines:?}");
    let lines = with_keys(silent_long_after_a_request);
    assert!(lines.headline.contains("fell silent"), "{lines:?}");
}

/// The answer comes to the fourth request, when the SA is long dead.
pub(crate) fn answered_late(w: &mut World) {
    let mut qm = begin(w);
    w.message(&mut qm);
    w.steady(500);
    w.go_deaf(WINDOW);
    for wait in [500, 1_500, 3_000] {
        w.repeat_oldest(&[wait]);
        w.repeat(&qm, 0);
    }
    w.wait(30);
    w.message(&mut qm);
    w.wait(20);
    w.message(&mut qm);
    w.wait(20);
    w.switch_up(&qm);
    w.switch_down(&qm);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The client drops its SA at 6,000 kB; the new one is asked for 12 s later.
pub(crate) fn limit_without_rekey(w: &mut World) {
    w.establish(6_000);
    while w.carried()[0].inner < 6_000_000 {
        w.steady(2);
    }
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS);
    rekey_in_silence(w);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

pub(crate) fn break_before_make(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(40);
    w.delete(w.down.spi);
    w.wait(500);
    rekey_in_silence(w);
    w.steady(AFTER);
}

/// The client loses its inbound SA five seconds after a rekey; the next rekey heals it.
pub(crate) fn blackhole_after_rekey(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(5_000);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS[..5]);
    w.wait(500);
    rekey_in_silence(w);
    resend_lost(w, WINDOW);
    w.steady(AFTER);
}

/// The server dies; nobody asks for a rekey, but dead peer detection asks for the peer.
pub(crate) fn dpd_unanswered(w: &mut World) {
    w.steady(BEFORE);
    w.go_deaf(WINDOW);
    w.repeat_oldest(&TIMEOUTS[..3]);
    w.check_in_vain_v2(4, 4_000, World::wait);
}

/// The server dies; everything it had sent has arrived. The client had said a word long before, and had been asked for nothing since.
pub(crate) fn sender_dies(w: &mut World) {
    w.upload_segment();
    w.upload_segment();
    w.steady(BEFORE);
    w.renew_v2(true);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.check_in_vain_v2(4, 4_000, World::wait);
}

/// Four times refused within 4 s, then it works.
pub(crate) fn rekey_storm(w: &mut World) {
    w.steady(BEFORE);
    for _ in 0..4 {
        let mut rekey = w.begin_v2(true);
        w.message_v2(&mut rekey);
        w.steady(30);
        w.refuse_v2(&mut rekey, TEMPORARY_FAILURE);
        w.steady(970);
    }
    w.renew_v2(true);
    w.steady(AFTER);
}

/// The server answers and sends on the new SA at once; the client installs it only later.
pub(crate) fn initiator_not_ready(w: &mut World) {
    w.steady(BEFORE);
    let rekey = w.agree_v2(true, 30);
    w.switch_down_v2(&rekey);
    super::steps::lose_until_timeout(w, 8, 300);
    w.switch_up_v2(&rekey);
    resend_lost(w, 8);
    w.steady(AFTER);
}
