//! Packets at two capture points, per direction.

use crate::tables::table::{Mark, Table, WIDE};
use crate::words::clean;
use crate::words::format::{self, or_unknown};
use rekeyscope_impact::tell::two_points::millis;
use rekeyscope_model::analysis::{PointDelay, PointDirection, TwoPoints};
use rekeyscope_model::text::Catalogue;

/// One row per tunnel and direction.
pub(crate) fn two_points(t: &Catalogue, points: &TwoPoints) -> Table {
    let delay = |d: &PointDirection, of: fn(&PointDelay) -> f64| {
        let known = d.delay_ms.as_ref().or(d.variation_ms.as_ref());
        or_unknown(known.map(of), millis)
    };
    let mut table = Table::of(t, &points.directions)
        .marked(|d| match d.lost_between {
            Some(1..) => Mark::Alert,
            _ => Mark::None,
        })
        .left("column-direction", |d| {
            clean::line(&format!("{} → {}", d.src, d.dst))
        })
        .right("column-point-both", |d| format::count(d.both))
        .right("column-point-lost", |d| or_unknown(d.lost_between, format::count))
        .right("column-point-neither", |d| format::count(d.missing_at_both))
        .right_from(WIDE, "column-point-only-here", |d| format::count(d.only_here))
        .right_from(WIDE, "column-point-only-there", |d| format::count(d.only_there))
        .right_from(WIDE, "column-point-reordered", |d| format::count(d.reordered))
        .right_from(WIDE, "column-point-least", |d| delay(d, |delay| delay.least))
        .right("column-point-median", |d| delay(d, |delay| delay.median))
        .right("column-point-p95", |d| delay(d, |delay| delay.p95))
        .right_from(WIDE, "column-point-most", |d| delay(d, |delay| delay.most))
        .table;
    if !points.directions.is_empty() {
        let absolute = points.directions.iter().any(|d| d.delay_ms.is_some());
        table.notes.push(match absolute {
            true => t.word("note-two-points"),
            false => t.word("note-two-points-variation"),
        });
    }
    table
}
