//! The table of transfers, where rests part several.

use crate::tables::table::{Table, WIDE, alert_if, cost, first};
use crate::words;
use crate::words::focus::Focus;
use crate::words::format::{self, or_unknown};
use rekeyscope_model::analysis::{Impact, TransferImpact};

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
