//! Counters of `rekeyscope watch` for Prometheus: OpenMetrics 1.0, and the older text format that node_exporter's textfile
//! collector reads. Base units, no timestamps, no label by SPI.

use rekeyscope_model::analysis::{AttemptOutcome, TriggerKind};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::{BUCKETS, Histogram, TunnelEnd, TunnelEnds, WatchCounters, WatchTotals};
use std::fmt::{Display, Write};

/// The text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsFormat {
    /// `application/openmetrics-text; version=1.0.0`: a counter's family lacks `_total`, and the end is marked.
    OpenMetrics,
    /// `text/plain; version=0.0.4`.
    Prometheus,
}

/// The metrics as text.
pub fn render(totals: &WatchTotals, format: MetricsFormat) -> String {
    let mut page = MetricsPage {
        text: String::new(),
        format,
        name: String::new(),
    };
    page.gauge("rekeyscope_build_info", "The program.");
    page.sample(&[("version", &env!("CARGO_PKG_VERSION"))], 1.0);
    page.counter("rekeyscope_rekeys", "Rekeys by what ran out and who began.");
    for trigger in TriggerKind::ALL {
        for end in TunnelEnd::ALL {
            let n = totals.rekeys.get(&(*trigger, *end)).copied().unwrap_or(0);
            page.sample(&[("trigger", trigger), ("initiator", &end.as_str())], n as f64);
        }
    }
    page.counter(
        "rekeyscope_rekey_failures",
        "Rekeys that came to nothing or were not answered.",
    );
    for outcome in AttemptOutcome::ALL.iter().filter(|outcome| outcome.failed()) {
        let n = totals.failures.get(outcome).copied().unwrap_or(0);
        page.sample(&[("reason", outcome)], n as f64);
    }
    page.counter("rekeyscope_outages", "Times during which nothing passed.");
    page.sample(&[], totals.all.outages as f64);
    page.counter("rekeyscope_outage_seconds", "Seconds of those that are over.");
    page.sample(&[], totals.all.outage_seconds);
    page.counter(
        "rekeyscope_lost_seconds",
        "Seconds that rekeys cost transfers, as the ledger of the report has them.",
    );
    page.sample(&[("label", &"rekey")], totals.all.lost_seconds);
    page.histogram(
        "rekeyscope_rekey_silence_seconds",
        "Longest time without an arrival that a rekey owns; 0 where it owns none.",
        &totals.silence,
    );
    page.histogram(
        "rekeyscope_rekey_cost_seconds",
        "Cost of a rekey, both directions together; 0 where it cost nothing.",
        &totals.cost,
    );
    page.histogram(
        "rekeyscope_rekey_gap_seconds",
        "Last packet on the old SA to the first on the new one.",
        &totals.gap,
    );
    page.histogram(
        "rekeyscope_rekey_exchange_seconds",
        "First to last message of the exchange.",
        &totals.exchange,
    );
    let seconds = |time: Timestamp| time.0 as f64 / NANOS_PER_SECOND as f64;
    page.gauge(
        "rekeyscope_last_rekey_timestamp_seconds",
        "When the newest rekey began, by the capture's clock.",
    );
    totals
        .last_rekey
        .iter()
        .for_each(|time| page.sample(&[], seconds(*time)));
    page.gauge(
        "rekeyscope_last_packet_timestamp_seconds",
        "When the newest packet came, by the capture's clock.",
    );
    totals
        .last_packet
        .iter()
        .for_each(|time| page.sample(&[], seconds(*time)));
    page.gauge(
        "rekeyscope_sas_without_key",
        "SAs with packets in the last minute that no key opens.",
    );
    page.sample(&[], totals.keys_missing as f64);
    page.gauge(
        "rekeyscope_tunnel_info",
        "A tunnel with packets in the last minute.",
    );
    for (ends, (encapsulation, ike)) in &totals.tunnels {
        page.sample(
            &[
                ("tunnel", &tunnel_label(ends)),
                ("client", &ends.client),
                ("gateway", &ends.gateway),
                ("encapsulation", encapsulation),
                ("ike_version", &ike.map_or_else(String::new, |v| v.to_string())),
            ],
            1.0,
        );
    }
    for (name, help, value) in TUNNEL_COUNTERS {
        page.counter(name, help);
        for (ends, totals) in &totals.by_tunnel {
            page.sample(&[("tunnel", &tunnel_label(ends))], value(totals));
        }
    }
    page.counter("rekeyscope_packets", "Packets of the capture.");
    page.sample(&[], totals.packets as f64);
    page.counter(
        "rekeyscope_packets_not_analysed",
        "IPsec packets beyond the bounds of tunnels and SAs: counted and not analysed.",
    );
    page.sample(&[], totals.not_analysed as f64);
    page.counter(
        "rekeyscope_kernel_dropped_packets",
        "Packets that this machine's kernel dropped since the watch began, by counter of xfrm_stat.",
    );
    for (counter, n) in &totals.kernel {
        page.sample(&[("counter", counter)], *n as f64);
    }
    if format == MetricsFormat::OpenMetrics {
        page.text.push_str("# EOF\n");
    }
    page.text
}

