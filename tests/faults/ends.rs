//! The program is ended from outside.

use super::*;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;

const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

fn signal(child: &Child, number: i32) {
    let sent = Command::new("kill")
        .args([format!("-{number}"), child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// Waits for a capture that never comes, with its output begun.
fn waiting(place: &Place, before: &str) -> Child {
    let pipe = place.pipe();
    let child = place.shell(before, &[&pipe, "--json", "r.json"]).spawn().unwrap();
    until(|| !place.written().is_empty());
    child
}

/// As under `nohup`, or behind `&` in a script: programs inherit it.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

fn names(place: &Place) -> Vec<String> {
    place
        .written()
        .into_keys()
        .map(|name| name.display().to_string())
        .collect()
}

#[test]
fn a_signal_ends_it_and_nothing_stays() {
    for number in [SIGHUP, SIGINT, SIGTERM] {
        if is_ignored(number) {
            println!("skipped: signal {number} is ignored here, and by what is started here");
            continue;
        }
        let place = Place::new();
        let mut child = waiting(&place, "");
        let [unfinished] = &names(&place)[..] else {
            panic!("one file: {:?}", names(&place))
        };
        assert!(unfinished.starts_with(".rekeyscope-"), "{unfinished}");
        signal(&child, number);
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        assert_eq!(names(&place), [""; 0]);
    }
}

/// As `nohup` starts it.
#[test]
fn a_signal_that_is_ignored_stays_so() {
    let place = Place::new();
    let mut child = waiting(&place, "trap '' HUP;");
    signal(&child, SIGHUP);
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, SIGTERM);
    assert_eq!(child.wait().unwrap().signal(), Some(SIGTERM));
}

/// What is under its name is whole, whenever the program is killed.
#[test]
fn killed_at_any_moment_it_leaves_no_half_file() {
    let words = [
        "CAPTURE",
        "-q",
        "--json",
        "r.json",
        "--html",
        "r.html",
        "--annotate",
        "notes.pcapng",
        "--csv",
        "csv",
    ];
    let first = Place::new();
    assert!(first.run(&words).status.success());
    let whole = first.written();
    for step in 0..25 {
        let place = first.again();
        let mut child = place.shell("", &words).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(12 * step));
        signal(&child, SIGKILL);
        child.wait().unwrap();
        for (name, bytes) in place.written() {
            let hidden = name.file_name().unwrap().to_string_lossy().starts_with('.');
            assert!(hidden || whole.get(&name) == Some(&bytes), "{}", name.display());
        }
    }
}

/// A memory image would hold the keys.
#[cfg(target_os = "linux")]
#[test]
fn no_memory_image_is_written() {
    let place = Place::new();
    let mut other = Command::new("sh");
    other
        .args(["-c", "ulimit -c unlimited; exec sleep 60"])
        .current_dir(place.inputs.path());
    let mut other = other.spawn().unwrap();
    until(|| {
        std::fs::read_to_string(format!("/proc/{}/comm", other.id())).is_ok_and(|name| name.trim() == "sleep")
    });
    signal(&other, SIGABRT);
    let others_dump = other.wait().unwrap().core_dumped();
    let mut child = waiting(&place, "ulimit -c unlimited;");
    signal(&child, SIGABRT);
    let ended = child.wait().unwrap();
    assert_eq!((ended.signal(), ended.core_dumped()), (Some(SIGABRT), false));
    if !others_dump {
        println!("skipped: no program leaves a memory image here");
    }
}
