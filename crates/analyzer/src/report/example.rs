//! Synthetic documents for the tests of the reports: every figure in here is made up, none was measured.

mod edge;
mod traffic;
mod verdict;

pub(crate) use edge::{all, hostile};

use crate::analysis::*;
use crate::spi::{IkeSpi, Spi};
use crate::time::Timestamp;
use std::net::IpAddr;
use traffic::{Noise, around, mean_rekey, series};
use verdict::{impact, projection};

/// What a synthetic document looks like.
pub(crate) struct Shape {
    pub(crate) tunnels: usize,
    pub(crate) rekeys: usize,
    pub(crate) seconds: f64,
    pub(crate) bin_ms: f64,
    /// Every n-th rekey stalls; 0: none.
    pub(crate) hurt_every: usize,
    pub(crate) keys: bool,
    pub(crate) traffic: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            tunnels: 1,
            rekeys: 7,
            seconds: 30.0,
            bin_ms: 10.0,
            hurt_every: 3,
            keys: true,
            traffic: true,
        }
    }
}

/// 20 November 2026, 20:11:49 UTC.
const START: Timestamp = Timestamp(1_795_205_509_000_000_000);
/// The rate between the stalls.
const RATE_BPS: f64 = 8.85e6;

/// Seven volume rekeys in 30 s, two of them hurt.
pub(crate) fn seven_rekeys() -> Analysis {
    build(&Shape::default())
}

/// A whole synthetic document.
pub(crate) fn build(shape: &Shape) -> Analysis {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut document = empty();
    document.capture = capture(shape);
    document.series.bin_ms = shape.bin_ms;
    for tunnel in 0..shape.tunnels {
        document.tunnels.push(tunnel_of(tunnel));
        add_tunnel(&mut document, shape, tunnel, &mut noise);
    }
    document.key_files = key_files(shape.keys);
    document.findings = findings();
    document.diagnostics = diagnostics();
    if shape.keys {
        document.overhead.push(overhead());
    }
    document
}

/// A capture without a single packet.
pub(crate) fn empty() -> Analysis {
    Analysis {
        schema_version: SCHEMA_VERSION,
        generator: Generator {
            name: "rekeyscope".into(),
            version: "0.1.0".into(),
        },
        capture: Capture {
            path: "empty.pcap".into(),
            format: CaptureFormat::Pcap,
            link_types: Vec::new(),
            packets: 0,
            bytes: 0,
            first_time: None,
            last_time: None,
            duration_s: None,
            truncated_file: false,
            cut_packets: 0,
            dropped_reported: None,
            duplicates: 0,
            time_regressions: 0,
            ike_packets: 0,
            esp_packets: 0,
            offload_suspected: false,
        },
        tunnels: Vec::new(),
        ike_sas: Vec::new(),
        exchanges: Vec::new(),
        security_associations: Vec::new(),
        rekeys: Vec::new(),
        trigger_rules: Vec::new(),
        flows: Vec::new(),
        impact: Vec::new(),
        mean_rekey: Vec::new(),
        projection: Vec::new(),
        findings: Vec::new(),
        overhead: Vec::new(),
        series: Series {
            bin_ms: 10.0,
            tunnels: Vec::new(),
            around_rekeys: Vec::new(),
        },
        diagnostics: Vec::new(),
        key_files: Vec::new(),
    }
}

fn at(seconds: f64) -> Timestamp {
    START.plus_seconds(seconds)
}

fn capture(shape: &Shape) -> Capture {
    let packets = if shape.traffic {
        (shape.seconds * 1240.0) as u64
    } else {
        12
    };
    Capture {
        path: "traces/synthetic-l2tp-download.pcapng".into(),
        format: CaptureFormat::Pcapng,
        link_types: vec!["Ethernet".into()],
        packets,
        bytes: packets * 1012,
        first_time: Some(at(0.0)),
        last_time: Some(at(shape.seconds)),
        duration_s: Some(shape.seconds),
        truncated_file: false,
        cut_packets: 0,
        dropped_reported: Some(0),
        duplicates: 3,
        time_regressions: 0,
        ike_packets: 9 + 3 * shape.rekeys as u64,
        esp_packets: packets.saturating_sub(40),
        offload_suspected: false,
    }
}

