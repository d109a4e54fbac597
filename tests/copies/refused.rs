//! What is never written: over an input, over keys of others, onto a full disk, or a file that other programs refuse.

use super::*;
use rekeyscope_capture::file::LinkType;

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
        told.contains("its folder is not there") && !deep.exists(),
        "{told}"
    );
}

/// A capture without any packet to write still is one: with an interface, which editcap and tcpdump want.
#[test]
fn a_capture_without_packets_is_one_for_other_programs() {
    let lab = lab_of_sample("l2tp_time_down");
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str| folder.path().join(name);
    // Nothing opens without keys; and the header of a pcap file alone.
    let (closed, empty) = (named("closed.pcap"), named("empty.pcap"));
    std::fs::copy(&lab.capture, &closed).unwrap();
    std::fs::write(&empty, &std::fs::read(&lab.capture).unwrap()[..24]).unwrap();
    for (capture, option, link_type) in [
        (&closed, "--write-inner", LinkType::RAW),
        (&empty, "--write-inner", LinkType::RAW),
        (&empty, "--annotate", LinkType(1)),
    ] {
        let out = named("out.pcapng");
        let mut command = rekeyscope();
        command
            .arg(capture)
            .args(["--force", "--no-keys", option])
            .arg(&out);
        let done = command.assert().success();
        let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(told.contains("wrote ") && told.contains(" 0 "), "{told}");
        let mut reader = CaptureReader::open(&out).unwrap();
        assert!(reader.next_frame(&mut Diagnostics::default()).unwrap().is_none());
        assert_eq!(reader.info().link_types, [link_type]);
        let name = out.to_str().unwrap();
        let copy = named("copy.pcapng");
        for (program, arguments) in [
            ("editcap", &[name, copy.to_str().unwrap()][..]),
            ("tcpdump", &["-r", name]),
            ("capinfos", &[name]),
            ("tshark", &["-r", name]),
        ] {
            if is_installed(program) {
                output_of(program, arguments);
            }
        }
    }
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
