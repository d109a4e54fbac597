//! An SA, a network or an address that one end alone knows, each planted beside one that looks like it.

use super::answers::{with_keys, without_keys};
use super::steps::{AFTER, BEFORE, lose_until_timeout, resend_lost};
use rekeyscope_testkit::scenario::World;
use std::ops::Range;

/// Another address of the server.
const OTHER_LINE: [u8; 4] = [10, 9, 1, 1];

/// A call: a packet every 20 ms each way.
fn call(w: &mut World, millis: u64) {
    (w.tick, w.segment_len, w.upload) = (20_000_000, 172, true);
    w.datagrams(millis);
}

/// A second pair beside the first, which the server takes into use, and so does the client where it is told to. The client deletes it, and the
/// server sends on.
fn duplicate(w: &mut World, client_uses_it: bool, deletes: bool) {
    w.check_v2(true);
    call(w, BEFORE);
    let (second, first) = (w.make_v2(false), w.up);
    w.switch_down_v2(&second);
    if client_uses_it {
        w.switch_up_v2(&second);
    }
    call(w, 4_000);
    if deletes {
        w.delete_v2(true, second.down, second.up);
    }
    w.up = first;
    call(w, BEFORE);
    w.check_v2(true);
    call(w, BEFORE);
}

pub(crate) fn sent_on_upon_a_deleted_sa(w: &mut World) {
    duplicate(w, false, true);
}

pub(crate) fn back_to_the_older_sa(w: &mut World) {
    duplicate(w, true, false);
}

/// The client renews and deletes; the server sends on the old SA for so long.
fn drains(w: &mut World, millis: u64) {
    call(w, BEFORE);
    let old = [w.down.spi, w.up.spi];
    let mut renewed = w.begin_v2(true);
    w.message_v2(&mut renewed);
    call(w, 40);
    w.message_v2(&mut renewed);
    w.switch_up_v2(&renewed);
    w.delete_v2(true, old[0], old[1]);
    call(w, millis);
    w.switch_down_v2(&renewed);
    call(w, BEFORE);
}

pub(crate) fn old_sa_drains(w: &mut World) {
    drains(w, 3_000);
}

/// The client makes a new pair and sends on it alone; the server goes on upon the old one, which the client still takes, or has dropped.
fn stays_on_the_old_sa(w: &mut World, dropped: bool) {
    w.steady(BEFORE);
    w.check_v2(true);
    let lost = if dropped { 100 } else { 0 };
    w.go_deaf(lost);
    let new = w.make_v2(true);
    w.switch_up_v2(&new);
    for wait in [200, 400, 800, 1_600, 3_200, 6_400] {
        w.ping();
        if dropped {
            w.repeat_oldest(&[wait]);
        } else {
            w.steady(wait);
        }
        w.check_v2(true);
    }
    w.switch_down_v2(&new);
    resend_lost(w, lost);
    w.steady(AFTER);
}

pub(crate) fn old_sa_dropped(w: &mut World) {
    stays_on_the_old_sa(w, true);
}

pub(crate) fn old_sa_used_on(w: &mut World) {
    stays_on_the_old_sa(w, false);
}

/// The client asks for a new SA, on which the server sends at once, and goes on upon the old one: it takes nothing of what comes.
pub(crate) fn asked_and_not_taken(w: &mut World) {
    w.steady(BEFORE);
    let rekey = w.agree_v2(true, 30);
    w.switch_down_v2(&rekey);
    w.go_deaf(100);
    for wait in [200, 400, 800, 1_600, 3_200, 6_400] {
        w.ping();
        w.repeat_oldest(&[wait]);
        w.check_v2(true);
    }
    w.take_new_sas_v2();
    resend_lost(w, 100);
    w.steady(AFTER);
}

#[test]
fn who_asks_for_an_sa_and_does_not_take_it() {
    let lines = with_keys(asked_and_not_taken);
    let said = "The client probably did not take its new SA";
    assert!(lines.headline.starts_with(said), "{lines:?}");
    assert!(lines.change.contains("let the gateway begin"), "{lines:?}");
    let lines = with_keys(super::failure::initiator_not_ready);
    assert!(!lines.headline.contains("did not take"), "{lines:?}");
}

