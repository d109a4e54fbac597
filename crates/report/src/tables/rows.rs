//! The tables of a report, independent of the format that lays them out.

use crate::tables::table::{Mark, Table};

use crate::tables::table::{WIDE, WIDER, from, left, right};
use crate::words::focus::{Focus, began, is_hurt, name};
use crate::words::format::{self, or_unknown};
use crate::words::{self, clean};
use rekeyscope_model::analysis::{Encapsulation, Outcome, Overlay};
use std::collections::BTreeSet;

/// One row per tunnel and direction: the verdicts.
pub(crate) fn verdicts(focus: &Focus, most: usize) -> Table {
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            left("column-direction"),
            left("column-verdict"),
            right("column-rekeys"),
            right("column-hurt"),
            right("column-rate"),
            right("column-stall-ms"),
            from(WIDE, right("column-95-from")),
            from(WIDE, right("column-95-to")),
            from(WIDE, right("column-p")),
            from(WIDE, right("column-detectable-ms")),
        ],
    );
    for i in focus.analysis.impact.iter().take(most) {
        let stall = i.stall_ms.as_ref();
        let cells = vec![
            words::direction(t, focus.analysis, i.tunnel, i.direction),
            words::verdict(t, i.verdict),
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
    table.notes.push(t.word("note-verdicts"));
    let left_out = focus.analysis.impact.len().saturating_sub(most);
    table.note_left_out(t, "left-out-verdicts", left_out);
    table
}

/// Reruns of the verdicts with one choice changed.
pub(crate) fn sensitivity(focus: &Focus) -> Table {
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            left("column-direction"),
            left("column-changed"),
            left("column-verdict"),
            right("column-stall-ms"),
            right("column-p"),
            left("column-agreement"),
        ],
    );
    for i in &focus.analysis.impact {
        for s in &i.sensitivity {
            let cells = vec![
                words::direction(t, focus.analysis, i.tunnel, i.direction),
                clean::said(t, &s.change, &s.messages),
                words::verdict(t, s.verdict),
                or_unknown(s.stall_ms, format::millis),
                or_unknown(s.p, format::probability),
                match s.disagrees {
                    true => t.word("disagrees"),
                    false => String::new(),
                },
            ];
            table.push(if s.disagrees { Mark::Alert } else { Mark::None }, cells);
        }
    }
    table
}

/// Rates to expect at other lifetimes.
pub(crate) fn projection(focus: &Focus) -> Table {
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            left("column-direction"),
            right("column-lifetime"),
            right("column-expected-rate"),
            right("column-from"),
            right("column-to"),
        ],
    );
    for p in &focus.analysis.projection {
        let cells = vec![
            words::direction(t, focus.analysis, p.tunnel, p.direction),
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
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            left("column-suite"),
            right("column-packets"),
            right("column-on-the-wire"),
            right("column-inner"),
            right("column-efficiency"),
            from(WIDE, right("column-iv")),
            from(WIDE, right("column-padding")),
            from(WIDE, right("column-icv")),
            from(WIDE, right("column-headers")),
            from(WIDER, right("column-largest-packet")),
            from(WIDER, right("column-inner")),
            right("column-mss-ipv4"),
            from(WIDER, right("column-mss-ipv6")),
        ],
    );
    let size = |bytes: Option<u64>| or_unknown(bytes, |b| format!("{} B", format::count(b)));
    for o in &focus.analysis.overhead {
        let suite = clean::line(&o.suite);
        let cells = vec![
            match o.encapsulation {
                Some(Encapsulation::Udp) => t.fill("suite-in-udp", &[("suite", &suite)]),
                _ => suite,
            },
            format::count(o.packets),
            format::bytes(o.outer_bytes),
            format::bytes(o.inner_bytes),
            format::percent(o.efficiency),
            format::bytes(o.iv),
            format::bytes(o.padding),
            format::bytes(o.icv),
            format::bytes(o.outer_headers),
            size(o.largest_outer_packet),
            size(o.largest_inner_for_path),
            size(o.mss_ipv4),
            size(o.mss_ipv6),
        ];
        table.push(Mark::None, cells);
    }
    let paths: BTreeSet<u64> = focus
        .analysis
        .overhead
        .iter()
        .filter_map(|o| o.largest_outer_packet)
        .collect();
    let paths: Vec<String> = paths.into_iter().map(format::count).collect();
    if !paths.is_empty() {
        let paths = t.joined(&paths);
        table.notes.push(t.fill("note-path-mtu", &[("paths", &paths)]));
    }
    table
}

