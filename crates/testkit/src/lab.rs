//! The captures of `../shared`, which a user's clone does not have. Tests find them here and nowhere else, so that
//! `tests/run --full` knows which tests to run a second time with the captures hidden.

use std::io::Write;
use std::path::{Path, PathBuf};

/// When this variable is set, the captures are hidden, and the tests do what they do in a user's clone.
const HIDDEN: &str = "REKEYSCOPE_NO_SHARED";

/// Names a file. Each test that asks for the captures adds its name to it.
const ASKED: &str = "REKEYSCOPE_ASKED_FOR_SHARED";

/// The folder of the captures, where `shared` lies beside the repository or one folder further up. A test that keeps what it
/// made of the captures for other tests calls this before it looks for what is kept: else the others are not noted.
pub fn folder() -> Option<PathBuf> {
    note_the_test();
    if std::env::var_os(HIDDEN).is_some() {
        return None;
    }
    shared("lab/captures")
}

fn shared(folder: &str) -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = ["../shared", "../../shared"].map(|up| repository.join(up).join(folder));
    places.into_iter().find(|folder| folder.is_dir())
}

/// The folder of a capture that was made from a public report, or a line for `tests/run` to count.
pub fn report(name: &str) -> Option<PathBuf> {
    note_the_test();
    let hidden = std::env::var_os(HIDDEN).is_some();
    let found = shared("reports")
        .filter(|_| !hidden)
        .map(|folder| folder.join(name));
    let found = found.filter(|path| path.is_dir());
    if found.is_none() {
        say_skipped(name);
    }
    found
}

/// The captures' folders in order; none, and a line for `tests/run` to count, where they are not there.
pub fn captures() -> Vec<PathBuf> {
    let Some(entries) = folder().and_then(|folder| std::fs::read_dir(folder).ok()) else {
        say_skipped("no captures");
        return Vec::new();
    };
    let mut captures: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    captures.sort();
    captures
}

/// One capture's folder, or a line for `tests/run` to count.
pub fn capture(name: &str) -> Option<PathBuf> {
    let found = folder()
        .map(|folder| folder.join(name))
        .filter(|path| path.is_dir());
    if found.is_none() {
        say_skipped(name);
    }
    found
}

#[expect(clippy::print_stdout, reason = "the test harness shows what a test prints")]
fn say_skipped(what: &str) {
    println!("skipped: ../shared is not here: {what}");
}

/// A test is known by its thread. Without threads of their own, or on a thread that a test started, tests have no name.
fn note_the_test() {
    let Some(path) = std::env::var_os(ASKED) else {
        return;
    };
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main");
    let test = test.expect("the captures are asked for on the thread of a test");
    let file = std::fs::File::options().append(true).create(true).open(path);
    let written = file.and_then(|mut file| file.write_all(format!("{test}\n").as_bytes()));
    written.expect("the file of the tests' names is writable");
}