/// The client renews and sends on the new pair. The server goes on upon the old one for a while, which the client takes, or has dropped.
fn switches_late(w: &mut World, dropped: bool) {
    w.steady(BEFORE);
    let lost = if dropped { 100 } else { 0 };
    let new = w.agree_v2(true, 30);
    w.go_deaf(lost);
    w.switch_up_v2(&new);
    for wait in [200, 400, 800, 1_600] {
        w.ping();
        match dropped {
            true => w.repeat_oldest(&[wait]),
            false => w.steady(wait),
        }
    }
    w.switch_down_v2(&new);
    resend_lost(w, lost);
    w.steady(AFTER);
}

pub(crate) fn dropped_at_the_renewal(w: &mut World) {
    switches_late(w, true);
}

pub(crate) fn old_sa_taken_behind_the_renewal(w: &mut World) {
    switches_late(w, false);
}

#[test]
fn an_old_sa_that_its_receiver_drops_at_the_renewal() {
    let lines = with_keys(dropped_at_the_renewal);
    assert!(lines.why.contains("dropped it as soon as"), "{lines:?}");
    assert!(lines.change.contains("`delete_rekeyed_delay`"), "{lines:?}");
    let lines = with_keys(old_sa_taken_behind_the_renewal);
    assert!(!lines.why.contains("dropped"), "{lines:?}");
}

/// Two calls through two pairs of SAs, the first one again behind the second.
pub(crate) fn calls_through_two_pairs(w: &mut World) {
    w.check_v2(true);
    call(w, BEFORE);
    let first = (w.down, w.up);
    let second = w.make_v2(true);
    w.switch_down_v2(&second);
    w.switch_up_v2(&second);
    call(w, BEFORE);
    (w.down, w.up) = first;
    call(w, BEFORE);
}

const HOSTS: [[u8; 4]; 2] = [[10, 66, 0, 2], [10, 66, 0, 3]];

/// Hosts of two networks ask by turns; each time the client makes a new pair for the one that asks, and the server deletes the other one's.
pub(crate) fn networks_by_turns(w: &mut World) {
    w.check_v2(true);
    for turn in 0..6 {
        w.inner_client = HOSTS[turn % 2];
        let old = [w.down.spi, w.up.spi];
        let pair = w.make_v2(true);
        w.switch_up_v2(&pair);
        w.switch_down_v2(&pair);
        if turn > 0 {
            w.delete_v2(false, old[1], old[0]);
        }
        for _ in 0..4 {
            w.ping();
            w.wait(1_000);
        }
    }
}

/// Each network has a pair of SAs of its own. The pairs are renewed by turns, and none ends another one.
pub(crate) fn networks_side_by_side(w: &mut World) {
    w.check_v2(true);
    w.download = false;
    let first = (w.down, w.up);
    w.take_new_sas_v2();
    let mut pairs = [first, (w.down, w.up)];
    for turn in 0..6 {
        for number in 0..8 {
            (w.down, w.up) = pairs[number % 2];
            w.inner_client = HOSTS[number % 2];
            w.ping();
            w.wait(500);
            pairs[number % 2] = (w.down, w.up);
        }
        (w.down, w.up) = pairs[turn % 2];
        let old = [w.down.spi, w.up.spi];
        w.renew_v2(true);
        w.delete_v2(true, old[0], old[1]);
        pairs[turn % 2] = (w.down, w.up);
    }
}

/// Two hosts, each with a pair of its own, the first one's renewed in round 200. The client sends nothing on that for some rounds; the server's host
/// goes on asking in vain, or what it sends asks for no answer.
fn one_sa_stops(w: &mut World, asked: bool, silent: Range<u32>) {
    w.check_v2(true);
    w.download = false;
    let first = (w.down, w.up);
    w.take_new_sas_v2();
    let mut pairs = [first, (w.down, w.up)];
    for number in 0..300 {
        for (host, pair) in pairs.iter_mut().enumerate() {
            (w.down, w.up) = *pair;
            w.inner_client = HOSTS[host];
            let is_silent = host == 0 && silent.contains(&number);
            if host == 0 && number == 200 {
                let old = [w.down.spi, w.up.spi];
                w.renew_v2(true);
                w.delete_v2(true, old[0], old[1]);
            }
            if is_silent && !asked {
                w.hear([10, 66, 1, 9]);
            } else {
                w.ping_client(!is_silent);
            }
            w.wait(30);
            *pair = (w.down, w.up);
        }
    }
}

