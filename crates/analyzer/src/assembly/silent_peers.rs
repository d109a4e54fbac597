//! Peers that answer no check to the end: they are gone, though nothing was to be carried.

use crate::assembly::scene::{Explored, HeardIke, heard};
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{CarriedKind, Interval, IntervalKind, PairId, SenderBefore, ShownBy, Undelivered};

/// The stretches, each from the last packet of a peer to the end, where no stretch of `others` reaches so far. IKEv1 hides what a message
/// asks, so its checks show nothing here.
pub(crate) fn silent_peers(
    found: Explored<'_>,
    others: &[(Interval, Undelivered)],
) -> Vec<(Interval, Undelivered)> {
    let told = |tunnel: usize, time: Timestamp| {
        let mut own = others.iter().map(|(interval, _)| interval);
        own.any(|interval| interval.tunnel as usize == tunnel && interval.to >= time)
    };
    let is_certain = |event: &&Event| {
        event.kind == EventKind::ChecksUnanswered
            && event.known != Certainty::Inferred
            && event.count.is_some_and(|copies| copies >= LEAST_NOT_BY_CHANCE)
    };
    let events = found.events.iter().filter(is_certain);
    let messages = heard(found.record);
    let mut stretches: Vec<(Interval, Undelivered)> = Vec::new();
    for event in events {
        let Some(tunnel) = event.tunnel.filter(|tunnel| !told(*tunnel, event.time)) else {
            continue;
        };
        if stretches.iter().all(|(own, _)| own.tunnel as usize != tunnel) {
            stretches.extend(stretch(found, &messages, event, tunnel));
        }
    }
    stretches
}

/// The stretch of one of these events, up to the end of the capture.
fn stretch(
    found: Explored<'_>,
    messages: &HeardIke,
    event: &Event,
    tunnel: TunnelIndex,
) -> Option<(Interval, Undelivered)> {
    let record = found.record;
    let ends = record.totals.last_time?;
    let towards = record.tunnels.tunnels.get(tunnel)?.direction_to(event.by?);
    let newest = |direction: Direction| {
        let all = record.sas.associations().iter().enumerate();
        let own =
            all.filter(|(_, sa): &(usize, &Association)| (sa.tunnel, sa.direction) == (tunnel, direction));
        own.filter_map(|(index, sa)| Some((sa.last?, index))).max()
    };
    let last_message = messages
        .get(&(tunnel, slot(towards.reverse())))
        .and_then(|own| own.last().copied());
    // A tunnel that never carried a packet was not set up.
    let last_packet = newest(towards.reverse())?.0;
    let (from, frame) = last_message.map_or(last_packet, |message| message.max(last_packet));
    if from >= event.time {
        return None;
    }
    let undelivered = Undelivered {
        attempts: u32::try_from(event.count?).ok()?,
        dead: Some((event.time, ends)),
        open: true,
        ..Undelivered::shown(CarriedKind::Echo, ShownBy::Requests)
    };
    let interval = Interval {
        pair: PairId::NONE,
        tunnel: u32::try_from(tunnel).ok()?,
        direction: towards,
        from,
        to: ends,
        frames: (frame, None),
        spis: (newest(towards).and_then(|(_, sa)| u32::try_from(sa).ok()), None),
        lost: Vec::new(),
        before: SenderBefore::default(),
        kind: IntervalKind::Outage(undelivered),
    };
    Some((interval, undelivered))
}
