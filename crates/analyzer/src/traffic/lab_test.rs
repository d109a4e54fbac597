//! The lab's captures: every ICV verifies, and the layers inside are those of tshark. Skipped where they are not there.

use rekeyscope_ipsec::esp::cipher::{EspCipher, Icv};
use rekeyscope_ipsec::esp::inner::{Control, Inner, Layers, PREFIX, walk};
use rekeyscope_ipsec::esp::null::{NullDetector, NullVerdict};
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::time::Timestamp;
use rekeyscope_testkit::lab::captures;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

/// The lab's server, at whose side the captures were taken; a download goes from it.
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 0, 1));

struct LabPacket<'a> {
    time: Timestamp,
    src: IpAddr,
    dst: IpAddr,
    esp: &'a [u8],
}

/// ESP packets of a nanosecond, little-endian pcap with Ethernet and IPv4.
fn esp_packets(pcap: &[u8]) -> Vec<LabPacket<'_>> {
    assert_eq!(pcap[..4], 0xa1b2_3c4d_u32.to_le_bytes());
    let word = |at: usize| u32::from_le_bytes(pcap[at..at + 4].try_into().unwrap());
    let mut packets = Vec::new();
    let mut at = 24;
    while at < pcap.len() {
        let time = Timestamp(i64::from(word(at)) * 1_000_000_000 + i64::from(word(at + 4)));
        let len = word(at + 8) as usize;
        let ip = &pcap[at + 16 + 14..at + 16 + len];
        at += 16 + len;
        let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        let payload = &ip[usize::from(ip[0] & 15) * 4..total];
        let esp = match ip[9] {
            50 => payload,
            17 if payload[..2] == [0x11, 0x94] && payload.len() > 16 && payload[8..12] != [0; 4] => {
                &payload[8..]
            }
            _ => continue,
        };
        let address = |at: usize| IpAddr::from(<[u8; 4]>::try_from(&ip[at..at + 4]).unwrap());
        packets.push(LabPacket {
            time,
            src: address(12),
            dst: address(16),
            esp,
        });
    }
    packets
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn keys(esp_sa: &str) -> HashMap<(IpAddr, u32), EspCipher> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').map(|cell| cell.trim_matches('"')).collect();
        // Rows without addresses belong to SAs that never carried a packet.
        let dst = cells[2].parse().ok()?;
        let encryption = Encryption::named(cells[4].as_bytes()).unwrap();
        let integrity = Integrity::named(cells[6].as_bytes()).unwrap();
        let cipher = EspCipher::new(encryption, &hex(cells[5]), integrity, &hex(cells[7])).unwrap();
        Some(((dst, u32::from_str_radix(&cells[3][2..], 16).unwrap()), cipher))
    };
    esp_sa.lines().filter_map(row).collect()
}

/// The protocol stack as `truth.json` has it from tshark.
fn stack(inner: &Inner) -> String {
    let tunnel = if inner.layers.contains(Layers::TUNNEL_MODE) {
        ""
    } else {
        "udp:l2tp:ppp:"
    };
    let ip = if inner.flow.is_some_and(|flow| flow.src.is_ipv6()) {
        "ipv6"
    } else {
        "ip"
    };
    match (inner.control, inner.flow.map(|flow| flow.protocol)) {
        (Some(Control::L2tp(_)), _) => "udp:l2tp".to_owned(),
        (Some(Control::Ppp { protocol: 0xc021, .. }), _) => "udp:l2tp:ppp:lcp".to_owned(),
        (Some(Control::Ppp { protocol: 0x8021, .. }), _) => "udp:l2tp:ppp:ipcp".to_owned(),
        (Some(Control::Ppp { protocol: 0x8057, .. }), _) => "udp:l2tp:ppp:ipv6cp".to_owned(),
        (None, Some(6)) => format!("{tunnel}{ip}:tcp"),
        (None, Some(1)) => format!("{tunnel}{ip}:icmp:data"),
        (None, Some(58)) => format!("{tunnel}{ip}:icmpv6"),
        other => format!("{other:?}"),
    }
}

/// Everything that one capture gives.
struct LabRun {
    packets_per_sa: BTreeMap<u32, u64>,
    /// Per SA: time and payload length of each packet.
    payloads: BTreeMap<u32, Vec<(Timestamp, u32)>>,
    /// Protocol stacks as tshark names them.
    stacks: BTreeMap<String, u64>,
    null_detectors: BTreeMap<u32, NullDetector>,
    stopped: BTreeMap<&'static str, u64>,
}

