//! One direction of a connection: its data, its acknowledgements, and how long they take.

use super::packet::{AccountConnection, AccountPacket, bit};
use super::surroundings::Surroundings;
use rekeyscope_model::analysis::D2Source;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};
use std::collections::VecDeque;

/// Where sequence numbers begin once they are unwrapped: far enough that nothing lies before 0.
const ORIGIN: u64 = 1 << 33;
/// A handshake may be a little slower than what follows; too large a d2 makes waits for the window look like the application's.
const D2_SHARE: f64 = 0.95;
/// See [`D2_SHARE`].
const D2_MARGIN: i64 = NANOS_PER_MILLI;
/// RFC 7323 §2.3.
const LARGEST_SCALE: u8 = 14;
/// Of so many delays one may be too small.
const OUTLIERS: usize = 200;
/// The pattern of acknowledgements and data is looked for in so much of the beginning.
const PATTERN_SPAN: i64 = 60 * NANOS_PER_SECOND;
/// The longest d2 that is looked for in it, bins of 1 ms.
const LONGEST_LAG: usize = 1_000;
/// Least correlation of a pattern.
const LEAST_PEAK: f64 = 0.25;
/// The first lag with so much of the highest correlation counts.
const NEAR_PEAK: f64 = 0.8;
/// With a d1 below this the capture is at the receiver, where acknowledgements follow their data at once.
pub(super) const AT_RECEIVER: i64 = 3 * NANOS_PER_MILLI;
/// Lags below this are then those acknowledgements', bins.
const FOLLOWING_LAGS: usize = 4;

/// A packet with data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    pub(super) time: i64,
    pub(super) frame: u64,
    /// Unwrapped sequence numbers.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) esp: u32,
    pub(super) sa: u32,
    pub(super) missing: u32,
    /// From here to its acknowledgement, microseconds; `u32::MAX` where that is not known.
    pub(super) acked_after: u32,
    /// From the acknowledgement that it echoes, microseconds; `u32::MAX` where that is not known.
    pub(super) echo_after: u32,
    pub(super) new: u16,
    pub(super) ip_id: u16,
    /// At least a part lies below the highest byte sent.
    pub(super) again: bool,
    /// Some of it was seen before.
    pub(super) seen_before: bool,
    pub(super) late: bool,
    pub(super) numbered: bool,
}

impl Data {
    pub(super) fn payload(&self) -> u64 {
        self.end - self.start
    }
}

/// A packet of the other direction with an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ack {
    pub(super) time: i64,
    pub(super) ack: u64,
    /// As the header says, unscaled.
    pub(super) window: u16,
    /// Of a SYN: never scaled (RFC 7323 §2.2).
    pub(super) unscaled: bool,
    /// Least time from data that it is the first to acknowledge, nanoseconds; `i64::MAX` without such.
    pub(super) after: i64,
}

/// One direction of a connection.
#[derive(Debug)]
pub(super) struct Half {
    /// It can be read, and has sequence numbers.
    pub(super) tcp: bool,
    pub(super) data: Vec<Data>,
    pub(super) acks: Vec<Ack>,
    /// Largest payload, bytes.
    pub(super) mss: u64,
    /// Shift of the receiver's window.
    pub(super) scale: u8,
    /// It stands in the handshake.
    pub(super) scale_known: bool,
    /// Least time from data to its acknowledgement, nanoseconds; `None` without acknowledgements.
    pub(super) d1: Option<i64>,
    /// Least time from what it echoes, nanoseconds.
    pub(super) echoed: Option<i64>,
    /// From an acknowledgement to what it releases, as it is used.
    pub(super) d2: Option<i64>,
    pub(super) d2_from: D2Source,
    /// Least round trip, of d2 as it is used.
    pub(super) rtt: i64,
    /// Least round trip, as it was measured.
    pub(super) measured_rtt: Option<i64>,
    /// Neither handshake nor timestamps: what limits the flight cannot be told.
    pub(super) blind: bool,
    /// It was closed.
    pub(super) ended: bool,
}

