//! Causes that inner TCP shows.

use crate::diagnosis::scene::RekeyScene;
use crate::diagnosis::symptom::Symptom;
use crate::diagnosis::tcp::DataStall;
use foldhash::HashMap;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::analysis::Confidence;
use rekeyscope_model::sample::Sample;
use rekeyscope_model::time::NANOS_PER_SECOND;
use rekeyscope_traffic::LEAST_TIMEOUT;

/// The smallest replay window in use (RFC 4303 §3.4.3: at least 32).
const LEAST_REPLAY_WINDOW: u32 = 32;
/// Packets that came too late and were sent again: one may be an accident.
const ENOUGH_REPLAY_DROPS: usize = 2;
/// A slow path is slower than this share of the rate before …
const SLOW_RATE: f64 = 0.7;
/// … from this long after the switch (transients are other causes') …
const SETTLED: i64 = NANOS_PER_SECOND / 2;
/// … for this long.
const STEADY: i64 = 2 * NANOS_PER_SECOND;
/// A sender that is limited by the path sends full segments: their mean may fall by this share at most.
const LEAST_SEGMENT_SHARE: f64 = 0.9;
/// A rate over fewer segments than this says nothing.
const ENOUGH_SEGMENTS: usize = 20;
/// A connection with less of the data than this (the control connection beside a transfer) explains no loss of it.
const BULK_SHARE: f64 = 0.1;

/// Pauses of connections that carry a part of the tunnel's data worth speaking of, in either direction.
fn data_stalls<'a>(scene: &'a RekeyScene<'_>) -> impl Iterator<Item = &'a DataStall> {
    let all: u64 = scene.tcp.bytes.values().flatten().sum();
    let carries = move |s: &&DataStall| {
        let own = scene.tcp.bytes.get(&s.connection).map_or(0, |b| b[s.slot]);
        own as f64 >= BULK_SHARE * all as f64
    };
    let touches = |s: &&DataStall| s.to >= scene.started && s.from <= scene.zone_end;
    scene.tcp.stalls.iter().filter(touches).filter(carries)
}

/// Packets more than a replay window behind, whose data was sent again: the receiver refused them.
pub(super) fn replay_drops(scene: &RekeyScene<'_>) -> Option<Symptom> {
    // Each of them is one that was sent again.
    if scene.tcp.repeated.len() < ENOUGH_REPLAY_DROPS {
        return None;
    }
    let mut highest: HashMap<SaIndex, u32> = HashMap::default();
    let mut shown = Vec::new();
    for p in &scene.packets {
        let top = highest.entry(p.sa()).or_insert(p.sequence);
        let behind = top.saturating_sub(p.sequence);
        *top = (*top).max(p.sequence);
        if behind < LEAST_REPLAY_WINDOW || !p.is_late() || !scene.in_zone(p.time) {
            continue;
        }
        if let Some(&again) = scene.tcp.repeated.get(&p.frame) {
            shown.extend([p.frame, again]);
        }
    }
    let enough = shown.len() >= 2 * ENOUGH_REPLAY_DROPS;
    enough.then(|| Symptom::new(Confidence::Medium, shown))
}

/// Nothing is lost and nobody waits, but the new SA carries less: packets take a slow path (software instead of
/// hardware, until each flow is offloaded anew).
pub(super) fn slow_path(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let from = scene.data_switch().plus_nanos(SETTLED);
    let to = from.plus_nanos(STEADY);
    if scene.packets.last().is_none_or(|p| p.time < to) {
        return None;
    }
    let troubled = |time| time >= scene.started && time <= to;
    let lossy = scene.tcp.retransmissions.iter().any(|r| troubled(r.time));
    let waiting = scene.tcp.zero_windows.iter().any(|z| troubled(z.1));
    let pausing = scene
        .tcp
        .stalls
        .iter()
        .any(|s| s.slot == scene.data && troubled(s.to));
    if lossy || waiting || pausing {
        return None;
    }
    let (before, after) = (scene.rate_before(scene.data), scene.rate(scene.data, from, to));
    if after >= SLOW_RATE * before || segment_share(scene, from.0..to.0)? < LEAST_SEGMENT_SHARE {
        return None;
    }
    let own = scene.lane_packets(scene.data);
    let shown = own
        .filter(|p| p.time >= from && p.time < to)
        .take(5)
        .map(|p| p.frame);
    Some(Symptom::new(Confidence::Medium, shown))
}

/// Mean segment in a time over the mean segment before the rekey; `None` with too few of either.
fn segment_share(scene: &RekeyScene<'_>, time: std::ops::Range<i64>) -> Option<f64> {
    let mean = |inside: &dyn Fn(i64) -> bool| {
        let sizes: Vec<f64> = scene
            .lane_packets(scene.data)
            .filter(|p| p.is_tcp_data() && inside(p.time.0))
            .map(|p| f64::from(p.payload))
            .collect();
        (sizes.len() >= ENOUGH_SEGMENTS).then(|| Sample::of(&sizes).mean)
    };
    let before = mean(&|t| t < scene.started.0)?;
    Some(mean(&|t| time.contains(&t))? / before)
}

/// The sender rested for at least the smallest retransmission timeout and then sent its oldest segment again:
/// milliseconds of loss, then slow start. (What the capture shows as acknowledged may never have reached the sender.)
pub(super) fn rto_stall(scene: &RekeyScene<'_>) -> Option<Symptom> {
    let stalls = data_stalls(scene).filter(|s| {
        let starts = s.from >= scene.started || s.to >= scene.data_switch();
        s.nanos() >= LEAST_TIMEOUT && s.ended_by_retransmission && !s.asked_for && starts
    });
    let shown: Vec<u64> = stalls.flat_map(|s| [s.from_frame, s.to_frame]).collect();
    (!shown.is_empty()).then(|| Symptom::new(Confidence::High, shown))
}
