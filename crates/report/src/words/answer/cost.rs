//! The three lines of what rekeys cost, or of a document without a transfer.

use crate::words::answer::Answer;
use crate::words::answer::{reasons, remedy};
use crate::words::ends::upload_or_download;
use crate::words::focus::Focus;
use crate::words::{clean, format, lost_to};
use rekeyscope_impact::answer::{LeadingLoss, ToldCost};
use rekeyscope_impact::explain::ToldQueue;
use rekeyscope_impact::tell::account::amount_alone;
use rekeyscope_model::analysis::{Impact, Verdict};

/// The answer of what rekeys cost.
pub(super) fn of_cost(focus: &Focus, told: &ToldCost<'_>) -> Answer {
    let headline = told.headline;
    Answer {
        headline: match (told.leads, told.queue) {
            (Some(more), _) => lost_more(focus, headline, more),
            (None, Some(queue)) => waits(focus, headline, &queue),
            (None, None) => clean::first_said(focus.t, &headline.sentence, &headline.messages),
        },
        why: reasons::why(focus, &told.reasons),
        change: remedy::change(focus, &told.remedy),
    }
}

/// The sentence where something else cost more than the rekeys: line 1 is about what cost most.
fn lost_more(focus: &Focus, headline: &Impact, more: LeadingLoss<'_>) -> String {
    let t = focus.t;
    let (hurt, used) = (headline.rekeys_hurt.len(), headline.rekeys_used);
    let direction = upload_or_download(t, headline.direction);
    let seconds = [
        more.line.lost_seconds,
        more.ledger.cost_seconds,
        more.account.seconds,
    ];
    let [lost, cost, transfer] = seconds.map(amount_alone);
    let to = lost_to(t, more.line.label);
    let bound = format::or_unknown(more.ledger.bound_ms, format::duration_ms);
    let rekeys = match headline.verdict {
        Verdict::NoRekeys => "none",
        Verdict::Inconclusive => "bound",
        verdict if verdict.is_harmless() => "harmless",
        _ => "hurt",
    };
    fill!(
        t,
        "headline-more",
        rekeys,
        direction,
        lost,
        transfer,
        to,
        hurt,
        used,
        cost,
        bound
    )
}

/// The sentence where packets wait in a queue, and rekeys do no harm.
fn waits(focus: &Focus, headline: &Impact, queue: &ToldQueue) -> String {
    let t = focus.t;
    let direction = upload_or_download(t, headline.direction);
    let delay = format::duration_ms(queue.longest_ms);
    let rekeys = match headline.verdict {
        Verdict::NoRekeys => "none",
        _ => "harmless",
    };
    fill!(t, "headline-queue", direction, delay, rekeys)
}

/// Without a transfer in a tunnel there is no verdict.
pub(super) fn of_no_verdict(focus: &Focus, renewals: usize) -> Answer {
    let (t, analysis) = (focus.t, focus.analysis);
    let rekeys = format::counted(t, "counted-rekeys", renewals as u64);
    Answer {
        headline: match analysis.capture.packets {
            0 => t.word("no-verdict-empty"),
            _ if analysis.capture.ike_packets == 0 || analysis.tunnels.is_empty() => {
                t.word("no-verdict-no-tunnel")
            }
            _ if renewals == 0 => t.word("no-verdict-ike-only"),
            _ => fill!(t, "no-verdict-ike-rekeys", rekeys),
        },
        why: String::new(),
        change: t.word("do-capture-ipsec"),
    }
}
