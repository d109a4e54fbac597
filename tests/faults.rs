//! What goes wrong around the program: each fault ends in a status and a sentence, and never in half a file under its name.
#![cfg(unix)]

mod ends;
mod full;
mod reading;
mod replaced;

use crate::support::repository;
use rekeyscope_testkit::scenario::{MILLI, World};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A folder with a small **synthetic** capture, whose keys lie beside it; outputs go to another.
struct Place {
    inputs: Arc<TempDir>,
    outputs: TempDir,
}

impl Place {
    fn new() -> Self {
        let inputs = TempDir::new().unwrap();
        let mut world = World::new();
        world.tick = 20 * MILLI;
        world.establish(1_000);
        world.steady(3_000);
        let mut qm = world.begin(true);
        for _ in 0..3 {
            world.message(&mut qm);
            world.steady(40);
        }
        world.switch_up(&qm);
        world.switch_down(&qm);
        world.steady(3_000);
        world.write(inputs.path(), true);
        Place {
            inputs: Arc::new(inputs),
            outputs: TempDir::new().unwrap(),
        }
    }

    /// Another run on the same capture: its outputs name the same files.
    fn again(&self) -> Self {
        Place {
            inputs: self.inputs.clone(),
            outputs: TempDir::new().unwrap(),
        }
    }

    fn capture(&self) -> String {
        self.inputs.path().join("trace.pcap").to_str().unwrap().into()
    }

    /// A pipe that nobody writes to: who reads a capture from it waits.
    fn pipe(&self) -> String {
        let pipe = self.inputs.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        pipe.to_str().unwrap().into()
    }

    /// The words with `CAPTURE` replaced, after some shell: limits and signals are the shell's.
    fn shell(&self, before: &str, words: &[&str]) -> Command {
        let capture = self.capture();
        let words = words
            .iter()
            .map(|w| if *w == "CAPTURE" { capture.as_str() } else { w });
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                &format!("{before} exec \"$@\""),
                "sh",
                env!("CARGO_BIN_EXE_rekeyscope"),
            ])
            .args(words)
            .env("LC_ALL", "C")
            .current_dir(self.outputs.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.shell("", words).output().unwrap()
    }

    fn written(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files(self.outputs.path())
    }
}

/// Everything below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(
                files(&entry.path())
                    .into_iter()
                    .map(|(path, bytes)| (PathBuf::from(entry.file_name()).join(path), bytes)),
            );
        } else {
            found.insert(entry.file_name().into(), std::fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// Every way to write files.
const WRITES: &[&[&str]] = &[
    &["CAPTURE", "-q", "--json", "r.json"],
    &["CAPTURE", "-q", "--html", "r.html"],
    &["CAPTURE", "-q", "--csv", "csv"],
    &["CAPTURE", "-q", "--svg", "svg"],
    #[cfg(feature = "png")]
    &["CAPTURE", "-q", "--png", "png"],
    &["CAPTURE", "-q", "--write-inner", "in.pcapng"],
    &["CAPTURE", "-q", "--annotate", "notes.pcapng"],
    &["keys", "CAPTURE", "-q", "--export", "wireshark", "tables"],
    &["keys", "CAPTURE", "-q", "--export", "tcpdump", "secrets"],
];

/// Every way to write to standard output.
const SAYS: [&[&str]; 11] = [
    &["CAPTURE", "-q"],
    &["CAPTURE", "-q", "-v"],
    &["CAPTURE", "-q", "--json", "-"],
    &["CAPTURE", "-q", "--html", "-"],
    &["CAPTURE", "-q", "--format", "csv"],
    &["CAPTURE", "-q", "--format", "markdown"],
    &["CAPTURE", "CAPTURE", "-q"],
    &["keys", "CAPTURE", "-q"],
    &["overhead", "--suite", "aes128gcm16"],
    &["completions", "bash"],
    &["man"],
];

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// One sentence that has this part.
fn assert_fails(what: &dyn std::fmt::Debug, output: &Output, part: &str) {
    let sentence = said(output);
    assert_eq!(output.status.code(), Some(1), "{what:?}: {sentence}");
    assert!(sentence.contains(part), "{what:?}: {sentence}");
    assert_eq!(sentence.lines().count(), 1, "{what:?}: {sentence}");
}

/// Waits for something that another process does.
fn until(happened: impl Fn() -> bool) {
    for _ in 0..600 {
        if happened() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it did not happen in half a minute");
}
