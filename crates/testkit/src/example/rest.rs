//! Synthetic flows, overhead, key files, findings, diagnostics.

use super::shape::at;
use rekeyscope_model::analysis::*;
use std::net::IpAddr;

pub(super) fn flow(tunnel: usize, a: IpAddr, b: IpAddr) -> Flow {
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
        retransmitted_share: Some(100_000.0 / 32_300_000.0),
        tcp: Some(FlowTcp {
            handshake_rtt_ms: Some(20.704),
            rtt_ms: Some(31.25),
            ack_rtt_ms: Some(10.25),
            largest_window_bytes: Some(505_472),
            largest_in_flight_bytes: 163_324,
            course: Some(course()),
        }),
    }
}

/// Bins of 200 ms; in one of seven nothing was acknowledged.
fn course() -> FlowCourse {
    let wave = |k: u32| f64::from(k % 20);
    let rtt = |k: u32| (k % 7 != 3).then(|| [20.0, 25.0, 30.0].map(|ms| ms + wave(k)));
    let flight = |k: u32| [30_000, 60_000, 90_000].map(|bytes| bytes + 3_000 * u64::from(k % 20));
    FlowCourse {
        start: at(0.2),
        bin_ms: 200.0,
        rtt_whole: true,
        rtt_ms: (0..120).map(rtt).collect(),
        in_flight_bytes: (0..120).map(|k| Some(flight(k))).collect(),
    }
}

pub(super) fn overhead() -> Overhead {
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

pub(super) fn key_files(known: bool) -> Vec<KeyFile> {
    if !known {
        return Vec::new();
    }
    vec![KeyFile {
        block: None,
        path: "traces/keys.esp_sa".into(),
        formats: vec!["esp_sa".into()],
        esp_keys: 16,
        ike_keys: 0,
        problems: vec!["traces/keys.esp_sa:9: 15 key bytes, AES-CBC takes 16, 24 or 32".into()],
    }]
}

pub(super) fn findings() -> Vec<Finding> {
    vec![Finding {
        id: "fragmentation_cliff".into(),
        severity: Severity::Warning,
        sentence:
            "12 % of the writes leave as one full and one tiny packet: an MSS of 1,200 bytes would avoid it."
                .into(),
        messages: Vec::new(),
        evidence_frames: vec![210, 212, 990],
        display_filter: "ip.flags.mf == 1".into(),
    }]
}

pub(super) fn diagnostics() -> Vec<DiagnosticEntry> {
    vec![DiagnosticEntry {
        kind: "malformed".into(),
        layer: "IKE payload".into(),
        count: 2,
        first_frame: Some(77),
        sentence: "IKE payload: needs 24 bytes at offset 28, 20 there".into(),
        messages: Vec::new(),
    }]
}

/// The same document with an iperf3 run of 1 s rows over its first tunnel, and a processor load that rises at each rekey.
pub fn with_overlays(mut document: Analysis) -> Analysis {
    let Some(series) = document.series.tunnels.first() else {
        return document;
    };
    let (start, tunnel, direction) = (series.start, series.tunnel, series.direction);
    let around = |document: &Analysis, value: f64| {
        let at = |r: &Rekey| OverlayAtRekey {
            rekey: r.index,
            before: Some(value),
            lowest: Some(value * 0.8),
            highest: Some(value * 2.0),
        };
        document.rekeys.iter().map(at).collect()
    };
    let point = |k: usize, seconds: f64, value: f64| OverlayPoint {
        time: start.plus_seconds(k as f64),
        seconds,
        value,
    };
    let iperf3 = Overlay {
        path: "synthetic-iperf3.json".into(),
        kind: OverlayKind::Iperf3,
        name: "iperf3".into(),
        unit: "bit/s".into(),
        tunnel: Some(tunnel),
        direction: Some(direction),
        clock: Some(OverlayClock {
            offset_s: 0.41,
            correlation: 0.97,
            step_s: 0.01,
            interval_s: 1.0,
            aligned: true,
        }),
        points: (0..28)
            .map(|k| point(k, 1.0, 8.5e6 + 2e5 * (k % 3) as f64))
            .collect(),
        comparison: None,
        at_rekeys: around(&document, 8.5e6),
        sentences: vec!["Its clock: +0.41 s were added to its own times.".into()],
        messages: Vec::new(),
    };
    let load = Overlay {
        path: "synthetic-cpu.csv".into(),
        kind: OverlayKind::Samples,
        name: "cpu".into(),
        unit: String::new(),
        tunnel: None,
        direction: None,
        clock: None,
        points: (0..30)
            .map(|k| point(k, 0.0, if k % 4 == 3 { 80.0 } else { 20.0 }))
            .collect(),
        comparison: None,
        at_rekeys: around(&document, 20.0),
        sentences: Vec::new(),
        messages: Vec::new(),
    };
    document.overlays = vec![iperf3, load];
    document.settings = Some(Settings {
        reference_bps: None,
        no_keys: false,
        tunnel: None,
        esp_ports: Vec::new(),
        psk_files: Vec::new(),
    });
    document
}
