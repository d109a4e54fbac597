//! All pairs of inner addresses.

use super::backoff::{SmallPassed, are_doubled, are_of_an_answer, count_apart};
use super::candidate::{Before, Candidate, Delivered, InVain, TransferEnd};
use super::delivery::{PairDelivery, waiting_for};
use super::echoes::EchoesInVain;
use super::judge::{Circumstances, judge};
use super::late::{LatePackets, REPLAY_WINDOWS};
use super::unread::UnreadTunnel;
use crate::interval::{
    CarriedKind, Interval, LostPacket, SenderBefore, ShownBy, Standstill, StandstillKind, Undelivered,
};
use crate::packet::{EspNumber, InnerPayload, Packet};
use crate::segment::{PairId, Segment, SegmentKind, Settlement};
use crate::table::{BoundedTable, by_key};
use crate::tcp::{INITIAL_WINDOW, LEAST_TIMEOUT};
use crate::tracker::Tracker;
use foldhash::HashMap;
use rekeyscope_model::analysis::{Direction, Event, EventKind};
use rekeyscope_model::chance::{LEAST_NOT_BY_CHANCE, SEVERAL};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::borrow::Cow;
use std::net::IpAddr;

/// Most directions of pairs that are watched, 4 MB without their stretches; beyond, one that was not used lately is forgotten, and its
/// stretches with it.
const MOST_DIRECTIONS: usize = 1 << 13;
/// Most stretches that are kept, 12 MB; later ones are counted only ([`Outages::left_out`]).
const MOST_STRETCHES: usize = 1 << 13;
/// Most tunnels without keys, each with its silences: 20 MB without these.
const MOST_UNREAD: usize = 1 << 12;
/// Jumps and gaps of any size that are kept, 1 MB each; of later ones nothing is known.
const MOST_GAPS: usize = 1 << 15;
/// Gaps that a late packet is looked for in, from the latest back: more than any reordering of a path leaves open.
const FILLED_GAPS: usize = 1 << 10;
/// Probes whose answers are looked for at once.
const MOST_PROBES: usize = 1 << 6;

/// Bytes of TCP options at most, which a full segment has less of data (RFC 9293 §3.1).
const MOST_OPTIONS: u32 = 40;

/// Identifications or sequence numbers of a pair's connection that the capture lacks at once.
#[derive(Debug, Clone, Copy)]
struct NumberJump {
    time: Timestamp,
    pair: (PairId, Direction),
    missing: u32,
}

/// Numbers of an SA, one or more, that the capture lacks before a packet.
#[derive(Debug, Clone, Copy)]
struct NumberGap {
    time: Timestamp,
    frame: u64,
    tunnel: u32,
    direction: Direction,
    /// The packet's place.
    esp: EspNumber,
    /// Numbers between it and the highest one before.
    width: u32,
    /// Numbers among them that did not come later.
    missing: u32,
}

impl NumberGap {
    fn holds(&self, late: EspNumber) -> bool {
        let behind = self.esp.number.checked_sub(late.number);
        late.spi == self.esp.spi && behind.is_some_and(|behind| (1..=u64::from(self.width)).contains(&behind))
    }
}

/// Finds the stretches without delivery.
#[derive(Debug, Default)]
pub struct Outages {
    directions: BoundedTable<(PairId, Direction), PairDelivery, MOST_DIRECTIONS>,
    jumps: Vec<NumberJump>,
    gaps: Vec<NumberGap>,
    /// Frames of packets behind the replay window, in the order of the capture, and by how many numbers.
    behind_window: Vec<(u64, u32)>,
    /// Counts of them, by tunnel.
    late: BoundedTable<(u32, Direction), LatePackets, MOST_DIRECTIONS>,
    /// Tunnels with packets that no key opens, or with datagrams.
    unread: BoundedTable<u32, UnreadTunnel, MOST_UNREAD>,
    /// Stretches of all directions.
    kept: usize,
    /// Probes of closed windows that were not answered yet: the last one of each direction, and how many came before it.
    probes: Vec<((PairId, Direction), Delivered, u64)>,
    /// The largest payload of TCP.
    largest: u32,
    latest: Option<Timestamp>,
    previous: Option<Timestamp>,
    /// Packets that came before the one in front of them, less those that did not.
    backwards: i64,
}

