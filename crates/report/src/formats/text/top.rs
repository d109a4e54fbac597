//! The top of every terminal report: data in clear, then the three lines of the answer.

use crate::formats::sections::Page;
use crate::formats::terminal::Color;
use crate::formats::terminal::TerminalPage;
use crate::words;
use crate::words::focus::Focus;
use rekeyscope_model::analysis::Verdict;
use rekeyscope_model::text::Language;

/// The terminal that a text is written for.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// Columns available.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
    /// Language of the report.
    pub language: Language,
}

/// Data in clear: never shortened.
pub(super) fn leaks(page: &mut TerminalPage, focus: &Focus) {
    for leak in words::leaks(focus.analysis) {
        page.emphasised(&words::finding(focus.t, leak), Some(Color::Red));
        page.filter(str::to_owned, &words::clean::sentence(&leak.display_filter));
        page.blank();
    }
}

/// The number, why, what to do.
pub(super) fn answer_lines(page: &mut TerminalPage, focus: &Focus) {
    let answer = words::answer(focus);
    let verdict = focus
        .analysis
        .impact
        .first()
        .and_then(|i| verdict_color(i.verdict));
    page.emphasised(&answer.headline, verdict);
    for line in [answer.why, answer.change] {
        if !line.is_empty() {
            page.paragraph(&line);
        }
    }
}

fn verdict_color(v: Verdict) -> Option<Color> {
    match v {
        Verdict::Failed | Verdict::Shown => Some(Color::Red),
        Verdict::Some => Some(Color::Yellow),
        Verdict::Bounded => Some(Color::Green),
        Verdict::Inconclusive | Verdict::NoRekeys | Verdict::NoTraffic => None,
    }
}
