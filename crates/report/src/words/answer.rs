//! The answer in three lines: the number, why, and what to do. Chosen and put into words from the document; what else a report
//! says stands behind it.

mod change;
mod headline;
mod why;

use crate::words::focus::Focus;
use rekeyscope_model::analysis::{AccountLine, Impact};

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

/// A transfer that lost a smaller share of its time runs as fast as its path: what to change would not be felt.
const LEAST_LOSS: f64 = 0.03;

/// The label of the headline's account that lost most, where the transfer lost enough to be felt.
fn lost_most<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    let account = crate::words::accounts(focus.analysis)
        .into_iter()
        .find(|a| (a.tunnel, a.direction) == (headline.tunnel, headline.direction))?;
    let most = account
        .labels
        .iter()
        .max_by(|a, b| a.lost_seconds.total_cmp(&b.lost_seconds));
    most.filter(|_| account.lost_seconds > LEAST_LOSS * account.seconds)
}

#[cfg(test)]
mod tests;
