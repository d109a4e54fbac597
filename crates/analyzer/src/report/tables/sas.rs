//! The table of security associations.

use super::{Mark, Table, WIDE, WIDEST, from, left, right};
use crate::analysis::{Direction, KeyStatus, SecurityAssociation};
use crate::report::focus::Focus;
use crate::report::format::{self, UNKNOWN, or_unknown};
use crate::report::{clean, words};
use std::collections::BTreeSet;

/// SAs of one tunnel, both directions, at most `most` of each.
pub(crate) fn security_associations(focus: &Focus, tunnel: usize, most: usize) -> Table {
    let mut table = Table::new(&[
        left("dir."),
        right("gen."),
        left("SPI"),
        left("key"),
        from(WIDEST, left("from")),
        from(WIDEST, left("cipher suite")),
        from(WIDEST, left("mode")),
        from(WIDE, right("from s")),
        from(WIDE, right("to s")),
        right("packets"),
        right("ESP bytes"),
        right("ICV fit"),
        right("bad"),
        right("unchecked"),
        right("missing"),
    ]);
    let mut left_out = 0;
    for direction in focus.directions(tunnel) {
        let all: Vec<&SecurityAssociation> = focus.sas(tunnel, direction).collect();
        left_out += all.len().saturating_sub(most);
        for sa in all.into_iter().take(most) {
            sa_row(&mut table, focus, direction, sa);
        }
    }
    let suite = table.drop_uniform("cipher suite");
    let mode = table.drop_uniform("mode").filter(|m| m != UNKNOWN);
    let source = table.drop_uniform("from").filter(|m| m != UNKNOWN);
    let mut notes = vec![suite.map_or_else(|| suites(focus, tunnel), |s| format!("Cipher suite {s}"))];
    notes.extend(mode.map(|m| format!("{m} mode")));
    notes.extend(source.map(|s| format!("keys from {s}")));
    notes.push("missing: ESP sequence numbers that never came".to_string());
    table.notes.push(notes.join("; ") + ".");
    table.note_left_out(left_out, "SAs", "--json, or sas.csv of --csv,");
    table
}

/// The cipher suites of a tunnel, for where the table has no room for them.
fn suites(focus: &Focus, tunnel: usize) -> String {
    let all = focus.analysis.security_associations.iter();
    let suites: BTreeSet<String> = all.filter(|sa| sa.tunnel == tunnel).map(words::suite).collect();
    let named: Vec<String> = suites.iter().take(4).cloned().collect();
    let more = if suites.len() > named.len() { ", …" } else { "" };
    format!("Cipher suites {}{more}", named.join(", "))
}

fn sa_row(table: &mut Table, focus: &Focus, direction: Direction, sa: &SecurityAssociation) {
    let mark = match (sa.packets, sa.key.status) {
        (0, _) => Mark::Faint,
        (_, KeyStatus::Verified) if sa.icv.failed == 0 => Mark::None,
        _ => Mark::Alert,
    };
    let cells = vec![
        if direction == Direction::AToB {
            "a→b"
        } else {
            "b→a"
        }
        .to_string(),
        sa.generation.to_string(),
        sa.spi.to_string(),
        sa.key.status.to_string(),
        or_unknown(sa.key.source.as_deref(), clean::line),
        words::suite(sa),
        or_unknown(sa.mode, |m| m.to_string()),
        or_unknown(sa.first_time.and_then(|t| focus.seconds(t)), format::clock),
        or_unknown(sa.last_time.and_then(|t| focus.seconds(t)), format::clock),
        format::count(sa.packets),
        format::bytes(sa.esp_bytes),
        format::count(sa.icv.verified),
        format::count(sa.icv.failed),
        format::count(sa.icv.unchecked),
        format::count(sa.sequence.missing),
    ];
    table.push(mark, cells);
}
