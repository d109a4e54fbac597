//! The program as people start it: good input, bad input, what it says and how it exits.

mod compare;
mod help;
mod keys;
#[cfg(unix)]
mod plugin;
mod text_of_windows;

use crate::support::{lab_of_sample, repository, sample_names};
use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const MAIN_SAMPLE: &str = "l2tp_kb_modp1024_down";

fn rekeyscope() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    command
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .env("LC_ALL", "C");
    command
}

struct Outcome {
    status: i32,
    stdout: String,
    stderr: String,
}

fn run(arguments: &[&str]) -> Outcome {
    let output = rekeyscope().args(arguments).output().unwrap();
    Outcome {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn sample() -> PathBuf {
    lab_of_sample(MAIN_SAMPLE).capture
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A copy of the sample without key files beside it.
fn alone(folder: &TempDir, keep: usize) -> PathBuf {
    let bytes = std::fs::read(sample()).unwrap();
    let path = folder.path().join("alone.pcap");
    std::fs::write(&path, &bytes[..keep.min(bytes.len())]).unwrap();
    path
}

#[test]
fn the_first_line_is_the_answer() {
    let out = run(&[text(&sample())]);
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    let first = out.stdout.lines().next().unwrap();
    assert!(first.contains("ekey"), "{first}");
    assert!(!out.stdout.contains('\u{1b}'), "no colour in a pipe");
    assert!(
        out.stdout.lines().all(|l| l.chars().count() <= 80),
        "80 columns in a pipe"
    );
    let narrow = rekeyscope().arg(sample()).env("COLUMNS", "70").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    let longest = narrow.lines().take(4).map(|l| l.chars().count()).max();
    assert!(
        longest.is_some_and(|longest| (60..=70).contains(&longest)),
        "{narrow}"
    );
}

#[test]
fn json_on_stdout_is_the_document_alone() {
    let out = run(&[text(&sample()), "--json", "-"]);
    let document: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(document["schema_version"], 3);
    assert_eq!(document["rekeys"].as_array().unwrap().len(), 7);
    assert_eq!(document["security_associations"].as_array().unwrap().len(), 16);
}

/// The lines of a report are folded at 80 columns; a line of JSON is not.
#[test]
fn the_document_has_the_three_lines_of_the_report() {
    let report = run(&[text(&sample())]).stdout;
    let report = report.split_whitespace().collect::<Vec<&str>>().join(" ");
    let document = document(&run(&[text(&sample()), "--json", "-"]).stdout);
    let line = |name: &str| document["answer"][name].as_str().unwrap().replace('`', "");
    let three = ["headline", "why", "do"].map(line).join(" ");
    assert!(report.replace('`', "").starts_with(&three), "{three}");
}

#[test]
fn two_runs_give_the_same_document() {
    let once = run(&[text(&sample()), "--json", "-"]).stdout;
    assert_eq!(once, run(&[text(&sample()), "--json", "-"]).stdout);
}

#[test]
fn reports_are_written_and_hold_no_key() {
    let folder = TempDir::new().unwrap();
    let (html, json, csv) = (
        folder.path().join("r.html"),
        folder.path().join("r.json"),
        folder.path().join("csv"),
    );
    let out = run(&[
        text(&sample()),
        "--html",
        text(&html),
        "--json",
        text(&json),
        "--csv",
        text(&csv),
    ]);
    assert_eq!(out.status, 0, "{}", out.stderr);
    let mut written = vec![
        out.stdout,
        std::fs::read_to_string(&html).unwrap(),
        std::fs::read_to_string(&json).unwrap(),
    ];
    for table in ["sas.csv", "rekeys.csv", "series.csv"] {
        written.push(std::fs::read_to_string(csv.join(table)).unwrap());
    }
    let truth = lab_of_sample(MAIN_SAMPLE).truth;
    let keys: Vec<String> = truth["sas"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|sa| [&sa["enc_key"], &sa["auth_key"]])
        .chain([&truth["ike"][0]["Ka"]])
        .map(|k| k.as_str().unwrap().trim_start_matches("0x").to_lowercase())
        .collect();
    assert_eq!(keys.len(), 33);
    for text in written {
        let text = text.to_lowercase();
        assert!(text.len() > 200);
        assert!(
            keys.iter().all(|k| !text.contains(k.as_str())),
            "a key got into a report"
        );
    }
    assert!(
        std::fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .all(|e| !text(&e.path()).ends_with(".tmp"))
    );
}

#[test]
fn standard_input_and_compressed_files_give_the_same_analysis() {
    let folder = TempDir::new().unwrap();
    let keys = repository().join("samples/l2tp_kb_modp1024_down.keylog");
    let bytes = std::fs::read(sample()).unwrap();
    let expected = document(&run(&[text(&sample()), "--keys", text(&keys), "--json", "-"]).stdout);
    let piped = rekeyscope()
        .args(["-", "--keys", text(&keys), "--json", "-"])
        .write_stdin(bytes.clone())
        .output()
        .unwrap();
    assert_eq!(document(&String::from_utf8(piped.stdout).unwrap()), expected);
    let zst = folder.path().join("sample.pcap.zst");
    std::fs::write(&zst, zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
    assert_eq!(
        document(&run(&[text(&zst), "--keys", text(&keys), "--json", "-"]).stdout),
        expected
    );
}

/// The document without the name of the file.
fn document(text: &str) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
    value["capture"]["path"] = serde_json::Value::Null;
    value
}

fn assert_fails(arguments: &[&str], status: i32, says: &str) {
    let out = run(arguments);
    assert_eq!(out.status, status, "{arguments:?}: {}", out.stderr);
    assert!(out.stderr.contains(says), "{arguments:?}: {}", out.stderr);
    assert_eq!(out.stdout, "", "{arguments:?}");
    if status == 1 {
        assert_eq!(out.stderr.lines().count(), 1, "one sentence: {}", out.stderr);
    }
}

#[test]
fn what_cannot_be_analysed_ends_in_one_sentence() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    assert_fails(&[text(&path("nowhere.pcap"))], 1, "cannot read the capture");
    std::fs::write(path("empty.pcap"), "").unwrap();
    assert_fails(&[text(&path("empty.pcap"))], 1, "is empty");
    std::fs::write(path("notes.txt"), "These are notes, not packets.\n".repeat(40)).unwrap();
    assert_fails(&[text(&path("notes.txt"))], 1, "is not a capture");
    assert_fails(&[text(folder.path())], 1, "cannot read the capture");
    assert_fails(
        &[text(&sample()), "--keys", text(&path("nowhere.keys"))],
        1,
        "cannot read the key file",
    );
    assert_fails(
        &[text(&sample()), "--html", text(&path("no/such/folder.html"))],
        1,
        "cannot write",
    );
    assert_fails(
        &[],
        2,
        "give a capture, for example: rekeyscope trace.pcapng --keys",
    );
    assert_fails(&[text(&sample()), "--verify", "some"], 2, "is gone");
    assert_fails(&[text(&sample()), "--json", "-", "--html", "-"], 2, "only one of");
    assert_fails(&[text(&sample()), "--csv", "-"], 2, "expected a folder");
    let once = run(&[text(&path("nowhere.pcap"))]).stderr;
    assert!(
        once.ends_with("No such file or directory; check its name\n"),
        "{once}"
    );
}

#[test]
fn errors_say_what_to_do() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("router.log");
    std::fs::write(&log, "[IKE] some lines of a log\n".repeat(40)).unwrap();
    let (capture, log) = (sample(), text(&log).to_owned());
    let capture = text(&capture);
    assert_fails(&[capture, &log], 2, &format!("is it a key log? --keys {log}"));
    let behind = format!("a log with keys goes behind --keys: rekeyscope trace.pcapng --keys {log}");
    assert_fails(&[&log], 1, &behind);
    let keys = sample().with_extension("keylog");
    let keys = text(&keys);
    let alone = format!("{keys} holds keys and no packets: rekeyscope trace.pcapng --keys {keys}");
    assert_fails(&[keys], 1, &alone);
    assert_fails(
        &[keys, capture],
        2,
        &format!("rekeyscope {capture} --keys {keys}"),
    );
    let swapped = format!("are the wrong way round: rekeyscope {capture} --keys {keys}");
    assert_fails(&[keys, "--keys", capture], 2, &swapped);
    let swapped = format!("are the wrong way round: rekeyscope keys {capture} --keys {keys}");
    assert_fails(&["keys", keys, "--keys", capture], 2, &swapped);
    assert_fails(&[capture, "--also-from", capture], 2, "is the capture itself");
    assert_fails(&[text(folder.path())], 1, ": that folder holds no capture");
    assert_fails(&["repot", capture], 2, "did you mean 'report'?");
    assert_fails(&["report", capture], 1, "it is a capture, no analysis");
    let page = format!("{}/no/such/page.html", text(folder.path()));
    let folder_of_page = format!("mkdir -p {}/no/such makes it", text(folder.path()));
    assert_fails(&[capture, "--html", &page], 1, &folder_of_page);
    let as_keys = format!("{capture} is a capture, not a key log: give it without --keys");
    assert_fails(&[capture, "--keys", capture], 1, &as_keys);
    let psk = folder.path().join("psk");
    std::fs::write(&psk, "").unwrap();
    assert_fails(
        &[capture, "--psk-file", text(&psk)],
        1,
        "it is empty: put the pre-shared key into it\n",
    );
    let no_command = format!(
        "there is no command 'analyze', and no such file: to analyse a capture, 'rekeyscope {capture}'"
    );
    assert_fails(&["analyze", capture], 2, &no_command);
    // A folder of captures may hold other files: each is told, and the captures are read.
    let several = run(&[capture, &log, capture, "--quiet"]);
    assert_eq!(several.status, 1, "{}", several.stderr);
    assert!(several.stderr.contains("goes behind --keys") && several.stdout.contains("l2tp_kb"));
}

#[test]
fn a_compressed_key_log_is_read() {
    let folder = TempDir::new().unwrap();
    let capture = alone(&folder, usize::MAX);
    let packed = folder.path().join("router.log.gz");
    let gzip = format!(
        "gzip -c '{}' > '{}'",
        text(&sample().with_extension("keylog")),
        text(&packed)
    );
    let done = std::process::Command::new("sh")
        .args(["-c", &gzip])
        .status()
        .unwrap();
    assert!(done.success(), "{gzip}");
    let out = run(&["-q", "keys", text(&capture), "-k", text(&packed)]);
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    assert!(out.stdout.contains("16 of 16 SAs decrypted"), "{}", out.stdout);
}

/// Notes come after the answer; the keys of a sample are everyone's.
#[test]
fn notes_come_last_and_none_about_samples() {
    let out = run(&[text(&sample())]);
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    let folder = TempDir::new().unwrap();
    let capture = alone(&folder, usize::MAX);
    let told = |format| run(&[text(&capture), "--format", format]).stderr;
    assert!(told("markdown").contains("no key for 16 of 16 SAs"));
    assert_eq!(told("text"), "", "the report says it");
    let command = format!(
        "'{}' '{}' --format markdown 2>&1",
        env!("CARGO_BIN_EXE_rekeyscope"),
        text(&capture)
    );
    let joined = std::process::Command::new("sh")
        .args(["-c", &command])
        .output()
        .unwrap();
    let joined = String::from_utf8(joined.stdout).unwrap();
    let last = joined.lines().last().unwrap();
    assert!(last.starts_with("rekeyscope: "), "{joined}");
    assert!(!joined.starts_with("rekeyscope: "), "{joined}");
}

#[test]
fn a_cut_file_gives_everything_before_the_cut() {
    let folder = TempDir::new().unwrap();
    let cut = alone(&folder, 10_000_000);
    let keys = repository().join("samples/l2tp_kb_modp1024_down.keylog");
    let out = run(&[text(&cut), "--keys", text(&keys), "--json", "-"]);
    assert_eq!(out.status, 0);
    assert!(
        out.stderr.contains("ends in the middle of a record"),
        "{}",
        out.stderr
    );
    let d = document(&out.stdout);
    assert_eq!(d["capture"]["truncated_file"], true);
    assert_eq!(d["rekeys"].as_array().unwrap().len(), 3);
}

#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_rekeyscope"))
        .args([text(&sample()), "--quiet", "--json", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success());
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "");
}

