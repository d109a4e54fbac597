//! Text in plots.

use crate::words::cost_of;
use crate::words::focus::Focus;
use rekeyscope_model::analysis::Rekey;

/// `: lost 0.21 s`; empty where the rekey did nothing.
pub(crate) fn effect_of(focus: &Focus, rekey: &Rekey) -> String {
    let cost = cost_of(focus, rekey);
    cost.map_or_else(String::new, |cost| fill!(focus.t, "plot-effect", cost))
}

/// A tick without needless digits.
pub(crate) fn plain(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    // −0 is 0.
    (rounded + 0.0).to_string().replace('-', "−")
}
