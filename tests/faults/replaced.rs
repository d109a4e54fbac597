//! What stands at the places of outputs: any file is replaced, at once and whole, but a capture only with `--force`, and what the run
//! reads never.

use super::*;
use rekeyscope_testkit::containers::{Order, PcapKind, gzip, lz4, packets, pcap, pcapng, zstd};

/// Something of a person's.
const THEIRS: &[u8] = b"path of the bicycle tour, by hand\n";

fn put(place: &Place, name: &Path, bytes: &[u8]) -> PathBuf {
    let path = place.outputs.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Every way to write files, but for key tables, which keep what was there beside them.
#[test]
fn another_file_is_replaced() {
    let first = Place::new();
    let others: [&[&str]; 4] = [
        &["CAPTURE", "-q", "--html", "pages/"],
        &["compare", "CAPTURE", "CAPTURE", "-q", "--json", "c.json"],
        &["compare", "CAPTURE", "CAPTURE", "-q", "--html", "c.html"],
        &["compare", "CAPTURE", "CAPTURE", "-q", "--csv", "c.csv"],
    ];
    for words in WRITES.iter().filter(|words| words[0] != "keys").chain(&others) {
        let place = first.again();
        assert!(place.run(words).status.success(), "{words:?}");
        let whole = place.written();
        assert!(!whole.is_empty(), "{words:?}");
        let place = first.again();
        whole.keys().for_each(|name| drop(put(&place, name, THEIRS)));
        let again = place.run(words);
        assert!(again.status.success(), "{words:?}: {}", said(&again));
        assert!(place.written() == whole, "{words:?}");
    }
}

/// **Synthetic** captures of every kind that is read, and one that nobody here can unpack.
fn captures() -> Vec<(&'static str, Vec<u8>)> {
    let packets = packets(3);
    let mut all = vec![("packed.pcap.gz", THEIRS.to_vec())];
    for order in Order::BOTH {
        for kind in [PcapKind::Micros, PcapKind::Nanos, PcapKind::Modified] {
            all.push(("out", pcap(kind, order, 1, &packets).0));
        }
        let plain = pcapng(order, 1, 6, 0, &packets);
        all.extend([gzip(&plain), zstd(&plain), lz4(&plain), plain].map(|bytes| ("out", bytes)));
    }
    all
}

#[test]
fn a_capture_stays_unless_it_is_asked_for() {
    let first = Place::new();
    for (name, bytes) in captures() {
        let place = first.again();
        let path = put(&place, Path::new(name), &bytes);
        let words = ["CAPTURE", "-q", "--json", name];
        let refused = place.run(&words);
        assert_fails(
            &(name, &bytes[..8]),
            &refused,
            "choose another name, or give --force to replace it",
        );
        assert!(std::fs::read(&path).unwrap() == bytes, "{name}");
        let forced = place.run(&[&words[..], &["--force"]].concat());
        assert!(forced.status.success(), "{}", said(&forced));
        assert!(std::fs::read(&path).unwrap().starts_with(b"{"), "{name}");
    }
    // One of our own is one too.
    for option in ["--annotate", "--write-inner"] {
        let place = first.again();
        let words = ["CAPTURE", "-q", option, "out.pcapng"];
        assert!(place.run(&words).status.success());
        assert_fails(&option, &place.run(&words), "it is a capture, and stays as it is");
        let forced = place.run(&[&words[..], &["--force"]].concat());
        assert!(forced.status.success(), "{}", said(&forced));
    }
}

/// The names of plots are known at the end only; those of all else are asked for before anything is read.
#[test]
fn a_capture_is_refused_before_the_work() {
    let place = Place::new();
    let pipe = place.pipe();
    let capture = std::fs::read(place.capture()).unwrap();
    for (option, output, name) in [
        ("--json", "r.json", "r.json"),
        ("--html", "r.html", "r.html"),
        ("--csv", "csv", "csv/rekeys.csv"),
        ("--csv", "csv", "csv/overlays.csv"),
    ] {
        let place = place.again();
        put(&place, Path::new(name), &capture);
        // From a pipe that never ends: it did not get so far as to read.
        let words = [&pipe, "-q", option, output];
        assert_fails(&words, &place.run(&words), "it is a capture");
    }
}

#[test]
fn what_is_read_is_never_replaced() {
    let place = Place::new();
    let inputs = place.inputs.path().to_path_buf();
    let made = place.run(&["CAPTURE", "-q", "--json", "saved.json", "--csv", "."]);
    assert!(made.status.success(), "{}", said(&made));
    put(
        &place,
        Path::new("sas.csv"),
        b"time,value\n2026-11-22T06:57:04Z,1\n",
    );
    let capture = place.capture();
    let keys = files(&inputs)
        .into_keys()
        .find(|name| name != Path::new("trace.pcap"))
        .unwrap();
    let keys = inputs.join(keys).to_str().unwrap().to_owned();
    std::fs::hard_link(&keys, place.outputs.path().join("hard")).unwrap();
    std::os::unix::fs::symlink(&keys, place.outputs.path().join("soft")).unwrap();
    let before = (files(&inputs), place.written());
    for words in [
        &["CAPTURE", "--json", &capture][..],
        &["CAPTURE", "--html", &keys],
        &["CAPTURE", "-k", &keys, "--json", &keys],
        &["CAPTURE", "--json", "hard"],
        &["CAPTURE", "--html", "soft"],
        &["CAPTURE", "-k", "soft", "--json", "hard"],
        &["CAPTURE", "--annotate", &capture],
        &["CAPTURE", "--write-inner", &keys],
        &["CAPTURE", "--overlay", "sas.csv", "--csv", "."],
        &["CAPTURE", "--reference", "saved.json", "--json", "saved.json"],
        &["report", "saved.json", "--json", "./saved.json"],
        // Each of them has a name of its own in the folder, which is that of an input.
        &["report", "saved.json", "saved.json", "--json", "."],
        &["compare", "CAPTURE", "saved.json", "--json", "saved.json"],
        &["compare", "CAPTURE", "CAPTURE", "--html", &keys],
    ] {
        let words = [words, &["-q", "--force"]].concat();
        assert_fails(&words, &place.run(&words), "would be lost; choose another name");
        assert!((files(&inputs), place.written()) == before, "{words:?}");
    }
    let words = ["keys", "CAPTURE", "-q", "--export", "tcpdump", &keys];
    assert_fails(&words, &place.run(&words), "it is read in this run");
    let words = ["-", "-q", "--force", "--json", &capture];
    let redirected = place
        .shell(&format!("exec <{capture};"), &words)
        .output()
        .unwrap();
    assert_fails(&words, &redirected, "it is read in this run");
    assert!(files(&inputs) == before.0);
}

/// Other programs write to what a link points at, too.
#[test]
fn a_link_stays_and_what_it_points_at_is_replaced() {
    let first = Place::new();
    for there in [Some(THEIRS), None] {
        let place = first.again();
        let folder = place.outputs.path();
        std::fs::create_dir(folder.join("elsewhere")).unwrap();
        there.map(|bytes| put(&place, Path::new("elsewhere/r.json"), bytes));
        let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, folder.join(name)).unwrap();
        link("elsewhere/second", "first");
        link("r.json", "elsewhere/second");
        let done = place.run(&["CAPTURE", "-q", "--json", "first"]);
        assert!(done.status.success(), "{}", said(&done));
        let target = folder.join("elsewhere/r.json");
        assert!(std::fs::read(target).unwrap().starts_with(b"{"));
        let kinds = ["first", "elsewhere/second", "elsewhere/r.json"];
        let kinds = kinds.map(|name| folder.join(name).is_symlink());
        assert_eq!((kinds, place.written().len()), ([true, true, false], 3));
        put(&place, Path::new("elsewhere/r.json"), &captures()[1].1);
        let refused = place.run(&["CAPTURE", "-q", "--json", "first"]);
        assert_fails(&"a link to a capture", &refused, "it is a capture");
    }
}