fn tunnel_of(id: usize) -> Tunnel {
    Tunnel {
        id,
        a: IpAddr::from([10, 9, (id / 200) as u8, 2 + (id % 200) as u8]),
        b: IpAddr::from([10, 9, 255, 1]),
        encapsulation: if id.is_multiple_of(2) {
            Encapsulation::Esp
        } else {
            Encapsulation::Udp
        },
        ike_version: Some(1),
        nat: !id.is_multiple_of(2),
    }
}

/// When rekey `k` starts, and how long its exchange and its stall take, seconds.
fn moment(shape: &Shape, k: usize) -> (f64, f64, f64) {
    let start = shape.seconds * (k as f64 + 1.0) / (shape.rekeys as f64 + 1.0);
    let hurt = shape.hurt_every > 0 && k % shape.hurt_every == 1;
    let stall = if hurt { 0.12 + 0.09 * (k % 4) as f64 } else { 0.0 };
    (start, 0.043 + 0.004 * (k % 5) as f64, stall)
}

fn add_tunnel(document: &mut Analysis, shape: &Shape, tunnel: usize, noise: &mut Noise) {
    let (a, b) = (document.tunnels[tunnel].a, document.tunnels[tunnel].b);
    document.ike_sas.push(IkeSa {
        tunnel,
        initiator_spi: IkeSpi([tunnel as u8 + 1; 8]),
        responder_spi: Some(IkeSpi([0xb0; 8])),
        ike_version: 1,
        key: key(shape.keys, "keys.ikev1:1"),
        first_time: at(0.1),
        last_time: at(shape.seconds - 0.2),
    });
    for generation in 0..=shape.rekeys {
        for direction in Direction::BOTH {
            let ends = if direction == Direction::AToB {
                (a, b)
            } else {
                (b, a)
            };
            document
                .security_associations
                .push(sa(shape, tunnel, direction, generation, ends));
        }
    }
    for k in 0..shape.rekeys {
        let index = document.rekeys.len();
        document.exchanges.push(exchange(shape, tunnel, k, index, a));
        document.rekeys.push(rekey(shape, tunnel, k, index, a));
    }
    for direction in [Direction::BToA, Direction::AToB] {
        if shape.traffic {
            document
                .series
                .tunnels
                .push(series(shape, tunnel, direction, noise));
        }
        document.impact.push(impact(shape, document, tunnel, direction));
    }
    if shape.traffic && shape.rekeys >= 3 {
        document.mean_rekey.push(mean_rekey(tunnel, noise));
        document
            .projection
            .extend([500_000u64, 1_000_000, 10_000_000].map(|l| projection(tunnel, l)));
        document.flows.push(flow(tunnel, a, b));
    }
    if shape.bin_ms > 10.0 && shape.traffic {
        for r in document.rekeys.iter().filter(|r| r.tunnel == tunnel) {
            document.series.around_rekeys.push(around(r, noise));
        }
    }
}

fn key(known: bool, source: &str) -> Key {
    match known {
        true => Key {
            status: KeyStatus::Verified,
            source: Some(format!("{source} (explicit)")),
        },
        false => Key {
            status: KeyStatus::Missing,
            source: None,
        },
    }
}

/// The SPI of a generation: the same rule everywhere in here.
fn spi(tunnel: usize, direction: Direction, generation: usize) -> Spi {
    let base = if direction == Direction::AToB {
        0xc010_0000u32
    } else {
        0xce20_0000
    };
    Spi(base + (tunnel as u32) * 0x10_00 + (generation as u32) * 7 + 1)
}

