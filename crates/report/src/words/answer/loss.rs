//! The label that a transfer lost most to, where something can be done about it.

use crate::words::answer::lines::Answer;
use crate::words::clean;
use crate::words::ends::side;
use crate::words::focus::Focus;
use crate::words::lengths::frames;
use rekeyscope_impact::explain::{
    cost_row, leads as begins_with, told_loss, told_loss_beside, told_lost_before,
};
use rekeyscope_impact::tell::account::amount;
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

/// The answer where a transfer lost most to segments that were lost before encryption.
pub(super) fn of_lost_before(focus: &Focus) -> Option<Answer> {
    let (t, analysis) = (focus.t, focus.analysis);
    let headline = analysis.impact.first()?;
    let told = told_lost_before(analysis, headline.tunnel)?;
    let tunnel = analysis.tunnels.get(headline.tunnel)?;
    let counted = told.finding.messages.first()?;
    let (direction, account) = (told.account.direction, told.account);
    let who = side(t, Some(tunnel), Some(direction.pick(tunnel.a, tunnel.b)));
    let seconds = |seconds: f64| amount(seconds, seconds);
    let of_transfer = t.word(direction.pick("verdict-upload", "verdict-download"));
    let said = |id: &str| {
        let mut message = counted.clone();
        message.id = id.to_owned();
        let message = message
            .with("who", who.as_str())
            .with("transfer", of_transfer.as_str())
            .with("seconds", seconds(told.lost_seconds))
            .with("whole", seconds(account.seconds));
        clean::sentence(&t.say(&message))
    };
    Some(Answer {
        tunnel: Some(headline.tunnel),
        headline: said("lost-before-line"),
        why: t.sentences(&[said("lost-before-why"), frames(t, &told.finding.evidence_frames)]),
        change: said("do-lost-before"),
    })
}
