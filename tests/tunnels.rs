//! Several clients in one capture: each tunnel is analysed as if it were alone, and `--tunnel` chooses; also one inside another's
//! ESP.

use crate::support::lab_of_sample;
use rekeyscope_testkit::carried::{A, B};
use rekeyscope_testkit::containers::{LINKTYPE_RAW, pcap_of};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::ipv4;
use serde_json::Value;
use std::path::{Path, PathBuf};

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

/// Bytes of the record header and of the Ethernet header behind it.
const HEADERS: (usize, usize) = (16, 14);
/// SA around the second client, where it is inside another's ESP.
const AROUND_SPI: u32 = 0xc0de_0001;
const AROUND_KEYS: &str = "around.esp_sa";
const PROTOCOL_ESP: u8 = 50;
const NEXT_HEADER_IPV4: u8 = 4;

/// The records with each packet inside a **synthetic** ESP tunnel.
fn inside_esp(suite: &Suite, records: &[(u64, Vec<u8>)]) -> Vec<(u64, Vec<u8>)> {
    let wrapped = |((time, record), number): (&(u64, Vec<u8>), u64)| {
        let (head, frame) = record.split_at(HEADERS.0);
        let (ethernet, packet) = frame.split_at(HEADERS.1);
        let esp = suite.seal(AROUND_SPI, number, false, NEXT_HEADER_IPV4, packet);
        let frame = [ethernet, &ipv4(A, B, PROTOCOL_ESP, &esp)].concat();
        let len = u32::try_from(frame.len()).unwrap().to_le_bytes();
        (*time, [&head[..8], &len, &len, &frame].concat())
    };
    records.iter().zip(1..).map(wrapped).collect()
}

/// A synthetic mixture of two real captures of one server: in the second one the client has another address, and is inside
/// the ESP of `around` where that is given.
fn mixture(folder: &Path, around: Option<&Suite>) -> (PathBuf, PathBuf) {
    let read = |name: &str| std::fs::read(lab_of_sample(name).capture).unwrap();
    let (first, second) = (read("l2tp_kb_modp1024_down"), read("l2tp_time_down"));
    let mut moved = records(&second);
    for (_, record) in &mut moved {
        for at in ADDRESSES_AT.map(|at| at + HEADERS.0) {
            if record.get(at..at + 4) == Some(&CLIENT) {
                record[at..at + 4].copy_from_slice(&OTHER_CLIENT);
            }
        }
    }
    // The capture has records out of order: alone as in the mixture they come by time.
    moved.sort_by_key(|(time, _)| *time);
    let file = |name: &str, records: &[(u64, Vec<u8>)]| {
        let path = folder.join(name);
        let bytes = records.iter().flat_map(|(_, record)| record.iter().copied());
        std::fs::write(
            &path,
            first[..24].iter().copied().chain(bytes).collect::<Vec<u8>>(),
        )
        .unwrap();
        path
    };
    let alone = file("alone.pcap", &moved);
    let mut both = records(&first);
    match around {
        Some(suite) => both.extend(inside_esp(suite, &moved)),
        None => both.extend(moved),
    }
    both.sort_by_key(|(time, _)| *time);
    (file("both.pcap", &both), alone)
}

/// With the keys of both captures, and those beside the capture that were made here.
fn command(capture: &Path) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    command.arg(capture);
    for name in ["l2tp_kb_modp1024_down", "l2tp_time_down"] {
        for keys in lab_of_sample(name).keys {
            command.arg("-k").arg(keys);
        }
    }
    let around = capture.with_file_name(AROUND_KEYS);
    if around.exists() {
        command.arg("-k").arg(around);
    }
    command
}

fn analyze(capture: &Path, tunnel: Option<&str>) -> Result<Value, String> {
    let mut command = command(capture);
    command.args(["--json", "-"]);
    command.args(tunnel.map(|t| ["--tunnel", t]).into_iter().flatten());
    let output = command.output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8(output.stderr).unwrap());
    }
    Ok(serde_json::from_slice(&output.stdout).unwrap())
}

/// Lists of the document that are about tunnels, with what of them does not count frames or places.
const TOLD: [(&str, &[&str]); 5] = [
    (
        "security_associations",
        &[
            "spi",
            "generation",
            "packets",
            "outer_bytes",
            "inner_bytes",
            "icv",
            "sequence",
            "first_time",
        ],
    ),
    (
        "rekeys",
        &["number", "old", "new", "trigger", "started", "switched", "gap_ms"],
    ),
    (
        "impact",
        &[
            "direction",
            "verdict",
            "rekeys",
            "rekeys_used",
            "observed_bps",
            "stall_ms",
        ],
    ),
    (
        "exchanges",
        &[
            "kind",
            "message_id",
            "messages",
            "first_time",
            "decrypted",
            "spis",
            "deletes",
        ],
    ),
    ("ike_sas", &["initiator_spi", "responder_spi", "first_time"]),
];

/// What a tunnel's analysis says, by list.
fn told(analysis: &Value, tunnel: u64) -> Vec<Vec<Value>> {
    let of = |(list, fields): (&str, &[&str])| -> Vec<Value> {
        let entries = analysis[list].as_array().unwrap().iter();
        entries
            .filter(|entry| entry["tunnel"] == tunnel)
            .map(|entry| fields.iter().map(|field| entry[*field].clone()).collect())
            .collect()
    };
    TOLD.map(of).into()
}

/// The number of the tunnel with this end.
fn number_of(analysis: &Value, end: &str) -> u64 {
    let mut tunnels = analysis["tunnels"].as_array().unwrap().iter().zip(0..);
    let found = tunnels.find(|(t, _)| t["a"] == end || t["b"] == end);
    found.unwrap().1
}

