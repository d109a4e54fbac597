//! Causes that lie in the change from the old SAs to the new ones.

use crate::diagnosis::proven::ProofRule;
use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::scene::{PROCESSING, RekeyScene};
use crate::diagnosis::symptom::{MOST_FRAMES, Symptom, high_if};
use crate::diagnosis::tcp::{Retransmission, before};
use crate::throughput::flow::ConnectionId;
use foldhash::HashMap;
use rekeyscope_ipsec::ike::timeline::MessageRecord;
use rekeyscope_ipsec::rekey::{pair, slot};
use rekeyscope_ipsec::sa::association::{Association, LARGEST_LIFETIME_KILOBYTE, LIFETIME_KILOBYTE};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::volume::volume_sent;
use rekeyscope_model::analysis::{Confidence, Lifetime};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::LEAST_TIMEOUT;

/// A peer that goes on receiving acknowledges within [`LEAST_TIMEOUT`], and within this many round trips, where the path is long.
const DEAF_ROUND_TRIPS: i64 = 4;
/// Apart from the round trip, directions switch up to 0.3 s apart where nothing is wrong (lab: 0.02–0.29 s on busy hosts);
/// twice that is no accident of scheduling.
pub(crate) const ASYMMETRY_MARGIN: i64 = 600 * NANOS_PER_MILLI;
/// Segments in a row, from the first on the new SA, that no random loss takes.
const LEAST_RUN: usize = 2;
/// So much more, and for so much longer, another SA must have carried without its receiver going deaf. Where the limit is one and the
/// same, SAs carried 1.001 to 1.024 times as much as what was heard of another, in silence and all up to 1.103 times (lab); where one
/// was lost after three seconds and the other renewed after four, 1.2 times.
const FURTHER: f64 = 1.15;
/// Packets on the new SA that are searched for an acknowledgement, and retransmissions that are held against them.
const MOST_EARLY: usize = 2_048;
const MOST_REPEATS: usize = 256;

/// The old SA was used up to its hard limit before its successor took over: its receiver drops what comes after.
///
/// Where the limit was negotiated and can be read, the bytes decide (decrypted payload, as Linux counts; exact in all lab
/// captures): at least limit × 1000 is *medium*, × 1024 *high*, and a Delete for it makes it *high* too. What the capture
/// lacks was sent all the same: where the limit is reached only with missing packets of the usual size, it is *medium*. A time limit
/// counts when packets went on past it. IKEv2 negotiates no limit (RFC 7296 §2.8), and IKEv1 may be unreadable: then
/// the receiver must have gone deaf ([`deaf_receiver`]) where no other SA went further, and the confidence is *medium*.
pub(super) fn hard_limit_reached(scene: &RekeyScene<'_>) -> Option<Symptom> {
    (0..2).find_map(|d| {
        let index = scene.lanes[d].old?;
        let old = scene.sa(index);
        match scene.lifetime_of(old) {
            Some(limit) => limit_passed(scene, index, old, &limit),
            None => deaf_receiver(scene, d),
        }
    })
}

fn limit_passed(
    scene: &RekeyScene<'_>,
    index: SaIndex,
    old: &Association,
    limit: &Lifetime,
) -> Option<Symptom> {
    let captured = old.counters.inner_bytes;
    let sent = volume_sent(old).map_or(captured, |volume| volume.most);
    let at = |bytes: u64, unit: u64| limit.kilobytes.is_some_and(|kb| bytes >= kb.saturating_mul(unit));
    let expired_by_volume = limit.kilobytes != Some(0) && at(sent, LIFETIME_KILOBYTE);
    let expired_by_time = outlived(scene, old, limit);
    if !expired_by_volume && !expired_by_time {
        return None;
    }
    let delete = scene.delete_of(old);
    let sure = delete.is_some() || at(captured, LARGEST_LIFETIME_KILOBYTE) || expired_by_time;
    let last = scene.packets.iter().rev().filter(|p| p.sa() == index);
    let shown = last.take(3).map(|p| p.frame).chain(delete.map(|d| d.frame));
    Some(Symptom::new(high_if(sure), shown))
}

/// Packets on an SA after its negotiated time had run out (counted from the end of its exchange).
fn outlived(scene: &RekeyScene<'_>, old: &Association, limit: &Lifetime) -> bool {
    let (Some(seconds), Some(exchange), Some((last, _))) = (limit.seconds, old.exchange, old.last) else {
        return false;
    };
    let born = pair::last_time(&scene.evidence.exchanges[exchange]);
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    seconds > 0 && last.nanos_since(born) > seconds.saturating_mul(NANOS_PER_SECOND)
}

