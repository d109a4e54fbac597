//! The table of rekeys.

use crate::tables::table::{Align, Column, Mark, Row, Table, WIDE, WIDER, from, left, right};
use crate::words::focus::{Focus, at_most, began, is_hurt, key, number};
use crate::words::format::{self, UNKNOWN, or_unknown};
use crate::words::{self, clean};
use rekeyscope_model::analysis::{Direction, Rekey};
use rekeyscope_model::text::Catalogue;

/// Rekeys of one tunnel, at most `most`.
pub(crate) fn rekeys(focus: &Focus, tunnel: usize, most: usize) -> Table {
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            right("column-number"),
            right("column-time-s"),
            left("column-by"),
            left("column-trigger"),
            right("column-volume"),
            from(WIDER, right("column-age")),
            right("column-ike-ms"),
            right("column-gap-ms"),
            from(WIDER, right("column-sa-gap-ms")),
            from(WIDER, right("column-overlap-ms")),
            right("column-stall-ms"),
            from(WIDE, right("column-depth")),
            from(WIDE, right("column-p")),
            right("column-q"),
            left("column-effect"),
            from(WIDE, left("column-causes")),
        ],
    );
    let all: Vec<&Rekey> = focus.rekeys(tunnel).collect();
    let total = all.len();
    let listed = at_most(all, most);
    let left_out = total - listed.len();
    for rekey in &listed {
        table.rows.push(rekey_row(focus, rekey));
    }
    let overlaid = overlay_columns(focus, &mut table, &listed);
    table.notes.push(legend(focus, tunnel, &listed));
    if overlaid {
        table.notes.push(t.word("note-overlay-columns"));
    }
    table.notes.extend(rule(t, &listed));
    table.note_left_out(t, "left-out-rekeys", left_out);
    table
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

fn rekey_row(focus: &Focus, rekey: &Rekey) -> Row {
    let shown = focus.shown(rekey);
    let stall = shown.and_then(|s| s.window);
    let direction = shown.map_or(focus.main_direction(rekey.tunnel), |s| s.impact.direction);
    let gap = match direction {
        Direction::AToB => rekey.gap_ms.a_to_b,
        Direction::BToA => rekey.gap_ms.b_to_a,
    };
    let used = shown.is_some_and(|s| s.impact.used);
    let causes: Vec<String> = rekey.causes.iter().map(|c| clean::line(&c.id)).collect();
    let other = if direction == focus.main_direction(rekey.tunnel) {
        ""
    } else {
        " *"
    };
    let trigger = &rekey.trigger;
    let least = match (trigger.at_least, trigger.at_most, trigger.bytes) {
        (true, _, Some(_)) => "≥ ",
        (false, true, Some(_)) => "≤ ",
        _ => "",
    };
    let cells = vec![
        number(rekey).to_string(),
        or_unknown(began(rekey).and_then(|t| focus.seconds(t)), format::clock),
        initiator(focus, rekey),
        words::trigger(focus.t, &rekey.trigger),
        format!("{least}{}", or_unknown(rekey.trigger.bytes, format::bytes)),
        or_unknown(rekey.trigger.age_s, format::seconds),
        or_unknown(rekey.exchange_ms, format::millis),
        or_unknown(shown.and_then(|s| s.impact.longest_gap_ms), format::millis),
        or_unknown(gap, format::millis),
        or_unknown(rekey.overlap_ms, format::millis),
        format!("{}{other}", or_unknown(stall.map(|w| w.stall_ms), format::millis)),
        or_unknown(shown.and_then(|s| s.impact.depth), format::percent),
        or_unknown(stall.and_then(|w| w.p), format::probability),
        or_unknown(shown.and_then(|s| s.impact.q), format::probability),
        if is_hurt(rekey) {
            focus.t.word("effect-hurt")
        } else if used {
            String::new()
        } else {
            focus.t.word("effect-unused")
        },
        causes.join(", "),
    ];
    let mark = if is_hurt(rekey) {
        Mark::Alert
    } else if used {
        Mark::None
    } else {
        Mark::Faint
    };
    Row {
        id: Some(format!("rekey-{}", key(focus.analysis, rekey))),
        mark,
        cells,
    }
}

/// `a` or `b`; another address in full.
fn initiator(focus: &Focus, rekey: &Rekey) -> String {
    let tunnel = focus.analysis.tunnels.get(rekey.tunnel);
    match (rekey.initiator, tunnel) {
        (None, _) => UNKNOWN.to_string(),
        (Some(address), Some(t)) if address == t.a => "a".to_string(),
        (Some(address), Some(t)) if address == t.b => "b".to_string(),
        (Some(address), _) => address.to_string(),
    }
}

/// What the columns of the rekey table mean, only as far as this table needs it.
fn legend(focus: &Focus, tunnel: usize, rekeys: &[&Rekey]) -> String {
    let t = focus.t;
    let mut parts = Vec::new();
    if let Some(ends) = focus.analysis.tunnels.get(tunnel) {
        parts.push(t.fill("ends", &[("a", &ends.a.to_string()), ("b", &ends.b.to_string())]));
    }
    let main = focus.main_direction(tunnel);
    let direction = words::direction(t, focus.analysis, tunnel, main);
    parts.push(t.fill("note-gap-of", &[("direction", &direction)]));
    parts.push(t.word("note-gap"));
    if let Some(window) = rekeys.iter().find_map(|r| focus.shown(r)?.window) {
        let seconds = window.window_s.to_string();
        parts.push(t.fill("note-stall-within", &[("seconds", &seconds)]));
    }
    let other = |r: &&&Rekey| focus.shown(r).is_some_and(|s| s.impact.direction != main);
    if rekeys.iter().any(|r| other(&r)) {
        parts.push(t.word("note-other-direction"));
    }
    if rekeys
        .iter()
        .any(|r| !focus.shown(r).is_some_and(|s| s.impact.used))
    {
        parts.push(t.word("note-unused"));
    }
    t.fill("full-stop", &[("text", &parts.join(&t.word("semicolon")))])
}

/// What triggered the first rekey, in full: the others follow the same counting.
fn rule(t: &Catalogue, rekeys: &[&Rekey]) -> Option<String> {
    let first = rekeys.first()?;
    let rule = words::trigger_in_full(t, &first.trigger);
    let number = number(first).to_string();
    (!rule.is_empty()).then(|| t.fill("note-rule", &[("number", &number), ("rule", &rule)]))
}
