//! The lab's captures as they would have been watched, by their own clocks: keys there from the start, growing with each SA, and late.
//! What was told in the end is what the report says, nothing else was told, and each outage in time. `tests/watch/lab` prints the table.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)] // a program for tests

use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope::watch::{LiveWatch, Retention};
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::WatchEvent;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// As the program looks, by the capture's clock.
const LOOK: i64 = NANOS_PER_SECOND / 2;

/// A capture with its keys and ground truth.
struct Lab {
    name: String,
    capture: PathBuf,
    keys: Vec<PathBuf>,
    truth: serde_json::Value,
}

fn labs() -> Vec<Lab> {
    let folder = rekeyscope_testkit::lab::folder().expect("the captures beside the repository");
    let folders = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let mut labs: Vec<Lab> = folders
        .map(|folder| Lab {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            capture: folder.join("trace.pcap"),
            keys: ["keys.esp_sa", "keys.ikev1", "keys.ikev2"]
                .map(|name| folder.join(name))
                .into_iter()
                .filter(|file| file.exists())
                .collect(),
            truth: serde_json::from_str(&fs::read_to_string(folder.join("truth.json")).unwrap()).unwrap(),
        })
        .collect();
    labs.sort_by(|a, b| a.name.cmp(&b.name));
    labs
}

fn analyze_lab(lab: &Lab) -> Analysis {
    let mut keys = KeyMaterial::default();
    lab.keys.iter().for_each(|file| keys.read(file).unwrap());
    let mut reader = CaptureReader::open(&lab.capture).unwrap();
    let mut analyzer = Analyzer::new(Options::default(), keys);
    let mut container = Diagnostics::default();
    while let Some(frame) = reader.next_frame(&mut container).unwrap() {
        analyzer.push(&frame);
    }
    assemble(&analyzer.finish(), reader.info(), &Asked::of(""))
}

/// When the keys of an SA stand in the file.
#[derive(Debug, Clone, Copy)]
enum Keys {
    /// Before the capture begins.
    Early,
    /// So many seconds behind the SA.
    After(f64),
}

impl Keys {
    const ALL: [Keys; 5] = [
        Keys::Early,
        Keys::After(0.05),
        Keys::After(0.4),
        Keys::After(1.0),
        Keys::After(5.0),
    ];

    fn name(self) -> String {
        match self {
            Keys::Early => "early".to_string(),
            Keys::After(seconds) => format!("{seconds} s after the SA"),
        }
    }
}

/// The lines of a key file, each with the time at which it is written.
fn lines(lab: &Lab, keys: Keys) -> Vec<(Timestamp, String)> {
    let mut added: BTreeMap<String, f64> = BTreeMap::new();
    for sa in lab.truth["sas"].as_array().into_iter().flatten() {
        let events = sa["events"].as_array().into_iter().flatten();
        let times = events.filter(|event| event["op"] == "Added");
        if let Some(first) = times.filter_map(|event| event["t"].as_f64()).reduce(f64::min) {
            added.insert(sa["spi"].as_str().unwrap_or_default().to_string(), first);
        }
    }
    let file = lab
        .keys
        .iter()
        .find(|file| file.extension().is_some_and(|e| e == "esp_sa"));
    let text = file
        .map(|file| fs::read_to_string(file).unwrap())
        .unwrap_or_default();
    let mut lines: Vec<(Timestamp, String)> = text
        .lines()
        .map(|line| {
            let spi = line.split(',').nth(3).unwrap_or_default().trim_matches('"');
            let written = match (keys, added.get(spi)) {
                (Keys::After(lag), Some(added)) => Timestamp(((added + lag) * 1e9) as i64),
                _ => Timestamp(0),
            };
            (written, line.to_string() + "\n")
        })
        .collect();
    lines.sort_by_key(|(written, _)| *written);
    lines
}

/// What is told, and when by the capture's clock. The end comes three seconds behind the last frame, as on a link that goes on.
fn played(lab: &Lab, keys: Keys) -> (Vec<(Timestamp, WatchEvent)>, Analysis) {
    let mut log = tempfile::Builder::new().suffix(".esp_sa").tempfile().unwrap();
    let mut lines = lines(lab, keys).into_iter().peekable();
    let mut begun = false;
    let mut material = |until: Timestamp| {
        let mut grew = !std::mem::replace(&mut begun, true);
        while let Some((_, line)) = lines.next_if(|(written, _)| *written <= until) {
            log.write_all(line.as_bytes()).unwrap();
            grew = true;
        }
        grew.then(|| {
            let mut keys = KeyMaterial::default();
            keys.read(log.path()).unwrap();
            // Those of IKE were there before its first message.
            let of_ike = lab
                .keys
                .iter()
                .filter(|file| file.extension().is_some_and(|e| e != "esp_sa"));
            of_ike.for_each(|file| keys.read(file).unwrap());
            keys
        })
    };
    let mut reader = CaptureReader::open(&lab.capture).unwrap();
    let info = reader.info().clone();
    let mut container = Diagnostics::default();
    let mut watch: Option<LiveWatch> = None;
    let (mut told, mut due) = (Vec::new(), Timestamp(0));
    let look = |watch: &mut LiveWatch, due: Timestamp, keys: Option<KeyMaterial>| {
        if let Some(keys) = keys {
            watch.replace_keys(keys);
        }
        let events = watch.look(due, &info);
        events.into_iter().map(move |event| (due, event))
    };
    while let Some(frame) = reader.next_frame(&mut container).unwrap() {
        let watch = watch.get_or_insert_with(|| {
            due = frame.time.plus_nanos(LOOK);
            let keys = material(frame.time).unwrap_or_default();
            let mut watch = LiveWatch::new(Options::default(), Retention::default(), keys, Vec::new());
            watch.keys_grow();
            watch
        });
        while due < frame.time {
            told.extend(look(watch, due, material(due)));
            due = due.plus_nanos(LOOK);
        }
        watch.push(&frame);
    }
    let mut watch = watch.unwrap();
    let last = watch.newest().unwrap().plus_seconds(3.0);
    while due < last {
        told.extend(look(&mut watch, due, material(due)));
        due = due.plus_nanos(LOOK);
    }
    let (events, analysis, _) = watch.finish(reader.info(), &Asked::of(""));
    told.extend(events.into_iter().map(|event| (due, event)));
    (told, analysis)
}

fn main() {
    let only = std::env::var("LAB").unwrap_or_default();
    for lab in labs() {
        if !lab.name.contains(&only) {
            continue;
        }
        let report = analyze_lab(&lab);
        for keys in Keys::ALL {
            let (told, _) = played(&lab, keys);
            println!("== {} keys {}", lab.name, keys.name());
            for (when, event) in &told {
                let late = when.seconds_since(event.time);
                println!("  late {late:6.2} {}", serde_json::to_string(event).unwrap());
            }
        }
        println!("== {} report", lab.name);
        for outage in &report.outages {
            println!(
                "  {:?} {} {:?} {}",
                outage.direction, outage.start, outage.end, outage.seconds
            );
        }
        for impact in report
            .rekeys
            .iter()
            .flat_map(|rekey| &rekey.impact)
            .filter(|i| i.hurt)
        {
            println!(
                "  {:?} cost {:?} silence {:?}",
                impact.direction, impact.cost_seconds, impact.silence_ms
            );
        }
    }
}
