//! Text in plots.

use crate::words::focus::{Focus, is_hurt};
use crate::words::format;
use rekeyscope_model::analysis::Rekey;

/// `: stall 201 ms, hurt`.
pub(crate) fn stall_of(focus: &Focus, rekey: &Rekey) -> String {
    let stall = focus.stall_ms(rekey).map(format::duration_ms);
    let t = focus.t;
    match (stall, is_hurt(rekey)) {
        (Some(stall), true) => t.fill("plot-stall-hurt", &[("stall", &stall)]),
        (Some(stall), false) => t.fill("plot-stall", &[("stall", &stall)]),
        (None, true) => t.word("plot-hurt"),
        (None, false) => String::new(),
    }
}

/// A tick without needless digits.
pub(crate) fn plain(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    // −0 is 0.
    (rounded + 0.0).to_string().replace('-', "−")
}
