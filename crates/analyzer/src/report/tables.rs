//! The tables of a report, independent of the format that lays them out.

use super::clean;
use super::focus::{Focus, at_most, began, is_hurt, number};
use super::format::{self, UNKNOWN, or_unknown};
use super::words;
use crate::analysis::{Direction, KeyStatus, Rekey, SecurityAssociation};
use std::collections::BTreeSet;

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A column. A terminal narrower than `from_width` leaves it out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) align: Align,
    pub(crate) from_width: usize,
}

/// How a row is set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mark {
    #[default]
    None,
    /// A rekey that hurt, a key that is missing, a rerun that disagrees.
    Alert,
    /// Left out of the statistics, or without packets.
    Faint,
}

/// A row with one cell per column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// For links: `rekey-3`.
    pub(crate) id: Option<String>,
    pub(crate) mark: Mark,
    pub(crate) cells: Vec<String>,
}

/// A table. Every cell is clean (see [`clean`]).
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// Below it: units, what is left out and where that is.
    pub(crate) notes: Vec<String>,
}

const fn left(name: &'static str) -> Column {
    Column {
        name,
        align: Align::Left,
        from_width: 0,
    }
}
const fn right(name: &'static str) -> Column {
    Column {
        name,
        align: Align::Right,
        from_width: 0,
    }
}
const fn from(from_width: usize, column: Column) -> Column {
    Column { from_width, ..column }
}

/// Terminals from here on show more columns.
const WIDE: usize = 110;
/// And from here on still more.
const WIDER: usize = 130;
/// And from here on all.
const WIDEST: usize = 180;

impl Table {
    fn new(columns: &[Column]) -> Table {
        Table {
            columns: columns.to_vec(),
            ..Table::default()
        }
    }

    fn push(&mut self, mark: Mark, cells: Vec<String>) {
        self.rows.push(Row {
            id: None,
            mark,
            cells,
        });
    }

    /// Leaves a column out in which every row says the same; returns what they say.
    fn drop_uniform(&mut self, name: &str) -> Option<String> {
        let column = self.columns.iter().position(|c| c.name == name)?;
        let value = self.rows.first()?.cells.get(column)?.clone();
        let uniform = self.rows.iter().all(|r| r.cells.get(column) == Some(&value));
        if !uniform {
            return None;
        }
        self.columns.remove(column);
        self.rows.iter_mut().for_each(|r| drop(r.cells.remove(column)));
        Some(value)
    }

