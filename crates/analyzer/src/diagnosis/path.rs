//! Causes between the peers and in the capture: sizes, NAT, PPP, lost frames, leaks.

use crate::diagnosis::holes::HoleProof;
use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::scene::RekeyScene;
use crate::diagnosis::symptom::{Symptom, high_if};
use crate::diagnosis::tcp::UnseenBytes;
use foldhash::HashSet;
use rekeyscope_ipsec::esp::inner::Control;
use rekeyscope_model::analysis::Confidence;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp, seconds};

/// Share of fragmented packets before and after the switch that makes a change: none to speak of, then many.
const FEW_FRAGMENTS: f64 = 0.02;
const MANY_FRAGMENTS: f64 = 0.2;
/// Packets on each side of the switch that make a share.
const ENOUGH_PACKETS: usize = 20;
/// L2TP message types (RFC 2661 §3.2).
const STOP_CONTROL_CONNECTION: u16 = 4;
const HELLO: u16 = 6;
const CALL_DISCONNECT: u16 = 14;
/// PPP LCP and its codes (RFC 1661 §5).
const LCP: u16 = 0xc021;
const CONFIGURE_REQUEST: u8 = 1;
const TERMINATE_REQUEST: u8 = 5;
const PROTOCOL_REJECT: u8 = 8;
/// L2TP acknowledges control messages within a second, then the sender repeats them (RFC 2661 §5.8).
const HELLO_PATIENCE: i64 = NANOS_PER_SECOND;
/// Shortest pause of the data that scattered holes can explain: the ledger's shortest silence.
const LEAST_PAUSE: i64 = 50 * NANOS_PER_MILLI;
/// Least share of a pause that scattered holes account for when they explain a rekey's loss: the bytes that are missing at its end, at the rate before.
const ACCOUNTED: f64 = 0.5;
/// Bytes acknowledged and never captured: more than a reordered segment.
const LEAST_UNSEEN: usize = 2;
/// Notifications of an unknown SPI (RFC 2408 §3.14.1, RFC 7296 §3.10.1).
const INVALID_SPI: [&str; 2] = ["INVALID-SPI", "INVALID_SPI"];

/// Encapsulation or transform differ between the old and the new SA, or fragments begin at the switch.
pub(super) fn fragmentation_change(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let d = scene.data;
    let lane = scene.lanes[d];
    let (old, new) = (scene.sa(lane.old?), scene.sa(lane.new?));
    let transforms = old.transform().zip(new.transform());
    let differs =
        old.encapsulation != new.encapsulation || transforms.is_some_and(|(o, n)| !same_overhead(&o, &n));
    let share = |packets: &[&PacketRecord]| {
        let fragmented = packets.iter().filter(|p| p.fragments > 1).count();
        (packets.len() >= ENOUGH_PACKETS).then(|| fragmented as f64 / packets.len() as f64)
    };
    let of = |sa| -> Vec<&PacketRecord> {
        scene
            .lane_packets(d)
            .filter(|p| p.payload > 0 || !p.is_opened())
            .filter(|p| Some(p.sa()) == sa)
            .collect()
    };
    let (before, after) = (of(lane.old), of(lane.new));
    let begin = matches!((share(&before), share(&after)), (Some(b), Some(a)) if b <= FEW_FRAGMENTS && a >= MANY_FRAGMENTS);
    if !differs && !begin {
        return None;
    }
    let first = after.iter().filter(|p| !begin || p.fragments > 1).take(5);
    let last = before.last();
    let shown = last.into_iter().chain(first).map(|p| p.frame);
    Some(Symptom::new(high_if(begin), shown))
}

fn same_overhead(
    a: &rekeyscope_model::algorithm::Transform,
    b: &rekeyscope_model::algorithm::Transform,
) -> bool {
    a.encryption == b.encryption && a.integrity == b.integrity
}

/// A UDP port of ESP changed between the packets of a direction: the NAT forgot its mapping.
pub(super) fn nat_mapping_change(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let mut shown = Vec::new();
    for d in 0..2 {
        let in_udp = scene.lane_packets(d).filter_map(|p| Some((p, p.udp_ports()?)));
        let mut previous = None;
        for (p, ports) in in_udp {
            if let Some((before, other)) = previous.replace((p.frame, ports))
                && other != ports
                && scene.in_zone(p.time)
            {
                shown.extend([before, p.frame]);
            }
        }
    }
    (!shown.is_empty()).then(|| Symptom::new(Confidence::High, shown))
}