/// The receiver of direction `d` went deaf before the switch, and IKE between the two still worked: all segments up to the switch
/// were sent again, and it sent an IKE message meanwhile, but no packet on the SA of its own for longer
/// than its acknowledgements can take. That is what an SA that its receiver dropped looks like.
fn deaf_receiver(scene: &RekeyScene<'_>, d: usize) -> Option<Symptom> {
    let lost = scene.proof(d, ProofRule::LostOnOld)?;
    let (to, from) = (scene.lanes[1 - d].switched?, scene.lanes[1 - d].left?);
    let patience = LEAST_TIMEOUT.max(DEAF_ROUND_TRIPS * scene.rtt);
    let old = scene.lanes[d].old?;
    if to.nanos_since(from) < patience || another_went_further(scene, d, old, lost.from) {
        return None;
    }
    let receiver = scene.sa(old).dst;
    let messages = scene.tunnel_exchanges().flat_map(|(_, e, _)| e.records.iter());
    let alive = |r: &&MessageRecord| r.src == receiver && r.time > from && r.time < to;
    let alive: Vec<u64> = messages.filter(alive).map(|r| r.frame).take(3).collect();
    if alive.is_empty() {
        return None;
    }
    Some(Symptom::new(
        Confidence::Medium,
        alive.into_iter().chain(lost.frames.iter().copied()),
    ))
}

/// Another SA of the direction carried clearly more, and for clearly longer, than the `old` one until its receiver went `deaf`:
/// it was no limit.
fn another_went_further(scene: &RekeyScene<'_>, d: usize, old: SaIndex, deaf: Timestamp) -> bool {
    let own = scene.sa(old);
    let Some((born, _)) = own.first else { return false };
    let all = || scene.own_sas.iter().map(|&sa| scene.sa(sa));
    // What its receiver sent tells until when it was heard.
    let heard_until = |other: &Association| {
        let mut pair = all().filter(|a| a.exchange.is_some() && a.exchange == other.exchange);
        let reverse = pair.find(|a| a.direction != other.direction);
        reverse.unwrap_or(other).last.map(|(last, _)| last)
    };
    // What was sent into the silence did not count towards a limit.
    let unheard = scene.lane_packets(d).filter(|p| p.sa() == old && p.time >= deaf);
    let unheard: u64 = unheard.map(|p| u64::from(p.payload)).sum();
    let further = |mine: f64, its: f64| its > FURTHER * mine;
    let went_further = |other: &Association| {
        let (Some((first, _)), Some(until)) = (other.first, heard_until(other)) else {
            return false;
        };
        let [mine, its] = [own, other].map(|a| a.counters.inner_bytes);
        let heard = mine.saturating_sub(unheard);
        further(heard as f64, its as f64) && further(deaf.seconds_since(born), until.seconds_since(first))
    };
    all().any(|other| other.direction == own.direction && slot(other.direction) == d && went_further(other))
}

/// The initiator of a Quick Mode may send on the new SA as soon as its third message is out; the responder installs it
/// when that message arrives (RFC 2409 §5.5). Packets that are faster are lost, and while the message is lost, all are.
///
/// Evidence: the very first data on the new SA is sent again, without a gap in its ESP sequence until then; or the responder
/// repeats what packets on the new SA had acknowledged a round trip earlier.
pub(super) fn responder_not_ready(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let d = scene.initiator_slot().filter(|_| scene.is_quick_mode())?;
    let new = scene.lanes[d].new?;
    let third = scene.messages().nth(2)?;
    let exchange = scene.exchange()?;
    let own = exchange.records.iter().rev();
    let last_own = own.filter(|r| r.src == third.src).map(|r| r.time).next()?;
    let ready = last_own.plus_nanos(scene.rtt + PROCESSING);
    let early: Vec<&PacketRecord> = scene
        .packets
        .iter()
        .copied()
        .filter(|p| p.sa() == new && p.time <= ready)
        .collect();
    let mut shown = lost_at_the_start(scene, d, new, ready);
    shown.extend(unheard_acknowledgements(scene, d, &early));
    if shown.is_empty() {
        return None;
    }
    shown.truncate(MOST_FRAMES - 1);
    shown.push(third.frame);
    Some(Symptom::new(Confidence::High, shown))
}

/// The responder of a CREATE_CHILD_SA may send on the new SA as soon as its answer is out; the initiator installs it when the
/// answer arrives (RFC 7296 §2.8). Data that is faster than the answer, or than the initiator, is lost.
pub(super) fn initiator_not_ready(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let own = scene.initiator_slot().filter(|_| !scene.is_quick_mode())?;
    let d = 1 - own;
    let new = scene.lanes[d].new?;
    let answer = scene.messages().nth(1)?;
    let ready = answer.time.plus_nanos(scene.rtt + PROCESSING);
    let mut shown = lost_at_the_start(scene, d, new, ready);
    if shown.is_empty() {
        return None;
    }
    shown.truncate(MOST_FRAMES - 1);
    shown.push(answer.frame);
    Some(Symptom::new(Confidence::High, shown))
}

