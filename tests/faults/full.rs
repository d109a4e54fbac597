//! Nothing can be written any more: no room, no reader, no right.

use super::*;

/// A limit on the size of files stands for a full disk: both refuse the same write.
#[test]
fn a_full_disk_leaves_whole_files_or_none() {
    for words in WRITES {
        let first = Place::new();
        assert!(first.run(words).status.success(), "{words:?}");
        let whole = first.written();
        for blocks in [0, 1, 20] {
            let place = first.again();
            let limit = format!("trap '' XFSZ; ulimit -f {blocks};");
            let output = place.shell(&limit, words).output().unwrap();
            if blocks == 0 || !output.status.success() {
                assert_fails(&words, &output, "make room there, or choose another place");
            }
            for (name, bytes) in place.written() {
                assert!(
                    whole.get(&name) == Some(&bytes),
                    "{words:?} left {}",
                    name.display()
                );
            }
        }
    }
}

#[test]
fn a_full_standard_output_is_an_error() {
    let place = Place::new();
    for words in SAYS {
        let output = place.shell("exec >/dev/full;", words).output().unwrap();
        assert_fails(&words, &output, "cannot write standard output");
    }
    assert_fails(
        &"a device",
        &place.run(&["CAPTURE", "-q", "--json", "/dev/full"]),
        "make room there",
    );
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let place = Place::new();
    for words in SAYS {
        let mut child = place.shell("", words).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), said(&output).as_str()),
            (Some(0), ""),
            "{words:?}"
        );
    }
}

/// Not even an administrator can make a file there.
#[test]
fn a_place_that_cannot_be_written_fails_before_the_work() {
    let place = Place::new();
    let pipe = place.pipe();
    for option in ["--json", "--html", "--csv", "--svg"] {
        // From a pipe that never ends: it did not get so far as to read.
        let output = place.run(&[&pipe, "-q", option, "/proc/nowhere/report"]);
        assert_fails(&option, &output, "cannot write /proc/nowhere/report");
    }
    for option in ["--write-inner", "--annotate"] {
        let output = place.run(&["CAPTURE", "-q", option, "/proc/report.pcapng"]);
        assert_fails(&option, &output, "cannot write /proc/report.pcapng");
    }
    let mut command = place.shell("cd /proc;", &["CAPTURE", "-q"]);
    assert!(
        command.output().unwrap().status.success(),
        "a folder it need not write to"
    );
}

#[test]
fn neither_locale_nor_home_is_needed() {
    let place = Place::new();
    let with = place.run(&["CAPTURE", "-v"]);
    let mut bare = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    let without = bare.env_clear().args([&place.capture(), "-v"]).output().unwrap();
    assert!(with.status.success());
    assert_eq!((with.stdout, with.stderr), (without.stdout, without.stderr));
}

/// Only an administrator can make such a pipe for a test.
#[test]
fn no_key_goes_into_the_pipe_of_another_user() {
    const NOBODY: u32 = 65_534;
    let place = Place::new();
    let pipe = place.pipe();
    if std::os::unix::fs::chown(&pipe, Some(NOBODY), None).is_err() {
        println!("skipped: giving a pipe away needs an administrator");
        return;
    }
    for words in [
        &["keys", "CAPTURE", "-q", "--export", "tcpdump", &pipe][..],
        &["CAPTURE", "-q", "--write-inner", &pipe],
    ] {
        assert_fails(
            &words,
            &place.run(words),
            "of another user, who would get the keys",
        );
    }
}
