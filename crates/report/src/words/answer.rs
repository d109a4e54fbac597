//! The answer in three lines: the number, why, and what to do. Chosen and put into words from the document; what else a report
//! says stands behind it.

mod change;
mod headline;
mod lines;
mod loss;
mod orphan;
mod outage;
mod why;

pub(crate) use lines::Answer;

use crate::words::focus::Focus;

/// The answer of a document: of its outages where they cost more than rekeys, or have not ended; of an SA that ended after its renewal had
/// failed, where nothing shows its traffic; else of what rekeys cost.
pub(crate) fn answer(focus: &Focus) -> Answer {
    let told = outage::of_outages(focus).or_else(|| orphan::of_orphan(focus));
    told.unwrap_or_else(|| Answer {
        headline: headline::headline(focus),
        why: why::why(focus),
        change: change::change(focus),
    })
}

#[cfg(test)]
mod tests;
