//! What stands at the places of outputs: only what rekeyscope wrote is replaced without `--force`, and what is read never is.

use super::*;

/// Something of a person's.
const THEIRS: &[u8] = b"path of the bicycle tour, by hand\n";

/// Every option of every job that writes files, but for key tables, which keep what was there beside them.
const FILES: [&[&str]; 11] = [
    &["CAPTURE", "-q", "--json", "r.json"],
    &["CAPTURE", "-q", "--html", "r.html"],
    &["CAPTURE", "-q", "--csv", "csv"],
    &["CAPTURE", "-q", "--svg", "svg"],
    &["CAPTURE", "-q", "--png", "png"],
    &["CAPTURE", "-q", "--write-inner", "in.pcapng"],
    &["CAPTURE", "-q", "--annotate", "notes.pcapng"],
    &["CAPTURE", "-q", "--html", "pages/"],
    &["compare", "CAPTURE", "CAPTURE", "-q", "--json", "c.json"],
    &["compare", "CAPTURE", "CAPTURE", "-q", "--html", "c.html"],
    &["compare", "CAPTURE", "CAPTURE", "-q", "--csv", "c.csv"],
];

fn put(place: &Place, name: &Path, bytes: &[u8]) -> PathBuf {
    let path = place.outputs.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn what_rekeyscope_wrote_is_replaced() {
    let place = Place::new();
    for words in FILES {
        assert!(place.run(words).status.success(), "{words:?}");
        let first = place.written();
        let again = place.run(words);
        assert!(again.status.success(), "{words:?}: {}", said(&again));
        assert!(place.written() == first, "{words:?}");
    }
}

/// A copy of a pcapng capture keeps its section header, which names another program: a comment there says who copied.
#[test]
fn a_copy_of_any_capture_says_who_made_it() {
    let place = Place::new();
    assert!(
        place
            .run(&["CAPTURE", "-q", "--annotate", "first.pcapng"])
            .status
            .success()
    );
    let first = place.outputs.path().join("first.pcapng");
    let mut bytes = std::fs::read(&first).unwrap();
    let at = bytes.windows(10).position(|w| w == b"rekeyscope").unwrap();
    bytes[at..at + 10].copy_from_slice(b"dumpcap 4.");
    std::fs::write(&first, bytes).unwrap();
    for option in ["--annotate", "--write-inner"] {
        let refused = place.run(&["CAPTURE", "-q", option, "first.pcapng"]);
        assert_fails(&option, &refused, "did not write");
        let words = ["first.pcapng", "-q", "--no-keys", option, "second.pcapng"];
        for run in 0..2 {
            let done = place.run(&words);
            assert!(done.status.success(), "{option}, run {run}: {}", said(&done));
        }
        let second = std::fs::read(place.outputs.path().join("second.pcapng")).unwrap();
        let head = &second[..second.len().min(128)];
        let count = |text: &[u8]| head.windows(text.len()).filter(|w| *w == text).count();
        assert_eq!(
            (count(b"copied by rekeyscope"), count(b"dumpcap 4.")),
            (1, 1),
            "{option}"
        );
        // A copy of the copy says it once.
        let words = ["second.pcapng", "-q", "--no-keys", option, "third.pcapng"];
        assert!(place.run(&words).status.success());
        let third = std::fs::read(place.outputs.path().join("third.pcapng")).unwrap();
        assert!(third.starts_with(head), "{option}");
        std::fs::remove_file(place.outputs.path().join("third.pcapng")).unwrap();
    }
}

#[test]
fn what_others_wrote_stays_unless_it_is_asked_for() {
    let first = Place::new();
    for words in FILES {
        let place = first.again();
        assert!(place.run(words).status.success(), "{words:?}");
        let whole = place.written();
        assert!(!whole.is_empty(), "{words:?}");
        for (name, bytes) in &whole {
            let place = first.again();
            let path = put(&place, name, THEIRS);
            let refused = place.run(words);
            let sentence = "there is a file that rekeyscope did not write, which stays as it is; choose another name, or give \
                            --force to replace it";
            assert_fails(&(words, name), &refused, sentence);
            assert!(said(&refused).contains(name.to_str().unwrap()), "{words:?}");
            assert_eq!(
                std::fs::read(&path).unwrap(),
                THEIRS,
                "{words:?}: {}",
                name.display()
            );
            let forced = place.run(&[words, &["--force"]].concat());
            assert!(forced.status.success(), "{words:?}: {}", said(&forced));
            assert!(
                std::fs::read(&path).unwrap() == *bytes,
                "{words:?}: {}",
                name.display()
            );
        }
    }
}

/// Nothing is lost with an empty file: `mktemp` makes such.
#[test]
fn an_empty_file_is_replaced() {
    let place = Place::new();
    let path = put(&place, Path::new("r.json"), b"");
    let done = place.run(&["CAPTURE", "-q", "--json", "r.json"]);
    assert!(done.status.success(), "{}", said(&done));
    assert!(std::fs::read(path).unwrap().len() > 1_000);
}

/// The names of plots are known at the end only; those of all else are asked for before anything is read.
#[test]
fn it_is_refused_before_the_work() {
    let place = Place::new();
    let pipe = place.pipe();
    for (words, name) in [
        (&["--json", "r.json"][..], "r.json"),
        (&["--html", "r.html"], "r.html"),
        (&["--csv", "csv"], "csv/rekeys.csv"),
        (&["--csv", "csv"], "csv/overlays.csv"),
    ] {
        let place = place.again();
        put(&place, Path::new(name), THEIRS);
        // From a pipe that never ends: it did not get so far as to read.
        let words = [&[pipe.as_str(), "-q"], words].concat();
        assert_fails(&words, &place.run(&words), "did not write");
    }
}

/// A former table of keys is kept, whoever wrote it.
#[test]
fn what_was_at_the_place_of_keys_is_kept_beside_them() {
    let place = Place::new();
    let words = ["keys", "CAPTURE", "-q", "--export", "tcpdump", "secrets"];
    put(&place, Path::new("secrets"), THEIRS);
    assert!(place.run(&words).status.success());
    let written = place.written();
    assert_eq!(written[Path::new("secrets.before")], THEIRS);
    assert!(written[Path::new("secrets")] != THEIRS);
}

#[test]
fn what_is_read_is_never_replaced() {
    let place = Place::new();
    let inputs = place.inputs.path().to_path_buf();
    let made = place.run(&["CAPTURE", "-q", "--json", "saved.json", "--csv", "."]);
    assert!(made.status.success(), "{}", said(&made));
    let series = "time,value\n2026-11-22T06:57:04Z,1\n";
    std::fs::write(place.outputs.path().join("sas.csv"), series).unwrap();
    let capture = place.capture();
    let keys = files(&inputs)
        .into_keys()
        .find(|name| name != Path::new("trace.pcap"))
        .unwrap();
    let keys = inputs.join(keys).to_str().unwrap().to_owned();
    let before = (files(&inputs), place.written());
    for words in [
        &["CAPTURE", "--json", &capture][..],
        &["CAPTURE", "--html", &keys],
        &["CAPTURE", "-k", &keys, "--json", &keys],
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
        assert_fails(&words, &place.run(&words), "it is read in this run");
        assert!((files(&inputs), place.written()) == before, "{words:?}");
    }
    let words = ["keys", "CAPTURE", "-q", "--export", "tcpdump", &keys];
    assert_fails(&words, &place.run(&words), "it is read in this run");
    assert!(files(&inputs) == before.0);
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
