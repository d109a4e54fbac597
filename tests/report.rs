//! The reports as people make them: from a capture, from a saved document, of several captures, with overlays, and with
//! hostile text in every place where a capture or a user can put it.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use support::{lab_folder, lab_of_sample, repository, sample_names};
use tempfile::TempDir;

const SAMPLE: &str = "l2tp_pfs4096_down";

struct Outcome {
    status: i32,
    stdout: String,
    stderr: String,
}

fn run_in(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    command
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .env("LC_ALL", "C");
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    Outcome {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn run_well(folder: &Path, arguments: &[&str]) -> String {
    let out = run_in(folder, arguments);
    assert_eq!(out.status, 0, "{arguments:?}: {}", out.stderr);
    out.stdout
}

fn sample(name: &str) -> String {
    lab_of_sample(name).capture.to_str().unwrap().to_string()
}

/// Names with contents of all files below a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => open.push(path),
                path => out.push((
                    path.strip_prefix(folder).unwrap().to_string_lossy().into_owned(),
                    fs::read(&path).unwrap(),
                )),
            }
        }
    }
    out.sort();
    out
}

#[test]
fn the_language_is_asked_for_or_the_locales() {
    let folder = TempDir::new().unwrap();
    let capture = sample(SAMPLE);
    let english = run_well(folder.path(), &[&capture, "-q", "--json", "r.json"]);
    let in_locale = |locale: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
        command
            .env_remove("LC_ALL")
            .env("LC_MESSAGES", locale)
            .env("LANG", "C");
        let out = command
            .current_dir(folder.path())
            .args(arguments)
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let japanese = run_well(folder.path(), &["report", "r.json", "--lang", "ja"]);
    assert!(
        japanese.contains("リキー") && !english.contains("リキー"),
        "{japanese}"
    );
    assert_eq!(in_locale("ja_JP.UTF-8", &["report", "r.json"]), japanese);
    assert_eq!(in_locale("de_DE.UTF-8", &["report", "r.json"]), english);
    assert_eq!(
        in_locale("ja_JP.UTF-8", &["report", "r.json", "--lang", "en"]),
        english
    );
    for format in ["json", "csv"] {
        let in_english = run_well(folder.path(), &["report", "r.json", "--format", format]);
        assert_eq!(
            in_locale("ja_JP.UTF-8", &["report", "r.json", "--format", format]),
            in_english
        );
    }
    assert_eq!(run_in(folder.path(), &[&capture, "--lang", "jp"]).status, 2);
}

const EVERYTHING: [&str; 10] = [
    "--html", "r.html", "--json", "r.json", "--csv", "csv", "--svg", "svg", "--png", "png",
];

#[test]
fn a_saved_document_gives_the_same_bytes_in_every_format() {
    let (direct, again) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let capture = sample(SAMPLE);
    let text = run_well(
        direct.path(),
        &[&[capture.as_str(), "-q"][..], &EVERYTHING].concat(),
    );
    let saved = direct.path().join("r.json");
    let saved = saved.to_str().unwrap();
    assert_eq!(
        run_well(again.path(), &[&["report", saved][..], &EVERYTHING].concat()),
        text
    );
    let (ours, theirs) = (files(direct.path()), files(again.path()));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    for (a, b) in ours.iter().zip(&theirs) {
        assert!(a.1 == b.1, "{} differs", a.0);
    }
    for wanted in [
        "png/timeline-0.png",
        "svg/panel-1.svg",
        "csv/rekeys.csv",
        "r.html",
    ] {
        assert!(
            names(&ours).iter().any(|n| n == wanted),
            "{wanted} in {:?}",
            names(&ours)
        );
    }
    for format in ["text", "html", "json", "csv", "markdown"] {
        let from_capture = run_well(direct.path(), &[&capture, "-q", "--format", format]);
        let from_document = run_well(direct.path(), &["report", saved, "--format", format]);
        assert!(
            from_capture == from_document && from_capture.len() > 500,
            "{format}"
        );
    }
    let full = run_well(direct.path(), &["report", saved, "-v"]);
    assert!(
        full.contains("What was ruled out") && full.contains("How to make this again"),
        "{full}"
    );
    assert!(!text.contains("How to make this again"));
}