/// The name of a tunnel in all metrics: its ends. An SPI would be a new series for every rekey.
fn tunnel_label(ends: &TunnelEnds) -> String {
    format!("{}-{}", ends.client, ends.gateway)
}

/// Metric, what it is, and where a tunnel has it.
type TunnelCounter = (&'static str, &'static str, fn(&WatchCounters) -> f64);

const TUNNEL_COUNTERS: [TunnelCounter; 5] = [
    ("rekeyscope_tunnel_rekeys", "Rekeys of a tunnel.", |t| {
        t.rekeys as f64
    }),
    (
        "rekeyscope_tunnel_rekey_failures",
        "Rekeys of a tunnel that came to nothing or were not answered.",
        |t| t.failures as f64,
    ),
    (
        "rekeyscope_tunnel_outages",
        "Times during which nothing passed in a direction of a tunnel.",
        |t| t.outages as f64,
    ),
    (
        "rekeyscope_tunnel_outage_seconds",
        "Seconds of those that are over.",
        |t| t.outage_seconds,
    ),
    (
        "rekeyscope_tunnel_lost_seconds",
        "Seconds that rekeys cost the transfers of a tunnel.",
        |t| t.lost_seconds,
    ),
];

struct MetricsPage {
    text: String,
    format: MetricsFormat,
    /// The metric whose samples follow.
    name: String,
}

impl MetricsPage {
    fn counter(&mut self, name: &str, help: &str) {
        let total = format!("{name}_total");
        let family = match self.format {
            MetricsFormat::OpenMetrics => name,
            MetricsFormat::Prometheus => &total,
        };
        self.family(family, "counter", help);
        self.name = total;
    }

    fn gauge(&mut self, name: &str, help: &str) {
        self.family(name, "gauge", help);
        self.name = name.to_owned();
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.family(name, "histogram", help);
        let ends = BUCKETS.iter().map(|end| format!("{end:?}"));
        let mut below = 0;
        self.name = format!("{name}_bucket");
        for (end, n) in ends.chain(["+Inf".to_string()]).zip(histogram.counts) {
            below += n;
            self.sample(&[("le", &end)], below as f64);
        }
        self.name = format!("{name}_count");
        self.sample(&[], below as f64);
        self.name = format!("{name}_sum");
        self.sample(&[], histogram.sum);
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, labels: &[(&str, &dyn Display)], value: f64) {
        let escaped = |value: &dyn Display| {
            let value = value.to_string().replace('\\', "\\\\");
            value.replace('"', "\\\"").replace('\n', "\\n")
        };
        let labels = labels.iter();
        let labels: Vec<String> = labels
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(*value)))
            .collect();
        let labels = match labels.as_slice() {
            [] => String::new(),
            labels => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.text, "{}{labels} {value}", self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up_and_only_openmetrics_has_an_end() {
        let mut totals = WatchTotals::default();
        totals.gap.counts[0] = 2;
        totals.gap.counts[BUCKETS.len()] = 1;
        totals.gap.sum = 31.5;
        totals.kernel.insert("a\"b\\".into(), 3);
        let page = render(&totals, MetricsFormat::OpenMetrics);
        for line in [
            "# TYPE rekeyscope_rekeys counter",
            "rekeyscope_rekey_gap_seconds_bucket{le=\"0.005\"} 2",
            "rekeyscope_rekey_gap_seconds_bucket{le=\"30.0\"} 2",
            "rekeyscope_rekey_gap_seconds_bucket{le=\"+Inf\"} 3",
            "rekeyscope_rekey_gap_seconds_count 3",
            "rekeyscope_rekey_gap_seconds_sum 31.5",
            "rekeyscope_kernel_dropped_packets_total{counter=\"a\\\"b\\\\\"} 3",
        ] {
            assert!(page.lines().any(|l| l == line), "{line} is not in\n{page}");
        }
        assert!(page.ends_with("\n# EOF\n"));
        let older = render(&totals, MetricsFormat::Prometheus);
        assert!(older.contains("# TYPE rekeyscope_rekeys_total counter\n") && !older.contains("EOF"));
    }
}