pub(crate) fn one_of_two_sas_stops(w: &mut World) {
    one_sa_stops(w, true, 80..200);
}

pub(crate) fn one_of_two_hosts_rests(w: &mut World) {
    one_sa_stops(w, false, 80..230);
}

pub(crate) fn one_of_two_sas_is_dead(w: &mut World) {
    one_sa_stops(w, true, 0..200);
}

pub(crate) fn one_of_two_hosts_is_away(w: &mut World) {
    one_sa_stops(w, true, 0..230);
}

/// All that the server sends, or its ESP, comes from another address than the client sends to; nobody answers its pings.
fn elsewhere(w: &mut World, ike_too: bool) {
    if ike_too {
        w.answers_from = OTHER_LINE;
    }
    w.check_v2(true);
    w.answers_from = OTHER_LINE;
    for _ in 0..10 {
        w.ping();
        w.wait(500);
        w.ping_client(false);
        w.wait(500);
    }
}

pub(crate) fn answered_elsewhere(w: &mut World) {
    elsewhere(w, true);
}

/// The server sends from its other line, from where it comes back when the client sets up another IKE SA. The client, behind NAT, goes on to ask the first
/// line, where it is answered; or nothing is there.
fn sends_from_other_line(w: &mut World, answers: bool) {
    w.nat_port = Some(40_500);
    w.check_v2(true);
    w.steady(BEFORE);
    w.answers_from = OTHER_LINE;
    lose_until_timeout(w, 20, 300);
    w.repeat_oldest(&[300, 600, 1_200]);
    if answers {
        w.check_unheard_v2(5, 2_000);
    } else {
        w.check_in_vain_v2(5, 2_000, World::wait);
    }
    w.answers_from = [10, 9, 0, 1];
    w.download = false;
    w.sa_init_v2();
    w.download = true;
    w.take_new_sas_v2();
    resend_lost(w, 20);
    w.steady(BEFORE);
}

#[test]
fn a_gateway_that_takes_another_source_address_by_itself() {
    for answers in [true, false] {
        let play = |w: &mut World| sends_from_other_line(w, answers);
        for lines in [with_keys(play), without_keys(play)] {
            assert!(
                lines.headline.starts_with("The address of the gateway changed"),
                "{lines:?}"
            );
            assert_eq!(
                lines.change.contains("`charon.interfaces_ignore`"),
                answers,
                "{lines:?}"
            );
        }
    }
}

/// The server moves and says so, and the client follows.
pub(crate) fn server_moves(w: &mut World) {
    let ask = |w: &mut World| {
        for _ in 0..10 {
            w.ping();
            w.wait(500);
            w.ping_client(true);
            w.wait(500);
        }
    };
    w.check_v2(true);
    ask(w);
    w.answers_from = OTHER_LINE;
    w.check_v2(false);
    w.server = OTHER_LINE;
    ask(w);
}

#[test]
fn who_sends_on_upon_an_sa_that_its_receiver_deleted_or_left() {
    for play in [calls_through_two_pairs, old_sa_drains] {
        for lines in [with_keys(play), without_keys(play)] {
            assert!(!lines.headline.contains("SA at"), "{lines:?}");
        }
    }
}

