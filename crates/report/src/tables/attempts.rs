//! The table of attempts.

use crate::tables::table::{Table, alert_if, left, right};
use crate::words::ends::end;
use crate::words::focus::Focus;
use crate::words::format::{self, UNKNOWN, or_unknown};
use crate::words::{is_trouble, outage_length, outcome};
use rekeyscope_model::analysis::{Attempt, Outage};

/// The attempts of a tunnel where one of them failed, at most `most`, those in trouble first of all; without `all` only those in trouble
/// that became no rekey, which has a row of its own. Empty where all went well.
pub(crate) fn attempts(focus: &Focus, tunnel: usize, all: bool, most: usize) -> Table {
    let t = focus.t;
    let own = || focus.analysis.attempts.iter().filter(move |a| a.tunnel == tunnel);
    let troubled = own().filter(|a| is_trouble(a)).count();
    if troubled == 0 {
        return Table::default();
    }
    let mut listed = Vec::new();
    let (mut room, mut room_for_trouble, mut left_out) = (most.saturating_sub(troubled), most, 0);
    for attempt in own().filter(|a| all || is_trouble(a) && a.rekey.is_none()) {
        let room = if is_trouble(attempt) {
            &mut room_for_trouble
        } else {
            &mut room
        };
        if *room == 0 {
            left_out += 1;
            continue;
        }
        *room -= 1;
        listed.push(attempt);
    }
    let ends = focus.analysis.tunnels.get(tunnel);
    let outage = |a: &&Attempt, cell: &dyn Fn(&Outage) -> String| or_unknown(a.outage.as_ref(), cell);
    let mut table = Table::of(
        t,
        &listed,
        |a| alert_if(is_trouble(a)),
        &[
            right("column-time-s", &|a| focus.clock(Some(a.first_time))),
            left("column-by", &|a| end(t, ends, a.initiator)),
            left("column-outcome", &|a| outcome(t, a)),
            right("column-requests", &|a| match a.exchange {
                Some(_) => format::count(a.transmissions),
                None => UNKNOWN.to_owned(),
            }),
            right("column-answer-s", &|a| {
                or_unknown(a.answered_after_s, |s| format!("{s:.2}"))
            }),
            right("column-outage-from-s", &|a| {
                outage(a, &|o| focus.clock(Some(o.start)))
            }),
            right("column-outage", &|a| outage(a, &|o| outage_length(t, o))),
        ],
    );
    table.note_left_out(t, "left-out-attempts", left_out);
    table
}
