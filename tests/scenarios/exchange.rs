//! What goes wrong, or slowly, in the messages of an exchange.

use super::steps::{AFTER, BEFORE, GENEROUS, begin, exchange, lose_until_timeout, resend_lost, switch};
use rekeyscope_testkit::scenario::{QuickMode, World};

/// The client sends on an SA that the server lacks: its acknowledgements, of what the server repeats too where `answers`, are not
/// heard, until the server's second message, repeated too, brings the third one again. Returns the first byte that is unheard.
fn unheard_until_repeated(w: &mut World, answers: bool) -> (QuickMode, u32) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.switch_up(&qm);
    let unheard = w.seq;
    w.steady(60);
    for wait in [300, 600, 1_200] {
        w.wait(wait);
        w.resend(unheard);
        if answers {
            w.acknowledge_all();
        }
    }
    w.repeat(&qm, 1);
    w.wait(20);
    w.repeat(&qm, 2);
    (qm, unheard)
}

/// The server has both new SAs when it has the third message.
pub(crate) fn third_message_lost(w: &mut World) {
    let (qm, unheard) = unheard_until_repeated(w, false);
    w.switch_down(&qm);
    w.resend(unheard);
    w.steady(AFTER);
}

/// It has them a moment before it sends on them: what the client hears first goes on the old one.
pub(crate) fn heard_on_the_old_sa(w: &mut World) {
    let (qm, unheard) = unheard_until_repeated(w, true);
    w.wait(20);
    w.resend(unheard);
    w.acknowledge_all();
    w.wait(40);
    w.switch_down(&qm);
    w.steady(AFTER);
}

/// The server initiates and sends on the new SA at once; the client installs it only later.
pub(crate) fn data_overtakes(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    let mut qm = w.begin(false);
    exchange(w, &mut qm);
    w.switch_down(&qm);
    lose_until_timeout(w, 8, 300);
    w.switch_up(&qm);
    resend_lost(w, 8);
    w.steady(AFTER);
}

pub(crate) fn first_message_repeated(w: &mut World) {
    let mut qm = begin(w);
    w.message(&mut qm);
    w.steady(1_000);
    w.repeat(&qm, 0);
    w.steady(30);
    w.message(&mut qm);
    w.steady(20);
    w.message(&mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}

/// Both sides ask at once, and both are answered: the Quick Modes of the client and of the server.
pub(crate) fn both_ask(w: &mut World) -> (QuickMode, QuickMode) {
    let mut ours = begin(w);
    let mut theirs = w.begin(false);
    w.message(&mut ours);
    w.steady(4);
    w.message(&mut theirs);
    w.steady(26);
    w.message(&mut ours);
    w.message(&mut theirs);
    w.steady(20);
    w.message(&mut ours);
    w.message(&mut theirs);
    (ours, theirs)
}

/// Both exchanges succeed, and the pairs are used one after the other.
pub(crate) fn collision(w: &mut World) {
    let (ours, theirs) = both_ask(w);
    switch(w, &ours);
    w.steady(100);
    switch(w, &theirs);
    w.steady(AFTER);
}

/// The client computes for 0.8 s and does nothing else: acknowledgements wait, nothing is lost.
pub(crate) fn slow_key_exchange(w: &mut World) {
    let mut qm = begin(w);
    qm.key_exchange = true;
    w.message(&mut qm);
    w.steady(30);
    w.message(&mut qm);
    let held = w.drop_acks();
    w.steady(60);
    let late = w.drop_acks();
    w.wait(740);
    for (_, ack) in held.into_iter().chain(late) {
        w.ack(ack, 0xffff);
    }
    w.message(&mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}

/// The client computes for 0.8 s, and its SA goes on meanwhile.
pub(crate) fn slow_key_exchange_alone(w: &mut World) {
    let mut qm = begin(w);
    qm.key_exchange = true;
    for computed in [30, 800, 30] {
        w.message(&mut qm);
        w.steady(computed);
    }
    switch(w, &qm);
    w.steady(AFTER);
}

pub(crate) fn phase_1_renewed(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.main_mode();
    let mut qm = w.begin(true);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}
