//! The table of attempts.

use crate::tables::table::{Mark, Table, WIDE, from, left, right};
use crate::words::focus::Focus;
use crate::words::format::{self, or_unknown};
use crate::words::{clean, is_trouble, outage_length, outcome};
use rekeyscope_model::analysis::Attempt;

/// The attempts of a tunnel where one of them failed, at most `most`, those in trouble first of all; without `all` only
/// these. Empty where all went well.
pub(crate) fn attempts(focus: &Focus, tunnel: usize, all: bool, most: usize) -> Table {
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            right("column-time-s"),
            left("column-by"),
            left("column-outcome"),
            right("column-requests"),
            right("column-answer-s"),
            right("column-outage-from-s"),
            right("column-outage"),
            from(WIDE, left("column-causes")),
        ],
    );
    let own = || focus.analysis.attempts.iter().filter(move |a| a.tunnel == tunnel);
    if !own().any(is_trouble) {
        return table;
    }
    let mut room = most.saturating_sub(own().filter(|a| is_trouble(a)).count());
    let mut trouble_room = most;
    let mut left_out = 0;
    for attempt in own().filter(|a| all || is_trouble(a)) {
        let trouble = is_trouble(attempt);
        let room = if trouble { &mut trouble_room } else { &mut room };
        if *room == 0 {
            left_out += 1;
            continue;
        }
        *room -= 1;
        table.push(if trouble { Mark::Alert } else { Mark::None }, cells(focus, attempt));
    }
    table.note_left_out(t, "left-out-attempts", left_out);
    table
}

fn cells(focus: &Focus, a: &Attempt) -> Vec<String> {
    let t = focus.t;
    let ends = focus.analysis.tunnels.get(a.tunnel);
    let by = match (a.initiator, ends) {
        (Some(address), Some(ends)) if address == ends.a => "a".to_owned(),
        (Some(address), Some(ends)) if address == ends.b => "b".to_owned(),
        (Some(address), _) => address.to_string(),
        (None, _) => format::UNKNOWN.to_owned(),
    };
    let outage = a.outage.as_ref();
    let causes: Vec<String> = a.causes.iter().map(|c| clean::line(&c.id)).collect();
    vec![
        or_unknown(focus.seconds(a.first_time), format::clock),
        by,
        outcome(t, a),
        match a.exchange {
            Some(_) => format::count(a.transmissions),
            None => format::UNKNOWN.to_owned(),
        },
        or_unknown(a.answered_after_s, |s| format!("{s:.2}")),
        or_unknown(outage.and_then(|o| focus.seconds(o.start)), format::clock),
        or_unknown(outage, |o| outage_length(t, o)),
        causes.join(", "),
    ]
}
