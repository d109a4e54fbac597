//! AH (RFC 4302) through the whole pipeline, on **synthetic** captures: its SAs, what they protect, their rekeys, and that nothing
//! is counted twice where AH and ESP go together. Its ICVs are made up: nothing checks them.

use crate::ike_scenarios::analyzed;
use crate::support::ipsec::{analyze_frames, counted};
use rekeyscope_model::analysis::{
    Analysis, Encapsulation, KeyStatus, Mode, Protocol, RekeyEvidence, SecurityAssociation, TriggerKind,
};
use rekeyscope_model::spi::Spi;
use rekeyscope_testkit::carried::{A, B, inner_ip, inner_tcp};
use rekeyscope_testkit::containers::{LINKTYPE_RAW, pcap_of};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::{self, ipv4, ipv6};
use rekeyscope_testkit::scenario::World;

const AH_SPI: u32 = 0xaaaa_0001;
const ESP_SPI: u32 = 0xc0de_0001;
const PACKETS: u32 = 40;
const SEGMENT: usize = 500;
/// RFC 4302 §2 with an ICV of 12 bytes.
const AH_LEN: usize = 24;
const TCP_LEN: usize = 20;

fn ah(next: u8, spi: u32, sequence: u32, body: &[u8]) -> Vec<u8> {
    let icv = [&[0xaa; 4][..], &sequence.to_be_bytes(), &spi.to_be_bytes()].concat();
    headers::ah(next, spi, sequence, &icv, body)
}

fn of(analysis: &Analysis, protocol: Protocol) -> Vec<&SecurityAssociation> {
    let sas = &analysis.security_associations;
    sas.iter().filter(|sa| sa.protocol == protocol).collect()
}

fn assert_one_flow(analysis: &Analysis, name: &str) {
    let [flow] = &analysis.flows[..] else {
        panic!("{name}: {:?}", analysis.flows)
    };
    let all = (u64::from(PACKETS) * SEGMENT as u64, u64::from(PACKETS));
    assert_eq!((flow.bytes, flow.packets), all, "{name}");
}

/// Sums of the series: what the wire carried and what was new, over all tunnels and directions.
fn series_bytes(analysis: &Analysis) -> (u64, u64) {
    let series = &analysis.series.tunnels;
    let sum = |bins: &[u64]| bins.iter().sum::<u64>();
    (
        series.iter().map(|s| sum(&s.outer_bytes)).sum(),
        series.iter().map(|s| sum(&s.inner_new_bytes)).sum(),
    )
}

