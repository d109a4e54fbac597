//! Link layers and containers do not change the analysis.

use super::*;

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

/// Name and bytes of each container. Times are whole milliseconds, which every resolution can tell.
fn containers(frames: &[Vec<u8>]) -> Vec<(&'static str, Vec<u8>)> {
    let classic = |big: bool, nanos: bool| {
        let word = |w: u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
        let half = |h: u16| if big { h.to_be_bytes() } else { h.to_le_bytes() };
        let mut file = word(if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }).to_vec();
        file.extend([half(2), half(4)].concat());
        for w in [0, 0, 262_144, 1] {
            file.extend(word(w));
        }
        for (n, frame) in frames.iter().enumerate() {
            let fraction = n as u32 * if nanos { 1_000_000 } else { 1_000 };
            for w in [1_800_000_000, fraction, frame.len() as u32, frame.len() as u32] {
                file.extend(word(w));
            }
            file.extend(frame);
        }
        file
    };
    let next_generation = |big: bool, resolution: Option<u8>| {
        let word = |w: u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
        let half = |h: u16| if big { h.to_be_bytes() } else { h.to_le_bytes() };
        let block = |kind: u32, body: &[u8]| {
            let len = word(12 + body.len() as u32);
            [&word(kind)[..], &len, body, &len].concat()
        };
        let mut head = word(0x1a2b_3c4d).to_vec();
        head.extend([half(1), half(0)].concat());
        head.extend([0xff; 8]);
        let mut file = block(0x0a0d_0d0a, &head);
        let mut interface = [half(1), half(0)].concat();
        interface.extend(word(262_144));
        if let Some(exponent) = resolution {
            interface.extend([half(9), half(1)].concat());
            interface.extend([exponent, 0, 0, 0]);
            interface.extend([half(0), half(0)].concat());
        }
        file.extend(block(1, &interface));
        let per_second = 10u64.pow(u32::from(resolution.unwrap_or(6)));
        for (n, frame) in frames.iter().enumerate() {
            let time = 1_800_000_000 * per_second + n as u64 * per_second / 1_000;
            let mut body = Vec::new();
            for w in [
                0,
                (time >> 32) as u32,
                time as u32,
                frame.len() as u32,
                frame.len() as u32,
            ] {
                body.extend(word(w));
            }
            body.extend(frame);
            body.resize(body.len().next_multiple_of(4), 0);
            file.extend(block(6, &body));
        }
        file
    };
    let plain = classic(false, false);
    let gz = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let zst = zstd::encode_all(&plain[..], 1).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(&plain).unwrap();
    vec![
        ("big.pcap", classic(true, false)),
        ("nanos.pcap", classic(false, true)),
        ("big-nanos.pcap", classic(true, true)),
        ("micros.pcapng", next_generation(false, None)),
        ("big.pcapng", next_generation(true, None)),
        ("millis.pcapng", next_generation(false, Some(3))),
        ("nanos.pcapng", next_generation(true, Some(9))),
        ("trace.pcap.gz", gz(&plain)),
        ("trace.pcapng.gz", gz(&next_generation(false, Some(6)))),
        ("trace.pcap.zst", zst),
        ("trace.pcap.lz4", lz4.finish().unwrap()),
        ("trace.pcap", plain),
    ]
}
