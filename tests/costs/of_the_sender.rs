//! The sender had nothing to send: no rekey owns that silence.

use super::{owned, played, silent_at};
use crate::scenarios::steps::{AFTER, GENEROUS, begin, exchange};

/// The same silence, far below the limit: not the rekey.
#[test]
fn a_sender_that_was_stopped_clears_the_rekey() {
    let analysis = played(|w| silent_at(w, GENEROUS));
    assert_eq!(owned(&analysis), None);
    let headline = &analysis.impact[0];
    assert_eq!(headline.rekeys_hurt, Vec::<usize>::new(), "{}", headline.sentence);
    let causes = analysis.rekeys[0].causes.iter();
    assert_eq!(
        causes.map(|c| c.id.as_str()).collect::<Vec<_>>(),
        ["application_limited"]
    );
}

/// It is stopped 30 ms after the switch: that nothing is sent again says that it heard the acknowledgements on the new SA.
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
