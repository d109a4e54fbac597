//! The tables of a report, independent of the format that lays them out.

use crate::tables::table::{Table, WIDE, WIDER, alert_if, cost, first, ms};
use crate::words::focus::{Focus, began, is_hurt};
use crate::words::format::{self, or_unknown};
use crate::words::{self, clean};
use rekeyscope_model::analysis::{
    Encapsulation, Flow, FlowTcp, Impact, Ledger, Overhead, Overlay, Projection, TransferImpact,
};
use std::collections::BTreeSet;

/// One row per tunnel and direction: the verdicts.
pub(crate) fn verdicts(focus: &Focus, most: usize) -> Table {
    let t = focus.t;
    let all = &focus.analysis.impact;
    let ledger = |i: &Impact| focus.ledger(i).filter(|_| focus.measured(i) > 0);
    let of = |i: &Impact, value: fn(&Ledger) -> f64| ledger(i).map(value);
    let mut table = Table::of(t, first(all, most))
        .marked(|i| alert_if(!i.rekeys_hurt.is_empty()))
        .left("column-direction", |i| focus.direction(i))
        .left("column-verdict", |i| words::verdict(t, i.verdict))
        .right("column-rekeys", |i| format::count(i.rekeys_used as u64))
        .right("column-hurt", |i| match focus.measured(i) {
            0 if i.rekeys_used > 0 => format::UNKNOWN.to_owned(),
            _ => format::count(i.rekeys_hurt.len() as u64),
        })
        .right("column-rate", |i| or_unknown(i.observed_bps, format::rate))
        .right("column-lost-to-rekeys", |i| {
            cost(of(i, |l| l.cost_seconds), ledger(i).is_some_and(|l| l.at_least))
        })
        .right("column-share", |i| {
            or_unknown(of(i, |l| l.share), format::percent)
        })
        .right("column-without-rekeys", |i| {
            or_unknown(of(i, |l| l.without_mbps * 1e6), format::rate)
        })
        .table;
    table.notes.push(t.word("note-verdicts"));
    table.note_left_out(t, "left-out-verdicts", all.len().saturating_sub(most));
    table
}

/// The same for a screen; of one tunnel it says `up` and `down` in place of addresses, which would be two lines.
pub(crate) fn verdicts_in_brief(focus: &Focus) -> Table {
    let mut table = verdicts(focus, usize::MAX);
    if focus.tunnels.len() == 1 {
        for (row, i) in table.rows.iter_mut().zip(&focus.analysis.impact) {
            row.cells[0] = words::ends::up_or_down(focus.t, i.direction);
        }
    }
    table
}

/// Rates to expect at other lifetimes; lifetimes of a direction that give the same rate share a row.
pub(crate) fn projection(focus: &Focus) -> Table {
    let t = focus.t;
    let rate = |p: &Projection| format::rate(p.expected_bps.estimate);
    let all = &focus.analysis.projection;
    let alike =
        |a: &Projection, b: &Projection| (a.tunnel, a.direction, rate(a)) == (b.tunnel, b.direction, rate(b));
    let rows: Vec<&[Projection]> = all.chunk_by(alike).collect();
    let least = |of: &[Projection]| {
        of.iter()
            .map(|p| p.expected_bps.low)
            .fold(f64::INFINITY, f64::min)
    };
    let most = |of: &[Projection]| of.iter().map(|p| p.expected_bps.high).fold(0.0, f64::max);
    Table::of(t, &rows)
        .left("column-direction", |of| {
            words::direction(t, focus.analysis, of[0].tunnel, of[0].direction)
        })
        .right("column-lifetime", |of| {
            let mut ends = vec![format::count(of[0].lifetime_kilobytes)];
            ends.extend(of[1..].last().map(|p| format::count(p.lifetime_kilobytes)));
            format!("{} kB", ends.join("–"))
        })
        .right("column-expected-rate", |of| rate(&of[0]))
        .right("column-from", |of| format::rate(least(of)))
        .right("column-to", |of| format::rate(most(of)))
        .table
}

