//! Packets that a capture holds more than once change no answer: frames doubled by a mirror port, with and without VLAN tags; a
//! file appended to itself. Made from the lab's real captures by repeating frames; the capture itself is what they are compared
//! with, figure by figure. And a message that a peer really sent again stays a retransmission.

mod retransmissions;
mod scenarios;

use crate::support::{analyses, analyze, keyless, lab_of_sample, sample_names};
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::time::Timestamp;
use rekeyscope_testkit::containers::{Packet, read_pcap, write_pcap};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A copy follows after this many nanoseconds: what mirror ports and a second interface of one host need.
const DELAYS: std::ops::Range<u64> = 3_000..200_000;

/// A capture with frames twice.
pub(crate) struct Twice {
    pub packets: Vec<Packet>,
    /// Which frame of the original each is (1-based).
    original: Vec<u64>,
}

impl Twice {
    /// Each frame again shortly after, with these VLAN tags. The order of the originals stays, also where their times go back.
    pub(crate) fn mirrored(packets: &[Packet], tags: &[u16]) -> Twice {
        let mut state = 88_172_645_463_325_252_u64; // xorshift64
        let mut latest = Timestamp::default();
        let mut placed = Vec::new();
        for (p, number) in packets.iter().zip(1..) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let delay = (DELAYS.start + state % (DELAYS.end - DELAYS.start)).cast_signed();
            let mut copy = if tags.is_empty() {
                p.clone()
            } else {
                p.tagged(tags)
            };
            copy.time = p.time.plus_nanos(delay);
            latest = p.time.max(latest);
            placed.push((latest, p.clone(), number));
            placed.push((latest.plus_nanos(delay), copy, number));
        }
        placed.sort_by_key(|(place, ..)| *place);
        let (packets, original) = placed.into_iter().map(|(_, p, number)| (p, number)).unzip();
        Twice { packets, original }
    }

    /// The file behind itself.
    pub(crate) fn appended(packets: &[Packet]) -> Twice {
        let numbers = 1..=packets.len() as u64;
        Twice {
            packets: [packets, packets].concat(),
            original: numbers.clone().chain(numbers).collect(),
        }
    }
}

/// Fields of `capture` that say what the file is like, and not what was on the wire.
const OF_THE_FILE: [&str; 9] = [
    "path",
    "packets",
    "bytes",
    "duplicates",
    "time_regressions",
    "ike_packets",
    "esp_packets",
    // The last frame's copy comes later.
    "last_time",
    "duration_s",
];
/// Findings about the order of the file.
const ORDER: [&str; 2] = ["out_of_order", "clock_trouble"];

fn analyze_packets(packets: &[Packet], keys: &[PathBuf]) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.pcap");
    write_pcap(&path, packets);
    analyze(&path, keys)
}