/// Every place that the document refers to is that of an entry of the same tunnel.
fn assert_places(analysis: &Value) {
    let exchanges = analysis["exchanges"].as_array().unwrap();
    for (exchange, place) in exchanges.iter().zip(0u64..) {
        assert_eq!(exchange["index"], place);
        let ike_sa = exchange["ike_sa"].as_u64().unwrap() as usize;
        assert_eq!(analysis["ike_sas"][ike_sa]["tunnel"], exchange["tunnel"]);
    }
    for rekey in analysis["rekeys"].as_array().unwrap() {
        let exchange = &exchanges[rekey["exchange"].as_u64().unwrap() as usize];
        assert_eq!(exchange["tunnel"], rekey["tunnel"]);
    }
}

/// What was chosen is analysed as in a capture of its own, and nothing else is told.
fn assert_chosen(both: &Path, id: u64, choice: &str, alone: &Value) {
    let chosen = analyze(both, Some(choice)).unwrap();
    assert_eq!(told(&chosen, id), told(alone, 0), "{choice}");
    for list in ["/flows", "/series/tunnels"] {
        let entries = |analysis: &Value| analysis.pointer(list).unwrap().as_array().unwrap().len();
        assert_eq!(entries(&chosen), entries(alone), "{choice}: {list}");
    }
    for other in (0..chosen["tunnels"].as_array().unwrap().len() as u64).filter(|other| *other != id) {
        assert!(
            told(&chosen, other).iter().all(Vec::is_empty),
            "{choice}: {other}"
        );
    }
    assert_eq!(chosen["overhead"], alone["overhead"], "{choice}");
    assert_places(&chosen);
}

#[test]
fn each_client_is_analysed_as_if_it_were_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (both, alone) = mixture(folder.path(), None);
    let (both_told, alone_told) = (analyze(&both, None).unwrap(), analyze(&alone, None).unwrap());
    assert_eq!(both_told["tunnels"].as_array().unwrap().len(), 2);
    let id = number_of(&both_told, "10.9.0.77");
    let expected = told(&alone_told, 0);
    assert!(expected[0].len() > 10 && expected[1].len() > 5 && expected[2].len() == 2);
    assert!(expected[3].len() > 5 && !expected[4].is_empty());
    assert_eq!(told(&both_told, id), expected);
    assert_places(&both_told);
    for choice in [id.to_string(), "10.9.0.77".to_owned()] {
        assert_chosen(&both, id, &choice, &alone_told);
    }
    let quieter = number_of(&both_told, "10.9.0.2");
    assert_eq!(both_told["impact"][0]["tunnel"], quieter, "its rekeys hurt");
    let text = command(&both).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("10.9.0.2: 5 of 7 rekeys"), "{text}");
    let refused = analyze(&both, Some("10.9.0.5")).unwrap_err();
    assert!(refused.contains("choose one of 0 (10.9.0."), "{refused}");
}

/// The second client's packets come inside another tunnel's ESP: without a choice and with one it is analysed as if it were
/// alone, and the tunnel around it is told of only without.
#[test]
fn a_client_inside_another_tunnel_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::aes_sha1(3);
    let (both, alone) = mixture(folder.path(), Some(&suite));
    std::fs::write(folder.path().join(AROUND_KEYS), suite.esp_sa_row(AROUND_SPI)).unwrap();
    let (all, alone_told) = (analyze(&both, None).unwrap(), analyze(&alone, None).unwrap());
    assert_eq!(all["tunnels"].as_array().unwrap().len(), 3);
    let id = number_of(&all, "10.9.0.77");
    assert_eq!(told(&all, id), told(&alone_told, 0));
    assert_chosen(&both, id, "10.9.0.77", &alone_told);
    // Without its key there is nothing inside to choose.
    std::fs::remove_file(folder.path().join(AROUND_KEYS)).unwrap();
    let refused = analyze(&both, Some("10.9.0.77")).unwrap_err();
    assert!(refused.contains("where the keys of that are known"), "{refused}");
}

/// The first screen of a report with a full table says how many packets were not analysed; a synthetic flood of each.
#[test]
fn the_first_screen_says_how_much_was_not_analysed() {
    const MOST_TUNNELS: u32 = 4_096;
    const MOST_SAS: u32 = 20_480;
    let esp = |spi: u32| [&spi.to_be_bytes()[..], &[0, 0, 0, 1], &[0xa5; 40]].concat();
    let of_a_client = |n: u32| ipv4((0x0a00_0000 + n).to_be_bytes(), B, PROTOCOL_ESP, &esp(7));
    let of_an_sa = |n: u32| ipv4(A, B, PROTOCOL_ESP, &esp(0x1000 + n));
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("flood.pcap");
    let floods: [(u32, &dyn Fn(u32) -> Vec<u8>); 2] = [(MOST_TUNNELS, &of_a_client), (MOST_SAS, &of_an_sa)];
    for (most, packet) in floods {
        for (beyond, said) in [
            (0, None),
            (104, Some(format!("Not analysed: 104 of {} packets", most + 104))),
        ] {
            let frames: Vec<Vec<u8>> = (0..most + beyond).map(packet).collect();
            std::fs::write(&capture, pcap_of(LINKTYPE_RAW, &frames)).unwrap();
            let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
            command
                .env("LC_ALL", "C")
                .env("COLUMNS", "120")
                .arg(&capture)
                .arg("--no-keys");
            let output = command.output().unwrap();
            let screen = String::from_utf8(output.stdout).unwrap().replace(',', "");
            let found = screen.lines().take(24).find(|line| line.contains("Not analysed"));
            match said {
                Some(said) => assert!(found.is_some_and(|line| line.contains(&said)), "{screen}"),
                None => assert_eq!(found, None, "{most}"),
            }
        }
    }
}
