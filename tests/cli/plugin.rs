//! The Wireshark plugin beside this program.

use crate::support::repository;
use assert_cmd::Command;
use std::fs::{copy, create_dir, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// Wireshark ignores the scripts of root, so root borrows another user.
fn as_user(program: &str) -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
    command
}

fn copy_into(folder: &Path, from: &Path) {
    copy(from, folder.join(from.file_name().unwrap())).unwrap();
}

/// A new user's: plugin, program and keys beside a capture, which is named relative to a folder with a blank in its name.
#[test]
fn the_table_in_tshark_begins_with_the_answer() {
    if std::process::Command::new("tshark").arg("-v").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let folder = TempDir::new().unwrap();
    let [home, lua, bin, captures] =
        ["home", "lua", "bin", "my captures"].map(|name| folder.path().join(name));
    for path in [&home, &lua, &bin, &captures] {
        create_dir(path).unwrap();
    }
    for path in [folder.path(), &home] {
        set_permissions(path, PermissionsExt::from_mode(0o777)).unwrap();
    }
    for file in std::fs::read_dir(repository().join("wireshark/lua"))
        .unwrap()
        .flatten()
    {
        if file.path().extension().is_some_and(|ending| ending == "lua") {
            copy_into(&lua, &file.path());
        }
    }
    copy_into(&bin, Path::new(env!("CARGO_BIN_EXE_rekeyscope")));
    let (capture, keys) = (
        "l2tp_pfs4096_down.pcap",
        ["l2tp_pfs4096_down.esp_sa", "keys.ikev1"],
    );
    for name in [capture, keys[0], keys[1]] {
        copy_into(&captures, &repository().join("samples").join(name));
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let run = |mut command: Command, args: &[&str]| {
        let command = command
            .current_dir(&captures)
            .args(args)
            .env("PATH", &path)
            .env("HOME", &home);
        for name in [
            "XDG_CONFIG_HOME",
            "WIRESHARK_CONFIG_DIR",
            "REKEYSCOPE_PROGRAM",
            "REKEYSCOPE_KEYLOG",
        ] {
            command.env_remove(name);
        }
        let output = command.env("LC_ALL", "C.UTF-8").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let script = format!("lua_script:{}/rekeyscope.lua", lua.display());
    let printed = run(
        as_user("tshark"),
        &["-X", &script, "-r", capture, "-q", "-z", "rekeyscope,sa"],
    );
    let mut program = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    program.env("COLUMNS", "78");
    let report = run(program, &[capture, "--keys", keys[0], "--keys", keys[1], "-q"]);
    let answer = report.split_inclusive("\n\n").next().unwrap();
    assert!(
        answer.contains("\nWhy: ") && answer.contains("\nDo: "),
        "{answer}"
    );
    assert!(
        printed.starts_with(&format!("{answer}12 of 12 SAs decrypt, 5 rekeys\n")),
        "{printed}"
    );
}