impl Outages {
    /// Takes a packet that the tracker has just taken, and what that said.
    #[inline]
    pub fn take(&mut self, packet: &Packet, segment: &Segment, tracker: &Tracker) {
        let time = Some(packet.time);
        self.backwards += if time < self.previous { 1 } else { -1 };
        self.previous = time;
        self.latest = self.latest.max(time);
        // Missing numbers of its SA tell of these, too.
        if segment.missing < INITIAL_WINDOW {
            if u32::from(segment.id_jump) >= INITIAL_WINDOW {
                self.jump(packet.time, segment, u32::from(segment.id_jump));
            } else if segment.gap >= u64::from(INITIAL_WINDOW) * u64::from(segment.len.max(1)) {
                self.window_lost(segment, tracker);
            }
        }
        if segment.missing > 0 || segment.behind > 0 {
            self.out_of_order(packet, segment);
        }
        let unanswered = matches!(
            packet.payload,
            InnerPayload::Unread(_) | InnerPayload::Datagram(_)
        );
        if unanswered || !self.unread.is_empty() {
            self.take_unread(packet, segment, unanswered);
        }
        if segment.kind != SegmentKind::Unnumbered {
            self.largest = self.largest.max(segment.len);
        }
        for settled in tracker.settled() {
            self.settle(packet, settled, tracker);
        }
        self.probe(segment, tracker);
        if segment.closes || segment.kind == SegmentKind::Unnumbered && segment.pair != PairId::NONE {
            self.other(packet, segment);
        }
        if segment.closes {
            // A request may wait for its answer.
            for asked in Direction::BOTH
                .into_iter()
                .filter_map(|of| tracker.unanswered(of))
            {
                let waits = waiting_for(&asked, Delivered::of(packet));
                self.with((asked.pair, asked.direction), packet.tunnel, |own| {
                    own.wait(waits)
                });
            }
        }
    }

    /// Changes a direction of a pair, and counts the stretches that it keeps.
    #[inline]
    fn with<R>(
        &mut self,
        key: (PairId, Direction),
        tunnel: u32,
        change: impl FnOnce(&mut PairDelivery) -> R,
    ) -> Option<R> {
        let new = || PairDelivery::new(key.0, tunnel, key.1);
        let (place, gone) = self.directions.place(key, new);
        self.kept -= gone.map_or(0, |gone| gone.kept());
        let own = self.directions.at_mut(place)?;
        let before = own.kept();
        own.room = self.kept < MOST_STRETCHES;
        let changed = change(own);
        self.kept = self.kept + own.kept() - before;
        Some(changed)
    }

    /// A packet behind missing ones, or one that comes late and fills a gap.
    #[cold]
    fn out_of_order(&mut self, packet: &Packet, segment: &Segment) {
        let Some(esp) = packet.esp else {
            return;
        };
        if segment.missing > 0 && self.gaps.len() < MOST_GAPS {
            self.gaps.push(NumberGap {
                time: packet.time,
                frame: packet.frame,
                tunnel: packet.tunnel,
                direction: packet.direction,
                esp,
                width: segment.missing,
                missing: segment.missing,
            });
        }
        if segment.behind > 0 && segment.kind != SegmentKind::Duplicate {
            let side = (packet.tunnel, packet.direction);
            let mut latest = self.gaps.iter_mut().rev().take(FILLED_GAPS);
            let filled = latest.find(|gap| (gap.tunnel, gap.direction) == side && gap.holds(esp));
            if let Some(gap) = filled {
                gap.missing = gap.missing.saturating_sub(1);
            }
        }
        if segment.behind >= REPLAY_WINDOWS[0] {
            self.come_late(packet, segment.behind);
        }
    }

    fn come_late(&mut self, packet: &Packet, behind: u32) {
        if self.behind_window.len() < MOST_GAPS {
            self.behind_window.push((packet.frame, behind));
        }
        let key = (packet.tunnel, packet.direction);
        let (place, _) = self.late.place(key, LatePackets::default);
        if let Some(own) = self.late.at_mut(place) {
            own.count(behind);
        }
    }

    #[inline]
    fn settle(&mut self, packet: &Packet, settled: &Settlement, tracker: &Tracker) {
        let largest = self.largest;
        let tunnel = self.with((settled.pair, settled.direction), packet.tunnel, |own| {
            own.take(settled, largest);
            // The sender that is known now is that of the packet's connection.
            own.look(packet.time, || tracker.sender(settled.direction));
            own.tunnel
        });
        let side = tunnel.map(|tunnel| (tunnel, settled.direction));
        if let Some(behind) = self.came_behind(settled.frame)
            && let Some(of_side) = side.and_then(|side| self.late.get_mut(&side))
        {
            of_side.settle(behind, settled.fate);
        }
    }

    /// The numbers by which a frame came behind the replay window, where it did.
    #[inline]
    fn came_behind(&self, frame: u64) -> Option<u32> {
        let late = self.behind_window.binary_search_by_key(&frame, |late| late.0);
        late.ok().map(|place| self.behind_window[place].1)
    }

    /// A probe of a closed window, or the answer to one.
    #[inline]
    fn probe(&mut self, segment: &Segment, tracker: &Tracker) {
        let side = (segment.pair, segment.direction.reverse());
        if segment.acks.is_some()
            && let Some(place) = self.probes.iter().position(|own| own.0 == side)
        {
            let (_, probe, before) = self.probes.swap_remove(place);
            let in_time = before < LEAST_NOT_BY_CHANCE;
            if let Some(own) = self.directions.get_mut(&side).filter(|_| in_time) {
                own.answer_probe(probe);
            }
        }
        let is_small = matches!(
            segment.kind,
            SegmentKind::KeepAlive | SegmentKind::WindowProbe | SegmentKind::Retransmission
        ) && segment.len <= 1;
        let closed = || {
            tracker
                .sender(segment.direction)
                .is_some_and(|sender| sender.window_closed)
        };
        if is_small && closed() {
            let probe = Delivered::new(segment.time, segment.frame, segment.esp);
            let side = (segment.pair, segment.direction);
            let known = self.probes.iter_mut().find(|own| own.0 == side);
            if let Some((_, last, before)) = known {
                (*last, *before) = (probe, *before + 1);
            } else {
                if self.probes.len() >= MOST_PROBES {
                    self.probes.swap_remove(0);
                }
                self.probes.push((side, probe, 0));
            }
        }
    }

