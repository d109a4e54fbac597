//! A comparison of captures as one offline HTML file: the answer, one plot, one table.

use super::{clean, plot, policy, style_sheet, tables, words};
use crate::formats::comparison::{MOST_GAPS, gap_title, notes};
use askama::Template;
use rekeyscope_model::analysis::comparison::Comparison;
use rekeyscope_model::text::{Catalogue, Language};

/// The whole document.
pub fn render(comparison: &Comparison, language: Language) -> String {
    let page = ComparisonPage {
        text: Catalogue::of(language),
        style: style_sheet(language),
        comparison,
    };
    // The template formats plain strings and numbers into memory: there is nothing in it that can fail.
    page.render().unwrap_or_default()
}

#[derive(Template)]
#[template(path = "comparison.html")]
struct ComparisonPage<'a> {
    text: &'static Catalogue,
    style: String,
    comparison: &'a Comparison,
}
