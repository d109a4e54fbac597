//! Counters of `rekeyscope watch` for Prometheus: OpenMetrics 1.0, and the older text format that node_exporter's textfile
//! collector reads. Base units, no timestamps, no label by SPI.

use rekeyscope_model::time::NANOS_PER_SECOND;
use rekeyscope_model::watch::{BUCKETS, Histogram, WatchTotals};
use std::fmt::Write;

/// Which text.
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
    };
    let rekeys = totals.rekeys.iter();
    page.counter(
        "rekeyscope_rekeys",
        "Rekeys by what ran out and who began.",
        rekeys.map(|((trigger, end), n)| {
            let labels = [("trigger", trigger.as_str()), ("initiator", end.as_str())];
            (labels.map(owned).to_vec(), *n as f64)
        }),
    );
    let failures = totals.failures.iter();
    page.counter(
        "rekeyscope_rekey_failures",
        "Rekeys that came to nothing or were not answered.",
        failures.map(|(outcome, n)| (vec![owned(("reason", outcome.as_str()))], *n as f64)),
    );
    let (outages, down) = totals.outages;
    page.counter(
        "rekeyscope_outages",
        "Times during which nothing passed and that are over.",
        [(vec![], outages as f64)].into_iter(),
    );
    page.counter(
        "rekeyscope_outage_seconds",
        "Their seconds.",
        [(vec![], down)].into_iter(),
    );
    page.histogram(
        "rekeyscope_rekey_silence_seconds",
        "Longest pause in new data at a rekey.",
        &totals.silence,
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
    let lost = totals.lost_seconds.iter();
    page.counter(
        "rekeyscope_lost_seconds",
        "Seconds that transfers took beyond what their bytes take at the path's rate, by cause.",
        lost.map(|(label, seconds)| (vec![owned(("label", label))], *seconds)),
    );
    let last = totals.last_rekey;
    page.gauge(
        "rekeyscope_last_rekey_timestamp_seconds",
        "When the newest rekey began, by the capture's clock.",
        last.iter()
            .map(|time| (vec![], time.0 as f64 / NANOS_PER_SECOND as f64)),
    );
    page.gauge(
        "rekeyscope_sas_without_key",
        "SAs with packets in the last minute that no key opens.",
        [(vec![], totals.keys_missing as f64)].into_iter(),
    );
    let tunnels = totals.tunnels.iter();
    page.gauge(
        "rekeyscope_tunnel_info",
        "A tunnel with packets in the last minute.",
        tunnels.map(|(ends, (encapsulation, ike))| {
            let labels = [
                ("client", ends.client.to_string()),
                ("gateway", ends.gateway.to_string()),
                ("encapsulation", encapsulation.to_string()),
                ("ike_version", ike.map_or_else(String::new, |v| v.to_string())),
            ];
            (labels.into_iter().collect(), 1.0)
        }),
    );
    page.counter(
        "rekeyscope_packets",
        "Packets of the capture.",
        [(vec![], totals.packets as f64)].into_iter(),
    );
    let kernel = totals.kernel.iter();
    page.counter(
        "rekeyscope_kernel_dropped_packets",
        "Packets that this machine's kernel dropped since the watch began, by counter of xfrm_stat.",
        kernel.map(|(counter, n)| (vec![owned(("counter", counter))], *n as f64)),
    );
    if format == MetricsFormat::OpenMetrics {
        page.text.push_str("# EOF\n");
    }
    page.text
}

type Labels = Vec<(&'static str, String)>;

fn owned((name, value): (&'static str, &str)) -> (&'static str, String) {
    (name, value.to_string())
}

struct MetricsPage {
    text: String,
    format: MetricsFormat,
}

impl MetricsPage {
    fn counter(&mut self, name: &str, help: &str, samples: impl Iterator<Item = (Labels, f64)>) {
        let total = format!("{name}_total");
        let family = match self.format {
            MetricsFormat::OpenMetrics => name,
            MetricsFormat::Prometheus => &total,
        };
        self.family(family, "counter", help);
        samples.for_each(|(labels, value)| self.sample(&total, &labels, value));
    }

    fn gauge(&mut self, name: &str, help: &str, samples: impl Iterator<Item = (Labels, f64)>) {
        self.family(name, "gauge", help);
        samples.for_each(|(labels, value)| self.sample(name, &labels, value));
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.family(name, "histogram", help);
        let ends = BUCKETS.iter().map(|end| format!("{end:?}"));
        let mut below = 0;
        for (end, n) in ends.chain(["+Inf".to_string()]).zip(histogram.counts) {
            below += n;
            self.sample(&format!("{name}_bucket"), &[("le", end)], below as f64);
        }
        self.sample(&format!("{name}_count"), &[], below as f64);
        self.sample(&format!("{name}_sum"), &[], histogram.sum);
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&'static str, String)], value: f64) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(name, value)| {
                let value = value
                    .replace('\\', "\\\\")
                    .replace('"', "\\\"")
                    .replace('\n', "\\n");
                format!("{name}=\"{value}\"")
            })
            .collect();
        let labels = match labels.as_slice() {
            [] => String::new(),
            labels => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.text, "{name}{labels} {value}");
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
