//! A comparison of captures as one offline HTML file: the answer, one plot, one table.

use super::{clean, plot, policy, style_sheet, tables, words};
use crate::formats::comparison::{MOST_GAPS, gap_title};
use askama::Template;
use rekeyscope_model::analysis::AccountGap;
use rekeyscope_model::analysis::comparison::Comparison;
use rekeyscope_model::text::{Catalogue, Language};
use tables::Table;

/// The whole document.
pub fn render(comparison: &Comparison, language: Language) -> String {
    let t = Catalogue::of(language);
    let style = style_sheet(language);
    let page = ComparisonPage {
        policy: policy(&style),
        style,
        generator: words::program(&comparison.generator),
        text: t,
        captures: comparison.captures.len().to_string(),
        answer: clean::said(t, &comparison.answer, &comparison.answer_messages),
        plot: plot::comparison::draw(t, comparison).map(|p| p.inline()),
        table: tables::comparison(t, comparison),
        gaps: comparison.gaps.get(..MOST_GAPS).unwrap_or(&comparison.gaps),
        efficiency: clean::said(t, &comparison.efficiency, &comparison.efficiency_messages),
        notes: crate::formats::comparison::notes(t, comparison),
        unread: comparison.unread.iter().map(|u| clean::line(&u.reason)).collect(),
    };
    // The template formats plain strings and numbers into memory: there is nothing in it that can fail.
    page.render().unwrap_or_default()
}

#[derive(Template)]
#[template(path = "comparison.html")]
struct ComparisonPage<'a> {
    policy: String,
    style: String,
    generator: String,
    text: &'static Catalogue,
    captures: String,
    answer: String,
    plot: Option<String>,
    table: Table,
    gaps: &'a [AccountGap],
    efficiency: String,
    notes: Vec<String>,
    unread: Vec<String>,
}
