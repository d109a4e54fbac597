//! The label that a transfer lost most to.

use crate::words::accounts;
use crate::words::advice::of_label;
use crate::words::focus::Focus;
use rekeyscope_impact::verdict::{INTEREST, LEAST_SHARE};
use rekeyscope_model::analysis::{Account, AccountLabel, AccountLine, Impact, Verdict};

fn account<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a Account> {
    let mut all = accounts(focus.analysis).into_iter();
    all.find(|a| (a.tunnel, a.direction) == (headline.tunnel, headline.direction))
}

/// Finds the lines that may be told. A sender with nothing to send, or whose rate grows as that of every new connection, is no fault beside
/// rekeys that hurt.
fn faults<'a>(account: &'a Account, headline: &Impact) -> impl Iterator<Item = &'a AccountLine> {
    let hurt = !headline.rekeys_hurt.is_empty();
    let is_usual =
        |line: &AccountLine| matches!(line.label, AccountLabel::Application | AccountLabel::Growth);
    account
        .labels
        .iter()
        .filter(move |line| !(hurt && is_usual(line)))
}

/// The label of the headline's account that lost most, where the transfer lost more of its time than an effect of interest: else it
/// runs as fast as its path, and what to change would not be felt. A label that these packets cannot show is no reason. What follows from
/// rekeys is no label's own.
pub(super) fn lost_most<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    let account = account(focus, headline)?;
    let own = |line: &AccountLine| line.lost_seconds * (1.0 - line.behind_rekeys);
    let most = faults(account, headline).max_by(|a, b| own(a).total_cmp(&own(b)));
    let is_shown = |line: &&AccountLine| !account.not_testable.contains(&line.label);
    most.filter(|_| account.lost_seconds > INTEREST * account.seconds)
        .filter(is_shown)
}

/// Finds the line to which a transfer lost more than to its rekeys, where something can be done about it.
pub(super) fn loses_more<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    let line = lost_most(focus, headline)?;
    let is_other = !matches!(line.label, AccountLabel::Rekey | AccountLabel::TunnelDown);
    (is_other && of_label(focus.t, line.label).is_some()).then_some(line)
}

/// The line that the answer begins with: more than to its rekeys was lost to something else that is a fault. Where rekeys cost throughput, losses and slow growth may follow from them; windows and buffers do not.
pub(super) fn leads<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    loses_more(focus, headline).filter(|line| match line.label {
        AccountLabel::Application => false,
        AccountLabel::ReceiveWindow | AccountLabel::ZeroWindow | AccountLabel::SendBuffer => {
            matches!(headline.verdict, Verdict::Some | Verdict::Shown)
        }
        _ => headline.verdict == Verdict::Some,
    })
}

/// Finds the line to which a transfer lost as much as to the one that it lost most to: the difference is a share that no sentence names.
/// Both can be changed.
pub(super) fn lost_as_much<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    let most = lost_most(focus, headline)?;
    let account = account(focus, headline)?;
    let near = most.lost_seconds - LEAST_SHARE * account.seconds;
    let is_near = |line: &&AccountLine| {
        line.lost_seconds > near.max(0.0) && !account.not_testable.contains(&line.label)
    };
    let mut others = faults(account, headline).filter(|line| line.label != most.label);
    let changes = |line: &AccountLine| of_label(focus.t, line.label).is_some();
    others
        .find(is_near)
        .filter(|other| changes(most) && changes(other))
}
