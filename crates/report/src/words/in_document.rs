//! The answer as the document keeps it, for those who read JSON.

use crate::words::answer;
use crate::words::focus::Focus;
use rekeyscope_model::analysis::{Analysis, AnswerLines};
use rekeyscope_model::text::Language;

/// Says the three lines of a document in English.
pub fn answer_lines(analysis: &Analysis) -> AnswerLines {
    let answer = answer(&Focus::new(analysis, Language::English));
    AnswerLines {
        headline: answer.headline,
        why: answer.why,
        remedy: answer.change,
    }
}
