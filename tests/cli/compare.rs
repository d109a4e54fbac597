//! `rekeyscope compare`.

use super::*;

/// Three real captures and one of them saved by `--json`: the answer first, one table, one plot, and machine formats.
#[test]
fn captures_are_compared() {
    let folder = TempDir::new().unwrap();
    let saved = folder.path().join("saved.json");
    let [a, b, c] = sample_names().map(|name| lab_of_sample(name).capture);
    assert_eq!(run(&[text(&a), "-q", "--json", text(&saved)]).status, 0);
    let page = folder.path().join("comparison.html");
    let out = run(&[
        "compare",
        text(&saved),
        text(&b),
        text(&c),
        "-q",
        "--html",
        text(&page),
    ]);
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    let first = out.stdout.lines().next().unwrap();
    assert!(
        [
            "A rekey costs",
            "No cost of rekeys",
            "What a rekey costs cannot be told"
        ]
        .iter()
        .any(|answer| first.starts_with(answer)),
        "{first}"
    );
    for part in ["Lifetime", "AES-CBC-1", "Wire efficiency"] {
        assert!(out.stdout.contains(part), "{part} in {}", out.stdout);
    }
    assert!(
        out.stdout.lines().all(|l| l.chars().count() <= 80),
        "{}",
        out.stdout
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert_eq!(
        (page.matches("<svg").count(), page.matches("<table").count()),
        // The captures, and what two of them spend beyond the fastest.
        (1, 3)
    );
    // A saved analysis stands for its capture.
    let json = |first: &Path| -> serde_json::Value {
        let out = run(&["compare", text(first), text(&b), text(&c), "-q", "--json", "-"]);
        serde_json::from_str(&out.stdout).unwrap()
    };
    let (from_saved, from_capture) = (json(&saved), json(&a));
    assert_eq!(from_saved["slope"], from_capture["slope"]);
    assert_eq!(from_saved["captures"][0]["rekeys"], 7);
    let csv = run(&["compare", text(&a), text(&b), "-q", "--csv", "-"]).stdout;
    assert_eq!(
        (csv.lines().count(), csv.starts_with("path,")),
        (3, true),
        "{csv}"
    );
}

#[test]
fn one_bad_capture_does_not_lose_the_others() {
    let folder = TempDir::new().unwrap();
    let [a, b, _] = sample_names().map(|name| lab_of_sample(name).capture);
    let nowhere = folder.path().join("nowhere.pcap");
    let out = run(&["compare", text(&a), text(&nowhere), text(&b), "-q"]);
    assert_eq!(out.status, 1);
    assert!(
        out.stderr.contains("nowhere.pcap") && out.stderr.lines().count() == 1,
        "{}",
        out.stderr
    );
    assert!(
        out.stdout
            .starts_with("What a rekey costs cannot be told by comparing 2 captures"),
        "{}",
        out.stdout
    );
    assert!(
        out.stdout.contains("Not compared: cannot read the capture"),
        "{}",
        out.stdout
    );
    let document = folder.path().join("other.json");
    std::fs::write(&document, "{\"schema_version\": 1}").unwrap();
    let out = run(&["compare", text(&nowhere), text(&document)]);
    assert_eq!((out.status, out.stdout.as_str()), (1, ""));
    assert!(
        out.stderr.contains("is no analysis that --json wrote"),
        "{}",
        out.stderr
    );
}

/// Compare says what it needs, and how it is used.
#[test]
fn one_capture_is_not_compared() {
    let [a, ..] = sample_names().map(|name| lab_of_sample(name).capture);
    let usage = "Usage: rekeyscope compare [OPTIONS] <CAPTURE> [MORE]...";
    assert_fails(
        &["compare", text(&a)],
        2,
        "compare needs two captures or more, and this is one",
    );
    assert_fails(&["compare", text(&a)], 2, usage);
    assert_fails(&["compare"], 2, "give two captures or more");
}

#[test]
fn captures_without_keys_are_compared_by_esp_bytes_and_say_so() {
    let [a, b, _] = sample_names().map(|name| lab_of_sample(name).capture);
    let out = run(&["compare", text(&a), text(&b), "--no-keys"]);
    assert_eq!(out.status, 0);
    for part in [
        "ESP bytes (SPI to ICV), because keys are missing",
        "Wire efficiency is unknown",
    ] {
        let report = out.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(report.contains(part), "{part} in {report}");
    }
    assert!(out.stderr.contains("no key for 16 of 16 SAs"), "{}", out.stderr);
}
