//! Files that are hardly captures, and captures that hold hardly anything: a useful sentence, the right exit status, never a
//! wrong one. All **synthetic**.

use crate::support::ipsec;
use assert_cmd::Command;
use rekeyscope_testkit::carried::{A, B, inner_ip};
use rekeyscope_testkit::containers::{LINKTYPE_RAW, Order, Packet, pcap_of, pcapng};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::{ipv4, udp};

const SPI: u32 = 0xc0de_0001;

/// Exit status, standard output, standard error.
fn run(bytes: &[u8], arguments: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.pcap");
    std::fs::write(&path, bytes).unwrap();
    let output = Command::cargo_bin("rekeyscope")
        .unwrap()
        .env_remove("NO_COLOR")
        .env("LC_ALL", "C")
        .arg(&path)
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\n', " ");
    let status = output.status.code().expect("it ends by itself");
    assert!(!text(&output.stderr).contains("panicked"));
    (status, text(&output.stdout), text(&output.stderr))
}

fn esp(n: u32) -> Vec<u8> {
    ipv4(
        A,
        B,
        50,
        &Suite::aes_sha1(3).seal(SPI, u64::from(n) + 1, false, 4, &inner_ip(n, 400)),
    )
}

fn ike(exchange: u8, version: u8) -> Vec<u8> {
    let mut message = b"initiateresponds".to_vec();
    message.extend([33, version, exchange, 8, 0, 0, 0, 1]);
    message.extend(60u32.to_be_bytes());
    message.resize(60, 0);
    ipv4(A, B, 17, &udp(500, 500, &message))
}

fn assert_says(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

#[test]
fn files_of_a_few_bytes_are_errors() {
    let whole = pcap_of(LINKTYPE_RAW, &[esp(0)]);
    for len in 1..24 {
        let (status, _, errors) = run(&whole[..len], &[]);
        assert_eq!(status, 1, "{len} bytes");
        let says = if len < 4 { "is not a capture" } else { "the first" };
        assert_says(&errors, says);
    }
    let (status, _, errors) = run(
        &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a],
        &[],
    );
    assert_eq!(status, 1);
    assert_says(&errors, "the first 12 bytes of a pcapng file");
    let (status, _, errors) = run(&[], &[]);
    assert_eq!(status, 1);
    assert_says(&errors, "is empty");
}

#[test]
fn a_header_without_packets_is_analysed() {
    let (status, report, _) = run(&pcap_of(LINKTYPE_RAW, &[]), &[]);
    assert_eq!(status, 0);
    assert_says(&report, "no packets");
}

/// Capture formats that no kept crate reads are refused with the way out.
#[test]
fn other_capture_formats_name_the_converter() {
    let snoop = [&b"snoop\0\0\0\0\0\0\x02\0\0\0\x04"[..], &[0; 64]].concat();
    // An ERF record: a 64-bit time stamp, type 2 (Ethernet), flags, lengths.
    let erf = [
        &[
            0x11, 0x22, 0x33, 0x44, 0x9a, 0xbc, 0xde, 0x50, 2, 4, 0, 80, 0, 0, 0, 60,
        ][..],
        &[7; 64],
    ]
    .concat();
    for (name, bytes) in [("snoop", snoop), ("ERF", erf)] {
        let (status, _, errors) = run(&bytes, &[]);
        assert_eq!(status, 1, "{name}");
        assert_says(&errors, name);
        assert_says(&errors, "editcap -F pcapng");
    }
}

#[test]
fn damage_is_not_called_a_cut() {
    let mut file = pcap_of(LINKTYPE_RAW, &(0..20).map(esp).collect::<Vec<_>>());
    let record = 16 + esp(0).len();
    // The length of the eleventh record.
    let at = 24 + 10 * record + 8;
    file[at..at + 4].copy_from_slice(&[0xff; 4]);
    let (status, _, notes) = run(&file, &[]);
    assert_eq!(status, 0);
    assert_says(&notes, "is damaged");
    assert!(!notes.contains("middle of a record"), "{notes}");
    let cut = pcap_of(LINKTYPE_RAW, &(0..20).map(esp).collect::<Vec<_>>());
    let (status, _, notes) = run(&cut[..cut.len() - 100], &[]);
    assert_eq!(status, 0);
    assert_says(&notes, "middle of a record");
}

