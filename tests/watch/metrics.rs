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
    let page = rekeyscope_report::formats::metrics::render(&totals);
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

/// The YAML of the page is what Prometheus reads, and it fires at the first failure: before it the counter stands at 0.
#[test]
fn alerts_fire_at_the_first_failure() {
    use rekeyscope_model::analysis::AttemptOutcome;
    use rekeyscope_model::watch::WatchTotals;
    use rekeyscope_report::formats::metrics::render;
    let value = |totals: &WatchTotals, series: &str| -> Option<String> {
        let page = render(totals);
        let line = page.lines().find(|line| line.starts_with(series))?.to_string();
        line.rsplit(' ').next().map(str::to_string)
    };
    let (before, mut after) = (WatchTotals::default(), WatchTotals::default());
    after.failures.insert(AttemptOutcome::Unanswered, 1);
    after.all.outages = 1;
    after.all.lost_seconds = 60.0;
    let page = fs::read_to_string(repository().join("docs/watch.md")).unwrap();
    let alerts = page
        .split("```yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let indented: String = alerts.lines().map(|line| format!("    {line}\n")).collect();
    let rules = format!("groups:\n- name: rekeyscope\n  rules:\n{indented}");
    let mut series = String::new();
    for name in [
        "rekeyscope_rekey_failures_total{reason=\"unanswered\"}",
        "rekeyscope_lost_seconds_total{label=\"rekey\"}",
        "rekeyscope_outages_total",
    ] {
        let (before, after) = (value(&before, name), value(&after, name).unwrap());
        let before = before.unwrap_or_else(|| panic!("{name} is not there before"));
        assert_eq!(before, "0", "{name}");
        series += &format!("  - series: '{name}'\n    values: '{before}x40 {after}x80'\n");
    }
    let test = format!(
        "rule_files: [rules.yml]\nevaluation_interval: 15s\ntests:\n- interval: 15s\n  input_series:\n{series}  alert_rule_test:\n\
         \x20 - eval_time: 11m\n    alertname: RekeyFails\n    exp_alerts: [{{exp_labels: {{reason: unanswered}}}}]\n\
         \x20 - eval_time: 11m\n    alertname: RekeysCostThroughput\n    exp_alerts: [{{exp_labels: {{label: rekey}}}}]\n\
         \x20 - eval_time: 11m\n    alertname: NothingPasses\n    exp_alerts: [{{exp_labels: {{}}}}]\n\
         \x20 - eval_time: 9m\n    alertname: RekeyFails\n    exp_alerts: []\n"
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rules.yml"), rules).unwrap();
    fs::write(folder.path().join("test.yml"), test).unwrap();
    let ran = Command::new("promtool")
        .current_dir(folder.path())
        .args(["test", "rules", "test.yml"])
        .output();
    let Ok(ran) = ran else {
        println!("skipped: no promtool");
        return;
    };
    let said = String::from_utf8_lossy(&ran.stdout).to_string() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
}

/// Every label that is known is there from the start, and a tunnel has one name in all its series.
#[test]
fn zeros_are_there_from_the_start_and_a_tunnel_has_one_name() {
    use rekeyscope_model::watch::{TunnelEnds, WatchCounters, WatchTotals};
    use rekeyscope_report::formats::metrics::render;
    let mut totals = WatchTotals::default();
    let page = render(&totals);
    let samples = |name: &str| {
        page.lines()
            .filter(|line| line.starts_with(&format!("{name}{{")))
            .count()
    };
    assert_eq!(samples("rekeyscope_rekeys_total"), 18, "{page}");
    assert_eq!(samples("rekeyscope_rekey_failures_total"), 2, "{page}");
    assert_eq!(samples("rekeyscope_build_info"), 1, "{page}");
    let ends = TunnelEnds {
        client: "10.9.0.2".parse().unwrap(),
        gateway: "10.9.0.1".parse().unwrap(),
    };
    totals.by_tunnel.insert(ends, WatchCounters::default());
    totals
        .tunnels
        .insert(ends, (rekeyscope_model::analysis::Encapsulation::Esp, Some(1)));
    let page = render(&totals);
    let named = page
        .lines()
        .filter(|line| line.contains("tunnel=\"10.9.0.2-10.9.0.1\""));
    assert_eq!(named.count(), 6, "{page}");
    accepted_by_promtool(&render(&totals));
}