    #[cold]
    fn jump(&mut self, time: Timestamp, segment: &Segment, missing: u32) {
        if self.jumps.len() < MOST_GAPS {
            let at = self.jumps.partition_point(|own| own.time <= time);
            let pair = (segment.pair, segment.direction);
            self.jumps.insert(at, NumberJump { time, pair, missing });
        }
    }

    /// A segment beyond a gap, all below which is acknowledged: a whole window vanished before the last delivery. A sender whose timer has ended
    /// sends one segment and then new ones (F-RTO, RFC 5682), whatever its security associations and identifications.
    fn window_lost(&mut self, segment: &Segment, tracker: &Tracker) {
        let sender = tracker.sender(segment.direction);
        let all_below = sender.is_some_and(|sender| sender.snd_una + segment.gap == segment.seq);
        let own = self.directions.get(&(segment.pair, segment.direction));
        let last = own.and_then(|own| own.delivered).filter(|_| all_below);
        let missing = u32::try_from(segment.gap / u64::from(segment.len.max(1))).unwrap_or(u32::MAX);
        if let Some(last) = last {
            self.jump(last.time, segment, missing);
        }
    }

    /// Takes a packet without TCP data, or one that closes a connection.
    fn other(&mut self, packet: &Packet, segment: &Segment) {
        let direction = packet.direction;
        let at = Delivered::of(packet);
        let of = match packet.payload {
            InnerPayload::Echo { request: false, .. } => direction.reverse(),
            _ => direction,
        };
        self.with((segment.pair, of), packet.tunnel, |own| match packet.payload {
            InnerPayload::Echo {
                request: true,
                id,
                seq,
                bytes,
            } => own.echoes.ask((id, seq), at, bytes),
            InnerPayload::Echo { id, seq, .. } => {
                if let Some(candidate) = own.echoes.answer((id, seq), at.time) {
                    own.keep_other(CarriedKind::Echo, candidate);
                }
            }
            InnerPayload::Datagram(bytes) => {
                own.datagram(at, bytes);
                own.other(CarriedKind::Datagrams, at, segment.missing);
            }
            InnerPayload::Unread(_) => {}
            InnerPayload::Tcp(_) => own.close(packet.time),
        });
        if matches!(packet.payload, InnerPayload::Echo { .. }) {
            self.echo_passes(packet, at, segment);
        }
        if segment.closes {
            // A side that closes or resets a connection waits for nothing more; whatever comes all the same opens it again.
            let other = (segment.pair, direction.reverse());
            self.with(other, packet.tunnel, |other| other.close(packet.time));
        }
    }

    /// Requests and replies alike go the way of their own direction.
    fn echo_passes(&mut self, packet: &Packet, at: Delivered, segment: &Segment) {
        let (own, asking) = (packet.direction, packet.direction.reverse());
        self.with((segment.pair, own), packet.tunnel, |own| {
            // The missing packets are no echoes where none is left out.
            let missing = match own.leaves_out(&packet.payload) {
                true => segment.missing,
                false => 0,
            };
            own.other(CarriedKind::Echo, at, missing);
        });
        self.with((segment.pair, asking), packet.tunnel, |asking| {
            asking.echoes.hear()
        });
    }

    /// A packet of a tunnel that has, or begins to have, packets that nothing inside acknowledges.
    fn take_unread(&mut self, packet: &Packet, segment: &Segment, unanswered: bool) {
        let key = packet.tunnel;
        if unanswered && self.unread.get(&key).is_none() {
            self.unread.insert(key, UnreadTunnel::new(key));
        }
        if let Some(tunnel) = self.unread.get_mut(&key) {
            tunnel.take(packet, segment.missing, segment.behind >= REPLAY_WINDOWS[0]);
        }
    }

    /// The packets that follow were captured before those that came: they may fill what was missing, and acknowledge nothing of what
    /// waits. `end`: of the part that ends. To be called before the tracker forgets what waits.
    pub fn begin_earlier_part(&mut self, tracker: &Tracker, end: Timestamp) {
        self.jumps.clear();
        self.gaps.clear();
        for settled in tracker.waiting() {
            if let Some(own) = self.directions.get_mut(&(settled.pair, settled.direction)) {
                own.abandon(&settled, end);
            }
        }
    }

    /// Stretches that there was no room for.
    pub fn left_out(&self) -> u64 {
        let unread: u64 = self.unread.values().map(UnreadTunnel::left_out).sum();
        self.directions.values().map(|own| own.left_out).sum::<u64>() + unread
    }

    /// Time at which a direction of a tunnel sent the first data that was delivered.
    pub fn first_delivered(&self, tunnel: u32, direction: Direction) -> Option<Timestamp> {
        let own = self.directions.values();
        let own = own.filter(|own| (own.tunnel, own.direction) == (tunnel, direction));
        own.filter_map(|own| Some(own.first_delivered?.time)).min()
    }

