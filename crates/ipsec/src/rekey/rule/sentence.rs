//! A trigger rule in words.

use crate::rekey::rule::counting::{ENOUGH, KILOBYTE, LARGEST_KILOBYTE, LEAST_FRACTION};
use rekeyscope_model::analysis::{TriggerKind as Kind, TriggerRule};
use rekeyscope_model::text::{Arg, Message, grouped};

/// Countings named one by one; the rest is counted.
const MOST_NAMED: usize = 4;

/// `10.9.0.2 renews at 83 % of 2,400 kB, counting decrypted payload of the inbound SA …`, with what else it may be that is
/// counted (`alike`).
pub(super) fn rule(rule: &TriggerRule, counting: Option<Message>, alike: Vec<Message>) -> Vec<Message> {
    if rule.rekeys == 0 {
        return vec![by(rule, "rule-no-start")];
    }
    match (rule.kind, counting) {
        (Kind::Volume, Some(counting)) if rule.at_most => {
            let volume = of_volume(rule, "rule-volume-at-most", counting);
            [volume].into_iter().chain(not_told_apart(rule, alike)).collect()
        }
        (Kind::Time, Some(_)) if rule.at_most => {
            vec![with_age(rule, by(rule, "rule-time-at-most"))]
        }
        (Kind::Volume, Some(counting)) => {
            let mut messages = by_volume(rule, counting);
            messages.extend(not_told_apart(rule, alike));
            messages
        }
        (Kind::Volume, None) => vec![by(rule, "rule-volume-uncounted")],
        (Kind::Packets, Some(counting)) => {
            let packets = by(rule, "rule-packets")
                .with("packets", whole(rule.soft_limit.unwrap_or(0.0)))
                .with("counting", counting)
                .with("rekeys", rekeys(rule));
            [packets].into_iter().chain(not_told_apart(rule, alike)).collect()
        }
        (Kind::Time, Some(_)) => vec![by_age(rule)],
        (Kind::Unknown, _) => vec![unknown(rule)],
        (kind, _) => vec![by(rule, "rule-kind").with("kind", kind.to_string())],
    }
}

/// A message about who renews.
fn by(rule: &TriggerRule, id: &str) -> Message {
    let who = rule.initiator.map_or_else(
        || Message::new("rule-one-side").into(),
        |a| Arg::from(a.to_string()),
    );
    Message::new(id).with("who", who)
}

/// A message about the volume at which it renews.
fn of_volume(rule: &TriggerRule, id: &str, counting: Message) -> Message {
    by(rule, id)
        .with("soft", bytes(rule.soft_limit.unwrap_or(0.0)))
        .with("counting", counting)
        .with("rekeys", rekeys(rule))
}

/// The age at which it renews, added to a message.
fn with_age(rule: &TriggerRule, message: Message) -> Message {
    message
        .with("age", format!("{:.1} s", rule.soft_limit.unwrap_or(0.0)))
        .with("rekeys", rekeys(rule))
}

fn by_volume(rule: &TriggerRule, counting: Message) -> Vec<Message> {
    let sized = |id: &str| of_volume(rule, id, counting.clone());
    let (Some(fraction), Some(limit)) = (rule.soft_fraction, rule.limit_kilobytes) else {
        return vec![sized("rule-volume-unlimited")];
    };
    let limit = grouped(limit) + " kB";
    if fraction < LEAST_FRACTION {
        return vec![sized("rule-volume-far-below").with("limit", limit)];
    }
    let seen: Arg = match (rule.fraction_low, rule.fraction_high) {
        (Some(low), Some(high)) if percent(low) != percent(high) => Message::new("range")
            .with("low", percent(low))
            .with("high", percent(high) + " %")
            .into(),
        (Some(low), _) => (percent(low) + " %").into(),
        _ => "".into(),
    };
    let kilobyte = match (rule.kilobyte_told, rule.bytes_per_kilobyte) {
        (true, Some(1024)) => Message::new("rule-kilobyte").with("bytes", "1,024"),
        (true, _) => Message::new("rule-kilobyte").with("bytes", "1,000"),
        (false, _) => Message::new("rule-kilobyte-assumed")
            .with("fraction", percent(fraction * KILOBYTE / LARGEST_KILOBYTE) + " %"),
    };
    let message = sized("rule-volume")
        .with("fraction", percent(fraction) + " %")
        .with("limit", limit)
        .with("seen", seen);
    vec![message, kilobyte]
}

fn by_age(rule: &TriggerRule) -> Message {
    let message = match (rule.soft_fraction, rule.limit_seconds) {
        (Some(fraction), Some(limit)) if fraction < LEAST_FRACTION => {
            by(rule, "rule-time-far-below").with("limit", grouped(limit) + " s")
        }
        (Some(fraction), Some(limit)) => by(rule, "rule-time")
            .with("fraction", percent(fraction) + " %")
            .with("limit", grouped(limit) + " s"),
        _ => by(rule, "rule-time-unlimited"),
    };
    with_age(rule, message)
}

fn unknown(rule: &TriggerRule) -> Message {
    let of = |name: &str| rule.candidates.iter().find(|c| c.counting.starts_with(name));
    let volume = of("decrypted payload").or_else(|| of("ESP bytes"));
    let message = match volume.zip(of("age")) {
        Some((v, a)) if rule.rekeys == 1 => by(rule, "rule-unknown-once")
            .with("least-volume", bytes(v.low))
            .with("least-age", format!("{:.1} s", a.low)),
        Some((v, a)) => by(rule, "rule-unknown-ranges")
            .with("least-volume", bytes(v.low))
            .with("most-volume", bytes(v.high))
            .with("least-age", format!("{:.1}", a.low))
            .with("most-age", format!("{:.1} s", a.high)),
        None => by(rule, "rule-unknown"),
    };
    message.with("rekeys", rekeys(rule))
}

fn not_told_apart(rule: &TriggerRule, mut names: Vec<Message>) -> Option<Message> {
    let rest = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    if rest > 0 {
        names.push(Message::new("rule-more").with("count", rest));
    }
    if rule.rekeys >= ENOUGH {
        return (!names.is_empty()).then(|| Message::new("rule-alike").with("names", names));
    }
    let others = names.into_iter().reduce(|listed, name| {
        Message::new("rule-names")
            .with("listed", listed)
            .with("name", name)
    })?;
    Some(
        Message::new("rule-too-few")
            .with("count", rule.rekeys)
            .with("others", others),
    )
}

fn rekeys(rule: &TriggerRule) -> Message {
    Message::new("rule-rekeys").with("count", rule.rekeys)
}

fn percent(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

/// `2.00 MB`.
fn bytes(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.2} GB", n / 1e9),
        n if n >= 1e6 => format!("{:.2} MB", n / 1e6),
        n if n >= 1e3 => format!("{:.1} kB", n / 1e3),
        n => format!("{n:.0} B"),
    }
}

fn whole(n: f64) -> String {
    grouped(n.round() as u64)
}

#[cfg(test)]
mod tests;