fn sa(
    shape: &Shape,
    tunnel: usize,
    direction: Direction,
    generation: usize,
    (src, dst): (IpAddr, IpAddr),
) -> SecurityAssociation {
    let edge = |k: usize| match k {
        0 => 0.3,
        k if k > shape.rekeys => shape.seconds - 0.1,
        k => moment(shape, k - 1).0 + moment(shape, k - 1).1,
    };
    let (from, to) = (edge(generation), edge(generation + 1));
    let per_second = if direction == Direction::BToA {
        810.0
    } else {
        410.0
    };
    let packets = if shape.traffic {
        ((to - from) * per_second) as u64
    } else {
        2
    };
    let size = if direction == Direction::BToA { 1396 } else { 132 };
    SecurityAssociation {
        tunnel,
        src,
        dst,
        spi: spi(tunnel, direction, generation),
        generation: generation as u32,
        mode: Some(Mode::Transport),
        encryption: Some("AES-CBC-128".into()),
        integrity: Some("HMAC-SHA1-96".into()),
        encapsulation: Encapsulation::Esp,
        key: key(shape.keys, "keys.esp_sa:3"),
        first_time: Some(at(from)),
        last_time: Some(at(to - 0.001)),
        first_frame: Some((from * 1240.0) as u64 + 1),
        last_frame: Some((to * 1240.0) as u64),
        packets,
        outer_bytes: packets * size,
        esp_bytes: packets * (size - 20),
        inner_bytes: shape.keys.then_some(packets * (size - 66)),
        icv: IcvCounts {
            verified: if shape.keys { packets } else { 0 },
            failed: 0,
            unchecked: if shape.keys { 0 } else { packets },
        },
        sequence: Sequence {
            first: Some(1),
            last: Some(packets),
            missing: 0,
            duplicates: 0,
            reordered: 0,
        },
    }
}

fn exchange(shape: &Shape, tunnel: usize, k: usize, index: usize, initiator: IpAddr) -> Exchange {
    let (start, length, _) = moment(shape, k);
    Exchange {
        index,
        tunnel,
        ike_sa: Some(tunnel),
        kind: ExchangeKind::QuickMode,
        message_id: format!("0x{:08x}", 0x5eed_0000u32 + index as u32),
        initiator: Some(initiator),
        began_earlier: false,
        first_time: at(start),
        last_time: at(start + length),
        duration_ms: length * 1000.0,
        messages: 3,
        retransmissions: 0,
        frames: vec![
            (start * 1240.0) as u64 + 1,
            (start * 1240.0) as u64 + 22,
            (start * 1240.0) as u64 + 41,
        ],
        decrypted: shape.keys,
        key_exchange: Some(false),
        lifetime: shape.keys.then_some(Lifetime {
            seconds: Some(3600),
            kilobytes: Some(2400),
        }),
        spis: Vec::new(),
        deletes: Vec::new(),
    }
}

fn rekey(shape: &Shape, tunnel: usize, k: usize, index: usize, initiator: IpAddr) -> Rekey {
    let (start, length, stall) = moment(shape, k);
    let hurt = stall > 0.0;
    let pair = |g: usize| SpiPair {
        a_to_b: Some(spi(tunnel, Direction::AToB, g)),
        b_to_a: Some(spi(tunnel, Direction::BToA, g)),
    };
    Rekey {
        index,
        tunnel,
        exchange: Some(index),
        initiator: Some(initiator),
        old: pair(k),
        new: pair(k + 1),
        evidence: RekeyEvidence::QuickMode,
        trigger: Trigger {
            kind: TriggerKind::Volume,
            fraction: Some(0.848 + 0.008 * (k % 6) as f64),
            counting: Some("inner bytes of the expiring inbound SA, kB = 1000".into()),
            bytes: Some(2_035_200 + 19_200 * (k as u64 % 6)),
            limit_kilobytes: Some(2400),
            age_s: Some(3.7),
            limit_seconds: Some(3600),
            at_least: false,
        },
        started: Some(at(start)),
        switched: TimePair {
            a_to_b: Some(at(start + length)),
            b_to_a: Some(at(start + length + stall)),
        },
        exchange_ms: Some(length * 1000.0),
        overlap_ms: Some(0.0),
        gap_ms: MillisPair {
            a_to_b: Some(1.1),
            b_to_a: Some(1.3 + stall * 1000.0),
        },
        impact: vec![rekey_impact(k, stall), unused_impact()],
        causes: if hurt { causes(start) } else { Vec::new() },
    }
}

