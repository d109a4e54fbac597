//! Line 1: the number.

use crate::words::focus::Focus;
use crate::words::verdict::told_failure;
use crate::words::{clean, format};
use rekeyscope_impact::tell::projection::lost_share;
use rekeyscope_impact::tell::sentence::words::{percent, rate, seconds};
use rekeyscope_model::analysis::{Analysis, Impact, RekeyImpact, Verdict};
use rekeyscope_model::text::{Catalogue, Message};

pub(super) fn headline(focus: &Focus) -> String {
    let (analysis, t) = (focus.analysis, focus.t);
    if let Some(told) = told_failure(analysis) {
        return clean::sentence(&t.say(&told.headline));
    }
    match analysis.impact.first() {
        Some(headline) => t.say(&of_verdict(analysis, headline)),
        None => without_verdict(t, analysis),
    }
}

fn of_verdict(analysis: &Analysis, i: &Impact) -> Message {
    let direction = Message::new(i.direction.pick("verdict-upload", "verdict-download"));
    let about = |id: &str| {
        Message::new(id)
            .with("direction", direction.clone())
            .with("used", i.rekeys_used)
            .with("hurt", i.rekeys_hurt.len())
    };
    match i.verdict {
        Verdict::NoTraffic => Message::new("headline-no-traffic").with("total", i.rekeys),
        Verdict::NoRekeys => about("headline-no-rekeys").with("rate", rate(i.observed_bps.unwrap_or(0.0))),
        Verdict::Bounded | Verdict::Inconclusive | Verdict::Failed if i.rekeys_used == 0 => {
            about("headline-outside").with("total", i.rekeys)
        }
        Verdict::Bounded => within(about("headline-bounded"), i).unwrap_or_else(|| about("headline-unknown")),
        Verdict::Inconclusive | Verdict::Failed => within(about("headline-inconclusive"), i)
            .filter(|_| !i.at_least)
            .unwrap_or_else(|| about("headline-unknown")),
        Verdict::Shown => shown(&about, i).unwrap_or_else(|| stalled(about("headline-stalled"), analysis, i)),
        Verdict::Some => stalled(about("headline-stalled"), analysis, i),
    }
}

/// With the upper end of the mean's interval.
fn within(message: Message, i: &Impact) -> Option<Message> {
    let high = i.stall_ms.as_ref()?.high.max(0.0);
    Some(message.with("high", seconds(high / 1000.0)))
}

fn shown(about: &dyn Fn(&str) -> Message, i: &Impact) -> Option<Message> {
    let stall = i.stall_ms.as_ref()?.mean / 1000.0;
    let lost = lost_share(i)?;
    let id = match i.rekeys_hurt.len() {
        _ if i.at_least => "headline-at-least",
        0 => "headline-mean",
        hurt if hurt == i.rekeys_used => "headline-all",
        _ => "headline-some-of-all",
    };
    Some(
        about(id)
            .with("lost", percent(lost))
            .with("stall", seconds(stall)),
    )
}

/// The longest time without new data at those that hurt.
fn stalled(message: Message, analysis: &Analysis, i: &Impact) -> Message {
    let hurt = i
        .rekeys_hurt
        .iter()
        .filter_map(|index| analysis.rekeys.get(*index));
    let impacts = hurt
        .flat_map(|r| &r.impact)
        .filter(|of| of.direction == i.direction);
    let length = |of: &RekeyImpact| of.longest_gap_ms.or(of.proof.as_ref().map(|p| p.outage_ms));
    let longest = impacts.filter_map(length).fold(0.0, f64::max);
    message.with("longest", seconds(longest / 1000.0))
}

/// Without a transfer in a tunnel there is no verdict.
fn without_verdict(t: &Catalogue, analysis: &Analysis) -> String {
    let rekeys = format::counted(t, "counted-rekeys", analysis.rekeys.len() as u64);
    match analysis.capture.packets {
        0 => t.word("no-verdict-empty"),
        _ if analysis.capture.ike_packets == 0 || analysis.tunnels.is_empty() => {
            t.word("no-verdict-no-tunnel")
        }
        _ if analysis.rekeys.is_empty() => t.word("no-verdict-ike-only"),
        _ => t.fill("no-verdict-ike-rekeys", &[("rekeys", &rekeys)]),
    }
}