impl Half {
    /// Of data in direction `slot`; `None` without data.
    pub(super) fn new(connection: &AccountConnection, slot: usize, around: &Surroundings) -> Option<Half> {
        let mut reading = Reading::default();
        for p in &connection.packets {
            reading.take(p, slot, connection.tcp);
        }
        if reading.data.is_empty() {
            return None;
        }
        if !connection.tcp {
            reading.take_back(around);
        }
        let d1 = low(reading.data.iter().map(|d| d.acked_after));

        let half_of_handshake = handshake(connection, slot);
        let echoed = low(reading.data.iter().map(|d| d.echo_after));
        let (d2, d2_from) = match (half_of_handshake, echoed) {
            (Some(h), Some(e)) if e < h => (Some(e), D2Source::Timestamps),
            (Some(h), _) => (Some(h), D2Source::Handshake),
            (None, Some(e)) => (Some(e), D2Source::Timestamps),
            (None, None) => match d1.and_then(|d1| pattern(&reading.data, &reading.acks, d1)) {
                Some(lag) => (Some(lag), D2Source::Pattern),
                None => (None, D2Source::None),
            },
        };
        let used = d2.map(|d2| ((d2 as f64 * D2_SHARE) as i64 - D2_MARGIN).max(0));
        let stated = stated_scale(connection, slot);
        let inferred = || inferred_scale(&reading.data, &reading.acks, used.unwrap_or(0));
        Some(Half {
            tcp: connection.tcp,
            mss: reading.largest.max(1),
            scale: stated.unwrap_or_else(inferred),
            scale_known: stated.is_some(),
            d1,
            echoed,
            d2: used.filter(|_| d1.is_some()),
            d2_from: if d1.is_some() { d2_from } else { D2Source::None },
            rtt: d1.unwrap_or(0) + used.unwrap_or(0),
            measured_rtt: d1.zip(d2).map(|(d1, d2)| d1 + d2),
            blind: connection.tcp && matches!(d2_from, D2Source::Pattern | D2Source::None),
            ended: reading.ended,
            data: reading.data,
            acks: reading.acks,
        })
    }

    /// Delays show a queue: not where data is acknowledged right behind the capture, and echoes nothing.
    pub(super) fn shows_queues(&self) -> bool {
        self.echoed.is_some() || self.d1.is_some_and(|d1| d1 >= AT_RECEIVER)
    }

    /// The receiver's window that an acknowledgement opens.
    pub(super) fn window(&self, ack: &Ack) -> u64 {
        u64::from(ack.window) << if ack.unscaled { 0 } else { self.scale }
    }
}

/// Packets on their way into a [`Half`].
#[derive(Debug, Default)]
struct Reading {
    data: Vec<Data>,
    acks: Vec<Ack>,
    /// Behind the highest byte sent: as on the wire and unwrapped.
    next: Option<(u32, u64)>,
    acked: u64,
    largest: u64,

    latest: i64,
    /// Indices of data that was sent once and waits for its acknowledgement.
    waiting: VecDeque<usize>,
    /// The first acknowledgement with each of the receiver's timestamps.
    stamps: VecDeque<(u32, i64)>,

    ended: bool,
}

impl Reading {
    fn take(&mut self, p: &AccountPacket, slot: usize, tcp: bool) {
        // A clock that steps back by a little makes no wait negative.
        self.latest = self.latest.max(p.time.0);
        if p.slot() == slot {
            self.ended |= p.is(bit::ENDS);
            if p.is(bit::SYN) {
                self.next.get_or_insert((p.seq.wrapping_add(1), ORIGIN));
            } else if p.payload > 0 {
                self.sends(p, tcp);
            }
        } else if tcp && p.is(bit::ACKNOWLEDGES) {
            self.acknowledges(p);
        }
    }

    /// What nobody acknowledges goes on being sent in an outage, and does not arrive.
    fn take_back(&mut self, around: &Surroundings) {
        for data in &mut self.data {
            if around.down_in(data.time, data.time).is_some() {
                data.new = 0;
            }
        }
    }

    fn place(&mut self, number: u32) -> u64 {
        let (on_wire, unwrapped) = *self.next.get_or_insert((number, ORIGIN));
        unwrapped.saturating_add_signed(i64::from(number.wrapping_sub(on_wire) as i32))
    }