fn rekey_impact(k: usize, stall: f64) -> RekeyImpact {
    let noise_ms = [3.0, -6.0, 8.0, -2.0, 5.0][k % 5];
    RekeyImpact {
        direction: Direction::BToA,
        used: true,
        baseline_bps: Some(RATE_BPS),
        depth: Some(if stall > 0.0 { 1.0 } else { 0.22 }),
        dip_ms: Some(if stall > 0.0 { stall * 1000.0 + 30.0 } else { 0.0 }),
        longest_gap_ms: Some(if stall > 0.0 { stall * 1000.0 } else { 11.0 }),
        p_gap: Some(if stall > 0.0 { 0.0004 } else { 1.0 }),
        q: Some(if stall > 0.0 { 0.0021 } else { 0.83 }),
        hurt: stall > 0.0,
        flags: Vec::new(),
        windows: [0.25, 0.5, 1.0]
            .iter()
            .map(|&w| StallWindow {
                window_s: w,
                lost_bytes: (stall + noise_ms / 1000.0) * RATE_BPS / 8.0,
                stall_ms: stall * 1000.0 + noise_ms * (1.0 + w),
                p: Some(if stall > 0.0 { 0.0001 } else { 0.41 }),
            })
            .collect(),
    }
}

fn unused_impact() -> RekeyImpact {
    RekeyImpact {
        direction: Direction::AToB,
        used: false,
        baseline_bps: None,
        depth: None,
        dip_ms: None,
        longest_gap_ms: None,
        p_gap: None,
        q: None,
        hurt: false,
        flags: vec!["no_exchange".into()],
        windows: Vec::new(),
    }
}

fn causes(start: f64) -> Vec<Cause> {
    let frame = (start * 1240.0) as u64;
    vec![
        Cause {
            id: "hard_limit_reached".into(),
            confidence: Confidence::High,
            evidence_frames: vec![frame, frame + 9, frame + 44],
            display_filter: format!("frame.number >= {frame} && frame.number <= {} && esp", frame + 60),
        },
        Cause {
            id: "rto_stall".into(),
            confidence: Confidence::Medium,
            evidence_frames: vec![frame + 61],
            display_filter: "tcp.analysis.rto".into(),
        },
    ]
}

fn flow(tunnel: usize, a: IpAddr, b: IpAddr) -> Flow {
    Flow {
        tunnel,
        direction: Direction::BToA,
        protocol: "tcp".into(),
        src: b,
        src_port: Some(5201),
        dst: a,
        dst_port: Some(49_812),
        bytes: 32_300_000,
        new_bytes: 32_200_000,
        retransmitted_bytes: 100_000,
        packets: 26_000,
    }
}

fn overhead() -> Overhead {
    Overhead {
        suite: "AES-CBC-128/HMAC-SHA1-96".into(),
        packets: 26_000,
        outer_bytes: 36_300_000,
        inner_bytes: 34_580_000,
        efficiency: 0.9526,
        iv: 416_000,
        padding: 210_000,
        icv: 312_000,
        largest_inner_packet: 1330,
        encapsulation: Some(Encapsulation::Esp),
        outer_headers: 782_000,
        largest_outer_packet: Some(1400),
        largest_inner_for_path: Some(1316),
        mss_ipv4: Some(1276),
        mss_ipv6: Some(1256),
    }
}

fn key_files(known: bool) -> Vec<KeyFile> {
    if !known {
        return Vec::new();
    }
    vec![KeyFile {
        path: "traces/keys.esp_sa".into(),
        formats: vec!["esp_sa".into()],
        esp_keys: 16,
        ike_keys: 0,
        problems: vec!["traces/keys.esp_sa:9: 15 key bytes, AES-CBC takes 16, 24 or 32".into()],
    }]
}

fn findings() -> Vec<Finding> {
    vec![Finding {
        id: "fragmentation_cliff".into(),
        severity: Severity::Warning,
        sentence:
            "12 % of the writes leave as one full and one tiny packet: an MSS of 1,200 bytes would avoid it."
                .into(),
        evidence_frames: vec![210, 212, 990],
        display_filter: "ip.flags.mf == 1".into(),
    }]
}

fn diagnostics() -> Vec<DiagnosticEntry> {
    vec![DiagnosticEntry {
        kind: "malformed".into(),
        layer: "IKE payload".into(),
        count: 2,
        first_frame: Some(77),
        sentence: "IKE payload: needs 24 bytes at offset 28, 20 there".into(),
    }]
}
