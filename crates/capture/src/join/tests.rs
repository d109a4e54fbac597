//! Pieces of one capture, in every container, are what the whole is; a bad piece costs only itself.

use super::*;
use crate::file::LinkType;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_testkit::containers::{
    Order, Packet, PcapKind, Pcapng, gzip, packets, pcap, pcapng, write_pcap, zstd,
};
use std::path::{Path, PathBuf};

const ETHERNET: u16 = 1;
const RAW: u16 = 101;

fn folder_of(files: &[(&str, &[Packet])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, packets) in files {
        write_pcap(&folder.path().join(name), packets);
    }
    folder
}

/// All files of a folder by name, as a person gives it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    files
}

fn read(sequences: &[PieceSequence]) -> (Vec<Packet>, JoinedReader) {
    let mut reader = JoinedReader::open(Path::new("joined"), sequences).unwrap();
    let mut unheard = Diagnostics::default();
    let mut read = Vec::new();
    while let Some(frame) = reader.next_frame(&mut unheard) {
        assert_eq!(frame.number, read.len() as u64 + 1);
        read.push(Packet {
            time: frame.time,
            original_len: frame.original_len,
            data: frame.data.to_vec(),
        });
    }
    (read, reader)
}

/// The names of the files of each sequence.
fn names(sequences: &[PieceSequence]) -> Vec<Vec<String>> {
    let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
    sequences
        .iter()
        .map(|s| s.files.iter().map(name).collect())
        .collect()
}

fn shifted(packets: &[Packet], seconds: i64) -> Vec<Packet> {
    let later = |p: &Packet| Packet {
        time: p.time.plus_nanos(seconds * NANOS_PER_SECOND),
        ..p.clone()
    };
    packets.iter().map(later).collect()
}

#[test]
fn pieces_in_every_container_are_one_capture() {
    let all = packets(60);
    let folder = tempfile::tempdir().unwrap();
    let kinds: [Vec<u8>; 4] = [
        pcap(PcapKind::Micros, Order::Little, ETHERNET, &all[..10]).0,
        gzip(&pcap(PcapKind::Nanos, Order::Big, ETHERNET, &all[10..20]).0),
        pcapng(Order::Big, RAW, 9, 0, &all[20..40]),
        zstd(&pcapng(Order::Little, ETHERNET, 6, 0, &all[40..])),
    ];
    let endings = ["pcapng", "pcapng.gz", "pcapng", "pcapng.zst"];
    for (number, (bytes, ending)) in kinds.iter().zip(endings).enumerate() {
        let name = format!("ring_{number:05}_2026112312000{number}.{ending}");
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let sequences = sequences(&files(folder.path()));
    assert_eq!(sequences.len(), 1);
    assert_eq!(sequences[0].name, folder.path().join("ring_*.pcapng"));
    let (read, reader) = read(&sequences);
    assert_eq!(read, all);
    assert_eq!(reader.info().link_types, [LinkType(ETHERNET), LinkType(RAW)]);
    let first: Vec<_> = reader.pieces().iter().map(|p| p.first_frame).collect();
    assert_eq!(first, [Some(1), Some(11), Some(21), Some(41)]);
    assert!(
        reader
            .pieces()
            .iter()
            .all(|p| p.problem.is_none() && !p.truncated)
    );
}

#[test]
fn a_bad_piece_costs_only_itself() {
    let all = packets(30);
    let folder = folder_of(&[
        ("r_00001_20261123120000.pcap", &all[..10]),
        ("r_00002_20261123120001.pcap", &all[10..20]),
        ("r_00004_20261123120003.pcap", &all[20..]),
    ]);
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("r_00003_20261123120002.pcap"), "no capture").unwrap();
    let bytes = std::fs::read(path("r_00002_20261123120001.pcap")).unwrap();
    std::fs::write(path("r_00002_20261123120001.pcap"), &bytes[..bytes.len() - 3]).unwrap();
    let sequences = sequences(&files(folder.path()));
    let (read, reader) = read(&sequences);
    assert_eq!(read, [&all[..19], &all[20..]].concat());
    let [_, cut, foreign, _] = reader.pieces() else {
        panic!("{:?}", reader.pieces());
    };
    assert!(cut.truncated && cut.problem.is_none() && cut.packets == 9);
    let problem = foreign.problem.as_ref().unwrap();
    assert!(
        problem.contains("r_00003_20261123120002.pcap is not a capture"),
        "{problem}"
    );
    std::fs::remove_file(path("r_00001_20261123120000.pcap")).unwrap();
    let none = [PieceSequence {
        name: "x".into(),
        files: vec![
            path("r_00001_20261123120000.pcap"),
            path("r_00003_20261123120002.pcap"),
        ],
    }];
    let error = JoinedReader::open(Path::new("x"), &none)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("r_00001_20261123120000.pcap"), "{error}");
}