    fn sends(&mut self, p: &AccountPacket, tcp: bool) {
        let payload = u64::from(p.payload);
        let start = match (tcp, self.next) {
            (true, _) => self.place(p.seq),
            // Everything is new.
            (false, next) => next.map_or(ORIGIN, |n| n.1),
        };
        let end = start + payload;
        if tcp && payload == 1 && end <= self.acked {
            return; // a keep-alive (RFC 9293 §3.8.4)
        }
        let highest = self.next.map_or(start, |n| n.1);
        let behind = start < highest;
        let echo_after = if p.is(bit::STAMPED) {
            self.since_echoed(p.echo)
        } else {
            u32::MAX
        };
        // A packet that was overtaken brings its segment for the first time.
        let again = behind && (p.is(bit::SEEN_BEFORE) || !p.is(bit::LATE));
        if again {
            self.waiting
                .retain(|&k| self.data[k].end <= start || self.data[k].start >= end);
        } else if tcp {
            self.waiting.push_back(self.data.len());
        }
        self.data.push(Data {
            time: self.latest,
            frame: p.frame,
            start,
            end,
            esp: p.esp,
            sa: p.sa,
            missing: p.missing,
            acked_after: u32::MAX,
            echo_after,
            new: p.new,
            ip_id: p.ip_id,
            again,
            seen_before: p.is(bit::SEEN_BEFORE),
            late: p.is(bit::LATE),
            numbered: p.is(bit::NUMBERED),
        });
        self.largest = self.largest.max(payload);
        if end > highest || self.next.is_none() {
            self.next = Some((p.seq.wrapping_add(u32::from(p.payload)), end));
        }
    }

    fn acknowledges(&mut self, p: &AccountPacket) {
        let ack = self.place(p.ack);
        let mut after = i64::MAX;
        while let Some(&k) = self.waiting.front()
            && self.data[k].end <= ack
        {
            let waited = self.latest - self.data[k].time;
            self.data[k].acked_after = micros(waited);
            after = after.min(waited);
            self.waiting.pop_front();
        }

        if p.is(bit::STAMPED) && self.stamps.back().is_none_or(|s| s.0 != p.stamp) {
            self.stamps.push_back((p.stamp, self.latest));
        }
        self.acked = self.acked.max(ack);
        self.acks.push(Ack {
            time: self.latest,
            ack,
            window: p.window,
            unscaled: p.is(bit::SYN),
            after,
        });
    }

    /// Since the first acknowledgement with a timestamp. Those before it are not asked for again.
    fn since_echoed(&mut self, echo: u32) -> u32 {
        while self.stamps.len() > 1
            && self
                .stamps
                .front()
                .is_some_and(|s| (echo.wrapping_sub(s.0) as i32) > 0)
        {
            self.stamps.pop_front();
        }
        let first = self.stamps.front().filter(|s| s.0 == echo);
        first.map_or(u32::MAX, |s| micros(self.latest - s.1))
    }
}

/// The least of the delays (microseconds, `u32::MAX` is none), nanoseconds; of many the one that half a percent does not reach:
/// a capture's clock, or a busy machine, brings single ones forward (lab: 7 to 14 of 40 ms).
fn low(delays: impl Iterator<Item = u32>) -> Option<i64> {
    let mut known: Vec<u32> = delays.filter(|&us| us != u32::MAX).collect();
    let place = known.len() / OUTLIERS;
    (!known.is_empty()).then(|| i64::from(*known.select_nth_unstable(place).1) * 1_000)
}

fn micros(nanos: i64) -> u32 {
    u32::try_from(nanos / 1_000).unwrap_or(u32::MAX - 1)
}

/// The shift of the receiver's window, where the handshake says it.
fn stated_scale(connection: &AccountConnection, slot: usize) -> Option<u8> {
    let receiver = connection.syns[1 - slot]?.scale;
    // RFC 7323 §2.2: both SYNs have the option, or neither side scales.
    let own = connection.syns[slot].is_none_or(|own| own.scale.is_some());
    Some(receiver.filter(|_| own).unwrap_or(0).min(LARGEST_SCALE))
}

