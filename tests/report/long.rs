//! The report of a very long capture.

use super::*;

/// Everything a document can hold, as the largest capture gives it: 20,000 bins per direction and 500 windows around rekeys.
#[test]
#[expect(clippy::disallowed_methods, reason = "a measurement needs a clock")]
fn the_report_of_a_very_long_capture_fits_in_a_mail() {
    let folder = TempDir::new().unwrap();
    run_well(folder.path(), &[&sample(SAMPLE), "-q", "--json", "r.json"]);
    let mut document: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("r.json")).unwrap()).unwrap();
    stretch(&mut document);
    fs::write(folder.path().join("synthetic.json"), document.to_string()).unwrap();
    let begin = std::time::Instant::now();
    run_well(
        folder.path(),
        &["report", "synthetic.json", "--html", "r.html", "--format", "csv"],
    );
    let html = fs::read(folder.path().join("r.html")).unwrap();
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    // A debug build on a busy machine; the limit keeps out what grows with the square of the bins.
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
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
