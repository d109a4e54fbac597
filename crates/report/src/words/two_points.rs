//! Another capture point of the same tunnels, in words.

use crate::words::clean;
use rekeyscope_model::analysis::TwoPoints;
use rekeyscope_model::text::Catalogue;

/// What is said of another capture point.
pub(crate) fn two_points(t: &Catalogue, points: &TwoPoints) -> String {
    clean::said(t, &points.sentence, &points.messages)
}

/// What each rekey lost between the points.
pub(crate) fn lost_between(t: &Catalogue, points: &TwoPoints, most: usize) -> Vec<String> {
    let rekeys = points.rekeys.iter().take(most);
    rekeys.map(|r| clean::said(t, &r.sentence, &r.messages)).collect()
}