/// Pings of the server go into an SA that the client never took into use, and the client's own go on upon the older one.
#[test]
fn an_sa_on_which_nothing_comes_back() {
    let asks = |answered_behind: bool| {
        move |w: &mut World| {
            w.check_v2(true);
            for number in 0..30 {
                if number == 10 {
                    let second = w.make_v2(false);
                    w.switch_down_v2(&second);
                }
                w.ping();
                w.wait(500);
                w.ping_client(number < 10 || answered_behind);
                w.wait(500);
            }
        }
    };
    let lines = with_keys(asks(false));
    assert!(
        lines
            .headline
            .starts_with("The gateway probably sends on a dead SA"),
        "{lines:?}"
    );
    assert!(lines.why.contains("nothing comes back on the SA"), "{lines:?}");
    let lines = with_keys(asks(true));
    assert!(!lines.headline.contains("dead SA"), "{lines:?}");
}

#[test]
fn an_old_sa_that_its_receiver_has_dropped() {
    for lines in [with_keys(old_sa_dropped), without_keys(old_sa_dropped)] {
        assert!(
            lines
                .headline
                .starts_with("The gateway probably sends on a dead SA at 12."),
            "{lines:?}"
        );
        assert!(
            lines.why.starts_with("Why: the client went over to a newer SA."),
            "{lines:?}"
        );
    }
    for lines in [with_keys(old_sa_used_on), without_keys(old_sa_used_on)] {
        assert!(!lines.headline.contains("SA at"), "{lines:?}");
    }
}

#[test]
fn one_sa_stops_while_the_others_go_on() {
    for (lines, line) in [
        (
            with_keys(one_of_two_sas_stops),
            "One SA of the client stopped at 7.",
        ),
        (
            without_keys(one_of_two_sas_stops),
            "One SA of the client probably stopped at 7.",
        ),
    ] {
        assert!(lines.headline.starts_with(line), "{lines:?}");
        assert!(lines.headline.contains("nothing on it passed"), "{lines:?}");
        assert!(!lines.why.contains("By its numbers"), "{lines:?}");
    }
    for lines in [
        with_keys(one_of_two_hosts_rests),
        without_keys(one_of_two_hosts_rests),
    ] {
        assert!(!lines.headline.contains("One SA"), "{lines:?}");
    }
}

/// The capture begins behind the loss of the SA. A host that answers a while after the renewal was away itself.
#[test]
fn one_sa_is_dead_from_the_begin() {
    let lines = with_keys(one_of_two_sas_is_dead);
    let line = "The client had probably dropped an SA by 0.02 s";
    assert!(lines.headline.starts_with(line), "{lines:?}");
    assert!(lines.why.contains("brought answers at once"), "{lines:?}");
    let lines = with_keys(one_of_two_hosts_is_away);
    assert!(
        lines.headline.starts_with("Pings got no reply from 0.02 s"),
        "{lines:?}"
    );
}

#[test]
fn two_networks_that_take_turns_on_one_sa() {
    let lines = with_keys(networks_by_turns);
    assert!(
        lines
            .headline
            .starts_with("10.66.0.2 and 10.66.0.3 take turns on one SA: 5 new ones in"),
        "{lines:?}"
    );
    assert!(lines.change.contains("0.0.0.0/0"), "{lines:?}");
    let lines = with_keys(networks_side_by_side);
    assert!(!lines.headline.contains("take turns"), "{lines:?}");
}

#[test]
fn a_gateway_that_answers_from_its_other_line() {
    let esp_alone: fn(&mut World) = |w| elsewhere(w, false);
    for (lines, line) in [
        (
            with_keys(answered_elsewhere),
            "The gateway answered from 10.9.1.1: down since",
        ),
        (
            without_keys(answered_elsewhere),
            "The gateway answers from 10.9.1.1, and the client asks 10.9.0.1.",
        ),
        (
            with_keys(esp_alone),
            "10.9.0.2: The gateway answers from 10.9.1.1, and the client asks 10.9.0.1.",
        ),
        (
            without_keys(esp_alone),
            "10.9.0.2: The gateway probably answers from 10.9.1.1, and",
        ),
    ] {
        assert!(lines.headline.starts_with(line), "{lines:?}");
        assert!(lines.change.contains("ip rule add from 10.9.0.1`"), "{lines:?}");
    }
    for lines in [with_keys(server_moves), without_keys(server_moves)] {
        assert!(!lines.headline.contains("10.9.1.1"), "{lines:?}");
    }
}
