//! An SA, a network or an address that one end alone knows, each planted beside one that looks like it.

use super::answers::{with_keys, without_keys};
use super::steps::BEFORE;
use rekeyscope_testkit::scenario::World;

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
    let second = w.make_v2(true);
    w.switch_up_v2(&second);
    w.switch_down_v2(&second);
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
fn two_networks_that_take_turns_on_one_sa() {
    let lines = with_keys(networks_by_turns);
    assert!(
        lines
            .headline
            .starts_with("10.66.0.2 and 10.66.0.3 take turns on one SA: 5 new ones in"),
        "{lines:?}"
    );
    assert!(lines.remedy.contains("0.0.0.0/0"), "{lines:?}");
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
        assert!(lines.remedy.contains("ip rule add from 10.9.0.1`"), "{lines:?}");
    }
    for lines in [with_keys(server_moves), without_keys(server_moves)] {
        assert!(!lines.headline.contains("10.9.1.1"), "{lines:?}");
    }
}
