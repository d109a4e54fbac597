//! A comparison of captures as text and as CSV. The HTML page is in [`crate::formats::html::comparison`].

use crate::formats::csv::{cell, columns, number, text};
use crate::formats::sections::Page;
use crate::formats::terminal::TerminalPage;
use crate::formats::text::top::TextOptions;
use crate::tables;
use crate::words::clean;
use rekeyscope_model::analysis::comparison::{ComparedCapture, Comparison};
use rekeyscope_model::analysis::{AccountGap, Estimate};
use rekeyscope_model::text::Catalogue;

/// Captures shown against the fastest; the others are in the document.
pub(crate) const MOST_GAPS: usize = 12;

/// The terminal report, ending in a newline: the answer first.
pub fn render_text(comparison: &Comparison, options: TextOptions) -> String {
    let t = Catalogue::of(options.language);
    let mut page = TerminalPage::new(options.width, options.color);
    page.emphasised(
        &clean::said(t, &comparison.answer, &comparison.answer_messages),
        None,
    );
    page.blank();
    page.table(&tables::comparison(t, comparison));
    for gap in comparison.gaps.iter().take(MOST_GAPS) {
        page.heading(&gap_title(t, gap));
        page.paragraph(&clean::said(t, &gap.sentence, &gap.messages));
        page.table(&tables::gap(t, gap));
    }
    page.blank();
    page.paragraph(&clean::said(
        t,
        &comparison.efficiency,
        &comparison.efficiency_messages,
    ));
    for note in notes(t, comparison) {
        page.paragraph(&note);
    }
    for unread in &comparison.unread {
        let reason = clean::line(&unread.reason);
        page.paragraph(&t.fill("not-compared", &[("reason", &reason)]));
    }
    page.finish()
}

/// The heading of a capture against another one.
pub(crate) fn gap_title(t: &Catalogue, gap: &AccountGap) -> String {
    let (capture, reference) = (clean::line(&gap.capture), clean::line(&gap.reference));
    t.fill("heading-gap", &[("capture", &capture), ("reference", &reference)])
}

/// The reservations.
pub(crate) fn notes(t: &Catalogue, comparison: &Comparison) -> Vec<String> {
    clean::all_said(t, &comparison.notes, &comparison.notes_messages)
}

/// One row per capture; numbers unformatted, an empty cell is unknown.
pub fn render_csv(comparison: &Comparison) -> Vec<u8> {
    fn cost(c: &ComparedCapture, of: fn(&Estimate) -> f64) -> String {
        number(c.rekey_cost_s.as_ref().map(of))
    }
    columns(
        &comparison.captures,
        [
            ("path", |c| text(&c.path)),
            ("src", |c| cell(c.src)),
            ("dst", |c| cell(c.dst)),
            ("direction", |c| cell(c.direction)),
            ("verdict", |c| cell(c.verdict)),
            ("counted", |c| cell(c.counted)),
            ("suite", |c| text(c.suite.as_deref().unwrap_or_default())),
            ("lifetime_kilobytes", |c| cell(c.lifetime_kilobytes)),
            ("lifetime_seconds", |c| cell(c.lifetime_seconds)),
            ("rekeys", |c| cell(c.rekeys)),
            ("bytes", |c| number(c.bytes)),
            ("duration_s", |c| number(c.duration_s)),
            ("rate_bps", |c| number(c.rate_bps)),
            ("rekeys_per_gb", |c| number(c.rekeys_per_gb)),
            ("seconds_per_gb", |c| number(c.seconds_per_gb)),
            ("rekey_cost_s", |c| cost(c, |s| s.estimate)),
            ("rekey_cost_least_s", |c| cost(c, |s| s.low)),
            ("rekey_cost_most_s", |c| cost(c, |s| s.high)),
            ("at_least", |c| c.at_least.to_string()),
            ("inner_bytes", |c| c.inner_bytes.to_string()),
            ("outer_bytes", |c| c.outer_bytes.to_string()),
            ("packets", |c| c.packets.to_string()),
            ("efficiency", |c| number(c.efficiency)),
            ("used", |c| c.used.to_string()),
            ("left_out", |c| text(c.left_out.as_deref().unwrap_or_default())),
        ],
    )
}