#[test]
fn ah_alone_is_an_sa_whose_payload_is_read() {
    type Shape = (&'static str, Mode, usize, fn(u32) -> Vec<u8>);
    let shapes: [Shape; 4] = [
        ("transport", Mode::Transport, 20, |n| {
            ipv4(A, B, 51, &ah(6, AH_SPI, n + 1, &inner_tcp(n, SEGMENT)))
        }),
        ("tunnel", Mode::Tunnel, 20, |n| {
            ipv4(A, B, 51, &ah(4, AH_SPI, n + 1, &inner_ip(n, SEGMENT)))
        }),
        ("IPv6 transport", Mode::Transport, 40, |n| {
            ipv6(1, 2, 51, &ah(6, AH_SPI, n + 1, &inner_tcp(n, SEGMENT)))
        }),
        ("IPv6 tunnel", Mode::Tunnel, 40, |n| {
            ipv6(1, 2, 51, &ah(4, AH_SPI, n + 1, &inner_ip(n, SEGMENT)))
        }),
    ];
    for (name, mode, ip_header, packet) in shapes {
        let frames: Vec<Vec<u8>> = (0..PACKETS).map(packet).collect();
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, "");
        let [sa] = &analysis.security_associations[..] else {
            panic!("{name}")
        };
        assert_eq!(
            (sa.protocol, sa.spi, sa.mode),
            (Protocol::Ah, Spi(AH_SPI), Some(mode)),
            "{name}"
        );
        assert_eq!(
            (sa.encapsulation, analysis.tunnels[0].encapsulation),
            (Encapsulation::Ah, Encapsulation::Ah)
        );
        assert_eq!(
            (sa.first_frame, sa.last_frame),
            (Some(1), Some(u64::from(PACKETS))),
            "{name}"
        );
        let inside = if mode == Mode::Tunnel { 20 } else { 0 } + TCP_LEN + SEGMENT;
        let bytes = |each: usize| u64::from(PACKETS) * each as u64;
        assert_eq!(
            (sa.packets, sa.outer_bytes, sa.esp_bytes, sa.inner_bytes),
            (
                u64::from(PACKETS),
                bytes(ip_header + AH_LEN + inside),
                bytes(AH_LEN + inside),
                Some(bytes(inside))
            ),
            "{name}"
        );
        assert_eq!(
            (sa.key.status, sa.icv.unchecked),
            (KeyStatus::Unverified, u64::from(PACKETS)),
            "{name}"
        );
        assert_one_flow(&analysis, name);
        assert_eq!(
            series_bytes(&analysis),
            (sa.outer_bytes, bytes(SEGMENT)),
            "{name}"
        );
        assert_eq!(
            counted(&analysis, "authenticated", "AH"),
            u64::from(PACKETS),
            "{name}"
        );
        assert_eq!(analysis.capture.esp_packets, 0, "{name}");
    }
}

/// Numbers that are missing, come late or come twice; a packet that the capture holds twice counts once.
#[test]
fn sequence_numbers_of_ah_are_followed() {
    let packet = |n: u32| ipv4(A, B, 51, &ah(6, AH_SPI, n, &inner_tcp(n, SEGMENT)));
    let mut frames: Vec<Vec<u8>> = (1..=20).filter(|n| ![5, 6, 7].contains(n)).map(packet).collect();
    frames.swap(10, 11);
    frames.insert(3, frames[2].clone());
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, "");
    let sa = &analysis.security_associations[0];
    let s = &sa.sequence;
    assert_eq!(
        (s.first, s.last, s.missing, s.reordered),
        (Some(1), Some(20), 3, 1)
    );
    assert_eq!((sa.packets, analysis.capture.duplicates), (17, 1));
}

/// AH around a fragmented packet: the header is found in the whole (RFC 4302 §3.3.4).
#[test]
fn ah_in_fragments_is_found() {
    let whole = ah(6, AH_SPI, 1, &inner_tcp(0, 1_600));
    let piece = |flags: u16, body: &[u8]| {
        let mut packet = ipv4(A, B, 51, body);
        packet[6..8].copy_from_slice(&flags.to_be_bytes());
        packet
    };
    let (head, tail) = whole.split_at(1_200);
    let frames = [piece(0x2000, head), piece(1_200 / 8, tail)];
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, "");
    let sa = &analysis.security_associations[0];
    assert_eq!(
        (sa.protocol, sa.packets, sa.inner_bytes),
        (Protocol::Ah, 1, Some(1_620))
    );
    assert_eq!(sa.outer_bytes, 40 + whole.len() as u64);
}