/// A mirror port shows every packet twice: the volumes are those of the wire.
#[test]
fn packets_seen_twice_count_once() {
    let folder = TempDir::new().unwrap();
    let bytes = std::fs::read(sample()).unwrap();
    let mut twice = bytes[..24].to_vec();
    let mut at = 24;
    while at + 16 <= bytes.len() {
        let len = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        let record = &bytes[at..at + 16 + len];
        twice.extend_from_slice(record);
        twice.extend_from_slice(record);
        at += 16 + len;
    }
    let path = folder.path().join("twice.pcap");
    std::fs::write(&path, twice).unwrap();
    let keys = repository().join("samples/l2tp_kb_modp1024_down.keylog");
    let once = document(&run(&[text(&sample()), "--keys", text(&keys), "--json", "-"]).stdout);
    let doubled = document(&run(&[text(&path), "--keys", text(&keys), "--json", "-"]).stdout);
    assert_eq!(
        doubled["capture"]["duplicates"],
        doubled["capture"]["packets"].as_u64().unwrap() / 2
    );
    for field in ["packets", "esp_bytes", "inner_bytes", "icv"] {
        for (a, b) in once["security_associations"]
            .as_array()
            .unwrap()
            .iter()
            .zip(doubled["security_associations"].as_array().unwrap())
        {
            assert_eq!(a[field], b[field], "{field}");
        }
    }
    for (a, b) in once["rekeys"]
        .as_array()
        .unwrap()
        .iter()
        .zip(doubled["rekeys"].as_array().unwrap())
    {
        assert_eq!(a["trigger"], b["trigger"]);
    }
}

