//! The sender had nothing to send: no rekey owns that silence.

use super::{owned, played};
use crate::scenarios::steps::{AFTER, BEFORE, GENEROUS, begin, exchange, rekey_in_silence};
use rekeyscope_testkit::scenario::World;

/// ```text
///         the server has nothing to send, and all was acknowledged
/// client ◀══▶ server  three messages
///        ◀═ the next byte on the new SA
/// ```
fn stopped_before_the_rekey(w: &mut World) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(200);
    rekey_in_silence(w);
    w.wait(240);
    w.steady(AFTER);
}

/// The silence began before the first message, and the old SA lived: not the rekey.
#[test]
fn a_sender_that_was_stopped_clears_the_rekey() {
    let analysis = played(stopped_before_the_rekey);
    assert_eq!(owned(&analysis), None);
    let headline = &analysis.impact[0];
    assert_eq!(headline.rekeys_hurt, Vec::<usize>::new(), "{}", headline.sentence);
}

/// The sender stops 30 ms after the switch: because nothing is sent again, it heard the acknowledgements on the new SA.
#[test]
fn a_sender_that_is_stopped_right_after_the_switch() {
    let analysis = played(|w| {
        let mut qm = begin(w);
        exchange(w, &mut qm);
        w.switch_up(&qm);
        w.switch_down(&qm);
        w.steady(30);
        w.acknowledge_all();
        w.wait(800);
        w.steady(AFTER);
    });
    assert_eq!(owned(&analysis), None);
}
