//! The table of attempts.

use crate::tables::table::{Table, alert_if};
use crate::words::ends::end;
use crate::words::focus::{Focus, most_important};
use crate::words::format::{self, UNKNOWN, or_unknown};
use crate::words::{is_trouble, outage_length, outcome_because};
use rekeyscope_model::analysis::{Attempt, Outage};

/// The attempts of a tunnel where one of them failed, at most `most`, those in trouble first of all; without `all` only those in trouble
/// that became no rekey, which has a row of its own. Empty where all went well.
pub(crate) fn attempts(focus: &Focus, tunnel: usize, all: bool, most: usize) -> Table {
    let t = focus.t;
    let mut own: Vec<&Attempt> = focus.analysis.attempts.iter().collect();
    own.retain(|a| a.tunnel == tunnel);
    if !own.iter().any(|a| is_trouble(a)) {
        return Table::default();
    }
    own.retain(|a| all || is_trouble(a) && a.rekey.is_none());
    let total = own.len();
    let listed = most_important(own, most, |a| is_trouble(a));
    let ends = focus.analysis.tunnels.get(tunnel);
    let outage = |a: &&Attempt, cell: &dyn Fn(&Outage) -> String| or_unknown(a.outage.as_ref(), cell);
    let mut table = Table::of(t, &listed)
        .marked(|a| alert_if(is_trouble(a)))
        .right("column-time-s", |a| focus.clock(Some(a.first_time)))
        .left("column-by", |a| end(t, ends, a.initiator))
        .left("column-outcome", |a| {
            outcome_because(t, a.outcome, a.reason.as_deref())
        })
        .right("column-requests", |a| match a.exchange {
            Some(_) => format::count(a.transmissions),
            None => UNKNOWN.to_owned(),
        })
        .right("column-answer-s", |a| {
            or_unknown(a.answered_after_s, |s| format!("{s:.2}"))
        })
        .right("column-outage-from-s", |a| {
            outage(a, &|o| focus.clock(Some(o.start)))
        })
        .right("column-outage", |a| outage(a, &|o| outage_length(t, o)))
        .table
        .without_empty();
    table.note_left_out(t, "left-out-attempts", total - listed.len());
    table
}
