//! `rekeyscope wireshark` and `rekeyscope tshark`: the program gets the keys, its exit status comes back, and nothing stays
//! behind, however it ends. Stand-ins for the programs show what they are given.

use super::*;
use crate::support::repository;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// A place with stand-ins in `bin` and for temporary folders in `tmp`.
struct Place {
    folder: TempDir,
}

impl Place {
    /// `script`: what the stand-in does; `$seen` is a file for what it has to tell.
    fn new(program: &str, script: &str) -> Place {
        let folder = TempDir::new().unwrap();
        for name in ["bin", "tmp"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let place = Place { folder };
        let stand_in = place.path("bin").join(program);
        let seen = place.path("seen");
        std::fs::write(
            &stand_in,
            format!("#!/bin/sh\nseen={}\n{script}\n", seen.display()),
        )
        .unwrap();
        std::fs::set_permissions(&stand_in, PermissionsExt::from_mode(0o755)).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &str, rest: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
        let path = std::env::join_paths([self.path("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
        command.env("PATH", path);
        command.env("XDG_RUNTIME_DIR", self.path("tmp"));
        command.args([program.as_ref(), capture().as_os_str(), "--quiet".as_ref()]);
        command.args(rest).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, program: &str, rest: &[&str]) -> Output {
        self.command(program, rest).output().unwrap()
    }

    /// Starts, and waits until the stand-in has told something.
    fn start(&self, program: &str) -> Child {
        let mut child = self.command(program, &[]).spawn().unwrap();
        for _ in 0..600 {
            if std::fs::read_to_string(self.path("seen")).is_ok_and(|seen| seen.ends_with('\n')) {
                return child;
            }
            sleep(Duration::from_millis(100));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("the program was not started within a minute");
    }

    fn seen(&self) -> String {
        std::fs::read_to_string(self.path("seen")).unwrap()
    }

    fn assert_clean(&self) {
        let left: Vec<_> = std::fs::read_dir(self.path("tmp")).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn capture() -> PathBuf {
    repository().join("samples/l2tp_pfs4096_down.pcap")
}

fn signal(name: &str, process: &str) {
    assert!(
        Command::new("kill")
            .args([name, process])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn the_program_gets_keys_and_arguments_and_its_status_comes_back() {
    let script = r#"cd "$WIRESHARK_CONFIG_DIR" || exit 1
{ stat -c '%a %n' . *; wc -l < esp_sa; cat preferences; for word in "$@"; do echo "[$word]"; done; } > "$seen"
exit 7"#;
    for program in ["tshark", "wireshark"] {
        let place = Place::new(program, script);
        let out = place.run(program, &["--", "-Y", "esp.icv_bad == 1", "-q"]);
        assert_eq!(out.status.code(), Some(7), "{out:?}");
        let seen = place.seen();
        let capture = format!("[{}]", capture().display());
        for line in [
            "700 .",
            "600 esp_sa",
            "600 ikev1_decryption_table",
            "600 ikev2_decryption_table",
            "600 preferences",
            "12",
            "esp.enable_encryption_decode: TRUE",
            "esp.enable_authentication_check: TRUE",
            "[-r]",
            &capture,
            "[-Y]",
            "[esp.icv_bad == 1]",
            "[-q]",
        ] {
            assert!(seen.lines().any(|l| l == line), "{line} in {seen}");
        }
        place.assert_clean();
    }
}

#[test]
fn a_killed_program_leaves_nothing() {
    let place = Place::new("tshark", "kill -9 $$");
    let out = place.run("tshark", &[]);
    assert_eq!(out.status.code(), Some(128 + 9), "{out:?}");
    place.assert_clean();
}

#[test]
fn a_signal_to_us_ends_the_program_and_leaves_nothing() {
    for (name, number) in [("-TERM", 15), ("-INT", 2), ("-HUP", 1)] {
        let place = Place::new("wireshark", r#"echo "$$" > "$seen"; exec sleep 600"#);
        let child = place.start("wireshark");
        assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 1);
        signal(name, &child.id().to_string());
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(128 + number), "{name}: {out:?}");
        place.assert_clean();
        let program = place.seen().trim().to_owned();
        let alive = Command::new("kill")
            .args(["-0", &program])
            .stderr(Stdio::null())
            .status();
        assert!(!alive.unwrap().success(), "{name}: the program lives on");
    }
}

#[test]
fn a_missing_program_is_a_sentence() {
    let place = Place::new("tshark", "exit 0");
    let mut command = place.command("wireshark", &[]);
    let out = command.env("PATH", place.path("bin")).output().unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0));
    let told = String::from_utf8(out.stderr).unwrap();
    assert!(
        told.contains("wireshark is not installed") && told.contains("apt install wireshark"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1);
    place.assert_clean();
}

#[test]
fn standard_input_is_a_usage_error() {
    let out = Command::new(env!("CARGO_BIN_EXE_rekeyscope"))
        .args(["tshark", "-"])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn the_real_tshark_decrypts() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let place = Place::new("another", "");
    let count = |filter: &str| {
        let out = place.run(
            "tshark",
            &["--", "-Y", filter, "-T", "fields", "-e", "frame.number"],
        );
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap().lines().count()
    };
    assert_eq!(count("esp.icv_good == 1 and esp.protocol"), 16_776);
    assert_eq!(count("esp.icv_bad == 1"), 0);
    place.assert_clean();
}