/// Whatever is given, keys do not help where packets are cut.
#[test]
fn packets_cut_by_the_snap_length_are_called_cut() {
    let frames: Vec<Vec<u8>> = (0..30).map(esp).collect();
    let mut file = pcap_of(LINKTYPE_RAW, &[])[..24].to_vec();
    for (n, frame) in frames.iter().enumerate() {
        for word in [1_800_000_000, n as u32 * 1_000, 68, frame.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(&frame[..68]);
    }
    let (status, _, notes) = run(&file, &[]);
    assert_eq!(status, 0);
    assert_says(&notes, "cut by the snap length");
    assert!(!notes.contains("--keys"), "{notes}");
}

#[test]
fn ike_without_esp_is_not_called_no_tunnel() {
    for (exchange, version) in [(34, 0x20), (2, 0x10), (4, 0x10), (243, 0x10)] {
        let (status, report, notes) = run(&pcap_of(LINKTYPE_RAW, &[ike(exchange, version)]), &[]);
        assert_eq!(status, 0);
        assert!(!report.contains("No IPsec tunnel"), "{report}");
        assert_says(&report, "IKE but no ESP");
        assert_eq!(notes, "", "the report says it");
    }
}

#[test]
fn few_packets_make_no_verdict_and_no_panic() {
    let keys = Suite::aes_sha1(3).esp_sa_row(SPI);
    let folder = tempfile::tempdir().unwrap();
    let key_file = folder.path().join("esp_sa");
    std::fs::write(&key_file, keys).unwrap();
    let with_keys = ["--keys", key_file.to_str().unwrap()];
    for packets in 1..6 {
        // One direction only, no IKE.
        let file = pcap_of(LINKTYPE_RAW, &(0..packets).map(esp).collect::<Vec<_>>());
        for arguments in [&[][..], &with_keys] {
            let (status, report, _) = run(&file, &[arguments, &["--json", "-"]].concat());
            assert_eq!(status, 0, "{packets}");
            let document: serde_json::Value = serde_json::from_str(&report).unwrap();
            for impact in document["impact"].as_array().unwrap() {
                let verdict = impact["verdict"].as_str().unwrap();
                assert!(
                    matches!(verdict, "no_rekeys" | "no_traffic"),
                    "{packets}: {verdict}"
                );
            }
        }
    }
}

#[test]
fn ah_alone_is_said() {
    let ah = [
        &[6, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1][..],
        &[0xaa; 12],
        &[0x50; 40],
    ]
    .concat();
    let (status, _, notes) = run(&pcap_of(LINKTYPE_RAW, &[ipv4(A, B, 51, &ah)]), &[]);
    assert_eq!(status, 0);
    assert_says(&notes, "AH");
}

#[test]
fn another_esp_port_on_request() {
    let esp = Suite::aes_sha1(3).seal(SPI, 1, false, 4, &inner_ip(0, 400));
    let file = pcap_of(LINKTYPE_RAW, &[ipv4(A, B, 17, &udp(40_000, 10_000, &esp))]);
    let esp_packets = |arguments: &[&str]| {
        let (_, report, _) = run(&file, &[&["--json", "-"], arguments].concat());
        let document: serde_json::Value = serde_json::from_str(&report).unwrap();
        document["capture"]["esp_packets"].clone()
    };
    assert_eq!(esp_packets(&[]), 0);
    assert_eq!(esp_packets(&["--esp-port", "10000"]), 1);
}

/// Every byte of small captures changed once: no panic, no wrong exit.
/// Times at random over 136 years, and at the ends of what a clock can say: sums of them stay numbers, and nothing is walked over
/// once for each packet. (This took for ever.)
#[test]
fn times_of_centuries_come_to_an_end() {
    let mut random = 88_172_645_463_325_252_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let packet = |(n, time): (u32, i64)| Packet::new(time, esp(n));
    let mut frames = |count: u32, largest: u64| -> Vec<Packet> {
        let time = |n| {
            (
                n,
                ((next() % largest) * 1_000_000_000).min(i64::MAX as u64) as i64,
            )
        };
        (0..count).map(time).map(packet).collect()
    };
    for (count, largest) in [(20_000, 1 << 32), (2_000, 1 << 33)] {
        let capture = pcapng(Order::Little, LINKTYPE_RAW, 9, 0, &frames(count, largest));
        let (status, said, _) = run(&capture, &["-q"]);
        assert_eq!(status, 0, "{said}");
    }
}

#[test]
fn changed_bytes_never_stop_it() {
    let frames = [ike(34, 0x20), ike(2, 0x10), esp(0), esp(1)];
    let suite = Suite::aes_sha1(3);
    for at in 0..frames.iter().map(Vec::len).sum::<usize>() {
        let (mut left, mut changed) = (at, frames.to_vec());
        for frame in &mut changed {
            if left < frame.len() {
                frame[left] ^= 0x5a;
                break;
            }
            left -= frame.len();
        }
        let analysis = ipsec::analyze_frames(LINKTYPE_RAW, &changed, &suite.esp_sa_row(SPI));
        assert_eq!(analysis.capture.packets, 4);
    }
}