#[test]
fn images_are_images() {
    let folder = TempDir::new().unwrap();
    run_well(
        folder.path(),
        &[&sample(SAMPLE), "-q", "--svg", "plots", "--png", "plots"],
    );
    let all = files(&folder.path().join("plots"));
    let (png, svg): (Vec<_>, Vec<_>) = all.iter().partition(|f| f.0.ends_with(".png"));
    // The run, the mean rekey of the direction with data (and of the other, where there is one), five rekeys.
    assert!(
        png.len() >= 7 && png.len() == svg.len(),
        "{} {}",
        png.len(),
        svg.len()
    );
    assert!(
        png.iter()
            .all(|f| f.1.starts_with(b"\x89PNG\r\n\x1a\n") && f.1.len() > 5_000)
    );
    for (name, bytes) in svg {
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(
            text.contains("<title") && text.contains("<desc") && text.contains("@font-face"),
            "{name}"
        );
    }
}

#[test]
fn several_captures_give_an_index() {
    let folder = TempDir::new().unwrap();
    let captures: Vec<String> = sample_names().iter().map(|n| sample(n)).collect();
    let mut arguments: Vec<&str> = captures.iter().map(String::as_str).collect();
    arguments.extend(["-q", "--html", "reports/", "--json", "json"]);
    let text = run_well(folder.path(), &arguments);
    let index = fs::read_to_string(folder.path().join("reports/index.html")).unwrap();
    assert!(index.contains("Content-Security-Policy") && !index.contains("<script"));
    for name in sample_names() {
        assert!(index.contains(&format!("<a href=\"{name}.html\">")), "{name}");
        assert!(folder.path().join(format!("reports/{name}.html")).exists());
        let document = fs::read_to_string(folder.path().join(format!("json/{name}.json"))).unwrap();
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        let sentence = document["impact"][0]["sentence"].as_str().unwrap();
        let escaped = sentence.replace('<', "&#60;").replace('>', "&#62;");
        assert!(index.contains(&escaped), "{sentence}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(sentence), "{sentence} in {text}");
    }
    assert!(text.lines().all(|l| l.chars().count() <= 80));
    // The same from the documents.
    let saved: Vec<String> = sample_names().iter().map(|n| format!("json/{n}.json")).collect();
    let mut arguments = vec!["report"];
    arguments.extend(saved.iter().map(String::as_str));
    arguments.extend(["--html", "again/"]);
    assert_eq!(run_well(folder.path(), &arguments), text);
    assert!(files(&folder.path().join("reports")) == files(&folder.path().join("again")));
}

#[test]
fn several_documents_are_one_json_array_and_never_one_file() {
    let folder = TempDir::new().unwrap();
    let captures: Vec<String> = sample_names().iter().take(2).map(|n| sample(n)).collect();
    let [a, b] = [&captures[0], &captures[1]];
    for wanted in [["--format", "json"], ["--json", "-"]] {
        let out = run_in(folder.path(), &[a, "nowhere.pcap", b, "-q", wanted[0], wanted[1]]);
        assert_eq!(out.status, 1, "{}", out.stderr);
        let all: Vec<serde_json::Value> = serde_json::from_str(&out.stdout).unwrap();
        let paths: Vec<&str> = all.iter().filter_map(|d| d["capture"]["path"].as_str()).collect();
        assert_eq!(paths, [a, b]);
    }
    assert_eq!(
        run_in(folder.path(), &["no.pcap", "none.pcap", "--format", "json"]).stdout,
        "[]\n"
    );
    for option in ["--html", "--json"] {
        let out = run_in(folder.path(), &[a, b, option, "all.json"]);
        assert_eq!(out.status, 2, "{option}");
        assert!(
            out.stderr
                .contains(&format!("give a folder, for example {option} all/")),
            "{}",
            out.stderr
        );
        assert!(!folder.path().join("all.json").exists());
    }
    let csv = run_well(folder.path(), &[a, b, "-q", "--format", "csv", "--json", "v1.0/"]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(folder.path().join("v1.0").is_dir());
}

#[test]
fn what_names_steer_is_not_obeyed_and_outputs_have_names_of_their_own() {
    let folder = TempDir::new().unwrap();
    let capture = sample(SAMPLE);
    let out = run_in(folder.path(), &[&capture, "--tunnel", "a\u{202e}b"]);
    assert_eq!(out.status, 2);
    assert!(
        out.stderr.contains("a\\u{202e}b") && !out.stderr.contains('\u{202e}'),
        "{}",
        out.stderr
    );
    assert!(run_well(folder.path(), &["--help"]).contains("Usage:"));
    let out = run_in(folder.path(), &[&capture, "--json", "a.x", "--html", "a.x"]);
    assert!(
        out.status == 2 && out.stderr.contains("a name of its own"),
        "{}",
        out.stderr
    );
    let out = run_in(folder.path(), &[&capture, "--keys", &capture]);
    assert!(
        out.status == 1 && out.stderr.contains("it is a capture"),
        "{}",
        out.stderr
    );
}

#[test]
fn one_capture_that_cannot_be_read_does_not_keep_the_others_from_it() {
    let folder = TempDir::new().unwrap();
    let out = run_in(
        folder.path(),
        &["nowhere.pcap", &sample(SAMPLE), "-q", "--html", "reports/"],
    );
    assert_eq!(out.status, 1);
    assert!(
        out.stderr.contains("cannot read the capture nowhere.pcap"),
        "{}",
        out.stderr
    );
    let index = fs::read_to_string(folder.path().join("reports/index.html")).unwrap();
    assert!(index.contains("not read") && index.contains(&format!("href=\"{SAMPLE}.html\"")));
    assert!(!folder.path().join("reports/nowhere.html").exists());
}

#[test]
fn what_makes_no_sense_is_told() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("no.json"), "{\"a\": 1}").unwrap();
    fs::write(folder.path().join("cut.json"), "{\"schema_version\": 1}").unwrap();
    let capture = sample(SAMPLE);
    for (arguments, status, says) in [
        (vec!["report", "no.json"], 1, "no analysis that --json wrote"),
        (vec!["report", "cut.json"], 1, "no analysis that --json wrote"),
        (vec!["report", "nowhere.json"], 1, "cannot read the analysis"),
        (vec!["report"], 2, "required"),
        (
            vec![&capture, "--format", "pdf"],
            2,
            "possible values: text, html, json, csv, markdown",
        ),
        (vec![&capture, "--format", "csv", "--json", "-"], 2, "only one of"),
        (
            vec![&capture, &capture, "--iperf3", "x"],
            2,
            "one capture at a time",
        ),
        (vec![&capture, "--iperf3", "no.json"], 1, "iperf3 --json"),
        (
            vec![&capture, "--overlay", "no.json"],
            1,
            "no row is a time and a number",
        ),
        (vec!["report", "no.json", "--html", "no.json"], 1, "would be lost"),
    ] {
        let out = run_in(folder.path(), &arguments);
        assert_eq!(out.status, status, "{arguments:?}: {}", out.stderr);
        assert!(out.stderr.contains(says), "{arguments:?}: {}", out.stderr);
    }
}

