//! One row per capture of a comparison.

use crate::tables::table::{Mark, Table, WIDE, WIDER};
use crate::words::clean;
use crate::words::format::{self, UNKNOWN, or_unknown};
use rekeyscope_impact::tell::words::interval;
use rekeyscope_model::analysis::comparison::{ComparedCapture, Comparison};
use rekeyscope_model::text::{Catalogue, Message};
use std::collections::BTreeMap;

/// Captures named per cipher suite.
const MOST_NAMED: usize = 12;

/// One row per capture, in the order given.
pub(crate) fn comparison(t: &Catalogue, comparison: &Comparison) -> Table {
    let mut table = Table::of(t, &comparison.captures)
        .marked(|c| if c.used { Mark::None } else { Mark::Faint })
        .left("comparison-capture", |c| clean::line(&c.name))
        .left_from(WIDER, "comparison-suite", |c| {
            or_unknown(c.suite.as_deref(), clean::line)
        })
        .left("comparison-lifetime", lifetime)
        .right("comparison-rekeys", |c| {
            or_unknown(c.rekeys, |n| format::count(n as u64))
        })
        .right_from(WIDE, "comparison-per-gb", |c| {
            or_unknown(c.rekeys_per_gb, figures)
        })
        .right("comparison-rate", |c| or_unknown(c.rate_bps, format::rate))
        .right_from(WIDE, "comparison-s-per-gb", |c| {
            or_unknown(c.seconds_per_gb, figures)
        })
        .right("comparison-cost", |c| {
            or_unknown(c.rekey_cost_s.as_ref(), |s| {
                format::least(c.at_least, format::duration_ms(s.estimate * 1000.0))
            })
        })
        .right("comparison-range", |c| {
            or_unknown(c.rekey_cost_s.as_ref(), |s| {
                t.say(&Message::new("cell").with("text", interval(s.low, s.high)))
            })
        })
        .right_from(WIDE, "comparison-efficiency", |c| {
            or_unknown(c.efficiency, |e| format!("{:.1} %", 100.0 * e))
        })
        .table;
    match table.drop_uniform("comparison-suite") {
        Some(suite) => table.notes.push(fill!(t, "note-suite", suite)),
        None => table.notes.extend(suites(t, comparison)),
    }
    table.notes.push(t.word("note-comparison"));
    table
}

/// The captures of each cipher suite, for where the table has no room for a column.
fn suites(t: &Catalogue, comparison: &Comparison) -> Vec<String> {
    let mut users: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for capture in &comparison.captures {
        let suite = capture.suite.as_deref().unwrap_or(UNKNOWN);
        users.entry(suite).or_default().push(clean::line(&capture.name));
    }
    let note = |(suite, mut names): (&str, Vec<String>)| {
        if names.len() > MOST_NAMED {
            names.truncate(MOST_NAMED);
            names.push("…".to_owned());
        }
        let captures = t.joined(&names);
        fill!(t, "note-suite-of", suite = clean::line(suite), captures)
    };
    users.into_iter().map(note).collect()
}

/// `2,400 kB, 3,600 s`.
fn lifetime(c: &ComparedCapture) -> String {
    let kilobytes = c.lifetime_kilobytes.map(|n| format!("{} kB", format::count(n)));
    let seconds = c.lifetime_seconds.map(|n| format!("{} s", format::count(n)));
    let parts: Vec<String> = kilobytes.into_iter().chain(seconds).collect();
    if parts.is_empty() {
        UNKNOWN.into()
    } else {
        parts.join(", ")
    }
}

/// Three figures at least.
fn figures(value: f64) -> String {
    match value {
        v if !v.is_finite() => UNKNOWN.into(),
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format::count(v.round() as u64),
    }
}
