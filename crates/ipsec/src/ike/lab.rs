//! The lab's captures, read in full and compared with their ground truth. Each test does nothing where `../shared`
//! is not there (a user's clone has none).

use crate::ike::timeline::{ChildKeys, Exchange, MessageContext, Timeline};
use rand::{Rng, SeedableRng};
use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_keylog::{IkeKey, IkeSecrets, KeyOrigin, KeyRoad, Seed, SeedOf};
use rekeyscope_model::analysis::{ExchangeKind, KeyStatus};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use rekeyscope_testkit::containers::{Packet, read_pcap};
use rekeyscope_testkit::lab::capture;
use serde_json::Value;
use std::collections::HashMap;
use std::net::IpAddr;

impl Timeline {
    /// The likeliest keys of each child of an exchange; `None` where they cannot be derived.
    pub(super) fn derive_child_keys(&self, exchange: usize) -> Vec<Option<ChildKeys>> {
        self.child_key_candidates(exchange)
            .into_iter()
            .map(|candidates| candidates.into_iter().next())
            .collect()
    }
}

const IKEV1: [&str; 5] = [
    "l2tp_kb_modp1024_down",
    "l2tp_pfs4096_down",
    "l2tp_time_down",
    "l2tp_kb_modp2048_natt_down",
    "l2tp_qm3drop_down",
];
const IKEV2: &str = "ikev2_gcm_kb_down";

/// The IKE messages of a nanosecond pcap with Ethernet, IPv4 without options, UDP 500 or 4500, no fragments.
pub(super) fn messages(name: &str) -> Option<Vec<(MessageContext, Vec<u8>)>> {
    let mut found = Vec::new();
    for (
        frame,
        Packet {
            time, data: packet, ..
        },
    ) in (1..).zip(read_pcap(&capture(name)?.join("trace.pcap")))
    {
        if packet[12..14] != [8, 0] || packet[14] != 0x45 || packet[23] != 17 {
            continue;
        }
        let port = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        let udp = UdpPorts {
            src: port(34),
            dst: port(36),
        };
        let udp_len = usize::from(port(38));
        let payload = &packet[42..34 + udp_len];
        let address = |at: usize| -> IpAddr { <[u8; 4]>::try_from(&packet[at..at + 4]).unwrap().into() };
        let message = match (udp.src, udp.dst) {
            (500, _) | (_, 500) => payload,
            (4500, _) | (_, 4500) if payload.starts_with(&[0; 4]) => &payload[4..],
            _ => continue,
        };
        let context = MessageContext {
            frame,
            time,
            src: address(26),
            dst: address(30),
            outer: (address(26), address(30)),
            udp,
            ip_packets: 1,
        };
        found.push((context, message.to_vec()));
    }
    Some(found)
}

pub(super) fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2)
        .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

pub(super) fn key(version: u8, secrets: IkeSecrets) -> IkeKey {
    IkeKey {
        version,
        initiator_spi: None,
        responder_spi: None,
        secrets,
        origin: KeyOrigin {
            file: 0,
            line: 1,
            road: KeyRoad::Explicit,
        },
    }
}

fn ka(name: &str) -> IkeKey {
    let row = std::fs::read_to_string(capture(name).unwrap().join("keys.ikev1")).unwrap();
    let (cookie, ka) = row.trim().split_once(',').unwrap();
    let secrets = IkeSecrets {
        ka: Some(SecretBytes::new(bytes(ka))),
        ..IkeSecrets::default()
    };
    IkeKey {
        initiator_spi: Some(cookie.parse().unwrap()),
        ..key(1, secrets)
    }
}

pub(super) fn timeline(keys: Vec<IkeKey>, messages: &[(MessageContext, Vec<u8>)]) -> (Timeline, Diagnostics) {
    let mut timeline = Timeline::new(keys);
    let mut diagnostics = Diagnostics::default();
    for (context, message) in messages {
        timeline.push(*context, message, &mut diagnostics);
    }
    (timeline, diagnostics)
}

