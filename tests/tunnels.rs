//! Several clients in one capture: each tunnel is analysed as if it were alone, and `--tunnel` chooses.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use support::lab_of_sample;

const CLIENT: [u8; 4] = [10, 9, 0, 2];
const OTHER_CLIENT: [u8; 4] = [10, 9, 0, 77];
/// Ethernet, then source and destination of IPv4.
const ADDRESSES_AT: [usize; 2] = [26, 30];

/// The records of a pcap file, with their time.
fn records(pcap: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut records = Vec::new();
    let mut rest = &pcap[24..];
    while let Some((head, tail)) = rest.split_first_chunk::<16>() {
        let field = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        let len = field(8) as usize;
        let time = u64::from(field(0)) * 1_000_000_000 + u64::from(field(4));
        records.push((time, [&head[..], &tail[..len]].concat()));
        rest = &tail[len..];
    }
    records
}

/// A synthetic mixture of two real captures of one server: in the second one the client has another address.
fn mixture(folder: &Path) -> (PathBuf, PathBuf) {
    let read = |name: &str| std::fs::read(lab_of_sample(name).capture).unwrap();
    let (first, second) = (read("l2tp_kb_modp1024_down"), read("l2tp_time_down"));
    let mut moved = records(&second);
    for (_, record) in &mut moved {
        for at in ADDRESSES_AT.map(|at| at + 16) {
            if record.get(at..at + 4) == Some(&CLIENT) {
                record[at..at + 4].copy_from_slice(&OTHER_CLIENT);
            }
        }
    }
    let file = |name: &str, records: &[(u64, Vec<u8>)]| {
        let path = folder.join(name);
        let bytes = records.iter().flat_map(|(_, record)| record.iter().copied());
        std::fs::write(&path, first[..24].iter().copied().chain(bytes).collect::<Vec<u8>>()).unwrap();
        path
    };
    let alone = file("alone.pcap", &moved);
    let mut both = records(&first);
    both.extend(moved);
    both.sort_by_key(|(time, _)| *time);
    (file("both.pcap", &both), alone)
}

fn analyze(capture: &Path, tunnel: Option<&str>) -> Result<Value, String> {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    command.arg(capture).args(["--json", "-"]);
    for name in ["l2tp_kb_modp1024_down", "l2tp_time_down"] {
        for keys in lab_of_sample(name).keys {
            command.arg("-k").arg(keys);
        }
    }
    command.args(tunnel.map(|t| ["--tunnel", t]).into_iter().flatten());
    let output = command.output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8(output.stderr).unwrap());
    }
    Ok(serde_json::from_slice(&output.stdout).unwrap())
}

/// What a tunnel's analysis says, without numbers of frames and lists.
fn told(analysis: &Value, tunnel: u64) -> (Vec<Value>, Vec<Value>, Vec<Value>) {
    let of = |list: &str, fields: &[&str]| -> Vec<Value> {
        let entries = analysis[list].as_array().unwrap().iter();
        entries
            .filter(|entry| entry["tunnel"] == tunnel)
            .map(|entry| fields.iter().map(|field| entry[*field].clone()).collect())
            .collect()
    };
    (
        of(
            "security_associations",
            &["spi", "generation", "packets", "outer_bytes", "inner_bytes", "icv", "sequence", "first_time"],
        ),
        of("rekeys", &["old", "new", "trigger", "started", "switched", "gap_ms"]),
        of("impact", &["direction", "verdict", "rekeys", "rekeys_used", "observed_bps", "stall_ms"]),
    )
}

#[test]
fn each_client_is_analysed_as_if_it_were_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (both, alone) = mixture(folder.path());
    let (both_told, alone_told) = (analyze(&both, None).unwrap(), analyze(&alone, None).unwrap());
    assert_eq!(both_told["tunnels"].as_array().unwrap().len(), 2);
    let number = both_told["tunnels"]
        .as_array()
        .unwrap()
        .iter()
        .position(|t| t["a"] == "10.9.0.77" || t["b"] == "10.9.0.77")
        .unwrap();
    let (id, expected) = (number as u64, told(&alone_told, 0));
    assert!(expected.0.len() > 10 && expected.1.len() > 5 && expected.2.len() == 2);
    assert_eq!(told(&both_told, id), expected);
    for choice in [number.to_string(), "10.9.0.77".to_owned()] {
        let chosen = analyze(&both, Some(&choice)).unwrap();
        assert_eq!(told(&chosen, id), expected, "{choice}");
        let (others, rekeys, _) = told(&chosen, 1 - id);
        assert!(others.is_empty() && rekeys.is_empty(), "{choice}");
        assert_eq!(chosen["overhead"], alone_told["overhead"], "{choice}");
    }
    let refused = analyze(&both, Some("10.9.0.5")).unwrap_err();
    assert!(refused.contains("choose one of 0 (10.9.0."), "{refused}");
}