    fn note_left_out(&mut self, left_out: usize, what: &str, file: &str) {
        if left_out > 0 {
            self.notes.push(format!(
                "{} more {what} are not listed here: {file} holds all of them.",
                format::count(left_out as u64)
            ));
        }
    }
}

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
    let cells = vec![
        number(rekey).to_string(),
        or_unknown(began(rekey).and_then(|t| focus.seconds(t)), format::clock),
        initiator(focus, rekey),
        words::trigger(&rekey.trigger),
        or_unknown(rekey.trigger.bytes, format::bytes),
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

/// One row per tunnel and direction: the verdicts.
pub(crate) fn verdicts(focus: &Focus, most: usize) -> Table {
    let mut table = Table::new(&[
        left("direction"),
        left("verdict"),
        right("rekeys"),
        right("hurt"),
        right("rate"),
        right("stall ms"),
        from(WIDE, right("95 % from")),
        from(WIDE, right("to")),
        from(WIDE, right("p")),
        from(WIDE, right("detectable ms")),
    ]);
    for i in focus.analysis.impact.iter().take(most) {
        let stall = i.stall_ms.as_ref();
        let cells = vec![
            words::direction(focus.analysis, i.tunnel, i.direction),
            words::verdict(i.verdict).to_string(),
            format::count(i.rekeys_used as u64),
            format::count(i.rekeys_hurt.len() as u64),
            or_unknown(i.observed_bps, format::rate),
            or_unknown(stall.map(|s| s.mean), format::millis),
            or_unknown(stall.map(|s| s.low), format::millis),
            or_unknown(stall.map(|s| s.high), format::millis),
            or_unknown(i.p, format::probability),
            or_unknown(i.mde_ms, format::millis),
        ];
        table.push(
            if i.rekeys_hurt.is_empty() {
                Mark::None
            } else {
                Mark::Alert
            },
            cells,
        );
    }
    table
        .notes
        .push("rekeys: those within the transfer; stall: mean per rekey.".to_string());
    table.note_left_out(
        focus.analysis.impact.len().saturating_sub(most),
        "verdicts",
        "--json",
    );
    table
}

/// Reruns of the verdicts with one choice changed.
pub(crate) fn sensitivity(focus: &Focus) -> Table {
    let mut table = Table::new(&[
        left("direction"),
        left("changed"),
        left("verdict"),
        right("stall ms"),
        right("p"),
        left("agreement"),
    ]);
    for i in &focus.analysis.impact {
        for s in &i.sensitivity {
            let cells = vec![
                words::direction(focus.analysis, i.tunnel, i.direction),
                clean::line(&s.change),
                words::verdict(s.verdict).to_string(),
                or_unknown(s.stall_ms, format::millis),
                or_unknown(s.p, format::probability),
                if s.disagrees { "disagrees" } else { "" }.to_string(),
            ];
            table.push(if s.disagrees { Mark::Alert } else { Mark::None }, cells);
        }
    }
    table
}

/// Rates to expect at other lifetimes.
pub(crate) fn projection(focus: &Focus) -> Table {
    let mut table = Table::new(&[
        left("direction"),
        right("lifetime"),
        right("expected rate"),
        right("from"),
        right("to"),
    ]);
    for p in &focus.analysis.projection {
        let cells = vec![
            words::direction(focus.analysis, p.tunnel, p.direction),
            format!("{} kB", format::count(p.lifetime_kilobytes)),
            format::rate(p.expected_bps.estimate),
            format::rate(p.expected_bps.low),
            format::rate(p.expected_bps.high),
        ];
        table.push(Mark::None, cells);
    }
    table
}

/// Wire bytes against inner bytes.
pub(crate) fn overhead(focus: &Focus) -> Table {
    let mut table = Table::new(&[
        left("cipher suite"),
        right("packets"),
        right("on the wire"),
        right("inner"),
        right("efficiency"),
        right("IV"),
        right("padding"),
        right("ICV"),
        right("largest inner packet"),
    ]);
    for o in &focus.analysis.overhead {
        let cells = vec![
            clean::line(&o.suite),
            format::count(o.packets),
            format::bytes(o.outer_bytes),
            format::bytes(o.inner_bytes),
            format::percent(o.efficiency),
            format::bytes(o.iv),
            format::bytes(o.padding),
            format::bytes(o.icv),
            format!("{} B", format::count(o.largest_inner_packet)),
        ];
        table.push(Mark::None, cells);
    }
    table
}

/// Inner flows, most bytes first.
pub(crate) fn flows(focus: &Focus, most: usize) -> Table {
    let mut table = Table::new(&[
        left("flow"),
        left("proto."),
        right("packets"),
        right("new bytes"),
        right("retransmitted"),
    ]);
    for f in focus.analysis.flows.iter().take(most) {
        let end = |address: std::net::IpAddr, port: Option<u16>| match port {
            Some(port) => std::net::SocketAddr::new(address, port).to_string(),
            None => address.to_string(),
        };
        let cells = vec![
            format!("{} → {}", end(f.src, f.src_port), end(f.dst, f.dst_port)),
            clean::line(&f.protocol),
            format::count(f.packets),
            format::bytes(f.new_bytes),
            format::bytes(f.retransmitted_bytes),
        ];
        table.push(Mark::None, cells);
    }
    table.note_left_out(focus.analysis.flows.len().saturating_sub(most), "flows", "--json");
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn every_row_has_a_cell_per_column() {
        for document in example::all() {
            let focus = Focus::new(&document);
            let mut tables = vec![
                verdicts(&focus, 50),
                sensitivity(&focus),
                projection(&focus),
                overhead(&focus),
                flows(&focus, 9),
            ];
            for tunnel in 0..=document.tunnels.len() {
                tables.push(rekeys(&focus, tunnel, 50));
                tables.push(security_associations(&focus, tunnel, 50));
            }
            for table in tables {
                assert!(table.rows.iter().all(|r| r.cells.len() == table.columns.len()));
            }
        }
    }

    #[test]
    fn a_long_list_says_where_the_rest_is() {
        let document = example::build(&example::Shape {
            rekeys: 500,
            ..Default::default()
        });
        let table = rekeys(&Focus::new(&document), 0, 50);
        assert_eq!(table.rows.len(), 50);
        assert!(
            table.notes[1].starts_with("450 more rekeys are not listed here"),
            "{:?}",
            table.notes
        );
    }
}
