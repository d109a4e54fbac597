//! The line of an account that a transfer lost most to, in the finished lists.

use crate::explain::costs::{BesideRekeys, cost_row};
use crate::verdict::{INTEREST, LEAST_SHARE};
use rekeyscope_model::analysis::{Account, AccountLabel, AccountLine, Analysis, Impact, Ledger, Verdict};

fn account<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<&'a Account> {
    analysis.account_of(headline.tunnel, headline.direction)
}

/// Finds the lines that may be told. A sender with nothing to send, or whose rate grows as that of every new connection, is no fault beside
/// rekeys that hurt.
fn faults<'a>(account: &'a Account, headline: &Impact) -> impl Iterator<Item = &'a AccountLine> {
    let hurt = !headline.rekeys_hurt.is_empty();
    let is_usual = |line: &AccountLine| cost_row(line.label).beside_rekeys == BesideRekeys::Usual;
    account
        .labels
        .iter()
        .filter(move |line| !(hurt && is_usual(line)))
}

/// The line of the headline's account that lost most, where the transfer lost more of its time than an effect of interest: else it runs as
/// fast as its path, and what to change would not be felt. What follows from rekeys is no label's own.
pub fn told_loss<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<&'a AccountLine> {
    let account = account(analysis, headline)?;
    let own = |line: &AccountLine| line.lost_seconds * (1.0 - line.behind_rekeys);
    faults(account, headline)
        .max_by(|a, b| own(a).total_cmp(&own(b)))
        .filter(|_| account.lost_seconds > INTEREST * account.seconds)
        .filter(|line| !account.not_testable.contains(&line.label))
}

/// The line to which the transfer lost as much as to `most`: the difference is a share that no sentence names.
pub fn told_loss_beside<'a>(
    analysis: &'a Analysis,
    headline: &Impact,
    most: &AccountLine,
) -> Option<&'a AccountLine> {
    let account = account(analysis, headline)?;
    let near = (most.lost_seconds - LEAST_SHARE * account.seconds).max(0.0);
    faults(account, headline).find(|line| {
        line.label != most.label && line.lost_seconds > near && !account.not_testable.contains(&line.label)
    })
}

/// The line of a sender that had nothing to send, beside rekeys that hurt: it leads nothing, and where it lost more than what does, a table
/// without a word of it would contradict the answer.
pub fn told_idle_beside<'a>(
    analysis: &'a Analysis,
    headline: &Impact,
    most: &AccountLine,
) -> Option<&'a AccountLine> {
    let mut lines = account(analysis, headline)?.labels.iter();
    let idle = lines.find(|line| line.label == AccountLabel::Application)?;
    (idle.lost_seconds > most.lost_seconds && !headline.rekeys_hurt.is_empty()).then_some(idle)
}

/// Share of the transfer's time that was lost to a line of its account: the figure beside a first line that begins with this loss.
pub fn share_of_transfer(line: &AccountLine, ledger: &Ledger) -> f64 {
    line.lost_seconds / ledger.seconds
}

/// Tells whether the answer begins with this loss.
pub fn leads(line: &AccountLine, headline: &Impact) -> bool {
    match cost_row(line.label).beside_rekeys {
        BesideRekeys::Usual => false,
        BesideRekeys::Leads => matches!(headline.verdict, Verdict::Some | Verdict::Shown),
        BesideRekeys::Follows => headline.verdict == Verdict::Some,
    }
}
