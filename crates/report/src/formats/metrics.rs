//! Counters of `rekeyscope watch` in Prometheus' text format (0.0.4), which node_exporter's textfile collector reads too. Base units, no
//! timestamps; a tunnel is named by its ends in all metrics, as an SPI would be a new series for every rekey.

use askama::Template;
use rekeyscope_model::analysis::{AttemptOutcome, TriggerKind};
use rekeyscope_model::time::Timestamp;
use rekeyscope_model::watch::{BUCKETS, Histogram, TunnelEnd, WatchTotals};

/// The metrics as text.
pub fn render(totals: &WatchTotals) -> String {
    // The template formats plain strings and numbers into memory: there is nothing in it that can fail.
    MetricsPage { totals }.render().unwrap_or_default()
}

#[derive(Template)]
#[template(path = "metrics.txt")]
struct MetricsPage<'a> {
    totals: &'a WatchTotals,
}

/// The ends of the buckets, each with the values up to it.
fn buckets(histogram: &Histogram) -> Vec<(String, u64)> {
    let ends = BUCKETS.iter().map(|end| format!("{end:?}"));
    let mut below = 0;
    let counts = histogram.counts.iter().map(|n| {
        below += n;
        below
    });
    ends.chain(["+Inf".to_owned()]).zip(counts).collect()
}

/// A label's value, as the format has it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up() {
        let mut totals = WatchTotals::default();
        totals.gap.counts[0] = 2;
        totals.gap.counts[BUCKETS.len()] = 1;
        totals.gap.sum = 31.5;
        totals.kernel.insert("a\"b\\".into(), 3);
        let page = render(&totals);
        for line in [
            "# TYPE rekeyscope_rekeys_total counter",
            "rekeyscope_rekey_gap_seconds_bucket{le=\"0.005\"} 2",
            "rekeyscope_rekey_gap_seconds_bucket{le=\"30.0\"} 2",
            "rekeyscope_rekey_gap_seconds_bucket{le=\"+Inf\"} 3",
            "rekeyscope_rekey_gap_seconds_count 3",
            "rekeyscope_rekey_gap_seconds_sum 31.5",
            "rekeyscope_kernel_dropped_packets_total{counter=\"a\\\"b\\\\\"} 3",
        ] {
            assert!(page.lines().any(|l| l == line), "{line} is not in\n{page}");
        }
    }
}
