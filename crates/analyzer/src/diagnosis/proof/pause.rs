//! Rule C: the longest silence around a rekey was the sender's own. Everything it had sent was acknowledged for at least half
//! of it, the next byte in sequence ended it, and nothing speaks against the rekey.

use crate::diagnosis::proven::ProofRule;
use crate::diagnosis::proven::{LEAST_OUTAGE, ProvenByPackets};
use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::scene::{PROCESSING, RekeyScene};
use crate::diagnosis::tcp::{LEAST_RTO, before};
use crate::throughput::by_connection::ByConnection;
use crate::throughput::flow::ConnectionId;
use rekeyscope_ipsec::esp::inner::TcpSegment;
use rekeyscope_ipsec::rekey::pair;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::volume::volume_sent;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// A gap counts as the rekey's when it begins by this long after the switch.
const GAP_ZONE: i64 = NANOS_PER_SECOND / 2;
/// An SA below this share of its limit did not reach it: soft limits lie at 95 % and below, and kilobytes of 1,000 and 1,024
/// bytes differ by 2.4 %.
const BELOW_LIMIT: f64 = 0.97;
/// Streams that are followed; with more, nobody is acquitted.
const MOST_STREAMS: usize = 256;

/// The acquittal of direction `d`.
pub(super) fn pause_of_the_sender(scene: &RekeyScene<'_>, d: usize) -> Option<ProvenByPackets> {
    let zone = (scene.started, scene.lanes[d].switched?.plus_nanos(GAP_ZONE));
    let pause = longest_pause(scene.all_packets(), d, zone)?;
    let nanos = pause.to.0.nanos_since(pause.from.0);
    // Who hears nothing repeats after its timeout: the last that could have told it more did.
    let unasked = pause.to.0.nanos_since(pause.told?);
    let listened = unasked >= LEAST_RTO && 2 * unasked >= nanos;
    if !listened && !is_heard(scene, d, pause.acknowledged?) {
        return None;
    }
    let own = nanos >= LEAST_OUTAGE && 2 * pause.idle >= nanos && pause.ends_in_sequence && !pause.disturbed;
    let sound = |side| is_below_limit(scene, side) && !is_deleted(scene, side, pause.to.0);
    let clean = scene.holes.is_empty() && (0..2).all(sound) && !ike_repeats(scene);
    (own && clean).then(|| ProvenByPackets {
        rule: ProofRule::Acquitted,
        from: pause.from.0,
        to: pause.to.0,
        segments: 0,
        frames: vec![pause.from.1, pause.to.1],
    })
}

/// The acknowledgement that left nothing waiting reached the sender of direction `d`: on a new SA it does once that is
/// installed.
fn is_heard(scene: &RekeyScene<'_>, d: usize, (time, sa): (Timestamp, SaIndex)) -> bool {
    let reverse = scene.lanes[1 - d];
    let ready = reverse.switched.map(|t| t.plus_nanos(scene.rtt + PROCESSING));
    Some(sa) != reverse.new || ready.is_some_and(|ready| time > ready)
}

/// Without a limit that could be read, nothing is known.
fn is_below_limit(scene: &RekeyScene<'_>, d: usize) -> bool {
    let Some(old) = scene.lanes[d].old.map(|sa| scene.sa(sa)) else {
        return false;
    };
    let Some(limits) = scene.lifetime_of(old) else {
        return false;
    };
    let volume = volume_sent(old).and_then(|v| v.share()).unwrap_or(0.0);
    let born = old
        .exchange
        .map(|e| pair::last_time(&scene.evidence.exchanges[e]));
    let age = match (limits.seconds.filter(|s| *s > 0), born, scene.lanes[d].switched) {
        (Some(seconds), Some(born), Some(now)) => now.seconds_since(born) / seconds as f64,
        _ => 0.0,
    };
    volume < BELOW_LIMIT && age < BELOW_LIMIT
}

