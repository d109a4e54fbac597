//! Findings that no rekey caused, each in a **synthetic** capture that has it, and none of them in one that has not.

use crate::support::analyze;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_testkit::scenario::{self, World};
use std::path::Path;

/// Identifier, a figure that the sentence must hold, and how it is done. Nothing else is found but what [`BESIDES`] names.
type FindingScenario = (&'static str, &'static str, fn(&mut World));

/// Findings that truly hold beside another one: packets that are all fragmented come as a full one and a rest.
const BESIDES: [(&str, &str); 2] = [
    ("path_mtu", "fragmentation_cliff"),
    ("fragmentation_cliff", "path_mtu"),
];

const FINDINGS: [FindingScenario; 10] = [
    // 1,300 − 20 (IP) − 8 − 16 (IV) − 12 (ICV) = 1,244: 77 blocks less 2 bytes are 1,230 of payload, 58 less than 1,288.
    (
        "path_mtu",
        "1230 bytes, 58 less than the largest seen: a TCP MSS of 1170",
        |w| {
            w.mtu = Some(1_300);
            w.steady(3_000);
        },
    ),
    // 1,352 bytes into 1,340: fragments of 1,340 and 32 bytes.
    (
        "fragmentation_cliff",
        "one full and one tiny IP packet (1340 bytes",
        |w| {
            w.mtu = Some(1_340);
            w.steady(3_000);
        },
    ),
    (
        "fragmentation_cliff",
        "a tiny rest right behind a full one of 1228 bytes",
        |w| {
            for _ in 0..500 {
                w.segment();
                w.step(w.tick);
                w.tiny_segment();
                w.step(w.tick);
            }
        },
    ),
    // 41 times 50 packets, and 40 numbers that never came: 40 of 2,090.
    ("one_direction_loss", "40 ESP packets (1.91 %)", |w| {
        for _ in 0..40 {
            w.steady(100);
            w.down.sequence += 1;
        }
        w.steady(100);
    }),
    ("both_directions_loss", "40 ESP packets (1.91 %)", |w| {
        for _ in 0..40 {
            w.steady(100);
            w.down.sequence += 1;
            w.up.sequence += 1;
        }
        w.steady(100);
    }),
    // 41 times 50 datagrams; two packets the other way.
    ("packet_loss", "40 ESP packets (1.91 %)", |w| {
        w.ack(1_000, 0xffff);
        for _ in 0..40 {
            w.datagrams(100);
            w.down.sequence += 1;
        }
        w.datagrams(100);
        w.ack(1_000, 0xffff);
    }),
    // 25 of 25 times 151 and a hundred.
    ("behind_window", "25 ESP packets (0.6 %) came 128 or more", |w| {
        late_datagrams(w, 150);
    }),
    (
        "damaged",
        "40 ESP packets (1.9 %) came damaged (wrong ICV)",
        |w| {
            for _ in 0..40 {
                w.steady(100);
                w.damaged = true;
                w.segment();
                w.damaged = false;
                w.step(w.tick);
            }
            w.steady(100);
        },
    ),
    ("duplicate_sas", "alive side by side", |w| {
        w.steady(6_000);
        let qm = w.begin(true);
        let mut other = scenario::Sa {
            spi: qm.down,
            sequence: 0,
        };
        for _ in 0..300 {
            w.steady(30);
            std::mem::swap(&mut w.down, &mut other);
        }
    }),
    // Five pairs, the last of them left out because it may be used later.
    ("redundant_sas", "4 of 4 negotiated child SAs", |w| {
        for _ in 0..5 {
            negotiate(w);
            w.steady(500);
        }
    }),
];

/// 25 datagrams, each of which so many others overtake.
fn late_datagrams(w: &mut World, others: u64) {
    w.datagrams(100);
    for _ in 0..25 {
        let late = w.down.sequence;
        w.down.sequence += 1;
        w.datagrams(2 * others);
        let newest = std::mem::replace(&mut w.down.sequence, late);
        w.datagrams(2);
        w.down.sequence = newest;
    }
    w.datagrams(100);
}

/// A Quick Mode whose SAs nobody uses.
fn negotiate(w: &mut World) {
    let mut unused = w.begin(true);
    for _ in 0..3 {
        w.message(&mut unused);
        w.steady(10);
    }
}

fn played(play: fn(&mut World), rewrite: fn(&Path)) -> Analysis {
    let mut world = World::new();
    play(&mut world);
    let folder = tempfile::tempdir().unwrap();
    let keys = world.write(folder.path(), true);
    let capture = folder.path().join("trace.pcap");
    rewrite(&capture);
    analyze(&capture, &keys)
}

fn sentences(analysis: &Analysis) -> Vec<(&str, &str)> {
    let findings = analysis.findings.iter();
    findings.map(|f| (f.id.as_str(), f.sentence.as_str())).collect()
}

