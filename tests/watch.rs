//! `rekeyscope watch`: what is told while a capture goes on is what the report says afterwards, and in time.

use crate::support::{Lab, analyze, lab_of_sample, labs, repository};
use rekeyscope::pipeline::Options;
use rekeyscope::watch::{LiveWatch, Retention};
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::{Analysis, Direction, Rekey};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::{Occurrence, WatchEvent};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// As the program looks, by the capture's clock.
const LOOK: i64 = NANOS_PER_SECOND / 2;
/// Within this an event is told after its last packet.
const IN_TIME_S: f64 = 2.0;
/// A program that says nothing for so long is broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is told, and when by the capture's clock.
fn watched(lab: &Lab, retention: Retention) -> Vec<(Timestamp, WatchEvent)> {
    let mut keys = KeyMaterial::default();
    lab.keys.iter().for_each(|file| keys.read(file).unwrap());
    let options = Options {
        draws: 99,
        ..Options::default()
    };
    let mut watch = LiveWatch::new(options, retention, keys, Vec::new());
    let mut reader = CaptureReader::open(&lab.capture).unwrap();
    let info = reader.info().clone();
    let mut container = Diagnostics::default();
    let (mut told, mut next) = (Vec::new(), None);
    while let Some(frame) = reader.next_frame(&mut container).unwrap() {
        let now = frame.time;
        // Twice a second also where nothing comes.
        let mut due = *next.get_or_insert(now.plus_nanos(LOOK));
        while due < now {
            told.extend(watch.look(due, &info).into_iter().map(|event| (due, event)));
            due = due.plus_nanos(LOOK);
            next = Some(due);
        }
        watch.push(&frame);
    }
    let last = watch.newest().unwrap_or_default();
    let (events, _, _) = watch.finish(reader.info(), &rekeyscope::assembly::Asked::of(""));
    told.extend(events.into_iter().map(|event| (last, event)));
    told
}

fn analyze_lab(lab: &Lab) -> Analysis {
    analyze(&lab.capture, &lab.keys)
}

fn new_spis(rekey: &Rekey) -> Vec<(Direction, Spi)> {
    let both = [Direction::AToB, Direction::BToA];
    both.into_iter()
        .filter_map(|d| Some((d, rekey.new.get(d)?)))
        .collect()
}

fn told_rekeys(told: &[(Timestamp, WatchEvent)]) -> Vec<(Timestamp, Vec<(Direction, Spi)>)> {
    let rekeys = told.iter().filter_map(|(when, event)| match &event.what {
        Occurrence::Rekey { new, .. } => {
            let both = [Direction::AToB, Direction::BToA];
            let spis = both.into_iter().filter_map(|d| Some((d, new.get(d)?)));
            Some((*when, spis.collect()))
        }
        _ => None,
    });
    rekeys.collect()
}

/// Every rekey of the report was told once, nothing else was, and each in time.
fn is_told(name: &str, analysis: &Analysis, told: &[(Timestamp, WatchEvent)]) {
    let told = told_rekeys(told);
    let of_spi: BTreeMap<(Direction, Spi), usize> = analysis
        .rekeys
        .iter()
        .flat_map(|rekey| new_spis(rekey).into_iter().map(|spi| (spi, rekey.index)))
        .collect();
    let mut times = BTreeMap::new();
    for (when, spis) in &told {
        let index = spis.iter().find_map(|spi| of_spi.get(spi));
        let index = *index.unwrap_or_else(|| panic!("{name}: {spis:?} is no rekey of the report"));
        assert_eq!(
            times.insert(index, *when),
            None,
            "{name}: rekey {index} was told twice"
        );
    }
    for rekey in &analysis.rekeys {
        let when = *times
            .get(&rekey.index)
            .unwrap_or_else(|| panic!("{name}: rekey {} was not told", rekey.index));
        let begun = rekey
            .started
            .or(rekey.switched.a_to_b)
            .or(rekey.switched.b_to_a)
            .unwrap();
        let done = begun.plus_seconds(rekey.exchange_ms.unwrap_or_default() / 1_000.0);
        let switched = [rekey.switched.a_to_b, rekey.switched.b_to_a]
            .into_iter()
            .flatten();
        let decided = switched.filter(|time| *time <= when).chain([done]).max().unwrap();
        let late = when.seconds_since(decided);
        assert!(
            late <= IN_TIME_S,
            "{name}: rekey {} was told {late} s late",
            rekey.index
        );
    }
}

#[test]
fn what_is_told_is_what_the_report_says() {
    for lab in labs() {
        let analysis = analyze_lab(&lab);
        is_told(&lab.name, &analysis, &watched(&lab, Retention::default()));
    }
}

/// What is left behind is not missed: the next rekey is told as if it were there, also its trigger.
#[test]
fn what_is_over_can_be_left_behind() {
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    let short = Retention {
        seconds: 3.0,
        sas: 6,
        exchanges: 4,
        lately_s: 1.0,
    };
    let (all, told) = (watched(&lab, Retention::default()), watched(&lab, short));
    is_told(&lab.name, &analyze_lab(&lab), &told);
    let triggers = |told: &[(Timestamp, WatchEvent)]| -> Vec<_> {
        let kinds = told.iter().filter_map(|(_, event)| match &event.what {
            Occurrence::Rekey {
                trigger, initiator, ..
            } => Some((event.time, *trigger, *initiator)),
            _ => None,
        });
        kinds.collect()
    };
    assert_eq!(triggers(&told), triggers(&all));
}

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
}

fn accepted_by_promtool(metrics: &str) {
    let promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut promtool) = promtool else {
        println!("skipped: no promtool");
        return;
    };
    promtool
        .stdin
        .take()
        .unwrap()
        .write_all(metrics.as_bytes())
        .unwrap();
    let said = promtool.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&said.stdout).to_string() + &String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && words.trim().is_empty(), "{words}");
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
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = ask("/metrics");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("# EOF\n"),
        "{answer}"
    );
    assert!(!answer.contains("rekeyscope_sas_without_key 0\n"), "{answer}");
    assert!(ask("/").starts_with("HTTP/1.1 404"));
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
    assert!(sas[0].inner_bytes.is_none() && sas.last().unwrap().inner_bytes.is_some());
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
        (vec![sample, "--metrics-file", "notes.txt"], "did not write"),
        (vec![sample, "--xfrm-stat=none"], "none"),
        (vec![sample, "--metrics-listen", "here"], "give a port"),
        (
            vec![sample, "--parquet", "tables"],
            "analyse the capture afterwards",
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

/// The dashboard and the page on metrics name no metric that is not there.
#[test]
fn documents_name_metrics_that_exist() {
    let mut totals = rekeyscope_model::watch::WatchTotals::default();
    let ends = rekeyscope_model::watch::TunnelEnd::Client;
    let trigger = rekeyscope_model::analysis::TriggerKind::Volume;
    totals.rekeys.insert((trigger, ends), 1);
    let format = rekeyscope_report::formats::metrics::MetricsFormat::Prometheus;
    let page = rekeyscope_report::formats::metrics::render(&totals, format);
    let families: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let of_histogram = |name: &str| name.strip_suffix("_bucket").map(str::to_string);
    let mut named = 0;
    for file in ["fleet/grafana.json", "docs/watch.md"] {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for name in text
            .split(|c| !is_name(c))
            .filter(|word| word.starts_with("rekeyscope_"))
        {
            let family = of_histogram(name).unwrap_or_else(|| name.to_string());
            assert!(families.contains(&family.as_str()), "{file}: {name}");
            named += 1;
        }
    }
    assert!(named > 20);
}