fn truth(name: &str) -> Value {
    let text = std::fs::read_to_string(capture(name).unwrap().join("truth.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Times in truth.json are rounded to 1 µs.
fn assert_close(ours: Timestamp, truth: &Value) {
    let apart = ours.0 as f64 / 1e9 - truth.as_f64().unwrap();
    assert!(apart.abs() <= 1e-6, "{ours} is {apart} s off");
}

fn message_id(truth: &Value) -> u32 {
    u32::from_str_radix(truth["msgid"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

fn spi(truth: &Value) -> Spi {
    truth.as_str().unwrap().parse().unwrap()
}

/// Message by message, as the truth lists an exchange's.
fn assert_same_messages(exchange: &Exchange, truth: &[Value]) {
    assert_eq!(exchange.records.len(), truth.len());
    for (record, message) in exchange.records.iter().zip(truth) {
        assert_eq!(record.frame, message["frame"].as_u64().unwrap());
        assert_eq!(record.src.to_string(), message["src"].as_str().unwrap());
        assert_eq!(u64::from(record.len), message["len"].as_u64().unwrap());
        assert_close(record.time, &message["t"]);
    }
}

/// Quick Modes and CREATE_CHILD_SAs with their messages, times and initiators; needs no key.
fn assert_exchanges(timeline: &Timeline, truth: &Value, kind: ExchangeKind) {
    let ours: Vec<_> = timeline.exchanges().iter().filter(|e| e.kind == kind).collect();
    let listed = truth["exchanges"].as_array().unwrap();
    assert_eq!(ours.len(), listed.len());
    for (exchange, listed) in ours.into_iter().zip(listed) {
        assert_eq!(exchange.message_id, message_id(listed));
        assert_same_messages(exchange, listed["messages"].as_array().unwrap());
        assert_close(exchange.first_time().unwrap(), &listed["t_first"]);
        assert_close(exchange.last_time().unwrap(), &listed["t_last"]);
        assert_eq!(
            listed["initiator"] == "srv",
            exchange.initiator.to_string() == "10.9.0.1"
        );
    }
}

/// truth.json lists informational messages one by one.
fn assert_informationals(timeline: &Timeline, truth: &Value) {
    let listed = truth["informational"].as_array().unwrap();
    let informational = |e: &&Exchange| e.kind == ExchangeKind::Informational;
    let mut ours: Vec<_> = timeline
        .exchanges()
        .iter()
        .filter(informational)
        .flat_map(|e| e.records.iter().map(|r| (r.frame, e.message_id)))
        .collect();
    ours.sort_unstable();
    let listed: Vec<_> = listed
        .iter()
        .map(|m| (m["frame"].as_u64().unwrap(), message_id(m)))
        .collect();
    assert_eq!(ours, listed);
}

#[test]
fn exchanges_without_keys() {
    for name in IKEV1.into_iter().chain([IKEV2]) {
        let Some(messages) = messages(name) else { return };
        let (timeline, diagnostics) = timeline(Vec::new(), &messages);
        let kind = if name == IKEV2 {
            ExchangeKind::CreateChildSa
        } else {
            ExchangeKind::QuickMode
        };
        assert_exchanges(&timeline, &truth(name), kind);
        assert_informationals(&timeline, &truth(name));
        assert_eq!(diagnostics.iter().count(), 0, "{name}");
        let [sa] = timeline.ike_sas() else {
            panic!("{name}")
        };
        assert_eq!(sa.nat, name == "l2tp_kb_modp2048_natt_down", "{name}");
        assert_eq!(sa.key_status, KeyStatus::Missing);
        let initiator = if sa.nat { "10.9.0.9" } else { "10.9.0.2" };
        assert_eq!(sa.initiator.to_string(), initiator);
    }
}

/// `life` of the run in params.env: seconds and, where set, bytes.
fn announced_lifetime(truth: &Value) -> (Option<u64>, Option<u64>) {
    let params = &truth["params"];
    let number = |name: &str| {
        params[name]
            .as_str()
            .unwrap()
            .trim_end_matches('s')
            .parse::<u64>()
            .unwrap()
    };
    let kilobytes = number("LIFE_BYTES") / 1000;
    (Some(number("LIFE_TIME")), (kilobytes > 0).then_some(kilobytes))
}

fn assert_negotiated(name: &str, timeline: &Timeline) {
    let truth = truth(name);
    let lifetime = announced_lifetime(&truth);
    let quick = |e: &&Exchange| e.kind == ExchangeKind::QuickMode;
    for (exchange, listed) in timeline
        .exchanges()
        .iter()
        .filter(quick)
        .zip(truth["exchanges"].as_array().unwrap())
    {
        assert!(exchange.decrypted, "{name} {:08x}", exchange.message_id);
        let announced = exchange.lifetime.as_ref().unwrap();
        assert_eq!((announced.seconds, announced.kilobytes), lifetime, "{name}");
        assert_eq!(exchange.key_exchange, name == "l2tp_pfs4096_down");
        let [inbound, outbound] = exchange.children.as_slice() else {
            panic!("{name}: {:?}", exchange.children)
        };
        // truth.json names the SPIs from the client's side; every exchange here is the client's.
        assert_eq!(inbound.spi, spi(&listed["new_spi_in"]));
        assert_eq!(outbound.spi, spi(&listed["new_spi_out"]));
        assert_eq!(
            (inbound.dst, outbound.dst),
            (exchange.initiator, exchange.responder)
        );
        let transform = inbound.transform.unwrap();
        assert_eq!(transform.encryption_name(), "AES-CBC-128");
        assert_eq!(transform.integrity.to_string(), "HMAC-SHA1-96");
        assert_eq!(inbound.mode.unwrap().as_str(), "transport");
    }
}

#[test]
fn quick_modes_with_the_phase_1_key() {
    for name in IKEV1 {
        let Some(messages) = messages(name) else { return };
        let (timeline, diagnostics) = timeline(vec![ka(name)], &messages);
        assert_eq!(timeline.ike_sas()[0].key_status, KeyStatus::Verified, "{name}");
        assert_eq!(diagnostics.iter().count(), 0, "{name}");
        assert!(timeline.exchanges().iter().all(|e| e.decrypted), "{name}");
        assert_negotiated(name, &timeline);
        let informational = |e: &&Exchange| e.kind == ExchangeKind::Informational;
        for exchange in timeline.exchanges().iter().filter(informational) {
            let ends_phase_1 = timeline.ike_sas()[0].deleted == exchange.last_time();
            assert!(ends_phase_1 || exchange.deletes.len() == 1, "{name}");
        }
    }
}

/// The same without the Main Mode: no transform, no IV.
#[test]
fn quick_modes_without_main_mode() {
    for name in IKEV1 {
        let Some(mut messages) = messages(name) else {
            return;
        };
        messages.retain(|(_, message)| message[18] != 2);
        let (timeline, _) = timeline(vec![ka(name)], &messages);
        assert_eq!(timeline.ike_sas()[0].key_status, KeyStatus::Verified, "{name}");
        assert_negotiated(name, &timeline);
        assert!(timeline.exchanges().iter().all(|e| e.decrypted), "{name}");
    }
}

/// A labelled dump of a level-4 charon log: `LABEL => N bytes @ 0x…`, then lines of up to 16 bytes.
fn dumps(name: &str, label: &str) -> Vec<SecretBytes> {
    let log = std::fs::read(capture(name).unwrap().join("charon.cli.log")).unwrap();
    let log = String::from_utf8_lossy(&log);
    let mut lines = log.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some((_, message)) = line.split_once("] ") else {
            continue;
        };
        let Some(len) = message.strip_prefix(label).and_then(|r| r.strip_prefix(" => ")) else {
            continue;
        };
        let len: usize = len.split(' ').next().unwrap().parse().unwrap();
        let mut dump = Vec::new();
        while dump.len() < len {
            let (_, row) = lines.next().unwrap().split_once(": ").unwrap();
            let row = &row[..row.len().min(3 * (len - dump.len()).min(16))];
            dump.extend(row.split_whitespace().map(|b| u8::from_str_radix(b, 16).unwrap()));
        }
        found.push(SecretBytes::new(dump));
    }
    found
}

fn first(name: &str, label: &str) -> Option<SecretBytes> {
    dumps(name, label).into_iter().next()
}

fn seeds(name: &str) -> Vec<Seed> {
    let labels = [
        ("initiator SA seed", SeedOf::InitiatorSa),
        ("responder SA seed", SeedOf::ResponderSa),
        ("seed", SeedOf::ChildSa),
    ];
    let seed = |of, bytes| Seed {
        of,
        bytes,
        dh_secret: None,
        spis: None,
        origin: key(1, IkeSecrets::default()).origin,
    };
    let of_label = |(label, of)| dumps(name, label).into_iter().map(move |bytes| seed(of, bytes));
    labels.into_iter().flat_map(of_label).collect()
}

/// The keys of `keys.esp_sa` by SPI: encryption, then integrity.
fn esp_keys(name: &str) -> HashMap<Spi, (Vec<u8>, Vec<u8>)> {
    let rows = std::fs::read_to_string(capture(name).unwrap().join("keys.esp_sa")).unwrap();
    rows.lines()
        .map(|row| {
            let columns: Vec<&str> = row.split(',').map(|c| c.trim_matches('"')).collect();
            let key = |c: &str| bytes(c.trim_start_matches("0x"));
            (columns[3].parse().unwrap(), (key(columns[5]), key(columns[7])))
        })
        .collect()
}

/// Every child's derived keys against the file's; the number of those that are equal.
fn count_equal(name: &str, timeline: &Timeline) -> usize {
    let file = esp_keys(name);
    let mut equal = 0;
    for (index, exchange) in timeline.exchanges().iter().enumerate() {
        let derived = timeline.derive_child_keys(index);
        assert_eq!(derived.len(), exchange.children.len());
        for (child, keys) in exchange.children.iter().zip(derived) {
            let Some(keys) = keys else { continue };
            let (encryption, integrity) = &file[&child.spi];
            assert_eq!(keys.encryption.expose(), encryption, "{name} {}", child.spi);
            assert_eq!(keys.integrity.expose(), integrity, "{name} {}", child.spi);
            assert_eq!(keys.origin.road, KeyRoad::Derived);
            equal += 1;
        }
    }
    equal
}

#[test]
fn every_key_from_skeyid_d_and_skeyid_e() {
    for (name, sas) in [
        ("l2tp_kb_modp1024_down", 16),
        ("l2tp_time_down", 18),
        ("l2tp_kb_modp2048_natt_down", 14),
        ("l2tp_qm3drop_down", 12),
        ("l2tp_pfs4096_down", 0),
    ] {
        let Some(messages) = messages(name) else { return };
        let secrets = IkeSecrets {
            skeyid_d: first(name, "SKEYID_d"),
            skeyid_e: first(name, "SKEYID_e"),
            ..IkeSecrets::default()
        };
        let (timeline, _) = timeline(vec![key(1, secrets)], &messages);
        assert_eq!(count_equal(name, &timeline), sas, "{name}");
    }
}

/// With SKEYID_a the proof is the first Quick Mode with its HASH(1): phase 1's encrypted messages are made unreadable,
/// but for the last block that the IV comes from.
#[test]
fn skeyid_a_has_to_fit() {
    let name = "l2tp_kb_modp1024_down";
    let Some(mut messages) = messages(name) else {
        return;
    };
    for (_, message) in messages.iter_mut().filter(|(_, m)| m[18] == 2 && m[19] & 1 == 1) {
        message[28] ^= 1;
    }
    for (label, status) in [
        ("SKEYID_a", KeyStatus::Verified),
        ("SKEYID_d", KeyStatus::Missing),
    ] {
        let secrets = IkeSecrets {
            skeyid_a: first(name, label),
            skeyid_e: first(name, "SKEYID_e"),
            ..IkeSecrets::default()
        };
        let (timeline, _) = timeline(vec![key(1, secrets)], &messages);
        assert_eq!(timeline.ike_sas()[0].key_status, status);
    }
}

/// No wrong key is ever taken for right: constructed noise in place of the key, with and without phase 1 in sight.
#[test]
fn random_keys_are_never_accepted() {
    let name = "l2tp_kb_modp1024_down";
    let Some(mut messages) = messages(name) else {
        return;
    };
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let noise = |_| {
        let mut bytes = vec![0; 20];
        random.fill_bytes(&mut bytes);
        let secrets = IkeSecrets {
            skeyid_e: Some(SecretBytes::new(bytes)),
            ..IkeSecrets::default()
        };
        key(1, secrets)
    };
    let keys: Vec<IkeKey> = (0..2_000).map(noise).collect();
    for _ in 0..2 {
        let (timeline, _) = timeline(keys.clone(), &messages);
        assert_eq!(timeline.ike_sas()[0].key_status, KeyStatus::Missing);
        assert!(timeline.exchanges().iter().all(|e| e.children.is_empty()));
        messages.retain(|(_, message)| message[18] != 2);
    }
}

/// Every message cut at every byte, behind whole ones: nothing panics, nothing is lost of the rest.
#[test]
fn every_message_cut_at_every_byte() {
    for (name, version) in [("l2tp_kb_modp1024_down", 1), (IKEV2, 2)] {
        let Some(messages) = messages(name) else { return };
        let secrets = IkeSecrets {
            skeyid_d: first(name, "SKEYID_d"),
            skeyid_e: first(name, "SKEYID_e"),
            sk_ei: first(name, "Sk_ei secret"),
            sk_er: first(name, "Sk_er secret"),
            ..IkeSecrets::default()
        };
        let keys = vec![key(version, secrets)];
        for cut in 0..messages.iter().map(|m| m.1.len()).max().unwrap() {
            let cut_ones: Vec<_> = messages
                .iter()
                .take(12)
                .map(|(context, m)| (*context, m[..cut.min(m.len())].to_vec()))
                .collect();
            let (timeline, diagnostics) = timeline(keys.clone(), &cut_ones);
            assert_eq!(timeline.exchanges().is_empty(), cut < 28);
            assert!(diagnostics.iter().count() > 0 || cut_ones.iter().all(|(_, m)| m.len() <= cut));
            for index in 0..timeline.exchanges().len() {
                timeline.derive_child_keys(index);
            }
        }
    }
}

#[test]
fn perfect_forward_secrecy_needs_the_seeds() {
    let name = "l2tp_pfs4096_down";
    let Some(messages) = messages(name) else { return };
    let secrets = IkeSecrets {
        skeyid_d: first(name, "SKEYID_d"),
        skeyid_e: first(name, "SKEYID_e"),
        ..IkeSecrets::default()
    };
    let mut timeline = Timeline::new(vec![key(1, secrets)]).with_seeds(seeds(name));
    let mut diagnostics = Diagnostics::default();
    for (context, message) in &messages {
        timeline.push(*context, message, &mut diagnostics);
    }
    assert_eq!(count_equal(name, &timeline), 12);
}

#[test]
fn every_key_from_the_pre_shared_key_and_the_dh_secret() {
    let name = "l2tp_kb_modp1024_down";
    let Some(messages) = messages(name) else { return };
    let dh_secret = first(name, "shared Diffie Hellman secret");
    let skeyid = first(name, "SKEYID");
    for (psk, skeyid) in [(&b"rekeyscope-lab-psk"[..], None), (b"not this one", skeyid)] {
        let secrets = IkeSecrets {
            dh_secret: dh_secret.clone(),
            skeyid,
            ..IkeSecrets::default()
        };
        let mut timeline =
            Timeline::new(vec![key(1, secrets)]).with_pre_shared_keys(vec![SecretBytes::from(psk)]);
        let mut diagnostics = Diagnostics::default();
        for (context, message) in &messages {
            timeline.push(*context, message, &mut diagnostics);
        }
        assert_eq!(count_equal(name, &timeline), 16);
    }
}

/// Three roads to the same keys of the IKEv2 SA: its table row, SKEYSEED, the Diffie–Hellman secret.
#[test]
fn ikev2_children_and_their_keys() {
    let Some(messages) = messages(IKEV2) else { return };
    let row = std::fs::read_to_string(capture(IKEV2).unwrap().join("keys.ikev2")).unwrap();
    let columns: Vec<&str> = row.trim().split(',').collect();
    let table = IkeSecrets {
        sk_ei: Some(SecretBytes::new(bytes(columns[2]))),
        sk_er: Some(SecretBytes::new(bytes(columns[3]))),
        sk_d: first(IKEV2, "Sk_d secret"),
        ..IkeSecrets::default()
    };
    let skeyseed = IkeSecrets {
        skeyseed: first(IKEV2, "SKEYSEED"),
        ..IkeSecrets::default()
    };
    let dh_secret = IkeSecrets {
        dh_secret: first(IKEV2, "shared Diffie Hellman secret"),
        ..IkeSecrets::default()
    };
    for secrets in [table, skeyseed, dh_secret] {
        let mut timeline = Timeline::new(vec![key(2, secrets)]).with_seeds(seeds(IKEV2));
        let mut diagnostics = Diagnostics::default();
        for (context, message) in &messages {
            timeline.push(*context, message, &mut diagnostics);
        }
        assert_eq!(diagnostics.iter().count(), 0);
        assert_eq!(timeline.ike_sas()[0].key_status, KeyStatus::Verified);
        assert!(timeline.exchanges().iter().all(|e| e.decrypted));
        assert_exchanges(&timeline, &truth(IKEV2), ExchangeKind::CreateChildSa);
        assert_eq!(count_equal(IKEV2, &timeline), 12);
        assert_ikev2_rekeys(&timeline);
    }
}

/// Each CREATE_CHILD_SA names the SA that it replaces, and an INFORMATIONAL deletes that pair afterwards.
fn assert_ikev2_rekeys(timeline: &Timeline) {
    let truth = truth(IKEV2);
    let created = |e: &&Exchange| e.kind == ExchangeKind::CreateChildSa;
    let deleted: Vec<Spi> = timeline
        .exchanges()
        .iter()
        .flat_map(|e| e.deletes.iter().map(|d| d.spi))
        .collect();
    for (exchange, listed) in timeline
        .exchanges()
        .iter()
        .filter(created)
        .zip(truth["exchanges"].as_array().unwrap())
    {
        assert_eq!(exchange.rekeys, [spi(&listed["old_spi"])]);
        assert!(!exchange.rekeys_ike_sa && exchange.key_exchange);
        let spis: Vec<Spi> = exchange.children.iter().map(|c| c.spi).collect();
        assert_eq!(spis, [spi(&listed["new_spi_in"]), spi(&listed["new_spi_out"])]);
        assert_eq!(exchange.children[0].mode.unwrap().as_str(), "tunnel");
        assert!(deleted.contains(&spi(&listed["old_spi"])));
    }
}
