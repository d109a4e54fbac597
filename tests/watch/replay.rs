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
use rekeyscope_model::analysis::{Analysis, Direction};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::{Occurrence, WatchEvent};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Time between two looks of the program, by the capture's clock.
const LOOK: i64 = NANOS_PER_SECOND / 2;

/// A capture with its keys and ground truth.
struct Lab {
    name: String,
    capture: PathBuf,
    keys: Vec<PathBuf>,
    truth: serde_json::Value,
}

fn labs() -> Vec<Lab> {
    let folders = rekeyscope_testkit::lab::captures().into_iter();
    folders
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
        .collect()
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

/// Moment at which the keys of an SA stand in the file.
#[derive(Debug, Clone, Copy)]
enum Keys {
    /// The keys are there before the capture begins.
    Early,
    /// The keys come so many seconds behind the SA.
    After(f64),
    /// The same, and nothing is kept to be read once more: what was not read stays so, and nothing false is told of it.
    Lost(f64),
}

impl Keys {
    const ALL: [Keys; 6] = [
        Keys::Early,
        Keys::After(0.05),
        Keys::After(0.4),
        Keys::After(1.0),
        Keys::After(5.0),
        Keys::Lost(2.0),
    ];

    fn name(self) -> String {
        match self {
            Keys::Early => "early".to_string(),
            Keys::After(seconds) => format!("{seconds} s after the SA"),
            Keys::Lost(seconds) => format!("{seconds} s after the SA, nothing kept"),
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
                (Keys::After(lag) | Keys::Lost(lag), Some(added)) => Timestamp(((added + lag) * 1e9) as i64),
                _ => Timestamp(0),
            };
            (written, line.to_string() + "\n")
        })
        .collect();
    lines.sort_by_key(|(written, _)| *written);
    lines
}

