//! `--tunnel` on ESP inside ESP.

use super::*;
use rekeyscope::pipeline::TunnelChoice;
use serde_json::{Value, to_value};

const INNER_ENDS: ([u8; 4], [u8; 4]) = ([10, 66, 0, 1], [10, 66, 0, 2]);
/// An SA of the outer tunnel of which nobody has the key.
const CLOSED_SPI: u32 = 0xc0de_0003;
/// Outer packets in that SA.
const CLOSED: u32 = 7;

fn suites() -> (Suite, Suite) {
    (Suite::aes_sha1(3), Suite::aes_sha1(9))
}

/// Packet `n` of the inner tunnel, in IP.
fn inner_packet(inner: &Suite, n: u32) -> Vec<u8> {
    let esp = inner.seal(INNER_SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
    ipv4(INNER_ENDS.0, INNER_ENDS.1, 50, &esp)
}

fn chosen(choice: &str) -> Options {
    Options {
        tunnel: Some(choice.parse::<TunnelChoice>().unwrap()),
        ..Options::default()
    }
}

/// What a list of the document says of tunnel `id`, and whether it speaks of others.
fn of_tunnel(analysis: &Analysis, list: &str, id: usize) -> (Vec<Value>, bool) {
    let document = to_value(analysis).unwrap();
    let entries = document.pointer(list).unwrap().as_array().unwrap();
    let own = |entry: &&Value| entry["tunnel"] == id;
    let of_others = entries.iter().any(|entry| !own(&entry));
    (entries.iter().filter(own).cloned().collect(), of_others)
}

/// By its number and by its address, between either kind of headers: all of the inner tunnel, nothing of the outer one.
#[test]
fn the_inner_tunnel_alone() {
    let (outer, inner) = suites();
    let keys = outer.esp_sa_row(SPI) + &inner.esp_sa_row(INNER_SPI);
    let esp = |n: u32| inner.seal(INNER_SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
    let ends = INNER_ENDS;
    for frames in [
        sealed(&outer, 4, |n| inner_packet(&inner, n)),
        sealed(&outer, 4, |n| ipv4(ends.0, ends.1, 17, &udp(4500, 4500, &esp(n)))),
    ] {
        let all = analyze_frames(LINKTYPE_RAW, &frames, &keys);
        for choice in ["1", "10.66.0.2"] {
            let alone = analyze_with(chosen(choice), LINKTYPE_RAW, &frames, &keys);
            assert_eq!(alone.tunnels, all.tunnels);
            assert_eq!(alone.capture, all.capture);
            for list in ["/security_associations", "/flows", "/impact", "/series/tunnels"] {
                let expected = of_tunnel(&all, list, 1).0;
                assert!(!expected.is_empty(), "{list}");
                assert_eq!(of_tunnel(&alone, list, 1), (expected, false), "{list}");
            }
            assert_one_flow(&alone, choice);
            assert_eq!(counted(&alone, "nested", "ESP"), u64::from(PACKETS));
            assert_eq!(counted(&alone, "closed_around", "ESP"), 0);
        }
        let around = analyze_with(chosen("0"), LINKTYPE_RAW, &frames, &keys);
        let expected = of_tunnel(&all, "/security_associations", 0).0;
        assert_eq!(of_tunnel(&around, "/security_associations", 0), (expected, false));
        assert!(around.flows.is_empty());
        assert_eq!(counted(&around, "nested", "ESP"), 0);
    }
}

/// A tunnel that appears later than an inner one keeps its number.
#[test]
fn the_numbers_are_those_of_the_whole_capture() {
    let (outer, inner) = suites();
    let keys = outer.esp_sa_row(SPI) + &inner.esp_sa_row(INNER_SPI);
    // More than wait to be decoded, so that the inner tunnel is the second one.
    let around = |n| outer.seal(SPI, u64::from(n) + 1, false, 4, &inner_packet(&inner, n));
    let mut frames: Vec<_> = (0..20_000).map(|n| ipv4(A, B, 50, &around(n))).collect();
    let later = [203, 0, 113, 9];
    frames.extend((0..PACKETS).map(|n| {
        let esp = outer.seal(CLOSED_SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
        ipv4(A, later, 50, &esp)
    }));
    let all = analyze_frames(LINKTYPE_RAW, &frames, &keys);
    let ends: Vec<_> = all.tunnels.iter().map(|t| t.b.to_string()).collect();
    assert_eq!(ends, ["198.51.100.7", "10.66.0.2", "203.0.113.9"]);
    let last = analyze_with(chosen("2"), LINKTYPE_RAW, &frames, &keys);
    assert_eq!(last.tunnels, all.tunnels);
    let expected = of_tunnel(&all, "/security_associations", 2);
    assert_eq!(expected.0.len(), 1);
    assert_eq!(of_tunnel(&last, "/security_associations", 2), (expected.0, false));
}

/// What a closed SA around the chosen tunnel kept is missing there, and that is said.
#[test]
fn closed_packets_around_the_chosen_tunnel_are_told() {
    let (outer, inner) = suites();
    let keys = outer.esp_sa_row(SPI) + &inner.esp_sa_row(INNER_SPI);
    let unknown = Suite::aes_sha1(77);
    let mut frames = sealed(&outer, 4, |n| inner_packet(&inner, n));
    for (number, n) in (1..).zip(PACKETS..PACKETS + CLOSED) {
        let esp = unknown.seal(CLOSED_SPI, number, false, 4, &inner_packet(&inner, n));
        frames.push(ipv4(A, B, 50, &esp));
    }
    let alone = analyze_with(chosen("10.66.0.1"), LINKTYPE_RAW, &frames, &keys);
    assert_eq!(alone.security_associations.len(), 1);
    assert_eq!(counted(&alone, "closed_around", "ESP"), 1, "one SA");
    let all = analyze_frames(LINKTYPE_RAW, &frames, &keys);
    assert_eq!(counted(&all, "closed_around", "ESP"), 0);
}