    /// The pairs of which one host never answered an echo request of the other one, by the direction of the requests.
    pub fn echoes_in_vain(&self) -> impl Iterator<Item = (PairId, Direction, EchoesInVain)> {
        let all = self.directions.values();
        all.filter_map(|own| Some((own.pair, own.direction, own.echoes.in_vain()?)))
    }

    /// Packets of a direction that came late.
    pub fn late(&self, tunnel: u32, direction: Direction) -> LatePackets {
        self.late.get(&(tunnel, direction)).copied().unwrap_or_default()
    }

    /// The moment since which nothing of a direction of a tunnel is delivered, though data waits; `None` where some is, or no timer has passed
    /// before the end.
    pub fn open_since(
        &self,
        tracker: &Tracker,
        (tunnel, direction): (u32, Direction),
        end: Timestamp,
    ) -> Option<Timestamp> {
        let own = self.directions.values();
        let own = own.filter(|own| (own.tunnel, own.direction) == (tunnel, direction));
        let last = own.filter_map(|own| own.delivered).max_by_key(|last| last.time)?;
        let mut waiting = tracker.waiting().filter(|settled| settled.direction == direction);
        let waits = waiting.any(|settled| {
            let own = self.directions.get(&(settled.pair, direction));
            own.is_some_and(|own| own.tunnel == tunnel)
        });
        let own = self.unread.get(&tunnel);
        let hidden = own.and_then(|own| own.hidden.behind(last.time));
        (waits && hidden.is_none() && end.nanos_since(last.time) >= NANOS_PER_SECOND).then_some(last.time)
    }