/// Events with the time by the capture's clock at which they are told. The end comes three seconds behind the last frame, as on a link that goes on.
fn played(lab: &Lab, keys: Keys) -> (Vec<(Timestamp, WatchEvent)>, Analysis) {
    let mut log = tempfile::Builder::new().suffix(".esp_sa").tempfile().unwrap();
    let mut lines = lines(lab, keys).into_iter().peekable();
    let mut retention = Retention::default();
    if let Keys::Lost(_) = keys {
        retention.kept_bytes = 0;
    }
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
            // Keys of IKE were there before its first message.
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
            let mut watch = LiveWatch::new(Options::default(), retention, keys, Vec::new());
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

/// A direction of a tunnel that was down: begin, end and length; without an end it was down at the end of the capture.
#[derive(Debug, Clone)]
struct Down {
    direction: Direction,
    start: Timestamp,
    seconds: Option<f64>,
    /// Time at which the outage was told first.
    told: Timestamp,
}

/// Outages as they were told in the end.
fn downs(told: &[(Timestamp, WatchEvent)]) -> Vec<Down> {
    let mut downs: Vec<Down> = Vec::new();
    for (when, event) in told {
        match &event.what {
            Occurrence::OutageBegan { direction } => downs.push(Down {
                direction: *direction,
                start: event.time,
                seconds: None,
                told: *when,
            }),
            Occurrence::OutageEnded {
                direction,
                announced,
                seconds,
                ..
            } => {
                let mut open = downs.iter_mut().rev();
                let open =
                    open.find(|down| *announced && down.direction == *direction && down.seconds.is_none());
                let start = event.time.plus_seconds(-seconds);
                match open.filter(|open| near(open.start, start, 1.5)) {
                    Some(open) => (open.start, open.seconds) = (start, Some(*seconds)),
                    None => downs.push(Down {
                        direction: *direction,
                        start,
                        seconds: Some(*seconds),
                        told: *when,
                    }),
                }
            }
            Occurrence::OutageCorrected {
                direction,
                began,
                seconds,
                ..
            } => {
                let is_it = |down: &&mut Down| down.direction == *direction && near(down.start, *began, 1.5);
                let own = downs
                    .iter_mut()
                    .find(is_it)
                    .expect("only what was told is corrected");
                (own.start, own.seconds) = (*began, Some(*seconds));
            }
            _ => {}
        }
    }
    downs.retain(|down| down.seconds != Some(0.0));
    downs
}

fn near(one: Timestamp, other: Timestamp, seconds: f64) -> bool {
    one.seconds_since(other).abs() <= seconds
}

/// Facts of the report that may be told as outages: outages, several of a direction at once as one, and silences of rekeys.
fn facts(
    report: &Analysis,
) -> (
    Vec<(Direction, Timestamp, f64, bool)>,
    Vec<(Direction, Timestamp, f64)>,
) {
    let mut outages: Vec<(Direction, Timestamp, f64, bool)> = Vec::new();
    for outage in &report.outages {
        let inside = outages.iter().any(|(direction, start, seconds, _)| {
            *direction == outage.direction && outage.start < start.plus_seconds(*seconds)
        });
        if !inside {
            outages.push((outage.direction, outage.start, outage.seconds, outage.at_least));
        }
    }
    let mut silences = Vec::new();
    for ledger in &report.ledger {
        for interval in ledger.rekeys.iter().flat_map(|own| &own.intervals) {
            if let Some(arrived) = interval.arrived {
                silences.push((
                    ledger.direction,
                    interval.from,
                    arrived.seconds_since(interval.from),
                ));
            }
        }
    }
    (outages, silences)
}

/// Lengths are told to the microsecond, and a clock of captures tells it.
const SAME_S: f64 = 0.002;
/// Within this an outage is told after it is certain.
const IN_TIME_S: f64 = 2.0;
/// Length from which on an outage is told while it lasts, and length from which on it is told at all, seconds.
const BEGAN_S: f64 = 1.0;
const ENDED_S: f64 = 0.2;

#[derive(Debug, Default)]
struct Row {
    rekeys: (usize, usize),
    costs: (usize, usize),
    outages: (usize, usize),
    /// The latest outage: seconds from its begin and from when it was certain.
    late: (f64, f64),
    corrections: usize,
    verdicts: usize,
    wrong: Vec<String>,
}

fn row(lab: &Lab, report: &Analysis, keys: Keys) -> Row {
    let (told, _) = played(lab, keys);
    let mut row = Row::default();
    let written: Vec<Timestamp> = lines(lab, keys).into_iter().map(|(written, _)| written).collect();
    let rekeys = told
        .iter()
        .filter(|(_, event)| matches!(event.what, Occurrence::Rekey { .. }));
    row.rekeys = (rekeys.count(), report.rekeys.len());
    if row.rekeys.0 != row.rekeys.1 {
        row.wrong.push("not each rekey once".to_string());
    }
    let mut costs: Vec<(Direction, Option<Spi>, f64, f64)> = Vec::new();
    for (_, event) in &told {
        if let Occurrence::RekeyCost {
            direction,
            new,
            cost_seconds,
            silence_ms,
            ..
        } = &event.what
        {
            costs.push((*direction, *new, *cost_seconds, *silence_ms));
        }
    }
    let hurt = report.rekeys.iter().flat_map(|rekey| {
        let hurt = rekey.impact.iter().filter(|impact| impact.hurt);
        hurt.map(move |impact| (rekey, impact))
    });
    for (rekey, impact) in hurt {
        row.costs.1 += 1;
        let new = rekey.new.get(impact.direction);
        let told = costs
            .iter()
            .filter(|(direction, spi, ..)| (*direction, *spi) == (impact.direction, new));
        let told: Vec<_> = told.collect();
        let same =
            |value: Option<f64>, told: f64, unit: f64| (value.unwrap_or(0.0) - told).abs() <= SAME_S * unit;
        match told.as_slice() {
            [(_, _, cost, silence)]
                if same(impact.cost_seconds, *cost, 1.0) && same(impact.silence_ms, *silence, 1_000.0) =>
            {
                row.costs.0 += 1;
            }
            told => row.wrong.push(format!(
                "rekey {}: cost {:?} s, silence {:?} ms, told {told:?}",
                rekey.index, impact.cost_seconds, impact.silence_ms
            )),
        }
    }
    if costs.len() > row.costs.1 {
        row.wrong.push(format!(
            "{} costs told, {} in the report",
            costs.len(),
            row.costs.1
        ));
    }
    let (outages, silences) = facts(report);
    let downs = downs(&told);
    for (direction, start, seconds, at_least) in &outages {
        if *seconds < ENDED_S {
            continue;
        }
        row.outages.1 += 1;
        let is_it = |down: &&Down| {
            let same = match down.seconds {
                Some(told) => (told - seconds).abs() <= SAME_S,
                None => *at_least,
            };
            down.direction == *direction && near(down.start, *start, SAME_S) && same
        };
        let Some(own) = downs.iter().find(is_it) else {
            row.wrong
                .push(format!("{direction:?} {start}: {seconds} s is not told"));
            continue;
        };
        row.outages.0 += 1;
        let end = start.plus_seconds(*seconds);
        let told_at_end = *seconds < BEGAN_S;
        // A packet says nothing before its key is there.
        let key = written
            .iter()
            .filter(|written| **written <= end.plus_seconds(6.0))
            .max();
        let certain = if told_at_end {
            end
        } else {
            start.plus_seconds(BEGAN_S)
        };
        let certain = certain.max(key.copied().filter(|key| *key > *start).unwrap_or(certain));
        let late = (own.told.seconds_since(*start), own.told.seconds_since(certain));
        if late.1 > row.late.1 || row.late.0 == 0.0 {
            row.late = late;
        }
        if late.1 > IN_TIME_S {
            row.wrong.push(format!(
                "{direction:?} {start}: {seconds} s told {:.1} s late",
                late.1
            ));
        }
    }
    for (at, down) in downs.iter().enumerate() {
        let same = |other: &&Down| other.direction == down.direction && near(other.start, down.start, SAME_S);
        if downs.iter().take(at).any(|other| same(&other)) {
            row.wrong.push(format!("false: told twice: {down:?}"));
        }
        let in_report = outages
            .iter()
            .map(|(direction, start, seconds, _)| (*direction, *start, *seconds));
        let is_fact = in_report
            .chain(silences.iter().copied())
            .any(|(direction, start, seconds)| {
                let same = near(start, down.start, SAME_S)
                    && down.seconds.is_none_or(|told| (told - seconds).abs() <= SAME_S);
                // Packets without a key stay unread: sealed ones show a part of an outage, to where they were answered again.
                let after = down.start.seconds_since(start);
                let is_part = after >= -BEGAN_S
                    && down
                        .seconds
                        .map_or(after <= seconds, |told| after + told <= seconds + BEGAN_S);
                direction == down.direction && (same || matches!(keys, Keys::Lost(_)) && is_part)
            });
        if !is_fact {
            row.wrong.push(format!("false: {down:?}"));
        }
    }
    let count = |is: fn(&Occurrence) -> bool| told.iter().filter(|(_, event)| is(&event.what)).count();
    if let Keys::Lost(_) = keys {
        row.wrong.retain(|what| what.starts_with("false"));
    }
    row.corrections = count(|what| matches!(what, Occurrence::OutageCorrected { .. }));
    row.verdicts = count(|what| matches!(what, Occurrence::VerdictChanged { .. }));
    let span = report.capture.duration_s.unwrap_or(0.0);
    // A verdict is told when there is something to say, once a minute, and at the end.
    let directions = report.impact.len().max(1);
    if row.verdicts > directions * (2 + (span / 60.0) as usize) {
        row.wrong
            .push(format!("{} verdicts in {span:.0} s", row.verdicts));
    }
    row
}

/// Prints the table; `--events CAPTURE` prints what was told of one.
fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let labs = labs();
    if let [option, name] = arguments.as_slice()
        && option == "--events"
    {
        for lab in labs.iter().filter(|lab| lab.name == *name) {
            for keys in Keys::ALL {
                println!("== {} keys {}", lab.name, keys.name());
                for (when, event) in played(lab, keys).0 {
                    let late = when.seconds_since(event.time);
                    println!("  late {late:6.2} {}", serde_json::to_string(&event).unwrap());
                }
            }
        }
        return std::process::ExitCode::SUCCESS;
    }
    println!(
        "| capture | keys | rekeys | costs | outages | told after their begin, after they are certain | corrections | verdicts |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut wrong = 0;
    for lab in labs
        .iter()
        .filter(|lab| arguments.is_empty() || arguments.contains(&lab.name))
    {
        let report = analyze_lab(lab);
        for keys in Keys::ALL {
            let row = row(lab, &report, keys);
            let late = match row.outages.0 {
                0 => "–".to_string(),
                _ => format!("{:.2} s, {:.2} s", row.late.0, row.late.1.max(0.0)),
            };
            println!(
                "| {} | {} | {} of {} | {} of {} | {} of {} | {late} | {} | {} |",
                lab.name,
                keys.name(),
                row.rekeys.0,
                row.rekeys.1,
                row.costs.0,
                row.costs.1,
                row.outages.0,
                row.outages.1,
                row.corrections,
                row.verdicts
            );
            row.wrong.iter().for_each(|what| println!("    WRONG {what}"));
            wrong += row.wrong.len();
        }
    }
    println!("{wrong} differ");
    std::process::ExitCode::from(u8::from(wrong > 0))
}