/// The old SA was deleted before data went on.
fn is_deleted(scene: &RekeyScene<'_>, d: usize, end: Timestamp) -> bool {
    let old = scene.lanes[d].old.map(|sa| scene.sa(sa));
    let delete = old.and_then(|old| scene.delete_of(old));
    delete.is_some_and(|delete| delete.time <= end)
}

/// A message of an exchange around the rekey came again.
fn ike_repeats(scene: &RekeyScene<'_>) -> bool {
    let mut messages = scene.tunnel_exchanges().flat_map(|(_, e, _)| e.records.iter());
    messages.any(|m| m.retransmission && scene.in_zone(m.time))
}

/// A silence between two packets that bring new data.
#[derive(Debug, Clone, Copy)]
struct Pause {
    from: (Timestamp, u64),
    to: (Timestamp, u64),
    /// How long before its end everything had been acknowledged, nanoseconds.
    idle: i64,
    /// The acknowledgement since which that holds, and its SA.
    acknowledged: Option<(Timestamp, SaIndex)>,
    ends_in_sequence: bool,
    /// The last packet of the receiver before its end.
    told: Option<Timestamp>,
    /// Something was sent again meanwhile, in either direction.
    disturbed: bool,
}

#[derive(Debug, Default)]
struct PausingStream {
    edge: Option<u32>,
    acked: Option<u32>,
}

impl PausingStream {
    fn is_waiting(&self) -> bool {
        let behind = |edge| self.acked.is_none_or(|acked| before(acked, edge));
        self.edge.is_some_and(behind)
    }
}

/// The longest pause of direction `d` that touches the zone.
fn longest_pause<'a>(
    packets: impl Iterator<Item = &'a PacketRecord>,
    d: usize,
    (begin, end): (Timestamp, Timestamp),
) -> Option<Pause> {
    let mut streams = ByConnection::<PausingStream>::with_bound(MOST_STREAMS);
    // Streams of which something is not acknowledged.
    let mut waiting = 0;
    let (mut last, mut idle_since, mut disturbed) = (None, None, false);
    let mut told = None;
    let mut longest: Option<Pause> = None;
    for p in packets.filter(|p| p.is_tcp() && p.connection != ConnectionId::NONE) {
        disturbed |= p.again > 0;
        if p.flags & (TcpSegment::SYN | TcpSegment::RST) != 0 {
            let gone = streams.remove(p.connection);
            waiting -= usize::from(gone.is_some_and(|stream| stream.is_waiting()));
            continue;
        }
        if p.slot() != d {
            told = Some(p.time);
            if p.acknowledges()
                && let Some(stream) = streams.get(p.connection)
            {
                let waited = stream.is_waiting();
                if stream.acked.is_none_or(|acked| before(acked, p.ack)) {
                    stream.acked = Some(p.ack);
                }
                waiting -= usize::from(waited && !stream.is_waiting());
                if waited && waiting == 0 {
                    idle_since = Some((p.time, p.sa()));
                }
            }
            continue;
        }
        if p.payload == 0 {
            continue;
        }
        let stream = streams.get_or_begin(p.connection)?;
        let edge = stream.edge;
        if p.new > 0 {
            if last.is_some_and(|(since, _)| since > end) {
                break;
            }
            if let Some(from @ (since, _)) = last.replace((p.time, p.frame))
                && p.time >= begin
            {
                let pause = Pause {
                    from,
                    to: (p.time, p.frame),
                    idle: idle_since
                        .map_or(0, |(idle, _): (Timestamp, _)| p.time.nanos_since(idle.max(since))),
                    acknowledged: idle_since,
                    ends_in_sequence: edge == Some(p.seq),
                    told,
                    disturbed,
                };
                let nanos = |x: &Pause| x.to.0.nanos_since(x.from.0);
                longest = longest.filter(|x| nanos(x) >= nanos(&pause)).or(Some(pause));
            }
            disturbed = false;
        }
        idle_since = None;
        let waited = stream.is_waiting();
        if edge.is_none_or(|edge| before(edge, p.seq_end())) {
            stream.edge = Some(p.seq_end());
        }
        waiting += usize::from(!waited && stream.is_waiting());
    }
    longest
}