    /// All stretches, in order of time. `events` in order of time; `end`: of the capture, its last frame of any kind.
    pub fn intervals(&self, tracker: &Tracker, events: &[Event], end: Timestamp) -> Vec<Interval> {
        if self.backwards > 0 {
            // A file that was written backwards has acknowledgements before their data.
            return Vec::new();
        }
        let end = self.latest.map_or(end, |latest| latest.max(end));
        let last = Delivered::nothing(end);
        let waiting = tracker.waiting();
        let waiting = by_key(waiting.map(|settled| ((settled.pair, settled.direction), settled)));
        let asked = tracker.all_unanswered();
        let asked = by_key(asked.map(|own| ((own.pair, own.direction), waiting_for(&own, last))));
        let addresses: HashMap<PairId, (u32, IpAddr, IpAddr)> = tracker.all_addresses().collect();
        let receiver = |own: &PairDelivery| {
            let (tunnel, a, b) = *addresses.get(&own.pair)?;
            Some((tunnel, own.direction, own.direction.pick(b, a)))
        };
        let by_receiver = by_key(self.directions.values().map(|own| (receiver(own), own)));
        let mut all = Vec::new();
        for own in self.directions.values() {
            let same_receiver = by_receiver.get(&receiver(own)).map_or(&[][..], Vec::as_slice);
            let judge_one = |carried, candidate: &Candidate, open, unfinished, small: Option<SmallPassed>| {
                let (candidate, cut) = &self.seen(own, candidate)?;
                let (open, unfinished) = (open && !cut, unfinished && !cut);
                let receiver = (own, same_receiver);
                let mut around = self.circumstances(receiver, candidate, events, open, unfinished);
                if let Some(passed) = small {
                    let smallest = candidate.in_vain.smallest_until(candidate.to.time);
                    around.echoes += passed.answered;
                    around.largest_passed = around.largest_passed.max(passed.largest);
                    around.never_larger = own.large.never_arrived(&candidate.in_vain);
                    around.cut = passed.cut && smallest > Some(passed.larger_since);
                }
                let judged = judge(carried, candidate, &around)?;
                // The silence of TCP is no rest where the pair carries datagrams too.
                let counts = judged.0 != StandstillKind::Rest || unseen(own).is_none();
                counts.then(|| interval(own, candidate, open, judged))
            };
            let key = (own.pair, own.direction);
            let waiting = waiting.get(&key).map_or(&[][..], Vec::as_slice);
            let candidates = own.candidates.iter();
            let closed = candidates.map(|candidate| with_waiting(candidate, waiting, end));
            let mut of_all: Vec<Interval> = closed
                .filter_map(|candidate| judge_one(CarriedKind::Tcp, &candidate, false, false, None))
                .collect();
            // A host that others reached before was there, and so was one whose side sent no ESP of any host until then.
            let was_there = |candidate: &Candidate| {
                let mut reached = same_receiver.iter().filter_map(|other| other.first_reached());
                let mut silent = events.iter().filter(|event| {
                    let is_own = event.kind == EventKind::EspSilent && event.spis.is_empty();
                    is_own && event.tunnel == Some(own.tunnel as usize)
                });
                !candidate.before.unheard
                    || reached.any(|first| first.time < candidate.from.time)
                    || silent.any(|event| {
                        event.time <= candidate.from.time && event.until >= Some(candidate.to.time)
                    })
            };
            let others = own.others.iter().filter(|(_, candidate)| was_there(candidate));
            all.extend(
                others.filter_map(|(carried, candidate)| judge_one(*carried, candidate, false, false, None)),
            );
            let asked = asked.get(&key).into_iter().flatten();
            all.extend(
                asked.filter_map(|candidate| judge_one(CarriedKind::Tcp, candidate, true, true, None)),
            );
            let judge_large = |(candidate, passed): &(Candidate, SmallPassed), open| {
                judge_one(CarriedKind::Tcp, candidate, open, false, Some(*passed))
            };
            let large = own.only_small.iter().filter_map(|seen| judge_large(seen, false));
            let open_small = own.only_small_to(end, waiting);
            let large: Vec<Interval> = large
                .chain(open_small.and_then(|seen| judge_large(&seen, true)))
                .collect();
            let open_echoes = own.echoes.open(last);
            if let Some(candidate) = open_echoes.filter(|candidate| !candidate.before.unheard) {
                all.extend(judge_one(CarriedKind::Echo, &candidate, true, false, None));
            }
            if let Some((candidate, unfinished)) = open(own, waiting, end) {
                let ended = self.way_opens(own, &candidate);
                let (candidate, open) = (ended.as_ref().unwrap_or(&candidate), ended.is_none());
                of_all.extend(judge_one(CarriedKind::Tcp, candidate, open, unfinished, None));
            }
            of_all.retain(|part| !large.iter().any(|whole| is_part(part, whole)));
            all.extend(of_all);
            all.extend(large);
            all.extend(unseen(own));
        }
        for own in all.iter_mut().filter(|own| own.facts.undelivered.open) {
            if let Some(back) = self.goes_on_elsewhere(own, &addresses, events) {
                own.to = back.time;
                own.facts.undelivered.open = false;
                own.facts.frames.1 = Some(back.frame);
                own.facts.spis.1 = spi(back);
            }
        }
        let unread = self.unread.values();
        for (tunnel, (direction, silences)) in
            unread.flat_map(|tunnel| tunnel.silences(end).into_iter().map(move |of| (tunnel, of)))
        {
            let is_answered = tunnel.is_answered(direction);
            let own = PairDelivery::new(PairId::NONE, tunnel.tunnel, direction);
            for mut silence in silences {
                let (open, small) = (silence.open, silence.small);
                let around = Circumstances {
                    echoes: small.answered,
                    largest_passed: small.largest,
                    ..self.circumstances((&own, &[]), &silence.candidate, events, open, open)
                };
                if was_over(&silence.candidate, events, tunnel.tunnel) {
                    silence.candidate.transfer_end = TransferEnd::Late;
                }
                // An outage tells that something waited, and so does what the control plane did; a loss does not. Where nothing answers, only
                // missing numbers tell.
                let is_told = |(kind, undelivered): &(StandstillKind, Undelivered)| match kind {
                    StandstillKind::Outage => is_answered || undelivered.shown_by == ShownBy::MissingNumbers,
                    StandstillKind::ShortOutage => {
                        is_answered && undelivered.shown_by == ShownBy::ControlPlane
                    }
                    _ => false,
                };
                let judged = judge(CarriedKind::Unread, &silence.candidate, &around);
                let Some(judged) = judged.filter(is_told) else {
                    continue;
                };
                let mut found = interval(&own, &silence.candidate, open, judged);
                let asks = all.iter().any(|other| asks_in_vain(other, &found));
                let undelivered = &mut found.facts.undelivered;
                undelivered.carried = tunnel.carried(direction);
                undelivered.receiver_rests = silence.receiver_rests() && !asks;
                // An outage that a pair of addresses shows is told of that pair.
                if !all.iter().any(|other| is_of_pair(other, &found)) {
                    all.push(found);
                }
            }
        }
        all.sort_by_key(|interval| (interval.from, interval.facts.pair, interval.facts.direction));
        all
    }

    /// The first packet that was delivered to or from another address, in place of one end of an open stretch, behind a new session: who dials again may get
    /// another address inside.
    fn goes_on_elsewhere(
        &self,
        open: &Interval,
        addresses: &HashMap<PairId, (u32, IpAddr, IpAddr)>,
        events: &[Event],
    ) -> Option<Delivered> {
        let facts = &open.facts;
        let (tunnel, a, b) = *addresses.get(&facts.pair)?;
        let began =
            |event: &&Event| begins_session(event.kind) && concerns(event, tunnel) && event.time > open.from;
        let since = events.iter().find(began)?.time;
        let own = self.directions.values();
        let pairs = own.filter(|own| own.tunnel == tunnel && own.direction == facts.direction);
        let reached = Vec::from_iter(pairs.filter_map(|own| {
            let (_, one, other) = *addresses.get(&own.pair)?;
            Some(([one, other], own.first_reached()?))
        }));
        let replaced = |gone: usize| {
            let kept = [a, b][1 - gone];
            let known = |host: IpAddr| {
                reached
                    .iter()
                    .any(|(ends, first)| ends[gone] == host && first.time <= since)
            };
            let new = reached
                .iter()
                .filter(|(ends, first)| ends[1 - gone] == kept && first.time > since && !known(ends[gone]));
            new.map(|(_, first)| *first).min_by_key(|first| first.time)
        };
        replaced(0).or_else(|| replaced(1))
    }

