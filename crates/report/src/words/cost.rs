//! Cost of a rekey, in words.

use crate::words::focus::{Focus, is_hurt};
use crate::words::format;
use rekeyscope_model::analysis::{Rekey, RekeyImpact};
use rekeyscope_model::text::Catalogue;

/// The flag of a rekey beside which the capture lacks packets.
const HOLE: &str = "capture_hole";

/// Effect of a rekey on a direction; empty where there is none.
pub(crate) fn effect(t: &Catalogue, impact: Option<&RekeyImpact>) -> String {
    let lacks = |i: &RekeyImpact| i.flags.iter().any(|flag| flag == HOLE);
    match impact {
        Some(i) if i.hurt => match i.why {
            Some(why) => t.name("effect", why.as_str()),
            // A document of an earlier version.
            None => t.word("effect-stopped"),
        },
        Some(i) if i.used => String::new(),
        Some(i) if lacks(i) => t.word("effect-not-observed"),
        _ => t.word("effect-outside"),
    }
}

/// The seconds that a rekey cost the direction that is shown; 0 where that is nothing or not known.
pub(crate) fn cost_seconds(focus: &Focus, rekey: &Rekey) -> f64 {
    let seconds = focus.shown(rekey).and_then(|impact| impact.cost_seconds);
    seconds.filter(|s| !format::is_nothing(*s)).unwrap_or(0.0)
}

/// `lost 0.23 s` of a rekey that hurt; nothing of others.
pub(crate) fn cost_of(focus: &Focus, rekey: &Rekey) -> Option<String> {
    let impact = focus.shown(rekey).filter(|_| is_hurt(rekey))?;
    let t = focus.t;
    Some(match impact.cost_seconds.filter(|s| s.is_finite()) {
        Some(s) => {
            let cost = format::least(impact.at_least, format::seconds(s));
            fill!(t, "plot-lost", cost)
        }
        None => t.word("plot-hurt"),
    })
}
