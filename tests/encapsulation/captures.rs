//! Link layers and containers do not change the analysis.

use super::*;
use rekeyscope_model::time::NANOS_PER_MILLI;
use rekeyscope_testkit::containers::Order::{Big, Little};
use rekeyscope_testkit::containers::PcapKind::{Micros, Nanos};
use rekeyscope_testkit::containers::{Packet, Pcapng, gzip, lz4, pcap, ticks, zstd};

/// Every link type, and what lies between it and IP.
#[test]
fn link_layers_do_not_change_the_analysis() {
    let suite = Suite::aes_sha1(3);
    let raw = sealed(&suite, 4, |n| inner_ip(n, SEGMENT));
    let prefixed = |prefix: &[u8]| -> Vec<Vec<u8>> { raw.iter().map(|p| [prefix, p].concat()).collect() };
    let mac = [2u8, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    let on = |tail: &[u8]| prefixed(&[&mac[..], tail].concat());
    let pppoe: Vec<Vec<u8>> = raw
        .iter()
        .map(|p| ethernet(0x8864, &pppoe_like(&[&[0, 0x21][..], p].concat())))
        .collect();
    let nflog: Vec<Vec<u8>> = raw
        .iter()
        .map(|p| {
            let attribute = ((p.len() + 4) as u16).to_le_bytes();
            [&[2, 0, 0, 0][..], &attribute, &[9, 0], p].concat()
        })
        .collect();
    let wifi = [
        0x08, 0x01, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 0, 0,
    ];
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let cases: Vec<(&str, u16, Vec<Vec<u8>>)> = vec![
        ("raw", LINKTYPE_RAW, raw.clone()),
        ("Ethernet", LINKTYPE_ETHERNET, on(&[8, 0])),
        ("VLAN", LINKTYPE_ETHERNET, on(&[0x81, 0, 0, 5, 8, 0])),
        (
            "QinQ",
            LINKTYPE_ETHERNET,
            on(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 5, 8, 0]),
        ),
        (
            "MPLS",
            LINKTYPE_ETHERNET,
            on(&[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]),
        ),
        ("PPPoE", LINKTYPE_ETHERNET, pppoe),
        (
            "Broadcom tag of older switches",
            LINKTYPE_ETHERNET,
            on(&[0x88, 0x74, 0, 1, 0, 8, 8, 0]),
        ),
        ("Broadcom tag", 281, on(&[0, 1, 0, 8, 8, 0])),
        (
            "Broadcom tag in front",
            282,
            prefixed(&[&[0, 1, 0, 8][..], &mac, &[8, 0]].concat()),
        ),
        (
            "SLL",
            113,
            prefixed(&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0]),
        ),
        (
            "SLL2",
            276,
            prefixed(&[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]),
        ),
        ("null, little-endian", 0, prefixed(&[2, 0, 0, 0])),
        ("null, big-endian", 0, prefixed(&[0, 0, 0, 2])),
        ("loop", 108, prefixed(&[0, 0, 0, 2])),
        ("PPP", 9, prefixed(&[0xff, 3, 0, 0x21])),
        ("PPP, PFC and ACFC", 9, prefixed(&[0x21])),
        ("IEEE 802.11", 105, prefixed(&[&wifi[..], &snap].concat())),
        (
            "radiotap",
            127,
            prefixed(&[&[0, 0, 8, 0, 0, 0, 0, 0][..], &wifi, &snap].concat()),
        ),
        ("nflog", 239, nflog),
    ];
    let bare = |mut analysis: Analysis| {
        // What the container and the link say of themselves may differ, nothing else.
        analysis.capture.bytes = 0;
        analysis.capture.link_types.clear();
        serde_json::to_value(&analysis).unwrap()
    };
    let expected = bare(analyze_frames(LINKTYPE_RAW, &raw, &suite.esp_sa_row(SPI)));
    for (name, link_type, frames) in cases {
        let analysis = bare(analyze_frames(link_type, &frames, &suite.esp_sa_row(SPI)));
        assert_eq!(analysis, expected, "{name}");
    }
}

/// The same packets in every container: byte order, resolution, pcap and pcapng, compressed or not.
#[test]
fn containers_do_not_change_the_analysis() {
    let suite = Suite::aes_sha1(3);
    let frames: Vec<Vec<u8>> = sealed(&suite, 4, |n| inner_ip(n, SEGMENT))
        .iter()
        .map(|p| ethernet(0x0800, p))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut seen: Option<serde_json::Value> = None;
    for (name, bytes) in containers(&frames) {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let mut keys = rekeyscope_keylog::KeyMaterial::default();
        keys.read_bytes("keys".as_ref(), suite.esp_sa_row(SPI).as_bytes());
        let mut analyzer = rekeyscope::pipeline::Analyzer::new(Options::default(), keys);
        let mut reader = rekeyscope_capture::file::CaptureReader::open(&path).unwrap();
        let mut notes = rekeyscope_model::diagnostic::Diagnostics::default();
        while let Some(frame) = reader.next_frame(&mut notes).unwrap() {
            analyzer.push(&frame);
        }
        analyzer.diagnostics_mut().absorb(notes);
        let asked = rekeyscope::assembly::Asked::of("capture");
        let mut analysis = rekeyscope::assembly::assemble(&analyzer.finish(), reader.info(), &asked);
        analysis.capture.format = rekeyscope_model::analysis::CaptureFormat::Pcap;
        let value = serde_json::to_value(&analysis).unwrap();
        assert_eq!(&value, seen.get_or_insert_with(|| value.clone()), "{name}");
    }
}

