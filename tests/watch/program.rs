//! The program: its lines, its files, signals, keys that come late, and what it refuses.

use super::{analyze_lab, metrics::accepted_by_promtool};
use crate::support::lab_of_sample;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::watch::{Occurrence, WatchEvent};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A program that says nothing for so long is broken.
const PATIENCE: Duration = Duration::from_secs(60);

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    command
        .current_dir(folder)
        .env("LC_ALL", "C")
        .arg("watch")
        .args(arguments);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::piped());
    command
}

fn lines(text: &[u8]) -> Vec<WatchEvent> {
    let text = std::str::from_utf8(text).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn rekeys(events: &[WatchEvent]) -> usize {
    let rekeys = events
        .iter()
        .filter(|e| matches!(e.what, Occurrence::Rekey { .. }));
    rekeys.count()
}

#[test]
fn lines_file_and_metrics_agree_and_a_second_run_repeats_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    let capture = lab.capture.to_str().unwrap();
    let arguments = [
        capture,
        "-q",
        "--json-lines",
        "--events",
        "events.jsonl",
        "--metrics-file",
        "rekeyscope.prom",
    ];
    let first = program(folder.path(), &arguments).output().unwrap();
    assert_eq!(
        (first.status.code(), String::from_utf8_lossy(&first.stderr)),
        (Some(0), "".into())
    );
    let events = fs::read(folder.path().join("events.jsonl")).unwrap();
    assert_eq!(events, first.stdout);
    let expected = analyze_lab(&lab).rekeys.len();
    assert_eq!(rekeys(&lines(&events)), expected);
    let metrics = || fs::read_to_string(folder.path().join("rekeyscope.prom")).unwrap();
    let line = format!("rekeyscope_rekeys_total{{trigger=\"volume\",initiator=\"client\"}} {expected}");
    assert!(metrics().lines().any(|l| l == line), "{}", metrics());
    accepted_by_promtool(&metrics());
    // The line that was being written when the program was killed goes.
    let mut file = File::options()
        .append(true)
        .open(folder.path().join("events.jsonl"))
        .unwrap();
    file.write_all(b"{\"time\":\"2026-").unwrap();
    let second = program(folder.path(), &arguments).output().unwrap();
    assert_eq!(
        (second.status.code(), second.stdout.as_slice()),
        (Some(0), &b""[..])
    );
    assert_eq!(fs::read(folder.path().join("events.jsonl")).unwrap(), events);
    assert!(metrics().lines().any(|l| l == line), "earlier events count");
    // The counts of an earlier run stand there before the first packet, too: from 0 to them would be an increase, and an alert.
    let file = folder.path().join("rekeyscope.prom");
    fs::remove_file(&file).unwrap();
    let third = [
        "-",
        "--no-keys",
        "--events",
        "events.jsonl",
        "--metrics-file",
        "rekeyscope.prom",
    ];
    let watch = Running::start(folder.path(), &third);
    let mut waited = 0;
    while !file.exists() {
        waited += 1;
        assert!(waited < 600, "no metrics");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(metrics().lines().any(|l| l == line), "{}", metrics());
    watch.end("-KILL");
}

/// A watch whose capture comes by a pipe.
struct Running {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Running {
    fn start(folder: &Path, arguments: &[&str]) -> Running {
        let mut child = program(folder, arguments).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            out.lines()
                .map_while(Result::ok)
                .all(|line| sender.send(line).is_ok())
        });
        Running { child, lines }
    }

    fn feed(&mut self, bytes: &[u8]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    /// The next line.
    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }

    fn end(mut self, signal: &str) -> (Option<i32>, Vec<String>) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        let status = self.child.wait().unwrap();
        (status.code(), self.lines.iter().collect())
    }
}