/// Frame numbers become those of the original; filters that hold them go.
fn renumber(value: &mut Value, original: &[u64]) {
    let number = |n: &mut Value| {
        if let Some(frame) = n.as_u64() {
            *n = json!(original[frame as usize - 1]);
        }
    };
    match value {
        Value::Object(fields) => {
            fields.remove("display_filter");
            for (name, field) in fields {
                match name.as_str() {
                    "frame" | "first_frame" | "last_frame" | "from_frame" | "to_frame" => number(field),
                    "frames" | "evidence_frames" | "lost_frames" | "repeated_frames" => {
                        field.as_array_mut().unwrap().iter_mut().for_each(number)
                    }
                    _ => renumber(field, original),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|v| renumber(v, original)),
        _ => {}
    }
}

/// An outage that the end of the capture leaves open lasts until the last frame, whose copy comes later.
fn without_its_end(outage: &mut Value) {
    if outage["at_least"] == true {
        outage["seconds"].take();
    }
}

/// The account of a tunnel that died lasts until the last frame, and its own figures with it.
fn without_a_late_end(account: &mut Value) {
    let died = account["runs"]
        .as_array()
        .and_then(|runs| runs.last())
        .is_some_and(|last| last["label"] == "tunnel_down");
    if died {
        *account = Value::Null;
    }
}

/// Removes ledgers that repeat because they are open, and the rates of their verdicts.
fn without_open_ledgers(document: &mut Value) {
    let ledgers = document["ledger"].as_array_mut().unwrap();
    let is_open = |ledger: &Value| {
        let mut down = ledger["down"].as_array().unwrap().iter();
        down.any(|down| down["interval"]["arrived"].is_null())
    };
    let open: Vec<[Value; 2]> = ledgers
        .iter()
        .filter(|ledger| is_open(ledger))
        .map(|ledger| [ledger["tunnel"].clone(), ledger["direction"].clone()])
        .collect();
    ledgers.retain(|ledger| !is_open(ledger));
    for impact in document["impact"].as_array_mut().unwrap() {
        if open.contains(&[impact["tunnel"].clone(), impact["direction"].clone()]) {
            ["observed_bps", "transfer", "transfers", "sentence", "messages"]
                .iter()
                .for_each(|field| drop(impact[*field].take()));
        }
    }
}

/// What was on the wire, by the analysis.
fn wire(analysis: &Analysis, original: &[u64]) -> Value {
    let mut document = serde_json::to_value(analysis).unwrap();
    let capture = document["capture"].as_object_mut().unwrap();
    OF_THE_FILE.iter().for_each(|field| {
        capture.remove(*field).unwrap();
    });
    for sa in document["security_associations"].as_array_mut().unwrap() {
        sa["sequence"]
            .as_object_mut()
            .unwrap()
            .remove("duplicates")
            .unwrap();
    }
    for attempt in document["attempts"].as_array_mut().unwrap() {
        without_its_end(&mut attempt["outage"]);
    }
    for account in document["account"].as_array_mut().unwrap() {
        without_a_late_end(account);
    }
    without_open_ledgers(&mut document);
    document["outages"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .for_each(without_its_end);
    let findings = document["findings"].as_array_mut().unwrap();
    findings.retain(|f| !ORDER.contains(&f["id"].as_str().unwrap()));
    let oddities = document["diagnostics"].as_array_mut().unwrap();
    oddities.retain(|d| !["duplicate", "duplicate_fragment"].contains(&d["kind"].as_str().unwrap()));
    renumber(&mut document, original);
    document
}

/// Several connections of a direction become one line of runs where a file begins again. Within a run the bytes count as evenly spread, so a
/// border between two labels may fall a packet earlier or later; no byte comes or goes.
fn share_borders(repeated: &mut Value, original: &Value) {
    const PACKET: u64 = 1_500;
    let sum = |account: &Value| {
        let labels = account["labels"].as_array().unwrap().iter();
        labels.map(|label| label["bytes"].as_u64().unwrap()).sum::<u64>()
    };
    for (repeated, original) in repeated
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .zip(original.as_array().unwrap())
    {
        if repeated.is_null() || original.is_null() || sum(repeated) != sum(original) {
            continue;
        }
        let runs = original["runs"].as_array().unwrap();
        let labels = repeated["labels"].as_array_mut().unwrap();
        for (ours, theirs) in labels.iter_mut().zip(original["labels"].as_array().unwrap()) {
            let borders = 2 * runs.iter().filter(|run| run["label"] == theirs["label"]).count() as u64;
            let apart = ours["bytes"]
                .as_u64()
                .unwrap()
                .abs_diff(theirs["bytes"].as_u64().unwrap());
            if ours["seconds"] == theirs["seconds"] && apart <= PACKET * borders {
                *ours = theirs.clone();
            }
        }
    }
}

/// The first place where two documents differ.
fn difference(a: &Value, b: &Value, path: &str) -> Option<String> {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) if x.len() == y.len() => x
            .iter()
            .find_map(|(k, v)| difference(v, y.get(k).unwrap_or(&Value::Null), &format!("{path}.{k}"))),
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            (x.iter().zip(y).enumerate()).find_map(|(i, (v, w))| difference(v, w, &format!("{path}[{i}]")))
        }
        _ => (a != b).then(|| format!("{path}: {a} instead of {b}")),
    }
}