/// The smallest shift at which hardly anything was sent beyond the window.
fn inferred_scale(data: &[Data], acks: &[Ack], d2: i64) -> u8 {
    let mut allowed = [0u64; LARGEST_SCALE as usize + 1];
    let mut beyond = [0usize; LARGEST_SCALE as usize + 1];
    let mut acks = acks.iter().filter(|a| !a.unscaled).peekable();
    for d in data {
        while let Some(ack) = acks.next_if(|a| a.time + d2 <= d.time) {
            for (scale, allowed) in allowed.iter_mut().enumerate() {
                *allowed = (*allowed).max(ack.ack + (u64::from(ack.window) << scale));
            }
        }
        for (beyond, allowed) in beyond.iter_mut().zip(allowed) {
            *beyond += usize::from(allowed > 0 && d.end > allowed);
        }
    }
    let fits = |&scale: &u8| beyond[usize::from(scale)] * OUTLIERS <= data.len();
    (0..LARGEST_SCALE).find(fits).unwrap_or(LARGEST_SCALE)
}

/// The half of the handshake that ends with the sender: SYN to SYN/ACK where the receiver opened, SYN/ACK to ACK else.
fn handshake(connection: &AccountConnection, slot: usize) -> Option<i64> {
    let (own, receiver) = (connection.syns[slot]?, connection.syns[1 - slot]?);
    if own.repeated || receiver.repeated {
        return None;
    }
    if own.time >= receiver.time {
        return Some(own.time.nanos_since(receiver.time));
    }
    let answer = |p: &&AccountPacket| p.slot() == slot && p.time >= receiver.time && p.is(bit::ACKNOWLEDGES);
    let answer = connection.packets.iter().find(answer)?;
    Some(answer.time.nanos_since(receiver.time))
}

/// The lag at which new data follows acknowledged bytes best, in bins of 1 ms.
fn pattern(data: &[Data], acks: &[Ack], d1: i64) -> Option<i64> {
    let begin = data.first()?.time;
    let bin = |t: i64| {
        usize::try_from((t - begin) / NANOS_PER_MILLI)
            .ok()
            .filter(|_| t - begin < PATTERN_SPAN)
    };
    let bins = bin(data.last()?.time.min(begin + PATTERN_SPAN - 1))? + 1;
    let (mut sent, mut acked) = (vec![0.0f64; bins], vec![0.0f64; bins]);
    for d in data {
        if let Some(slot) = bin(d.time).and_then(|b| sent.get_mut(b)) {
            *slot += f64::from(d.new);
        }
    }
    let mut highest = None;
    for a in acks {
        let before = highest.replace(highest.map_or(a.ack, |h: u64| h.max(a.ack)));
        let advanced = before.map_or(0, |before| a.ack.saturating_sub(before));
        if let Some(slot) = bin(a.time).and_then(|b| acked.get_mut(b)) {
            *slot += advanced as f64;
        }
    }
    let center = |list: &mut [f64]| {
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        list.iter_mut().for_each(|x| *x -= mean);
        list.iter().map(|x| x * x).sum::<f64>()
    };
    let scale = (center(&mut sent) * center(&mut acked)).sqrt();
    if scale <= 0.0 {
        return None;
    }
    let at = |lag: usize| {
        let products = sent.iter().skip(lag).zip(&acked).map(|(s, a)| s * a);
        products.sum::<f64>() / scale
    };
    let peaks: Vec<f64> = (0..LONGEST_LAG.min(bins)).map(at).collect();
    let highest = |from: usize| peaks.iter().skip(from).copied().fold(0.0, f64::max);
    let far = highest(FOLLOWING_LAGS);
    let from = if d1 < AT_RECEIVER && far >= highest(0) / 2.0 {
        FOLLOWING_LAGS
    } else {
        0
    };
    let peak = highest(from);
    let first = (from..peaks.len()).find(|&lag| peaks[lag] >= NEAR_PEAK * peak)?;
    (peak >= LEAST_PEAK).then_some(first as i64 * NANOS_PER_MILLI)
}
