//! Line 1: the number.

use crate::words::focus::Focus;
use crate::words::verdict::told_failure;
use crate::words::{clean, format};
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::text::Catalogue;

pub(super) fn headline(focus: &Focus) -> String {
    let (analysis, t) = (focus.analysis, focus.t);
    if let Some(told) = told_failure(analysis) {
        return clean::sentence(&t.say(&told.headline));
    }
    match analysis.impact.first() {
        Some(headline) => clean::first_said(t, &headline.sentence, &headline.messages),
        None => without_verdict(t, analysis),
    }
}

/// Without a transfer in a tunnel there is no verdict.
fn without_verdict(t: &Catalogue, analysis: &Analysis) -> String {
    let rekeys = format::counted(t, "counted-rekeys", analysis.rekeys.len() as u64);
    match analysis.capture.packets {
        0 => t.word("no-verdict-empty"),
        _ if analysis.capture.ike_packets == 0 || analysis.tunnels.is_empty() => {
            t.word("no-verdict-no-tunnel")
        }
        _ if analysis.rekeys.is_empty() => t.word("no-verdict-ike-only"),
        _ => t.fill("no-verdict-ike-rekeys", &[("rekeys", &rekeys)]),
    }
}
