//! A comparison of captures as text and as CSV. The HTML page is in [`crate::formats::html::comparison`].

use crate::formats::csv;
use crate::formats::sections::Page;
use crate::formats::terminal::TerminalPage;
use crate::formats::text::top::TextOptions;
use crate::tables;
use crate::words::clean;
use rekeyscope_model::analysis::AccountGap;
use rekeyscope_model::analysis::comparison::Comparison;
use rekeyscope_model::text::Catalogue;
use serde_json::json;

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
        page.paragraph(&fill!(t, "not-compared", reason));
    }
    page.finish()
}

/// The heading of a capture against another one.
pub(crate) fn gap_title(t: &Catalogue, gap: &AccountGap) -> String {
    let (capture, reference) = (clean::line(&gap.capture), clean::line(&gap.reference));
    fill!(t, "heading-gap", capture, reference)
}

/// The reservations.
pub(crate) fn notes(t: &Catalogue, comparison: &Comparison) -> Vec<String> {
    clean::all_said(t, &comparison.notes, &comparison.notes_messages)
}

/// Columns of the table, as [`csv`] has them.
const COLUMNS: &str = "path src dst direction verdict counted suite lifetime_kilobytes lifetime_seconds rekeys bytes duration_s \
    rate_bps rekeys_per_gb seconds_per_gb rekey_cost_s=rekey_cost_s/estimate rekey_cost_least_s=rekey_cost_s/low \
    rekey_cost_most_s=rekey_cost_s/high at_least inner_bytes outer_bytes packets efficiency used left_out";

/// One row per capture; numbers unformatted, an empty cell is unknown.
pub fn render_csv(comparison: &Comparison) -> Vec<u8> {
    csv::table(COLUMNS, csv::entries(json!(comparison.captures)))
}