/// The unbroken run of segments, from the first one on a new SA, that were sent again. Where other segments were lost
/// too, a run of one may be chance (at 2 % loss the first segment is lost in 2 % of rekeys, the first two in 0.04 %).
fn lost_at_the_start(scene: &RekeyScene<'_>, d: usize, new: SaIndex, ready: Timestamp) -> Vec<u64> {
    if let Some(proof) = scene.proof(d, ProofRule::LostOnNew) {
        return proof.frames.clone();
    }
    let own = scene.lane_packets(d).filter(|p| p.sa() == new);
    let (mut shown, mut number) = (Vec::new(), None);
    for p in own.take_while(|p| p.time <= ready) {
        // Numbers that are missing are lost packets, or the capture's own.
        if number.is_some_and(|before: u32| p.sequence != before.wrapping_add(1)) {
            break;
        }
        number = Some(p.sequence);
        if !p.is_tcp_data() {
            continue;
        }
        let Some(&again) = scene.tcp.repeated.get(&p.frame) else {
            break;
        };
        shown.extend([p.frame, again]);
    }
    let own = |r: &&Retransmission| r.slot == d && r.original.is_none_or(|frame| !shown.contains(&frame));
    let others = scene.tcp.retransmissions.iter().any(|r| own(&r));
    if shown.len() < 2 * LEAST_RUN && others {
        shown.clear();
    }
    shown
}

/// Retransmissions by the responder of bytes that packets on the new SA, and no others, had acknowledged at least a
/// round trip before: it did not hear them.
fn unheard_acknowledgements(scene: &RekeyScene<'_>, d: usize, early: &[&PacketRecord]) -> Vec<u64> {
    let begin = early.first().map_or(scene.started, |p| p.time);
    let repeats = scene.tcp.retransmissions.iter();
    let mut repeats = repeats.filter(|r| r.slot == 1 - d && r.time > begin).peekable();
    if repeats.peek().is_none() {
        return Vec::new();
    }
    let mut heard: HashMap<ConnectionId, u32> = HashMap::default();
    let old = scene.lanes[d].old;
    for p in scene
        .lane_packets(d)
        .filter(|p| Some(p.sa()) == old && p.acknowledges())
    {
        let highest = heard.entry(p.connection).or_insert(p.ack);
        if before(*highest, p.ack) {
            *highest = p.ack;
        }
    }
    let unheard = |r: &Retransmission| {
        let covers =
            |p: &&&PacketRecord| p.acknowledges() && p.connection == r.connection && !before(p.ack, r.end);
        let first = early.iter().take(MOST_EARLY).find(covers)?;
        let long_before = first.time.plus_nanos(scene.rtt + PROCESSING) <= r.time;
        let only_here = heard.get(&r.connection).is_none_or(|&ack| before(ack, r.end));
        (long_before && only_here).then_some([first.frame, r.frame])
    };
    let shown = repeats.take(MOST_REPEATS).filter_map(unheard).flatten();
    shown.take(MOST_FRAMES).collect()
}

/// The receiver deleted the old SA while packets were still sent on it, and their data was lost. Where the hard limit was
/// the reason, [`hard_limit_reached`] says so instead.
pub(super) fn old_sa_deleted_early(scene: &RekeyScene<'_>) -> Option<Symptom> {
    if hard_limit_reached(scene).is_some() {
        return None;
    }
    (0..2).find_map(|d| {
        let old = scene.lanes[d].old?;
        let delete = scene
            .delete_of(scene.sa(old))
            .filter(|d| d.time >= scene.started)?;
        let late = scene
            .lane_packets(d)
            .filter(|p| p.sa() == old && p.time > delete.time);
        let repeated = late.filter_map(|p| Some([p.frame, *scene.tcp.repeated.get(&p.frame)?]));
        let mut shown: Vec<u64> = repeated.flatten().take(MOST_FRAMES).collect();
        if shown.is_empty() {
            return None;
        }
        shown.truncate(MOST_FRAMES - 1);
        shown.push(delete.frame);
        Some(Symptom::new(Confidence::High, shown))
    })
}

/// One direction went on with the old SA long after the other had left it: more than a round trip and
/// [`ASYMMETRY_MARGIN`]. An idle direction switches late too, so packets on the old SA after that time are asked for.
pub(super) fn asymmetric_switch(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let [Some(x), Some(y)] = [scene.lanes[0].switched, scene.lanes[1].switched] else {
        return None;
    };
    let (later, first, second) = if x > y { (0, y, x) } else { (1, x, y) };
    let margin = scene.rtt + ASYMMETRY_MARGIN;
    let old = scene.lanes[later].old?;
    let still: Vec<u64> = scene
        .lane_packets(later)
        .filter(|p| p.sa() == old && p.time.nanos_since(first) > margin && p.time <= second)
        .map(|p| p.frame)
        .collect();
    if second.nanos_since(first) <= margin || still.is_empty() {
        return None;
    }
    let switches = scene.lanes.iter().filter_map(|l| scene.sa(l.new?).first);
    let shown = switches.map(|(_, frame)| frame).chain(still.into_iter().take(10));
    Some(Symptom::new(Confidence::High, shown))
}
