//! The answer in three lines: the number, why, and what to do. Chosen and put into words from the document; what else a report
//! says stands behind it.

mod change;
mod headline;
mod lines;
mod loss;
mod outage;
mod why;

pub(crate) use lines::Answer;

use crate::words::focus::Focus;

/// The answer of a document: of its outages where they cost more than rekeys, or have not ended.
pub(crate) fn answer(focus: &Focus) -> Answer {
    outage::of_outages(focus).unwrap_or_else(|| Answer {
        headline: headline::headline(focus),
        why: why::why(focus),
        change: change::change(focus),
    })
}

#[cfg(test)]
mod tests;