/// Both SAs are listed with all their packets; wire and payload bytes count once, and neither is a rekey of the other.
#[test]
fn ah_and_esp_together_count_once() {
    let suite = Suite::aes_sha1(3);
    let seal = |n: u32, next: u8, payload: &[u8]| suite.seal(ESP_SPI, u64::from(n) + 1, false, next, payload);
    let shapes: [(&str, Vec<Vec<u8>>); 5] = [
        (
            "AH around ESP",
            (0..PACKETS)
                .map(|n| {
                    ipv4(
                        A,
                        B,
                        51,
                        &ah(50, AH_SPI, n + 1, &seal(n, 4, &inner_ip(n, SEGMENT))),
                    )
                })
                .collect(),
        ),
        (
            "AH tunnel around ESP",
            (0..PACKETS)
                .map(|n| {
                    let esp = ipv4(
                        [10, 66, 0, 1],
                        [10, 66, 0, 2],
                        50,
                        &seal(n, 4, &inner_ip(n, SEGMENT)),
                    );
                    ipv4(A, B, 51, &ah(4, AH_SPI, n + 1, &esp))
                })
                .collect(),
        ),
        (
            "AH right behind ESP",
            (0..PACKETS)
                .map(|n| {
                    ipv4(
                        A,
                        B,
                        50,
                        &seal(n, 51, &ah(6, AH_SPI, n + 1, &inner_tcp(n, SEGMENT))),
                    )
                })
                .collect(),
        ),
        (
            "AH transport in an ESP tunnel",
            (0..PACKETS)
                .map(|n| {
                    let inside = ah(6, AH_SPI, n + 1, &inner_tcp(n, SEGMENT));
                    ipv4(
                        A,
                        B,
                        50,
                        &seal(n, 4, &ipv4([10, 1, 0, 1], [10, 2, 0, 1], 51, &inside)),
                    )
                })
                .collect(),
        ),
        (
            "AH tunnel in an ESP tunnel",
            (0..PACKETS)
                .map(|n| {
                    let inside = ah(4, AH_SPI, n + 1, &inner_ip(n, SEGMENT));
                    ipv4(
                        A,
                        B,
                        50,
                        &seal(n, 4, &ipv4([10, 66, 0, 1], [10, 66, 0, 2], 51, &inside)),
                    )
                })
                .collect(),
        ),
    ];
    for (name, frames) in shapes {
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(ESP_SPI));
        let (ah, esp) = (of(&analysis, Protocol::Ah), of(&analysis, Protocol::Esp));
        assert_eq!((ah.len(), esp.len()), (1, 1), "{name}");
        assert_eq!((ah[0].spi, esp[0].spi), (Spi(AH_SPI), Spi(ESP_SPI)), "{name}");
        for sa in [ah[0], esp[0]] {
            assert_eq!(
                (sa.packets, sa.sequence.last),
                (u64::from(PACKETS), Some(u64::from(PACKETS))),
                "{name}"
            );
        }
        assert_eq!(esp[0].icv.verified, u64::from(PACKETS), "{name}");
        assert_one_flow(&analysis, name);
        let bytes = u64::from(PACKETS) * SEGMENT as u64;
        assert_eq!(series_bytes(&analysis), (esp[0].outer_bytes, bytes), "{name}");
        assert!(analysis.rekeys.is_empty(), "{name}");
    }
}

/// A world of AH whose SAs are renewed once: by a Quick Mode that is captured, or seen in the SPIs alone.
fn renewed(with_exchange: bool) -> Analysis {
    let mut w = World::new();
    w.ah = true;
    if with_exchange {
        w.establish(250_000);
    }
    w.steady(3_000);
    let mut qm = w.begin(true);
    if with_exchange {
        for _ in 0..3 {
            w.message(&mut qm);
            w.steady(20);
        }
    }
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.steady(3_000);
    analyzed(w)
}

#[test]
fn rekeys_of_ah_are_found_by_quick_mode_and_by_spi_succession() {
    for (with_exchange, evidence) in [
        (true, RekeyEvidence::QuickMode),
        (false, RekeyEvidence::SpiSuccession),
    ] {
        let analysis = renewed(with_exchange);
        let sas = of(&analysis, Protocol::Ah);
        assert_eq!(
            (sas.len(), analysis.security_associations.len()),
            (4, 4),
            "{evidence}"
        );
        assert!(
            sas.iter().all(|sa| sa.packets > 100 && sa.sequence.missing == 0),
            "{evidence}"
        );
        let mut generations: Vec<u32> = sas.iter().map(|sa| sa.generation).collect();
        generations.sort_unstable();
        assert_eq!(generations, [0, 0, 1, 1], "{evidence}");
        let [rekey] = &analysis.rekeys[..] else {
            panic!("{evidence}: {} rekeys", analysis.rekeys.len())
        };
        assert_eq!(rekey.evidence, evidence);
        assert_ne!(rekey.trigger.kind, TriggerKind::Collision);
        let made: Vec<Option<Spi>> = vec![rekey.new.a_to_b, rekey.new.b_to_a];
        assert!(
            made.iter()
                .all(|spi| sas.iter().any(|sa| sa.generation == 1 && Some(sa.spi) == *spi))
        );
        if with_exchange {
            assert!(
                sas.iter()
                    .all(|sa| sa.integrity.as_deref() == Some("HMAC-SHA1-96"))
            );
        }
        assert_eq!(analysis.tunnels[0].encapsulation, Encapsulation::Ah);
    }
}