#[test]
fn rekeys_are_told_while_the_capture_goes_on_and_an_interrupt_ends_with_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    let capture = fs::read(&lab.capture).unwrap();
    let keys = lab.keys[0].to_str().unwrap();
    let arguments = [
        "-",
        "--keys",
        keys,
        "--events",
        "events.jsonl",
        "--html",
        "report.html",
    ];
    let mut watch = Running::start(folder.path(), &arguments);
    // A third of the capture, and then nothing.
    watch.feed(&capture[..capture.len() / 3]);
    while !watch.line().contains("Rekey: volume, begun by the client") {}
    let (status, report) = watch.end("-INT");
    assert_eq!(status, Some(0));
    assert!(report.iter().any(|line| line.contains("rekeys")), "{report:?}");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("</html>"));
    // Killed without warning, and begun again: nothing is lost, nothing comes twice.
    let before = fs::read(folder.path().join("events.jsonl")).unwrap();
    let mut watch = Running::start(folder.path(), &arguments);
    watch.feed(&capture[..capture.len() / 2]);
    watch.line();
    watch.end("-KILL");
    let arguments = ["-", "--keys", keys, "--events", "events.jsonl", "--json-lines"];
    let mut watch = Running::start(folder.path(), &arguments);
    watch.feed(&capture);
    drop(watch.child.stdin.take());
    assert_eq!(watch.child.wait().unwrap().code(), Some(0));
    let events = fs::read(folder.path().join("events.jsonl")).unwrap();
    assert!(events.starts_with(&before), "what was told stays");
    assert_eq!(rekeys(&lines(&events)), analyze_lab(&lab).rekeys.len());
}

#[test]
fn keys_may_come_later_and_a_port_tells_the_counters() {
    let folder = tempfile::tempdir().unwrap();
    let lab = lab_of_sample("l2tp_pfs4096_down");
    let capture = fs::read(&lab.capture).unwrap();
    let log = folder.path().join("growing.esp_sa");
    // Keys of another SA, as a log has them before this one is negotiated.
    let other = "\"IPv4\",\"192.0.2.1\",\"192.0.2.2\",\"0x00000001\",\"NULL\",\"\",\"NULL\",\"\"\n";
    fs::write(&log, other).unwrap();
    let arguments = [
        "-",
        "--keys",
        "growing.esp_sa",
        "--json-lines",
        "--metrics-listen",
        "0",
        "--json",
        "end.json",
    ];
    let mut watch = Running::start(folder.path(), &arguments);
    watch.feed(&capture[..capture.len() / 2]);
    let missing = serde_json::from_str::<WatchEvent>(&watch.line()).unwrap();
    assert!(
        matches!(missing.what, Occurrence::KeyMissing { .. }),
        "{missing:?}"
    );
    let mut said = BufReader::new(watch.child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let address = line
        .split("http://")
        .nth(1)
        .and_then(|rest| rest.split('/').next());
    let address = address.unwrap_or_else(|| panic!("no address in {line}"));
    assert!(address.starts_with("127.0.0.1:"));
    let request = |method: &str, path: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let ask = |path: &str| request("GET", path);
    let answer = ask("/metrics");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK")
            && answer.contains("\n# TYPE rekeyscope_packets_total counter\n"),
        "{answer}"
    );
    assert!(!answer.contains("rekeyscope_sas_without_key 0\n"), "{answer}");
    assert!(ask("/").starts_with("HTTP/1.1 404"));
    // Clients that say nothing, half of a question, or never what they announce keep nobody waiting.
    let questions: [&[u8]; 4] = [
        b"",
        b"GET /metrics HTTP/1.1\r\nHos",
        b"POST /metrics HTTP/1.1\r\nContent-Length: 100000\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n",
    ];
    let stalled = questions.iter().cycle().take(200).map(|question| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(question).unwrap();
        stream
    });
    let stalled: Vec<TcpStream> = stalled.collect();
    for path in ["/metrics", "/metrics?name=x"] {
        assert!(ask(path).starts_with("HTTP/1.1 200 OK"), "{path}");
    }
    let answer = request("HEAD", "/metrics");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("\r\n\r\n"),
        "{answer}"
    );
    drop(stalled);
    let keys = lab
        .keys
        .iter()
        .find(|file| file.extension().is_some_and(|e| e == "esp_sa"));
    let keys = fs::read_to_string(keys.unwrap()).unwrap();
    fs::write(&log, other.to_string() + &keys).unwrap();
    // The next look reads them.
    std::thread::sleep(Duration::from_secs(2));
    watch.feed(&capture[capture.len() / 2..]);
    let all = format!("rekeyscope_packets_total {}\n", analyze_lab(&lab).capture.packets);
    let mut waited = 0;
    while !ask("/metrics").contains(&all) {
        waited += 1;
        assert!(waited < 200, "{}", ask("/metrics"));
        std::thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(watch.end("-TERM").0, Some(0));
    let document = fs::read(folder.path().join("end.json")).unwrap();
    let document: Analysis = serde_json::from_slice(&document).unwrap();
    let sas = &document.security_associations;
    // Packets that came before their key were kept, and are read.
    assert!(sas.iter().all(|sa| sa.packets == 0 || sa.inner_bytes.is_some()));
}