#[test]
fn a_number_holds_where_the_clock_went_back_and_runs_stay_apart() {
    let all = packets(9);
    let folder = folder_of(&[
        ("r_00001_20261123120000.pcap", &all[..3]),
        ("r_00002_20261123110000.pcap", &shifted(&all[3..6], -3600)),
        ("r_00003_20261123110001.pcap", &shifted(&all[6..], -3600)),
        // Another run of the program, whose first files are gone.
        ("s_00007_20261123120000.pcap", &all[..3]),
        ("s_00002_20261124120000.pcap", &shifted(&all[..3], 86_400)),
        ("s_00003_20261124120001.pcap", &shifted(&all[3..6], 86_400)),
    ]);
    let found = sequences(&files(folder.path()));
    let expected: [&[&str]; 3] = [
        &[
            "r_00001_20261123120000.pcap",
            "r_00002_20261123110000.pcap",
            "r_00003_20261123110001.pcap",
        ],
        &["s_00007_20261123120000.pcap"],
        &["s_00002_20261124120000.pcap", "s_00003_20261124120001.pcap"],
    ];
    assert_eq!(names(&found), expected);
}

#[test]
fn a_ring_of_tcpdump_begins_behind_its_newest_file() {
    let all = packets(40);
    let folder = folder_of(&[
        ("ring.pcap0", &all[20..30]),
        ("ring.pcap1", &all[30..]),
        ("ring.pcap2", &all[..10]),
        ("ring.pcap3", &all[10..20]),
        // tcpdump -C without -W does not number the first file.
        ("c.pcap", &all[..10]),
        ("c.pcap1", &all[10..20]),
        ("c.pcap10", &all[30..]),
        ("c.pcap2", &all[20..30]),
        ("run_1.pcap", &all[..10]),
        ("run_2.pcap", &all[10..]),
    ]);
    let found = sequences(&files(folder.path()));
    let expected: [&[&str]; 4] = [
        &["c.pcap", "c.pcap1", "c.pcap2", "c.pcap10"],
        &["ring.pcap2", "ring.pcap3", "ring.pcap0", "ring.pcap1"],
        &["run_1.pcap"],
        &["run_2.pcap"],
    ];
    assert_eq!(names(&found), expected);
    assert_eq!(read(&found[..1]).0, all);
    assert_eq!(read(&found[1..2]).0, all);
}

#[test]
fn names_with_a_time_are_pieces_where_their_packets_follow_each_other() {
    let all = packets(30);
    let folder = folder_of(&[
        ("gw-20261123-120000.pcap", &all[..10]),
        ("gw-20261123-120001.pcap", &all[10..20]),
        ("gw-20261123-180000.pcap", &shifted(&all[20..], 21_600)),
    ]);
    let found = sequences(&files(folder.path()));
    let expected: [&[&str]; 2] = [
        &["gw-20261123-120000.pcap", "gw-20261123-120001.pcap"],
        &["gw-20261123-180000.pcap"],
    ];
    assert_eq!(names(&found), expected);
}

#[test]
fn sequences_that_overlap_are_merged_by_time() {
    let all = packets(200);
    let every = |n: usize, from: usize| -> Vec<Packet> { all[from..].iter().step_by(n).cloned().collect() };
    let parts: Vec<Vec<Packet>> = (0..3).map(|from| every(3, from)).collect();
    let folder = folder_of(&[
        ("lan.pcap", &parts[0]),
        ("wan_00001_20261123120000.pcap", &parts[1][..30]),
        ("wan_00002_20261123120001.pcap", &parts[1][30..]),
        ("z.pcap", &parts[2]),
    ]);
    let found = sequences(&files(folder.path()));
    assert_eq!(found.len(), 3);
    assert_eq!(read(&found).0, all);
}

#[test]
fn drop_counters_of_a_ring_go_on_and_those_of_others_add_up() {
    let all = packets(4);
    let file = |dropped: u64, packet: &Packet| {
        let mut file = Pcapng::new(Order::Little);
        file.interface_with_clock(ETHERNET, 9, 0);
        file.enhanced(0, packet.time.0 as u64, packet, &[]);
        file.statistics(0, &[(5, &dropped.to_le_bytes())]);
        file.bytes
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, dropped, at) in [
        ("a_00001_20261123120000.pcapng", 3, 0),
        ("a_00002_20261123120001.pcapng", 8, 1),
        ("b.pcapng", 100, 2),
    ] {
        std::fs::write(folder.path().join(name), file(dropped, &all[at])).unwrap();
    }
    let (_, reader) = read(&sequences(&files(folder.path())));
    assert_eq!(reader.info().dropped_reported, Some(108));
    assert_eq!(reader.pieces()[1].last_time, Some(Timestamp(all[1].time.0)));
}
