//! The three lines about the file itself: its packets stand in no order of time, or went in clear.

use crate::words::answer::Answer;
use crate::words::ends::{side, upload_or_download};
use crate::words::focus::Focus;
use crate::words::lengths::frames;
use crate::words::{clean, format};
use rekeyscope_impact::explain::{ToldLostBefore, ToldPathLoss};
use rekeyscope_impact::tell::account::amount_alone;
use rekeyscope_model::analysis::{Capture, Finding};
use rekeyscope_model::text::Message;

/// The answer for packets that stand in no order of time.
pub(super) fn of_disorder(focus: &Focus, capture: &Capture) -> Answer {
    let t = focus.t;
    let back = format::count(capture.time_regressions);
    let packets = format::count(capture.packets);
    Answer {
        headline: fill!(t, "disorder-line", back, packets),
        why: t.word("disorder-why"),
        change: t.word("do-sort"),
    }
}

/// The answer for data that went in clear, and what is told of the tunnel that had ended.
pub(super) fn of_clear(focus: &Focus, finding: &Finding, outage: Option<Answer>) -> Answer {
    let t = focus.t;
    let told = finding
        .messages
        .first()
        .cloned()
        .unwrap_or_else(|| Message::new("clear-line"));
    let line = Message {
        id: "clear-line".to_owned(),
        ..told.clone()
    };
    let before = outage.map(|outage| outage.headline).into_iter();
    let why = before.chain([clean::sentence(&t.say(&told))]);
    Answer {
        headline: clean::sentence(&t.say(&line)),
        why: fill!(t, "why-outage", text = t.sentences(&Vec::from_iter(why))),
        change: t.word("do-clear"),
    }
}

/// The answer where many packets never came to the capture.
pub(super) fn of_path_loss(focus: &Focus, told: &ToldPathLoss<'_>) -> Answer {
    let t = focus.t;
    let tunnel = focus.analysis.tunnels.get(told.tunnel);
    let end = tunnel.map(|t| told.direction.pick(t.a, t.b));
    let who = side(t, tunnel, end);
    let share = format::percent(told.missing as f64 / told.sent as f64);
    let counted = told.finding.messages.first();
    let why = counted.map_or_else(String::new, |counted| clean::sentence(&t.say(counted)));
    Answer {
        headline: format::capitalised(&fill!(t, "path-loss-line", share, who)),
        why: fill!(t, "why-outage", text = why),
        change: fill!(t, "do-path-loss", who),
    }
}

// The three lines where segments were lost before they were encrypted.

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
