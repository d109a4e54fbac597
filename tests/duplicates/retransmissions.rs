//! The same IKE message again: sent again by its peer, or shown again by the capture.

use super::analyze_packets;
use crate::support::{Lab, analyses};
use rekeyscope_model::analysis::Analysis;
use rekeyscope_testkit::containers::{Packet, read_pcap};

/// Ethernet, then the identification in the IPv4 header.
const IDENTIFICATION: std::ops::Range<usize> = 18..20;
const MILLI: i64 = 1_000_000;

/// A capture of either version, whose rekeys have no retransmission.
fn quiet() -> Vec<(&'static Lab, &'static Analysis)> {
    let names = [
        "l2tp_kb_modp1024_down",
        "l2tp_kb_modp2048_natt_down",
        "ikev2_gcm_kb_down",
    ];
    let found: Vec<_> = analyses()
        .iter()
        .filter(|(lab, _)| names.contains(&lab.name.as_str()))
        .collect();
    assert!(!found.is_empty());
    found.into_iter().map(|(lab, analysis)| (lab, analysis)).collect()
}

/// How the second one differs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Identification {
    Same,
    Next,
    /// Neither has one.
    Zero,
}

/// The first message of the second rekey's exchange again, `nanos` later.
fn again(lab: &Lab, once: &Analysis, nanos: i64, identification: Identification) -> (Analysis, usize) {
    let rekey = &once.rekeys[1];
    let exchange = &once.exchanges[rekey.exchange.unwrap()];
    let quiet = exchange.retransmissions == 0 && once.capture.duplicates == 0;
    assert!(quiet, "{}", lab.name);
    let mut packets = read_pcap(&lab.capture);
    // What follows much later is of no interest.
    let end = exchange.last_time.plus_nanos(5_000 * MILLI);
    packets.retain(|p| p.time < end);
    let first = &mut packets[exchange.frames[0] as usize - 1];
    if identification == Identification::Zero {
        first.data[IDENTIFICATION].fill(0);
    }
    let mut second: Packet = first.clone();
    second.time = second.time.plus_nanos(nanos);
    if identification == Identification::Next {
        second.data[IDENTIFICATION.end - 1] ^= 1;
    }
    packets.push(second);
    packets.sort_by_key(|p| p.time);
    (analyze_packets(&packets, &lab.keys), rekey.index)
}

fn assert_sent_again(sent: bool, nanos: i64, identification: Identification) {
    for (lab, once) in quiet() {
        let what = format!(
            "{}, {} ms, {identification:?}",
            lab.name,
            nanos as f64 / MILLI as f64
        );
        let (analysis, rekey) = again(lab, once, nanos, identification);
        let own = &analysis.rekeys[rekey];
        let exchange = &analysis.exchanges[own.exchange.unwrap()];
        let usual = once.exchanges[exchange.index].messages;
        assert_eq!(exchange.retransmissions, u64::from(sent), "{what}");
        assert_eq!(exchange.messages, usual + u64::from(sent), "{what}");
        assert_eq!(analysis.capture.duplicates, u64::from(!sent), "{what}");
    }
}

/// The peer was deaf. Whether the second packet has an identification of its own is up to the host.
#[test]
fn a_message_after_a_timer_was_sent_again() {
    for nanos in [500 * MILLI, 1_000 * MILLI, 4_000 * MILLI] {
        assert_sent_again(true, nanos, Identification::Next);
    }
    assert_sent_again(true, 500 * MILLI, Identification::Same);
    assert_sent_again(true, 4_000 * MILLI, Identification::Zero);
}

/// A queue held both back and let them go together: the second is a packet of its own all the same.
#[test]
fn a_message_in_another_packet_was_sent_again() {
    assert_sent_again(true, MILLI, Identification::Next);
}

/// A router under load shows a packet when it comes and when its queue lets it go.
#[test]
fn a_message_in_the_same_packet_is_a_copy() {
    for nanos in [0, MILLI / 10, 20 * MILLI, 200 * MILLI] {
        assert_sent_again(false, nanos, Identification::Same);
    }
}

/// Without an identification only the time tells: a mirror's delay or not.
#[test]
fn without_an_identification_time_tells() {
    assert_sent_again(false, MILLI, Identification::Zero);
    assert_sent_again(true, 20 * MILLI, Identification::Zero);
}

/// A host that sends back what it got, byte for byte: the capture holds two packets, and nobody's copy.
#[test]
fn a_reflected_message_is_no_copy() {
    let swap = |data: &mut [u8], first: usize, len: usize| {
        let (one, other) = data[first..first + 2 * len].split_at_mut(len);
        one.swap_with_slice(other);
    };
    for (lab, once) in quiet() {
        let exchange = &once.exchanges[once.rekeys[1].exchange.unwrap()];
        let mut packets = read_pcap(&lab.capture);
        let mut back = packets[exchange.frames[0] as usize - 1].clone();
        back.time = back.time.plus_nanos(MILLI);
        // Ethernet and IPv4 addresses; the checksums stay.
        swap(&mut back.data, 0, 6);
        swap(&mut back.data, 26, 4);
        packets.push(back);
        packets.sort_by_key(|p| p.time);
        let analysis = analyze_packets(&packets, &lab.keys);
        assert_eq!(analysis.capture.duplicates, 0, "{}", lab.name);
        assert_eq!(analysis.rekeys.len(), once.rekeys.len(), "{}", lab.name);
    }
}