impl LabRun {
    /// Decrypted payload of the old SA before the first exchange message.
    fn inner_bytes_before(&self, rekey: &serde_json::Value) -> u64 {
        let spi = u32::from_str_radix(&rekey["old_spi"].as_str().unwrap()[2..], 16).unwrap();
        let started = Timestamp((rekey["t_first"].as_f64().unwrap() * 1e9) as i64);
        let before = self.payloads[&spi].iter().filter(|(time, _)| *time < started);
        before.map(|(_, bytes)| u64::from(*bytes)).sum()
    }
}

/// tshark's packet counts per protocol stack, TCP with and without data together: it shows no data in what it takes for a
/// retransmission.
fn stacks_of_tshark(truth: &serde_json::Value) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    for (stack, packets) in truth["tshark"]["inner"].as_object().unwrap() {
        let stack = stack.replace(":tcp:data", ":tcp");
        *stacks.entry(stack).or_default() += packets.as_u64().unwrap();
    }
    stacks
}

fn run(folder: &Path) -> LabRun {
    let pcap = std::fs::read(folder.join("trace.pcap")).unwrap();
    let keys = keys(&std::fs::read_to_string(folder.join("keys.esp_sa")).unwrap());
    let mut run = LabRun {
        packets_per_sa: BTreeMap::new(),
        payloads: BTreeMap::new(),
        stacks: BTreeMap::new(),
        null_detectors: BTreeMap::new(),
        stopped: BTreeMap::new(),
    };
    let mut prefix = Vec::new();
    for packet in esp_packets(&pcap) {
        let spi = u32::from_be_bytes(packet.esp[..4].try_into().unwrap());
        let cipher = &keys[&(packet.dst, spi)];
        assert_eq!(cipher.verify(packet.esp, None), Icv::Verified);
        let opened = cipher
            .open(packet.esp, None, Icv::Unchecked, PREFIX, &mut prefix)
            .unwrap();
        let lenient = cipher
            .open(packet.esp, None, Icv::Verified, PREFIX, &mut prefix)
            .unwrap();
        assert_eq!(opened, lenient);
        let inner = walk(
            opened.next_header,
            &prefix,
            opened.payload_len as usize,
            Some((packet.src, packet.dst)),
        );
        *run.packets_per_sa.entry(spi).or_default() += 1;
        run.payloads
            .entry(spi)
            .or_default()
            .push((packet.time, opened.payload_len));
        *run.stacks.entry(stack(&inner)).or_default() += 1;
        run.null_detectors
            .entry(spi)
            .or_default()
            .observe(packet.esp, (packet.src, packet.dst));
        if let Some(layer) = inner.stopped_at {
            *run.stopped.entry(layer).or_default() += 1;
        }
        assert_eq!(
            inner.layers.contains(Layers::TUNNEL_MODE),
            opened.next_header == 4
        );
    }
    run
}

#[test]
fn lab_icvs_verify_and_layers_are_those_of_tshark() {
    for folder in captures() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let mut run = run(&folder);
        let json = |file: &str| -> serde_json::Value {
            serde_json::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
        };
        let iperf = json("iperf3.json");
        if iperf["start"]["test_start"]["protocol"] != "TCP" {
            // Of UDP there is nothing acknowledged, and no name for its stack here.
            continue;
        }
        let truth = json("truth.json");
        for sa in truth["sas"].as_array().unwrap() {
            let spi = u32::from_str_radix(&sa["spi"].as_str().unwrap()[2..], 16).unwrap();
            let expected = sa["capture"]["packets"].as_u64().unwrap_or(0);
            assert_eq!(
                run.packets_per_sa.get(&spi).copied().unwrap_or(0),
                expected,
                "{name} 0x{spi:08x}"
            );
        }
        assert_eq!(run.stacks, stacks_of_tshark(&truth), "{name}");
        if name == "l2tp_kb_modp1024_down" {
            let fractions: Vec<f64> = (truth["rekeys"].as_array().unwrap().iter())
                .map(|rekey| run.inner_bytes_before(rekey) as f64 / 2.4e6)
                .collect();
            let expected = [0.848, 0.863, 0.897, 0.866, 0.856, 0.850, 0.850];
            assert!(
                fractions.iter().zip(expected).all(|(f, e)| (f - e).abs() < 0.002),
                "{fractions:?}"
            );
        }
        for detector in run.null_detectors.values_mut() {
            assert!(
                !matches!(detector.observe(&[], (SERVER, SERVER)), NullVerdict::Null(_)),
                "{name}"
            );
        }
        let control = [
            "L2TP control",
            "PPP LCP",
            "PPP authentication",
            "PPP network control",
        ];
        let stopped: Vec<&str> = run.stopped.keys().copied().collect();
        assert!(stopped.iter().all(|layer| control.contains(layer)), "{stopped:?}");
    }
}
