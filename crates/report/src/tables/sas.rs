//! The table of security associations.

use crate::tables::keys::source_in_short;
use crate::tables::table::{Mark, Table, WIDE, WIDEST, alert_if};
use crate::words;
use crate::words::ends::{ends_and_up, up_or_down};
use crate::words::focus::Focus;
use crate::words::format::{self, UNKNOWN, or_unknown};
use rekeyscope_model::analysis::{KeyStatus, SecurityAssociation};
use std::collections::BTreeSet;

/// SAs of one tunnel, both directions, at most `most` of each.
pub(crate) fn security_associations(focus: &Focus, tunnel: usize, most: usize) -> Table {
    let t = focus.t;
    let (mut listed, mut left_out) = (Vec::new(), 0);
    for direction in focus.directions(tunnel) {
        let all: Vec<&SecurityAssociation> = focus.analysis.sas_towards(tunnel, direction).collect();
        left_out += all.len().saturating_sub(most);
        listed.extend(all.into_iter().take(most).map(|sa| (direction, sa)));
    }
    let source = |text: &str| source_in_short(t, focus.analysis, text);
    let mut table = Table::of(t, &listed)
        .marked(|(_, sa)| match (sa.packets, sa.key.status) {
            (0, _) => Mark::Faint,
            (_, status) => alert_if(status != KeyStatus::Verified || sa.icv.failed > 0),
        })
        .left("column-dir", |(direction, _)| up_or_down(t, *direction))
        .right("column-gen", |(_, sa)| sa.generation.to_string())
        .left("column-spi", |(_, sa)| sa.spi.to_string())
        .left("column-key", |(_, sa)| words::key_status(t, sa.key.status))
        .left_from(WIDEST, "column-key-from", |(_, sa)| {
            or_unknown(sa.key.source.as_deref(), source)
        })
        .left_from(WIDEST, "column-suite", |(_, sa)| words::suite(sa))
        .left_from(WIDEST, "column-mode", |(_, sa)| {
            or_unknown(sa.mode, |m| t.name("mode", m.as_str()))
        })
        .right_from(WIDE, "column-from-s", |(_, sa)| focus.clock(sa.first_time))
        .right_from(WIDE, "column-to-s", |(_, sa)| focus.clock(sa.last_time))
        .right("column-packets", |(_, sa)| format::count(sa.packets))
        .right("column-esp-bytes", |(_, sa)| format::bytes(sa.esp_bytes))
        .right("column-icv-fit", |(_, sa)| format::count(sa.icv.verified))
        .right("column-bad", |(_, sa)| format::count(sa.icv.failed))
        .right("column-unchecked", |(_, sa)| format::count(sa.icv.unchecked))
        .right("column-missing", |(_, sa)| format::count(sa.sequence.missing))
        .table;
    let suite = table.drop_uniform("column-suite");
    let mode = table.drop_uniform("column-mode").filter(|m| m != UNKNOWN);
    let source = table.drop_uniform("column-key-from").filter(|m| m != UNKNOWN);
    let mut notes = vec![suite.map_or_else(|| suites(focus, tunnel), |s| fill!(t, "note-suite", suite = s))];
    notes.extend(mode.map(|m| fill!(t, "note-mode", mode = m)));
    notes.extend(source.map(|s| fill!(t, "note-keys-from", source = s)));
    notes.push(t.word("note-missing"));
    let ends = focus.analysis.tunnels.get(tunnel);
    notes.extend(ends.map(|ends| ends_and_up(t, ends)));
    let notes = notes.join(&t.word("semicolon"));
    table.notes.push(fill!(t, "full-stop", text = notes));
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
    fill!(focus.t, "note-suites", suites, more)
}
