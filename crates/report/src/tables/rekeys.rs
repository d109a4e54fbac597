//! The table of rekeys.

use crate::tables::table::{Align, Column, Mark, Table, WIDE, WIDER, alert_if, cost, ms};
use crate::words::ends::end;
use crate::words::focus::{Focus, at_most, began, is_hurt, most_important, number};
use crate::words::format::{self, UNKNOWN, or_unknown};
use crate::words::{self, clean, is_trouble, outage_length, outcome_because};
use rekeyscope_model::analysis::{Attempt, Outage, Rekey, Trigger};
use rekeyscope_model::text::Catalogue;

/// Rekeys of one tunnel, at most `most`.
pub(crate) fn rekeys(focus: &Focus, tunnel: usize, most: usize) -> Table {
    let t = focus.t;
    let all: Vec<&Rekey> = focus.analysis.rekeys_of(tunnel).collect();
    let total = all.len();
    let listed = at_most(all, most);
    let mut table = of_rekeys(focus, tunnel, &listed);
    if overlay_columns(focus, &mut table, &listed) {
        table.notes.push(t.word("note-overlay-columns"));
    }
    table.notes.extend(rule(t, &listed));
    table.note_left_out(t, "left-out-rekeys", total - listed.len());
    table
}

/// The rekeys of one tunnel that cost most, at most `most`, in time order; none that cost nothing.
pub(crate) fn costliest_rekeys(focus: &Focus, tunnel: usize, most: usize) -> Table {
    let cost = |rekey: &Rekey| words::cost_seconds(focus, rekey);
    let mut costly: Vec<&Rekey> = focus.analysis.rekeys_of(tunnel).collect();
    costly.retain(|rekey| is_hurt(rekey) || cost(rekey) != 0.0);
    costly.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    costly.truncate(most);
    costly.sort_by_key(|rekey| rekey.index);
    of_rekeys(focus, tunnel, &costly)
}

/// A row for each of these, and what the columns mean.
fn of_rekeys<'a>(focus: &Focus<'a>, tunnel: usize, listed: &[&'a Rekey]) -> Table {
    let t = focus.t;
    let impact = |r: &&'a Rekey| focus.shown(r);
    let main = focus.main_direction(tunnel);
    let ends = focus.analysis.tunnels.get(tunnel);
    let mut table = Table::of(t, listed)
        .marked(|r| match is_hurt(r) {
            false if !impact(r).is_some_and(|i| i.used) => Mark::Faint,
            hurt => alert_if(hurt),
        })
        .right("column-number", |r| number(r).to_string())
        .right("column-time-s", |r| focus.clock(began(r)))
        .left("column-by", |r| end(t, ends, r.initiator))
        .left("column-trigger", |r| words::trigger(t, &r.trigger))
        .right("column-volume", |r| volume(&r.trigger))
        .right_from(WIDER, "column-age", |r| {
            or_unknown(r.trigger.age_s, format::seconds)
        })
        .right("column-ike-ms", |r| ms(r.exchange_ms))
        .right_from(WIDER, "column-sa-gap-ms", |r| {
            ms(r.gap_ms.get(focus.shown_direction(r)))
        })
        .right_from(WIDER, "column-overlap-ms", |r| ms(r.overlap_ms))
        .right("column-lost", |r| {
            let other = if focus.shown_direction(r) == main {
                ""
            } else {
                " *"
            };
            let seconds = impact(r).and_then(|i| i.cost_seconds);
            cost(seconds, impact(r).is_some_and(|i| i.at_least)) + other
        })
        .right("column-silence-ms", |r| ms(impact(r).and_then(|i| i.silence_ms)))
        .left("column-effect", |r| match focus.is_in_outage(r) {
            true => t.word("effect-outage"),
            false => words::effect(t, impact(r)),
        })
        .left_from(WIDE, "column-causes", |r| {
            let cause = impact(r).and_then(|i| i.cause);
            cause.map_or_else(String::new, |cause| words::cause(t, cause))
        })
        .table;
    for (row, rekey) in table.rows.iter_mut().zip(listed) {
        row.id = Some(format!("rekey-{}", focus.key(rekey)));
    }
    table.notes.push(legend(focus, tunnel, listed));
    table
}

