//! The comparison in words.

use crate::tell::words::{interval, percent, rate, seconds, three_digits};
use crate::verdict::INTEREST;
use rekeyscope_model::analysis::AccountGap;
use rekeyscope_model::analysis::comparison::{ComparedCapture, Comparison, Slope};
use rekeyscope_model::text::{Arg, Message};
use std::collections::BTreeMap;

/// The first lines of the report: what a rekey costs, and what else the slowest capture spends its time on.
pub(crate) fn answers(comparison: &Comparison) -> Vec<Message> {
    let longest = |a: &&AccountGap, b: &&AccountGap| a.gap_s_per_gb.total_cmp(&b.gap_s_per_gb);
    let slowest = comparison.gaps.iter().max_by(longest);
    let of_slowest = slowest.into_iter().flat_map(|gap| gap.messages.clone());
    std::iter::once(answer(comparison)).chain(of_slowest).collect()
}

fn answer(comparison: &Comparison) -> Message {
    let used: Vec<&ComparedCapture> = comparison.captures.iter().filter(|c| c.used).collect();
    let over = |message: Message| message.with("captures", used.len());
    let Some(slope) = &comparison.slope else {
        return match used.len() {
            0 => Message::new("compare-none"),
            1 => Message::new("compare-only-one"),
            _ => over(Message::new("compare-same")).with("densities", densities(&used)),
        };
    };
    match slope.low_s.zip(slope.high_s) {
        // A line through two points leaves no residual, and so no interval.
        None => over(Message::new("compare-two")).with("stall", seconds(slope.seconds_per_rekey)),
        Some(ends) => over(with_interval(slope, ends, interest_s(&used))).with("densities", densities(&used)),
    }
}

/// The stall per rekey that would matter, seconds: a share of the mean time from rekey to rekey.
fn interest_s(used: &[&ComparedCapture]) -> f64 {
    let seconds: f64 = used.iter().filter_map(|c| c.duration_s).sum();
    let rekeys: usize = used.iter().filter_map(|c| c.rekeys).sum();
    INTEREST * seconds / rekeys as f64
}

fn with_interval(slope: &Slope, (low, high): (f64, f64), interest_s: f64) -> Message {
    let message = match (low > 0.0, slope.without_rekeys_bps) {
        (true, Some(without)) => Message::new("compare-cost-and-without").with("without", rate(without)),
        (true, None) => Message::new("compare-cost"),
        (false, _) if high < 0.0 => Message::new("compare-faster"),
        // As for one capture: no cost is bounded where the interval holds one that would matter.
        (false, _) if high > interest_s => Message::new("compare-cannot-tell")
            .with("interest", seconds(interest_s))
            .with("share", percent(INTEREST)),
        (false, _) => Message::new("compare-not-shown").with("most", seconds(high)),
    };
    message
        .with("stall", seconds(slope.seconds_per_rekey))
        .with("interval", interval(low, high))
}

/// `417 to 1000`, `417` where all are alike to three figures.
fn densities(used: &[&ComparedCapture]) -> Arg {
    let all = || used.iter().filter_map(|c| c.rekeys_per_gb);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let (a, b) = (figures(low), figures(high));
    if a == b {
        a.into()
    } else {
        Message::new("range").with("low", a).with("high", b).into()
    }
}

fn figures(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else {
        three_digits(value)
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
pub(crate) fn efficiency(comparison: &Comparison) -> Message {
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
    let all = words.join(", ");
    match (list.first(), list.last()) {
        (Some(best), Some(worst)) if list.len() > 1 => Message::new("efficiency-several")
            .with("all", all)
            .with("best", best.0)
            .with("worst", worst.0)
            .with("saved", percent(1.0 - worst.1.efficiency() / best.1.efficiency()))
            .with("best-payload", format!("{:.0}", best.1.payload()))
            .with("worst-payload", format!("{:.0}", worst.1.payload())),
        (Some(_), _) => Message::new("efficiency-one").with("all", all),
        _ => Message::new("efficiency-unknown"),
    }
}

/// What a reader should hold against the slope.
pub(crate) fn reservations(comparison: &Comparison) -> Vec<Message> {
    let mut notes = Vec::new();
    let used: Vec<&ComparedCapture> = comparison.captures.iter().filter(|c| c.used).collect();
    if comparison.slope.is_some() {
        notes.push(if used.iter().any(|c| c.suite != used[0].suite) {
            Message::new("compare-differs-suite")
        } else {
            Message::new("compare-differs")
        });
    }
    let out = comparison.captures.iter().filter(|c| !c.used);
    notes.extend(out.map(|c| {
        let why = c.left_out_messages.first().cloned();
        Message::new("compare-not-on-the-line")
            .with("name", c.name.as_str())
            .with("why", why.unwrap_or_else(|| Message::new("left-out-nothing")))
    }));
    notes
}