/// Wire bytes against inner bytes.
pub(crate) fn overhead(focus: &Focus) -> Table {
    let t = focus.t;
    let size = |bytes: Option<u64>| or_unknown(bytes, |b| format!("{} B", format::count(b)));
    let mut table = Table::of(t, &focus.analysis.overhead)
        .left("column-suite", |o| match o.encapsulation {
            Some(Encapsulation::Udp) => fill!(t, "suite-in-udp", suite = clean::line(&o.suite)),
            _ => clean::line(&o.suite),
        })
        .right("column-packets", |o| format::count(o.packets))
        .right("column-on-the-wire", |o| format::bytes(o.outer_bytes))
        .right("column-inner", |o| format::bytes(o.inner_bytes))
        .right("column-efficiency", |o| format::percent(o.efficiency))
        .right_from(WIDE, "column-iv", |o| format::bytes(o.iv))
        .right_from(WIDE, "column-padding", |o| format::bytes(o.padding))
        .right_from(WIDE, "column-icv", |o| format::bytes(o.icv))
        .right_from(WIDE, "column-headers", |o| format::bytes(o.outer_headers))
        .right_from(WIDER, "column-largest-packet", |o| size(o.largest_outer_packet))
        .right_from(WIDER, "column-inner", |o| size(o.largest_inner_for_path))
        .right("column-mss-ipv4", |o| size(o.mss_ipv4.filter(|_| may_be_path(o))))
        .right_from(WIDER, "column-mss-ipv6", |o| {
            size(o.mss_ipv6.filter(|_| may_be_path(o)))
        })
        .table
        .without_empty();
    let paths = focus.analysis.overhead.iter().filter(|o| may_be_path(o));
    let paths: BTreeSet<u64> = paths.filter_map(|o| o.largest_outer_packet).collect();
    let paths: Vec<String> = paths.into_iter().map(format::count).collect();
    if !paths.is_empty() {
        let paths = t.joined(&paths);
        table.notes.push(fill!(t, "note-path-mtu", paths));
    }
    table
}

/// Every path takes packets of 576 bytes (RFC 791 §3.1): smaller ones say nothing of it.
fn may_be_path(overhead: &Overhead) -> bool {
    overhead
        .largest_outer_packet
        .is_some_and(|largest| largest >= 576)
}

/// Inner flows, most bytes first.
pub(crate) fn flows(focus: &Focus, most: usize) -> Table {
    let t = focus.t;
    let all = &focus.analysis.flows;
    let measured = |f: &Flow, of: fn(&FlowTcp) -> Option<f64>| f.tcp.as_ref().and_then(of);
    let bytes = |n: Option<f64>| or_unknown(n, |n| format::bytes(n as u64));
    let mut table = Table::of(t, first(all, most))
        .left("column-flow", words::flow)
        .left("column-protocol", |f| words::protocol(&f.protocol))
        .right("column-packets", |f| format::count(f.packets))
        .right("column-new-bytes", |f| format::bytes(f.new_bytes))
        .right("column-retransmitted", |f| format::bytes(f.retransmitted_bytes))
        .right_from(WIDE, "column-retransmitted-share", |f| {
            or_unknown(f.retransmitted_share, format::percent)
        })
        .right_from(WIDE, "column-handshake-ms", |f| {
            ms(measured(f, |tcp| tcp.handshake_rtt_ms))
        })
        .right_from(WIDE, "column-rtt-ms", |f| ms(measured(f, |tcp| tcp.rtt_ms)))
        .right_from(WIDER, "column-ack-rtt-ms", |f| {
            ms(measured(f, |tcp| tcp.ack_rtt_ms))
        })
        .right_from(WIDER, "column-window", |f| {
            bytes(measured(f, |tcp| Some(tcp.largest_window_bytes? as f64)))
        })
        .right_from(WIDER, "column-in-flight", |f| {
            bytes(measured(f, |tcp| Some(tcp.largest_in_flight_bytes as f64)))
        })
        .table;
    if all.iter().any(|f| f.tcp.is_some()) {
        table.notes.push(t.word("note-flows"));
    }
    table.note_left_out(t, "left-out-flows", all.len().saturating_sub(most));
    table
}

