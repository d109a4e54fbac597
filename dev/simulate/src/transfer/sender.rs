//! A sender of TCP: slow start, CUBIC (RFC 9438), loss by three later segments (RFC 6675), retransmission timeouts (RFC 6298).

use super::course::{Course, Transmission};
use super::path::{Bottleneck, SimulatedPath, Writes};
use super::random::of_numbers;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// The least retransmission timeout of Linux.
const LEAST_TIMEOUT: i64 = 200 * NANOS_PER_MILLI;
/// Segments of the first flight (RFC 6928).
const FIRST_WINDOW: f64 = 10.0;
/// Distance of a later transmission that has arrived, after which an earlier one is lost.
const LATER: u64 = 3;
/// Share of the window that CUBIC keeps after a loss (RFC 9438 §4.6).
const LEFT: f64 = 0.7;
/// Growth of CUBIC, segments per cubic second (RFC 9438 §5).
const GROWTH: f64 = 0.4;
/// Growth of a Reno that keeps the same share, segments a round trip (RFC 9438 §4.3).
const RENO_GROWTH: f64 = 3.0 * (1.0 - LEFT) / (1.0 + LEFT);

/// An acknowledgement on its way: when it is there, the number of the transmission, and its segment.
type AckUnderWay = Reverse<(i64, u64, u64)>;

/// The number of segments that may be in flight.
#[derive(Debug)]
struct CongestionWindow {
    segments: f64,
    /// Window at which slow start ends, segments.
    threshold: f64,
    /// Segments at the last loss.
    most: f64,
    /// Curve of the growth without loss, from its begin on.
    epoch: Option<CubicEpoch>,
}

/// The curve along which a window grows until the next loss.
#[derive(Debug)]
struct CubicEpoch {
    since: i64,
    /// Seconds until the window is at `origin`.
    turning: f64,
    origin: f64,
    /// The window that Reno would have.
    reno: f64,
}

impl CongestionWindow {
    fn new() -> Self {
        CongestionWindow {
            segments: FIRST_WINDOW,
            threshold: f64::INFINITY,
            most: 0.0,
            epoch: None,
        }
    }

    fn acknowledged(&mut self, now: i64, round_trip: i64) {
        if self.segments < self.threshold {
            self.segments += 1.0;
            return;
        }
        let (segments, most) = (self.segments, self.most);
        let epoch = self.epoch.get_or_insert_with(|| CubicEpoch {
            since: now,
            turning: ((most - segments).max(0.0) / GROWTH).cbrt(),
            origin: most.max(segments),
            reno: segments,
        });
        epoch.reno += RENO_GROWTH / segments;
        let seconds = (now + round_trip - epoch.since) as f64 / NANOS_PER_SECOND as f64;
        let cubic = epoch.origin + GROWTH * (seconds - epoch.turning).powi(3);
        let target = cubic.max(epoch.reno).min(1.5 * segments);
        self.segments += (target - segments).max(0.0) / segments;
    }

    fn lost(&mut self, in_flight: usize) {
        self.most = self.segments.min(in_flight as f64 + 1.0);
        self.threshold = (self.most * LEFT).max(2.0);
        (self.segments, self.epoch) = (self.threshold, None);
    }

    fn timed_out(&mut self, in_flight: usize, first: bool) {
        if first {
            self.lost(in_flight);
        }
        (self.segments, self.epoch) = (1.0, None);
    }
}

/// The smoothed round trip and its variation.
#[derive(Debug)]
struct Timeout {
    smoothed: i64,
    variation: i64,
    doublings: u32,
    runs_out: Option<i64>,
}

impl Timeout {
    fn length(&self) -> i64 {
        (self.smoothed + 4 * self.variation).max(self.smoothed + LEAST_TIMEOUT) << self.doublings.min(8)
    }

    fn sample(&mut self, round_trip: i64) {
        self.variation += ((round_trip - self.smoothed).abs() - self.variation) / 4;
        self.smoothed += (round_trip - self.smoothed) / 8;
    }
}

