//! What the lab's captures do not hold: fragments, AH, L2TP in clear, keepalives, IKE that was sent again. Synthetic, but for the
//! clock that steps.

use super::{Twice, assert_counted_once};
use crate::support::{analyze, lab_of_sample};
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::time::NANOS_PER_MILLI;
use rekeyscope_testkit::carried::{in_tcp, inner_ip};
use rekeyscope_testkit::containers::{Packet, read_pcap};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::ethernet;
use rekeyscope_testkit::scenario::World;

/// Two renewals in a download; `between` happens after each.
fn download(w: &mut World, between: impl Fn(&mut World)) {
    w.establish(250_000);
    w.steady(3_000);
    for number in 0..2 {
        let mut qm = w.begin(true);
        w.message(&mut qm);
        if number == 1 {
            w.steady(1_000);
            w.repeat(&qm, 0);
        }
        for _ in 0..2 {
            w.steady(48);
            w.message(&mut qm);
        }
        w.switch_up(&qm);
        w.switch_down(&qm);
        w.steady(2_000);
        between(w);
        w.steady(1_000);
    }
}

fn assert_all_counted_once(w: World, what: &str) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let keys = w.write(folder.path(), true);
    let path = folder.path().join("trace.pcap");
    let packets = read_pcap(&path);
    let once = analyze(&path, &keys);
    assert_eq!(once.capture.duplicates, 0, "{what}");
    assert_eq!(once.rekeys.len(), 2, "{what}");
    let retransmissions: u64 = once.exchanges.iter().map(|e| e.retransmissions).sum();
    assert_eq!(retransmissions, 1, "{what}");
    for (how, twice) in [
        ("doubled", Twice::mirrored(&packets, &[])),
        ("VLAN", Twice::mirrored(&packets, &[7])),
        ("appended", Twice::appended(&packets)),
    ] {
        assert_counted_once(&twice, &keys, &once, &format!("{what}, {how}"));
    }
    once
}

#[test]
fn fragments_that_come_twice_count_once() {
    let mut w = World::new();
    w.mtu = Some(1_000);
    download(&mut w, |_| {});
    assert_all_counted_once(w, "fragments");
}

#[test]
fn authenticated_packets_that_come_twice_count_once() {
    let mut w = World::new();
    w.ah = true;
    download(&mut w, |_| {});
    assert_all_counted_once(w, "AH");
}

#[test]
fn l2tp_in_clear_that_comes_twice_counts_once() {
    let mut w = World::new();
    download(&mut w, |w| {
        w.leak();
        // As soon as a copy can be told from a second packet without an identification.
        w.wait(6);
        w.leak();
    });
    let once = assert_all_counted_once(w, "L2TP in clear");
    let leak = once.findings.iter().find(|f| f.id == "l2tp_in_clear").unwrap();
    assert_eq!(leak.evidence_frames.len(), 4, "{leak:?}");
}

#[test]
fn keepalives_that_come_twice_count_once() {
    let mut w = World::new();
    w.nat_port = Some(31_000);
    // IPv4 without an identification, UDP from the client's port to 4500, one byte.
    let header = [
        0x45, 0, 0, 29, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 9, 0, 2, 10, 9, 0, 1,
    ];
    let udp = [0x79, 0x18, 0x11, 0x94, 0, 9, 0, 0, 0xff];
    download(&mut w, |w| w.capture([&header[..], &udp].concat()));
    let once = assert_all_counted_once(w, "keepalives");
    let seen = once.diagnostics.iter().find(|d| d.kind == "nat_keepalive");
    assert_eq!(seen.unwrap().count, 2);
}

/// The clock was set within the capture; its copy has the same steps.
#[test]
fn a_file_with_steps_appended_to_itself_counts_once() {
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    for seconds in [100_000, -5] {
        let mut packets = read_pcap(&lab.capture);
        for p in &mut packets[5_000..] {
            p.time = p.time.plus_nanos(seconds * 1_000_000_000);
        }
        let once = super::analyze_packets(&packets, &lab.keys);
        assert!(once.findings.iter().any(|f| f.id == "clock_step"), "{seconds} s");
        let twice = Twice::appended(&packets);
        assert_counted_once(&twice, &lab.keys, &once, &format!("step by {seconds} s"));
    }
}

/// RFC 9329: an IKE message between ESP packets in a stream whose beginning is captured, and with it comes again.
#[test]
fn a_tcp_stream_that_comes_twice_counts_once() {
    const SPI: u32 = 0xc0de_0001;
    let suite = Suite::aes_sha1(3);
    let mut messages: Vec<Vec<u8>> = (0..100)
        .map(|n| suite.seal(SPI, u64::from(n) + 1, false, 4, &inner_ip(n, 500)))
        .collect();
    // Non-ESP marker, then an Informational that nobody can read.
    let mut ike = vec![0; 4];
    ike.extend(*b"initiateresponds");
    ike.extend([8, 0x10, 5, 1, 0, 0, 0, 9, 0, 0, 0, 60]);
    ike.extend([7; 32]);
    messages.insert(50, ike);
    let packet = |(frame, n): (Vec<u8>, i64)| {
        let mut data = ethernet(0x0800, &frame);
        data[18..20].copy_from_slice(&(n as u16 + 1).to_be_bytes());
        Packet::new((1_800_000_000_000 + n * 20) * NANOS_PER_MILLI, data)
    };
    let packets: Vec<Packet> = in_tcp(&messages, 622, true)
        .into_iter()
        .zip(0..)
        .map(packet)
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let keys = [folder.path().join("keys.esp_sa")];
    std::fs::write(&keys[0], suite.esp_sa_row(SPI)).unwrap();
    let once = super::analyze_packets(&packets, &keys);
    assert_eq!((once.capture.esp_packets, once.capture.ike_packets), (100, 1));
    for (how, twice) in [
        ("doubled", Twice::mirrored(&packets, &[])),
        ("appended", Twice::appended(&packets)),
    ] {
        assert_counted_once(&twice, &keys, &once, how);
    }
}
