//! The table of rekeys.

use super::{Mark, Row, Table, WIDE, WIDER, from, left, right};
use crate::analysis::{Direction, Rekey};
use crate::report::focus::{Focus, at_most, began, is_hurt, number};
use crate::report::format::{self, UNKNOWN, or_unknown};
use crate::report::{clean, words};

/// Rekeys of one tunnel, at most `most`.
pub(crate) fn rekeys(focus: &Focus, tunnel: usize, most: usize) -> Table {
    let mut table = Table::new(&[
        right("#"),
        right("time s"),
        left("by"),
        left("trigger"),
        right("volume"),
        from(WIDER, right("age")),
        right("IKE ms"),
        right("gap ms"),
        from(WIDER, right("overlap ms")),
        right("stall ms"),
        from(WIDE, right("depth")),
        from(WIDE, right("p")),
        right("q"),
        left("effect"),
        from(WIDE, left("causes")),
    ]);
    let all: Vec<&Rekey> = focus.rekeys(tunnel).collect();
    let total = all.len();
    let listed = at_most(all, most);
    let left_out = total - listed.len();
    for rekey in &listed {
        table.rows.push(rekey_row(focus, rekey));
    }
    table.notes.push(legend(focus, tunnel, &listed));
    table.notes.extend(rule(&listed));
    table.note_left_out(left_out, "rekeys", "--json, or rekeys.csv of --csv,");
    table
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
    let least = match (rekey.trigger.at_least, rekey.trigger.bytes) {
        (true, Some(_)) => "≥ ",
        _ => "",
    };
    let cells = vec![
        number(rekey).to_string(),
        or_unknown(began(rekey).and_then(|t| focus.seconds(t)), format::clock),
        initiator(focus, rekey),
        words::trigger(&rekey.trigger),
        format!("{least}{}", or_unknown(rekey.trigger.bytes, format::bytes)),
        or_unknown(rekey.trigger.age_s, format::seconds),
        or_unknown(rekey.exchange_ms, format::millis),
        or_unknown(gap, format::millis),
        or_unknown(rekey.overlap_ms, format::millis),
        format!("{}{other}", or_unknown(stall.map(|w| w.stall_ms), format::millis)),
        or_unknown(shown.and_then(|s| s.impact.depth), format::percent),
        or_unknown(stall.and_then(|w| w.p), format::probability),
        or_unknown(shown.and_then(|s| s.impact.q), format::probability),
        if is_hurt(rekey) {
            "hurt"
        } else if used {
            ""
        } else {
            "unused"
        }
        .to_string(),
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
        id: Some(format!("rekey-{}", number(rekey))),
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
    let mut parts = Vec::new();
    if let Some(t) = focus.analysis.tunnels.get(tunnel) {
        parts.push(format!("a = {}, b = {}", t.a, t.b));
    }
    let main = focus.main_direction(tunnel);
    parts.push(format!(
        "gap and stall of {}",
        words::direction(focus.analysis, tunnel, main)
    ));
    if let Some(window) = rekeys.iter().find_map(|r| focus.shown(r)?.window) {
        parts.push(format!("stall within {} s of the switch", window.window_s));
    }
    let other = |r: &&&Rekey| focus.shown(r).is_some_and(|s| s.impact.direction != main);
    if rekeys.iter().any(|r| other(&r)) {
        parts.push("* the other direction".to_string());
    }
    if rekeys
        .iter()
        .any(|r| !focus.shown(r).is_some_and(|s| s.impact.used))
    {
        parts.push("unused: idle or outside the transfer".to_string());
    }
    parts.join("; ") + "."
}

/// What triggered the first rekey, in full: the others follow the same counting.
fn rule(rekeys: &[&Rekey]) -> Option<String> {
    let first = rekeys.first()?;
    let rule = words::trigger_in_full(&first.trigger);
    (!rule.is_empty()).then(|| format!("Rekey {} began at {rule}.", number(first)))
}
