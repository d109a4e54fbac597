//! What a capture may lack or have too much of, and never a wrong rate: packets cut by the snap length, both sides of a mirror
//! port, packets larger than any link, packets that the capture lost, records out of order. Made from a real capture record by
//! record, but for the packets larger than any link, which are synthetic.

use crate::support::{analyze, lab_of_sample};
use rekeyscope_model::analysis::*;
use rekeyscope_model::time::Timestamp;
use rekeyscope_testkit::containers::{
    LINKTYPE_ETHERNET, Order, Packet, Pcapng, read_pcap, ticks, write_pcap,
};
use rekeyscope_testkit::scenario::{self, SEGMENT, TICK, World};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const SAMPLE: &str = "l2tp_kb_modp1024_down";
/// Ethernet (14), IPv4 (20), SPI and sequence number (8), IV (16), and what is left of 96 bytes.
const SNAP_LEN: usize = 96;
/// A record moves by less than this many places, some 10 ms of the sample: what moves over an end of the transfer (seconds)
/// changes its rate by less than this share.
const SHUFFLED: usize = 50;
const SHUFFLED_TOLERANCE: f64 = 0.01;
/// Two sides of a mirror port stamp the same packet a few microseconds apart.
const MIRROR_DELAY: i64 = 3_000;

fn whole(keys: bool) -> &'static Analysis {
    static WITH: OnceLock<Analysis> = OnceLock::new();
    static WITHOUT: OnceLock<Analysis> = OnceLock::new();
    let sample = lab_of_sample(SAMPLE);
    if keys {
        WITH.get_or_init(|| analyze(&sample.capture, &sample.keys))
    } else {
        WITHOUT.get_or_init(|| analyze(&sample.capture, &[]))
    }
}

fn sample_packets() -> Vec<Packet> {
    read_pcap(&lab_of_sample(SAMPLE).capture)
}

fn analyze_packets(packets: &[Packet], keys: &[PathBuf]) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.pcap");
    write_pcap(&path, packets);
    analyze(&path, keys)
}

fn with_keys(packets: &[Packet]) -> Analysis {
    analyze_packets(packets, &lab_of_sample(SAMPLE).keys)
}

/// Packets, outer and ESP bytes of each SA.
fn amounts(analysis: &Analysis) -> Vec<(String, u64, u64, u64)> {
    let mut list: Vec<_> = analysis
        .security_associations
        .iter()
        .map(|sa| (sa.spi.to_string(), sa.packets, sa.outer_bytes, sa.esp_bytes))
        .collect();
    list.sort();
    list
}

fn assert_same_rekeys(ours: &Analysis, theirs: &Analysis) {
    let pairs = |a: &Analysis| -> Vec<String> {
        let list = a.rekeys.iter();
        list.map(|r| format!("{:?} {:?}", r.old, r.new)).collect()
    };
    assert!(!theirs.rekeys.is_empty());
    assert_eq!(pairs(ours), pairs(theirs));
}

fn assert_rates_within(share: f64, ours: &Analysis, theirs: &Analysis) {
    assert_eq!(ours.impact.len(), theirs.impact.len());
    for (ours, theirs) in ours.impact.iter().zip(&theirs.impact) {
        assert_eq!(ours.direction, theirs.direction);
        // A direction without a transfer has no rate.
        let (Some(o), Some(t)) = (ours.observed_bps, theirs.observed_bps) else {
            assert_eq!(ours.observed_bps, theirs.observed_bps);
            continue;
        };
        assert!((o - t).abs() <= share * t, "{o} instead of {t} bit/s");
    }
    assert!(theirs.impact.iter().any(|i| i.observed_bps.is_some()));
}

/// The text report, then what is said beside it.
fn said(capture: &Path, keys: &[PathBuf]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rekeyscope"));
    command.env("LC_ALL", "C").arg(capture).arg("-v");
    for file in keys {
        command.arg("--keys").arg(file);
    }
    let output = command.output().unwrap();
    assert!(output.status.success());
    let both = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&both).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn has_finding(analysis: &Analysis, id: &str) -> bool {
    analysis.findings.iter().any(|f| f.id == id)
}

fn cut(mut packets: Vec<Packet>, at: usize) -> Vec<Packet> {
    packets.iter_mut().for_each(|p| p.data.truncate(at));
    packets
}

/// The same packet on the tagged side of the mirrored port.
fn tagged(packet: &Packet, tags: &[u16]) -> Packet {
    let later = packet.tagged(tags);
    Packet {
        time: later.time.plus_nanos(MIRROR_DELAY),
        ..later
    }
}

fn mirrored(packets: &[Packet], tags: &[u16]) -> Vec<Packet> {
    let both = packets.iter().flat_map(|p| [p.clone(), tagged(p, tags)]);
    let mut both: Vec<Packet> = both.collect();
    both.sort_by_key(|p| p.time);
    both
}