fn document(path: &Path) -> Analysis {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// `cat one two`, and `tail -F` over a rotation.
#[test]
fn a_capture_behind_another_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let labs = ["l2tp_kb_modp1024_down", "l2tp_pfs4096_down"].map(lab_of_sample);
    let mut watch = Running::start(folder.path(), &["-", "--json-lines", "--json", "end.json"]);
    for lab in &labs {
        watch.feed(&fs::read(&lab.capture).unwrap());
    }
    drop(watch.child.stdin.take());
    assert_eq!(watch.child.wait().unwrap().code(), Some(0));
    let document = document(&folder.path().join("end.json"));
    let whole = labs
        .iter()
        .map(|lab| analyze_lab(lab).capture.packets)
        .sum::<u64>();
    assert_eq!(document.capture.packets, whole);
    let said = document.diagnostics.iter().find(|d| d.kind == "appended");
    assert_eq!(said.map(|d| d.count), Some(1));
}

#[test]
fn the_files_of_a_ring_buffer_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let ring = folder.path().join("ring");
    fs::create_dir(&ring).unwrap();
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    let capture = fs::read(&lab.capture).unwrap();
    let (header, mut at) = (&capture[..24], 24);
    let mut places = Vec::new();
    while at < capture.len() {
        places.push(at);
        at += 16 + u32::from_le_bytes(capture[at + 8..at + 12].try_into().unwrap()) as usize;
    }
    let third = places.len() / 3;
    let parts = [
        24..places[third],
        places[third]..places[2 * third],
        places[2 * third]..capture.len(),
    ];
    // Names say nothing of the order, as `tcpdump -W` begins anew with the first.
    let names = ["x.pcap2", "x.pcap0", "x.pcap1"];
    let write =
        |n: usize| fs::write(ring.join(names[n]), [header, &capture[parts[n].clone()]].concat()).unwrap();
    write(0);
    fs::write(ring.join("notes.txt"), "no capture").unwrap();
    let keys = lab.keys[0].to_str().unwrap();
    let watch = Running::start(
        folder.path(),
        &["ring", "--keys", keys, "--json-lines", "--json", "end.json"],
    );
    let rekey = |line: &str| line.contains("\"event\":\"rekey\"");
    while !rekey(&watch.line()) {}
    for n in [1, 2] {
        std::thread::sleep(Duration::from_millis(50));
        write(n);
    }
    let mut rest = 1;
    while rest < analyze_lab(&lab).rekeys.len() {
        rest += usize::from(rekey(&watch.line()));
    }
    assert_eq!(watch.end("-INT").0, Some(0));
    let packets = document(&folder.path().join("end.json")).capture.packets;
    assert_eq!(packets, places.len() as u64);
}

#[test]
fn what_cannot_be_watched_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "my notes\n").unwrap();
    let sample = lab_of_sample("l2tp_time_down").capture;
    let sample = sample.to_str().unwrap();
    for (arguments, said) in [
        (vec!["missing.pcap"], "missing.pcap"),
        (
            vec![sample, "--events", "notes.txt"],
            "notes.txt: it is there and holds no events",
        ),
        (vec![sample, "--events", sample], "would be lost"),
        (vec![sample, "--metrics-file", sample], "would be lost"),
        (vec![sample, "--xfrm-stat=none"], "none"),
        (vec![sample, "--metrics-listen", "here"], "give a port"),
        (
            vec![sample, "--parquet", "tables"],
            if cfg!(feature = "parquet") {
                "analyse the capture afterwards"
            } else {
                "built without Parquet"
            },
        ),
    ] {
        let output = program(folder.path(), &arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && error.contains(said),
            "{arguments:?}: {error}"
        );
        assert_eq!(output.stdout, b"", "{arguments:?}");
    }
    assert_eq!(fs::read(folder.path().join("notes.txt")).unwrap(), b"my notes\n");
}