/// Inner flows, most bytes first.
pub(crate) fn flows(focus: &Focus, most: usize) -> Table {
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            left("column-flow"),
            left("column-protocol"),
            right("column-packets"),
            right("column-new-bytes"),
            right("column-retransmitted"),
        ],
    );
    for f in focus.analysis.flows.iter().take(most) {
        let end = |address: std::net::IpAddr, port: Option<u16>| match port {
            Some(port) => std::net::SocketAddr::new(address, port).to_string(),
            None => address.to_string(),
        };
        let cells = vec![
            format!("{} → {}", end(f.src, f.src_port), end(f.dst, f.dst_port)),
            words::protocol(&f.protocol),
            format::count(f.packets),
            format::bytes(f.new_bytes),
            format::bytes(f.retransmitted_bytes),
        ];
        table.push(Mark::None, cells);
    }
    let left_out = focus.analysis.flows.len().saturating_sub(most);
    table.note_left_out(t, "left-out-flows", left_out);
    table
}

/// Causes that no rekey has.
pub(crate) fn ruled_out(focus: &Focus) -> Table {
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            left("column-cause"),
            left("column-meaning"),
            left("column-result"),
        ],
    );
    for r in &focus.analysis.ruled_out {
        let mark = match r.outcome {
            Outcome::Absent => Mark::None,
            Outcome::NotTestable | Outcome::NoOccasion => Mark::Faint,
        };
        let cells = vec![clean::line(&r.id), words::cause(t, &r.id), words::ruled_out(t, r)];
        table.push(mark, cells);
    }
    table
}

/// An overlay's values around the rekeys that it covers.
pub(crate) fn overlay(focus: &Focus, overlay: &Overlay, most: usize) -> Table {
    let t = focus.t;
    let mut table = Table::new(
        t,
        &[
            left("column-rekey"),
            right("column-time-s"),
            right("column-before"),
            right("column-lowest"),
            right("column-highest"),
            right("column-stall-ms"),
        ],
    );
    let value = |v: Option<f64>| words::overlay_value(overlay, v);
    for at in overlay.at_rekeys.iter().take(most) {
        let Some(rekey) = focus.analysis.rekeys.get(at.rekey) else {
            continue;
        };
        let stall = focus.shown(rekey).and_then(|s| s.window).map(|w| w.stall_ms);
        let cells = vec![
            name(t, focus.analysis, rekey),
            or_unknown(began(rekey).and_then(|t| focus.seconds(t)), format::clock),
            value(at.before),
            value(at.lowest),
            value(at.highest),
            or_unknown(stall, format::millis),
        ];
        table.push(if is_hurt(rekey) { Mark::Alert } else { Mark::None }, cells);
    }
    if !table.rows.is_empty() {
        table.notes.push(t.word("note-overlay"));
    }
    let left_out = overlay.at_rekeys.len().saturating_sub(most);
    table.note_left_out(t, "left-out-overlay", left_out);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{rekeys, security_associations};
    use rekeyscope_testkit::example;

    #[test]
    fn every_row_has_a_cell_per_column() {
        for document in example::all() {
            let focus = Focus::new(&document, rekeyscope_model::text::Language::English);
            let mut tables = vec![
                verdicts(&focus, 50),
                sensitivity(&focus),
                projection(&focus),
                overhead(&focus),
                flows(&focus, 9),
                ruled_out(&focus),
            ];
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
