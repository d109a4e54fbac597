//! A trigger rule in words.

use super::Kind;
use crate::analysis::TriggerRule;

/// Countings named one by one; the rest is counted.
const MOST_NAMED: usize = 4;

/// `10.9.0.2 renews at 83 % of 2,400 kB, counting decrypted payload of the inbound SA …`
pub(super) fn rule(rule: &TriggerRule) -> String {
    let who = rule.initiator.map_or_else(
        || "One side (which one is not captured)".to_owned(),
        |a| a.to_string(),
    );
    match (rule.kind, &rule.counting) {
        (_, _) if rule.rekeys == 0 => {
            format!(
                "{who} renews, but no SA that ends here was captured from its start, so its rule is unknown."
            )
        }
        (Kind::Volume, Some(counting)) => {
            format!("{who} renews {}{}", by_volume(rule, counting), alike(rule))
        }
        (Kind::Volume, None) => {
            format!("{who} renews by volume, in a counting that the capture does not show.")
        }
        (Kind::Packets, Some(counting)) => format!(
            "{who} renews after {} {counting} (over {}).{}",
            whole(rule.soft_limit.unwrap_or(0.0)),
            rekeys(rule),
            alike(rule)
        ),
        (Kind::Time, Some(_)) => format!("{who} renews {}", by_age(rule)),
        (Kind::Unknown, _) => format!("{who} renews at a limit that is unknown: {}", why_unknown(rule)),
        (kind, _) => format!("{who} renews by {kind}."),
    }
}

fn by_volume(rule: &TriggerRule, counting: &str) -> String {
    let soft = bytes(rule.soft_limit.unwrap_or(0.0));
    let (Some(fraction), Some(limit)) = (rule.soft_fraction, rule.limit_kilobytes) else {
        return format!(
            "at about {soft}, counting {counting} (over {}; no limit in kilobytes could be read).",
            rekeys(rule)
        );
    };
    let seen = match (rule.fraction_low, rule.fraction_high) {
        (Some(low), Some(high)) if percent(low) != percent(high) => {
            format!("{} to {} %", percent(low), percent(high))
        }
        (Some(low), _) => format!("{} %", percent(low)),
        _ => String::new(),
    };
    let kilobyte = rule.bytes_per_kilobyte.unwrap_or(1000);
    let unit = match (rule.kilobyte_told, kilobyte) {
        (true, 1024) => " A kilobyte is 1,024 bytes here.".to_owned(),
        (true, _) => " A kilobyte is 1,000 bytes here.".to_owned(),
        (false, _) => format!(
            " A kilobyte is taken as 1,000 bytes; were it 1,024, the fraction would be {} %.",
            percent(fraction * 1000.0 / 1024.0)
        ),
    };
    format!(
        "at {} % of {} kB, counting {counting}: a soft limit of about {soft}, seen {seen} full at the first message of {}, \
         which comes a little later.{unit}",
        percent(fraction),
        grouped(limit),
        rekeys(rule)
    )
}

fn by_age(rule: &TriggerRule) -> String {
    let age = format!("{:.1} s", rule.soft_limit.unwrap_or(0.0));
    match (rule.soft_fraction, rule.limit_seconds) {
        (Some(fraction), Some(limit)) => format!(
            "when the SAs are {age} old, {} % of {} s (over {}).",
            percent(fraction),
            grouped(limit),
            rekeys(rule)
        ),
        _ => format!(
            "when the SAs are {age} old (over {}; no limit in seconds could be read).",
            rekeys(rule)
        ),
    }
}

fn why_unknown(rule: &TriggerRule) -> String {
    let of = |name: &str| rule.candidates.iter().find(|c| c.counting.starts_with(name));
    let volume = of("decrypted payload").or_else(|| of("ESP bytes"));
    let ranges = volume.zip(of("age")).map(|(v, a)| {
        format!(
            " ({} to {} and {:.1} to {:.1} s)",
            bytes(v.low),
            bytes(v.high),
            a.low,
            a.high
        )
    });
    format!(
        "volume or time, because over {} neither varies clearly less than the other{}.",
        rekeys(rule),
        ranges.unwrap_or_default()
    )
}

/// What else it may be that is counted.
fn alike(rule: &TriggerRule) -> String {
    let names = &rule.not_told_apart;
    let (shown, rest) = names.split_at(names.len().min(MOST_NAMED));
    let mut words: Vec<String> = shown.to_vec();
    if !rest.is_empty() {
        words.push(format!("{} more", rest.len()));
    }
    match words.split_last() {
        None => String::new(),
        Some(_) if rule.rekeys < super::ENOUGH => {
            format!(
                " {} cannot tell this counting from others ({}).",
                capital(&rekeys(rule)),
                words.join(", ")
            )
        }
        Some((last, others)) => {
            let list = if others.is_empty() {
                last.clone()
            } else {
                format!("{} and {last}", others.join(", "))
            };
            format!(
                " This counting is the usual one; {list} vary no more here (their ratio to it is nearly constant), so which of \
                 them it is the capture cannot tell."
            )
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(letters).collect())
}

fn rekeys(rule: &TriggerRule) -> String {
    match rule.rekeys {
        1 => "one rekey".to_owned(),
        n => format!("{n} rekeys"),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

/// `2.00 MB`.
fn bytes(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.2} GB", n / 1e9),
        n if n >= 1e6 => format!("{:.2} MB", n / 1e6),
        n => format!("{:.1} kB", n / 1e3),
    }
}

fn whole(n: f64) -> String {
    grouped(n.round() as u64)
}

/// `2,400`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