#[test]
fn findings_are_made_where_they_hold_and_only_there() {
    for (id, figure, play) in FINDINGS {
        let analysis = played(play, |_| ());
        let found = sentences(&analysis);
        assert!(
            found.iter().any(|(i, s)| *i == id && s.contains(figure)),
            "{id}, {figure}: {found:?}"
        );
        let holds = |other: &str| other == id || BESIDES.contains(&(id, other));
        assert!(found.iter().all(|(i, _)| holds(i)), "{id}: {found:?}");
    }
    for harmless in [
        |w: &mut World| w.steady(16_000),
        |w: &mut World| late_datagrams(w, 20),
    ] {
        assert_eq!(sentences(&played(harmless, |_| ())), []);
    }
}

/// The same loss without keys: nobody sees whether what is missing was acknowledged.
#[test]
fn missing_packets_without_keys_are_lost_or_not_captured() {
    let mut world = World::new();
    for _ in 0..40 {
        world.steady(100);
        world.down.sequence += 1;
    }
    world.steady(100);
    let folder = tempfile::tempdir().unwrap();
    world.write(folder.path(), false);
    let analysis = analyze(&folder.path().join("trace.pcap"), &[]);
    let found = sentences(&analysis);
    let told = found.iter().find(|(id, _)| *id == "packets_missing");
    assert!(
        told.is_some_and(|(_, s)| s.contains("40 ESP packets (1.91 %)")
            && s.contains("lost before the capture point or not captured")),
        "{found:?}"
    );
    assert!(
        !found.iter().any(|(id, _)| *id == "one_direction_loss"),
        "{found:?}"
    );
}

/// Records of a pcap: header and frame together.
fn records(capture: &[u8]) -> Vec<&[u8]> {
    let mut rest = &capture[24..];
    let mut list = Vec::new();
    while let Some(length) = rest.get(8..12) {
        let (record, others) = rest.split_at(16 + u32::from_le_bytes(length.try_into().unwrap()) as usize);
        list.push(record);
        rest = others;
    }
    list
}

/// A run of packets comes 100 ms late into the file, as when two interfaces are merged by hand.
fn disorder(path: &Path) {
    let capture = std::fs::read(path).unwrap();
    let mut list = records(&capture);
    // A segment every 2 ms and an acknowledgement every 4 ms: 75 packets are 100 ms.
    list[1_000..1_100].rotate_left(25);
    let body = list.concat();
    std::fs::write(path, [&capture[..24], &body].concat()).unwrap();
}

#[test]
fn packets_out_of_order_are_clock_trouble() {
    let analysis = played(|w| w.steady(16_000), disorder);
    let found = sentences(&analysis);
    assert!(found.iter().any(|(i, _)| *i == "clock_trouble"), "{found:?}");
}

/// A pcapng block.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (12 + body.len().next_multiple_of(4)) as u32;
    let mut block = [kind.to_le_bytes(), length.to_le_bytes()].concat();
    block.extend(body);
    block.resize(length as usize - 4, 0);
    block.extend(length.to_le_bytes());
    block
}

/// The same packets as pcapng, whose interface statistics say that 17 packets were dropped (isb_ifdrop).
fn count_drops(path: &Path) {
    let capture = std::fs::read(path).unwrap();
    let section = [0x1a2b_3c4d_u32.to_le_bytes(), [1, 0, 0, 0], [0xff; 4], [0xff; 4]].concat();
    let nanoseconds = [&[1, 0, 0, 0, 0, 0, 0, 0][..], &[9, 0, 1, 0, 9, 0, 0, 0], &[0; 4]].concat();
    let mut file = [block(0x0a0d_0d0a, &section), block(1, &nanoseconds)].concat();
    for record in records(&capture) {
        let word = |at: usize| u64::from(u32::from_le_bytes(record[at..at + 4].try_into().unwrap()));
        let time = word(0) * 1_000_000_000 + word(4);
        let high_low = [(time >> 32) as u32, time as u32].map(u32::to_le_bytes).concat();
        file.extend(block(
            6,
            &[&[0; 4][..], &high_low, &record[8..16], &record[16..]].concat(),
        ));
    }
    let dropped = [&[0; 12][..], &[5, 0, 8, 0], &17_u64.to_le_bytes(), &[0; 4]].concat();
    file.extend(block(5, &dropped));
    std::fs::write(path, file).unwrap();
}

#[test]
fn drops_that_the_capture_counted_are_said() {
    let analysis = played(|w| w.steady(16_000), count_drops);
    let found = sentences(&analysis);
    assert!(
        found
            .iter()
            .any(|(i, s)| *i == "capture_drops" && s.contains("17 packets")),
        "{found:?}"
    );
}