/// An overlay's values around the rekeys that it covers.
pub(crate) fn overlay(focus: &Focus, overlay: &Overlay, most: usize) -> Table {
    let t = focus.t;
    let value = |v: Option<f64>| words::overlay_value(overlay, v);
    let known = first(&overlay.at_rekeys, most).iter();
    let known: Vec<_> = known
        .filter_map(|at| Some((focus.analysis.rekeys.get(at.rekey)?, at)))
        .collect();
    let mut table = Table::of(t, &known)
        .marked(|(rekey, _)| alert_if(is_hurt(rekey)))
        .left("column-rekey", |(rekey, _)| focus.name(rekey))
        .right("column-time-s", |(rekey, _)| focus.clock(began(rekey)))
        .right("column-before", |(_, at)| value(at.before))
        .right("column-lowest", |(_, at)| value(at.lowest))
        .right("column-highest", |(_, at)| value(at.highest))
        .right("column-lost", |(rekey, _)| {
            let shown = focus.shown(rekey);
            cost(
                shown.and_then(|i| i.cost_seconds),
                shown.is_some_and(|i| i.at_least),
            )
        })
        .table;
    if !table.rows.is_empty() {
        table.notes.push(t.word("note-overlay"));
    }
    let left_out = overlay.at_rekeys.len().saturating_sub(most);
    table.note_left_out(t, "left-out-overlay", left_out);
    table
}

// The table of transfers, where rests part several.

/// One row per transfer of the directions that have several; empty where none has.
pub(crate) fn transfers(focus: &Focus, most: usize) -> Table {
    let t = focus.t;
    let several = focus.analysis.impact.iter().filter(|i| i.transfers.len() > 1);
    let rows: Vec<(&Impact, usize, &TransferImpact)> = several
        .flat_map(|i| {
            (1..)
                .zip(&i.transfers)
                .map(move |(number, transfer)| (i, number, transfer))
        })
        .collect();
    let mut table = Table::of(t, first(&rows, most))
        .marked(|(_, _, of)| alert_if(of.cost_seconds.is_some_and(|s| !format::is_nothing(s))))
        .left("column-direction", |(i, ..)| {
            words::direction(t, focus.analysis, i.tunnel, i.direction)
        })
        .right("column-number", |(_, number, _)| number.to_string())
        .right("column-from-s", |(.., of)| focus.clock(Some(of.start)))
        .right("column-to-s", |(.., of)| focus.clock(Some(of.end)))
        .right("column-new-bytes", |(.., of)| format::bytes(of.bytes as u64))
        .right_from(WIDE, "column-rate", |(.., of)| or_unknown(rate(of), format::rate))
        .right("column-rekeys", |(.., of)| format::count(of.rekeys.len() as u64))
        .right("column-lost-to-rekeys", |(.., of)| cost(of.cost_seconds, false))
        .table;
    table.note_left_out(t, "left-out-transfers", rows.len().saturating_sub(most));
    table
}

fn rate(of: &TransferImpact) -> Option<f64> {
    let seconds = of.end.seconds_since(of.start);
    (seconds > 0.0).then(|| of.bytes * 8.0 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{rekeys, security_associations, transfers};
    use rekeyscope_testkit::example;

    #[test]
    fn every_row_has_a_cell_per_column() {
        for document in example::all() {
            let focus = Focus::new(&document, rekeyscope_model::text::Language::English);
            let mut tables = vec![
                verdicts(&focus, 50),
                transfers(&focus, 50),
                projection(&focus),
                overhead(&focus),
                flows(&focus, 9),
            ];
            tables.extend(
                document
                    .account
                    .iter()
                    .map(|of| crate::tables::account(&focus, of)),
            );
            tables.extend(document.overlays.iter().map(|o| overlay(&focus, o, 9)));
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
    fn lifetimes_that_give_the_same_rate_are_one_row() {
        let mut document = example::seven_rekeys();
        let listed = |document: &rekeyscope_model::analysis::Analysis| {
            let focus = Focus::new(document, rekeyscope_model::text::Language::English);
            let rows = projection(&focus).rows.into_iter();
            rows.map(|row| row.cells[1].clone()).collect::<Vec<_>>()
        };
        assert_eq!(listed(&document), ["500,000 kB", "1,000,000–10,000,000 kB"]);
        let first = document.projection[0].expected_bps.clone();
        document
            .projection
            .iter_mut()
            .for_each(|p| p.expected_bps = first.clone());
        assert_eq!(listed(&document), ["500,000–10,000,000 kB"]);
    }

    #[test]
    fn a_long_list_says_where_the_rest_is() {
        let document = example::build(&example::Shape {
            rekeys: 500,
            ..Default::default()
        });
        let table = rekeys(
            &Focus::new(&document, rekeyscope_model::text::Language::English),
            0,
            50,
        );
        assert_eq!(table.rows.len(), 50);
        assert!(
            table
                .notes
                .iter()
                .any(|n| n.starts_with("450 more rekeys are not listed here")),
            "{:?}",
            table.notes
        );
    }
}