/// L2TP or PPP in trouble while data was flowing: the session is torn down, negotiated anew, or a Hello stays without
/// an answer.
pub(super) fn ppp_trouble(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let controls: Vec<(&PacketRecord, Control)> = scene
        .packets
        .iter()
        .filter(|p| scene.in_zone(p.time))
        .filter_map(|p| Some((*p, p.control()?)))
        .collect();
    if controls.is_empty() {
        return None;
    }
    let data_before = scene
        .packets
        .iter()
        .any(|p| p.time < scene.started && p.is_tcp_data());
    let answers = l2tp_times(scene);
    let troubled = |(p, control): &(&PacketRecord, Control)| match *control {
        Control::L2tp(Some(STOP_CONTROL_CONNECTION | CALL_DISCONNECT)) => true,
        Control::L2tp(Some(HELLO)) => !is_answered(scene, &answers, p),
        Control::Ppp { protocol: LCP, code } => match code {
            TERMINATE_REQUEST | PROTOCOL_REJECT => true,
            CONFIGURE_REQUEST => data_before,
            _ => false,
        },
        _ => false,
    };
    let shown: Vec<u64> = controls
        .iter()
        .filter(|c| troubled(c))
        .map(|(p, _)| p.frame)
        .collect();
    (!shown.is_empty()).then(|| Symptom::new(Confidence::High, shown))
}

/// Times of the L2TP control messages, ascending, by direction.
fn l2tp_times(scene: &RekeyScene<'_>) -> [Vec<Timestamp>; 2] {
    [0, 1].map(|d| {
        let control = |p: &&PacketRecord| matches!(p.control(), Some(Control::L2tp(_)));
        let mut times: Vec<Timestamp> = scene.lane_packets(d).filter(control).map(|p| p.time).collect();
        times.sort_unstable();
        times
    })
}

/// A control message the other way within [`HELLO_PATIENCE`]; near the end of the window nobody knows.
fn is_answered(scene: &RekeyScene<'_>, times: &[Vec<Timestamp>; 2], hello: &PacketRecord) -> bool {
    let until = hello.time.plus_nanos(HELLO_PATIENCE);
    let known = scene.packets.last().is_some_and(|p| p.time >= until);
    let other_way = &times[1 - hello.slot()];
    let next = other_way.get(other_way.partition_point(|time| *time < hello.time));
    !known || next.is_some_and(|time| *time <= until)
}

/// The capture lacks frames that were on the wire: a proven hole, or scattered packets whose bytes the receiver acknowledged.
/// The latter explain a pause only as far as their bytes would have filled it.
pub(super) fn capture_artefact(scene: &RekeyScene<'_>) -> Option<Symptom> {
    if !scene.holes.is_empty() {
        let proven = scene.holes.iter().any(|h| h.proof == HoleProof::Acknowledged);
        let shown = scene.holes.iter().flat_map(|h| h.frames).flatten();
        return Some(Symptom::new(high_if(proven), shown).proven());
    }
    if scene.proofs.iter().any(Option::is_some) {
        return None; // the old SA was dead, or the new one not there
    }
    let of_rekey = |u: &&UnseenBytes| scene.in_zone(u.time) && u.bytes > 0;
    let mut unseen: Vec<&UnseenBytes> = scene.tcp.unseen.iter().filter(of_rekey).collect();
    if unseen.len() >= LEAST_UNSEEN {
        let jumps = [0, 1].map(|d| jumps(scene, d));
        unseen.retain(|u| jumps[u.slot].contains(&u.frame));
    }
    if unseen.len() < LEAST_UNSEEN || !account_for_pause(scene, &unseen) {
        return None;
    }
    let shown = unseen.iter().flat_map(|u| [u.frame, u.ack_frame]);
    Some(Symptom::new(Confidence::High, shown))
}

/// Whether the missing bytes fill the longest pause of the data around the rekey; true where there is none.
fn account_for_pause(scene: &RekeyScene<'_>, unseen: &[&UnseenBytes]) -> bool {
    let own = scene.tcp.stalls.iter().filter(|s| {
        s.slot == scene.data && s.nanos() >= LEAST_PAUSE && s.to >= scene.started && s.from <= scene.zone_end
    });
    let Some(longest) = own.max_by_key(|s| s.nanos()) else {
        return true;
    };
    let within = unseen
        .iter()
        .filter(|u| u.slot == scene.data && u.time >= longest.from && u.time <= longest.to);
    let bytes: u64 = within.map(|u| u64::from(u.bytes)).sum();
    let pause_s = seconds(longest.nanos());
    bytes as f64 >= ACCOUNTED * pause_s * scene.rate_before(scene.data)
}

/// Frames of a direction right before which ESP numbers are missing. (Several packets of one frame, in TCP: the first.)
fn jumps(scene: &RekeyScene<'_>, d: usize) -> HashSet<u64> {
    let mut previous: Option<&PacketRecord> = None;
    let mut frames = HashSet::default();
    for p in scene.lane_packets(d) {
        let jumps = |q: &PacketRecord| {
            q.frame != p.frame && q.sa == p.sa && p.sequence > q.sequence.saturating_add(1)
        };
        if previous.is_some_and(jumps) {
            frames.insert(p.frame);
        }
        previous = Some(p);
    }
    frames
}

