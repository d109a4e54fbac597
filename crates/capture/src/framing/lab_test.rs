//! The lab's captures against their ground truth, where they are there.

use crate::file::CaptureReader;
use crate::framing::datagram::DatagramKind;
use crate::framing::decoder::Framing;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use rekeyscope_testkit::lab::captures;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

/// `truth.json` rounds its times to a microsecond.
const TRUTH_ROUNDING_NANOS: i64 = 1_000;

#[derive(Debug, PartialEq, Eq, Clone)]
struct Seen {
    src: IpAddr,
    dst: IpAddr,
    in_udp: bool,
    packets: u64,
    ip_bytes: u64,
    esp_bytes: u64,
    first: (u64, Timestamp),
    last: (u64, Timestamp),
}

struct Walked {
    frames: u64,
    ike: u64,
    by_spi: BTreeMap<Spi, Seen>,
    diagnostics: Diagnostics,
}

fn walk(path: &Path) -> Walked {
    let mut reader = CaptureReader::open(path).unwrap();
    let (mut framing, mut diagnostics) = (Framing::default(), Diagnostics::default());
    let (mut frames, mut ike, mut by_spi) = (0, 0, BTreeMap::<Spi, Seen>::new());
    while let Some(frame) = reader.next_frame(&mut diagnostics).unwrap() {
        frames += 1;
        let Some(datagram) = framing.decode(&frame, &mut diagnostics) else {
            continue;
        };
        match datagram.kind {
            DatagramKind::Ike { .. } => ike += 1,
            DatagramKind::TcpSegment(_) => {}
            DatagramKind::Esp { udp, packet } => {
                assert!(!datagram.cut);
                assert_eq!(packet.len(), datagram.wire_len as usize);
                let spi = Spi(u32::from_be_bytes(*packet.first_chunk().unwrap()));
                let at = (datagram.frame, datagram.time);
                let seen = by_spi.entry(spi).or_insert(Seen {
                    src: datagram.src,
                    dst: datagram.dst,
                    in_udp: udp.is_some(),
                    packets: 0,
                    ip_bytes: 0,
                    esp_bytes: 0,
                    first: at,
                    last: at,
                });
                assert_eq!(
                    (seen.src, seen.dst, seen.in_udp),
                    (datagram.src, datagram.dst, udp.is_some())
                );
                seen.packets += 1;
                seen.ip_bytes += u64::from(datagram.outer_bytes);
                seen.esp_bytes += packet.len() as u64;
                seen.last = at;
            }
            DatagramKind::NatKeepalive | DatagramKind::Other(_) => {}
        }
    }
    assert!(!reader.info().truncated);
    Walked {
        frames,
        ike,
        by_spi,
        diagnostics,
    }
}

fn nanos(value: &Value) -> Timestamp {
    Timestamp::default().plus_seconds(value.as_f64().unwrap())
}

/// Seconds in `truth.json` are doubles: near 1.8e9 s one is exact to 0.24 µs, which the rounding to 1 µs includes.
fn assert_near(found: Timestamp, truth: &Value, what: &str) {
    let off = found.nanos_since(nanos(truth)).abs();
    assert!(off <= TRUTH_ROUNDING_NANOS, "{what}: {found} is {off} ns off");
}

#[test]
fn every_esp_packet_of_the_lab_is_found() {
    let folders = captures();
    for folder in &folders {
        let truth = std::fs::read_to_string(folder.join("truth.json")).unwrap();
        let truth: Value = serde_json::from_str(&truth).unwrap();
        let walked = walk(&folder.join("trace.pcap"));
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(
            Some(walked.frames),
            truth["capture"]["packets"].as_u64(),
            "{name}"
        );
        let mut expected = 0;
        for sa in truth["sas"].as_array().unwrap() {
            let capture = &sa["capture"];
            if capture["packets"].as_u64().unwrap_or(0) == 0 {
                continue;
            }
            expected += 1;
            let spi: Spi = sa["spi"].as_str().unwrap().parse().unwrap();
            let what = format!("{name} {spi}");
            let seen = walked
                .by_spi
                .get(&spi)
                .unwrap_or_else(|| panic!("{what} is missing"));
            assert_eq!(Some(seen.packets), capture["packets"].as_u64(), "{what}");
            assert_eq!(Some(seen.ip_bytes), capture["ip_bytes"].as_u64(), "{what}");
            assert_eq!(Some(seen.esp_bytes), capture["esp_bytes"].as_u64(), "{what}");
            assert_eq!(Some(seen.first.0), capture["first_frame"].as_u64(), "{what}");
            assert_eq!(Some(seen.last.0), capture["last_frame"].as_u64(), "{what}");
            assert_near(seen.first.1, &capture["first_t"], &what);
            assert_near(seen.last.1, &capture["last_t"], &what);
            assert_eq!(capture["src"].as_str().unwrap().parse(), Ok(seen.src), "{what}");
            assert_eq!(capture["dst"].as_str().unwrap().parse(), Ok(seen.dst), "{what}");
            assert_eq!(seen.in_udp, capture["encap"] != "ip50", "{what}");
        }
        assert!(expected > 0, "{name}");
        assert_eq!(
            walked.by_spi.len(),
            expected,
            "{name}: SPIs that the truth does not know"
        );
        assert!(walked.ike > 0, "{name}");
        let oddities: Vec<_> = walked.diagnostics.iter().filter(|d| d.kind != "not_ip").collect();
        assert!(oddities.is_empty(), "{name}: {oddities:?}");
    }
    assert!(folders.is_empty() || folders.len() >= 6);
}
