//! Packets at two capture points, as tables for spreadsheets.

use super::{cell, columns, number};
use rekeyscope_model::analysis::{PointDelay, PointDirection, TwoPoints};

/// Delays where the clocks are known, and how they vary where not.
fn delay(d: &PointDirection, of: fn(&PointDelay) -> f64) -> String {
    number(d.delay_ms.as_ref().map(of))
}

fn variation(d: &PointDirection, of: fn(&PointDelay) -> f64) -> String {
    number(d.variation_ms.as_ref().map(of))
}

/// One row per tunnel and direction.
pub(super) fn directions(points: &TwoPoints) -> Vec<u8> {
    columns::<PointDirection, _>(
        &points.directions,
        [
            ("tunnel", |d| d.tunnel.to_string()),
            ("direction", |d| d.direction.to_string()),
            ("src", |d| d.src.to_string()),
            ("dst", |d| d.dst.to_string()),
            ("order", |d| d.order.to_string()),
            ("order_by", |d| cell(d.order_by)),
            ("both", |d| d.both.to_string()),
            ("only_here", |d| d.only_here.to_string()),
            ("only_there", |d| d.only_there.to_string()),
            ("outside", |d| d.outside.to_string()),
            ("lost_between", |d| cell(d.lost_between)),
            ("not_recorded", |d| cell(d.not_recorded)),
            ("missing_at_both", |d| d.missing_at_both.to_string()),
            ("duplicates_here", |d| d.duplicates_here.to_string()),
            ("duplicates_there", |d| d.duplicates_there.to_string()),
            ("reordered", |d| d.reordered.to_string()),
            ("delay_ms_least", |d| delay(d, |d| d.least)),
            ("delay_ms_median", |d| delay(d, |d| d.median)),
            ("delay_ms_p95", |d| delay(d, |d| d.p95)),
            ("delay_ms_most", |d| delay(d, |d| d.most)),
            ("variation_ms_least", |d| variation(d, |d| d.least)),
            ("variation_ms_median", |d| variation(d, |d| d.median)),
            ("variation_ms_p95", |d| variation(d, |d| d.p95)),
            ("variation_ms_most", |d| variation(d, |d| d.most)),
            ("ike_both", |d| d.ike_both.to_string()),
            ("ike_only_here", |d| d.ike_only_here.to_string()),
            ("ike_only_there", |d| d.ike_only_there.to_string()),
        ],
    )
}

/// One row per rekey and direction that lost something.
pub(super) fn rekeys(points: &TwoPoints) -> Vec<u8> {
    columns(
        &points.rekeys,
        [
            ("rekey", |r| r.rekey.to_string()),
            ("number", |r| r.number.to_string()),
            ("tunnel", |r| r.tunnel.to_string()),
            ("direction", |r| r.direction.to_string()),
            ("old_spi", |r| cell(r.old_spi)),
            ("old_lost", |r| r.old_lost.to_string()),
            ("new_spi", |r| cell(r.new_spi)),
            ("new_lost", |r| r.new_lost.to_string()),
            ("sent", |r| r.sent.to_string()),
            ("usual_lost", |r| number(r.usual_lost)),
            ("ike_lost", |r| r.ike_lost.to_string()),
            ("first_ms", |r| number(Some(r.first_ms))),
            ("last_ms", |r| number(Some(r.last_ms))),
        ],
    )
}