/// Reports are as other programs' files; what holds what was protected on the wire is the user's alone.
#[test]
fn files_get_the_permissions_of_their_kind() {
    use std::os::unix::fs::PermissionsExt;
    let first = Place::new();
    for (umask, words, name, mode) in [
        ("022", &["CAPTURE", "-q", "--json", "out"][..], "out", 0o644),
        ("027", &["CAPTURE", "-q", "--csv", "."], "rekeys.csv", 0o640),
        ("022", &["CAPTURE", "-q", "--annotate", "out"], "out", 0o644),
        ("000", &["CAPTURE", "-q", "--write-inner", "out"], "out", 0o600),
        (
            "000",
            &["keys", "CAPTURE", "-q", "--export", "tcpdump", "out"],
            "out",
            0o600,
        ),
    ] {
        let place = first.again();
        let path = put(&place, Path::new(name), b"");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o606)).unwrap();
        let done = place.shell(&format!("umask {umask};"), words).output().unwrap();
        assert!(done.status.success(), "{}", said(&done));
        let made = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(made, mode, "{words:?}: {made:o}");
    }
}

/// What a process has open is written through, never replaced.
#[cfg(target_os = "linux")]
#[test]
fn a_redirected_standard_output_is_written_through() {
    let place = Place::new();
    let words = ["CAPTURE", "-q", "--json", "/dev/stdout"];
    let output = place.shell("exec >out;", &words).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let written = std::fs::read_to_string(place.outputs.path().join("out")).unwrap();
    assert!(written.contains("\"schema_version\"") && written.ends_with("}\n"));
    let device = std::fs::symlink_metadata("/dev/stdout").unwrap();
    assert!(device.is_symlink(), "it is what it was");
}