/// Packets are those that capinfos counts; frames are numbered as by tshark, which lists custom blocks and journal entries among
/// them. A simple packet is a packet.
#[test]
fn blocks_without_a_packet_take_a_number_and_are_no_packets() {
    let frames = sealed(&Suite::aes_sha1(3), 4, |n| inner_ip(n, SEGMENT));
    let packet = |n: usize| {
        Packet::new(
            (1_800_000_000_000 + n as i64) * NANOS_PER_MILLI,
            ethernet(0x0800, &frames[n]),
        )
    };
    let enterprise = 32_473_u32.to_le_bytes();
    for order in [Little, Big] {
        let mut file = Pcapng::new(order);
        file.interface(LINKTYPE_ETHERNET, 0, &[(9, &[9])]);
        file.block(0x0bad, &enterprise);
        file.enhanced(0, ticks(packet(0).time, 9, 0), &packet(0), &[]);
        file.simple(&packet(1));
        file.block(0x4000_0bad, &[&enterprise[..], b"more"].concat());
        file.block(9, b"__REALTIME_TIMESTAMP=1800000000000000\nMESSAGE=up\n");
        file.obsolete(0, 0, ticks(packet(2).time, 9, 0), &packet(2));
        // Neither a frame nor a packet.
        file.block(0x7777_7777, b"unknown");
        file.enhanced(0, ticks(packet(3).time, 9, 0), &packet(3), &[]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blocks.pcapng");
        std::fs::write(&path, &file.bytes).unwrap();
        let mut reader = rekeyscope_capture::file::CaptureReader::open(&path).unwrap();
        let mut notes = rekeyscope_model::diagnostic::Diagnostics::default();
        let mut numbers = Vec::new();
        while let Some(frame) = reader.next_frame(&mut notes).unwrap() {
            numbers.push(frame.number.to_string());
        }
        assert_eq!(numbers, ["2", "3", "6", "7"], "{order:?}");
        let name = path.to_str().unwrap();
        let told = |program: &str, arguments: &[&str]| {
            let output = std::process::Command::new(program)
                .args(arguments)
                .output()
                .ok()?;
            assert!(output.status.success(), "{program} {order:?}");
            Some(String::from_utf8(output.stdout).unwrap())
        };
        let fields = [
            "-n",
            "-r",
            name,
            "-Y",
            "eth",
            "-T",
            "fields",
            "-e",
            "frame.number",
        ];
        let Some((packets, theirs)) = told("capinfos", &["-Mc", name]).zip(told("tshark", &fields)) else {
            println!("skipped: capinfos or tshark is not installed");
            return;
        };
        assert_eq!(packets.split_whitespace().last(), Some("4"), "{packets}");
        assert_eq!(
            theirs.split_whitespace().collect::<Vec<_>>(),
            numbers,
            "{order:?}"
        );
    }
}

/// Name and bytes of each container. Times are whole milliseconds, which every resolution can tell.
fn containers(frames: &[Vec<u8>]) -> Vec<(&'static str, Vec<u8>)> {
    let packet =
        |(frame, n): (&Vec<u8>, i64)| Packet::new((1_800_000_000_000 + n) * NANOS_PER_MILLI, frame.clone());
    let packets: Vec<Packet> = frames.iter().zip(0..).map(packet).collect();
    let classic = |order, kind| pcap(kind, order, LINKTYPE_ETHERNET, &packets).0;
    let next_generation = |order, resolution: Option<u8>| {
        let mut file = Pcapng::new(order);
        let exponent = resolution.unwrap_or(6);
        let said: &[(u16, &[u8])] = &[(9, &[exponent])];
        file.interface(
            LINKTYPE_ETHERNET,
            262_144,
            if resolution.is_some() { said } else { &[] },
        );
        for packet in &packets {
            file.enhanced(0, ticks(packet.time, exponent, 0), packet, &[]);
        }
        file.bytes
    };
    let plain = classic(Little, Micros);
    vec![
        ("big.pcap", classic(Big, Micros)),
        ("nanos.pcap", classic(Little, Nanos)),
        ("big-nanos.pcap", classic(Big, Nanos)),
        ("micros.pcapng", next_generation(Little, None)),
        ("big.pcapng", next_generation(Big, None)),
        ("millis.pcapng", next_generation(Little, Some(3))),
        ("nanos.pcapng", next_generation(Big, Some(9))),
        ("trace.pcap.gz", gzip(&plain)),
        ("trace.pcapng.gz", gzip(&next_generation(Little, Some(6)))),
        ("trace.pcap.zst", zstd(&plain)),
        ("trace.pcap.lz4", lz4(&plain)),
        ("trace.pcap", plain),
    ]
}
