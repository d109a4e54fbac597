//! The reports as people make them: from a capture, from a saved document, of several captures, with overlays, and with
//! hostile text in every place where a capture or a user can put it.

mod hostile;
mod long;
mod overlays;
mod several;

use crate::support::{lab_of_sample, repository, sample_names};
use assert_cmd::Command;
use std::fs;
use std::path::Path;
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

const EVERYTHING: &[&str] = &[
    "--html",
    "r.html",
    "--json",
    "r.json",
    "--csv",
    "csv",
    "--svg",
    "svg",
    #[cfg(feature = "png")]
    "--png",
    #[cfg(feature = "png")]
    "png",
];

#[test]
fn a_saved_document_gives_the_same_bytes_in_every_format() {
    let (direct, again) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let capture = sample(SAMPLE);
    let text = run_well(
        direct.path(),
        &[&[capture.as_str(), "-q"][..], EVERYTHING].concat(),
    );
    let saved = direct.path().join("r.json");
    let saved = saved.to_str().unwrap();
    assert_eq!(
        run_well(again.path(), &[&["report", saved][..], EVERYTHING].concat()),
        text
    );
    let (ours, theirs) = (files(direct.path()), files(again.path()));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    for (a, b) in ours.iter().zip(&theirs) {
        assert!(a.1 == b.1, "{} differs", a.0);
    }
    for wanted in [
        #[cfg(feature = "png")]
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
    assert!(full.contains("How to make this again"), "{full}");
    assert!(!text.contains("How to make this again"));
}

#[test]
#[cfg(feature = "png")]
fn images_are_images() {
    let folder = TempDir::new().unwrap();
    run_well(
        folder.path(),
        &[&sample(SAMPLE), "-q", "--svg", "plots", "--png", "plots"],
    );
    let all = files(&folder.path().join("plots"));
    let (png, svg): (Vec<_>, Vec<_>) = all.iter().partition(|f| f.0.ends_with(".png"));
    // The run, and a panel and a close-up of each rekey.
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
fn what_makes_no_sense_is_told() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("no.json"), "{\"a\": 1}").unwrap();
    fs::write(folder.path().join("cut.json"), "{\"schema_version\": 1}").unwrap();
    let capture = sample(SAMPLE);
    for (arguments, status, says) in [
        (vec!["report", "no.json"], 1, "no analysis that --json wrote"),
        (vec!["report", "cut.json"], 1, "no analysis that --json wrote"),
        (vec!["report", "nowhere.json"], 1, "cannot read the analysis"),
        (vec!["report"], 2, "give an analysis that --json wrote"),
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

/// What a hostile capture, key file or overlay may call itself.
const EVIL: &str = "=cmd()<script>alert(1)<img src=x>\u{1b}[31m\u{202e}gnp`|'\"&";
