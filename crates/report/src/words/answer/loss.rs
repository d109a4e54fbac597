//! The three lines where segments were lost before they were encrypted.

use crate::words::answer::Answer;
use crate::words::clean;
use crate::words::ends::{side, upload_or_download};
use crate::words::focus::Focus;
use crate::words::lengths::frames;
use rekeyscope_impact::explain::ToldLostBefore;
use rekeyscope_impact::tell::account::amount_alone;

/// The answer where a transfer lost most to segments that were lost before encryption.
pub(super) fn of_lost_before(focus: &Focus, told: &ToldLostBefore<'_>) -> Option<Answer> {
    let t = focus.t;
    let tunnel = focus.analysis.tunnels.get(told.account.tunnel)?;
    let counted = told.finding.messages.first()?;
    let (direction, account) = (told.account.direction, told.account);
    let who = side(t, Some(tunnel), Some(direction.pick(tunnel.a, tunnel.b)));
    let of_transfer = upload_or_download(t, direction);
    let said = |id: &str| {
        let mut message = counted.clone();
        message.id = id.to_owned();
        let message = message
            .with("who", who.as_str())
            .with("transfer", of_transfer.as_str())
            .with("seconds", amount_alone(told.lost_seconds))
            .with("whole", amount_alone(account.seconds));
        clean::sentence(&t.say(&message))
    };
    Some(Answer {
        headline: said("lost-before-line"),
        why: t.sentences(&[said("lost-before-why"), frames(t, &told.finding.evidence_frames)]),
        change: said("do-lost-before"),
    })
}
