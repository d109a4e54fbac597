//! The label that a transfer lost most to.

use crate::words::accounts;
use crate::words::advice::of_label;
use crate::words::focus::Focus;
use rekeyscope_impact::verdict::INTEREST;
use rekeyscope_model::analysis::{AccountLabel, AccountLine, Impact};

/// The label of the headline's account that lost most, where the transfer lost more of its time than an effect of interest: else it
/// runs as fast as its path, and what to change would not be felt. A label that these packets cannot show is no reason.
pub(super) fn lost_most<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    let account = accounts(focus.analysis)
        .into_iter()
        .find(|a| (a.tunnel, a.direction) == (headline.tunnel, headline.direction))?;
    let most = account
        .labels
        .iter()
        .max_by(|a, b| a.lost_seconds.total_cmp(&b.lost_seconds));
    let is_shown = |line: &&AccountLine| !account.not_testable.contains(&line.label);
    most.filter(|_| account.lost_seconds > INTEREST * account.seconds)
        .filter(is_shown)
}

/// Finds the line to which a transfer lost more than to its rekeys, where something can be done about it.
pub(super) fn loses_more<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    let line = lost_most(focus, headline)?;
    let of_tunnel = matches!(line.label, AccountLabel::Rekey | AccountLabel::TunnelDown);
    (!of_tunnel && of_label(focus.t, line.label).is_some()).then_some(line)
}