#[test]
fn rates_of_cut_packets_are_those_of_the_wire() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pcap");
    let packets = cut(sample_packets(), SNAP_LEN);
    write_pcap(&path, &packets);
    // The keys open nothing of it, and change nothing: rates are outer bytes.
    let keys = lab_of_sample(SAMPLE).keys;
    for keys in [&keys[..], &[]] {
        let short = analyze(&path, keys);
        assert_eq!(amounts(&short), amounts(whole(false)));
        assert_same_rekeys(&short, whole(false));
        assert_rates_within(f64::EPSILON, &short, whole(false));
        let cut = packets.iter().filter(|p| p.original_len as usize > p.data.len());
        assert_eq!(short.capture.cut_packets, cut.count() as u64);
        let opened = short.security_associations.iter().filter_map(|sa| sa.inner_bytes);
        assert_eq!(opened.sum::<u64>(), 0, "nothing is made up");
        let text = said(&path, keys);
        assert!(text.contains("cut by the snap length"), "{text}");
        assert!(text.contains("-s 0"), "{text}");
        assert!(text.contains(&format!("after {SNAP_LEN} bytes")), "{text}");
    }
}

#[test]
fn both_sides_of_a_mirror_port_count_once() {
    for tags in [&[7][..], &[100, 7]] {
        let twice = with_keys(&mirrored(&sample_packets(), tags));
        let once = whole(true);
        assert_eq!(amounts(&twice), amounts(once), "{tags:?}");
        assert_eq!(
            twice.capture.duplicates,
            once.capture.duplicates + once.capture.packets
        );
        assert_same_rekeys(&twice, once);
        assert_rates_within(f64::EPSILON, &twice, once);
        assert_eq!(twice.impact[0].verdict, once.impact[0].verdict);
    }
}

/// The snap length cuts the tagged copy four bytes further up: the ends of the two differ.
#[test]
fn both_sides_of_a_mirror_port_count_once_when_cut() {
    for tags in [&[7][..], &[100, 7]] {
        let twice = analyze_packets(&cut(mirrored(&sample_packets(), tags), SNAP_LEN), &[]);
        let once = whole(false);
        assert_eq!(amounts(&twice), amounts(once), "{tags:?}");
        assert_rates_within(f64::EPSILON, &twice, once);
        assert_same_rekeys(&twice, once);
    }
}

/// As short as the doubly tagged copy of an ESP header and eight bytes: IKE is lost, but nothing counts twice.
#[test]
fn both_sides_of_a_mirror_port_count_once_in_the_shortest_snap_length() {
    const SHORTEST: usize = 14 + 8 + 20 + 8 + 8;
    let once = analyze_packets(&cut(sample_packets(), SHORTEST), &[]);
    for tags in [&[7][..], &[100, 7]] {
        let twice = analyze_packets(&cut(mirrored(&sample_packets(), tags), SHORTEST), &[]);
        assert_eq!(amounts(&twice), amounts(&once), "{tags:?}");
        assert_rates_within(f64::EPSILON, &twice, &once);
    }
}

#[test]
fn reordered_records_keep_rekeys_bytes_and_rate() {
    let mut packets = sample_packets();
    // Fisher–Yates within blocks, by xorshift64.
    let mut state = 88_172_645_463_325_252_u64;
    for block in packets.chunks_mut(SHUFFLED) {
        for i in (1..block.len()).rev() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            block.swap(i, (state % (i as u64 + 1)) as usize);
        }
    }
    let back = packets.windows(2).filter(|w| w[1].time < w[0].time).count();
    let shuffled = with_keys(&packets);
    assert_eq!(shuffled.capture.time_regressions, back as u64);
    assert_eq!(amounts(&shuffled), amounts(whole(true)));
    assert_eq!(shuffled.capture.duplicates, whole(true).capture.duplicates);
    assert_same_rekeys(&shuffled, whole(true));
    assert_rates_within(SHUFFLED_TOLERANCE, &shuffled, whole(true));
}

/// Every hundredth ESP packet with data is not in the file, but for the ends of SAs: no number tells that those are missing.
fn dropped_by_the_capture(packets: Vec<Packet>) -> Vec<Packet> {
    let mut ends: HashMap<Vec<u8>, [Timestamp; 2]> = HashMap::new();
    let with_data = |p: &Packet| p.data.get(23) == Some(&50) && p.original_len > 1_000;
    for p in packets.iter().filter(|p| with_data(p)) {
        ends.entry(p.data[34..38].to_vec()).or_insert([p.time; 2])[1] = p.time;
    }
    let mut counted = 0;
    let kept = packets.into_iter().filter(|p| {
        let inside = with_data(p) && !ends[&p.data[34..38]].contains(&p.time);
        counted += u32::from(inside);
        !inside || counted % 100 != 0
    });
    kept.collect()
}

