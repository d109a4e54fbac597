//! Metrics: what Prometheus takes, and what documents name.

use crate::support::repository;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

pub(super) fn accepted_by_promtool(metrics: &str) {
    let promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut promtool) = promtool else {
        println!("skipped: no promtool");
        return;
    };
    promtool
        .stdin
        .take()
        .unwrap()
        .write_all(metrics.as_bytes())
        .unwrap();
    let said = promtool.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&said.stdout).to_string() + &String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && words.trim().is_empty(), "{words}");
}

/// The dashboard and the page on metrics name no metric that is not there.
#[test]
fn documents_name_metrics_that_exist() {
    let mut totals = rekeyscope_model::watch::WatchTotals::default();
    let ends = rekeyscope_model::watch::TunnelEnd::Client;
    let trigger = rekeyscope_model::analysis::TriggerKind::Volume;
    totals.rekeys.insert((trigger, ends), 1);
    let format = rekeyscope_report::formats::metrics::MetricsFormat::Prometheus;
    let page = rekeyscope_report::formats::metrics::render(&totals, format);
    let families: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let of_histogram = |name: &str| name.strip_suffix("_bucket").map(str::to_string);
    let mut named = 0;
    for file in ["fleet/grafana.json", "docs/watch.md"] {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for name in text
            .split(|c| !is_name(c))
            .filter(|word| word.starts_with("rekeyscope_"))
        {
            let family = of_histogram(name).unwrap_or_else(|| name.to_string());
            assert!(families.contains(&family.as_str()), "{file}: {name}");
            named += 1;
        }
    }
    assert!(named > 20);
}
