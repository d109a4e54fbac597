//! What is never written: over an input, over keys of others, onto a full disk.

use super::*;

#[test]
fn an_input_is_never_overwritten_and_a_pipe_is_refused() {
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("trace.pcap");
    std::fs::copy(&lab.capture, &capture).unwrap();
    let before = std::fs::read(&capture).unwrap();
    for option in ["--write-inner", "--annotate"] {
        let mut command = rekeyscope();
        let refused = command.arg(&capture).arg(option).arg(&capture).assert().failure();
        let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(told.contains("would be lost"), "{told}");
        assert_eq!(before, std::fs::read(&capture).unwrap());
        let mut command = rekeyscope();
        let out = folder.path().join("out.pcapng");
        command.arg("-").arg(option).arg(&out).write_stdin(before.clone());
        let refused = command.assert().failure();
        let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(told.contains("read the capture twice") && !out.exists(), "{told}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// Tables and secrets that an export would take the place of stay beside it, or are refused when they are inputs.
#[test]
fn an_export_of_keys_overwrites_nothing() {
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("mine.esp_sa");
    std::fs::copy(&lab.keys[0], &keys).unwrap();
    let before = std::fs::read(&keys).unwrap();
    let export = |input: &Path, out: &Path| {
        let mut command = rekeyscope();
        command.arg("keys").arg(&lab.capture).arg("-k").arg(input);
        command.args(["--export", "tcpdump"]).arg(out).assert()
    };
    export(&keys, &keys).failure();
    assert_eq!(before, std::fs::read(&keys).unwrap());
    let out = folder.path().join("secrets");
    std::fs::write(&out, "of mine").unwrap();
    export(&keys, &out).success();
    let kept = std::fs::read_to_string(folder.path().join("secrets.before")).unwrap();
    assert_eq!(kept, "of mine");
    assert!(std::fs::read_to_string(&out).unwrap().contains("@"));
    let mut command = rekeyscope();
    command.arg("keys").arg(&lab.capture).arg("-k").arg(&keys);
    let deep = folder.path().join("no/such/folder");
    let refused = command
        .args(["--export", "wireshark"])
        .arg(&deep)
        .assert()
        .failure();
    let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(
        told.contains("the folder is not there") && !deep.exists(),
        "{told}"
    );
}

#[cfg(unix)]
#[test]
fn a_full_disk_gets_advice_that_fits() {
    if !Path::new("/dev/full").exists() {
        println!("skipped: no /dev/full");
        return;
    }
    let lab = lab_of_sample("l2tp_time_down");
    for option in ["--json", "--write-inner", "--annotate"] {
        let mut command = rekeyscope();
        command.arg(&lab.capture).args([option, "/dev/full"]);
        let refused = with_keys(&mut command, &lab).assert().failure();
        let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(
            told.contains("/dev/full") && told.contains("make room"),
            "{option}: {told}"
        );
    }
}
