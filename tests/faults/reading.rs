//! The capture changes, or fails, while it is read.

use super::*;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;

/// So much of a sample that reading it takes a while.
const LEN: usize = 6_000_000;

fn sample() -> Vec<u8> {
    let mut bytes = vec![0; LEN];
    let file = repository().join("samples/l2tp_pfs4096_down.pcap");
    File::open(file).unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

fn command(capture: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    command.arg(capture).args(["--json", "-"]).env("LC_ALL", "C");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn packets(output: &Output) -> u64 {
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    document["capture"]["packets"].as_u64().unwrap()
}

#[test]
fn a_file_that_shrinks_is_analysed_to_its_end() {
    let folder = TempDir::new().unwrap();
    let (path, bytes) = (folder.path().join("t.pcap"), sample());
    for wait in [0, 5, 20, 60] {
        std::fs::write(&path, &bytes).unwrap();
        let child = command(&path)
            .args([
                "--force".as_ref(),
                "--annotate".as_ref(),
                folder.path().join("a.pcapng").as_os_str(),
            ])
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(LEN as u64 / 3)
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(packets(&output) > 1_000 && !said(&output).contains("panicked"));
    }
}

#[test]
fn a_file_that_grows_is_analysed_as_far_as_it_was_read() {
    let folder = TempDir::new().unwrap();
    let (path, bytes) = (folder.path().join("t.pcap"), sample());
    let (first, rest) = bytes.split_at(LEN / 3);
    std::fs::write(&path, first).unwrap();
    let alone = packets(&command(&path).output().unwrap());
    let child = command(&path).spawn().unwrap();
    let mut file = File::options().append(true).open(&path).unwrap();
    for part in rest.chunks(200_000) {
        file.write_all(part).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let whole = packets(&command(&path).output().unwrap());
    assert!((alone..=whole).contains(&packets(&output)));
}

/// A connection that is reset stands for a device that fails: reads give an error, not an end.
#[test]
fn a_read_error_in_the_middle_is_said() {
    let bytes = sample();
    for len in [0, 10, 100, 1_000_000] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut theirs, _) = listener.accept().unwrap();
        // What is never read makes the end a reset (RFC 1122 §4.2.2.13).
        theirs.write_all(b"unread").unwrap();
        let stdin = Stdio::from(OwnedFd::from(theirs));
        let child = command(Path::new("-")).stdin(stdin).spawn().unwrap();
        ours.write_all(&bytes[..len]).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        drop(ours);
        let output = child.wait_with_output().unwrap();
        assert_fails(&len, &output, "cannot read the capture -");
        assert!(output.stdout.is_empty());
    }
}
