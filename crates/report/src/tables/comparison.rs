//! One row per capture of a comparison.

use crate::tables::table::{Mark, Table, WIDE, WIDER, from, left, right};
use crate::words::clean;
use crate::words::format::{self, UNKNOWN, or_unknown};
use rekeyscope_impact::tell::sentence::words::interval;
use rekeyscope_model::analysis::comparison::{ComparedCapture, Comparison};
use rekeyscope_model::text::{Catalogue, Message};
use std::collections::BTreeMap;

/// Captures named per cipher suite.
const MOST_NAMED: usize = 12;

/// One row per capture, in the order given.
pub(crate) fn comparison(t: &Catalogue, comparison: &Comparison) -> Table {
    let mut table = Table::new(
        t,
        &[
            left("comparison-capture"),
            from(WIDER, left("comparison-suite")),
            left("comparison-lifetime"),
            right("comparison-rekeys"),
            from(WIDE, right("comparison-per-gb")),
            right("comparison-rate"),
            from(WIDE, right("comparison-s-per-gb")),
            right("comparison-stall"),
            right("comparison-95"),
            from(WIDE, right("comparison-efficiency")),
        ],
    );
    for capture in &comparison.captures {
        let mark = if capture.used { Mark::None } else { Mark::Faint };
        table.push(mark, cells(t, capture));
    }
    match table.drop_uniform("comparison-suite") {
        Some(suite) => table.notes.push(t.fill("note-suite", &[("suite", &suite)])),
        None => table.notes.extend(suites(t, comparison)),
    }
    table.notes.push(t.word("note-comparison"));
    table
}

fn cells(t: &Catalogue, c: &ComparedCapture) -> Vec<String> {
    let at_least = if c.at_least { "≥ " } else { "" };
    let stall = c.stall_ms.as_ref();
    vec![
        clean::line(&c.name),
        c.suite.as_deref().map_or_else(|| UNKNOWN.into(), clean::line),
        lifetime(c),
        or_unknown(c.rekeys, |n| format::count(n as u64)),
        or_unknown(c.rekeys_per_gb, figures),
        or_unknown(c.rate_bps, format::rate),
        or_unknown(c.seconds_per_gb, figures),
        or_unknown(stall, |s| format!("{at_least}{}", format::duration_ms(s.mean))),
        or_unknown(stall, |s| {
            let interval = interval(s.low / 1000.0, s.high / 1000.0);
            t.say(&Message::new("cell").with("text", interval))
        }),
        or_unknown(c.efficiency, |e| format!("{:.1} %", 100.0 * e)),
    ]
}

/// Which captures use which cipher suite, for where the table has no room for it.
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
        t.fill(
            "note-suite-of",
            &[("suite", &clean::line(suite)), ("captures", &captures)],
        )
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