struct SimulatedSender<'a> {
    path: &'a SimulatedPath,
    bottleneck: Bottleneck,
    writes: Writes,
    dead: &'a [(i64, i64)],
    seed: u64,
    now: i64,
    window: CongestionWindow,
    timeout: Timeout,
    /// Transmissions that are neither acknowledged nor lost: their number, their segment, and when they were handed over.
    outstanding: VecDeque<(u64, u64, i64)>,
    /// Segments to be sent again.
    lost: BTreeSet<u64>,
    /// Number of the next transmission.
    number: u64,
    /// Losses of transmissions before this one have been answered.
    recovery: u64,
    /// Segments that the receiver has, that the sender knows to be there, and that have passed the capture.
    received: Vec<bool>,
    known: Vec<bool>,
    shown: Vec<bool>,
    /// Time at which each segment, or one beyond it, first passed the capture.
    first_shown: Vec<i64>,
    /// Transmissions of each segment so far.
    transmissions: Vec<u64>,
    /// Time at which the bottleneck is free again.
    free: i64,
    answers: BinaryHeap<AckUnderWay>,
    sent: Vec<Transmission>,
}

/// The course of a transfer over a path whose security association is dead at times: its receiver drops what passes the
/// capture then.
pub fn send(path: &SimulatedPath, length: i64, seed: u64, dead: &[(i64, i64)]) -> Course {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut sender = SimulatedSender {
        bottleneck: Bottleneck::new(path, length, &mut random),
        writes: Writes::new(path, length, &mut random),
        path,
        dead,
        seed,
        now: 0,
        window: CongestionWindow::new(),
        timeout: Timeout {
            smoothed: path.round_trip(),
            variation: path.round_trip() / 2,
            doublings: 0,
            runs_out: None,
        },
        outstanding: VecDeque::new(),
        lost: BTreeSet::new(),
        number: 0,
        recovery: 0,
        received: Vec::new(),
        known: Vec::new(),
        shown: Vec::new(),
        first_shown: Vec::new(),
        transmissions: Vec::new(),
        free: 0,
        answers: BinaryHeap::new(),
        sent: Vec::new(),
    };
    sender.send_what_may();
    while sender.step(length) {}
    sender.course(length)
}

fn flag(list: &[bool], segment: u64) -> bool {
    usize::try_from(segment)
        .ok()
        .and_then(|k| list.get(k))
        .copied()
        .unwrap_or(false)
}

fn set(list: &mut [bool], segment: u64) {
    if let Some(place) = usize::try_from(segment).ok().and_then(|k| list.get_mut(k)) {
        *place = true;
    }
}

