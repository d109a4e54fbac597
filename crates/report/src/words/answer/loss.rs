//! The label that a transfer lost most to, where something can be done about it.

use crate::words::focus::Focus;
use rekeyscope_impact::explain::{cost_row, leads as begins_with, told_loss, told_loss_beside};
use rekeyscope_model::analysis::{AccountLine, Impact};

/// The line that lost most.
pub(super) fn lost_most<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    told_loss(focus.analysis, headline)
}

fn has_cure(line: &AccountLine) -> bool {
    cost_row(line.label).has_cure
}

/// Finds the line to which a transfer lost more than to its rekeys.
pub(super) fn loses_more<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    lost_most(focus, headline).filter(|line| has_cure(line))
}

/// The line that the answer begins with.
pub(super) fn leads<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    loses_more(focus, headline).filter(|line| begins_with(line, headline))
}

/// Finds the line to which a transfer lost as much as to the one that it lost most to. Both can be changed.
pub(super) fn lost_as_much<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<&'a AccountLine> {
    let most = loses_more(focus, headline)?;
    told_loss_beside(focus.analysis, headline, most).filter(|other| has_cure(other))
}
