//! Other measurements, and another capture, beside the packets.

use super::*;

/// Client, server and tcpdump ran on one host, so the clocks agree. iperf3 cuts its start to whole seconds (0 to 1 s), and
/// takes it before the handshakes of the control and of the data connection: 5 round trips of 20 ms, and the host's
/// scheduling (single pauses up to 0.2 s, says the README of the captures). Rows of 0.1 s place it no better than one row.
#[test]
fn an_iperf3_run_of_the_same_host_needs_no_offset() {
    let Some(labs) = rekeyscope_testkit::lab::folder() else {
        return;
    };
    for name in sample_names() {
        let lab = labs.join(name);
        let analysis = with_overlay(&lab.join("trace.pcap"), &lab.join("iperf3.json"));
        let overlay = &analysis["overlays"][0];
        let clock = &overlay["clock"];
        let row_s = clock["interval_s"].as_f64().unwrap();
        assert!((0.05..0.2).contains(&row_s), "{row_s}");
        if name == "l2tp_time_down" {
            // Even traffic has nothing to be aligned by: half of its best place's variance stays unexplained.
            assert_eq!(clock["aligned"], false, "{name}: {clock}");
            assert!(overlay["comparison"].is_null());
            continue;
        }
        assert_eq!(clock["aligned"], true, "{name}: {clock}");
        let offset = clock["offset_s"].as_f64().unwrap();
        let latest = 1.0 + 5.0 * 0.02 + 0.2 + row_s;
        assert!((-row_s..latest).contains(&offset), "{name}: {offset}");
        assert_eq!(overlay["direction"], "b_to_a", "a download");
        // Both count the same bytes: what iperf3 has read by the end of a row, the capture has shown.
        let c = &overlay["comparison"];
        let [theirs, ours] = ["mean_bps", "packets_mean_bps"].map(|f| c[f].as_f64().unwrap());
        assert!((theirs / ours - 1.0).abs() < 0.05, "{name}: {theirs} {ours}");
        assert!(overlay["sentences"].to_string().contains("rows of 1 s would not"));
        assert!(!overlay["at_rekeys"].as_array().unwrap().is_empty());
    }
}

/// The rate of a second capture, analysed now or saved before, is the reference as if it had been typed.
#[test]
fn another_capture_is_the_reference() {
    let folder = TempDir::new().unwrap();
    let capture = sample(SAMPLE);
    let with = |more: &[&str]| -> serde_json::Value {
        let words = [&[&capture, "-q", "--format", "json"], more].concat();
        serde_json::from_str(&run_well(folder.path(), &words)).unwrap()
    };
    let other = sample("l2tp_time_down");
    run_well(folder.path(), &[&other, "-q", "--json", "other.json"]);
    let saved: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("other.json")).unwrap()).unwrap();
    let mut of_capture = with(&["--reference", &other]);
    let mut of_saved = with(&["--reference", "other.json"]);
    for document in [&mut of_capture, &mut of_saved] {
        // Each goes by its own name.
        for named in ["reference", "sentence", "messages"] {
            document["gap"][named].take();
        }
    }
    assert_eq!(of_capture, of_saved);
    let rate = of_capture["settings"]["reference_bps"].as_f64().unwrap();
    let rates = saved["impact"].as_array().unwrap().iter();
    let observed = rates
        .filter_map(|i| i["observed_bps"].as_f64())
        .fold(0.0, f64::max);
    // Both are 8 · bytes / seconds of the same transfer, added up in another order.
    assert!((rate / observed - 1.0).abs() < 1e-12, "{rate} {observed}");
    let typed = with(&["--reference-mbps", &(rate / 1e6).to_string()]);
    let share = |document: &serde_json::Value| document["impact"][0]["explained_share"].clone();
    assert!(
        share(&of_capture)["estimate"].as_f64().is_some(),
        "{}",
        share(&of_capture)
    );
    assert_eq!(share(&of_capture), share(&typed));
    // What has no transfer is no reference.
    fs::write(folder.path().join("empty.json"), "{}").unwrap();
    for (wrong, told) in [("empty.json", "no analysis"), ("nowhere.pcap", "nowhere.pcap")] {
        let refused = run_in(folder.path(), &[&capture, "--reference", wrong]);
        assert!(
            refused.status != 0 && refused.stderr.contains(told),
            "{}",
            refused.stderr
        );
    }
}

fn with_overlay(capture: &Path, iperf3: &Path) -> serde_json::Value {
    let folder = TempDir::new().unwrap();
    let words = [
        capture.to_str().unwrap(),
        "-q",
        "--iperf3",
        iperf3.to_str().unwrap(),
        "--format",
        "json",
    ];
    serde_json::from_str(&run_well(folder.path(), &words)).unwrap()
}

#[test]
fn samples_stand_on_the_same_time_axis() {
    let folder = TempDir::new().unwrap();
    let rows: String = (0..37)
        .map(|s| format!("{s},{}\n", if s == 12 { 97 } else { 20 }))
        .collect();
    fs::write(
        folder.path().join("cpu.csv"),
        format!("seconds,router cpu\n{rows}"),
    )
    .unwrap();
    let all = [
        &sample(SAMPLE),
        "-q",
        "--overlay",
        "cpu.csv",
        "--json",
        "r.json",
        "--html",
        "r.html",
        "--csv",
        "csv",
    ];
    let text = run_well(folder.path(), &all);
    assert!(text.contains("router cpu (cpu.csv)"), "{text}");
    let document: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("r.json")).unwrap()).unwrap();
    let at = |rekey: usize| document["overlays"][0]["at_rekeys"][rekey].clone();
    // Rekey 2 begins at 11.7 s: the sample of 97 at 12 s lies in its time, not in that of rekey 1 (8.9 s).
    assert_eq!(
        (at(1)["before"].as_f64(), at(1)["highest"].as_f64()),
        (Some(20.0), Some(97.0))
    );
    assert_eq!(
        (at(0)["lowest"].as_f64(), at(0)["highest"].as_f64()),
        (Some(20.0), Some(20.0))
    );
    let html = fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(html.contains("data-name=\"router cpu\"") && html.contains("id=\"overlays\""));
    assert_eq!(
        fs::read_to_string(folder.path().join("csv/overlays.csv"))
            .unwrap()
            .lines()
            .count(),
        38
    );
    // The saved document brings its overlays along.
    run_well(folder.path(), &["report", "r.json", "--html", "again.html"]);
    assert!(fs::read_to_string(folder.path().join("again.html")).unwrap() == html);
}
