//! What a transfer lost most to.

use crate::words::accounts;
use crate::words::focus::Focus;
use rekeyscope_impact::verdict::INTEREST;
use rekeyscope_model::analysis::{AccountLine, Impact};

/// The label of the headline's account that lost most, where the transfer lost more of its time than an effect of interest: else it
/// runs as fast as its path, and what to change would not be felt.
pub(super) fn lost_most<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    let account = accounts(focus.analysis)
        .into_iter()
        .find(|a| (a.tunnel, a.direction) == (headline.tunnel, headline.direction))?;
    let most = account
        .labels
        .iter()
        .max_by(|a, b| a.lost_seconds.total_cmp(&b.lost_seconds));
    most.filter(|_| account.lost_seconds > INTEREST * account.seconds)
}