/// Static keys often have one SPI for both directions, and one side may have nothing to say for long: its first packet is no
/// rekey.
#[test]
fn a_side_that_speaks_late_is_no_rekey() {
    const FIRST: u32 = 12_000;
    let packet = |n: u32| match n.checked_sub(FIRST) {
        None => ipv4(A, B, 51, &ah(89, AH_SPI, n + 1, &[7; 44])),
        Some(n) => ipv4(B, A, 51, &ah(89, AH_SPI, n + 1, &[7; 44])),
    };
    let frames: Vec<Vec<u8>> = (0..FIRST + 40).map(packet).collect();
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, "");
    let packets: Vec<u64> = of(&analysis, Protocol::Ah).iter().map(|sa| sa.packets).collect();
    assert_eq!(packets, [u64::from(FIRST), 40]);
    assert!(analysis.rekeys.is_empty(), "{:?}", analysis.rekeys);
}

/// SPI and sequence number of every packet as tshark shows them.
#[test]
fn tshark_shows_the_same_numbers() {
    if std::process::Command::new("tshark")
        .arg("--version")
        .output()
        .is_err()
    {
        println!("skipped: tshark is not installed");
        return;
    }
    let numbers = [1u32, 2, 3, 9, 10, 4, 11];
    let frames: Vec<Vec<u8>> = numbers
        .iter()
        .flat_map(|&n| {
            [
                ipv4(A, B, 51, &ah(6, AH_SPI, n, &inner_tcp(n, SEGMENT))),
                ipv4(B, A, 51, &ah(4, AH_SPI + 1, 2 * n, &inner_ip(n, SEGMENT))),
            ]
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("synthetic.pcap");
    std::fs::write(&file, pcap_of(LINKTYPE_RAW, &frames)).unwrap();
    let shown = std::process::Command::new("tshark")
        .arg("-r")
        .arg(&file)
        .args(["-T", "fields", "-e", "ah.spi", "-e", "ah.sequence"])
        .output()
        .unwrap();
    let mut of_tshark: Vec<(Spi, Vec<u64>)> = Vec::new();
    for row in String::from_utf8(shown.stdout).unwrap().lines() {
        let (spi, number) = row.split_once('\t').unwrap();
        let (spi, number) = (spi.parse().unwrap(), number.parse().unwrap());
        match of_tshark.iter_mut().find(|(known, _)| *known == spi) {
            Some((_, numbers)) => numbers.push(number),
            None => of_tshark.push((spi, vec![number])),
        }
    }
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, "");
    assert_eq!(of_tshark.len(), 2);
    for ((spi, numbers), sa) in of_tshark.iter().zip(&analysis.security_associations) {
        let (lowest, highest) = (*numbers.iter().min().unwrap(), *numbers.iter().max().unwrap());
        assert_eq!((sa.spi, sa.packets), (*spi, numbers.len() as u64));
        assert_eq!(
            (sa.sequence.first, sa.sequence.last),
            (Some(lowest), Some(highest))
        );
        assert_eq!(sa.sequence.missing, highest - lowest + 1 - numbers.len() as u64);
    }
}