#[test]
fn completions_and_manual_know_every_option() {
    let folder = TempDir::new().unwrap();
    let manual = run_well(folder.path(), &["man"]);
    assert!(manual.contains(".TH rekeyscope 1"), "{manual}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run_well(folder.path(), &["completions", shell]);
        for word in ["iperf3", "reference-mbps", "report", "psk-file"] {
            assert!(script.contains(word), "{word} in {shell}");
            assert!(manual.replace("\\-", "-").contains(word), "{word} in the manual");
        }
    }
}

/// Client, server and tcpdump ran on one host, so the clocks agree. iperf3 cuts its start to whole seconds (0 to 1 s), and
/// takes it before the handshakes of the control and of the data connection: 5 round trips of 20 ms, and the host's
/// scheduling (single pauses up to 0.2 s, says the README of the captures). Rows of 0.1 s place it no better than one row.
#[test]
fn an_iperf3_run_of_the_same_host_needs_no_offset() {
    let Some(labs) = lab_folder() else { return };
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
    let of_capture = with(&["--reference", &other]);
    assert_eq!(of_capture, with(&["--reference", "other.json"]));
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

/// A pcapng file with the packets of a sample, and hostile text wherever the format takes text.
fn hostile_pcapng(evil: &str) -> Vec<u8> {
    let pcap = fs::read(lab_of_sample(SAMPLE).capture).unwrap();
    let option = |code: u16| {
        let mut out = [code.to_le_bytes(), (evil.len() as u16).to_le_bytes()].concat();
        out.extend(evil.as_bytes());
        out.resize(out.len().next_multiple_of(4), 0);
        out
    };
    let block = |kind: u32, body: Vec<u8>| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, &body, &length].concat()
    };
    let end = [0; 4];
    let mut section = [
        &0x1a2b_3c4d_u32.to_le_bytes()[..],
        &1_u16.to_le_bytes(),
        &[0; 2],
        &[0xff; 8],
    ]
    .concat();
    (1..=4).for_each(|code| section.extend(option(code))); // comment, hardware, system, program
    section.extend(end);
    let mut interface = [&1_u16.to_le_bytes()[..], &[0; 2], &[0; 4]].concat();
    [1, 2, 3, 12]
        .into_iter()
        .for_each(|code| interface.extend(option(code))); // comment, name, description, system
    interface.extend([9_u16.to_le_bytes(), 1_u16.to_le_bytes()].concat()); // times in nanoseconds
    interface.extend([9, 0, 0, 0]);
    interface.extend(end);
    let mut out = [block(0x0a0d_0d0a, section), block(1, interface)].concat();
    let mut at = 24;
    while let Some(record) = pcap.get(at..at + 16) {
        let word = |n: usize| u32::from_le_bytes(record[4 * n..4 * n + 4].try_into().unwrap());
        let time = u64::from(word(0)) * 1_000_000_000 + u64::from(word(1));
        let data = &pcap[at + 16..at + 16 + word(2) as usize];
        let mut body = [0_u32, (time >> 32) as u32, time as u32, word(2), word(3)]
            .map(u32::to_le_bytes)
            .concat();
        body.extend(data);
        body.resize(body.len().next_multiple_of(4), 0);
        if at == 24 {
            body.extend(option(1)); // comment
            body.extend(end);
        }
        out.extend(block(6, body));
        at += 16 + data.len();
    }
    out
}