impl SimulatedSender<'_> {
    /// Goes to the next event; false where none comes before the end.
    fn step(&mut self, length: i64) -> bool {
        let answer = self.answers.peek().map(|Reverse(answer)| answer.0);
        let wakes = self.writes.wakes(self.now);
        let times = [answer, self.timeout.runs_out, wakes];
        let Some(next) = times.into_iter().flatten().min().filter(|at| *at < length) else {
            return false;
        };
        self.now = next;
        if answer == Some(next) {
            if let Some(Reverse((_, number, segment))) = self.answers.pop() {
                self.acknowledge(number, segment);
            }
        } else if self.timeout.runs_out == Some(next) {
            self.time_out();
        }
        self.send_what_may();
        true
    }

    fn send_what_may(&mut self) {
        let may =
            |own: &Self| own.outstanding.len() < (own.window.segments as usize).clamp(1, own.path.window);
        while may(self) {
            let next = self.received.len() as u64;
            let segment = match self.lost.pop_first() {
                Some(segment) => segment,
                None if self.writes.has(self.now, next) => next,
                None => break,
            };
            self.transmit(segment);
        }
        let waits = !self.outstanding.is_empty();
        self.timeout.runs_out = match self.timeout.runs_out {
            Some(at) if waits => Some(at),
            _ => waits.then(|| self.now + self.timeout.length()),
        };
    }

    fn transmit(&mut self, segment: u64) {
        if segment == self.received.len() as u64 {
            self.received.push(false);
            self.known.push(false);
            self.shown.push(false);
            self.first_shown.push(i64::MAX);
            self.transmissions.push(0);
        }
        let number = self.number;
        self.number += 1;
        self.outstanding.push_back((number, segment, self.now));
        let takes = self.bottleneck.takes(self.now);
        let waiting = (self.free - self.now).max(0) / takes.max(1);
        if waiting >= self.path.queue as i64 {
            return;
        }
        self.free = self.free.max(self.now) + takes;
        let time = self.free;
        let beyond_gap = segment > 0 && !flag(&self.shown, segment - 1) && !flag(&self.shown, segment);
        self.show(segment, time);
        let swallowed = self.dead.iter().any(|dead| dead.0 <= time && time < dead.1);
        let arrives = !swallowed && !self.is_lost(segment);
        let superfluous = arrives && flag(&self.received, segment);
        if arrives {
            set(&mut self.received, segment);
            self.answers
                .push(Reverse((time + self.path.round_trip(), number, segment)));
        }
        let place = usize::try_from(segment).unwrap_or(0);
        self.sent.push(Transmission {
            time,
            segment,
            arrived: arrives && !superfluous,
            superfluous,
            acknowledged: None,
            lacking_since: self.first_shown.get(place).copied().unwrap_or(time),
            beyond_gap,
        });
    }

    /// Whether a segment is lost at random. A transmission of a segment is lost with and without rekeys alike, so that both transfers
    /// differ by the cost of rekeys.
    fn is_lost(&mut self, segment: u64) -> bool {
        let place = usize::try_from(segment).unwrap_or(0);
        let Some(transmissions) = self.transmissions.get_mut(place) else {
            return false;
        };
        *transmissions += 1;
        of_numbers([self.seed, segment, *transmissions]) < self.path.loss
    }

    /// Notes that the receiver lacks a segment since it, or one beyond it, has passed the capture.
    fn show(&mut self, segment: u64, time: i64) {
        set(&mut self.shown, segment);
        let end = usize::try_from(segment).unwrap_or(0) + 1;
        let unknown = self.first_shown.iter_mut().take(end).rev();
        for first in unknown.take_while(|first| **first == i64::MAX) {
            *first = time;
        }
    }

    fn acknowledge(&mut self, number: u64, segment: u64) {
        let is_news = !flag(&self.known, segment);
        set(&mut self.known, segment);
        self.lost.remove(&segment);
        let place = self.outstanding.binary_search_by_key(&number, |one| one.0);
        let in_flight = self.outstanding.len();
        if let Some((_, _, handed)) = place.ok().and_then(|place| self.outstanding.remove(place)) {
            self.timeout.sample(self.now - handed);
        }
        while let Some((old, segment, _)) = self
            .outstanding
            .front()
            .copied()
            .filter(|one| one.0 + LATER <= number)
        {
            self.outstanding.pop_front();
            if flag(&self.known, segment) {
                continue;
            }
            self.lost.insert(segment);
            if old >= self.recovery {
                self.window.lost(in_flight);
                self.recovery = self.number;
            }
        }
        if is_news {
            self.timeout.doublings = 0;
            self.timeout.runs_out = None;
            let is_full = in_flight + 1 >= (self.window.segments as usize).min(self.path.window);
            let grows = self.window.segments < self.path.window as f64;
            if number >= self.recovery && is_full && grows {
                self.window.acknowledged(self.now, self.timeout.smoothed);
            }
        }
    }

    fn time_out(&mut self) {
        let in_flight = self.outstanding.len();
        let open = std::mem::take(&mut self.outstanding);
        let unknown = open.into_iter().map(|one| one.1);
        let unknown: Vec<u64> = unknown.filter(|segment| !flag(&self.known, *segment)).collect();
        self.lost.extend(unknown);
        self.window.timed_out(in_flight, self.timeout.doublings == 0);
        self.recovery = self.number;
        self.timeout.doublings += 1;
        self.timeout.runs_out = None;
    }

    /// Transmissions that had passed the capture at the end. A segment counts as acknowledged when the copy that arrived is.
    fn course(self, length: i64) -> Course {
        let mut sent = self.sent;
        sent.retain(|one| one.time < length);
        let mut acknowledged = vec![None; self.received.len()];
        for one in sent.iter().filter(|one| one.arrived) {
            if let Some(at) = usize::try_from(one.segment)
                .ok()
                .and_then(|k| acknowledged.get_mut(k))
            {
                *at = Some(one.time + self.path.round_trip());
            }
        }
        for one in sent.iter_mut().filter(|one| !one.superfluous) {
            let known = usize::try_from(one.segment)
                .ok()
                .and_then(|k| acknowledged.get(k));
            one.acknowledged = known.copied().flatten();
        }
        Course { sent }
    }
}
