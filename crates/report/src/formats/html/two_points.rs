//! Another capture point of the same tunnels, on a page.

use crate::formats::html::views::MOST_ROWS;
use crate::tables::{self, Table};
use crate::words;
use rekeyscope_model::analysis::TwoPoints;
use rekeyscope_model::text::Catalogue;

pub(super) struct TwoPointsView {
    pub(super) sentence: String,
    pub(super) table: Table,
    pub(super) rekeys: Vec<String>,
}

impl TwoPointsView {
    pub(super) fn new(t: &Catalogue, points: &TwoPoints) -> TwoPointsView {
        TwoPointsView {
            sentence: words::two_points(t, points),
            table: tables::two_points(t, points).without_empty(),
            rekeys: words::lost_between(t, points, MOST_ROWS),
        }
    }
}