    /// The part of a stretch in which every packet of its tunnel could be read, and whether it is cut there; `None` where it is too short.
    fn seen<'a>(&self, own: &PairDelivery, candidate: &'a Candidate) -> Option<(Cow<'a, Candidate>, bool)> {
        match self.unread.get(&own.tunnel) {
            Some(tunnel) => tunnel.hidden.before(candidate),
            None => Some((Cow::Borrowed(candidate), false)),
        }
    }

    /// The stretch up to its end, where the sender's packets come again behind missing ones, and no more are missing: the way is open, and
    /// whoever sent does not go on.
    fn way_opens(&self, own: &PairDelivery, candidate: &Candidate) -> Option<Candidate> {
        let (from, to) = (candidate.from.time, candidate.to.time);
        let mut gaps = self.gaps_in((own.tunnel, own.direction), from, to);
        let (gap, none) = (gaps.next()?, gaps.next().is_none());
        let many = gap.missing >= INITIAL_WINDOW;
        (many && none && candidate.in_vain.is_empty()).then(|| Candidate {
            to: Delivered::new(gap.time, gap.frame, None),
            transfer_end: TransferEnd::Late,
            ..candidate.clone()
        })
    }

    /// True where ESP numbers of a direction of a tunnel are missing before a packet within a stretch.
    pub fn misses(&self, tunnel: u32, direction: Direction, from: Timestamp, to: Timestamp) -> bool {
        self.gaps_in((tunnel, direction), from, to).next().is_some()
    }

    /// Packets of a direction behind missing ones, in a stretch.
    fn gaps_in(
        &self,
        side: (u32, Direction),
        from: Timestamp,
        to: Timestamp,
    ) -> impl Iterator<Item = &NumberGap> {
        let begin = self.gaps.partition_point(|gap| gap.time <= from);
        let inside = self.gaps.iter().skip(begin).take_while(move |gap| gap.time <= to);
        inside.filter(move |gap| (gap.tunnel, gap.direction) == side && gap.missing > 0)
    }

    /// Bytes of the largest segment that arrived in a direction of a tunnel.
    fn largest_segment(&self, tunnel: u32, direction: Direction) -> u32 {
        let own = self.directions.values();
        let own = own.filter(|own| (own.tunnel, own.direction) == (tunnel, direction));
        own.map(PairDelivery::largest_segment).max().unwrap_or(0)
    }

    /// Number of packets that did not arrive and came behind the replay window.
    fn behind_window_in(&self, candidate: &Candidate) -> u32 {
        let packets = candidate.in_vain.packets();
        let behind = packets
            .iter()
            .filter(|packet| self.came_behind(packet.frame).is_some());
        u32::try_from(behind.count()).unwrap_or(u32::MAX)
    }

    fn circumstances(
        &self,
        (own, same_receiver): (&PairDelivery, &[&PairDelivery]),
        candidate: &Candidate,
        events: &[Event],
        open: bool,
        unfinished: bool,
    ) -> Circumstances {
        let (from, to) = (candidate.from.time, candidate.to.time);
        let begin = self.jumps.partition_point(|jump| jump.time <= from);
        let inside = self.jumps.iter().skip(begin).take_while(|jump| jump.time <= to);
        let jumps = inside.filter(|jump| jump.pair == (own.pair, own.direction));
        let jumps = jumps.map(|jump| jump.missing);
        // Packets that are on their way pass behind the Delete of their IKE SA; no sender's timer is as short.
        let since = from.plus_nanos(-LEAST_TIMEOUT);
        let first = events.partition_point(|event| event.time < since);
        let inside = events.iter().skip(first).take_while(|event| event.time <= to);
        let inside = inside.filter(|event| event.time >= from || event.kind == EventKind::IkeSaDeleted);
        let inside = inside.filter(|event| concerns(event, own.tunnel));
        // No way ended where the new SA stood before the old one was deleted.
        let stood = |event: &Event| event.successor == Some(true);
        let is_delete = |kind| EventKind::DELETES.contains(&kind);
        let mut deletes = inside.clone().filter(|event| stood(event));
        let replaced = deletes.any(|event| event.kind == EventKind::IkeSaDeleted);
        let inside = inside.filter(|event| !(is_delete(event.kind) && stood(event)));
        let inside = inside.filter(|event| !(event.kind == EventKind::NewIkeSa && replaced));
        let hint = inside.clone().any(|event| leaves_none(event.kind));
        let soon = from.plus_nanos(2 * candidate.before.rto);
        let deleted = inside
            .clone()
            .any(|event| is_delete(event.kind) && event.time <= soon);
        // A request for a successor was out when data stopped.
        let mut earlier = events.iter().take_while(|event| event.time <= from);
        let asked = earlier.any(|event| {
            is_request_out(event.kind)
                && concerns(event, own.tunnel)
                && event.until.is_some_and(|until| until >= from)
        });
        let (hint, cut_off) = (hint || asked, deleted || asked);
        let has = |kind| inside.clone().any(|event| event.kind == kind);
        let new = inside.clone().filter(|event| event.kind == EventKind::NewIkeSa);
        let side = |direction| self.directions.get(&(own.pair, direction));
        // The way may still have been open before the first packet in vain, and again after the last one. Copies of what arrived late were in
        // vain, too.
        let in_vain = &candidate.in_vain;
        let (closed, last_closed) = in_vain.swallowed().or(in_vain.span()).unwrap_or((from, to));
        let echoes =
            |direction| side(direction).map_or((0, 0), |side| side.echoes.answered(closed, last_closed));
        let reverse = own.direction.reverse();
        // A reply that passes the capture may be lost like the data. Behind missing numbers it shows what the way to the capture lets through.
        let replies = echoes(reverse);
        let answered_in =
            |direction, from, to| side(direction).map_or(0, |side| side.echoes.answered(from, to).0);
        let answered = |direction| answered_in(direction, from, to);
        // Whoever has more to send does so while the way is open, so what had stopped by then was over.
        let ending = inside
            .clone()
            .find(|event| ends_ways(event.kind) || leaves_none(event.kind));
        let rested = ending.is_some_and(|event| {
            let open = |direction| answered_in(direction, soon, event.time) > 0;
            open(own.direction) || open(reverse)
        });
        let come = if in_vain.is_empty() { replies.0 } else { 0 };
        let of_tunnel = self.unread.get(&own.tunnel).map(|tunnel| {
            tunnel.small_passed(own.direction, (closed, last_closed), self.latest.unwrap_or(to))
        });
        let small = of_tunnel.unwrap_or_default();
        let all_gaps = || self.gaps_in((own.tunnel, own.direction), from, to);
        let gaps = || all_gaps().map(|gap| gap.time);
        let before = &candidate.before;
        let largest_segment = self.largest_segment(own.tunnel, own.direction);
        // Segments as large as those of the answer came, so that it is not their size.
        let goes_on = |other: &&PairDelivery| other.pair != own.pair && other.goes_on((closed, last_closed));
        let smallest = in_vain.smallest_until(to);
        let never_larger = largest_segment + MOST_OPTIONS < u32::from(before.asked)
            || smallest.is_some_and(|lost| lost > largest_segment) && same_receiver.iter().any(goes_on);
        // The handshake and the acknowledgement of the request came, or the segments of others.
        let small_of_it = if never_larger { SEVERAL as u32 } else { 0 };
        Circumstances {
            doubled: are_doubled(gaps()),
            answer_missing: before.asked > 0 && are_of_an_answer(gaps(), (from, to)),
            missing: jumps.chain(all_gaps().map(|gap| gap.missing)).max().unwrap_or(0),
            gaps: u32::try_from(gaps().count()).unwrap_or(u32::MAX),
            gaps_apart: count_apart(gaps()),
            event: inside.clone().any(|event| ends_ways(event.kind)),
            gone: has(EventKind::ChecksUnanswered),
            hint,
            cut_off,
            moved: has(EventKind::AddressChanged),
            new_ike_sa: new.last().map(|event| event.time),
            asked: side(reverse).map_or(0, |side| side.echoes.unanswered(from, to)),
            echoes: echoes(own.direction).0 + come + small.answered + small_of_it,
            replies: replies.0,
            largest_passed: echoes(own.direction)
                .1
                .max(replies.1)
                .max(small.largest)
                .max(if never_larger { largest_segment } else { 0 }),
            never_larger,
            cut: false,
            compressed_arrived: own.compressed_arrived,
            behind_window: self.behind_window_in(candidate),
            rested,
            way_is_open: answered(own.direction) > 0 || answered(reverse) > 0,
            open,
            unfinished,
        }
    }
}