#[test]
fn rates_that_make_no_sense_are_refused() {
    let capture = sample();
    for value in ["1e308", "NaN", "0", "-5", "inf"] {
        let argument = format!("--reference-mbps={value}");
        assert_fails(&[text(&capture), &argument], 2, "expected a rate");
    }
}

/// Also more workers than there are cores.
#[test]
fn the_number_of_workers_changes_nothing() {
    let sample = sample();
    let document = |jobs: &str| {
        let out = run(&[sample.to_str().unwrap(), "-q", "--json", "-", "--jobs", jobs]);
        assert_eq!((out.status, out.stderr.as_str()), (0, ""));
        out.stdout
    };
    let one = document("1");
    assert!(one == document("2") && one == document("7"));
}

/// `cmd.exe` hands patterns on as they are, and captures have names in every script.
#[test]
fn a_pattern_stands_for_documents_and_their_names_stay() {
    let folder = TempDir::new().unwrap();
    let document = run(&[text(&sample()), "-q", "--json", "-"]).stdout;
    for name in ["計測（夜）.json", "a b.json"] {
        std::fs::write(folder.path().join(name), &document).unwrap();
    }
    let (pattern, reports) = (folder.path().join("*.json"), folder.path().join("reports"));
    let out = run(&[
        "report",
        text(&pattern),
        "-q",
        "--html",
        &format!("{}/", text(&reports)),
    ]);
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    for name in ["計測（夜）.html", "a_b.html", "index.html"] {
        assert!(reports.join(name).is_file(), "{name}");
    }
}