/// The copies change nothing, and each is counted.
pub(crate) fn assert_counted_once(twice: &Twice, keys: &[PathBuf], once: &Analysis, what: &str) -> Analysis {
    let analysis = analyze_packets(&twice.packets, keys);
    let unchanged: Vec<u64> = (1..=once.capture.packets).collect();
    let mut repeated = wire(&analysis, &twice.original);
    let original = wire(once, &unchanged);
    share_borders(&mut repeated["account"], &original["account"]);
    if let Some(place) = difference(&repeated, &original, "") {
        panic!("{what}: {place}");
    }
    let (c, o) = (&analysis.capture, &once.capture);
    assert_eq!(c.packets, 2 * o.packets, "{what}");
    // Each frame of these captures is an IP packet.
    assert_eq!(c.duplicates, 2 * o.duplicates + o.packets, "{what}");
    let longer = c.duration_s.unwrap() - o.duration_s.unwrap();
    assert!(
        (0.0..=DELAYS.end as f64 / 1e9).contains(&longer),
        "{what}: {longer} s longer"
    );
    analysis
}

fn each_capture(name: &str, keys: bool, repeat: impl Fn(&[Packet]) -> Twice) {
    for (lab, once) in if keys { analyses() } else { keyless() } {
        let what = format!("{}, {name}, keys: {keys}", lab.name);
        let twice = repeat(&read_pcap(&lab.capture));
        let files = if keys { &lab.keys[..] } else { &[] };
        let analysis = assert_counted_once(&twice, files, once, &what);
        let (c, o) = (&analysis.capture, &once.capture);
        assert_eq!(
            (c.ike_packets, c.esp_packets),
            (2 * o.ike_packets, 2 * o.esp_packets),
            "{what}"
        );
        for (layer, expected) in [("IKE", o.ike_packets), ("ESP", o.esp_packets)] {
            let named = analysis
                .diagnostics
                .iter()
                .find(|d| d.kind == "duplicate" && d.layer == layer);
            assert_eq!(named.unwrap().count, expected, "{what}: {layer} by name");
        }
    }
}

#[test]
fn every_frame_twice_counts_once() {
    each_capture("doubled", true, |packets| Twice::mirrored(packets, &[]));
}

#[test]
fn every_frame_with_and_without_a_vlan_tag_counts_once() {
    each_capture("VLAN", true, |packets| Twice::mirrored(packets, &[7]));
    each_capture("QinQ", false, |packets| Twice::mirrored(packets, &[100, 7]));
}

#[test]
fn a_file_appended_to_itself_counts_once() {
    each_capture("appended", true, Twice::appended);
}

#[test]
fn a_file_appended_to_itself_counts_once_without_keys() {
    each_capture("appended", false, Twice::appended);
}

/// Without ESP no number tells that the file goes on with an earlier part of itself.
#[test]
fn ike_alone_appended_to_itself_counts_once() {
    for name in sample_names() {
        let lab = lab_of_sample(name);
        let packets: Vec<Packet> = read_pcap(&lab.capture)
            .into_iter()
            .filter(Packet::is_ike)
            .collect();
        let once = analyze_packets(&packets, &lab.keys);
        assert!(
            once.exchanges.len() > 5 && once.capture.esp_packets == 0,
            "{name}"
        );
        assert_counted_once(&Twice::appended(&packets), &lab.keys, &once, name);
    }
}

/// Two hosts' captures, the clock of the second ahead: each packet comes again so much later.
fn merged(packets: &[Packet], ahead: i64) -> Vec<Packet> {
    let copies = packets.iter().map(|packet| Packet {
        time: packet.time.plus_nanos(ahead),
        ..packet.clone()
    });
    let mut all: Vec<Packet> = packets.iter().cloned().chain(copies).collect();
    all.sort_by_key(|packet| packet.time);
    all
}

#[test]
fn captures_with_clocks_apart_have_no_requests_that_nobody_answers() {
    let (lab, once) = analyses().iter().find(|(_, once)| once.rekeys.len() > 2).unwrap();
    let packets = read_pcap(&lab.capture);
    for ahead in [370_000_000, 2_100_000_000] {
        let analysis = analyze_packets(&merged(&packets, ahead), &lab.keys);
        let failed = |of: &Analysis| of.attempts.iter().filter(|a| a.outcome.failed()).count();
        assert_eq!(failed(&analysis), failed(once), "{}, {ahead} ns", lab.name);
        assert_eq!(analysis.rekeys.len(), once.rekeys.len(), "{}", lab.name);
        let said = analysis.findings.iter().any(|f| f.id == "clock_trouble");
        assert!(said, "{:?}", analysis.findings);
    }
}