/// Packets that belong into the tunnel went beside it in clear, or a peer does not know an SPI.
pub(super) fn desync(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let complaints = scene
        .tunnel_exchanges()
        .filter(|(_, e, _)| e.notifications.iter().any(|n| INVALID_SPI.contains(n)))
        .flat_map(|(_, e, _)| e.records.iter())
        .filter(|r| scene.in_zone(r.time))
        .map(|r| r.frame);
    let leaks = scene.leaks.iter().map(|(_, frame)| *frame);
    let shown: Vec<u64> = complaints.chain(leaks).collect();
    (!shown.is_empty()).then(|| Symptom::new(Confidence::High, shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::scene::LaneChange;
    use crate::diagnosis::tcp::{TcpEvents, UnseenBytes};
    use rekeyscope_ipsec::rekey::Evidence;
    use rekeyscope_testkit::thread_time::assert_linear;

    const EVIDENCE: Evidence<'static> = Evidence {
        tunnels: &[],
        exchanges: &[],
        exchange_tunnels: &[],
        associations: &[],
        snapshots: &[],
    };

    /// A synthetic window of a packet every 10 µs, in which everything counts as the rekey's.
    fn scene(packets: &[PacketRecord]) -> RekeyScene<'_> {
        RekeyScene {
            own_sas: &[],
            earlier: Vec::new(),
            evidence: EVIDENCE,
            tunnel: 0,
            exchange: None,
            started: Timestamp(0),
            zone_end: Timestamp(i64::MAX),
            lanes: [LaneChange::default(); 2],
            data: 0,
            packets: packets.iter().collect(),
            beyond: Vec::new(),
            tcp: TcpEvents::default(),
            rtt: 0,
            holes: Vec::new(),
            leaks: Vec::new(),
            proofs: [None, None],
        }
    }

    fn packet(k: u32, up: bool) -> PacketRecord {
        let time = Timestamp(i64::from(k) * 10_000);
        PacketRecord {
            sequence: k,
            ..PacketRecord::for_test(up, time, u64::from(k), (0, 0, 0))
        }
    }

    #[test]
    fn a_hello_is_answered_by_the_next_control_message_the_other_way() {
        let hello = |k| packet(k, true).as_l2tp(HELLO);
        // An acknowledgement without a message.
        let answer = |k| packet(k, false).as_l2tp(u16::MAX);
        let cases = [
            (vec![hello(0), answer(1), packet(200_000, false)], 0),
            (vec![hello(0), answer(100_000), packet(200_000, false)], 0),
            // Too late; too early; the same way; no control message.
            (vec![hello(0), answer(100_001), packet(300_000, false)], 1),
            (vec![answer(0), hello(1), packet(300_000, false)], 1),
            (vec![hello(0), hello(1), packet(200_000, false)], 2),
            (vec![hello(0), packet(1, false), packet(200_000, false)], 1),
            // Nobody knows.
            (vec![hello(0), packet(1, false)], 0),
        ];
        for (k, (packets, unanswered)) in cases.into_iter().enumerate() {
            let found = ppp_trouble(&scene(&packets));
            assert_eq!(found.map_or(0, |c| c.frames.len()), unanswered, "case {k}");
        }
    }

    #[test]
    fn the_cost_of_hellos_grows_with_the_packets() {
        const PACKETS: u32 = 1 << 18;
        let hellos: Vec<PacketRecord> = (0..PACKETS)
            .map(|k| {
                if k % 2 == 0 {
                    packet(k, true).as_l2tp(HELLO)
                } else {
                    packet(k, false)
                }
            })
            .collect();
        let scene = scene(&hellos);
        assert_linear(hellos.len(), || assert!(ppp_trouble(&scene).is_some()));
    }

    #[test]
    fn the_cost_of_unseen_bytes_grows_with_the_packets() {
        const PACKETS: u32 = 1 << 18;
        let packets: Vec<PacketRecord> = (0..PACKETS).map(|k| packet(k, false)).collect();
        let mut scene = scene(&packets);
        // As many as are kept, all of them at the end, and none where a number is missing.
        scene.tcp.unseen = (0..1 << 12)
            .map(|k| UnseenBytes {
                slot: 0,
                time: Timestamp(1),
                frame: u64::from(PACKETS - 1 - k),
                ack_frame: 1,
                bytes: 1,
            })
            .collect();
        assert_linear(packets.len(), || assert!(capture_artefact(&scene).is_none()));
    }
}
