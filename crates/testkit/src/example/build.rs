//! A whole document from its shape.

use super::account::of_download;
use super::ledger::of_rekeys;
use super::rekeys::{completed, exchange, rekey, sa};
use super::rest::{diagnostics, findings, flow, key_files, overhead};
use super::shape::{Shape, at, key};
use super::traffic::{Noise, around, series};
use super::verdict::{impact, projection};
use rekeyscope_model::analysis::*;
use rekeyscope_model::spi::IkeSpi;
use std::net::IpAddr;

/// Seven volume rekeys in 30 s, two of them hurt.
pub fn seven_rekeys() -> Analysis {
    build(&Shape::default())
}

/// A whole synthetic document.
pub fn build(shape: &Shape) -> Analysis {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut document = empty();
    document.capture = capture(shape);
    document.series.bin_ms = shape.bin_ms;
    for tunnel in 0..shape.tunnels {
        document.tunnels.push(tunnel_of(tunnel));
        add_tunnel(&mut document, shape, tunnel, &mut noise);
    }
    document.attempts = completed(&document);
    document.key_files = key_files(shape.keys);
    document.findings = findings();
    document.diagnostics = diagnostics();
    if shape.keys {
        document.overhead.push(overhead());
    }
    document
}

/// A capture without a single packet.
pub fn empty() -> Analysis {
    Analysis {
        answer: None,
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
            files: Vec::new(),
            sha256: None,
        },
        tunnels: Vec::new(),
        ike_sas: Vec::new(),
        exchanges: Vec::new(),
        security_associations: Vec::new(),
        rekeys: Vec::new(),
        attempts: Vec::new(),
        outages: Vec::new(),
        events: Vec::new(),
        trigger_rules: Vec::new(),
        flows: Vec::new(),
        impact: Vec::new(),
        ledger: Vec::new(),
        account: Vec::new(),
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
        overlays: Vec::new(),
        gap: None,
        two_points: None,
        settings: None,
    }
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
        files: Vec::new(),
        sha256: None,
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
        roles_known: true,
        nat: !id.is_multiple_of(2),
        client_is_windows: false,
    }
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
        if shape.traffic && direction == Direction::BToA {
            let ledger = of_rekeys(shape, document, tunnel);
            document.account.push(of_download(shape, &ledger));
            document.ledger.push(ledger);
        }
        document.impact.push(impact(shape, document, tunnel, direction));
    }
    if shape.traffic && shape.rekeys >= 3 {
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