/// The kinds that show, without a lost packet, that there was no way: a peer is gone, or lost its SAs.
fn ends_ways(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::ChecksUnanswered | EventKind::InvalidSpi | EventKind::NewIkeSa | EventKind::IkeSaDeleted
    )
}

/// The kinds after which a sender may have no security association or no address to send with, so that nothing is lost either. A pause of the
/// application looks the same, so the stretch counts only where a row of the explanations holds.
fn leaves_none(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::ChildDeleted
            | EventKind::Deleted
            | EventKind::LimitReached
            | EventKind::Refused
            | EventKind::Unanswered
            | EventKind::Collision
            | EventKind::AddressChanged
            | EventKind::StopCcn
            | EventKind::CallDisconnected
            | EventKind::LcpTerminated
    )
}

/// The kinds behind which a client may have another address inside (RFC 7296 §2.19; IPCP, RFC 1332 §3.3).
fn begins_session(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::NewIkeSa | EventKind::StopCcn | EventKind::CallDisconnected | EventKind::LcpTerminated
    )
}

/// The kinds that last from the first copy of a request to the last one, or to its answer.
fn is_request_out(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Unanswered | EventKind::AnswerLost | EventKind::AnsweredLate
    )
}

/// Tells whether the transfer was over: nothing was sent for two timeouts, and then a side ended the IKE SA.
fn was_over(candidate: &Candidate, events: &[Event], tunnel: u32) -> bool {
    let since = candidate.from.time.plus_nanos(2 * candidate.before.rto);
    let until = candidate.to.time;
    let ends = |event: &&Event| {
        event.kind == EventKind::IkeSaDeleted
            && concerns(event, tunnel)
            && since < event.time
            && event.time <= until
    };
    let quiet = |event: &Event| {
        candidate
            .in_vain
            .between(candidate.from.time, event.time)
            .is_empty()
    };
    events.iter().find(ends).is_some_and(quiet)
}

