//! A comparison of captures as text and as CSV. The HTML page is in [`crate::formats::html::comparison`].

use crate::formats::terminal::TerminalPage;
use crate::formats::text::TextOptions;
use crate::tables;
use crate::words::clean;
use rekeyscope_model::analysis::comparison::{ComparedCapture, Comparison};
use rekeyscope_model::text::Catalogue;
use std::fmt::Display;

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

/// The reservations; each of them has a message, or none has.
pub(crate) fn notes(t: &Catalogue, comparison: &Comparison) -> Vec<String> {
    let (notes, messages) = (&comparison.notes, &comparison.notes_messages);
    let said = |(n, note): (usize, &String)| {
        let message = messages.get(n..=n).filter(|_| messages.len() == notes.len());
        clean::said(t, note, message.unwrap_or_default())
    };
    notes.iter().enumerate().map(said).collect()
}

/// One row per capture; numbers unformatted, an empty cell is unknown.
pub fn render_csv(comparison: &Comparison) -> Vec<u8> {
    let header = [
        "path",
        "src",
        "dst",
        "direction",
        "verdict",
        "counted",
        "suite",
        "lifetime_kilobytes",
        "lifetime_seconds",
        "rekeys",
        "bytes",
        "duration_s",
        "rate_bps",
        "rekeys_per_gb",
        "seconds_per_gb",
        "stall_ms",
        "stall_low_ms",
        "stall_high_ms",
        "at_least",
        "inner_bytes",
        "outer_bytes",
        "packets",
        "efficiency",
        "used",
        "left_out",
    ];
    crate::formats::csv::table(header, comparison.captures.iter().map(row))
}

fn row(c: &ComparedCapture) -> [String; 25] {
    use crate::formats::csv::{cell, number, text};
    fn known<T: Display>(value: T) -> String {
        value.to_string()
    }
    let stall = c.stall_ms.as_ref();
    [
        text(&c.path),
        cell(c.src),
        cell(c.dst),
        cell(c.direction),
        cell(c.verdict),
        cell(c.counted),
        text(c.suite.as_deref().unwrap_or_default()),
        cell(c.lifetime_kilobytes),
        cell(c.lifetime_seconds),
        cell(c.rekeys),
        number(c.bytes),
        number(c.duration_s),
        number(c.rate_bps),
        number(c.rekeys_per_gb),
        number(c.seconds_per_gb),
        number(stall.map(|s| s.mean)),
        number(stall.map(|s| s.low)),
        number(stall.map(|s| s.high)),
        known(c.at_least),
        known(c.inner_bytes),
        known(c.outer_bytes),
        known(c.packets),
        number(c.efficiency),
        known(c.used),
        text(c.left_out.as_deref().unwrap_or_default()),
    ]
}
