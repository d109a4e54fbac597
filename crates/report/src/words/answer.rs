//! The answer in three lines: the number, why, and what to do. Chosen and put into words from the document; what else a report
//! says stands behind it.

mod change;
mod headline;
mod loss;
mod why;

use crate::words::focus::Focus;

/// What everyone reads.
pub(crate) struct Answer {
    /// At most 15 words with the number (in Japanese 40 wide characters: both are a line of 80 columns).
    pub(crate) headline: String,
    /// The cause that most of them share, or what there is instead; may be empty.
    pub(crate) why: String,
    /// What to do; backticks set off what is typed.
    pub(crate) change: String,
}

/// The answer of a document.
pub(crate) fn answer(focus: &Focus) -> Answer {
    Answer {
        headline: headline::headline(focus),
        why: why::why(focus),
        change: change::change(focus),
    }
}

#[cfg(test)]
mod tests;
