//! Sections that the full report has on a terminal and in Markdown.

use crate::tables::{self, Table};
use crate::words::focus::Focus;
use crate::words::{self, advice, clean};
use rekeyscope_model::text::Catalogue;

/// A report as it is written, from its top to its end.
pub(crate) trait Page {
    /// Entries of a list, and rows of a table that belongs to one.
    const MOST_ENTRIES: usize;
    /// Rows of a table, and entries of a list that stands for one.
    const MOST_ROWS: usize;

    fn heading(&mut self, text: &str);
    fn paragraph(&mut self, text: &str);
    fn item(&mut self, text: &str);
    /// An item of our own words, in which backticks set off what is typed.
    fn typed(&mut self, text: &str) {
        self.item(text);
    }
    /// Words of a heading before its table.
    fn remark(&mut self, text: &str) {
        self.paragraph(text);
    }
    fn table(&mut self, table: &Table);
    /// A display filter below an item, in the words that `said` puts around it.
    fn filter(&mut self, said: impl Fn(&str) -> String, filter: &str);
    /// Says where the rest of a list is; a ticket needs no more.
    fn more(&mut self, _: &Catalogue, _: usize) {}
}

pub(crate) fn two_points<P: Page>(page: &mut P, focus: &Focus) {
    let t = focus.t;
    let Some(points) = &focus.analysis.two_points else {
        return;
    };
    page.heading(&t.word("heading-two-points"));
    page.paragraph(&clean::said(t, &points.sentence, &points.messages));
    page.table(&tables::two_points(t, points));
    let listed = words::lost_between(t, points, P::MOST_ROWS);
    listed.iter().for_each(|sentence| page.item(sentence));
}

pub(crate) fn overlays<P: Page>(page: &mut P, focus: &Focus) {
    for overlay in focus.analysis.overlays.iter().take(P::MOST_ENTRIES) {
        page.heading(&words::overlay(overlay));
        let said = words::overlay_sentences(focus.t, overlay);
        said.iter().for_each(|sentence| page.remark(sentence));
        page.table(&tables::overlay(focus, overlay, P::MOST_ENTRIES));
    }
}

/// Causes, each with the rekeys that it explains and one filter to look at them.
pub(crate) fn causes<P: Page>(page: &mut P, focus: &Focus) {
    let t = focus.t;
    let causes = words::causes(focus);
    if causes.is_empty() {
        return;
    }
    page.heading(&t.word("heading-causes"));
    for found in causes.iter().take(P::MOST_ENTRIES) {
        page.item(&found.sentence(focus, P::MOST_ENTRIES));
        if let Some((message, number, filter)) = found.first_filter() {
            let said = |filter: &str| fill!(t, message, number, filter);
            page.filter(said, &filter);
        }
    }
    page.more(t, causes.len());
}

pub(crate) fn findings<P: Page>(page: &mut P, focus: &Focus) {
    let (findings, t) = (&focus.analysis.findings, focus.t);
    if findings.is_empty() {
        return;
    }
    page.heading(&t.word("heading-findings"));
    for f in findings.iter().take(P::MOST_ENTRIES) {
        page.item(&words::finding(t, f));
        if !f.display_filter.is_empty() {
            page.filter(str::to_owned, &clean::sentence(&f.display_filter));
        }
    }
    page.more(t, findings.len());
}

pub(crate) fn diagnostics(page: &mut impl Page, focus: &Focus) {
    let (all, t) = (focus.analysis.diagnostics.iter(), focus.t);
    let said: Vec<String> = all.map(|d| words::diagnostic(t, d)).collect();
    list(page, t, &t.word("heading-oddities"), &said);
}

/// A list below its heading; neither where it is empty.
pub(crate) fn list<P: Page>(page: &mut P, t: &Catalogue, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    page.heading(heading);
    items
        .iter()
        .take(P::MOST_ENTRIES)
        .for_each(|item| page.item(item));
    page.more(t, items.len());
}

pub(crate) fn advice(page: &mut impl Page, focus: &Focus) {
    let advice = advice::advice(focus, &words::answer(focus).change);
    if !advice.is_empty() {
        page.heading(&focus.t.word("heading-advice"));
        advice.iter().for_each(|a| page.typed(a));
    }
}