/// Bytes at the trigger, with a sign where they are a bound.
fn volume(trigger: &Trigger) -> String {
    let least = match (trigger.at_least, trigger.at_most, trigger.bytes) {
        (true, _, Some(_)) => "≥ ",
        (false, true, Some(_)) => "≤ ",
        _ => "",
    };
    format!("{least}{}", or_unknown(trigger.bytes, format::bytes))
}

/// Overlays that get a column; all of them have a table of their own.
const MOST_OVERLAY_COLUMNS: usize = 3;

/// A column for each overlay: its values around each rekey, lowest and highest. True where one was added.
fn overlay_columns(focus: &Focus, table: &mut Table, rekeys: &[&Rekey]) -> bool {
    let covering = focus.analysis.overlays.iter().filter(|o| !o.at_rekeys.is_empty());
    let mut added = false;
    for overlay in covering.take(MOST_OVERLAY_COLUMNS) {
        let of = |rekey: &Rekey| overlay.at_rekeys.iter().find(|at| at.rekey == rekey.index);
        let cell = |rekey: &&Rekey| match of(rekey) {
            Some(at) if at.lowest == at.highest => words::overlay_value(overlay, at.lowest),
            Some(at) => format!(
                "{}–{}",
                words::overlay_value(overlay, at.lowest),
                words::overlay_value(overlay, at.highest)
            ),
            None => UNKNOWN.to_string(),
        };
        table.columns.push(Column {
            name: clean::line(&overlay.name),
            id: "overlay",
            align: Align::Right,
            from_width: WIDER,
        });
        for (row, rekey) in table.rows.iter_mut().zip(rekeys) {
            row.cells.push(cell(rekey));
        }
        added = true;
    }
    added
}

/// Legend of the columns, as far as this table needs it.
fn legend<'a>(focus: &Focus<'a>, tunnel: usize, rekeys: &[&'a Rekey]) -> String {
    let t = focus.t;
    let mut parts = Vec::new();
    if let Some(ends) = focus.analysis.tunnels.get(tunnel) {
        parts.push(words::ends::ends(t, ends));
    }
    let main = focus.main_direction(tunnel);
    let direction = words::direction(t, focus.analysis, tunnel, main);
    parts.push(fill!(t, "note-lost", direction));
    parts.push(t.word("note-silence"));
    parts.push(t.word("note-volume"));
    if rekeys.iter().any(|r| focus.shown_direction(r) != main) {
        parts.push(t.word("note-other-direction"));
    }
    let says = |id: &str| {
        let word = t.word(id);
        rekeys.iter().any(|r| words::effect(t, focus.shown(r)) == word)
    };
    let explained = [
        ("effect-not-observed", "note-not-observed"),
        ("effect-outside", "note-outside"),
    ];
    let needed = explained.into_iter().filter(|(effect, _)| says(effect));
    parts.extend(needed.map(|(_, note)| t.word(note)));
    fill!(t, "full-stop", text = parts.join(&t.word("semicolon")))
}

/// The trigger of the first rekey in full: the others follow the same counting.
fn rule(t: &Catalogue, rekeys: &[&Rekey]) -> Option<String> {
    let first = rekeys.first()?;
    let rule = words::trigger_in_full(t, &first.trigger);
    (!rule.is_empty()).then(|| fill!(t, "note-rule", number = number(first), rule))
}

// The table of attempts.

/// The attempts of a tunnel where one of them failed, at most `most`, those in trouble first of all; without `all` only those in trouble
/// that became no rekey, which has a row of its own. Empty where all went well.
pub(crate) fn attempts(focus: &Focus, tunnel: usize, all: bool, most: usize) -> Table {
    let t = focus.t;
    let mut own: Vec<&Attempt> = focus.analysis.attempts_of(tunnel).collect();
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
