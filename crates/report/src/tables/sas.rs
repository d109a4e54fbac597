//! The table of security associations.

use crate::tables::keys::source_in_short;
use crate::tables::table::{Mark, Table, WIDE, WIDEST, from, left, right};
use crate::words;
use crate::words::focus::Focus;
use crate::words::format::{self, UNKNOWN, or_unknown};
use rekeyscope_model::analysis::{Direction, KeyStatus, SecurityAssociation};
use std::collections::BTreeSet;

/// SAs of one tunnel, both directions, at most `most` of each.
pub(crate) fn security_associations(focus: &Focus, tunnel: usize, most: usize) -> Table {
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            left("column-dir"),
            right("column-gen"),
            left("column-spi"),
            left("column-key"),
            from(WIDEST, left("column-key-from")),
            from(WIDEST, left("column-suite")),
            from(WIDEST, left("column-mode")),
            from(WIDE, right("column-from-s")),
            from(WIDE, right("column-to-s")),
            right("column-packets"),
            right("column-esp-bytes"),
            right("column-icv-fit"),
            right("column-bad"),
            right("column-unchecked"),
            right("column-missing"),
        ],
    );
    let mut left_out = 0;
    for direction in focus.directions(tunnel) {
        let all: Vec<&SecurityAssociation> = focus.sas(tunnel, direction).collect();
        left_out += all.len().saturating_sub(most);
        for sa in all.into_iter().take(most) {
            sa_row(&mut table, focus, direction, sa);
        }
    }
    let suite = table.drop_uniform("column-suite");
    let mode = table.drop_uniform("column-mode").filter(|m| m != UNKNOWN);
    let source = table.drop_uniform("column-key-from").filter(|m| m != UNKNOWN);
    let mut notes = vec![suite.map_or_else(
        || suites(focus, tunnel),
        |s| t.fill("note-suite", &[("suite", &s)]),
    )];
    notes.extend(mode.map(|m| t.fill("note-mode", &[("mode", &m)])));
    notes.extend(source.map(|s| t.fill("note-keys-from", &[("source", &s)])));
    notes.push(t.word("note-missing"));
    let notes = notes.join(&t.word("semicolon"));
    table.notes.push(t.fill("full-stop", &[("text", &notes)]));
    table.note_left_out(t, "left-out-sas", left_out);
    table
}

/// The cipher suites of a tunnel, for where the table has no room for them.
fn suites(focus: &Focus, tunnel: usize) -> String {
    let all = focus.analysis.security_associations.iter();
    let suites: BTreeSet<String> = all.filter(|sa| sa.tunnel == tunnel).map(words::suite).collect();
    let named: Vec<String> = suites.iter().take(4).cloned().collect();
    let more = match suites.len() > named.len() {
        true => focus.t.word("and-more"),
        false => String::new(),
    };
    let suites = focus.t.joined(&named);
    focus
        .t
        .fill("note-suites", &[("suites", &suites), ("more", &more)])
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
        words::key_status(focus.t, sa.key.status),
        or_unknown(sa.key.source.as_deref(), |s| {
            source_in_short(focus.t, focus.analysis, s)
        }),
        words::suite(sa),
        or_unknown(sa.mode, |m| words::mode(focus.t, m)),
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
