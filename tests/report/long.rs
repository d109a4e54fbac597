//! The report of a very long capture.

use super::*;
use std::time::Duration;

#[test]
fn the_report_of_a_very_long_capture_fits_in_a_mail() {
    let (bytes, _) = report_of_a_very_long_capture();
    assert!(bytes < 5_000_000, "{bytes} bytes");
}

/// The limit keeps out what grows with the square of the bins. `tests/bench/run --check` runs this.
#[test]
#[ignore = "a promise of speed"]
fn the_report_of_a_very_long_capture_is_made_in_time() {
    let (_, took) = report_of_a_very_long_capture();
    assert!(took.as_secs() < 60, "{took:?}");
}

/// Makes a report of everything a document can hold, as the largest capture gives it: 20,000 bins per direction and 500 windows
/// around rekeys. How large it is and how long it took.
#[expect(clippy::disallowed_methods, reason = "a measurement needs a clock")]
fn report_of_a_very_long_capture() -> (u64, Duration) {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    run_well(folder, &[&sample(SAMPLE), "-q", "--json", "r.json"]);
    let mut document: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("r.json")).unwrap()).unwrap();
    stretch(&mut document);
    fs::write(folder.join("synthetic.json"), document.to_string()).unwrap();
    let begin = std::time::Instant::now();
    run_well(
        folder,
        &["report", "synthetic.json", "--html", "r.html", "--format", "csv"],
    );
    let took = begin.elapsed();
    (fs::metadata(folder.join("r.html")).unwrap().len(), took)
}

/// Ten hours of synthetic series and 500 synthetic rekeys in the place of the real ones.
fn stretch(document: &mut serde_json::Value) {
    document["capture"]["path"] = "synthetic-ten-hours.pcapng".into();
    document["capture"]["duration_s"] = 36_000.0.into();
    document["series"]["bin_ms"] = 1_800.0.into();
    for series in document["series"]["tunnels"].as_array_mut().unwrap() {
        let bytes: Vec<u64> = (0..20_000_u64).map(|k| 1_900_000 + k * 7_919 % 90_001).collect();
        series["outer_bytes"] = bytes.clone().into();
        series["inner_new_bytes"] = bytes.into();
    }
    let rekey = document["rekeys"][0].clone();
    let rekeys: Vec<serde_json::Value> = (0..500)
        .map(|k| {
            let mut rekey = rekey.clone();
            rekey["index"] = k.into();
            rekey
        })
        .collect();
    let windows: Vec<serde_json::Value> = (0..500)
        .map(|k| {
            let bytes: Vec<u64> = (0..800).map(|b| 10_000 + b % 13).collect();
            serde_json::json!({"rekey": k, "direction": "b_to_a", "start": rekey["started"], "bin_ms": 10.0,
                               "inner_new_bytes": bytes})
        })
        .collect();
    document["rekeys"] = rekeys.into();
    document["series"]["around_rekeys"] = windows.into();
}