fn concerns(event: &Event, tunnel: u32) -> bool {
    event.tunnel.is_none_or(|own| u32::try_from(own) == Ok(tunnel))
}

/// A stretch with what was sent in it and never acknowledged, though other connections went on behind it.
fn with_waiting<'a>(candidate: &'a Candidate, waiting: &[Settlement], end: Timestamp) -> Cow<'a, Candidate> {
    let given_up = |settled: &&Settlement| {
        candidate.contains(settled.time) && end.nanos_since(settled.time) > candidate.before.rto
    };
    let mut candidate = Cow::Borrowed(candidate);
    for settled in waiting.iter().filter(given_up) {
        candidate.to_mut().in_vain.push(LostPacket::of(settled), 0);
    }
    candidate
}

/// The stretch that is still open at the end of the transfer, or of the capture; and whether its sender had more.
fn open(own: &PairDelivery, waiting: &[Settlement], end: Timestamp) -> Option<(Candidate, bool)> {
    let from = own.delivered?;
    let before = own.before();
    let mut in_vain = own.in_vain.between(from.time, end);
    for settled in waiting {
        // The last segments may still be on their way.
        if settled.time > from.time && end.nanos_since(settled.time) > before.rto {
            in_vain.push(LostPacket::of(settled), 0);
        }
    }
    let to = match own.closed {
        Some(closed) if closed >= from.time && waiting.is_empty() => closed,
        _ => end,
    };
    let unfinished = own.closed.is_none() && own.ends_full();
    let candidate = Candidate {
        from,
        to: Delivered::nothing(to),
        before,
        in_vain,
        transfer_end: own.transfer_end(from.time),
    };
    let idle = candidate.in_vain.is_empty() && !unfinished && !before.busy;
    (candidate.is_long_enough() && !idle).then_some((candidate, unfinished))
}

fn interval(
    own: &PairDelivery,
    candidate: &Candidate,
    open: bool,
    (kind, undelivered): (StandstillKind, Undelivered),
) -> Interval {
    // Between a transfer's deliveries nothing passed. A sender of a few words rests between them, and so does one whose transfer is over: only
    // what it sent in vain shows anything.
    let down = matches!(kind, StandstillKind::Outage | StandstillKind::ShortOutage);
    let rested = !candidate.before.busy || candidate.transfer_end == TransferEnd::Soon;
    let words = down && undelivered.carried == CarriedKind::Tcp && rested;
    let delivered = candidate.from.time;
    let first = candidate.in_vain.first().filter(|_| words);
    Interval {
        from: first.map_or(delivered, |first| first.max(delivered)),
        to: candidate.to.time,
        facts: Standstill {
            pair: own.pair,
            tunnel: own.tunnel,
            direction: own.direction,
            frames: (candidate.from.frame, (!open).then_some(candidate.to.frame)),
            spis: (spi(candidate.from), spi(candidate.to)),
            lost: candidate.in_vain.packets(),
            before: SenderBefore {
                round_trip: candidate.before.round_trip,
                rto: candidate.before.rto,
            },
            kind,
            undelivered,
        },
    }
}

/// Tells whether a pair of addresses sent something in vain in a stretch of its tunnel.
fn asks_in_vain(own: &Interval, tunnel: &Interval) -> bool {
    let (one, other) = (&own.facts, &tunnel.facts);
    let mut lost = one.lost.iter();
    (one.tunnel, one.direction) == (other.tunnel, other.direction)
        && lost.any(|lost| tunnel.from < lost.time && lost.time < tunnel.to)
}

/// Whether a pair of addresses had no delivery in a stretch of its tunnel.
fn is_of_pair(own: &Interval, tunnel: &Interval) -> bool {
    let (one, other) = (&own.facts, &tunnel.facts);
    one.pair != PairId::NONE
        && one.kind == StandstillKind::Outage
        && (one.tunnel, one.direction) == (other.tunnel, other.direction)
        && own.from < tunnel.to
        && tunnel.from < own.to
}

/// Tells whether a stretch without any delivery lies in one without large ones: it ends in it, and nothing was lost in it before.
fn is_part(part: &Interval, whole: &Interval) -> bool {
    let first = |of: &Interval| of.facts.lost.first().map_or(of.from, |lost| lost.time);
    whole.from < part.to && part.to <= whole.to && first(part) >= first(whole)
}

fn spi(of: Delivered) -> Option<u32> {
    of.esp.map(|esp| esp.spi)
}

/// Datagrams, where they are most of what was sent.
fn unseen(own: &PairDelivery) -> Option<Interval> {
    let datagrams = own
        .datagrams
        .filter(|datagrams| datagrams.bytes > own.tcp_bytes)?;
    let ends = (datagrams.first, datagrams.last);
    let stretch = Candidate::new(ends, Before::default(), InVain::default());
    let unseen = Undelivered::shown(CarriedKind::Datagrams, ShownBy::Nothing);
    Some(interval(own, &stretch, false, (StandstillKind::Unseen, unseen)))
}