#[test]
fn packets_that_the_capture_lost_are_no_loss_of_the_tunnel() {
    let all = sample_packets();
    let kept = dropped_by_the_capture(all.clone());
    let gone = (all.len() - kept.len()) as u64;
    let lossy = with_keys(&kept);
    let missing =
        |a: &Analysis| -> u64 { a.security_associations.iter().map(|sa| sa.sequence.missing).sum() };
    assert_eq!(missing(&lossy), missing(whole(true)) + gone);
    assert_same_rekeys(&lossy, whole(true));
    assert!(has_finding(&lossy, "capture_drops"), "{:?}", lossy.findings);
    assert!(!has_finding(&lossy, "one_direction_loss"), "{:?}", lossy.findings);
    // What is not in the file is not in the rate: by no more than its share.
    assert_rates_within(gone as f64 / all.len() as f64 * 2.0, &lossy, whole(true));
}

/// A pcapng file (little-endian, nanoseconds). `drops`: what the interface statistics say, else what one packet's block says.
fn pcapng(packets: &[Packet], statistics: Option<u64>, with_packet: Option<u64>) -> Vec<u8> {
    let mut file = Pcapng::new(Order::Little);
    file.interface(LINKTYPE_ETHERNET, 0, &[(9, &[9])]);
    for (index, packet) in packets.iter().enumerate() {
        // epb_dropcount
        let dropped = with_packet.filter(|_| index == 100).map(u64::to_le_bytes);
        let options: Vec<(u16, &[u8])> = dropped.iter().map(|count| (4, &count[..])).collect();
        file.enhanced(0, ticks(packet.time, 9, 0), packet, &options);
    }
    if let Some(dropped) = statistics {
        // isb_ifdrop
        file.statistics(0, &[(5, &dropped.to_le_bytes())]);
    }
    file.bytes
}

#[test]
fn drops_that_the_capture_program_reports_are_reported() {
    let packets = &sample_packets()[..3_000];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dropped.pcapng");
    for (statistics, with_packet) in [(Some(42), None), (None, Some(42)), (Some(0), None), (None, None)] {
        std::fs::write(&path, pcapng(packets, statistics, with_packet)).unwrap();
        let analysis = analyze(&path, &[]);
        let told = statistics.or(with_packet);
        assert_eq!(analysis.capture.packets, 3_000);
        assert_eq!(analysis.capture.dropped_reported, told);
        assert_eq!(has_finding(&analysis, "capture_drops"), told == Some(42));
    }
}

/// Bytes of a segment that the network card would cut, and the time that keeps the rate: SEGMENT bytes per TICK.
const LARGE_SEGMENT: usize = 24 * SEGMENT;
const LARGE_TICK: u64 = 24 * TICK;

/// A download with a rekey in its middle that costs nothing, in segments of this length.
fn download(folder: &Path, segment_len: usize, tick: u64) -> (Vec<PathBuf>, u64) {
    let mut w = World::new();
    (w.segment_len, w.tick) = (segment_len, tick);
    w.establish(250_000);
    w.steady(9_600);
    let mut qm = w.begin(true);
    for _ in 0..3 {
        w.message(&mut qm);
        w.steady(48);
    }
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.steady(9_600);
    let sent = u64::from(w.seq - 1_000);
    (w.write(folder, true), sent)
}

#[test]
fn packets_larger_than_any_link_keep_bytes_and_rate() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [small, large] = [(SEGMENT, TICK, 0), (LARGE_SEGMENT, LARGE_TICK, 1)].map(|(len, tick, at)| {
        let folder = folders[at].path();
        let (keys, sent) = download(folder, len, tick);
        let path = folder.join("trace.pcap");
        let analysis = analyze(&path, &keys);
        assert_eq!(analysis.capture.offload_suspected, at == 1);
        let on_wire = read_pcap(&path).into_iter().filter(|p| p.data[23] == 50);
        let outer: u64 = on_wire.map(|p| u64::from(p.original_len) - 14).sum();
        let counted = amounts(&analysis);
        assert_eq!(counted.iter().map(|sa| sa.2).sum::<u64>(), outer);
        let flows: u64 = analysis.flows.iter().map(|f| f.new_bytes).sum();
        assert_eq!(flows, sent);
        assert_eq!(
            said(&path, &keys).contains("Packets larger than any link"),
            at == 1
        );
        analysis
    });
    // Begin and end of a transfer are packets: two large segments in 19 s.
    let tolerance = 2.0 * LARGE_TICK as f64 / (19_200.0 * scenario::MILLI as f64);
    assert_rates_within(tolerance, &large, &small);
    // Gaps between such packets are the card's, not the rekey's.
    for analysis in [&small, &large] {
        assert_eq!(analysis.rekeys.len(), 1);
        assert_ne!(analysis.impact[0].verdict, Verdict::Shown);
        assert!(analysis.rekeys[0].impact.iter().all(|i| !i.hurt));
    }
}
