//! The comparison in words.

use super::{ComparedCapture, Comparison, Slope};
use crate::impact::sentence::words::{interval, percent, plural, rate, seconds};
use std::collections::BTreeMap;

/// Captures that give the slope an interval: a line through two leaves no residual.
const LEAST_CAPTURES: usize = 3;

/// The first line of the report.
pub(super) fn answer(comparison: &Comparison) -> String {
    let used: Vec<&ComparedCapture> = comparison.captures.iter().filter(|c| c.used).collect();
    let n = plural(used.len(), "capture");
    let Some(slope) = &comparison.slope else {
        return match used.len() {
            0 => "What a rekey costs cannot be told: no capture holds a transfer that could be measured."
                .into(),
            1 => {
                "What a rekey costs cannot be told: only one capture holds a transfer that could be measured."
                    .into()
            }
            _ => format!(
                "What a rekey costs cannot be told: all {n} have the same number of rekeys per GB ({}), so whatever differs \
                 between them has other reasons. Compare captures with different lifetimes.",
                densities(&used)
            ),
        };
    };
    match slope.low_s.zip(slope.high_s) {
        None => format!(
            "What a rekey costs cannot be told from {n}: a line always fits through fewer than {LEAST_CAPTURES} (this one \
             has {} per rekey, without an interval). Add a capture with another lifetime.",
            seconds(slope.seconds_per_rekey)
        ),
        Some(ends) => with_interval(slope, ends, &n, &densities(&used)),
    }
}

fn with_interval(slope: &Slope, (low, high): (f64, f64), n: &str, densities: &str) -> String {
    let (size, range) = (seconds(slope.seconds_per_rekey), interval(low, high));
    let seen = format!("over {n} with {densities} rekeys per GB");
    if low > 0.0 {
        let without = slope
            .without_rekeys_bps
            .map(|r| format!("; without rekeys the line gives {}", rate(r)))
            .unwrap_or_default();
        format!("A rekey costs {size} (95 % interval {range}), {seen}{without}.")
    } else if high < 0.0 {
        format!(
            "No cost of rekeys is shown: captures with more of them are faster ({size} per rekey, 95 % interval {range}), \
             {seen}, so something else differs between them."
        )
    } else {
        format!(
            "No cost of rekeys is shown: {size} per rekey, 95 % interval {range}, so at most {}, {seen}.",
            seconds(high)
        )
    }
}

/// `417 to 1,000`, `417` where all are alike to three figures.
fn densities(used: &[&ComparedCapture]) -> String {
    let all = || used.iter().filter_map(|c| c.rekeys_per_gb);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let (a, b) = (figures(low), figures(high));
    if a == b { a } else { format!("{a} to {b}") }
}

fn figures(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// A cipher suite over all captures that use it alone.
struct Sum {
    inner: u64,
    outer: u64,
    packets: u64,
}

impl Sum {
    fn efficiency(&self) -> f64 {
        self.inner as f64 / self.outer as f64
    }

    fn payload(&self) -> f64 {
        self.inner as f64 / self.packets as f64
    }
}

/// Payload over wire bytes per cipher suite, and what the best saves against the worst.
pub(super) fn efficiency(comparison: &Comparison) -> String {
    let mut suites: BTreeMap<&str, Sum> = BTreeMap::new();
    for capture in &comparison.captures {
        let (Some(suite), Some(_)) = (&capture.suite, capture.efficiency) else {
            continue;
        };
        let sum = suites.entry(suite).or_insert(Sum {
            inner: 0,
            outer: 0,
            packets: 0,
        });
        sum.inner = sum.inner.saturating_add(capture.inner_bytes);
        sum.outer = sum.outer.saturating_add(capture.outer_bytes);
        sum.packets = sum.packets.saturating_add(capture.packets);
    }
    let mut list: Vec<(&str, Sum)> = suites.into_iter().collect();
    list.sort_by(|a, b| b.1.efficiency().total_cmp(&a.1.efficiency()));
    let words: Vec<String> = list
        .iter()
        .map(|(suite, s)| format!("{suite} {:.1} %", 100.0 * s.efficiency()))
        .collect();
    let intro = format!(
        "Wire efficiency (decrypted payload over IP bytes): {}",
        words.join(", ")
    );
    match (list.first(), list.last()) {
        (Some(best), Some(worst)) if list.len() > 1 => format!(
            "{intro}. For the same payload {} puts {} fewer bytes on the wire than {}; their packets carry {:.0} and {:.0} \
             bytes of payload on average, and larger packets are more efficient with any suite.",
            best.0,
            percent(1.0 - worst.1.efficiency() / best.1.efficiency()),
            worst.0,
            best.1.payload(),
            worst.1.payload(),
        ),
        (Some(_), _) => format!("{intro}; there is no other cipher suite to compare it with."),
        _ => {
            "Wire efficiency is unknown: without keys the payload of no capture could be counted.".to_owned()
        }
    }
}

/// What a reader should hold against the slope.
pub(super) fn reservations(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let used: Vec<&ComparedCapture> = comparison.captures.iter().filter(|c| c.used).collect();
    if comparison.slope.is_some() {
        let mut differing = vec!["the line", "the clients", "the time of day"];
        if used.iter().any(|c| c.suite != used[0].suite) {
            differing.insert(0, "the cipher suite");
        }
        notes.push(format!(
            "Whatever else differs between the captures ({}) is taken for rekeys or for noise.",
            differing.join(", ")
        ));
    }
    let out = comparison.captures.iter().filter(|c| !c.used);
    notes.extend(out.map(|c| {
        let why = c.left_out.as_deref().unwrap_or("nothing in it could be measured");
        format!("{} is not on the line: {why}.", c.name)
    }));
    notes
}