/// What a hostile capture, key file or overlay may call itself.
const EVIL: &str = "=cmd()<script>alert(1)<img src=x>\u{1b}[31m\u{202e}gnp`|'\"&";

#[test]
fn hostile_names_are_harmless_in_every_format() {
    let folder = TempDir::new().unwrap();
    let within = |name: String| folder.path().join(name);
    fs::write(within(format!("{EVIL}.pcapng")), hostile_pcapng(EVIL)).unwrap();
    fs::copy(
        repository().join(format!("samples/{SAMPLE}.esp_sa")),
        within(format!("{EVIL}.esp_sa")),
    )
    .unwrap();
    fs::write(
        within(format!("{EVIL}.csv")),
        format!("t,\"{}\"\n5,1\n15,2\n", EVIL.replace('"', "\"\"")),
    )
    .unwrap();
    let (capture, overlay) = (format!("{EVIL}.pcapng"), format!("{EVIL}.csv"));
    let all = [&[capture.as_str(), "--overlay", &overlay][..], &EVERYTHING].concat();
    let out = run_in(folder.path(), &all);
    assert_eq!(out.status, 0, "{}", out.stderr);
    let document: serde_json::Value =
        serde_json::from_slice(&fs::read(within("r.json".into())).unwrap()).unwrap();
    assert_eq!(
        document["capture"]["path"], capture,
        "the document keeps the name as it is"
    );
    assert_eq!(document["capture"]["packets"], 16_822);
    assert_eq!(document["overlays"][0]["name"], EVIL);
    let markdown = run_well(folder.path(), &["report", "r.json", "--format", "markdown"]);
    let full = run_well(folder.path(), &["report", "r.json", "-v"]);
    let index = run_well(folder.path(), &["report", "r.json", "r.json", "--format", "html"]);
    let steers = |text: &str| {
        text.chars()
            .any(|c| (c.is_control() && !"\r\n".contains(c)) || c == '\u{202e}')
    };
    for (name, text) in [
        ("text", &out.stdout),
        ("notes", &out.stderr),
        ("markdown", &markdown),
        ("full", &full),
    ] {
        assert!(!steers(text), "{name}: {text}");
    }
    assert!(
        markdown
            .lines()
            .all(|l| !l.contains("<script") || l.contains("``")),
        "{markdown}"
    );
    let mut pages = vec![("index".to_string(), index)];
    for (name, bytes) in files(folder.path()) {
        let kept = name.ends_with(".html") || name.starts_with("csv/") || name.starts_with("svg/");
        pages.extend(kept.then(|| (name, String::from_utf8(bytes).unwrap())));
    }
    assert!(pages.len() > 10);
    for (name, text) in &pages {
        if name.starts_with("csv/") {
            // Every cell that begins as a formula is a number.
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(text.as_bytes());
            for cell in reader
                .records()
                .flat_map(|r| r.unwrap().iter().map(String::from).collect::<Vec<_>>())
            {
                let formula = cell.trim_start().starts_with(['=', '+', '-', '@', '\t', '\r']);
                assert!(!formula || cell.parse::<f64>().is_ok(), "{name}: {cell}");
            }
        } else {
            assert!(!steers(text), "{name}");
            assert!(
                !text.contains("<script>alert") && !text.contains("<img"),
                "{name}"
            );
        }
    }
}

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
