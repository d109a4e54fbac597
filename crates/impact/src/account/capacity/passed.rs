//! What passed on a path, and what can be asked of it: rates, stretches.

use crate::account::read::half::Half;
use rekeyscope_model::time::NANOS_PER_SECOND;

/// See [`Passed::gaps`].
const LONGEST_GAP: i32 = 2_000_000_000;

/// A packet with data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) time: i64,
    pub(super) bytes: u32,
    /// Above the connection's least, microseconds; `u32::MAX` where not known.
    pub(super) delay: u32,
    pub(super) echo: u32,
    pub(super) half: u16,
    pub(super) index: u32,
}

/// What passed on a path, of all connections together: of each packet with data, in order of time.
// A list for each, as most questions ask for one of them only: together they are more than a core's cache holds.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    pub(super) times: Vec<i64>,
    /// See [`Sent`].
    pub(super) delays: Vec<u32>,
    pub(super) echoes: Vec<u32>,
    /// Connections and indices; empty where there is but one, in order.
    places: Vec<(u16, u32)>,
    /// Memory for the packets of several.
    merged: Vec<Sent>,
    /// From each of them to the next, nanoseconds, two seconds at most: longer than any stretch.
    pub(super) gaps: Vec<i32>,
    /// Bytes of all before each of them, and of all.
    pub(super) sent_before: Vec<u64>,
    /// Some of it echoes acknowledgements.
    pub(super) echoed: bool,
    /// Newly acknowledged bytes.
    pub(super) acked: Vec<(i64, u64)>,
    /// See `sent_before`.
    pub(super) acked_before: Vec<u64>,
}

impl Passed {
    /// What the packets of these connections say.
    pub(super) fn refill(&mut self, halves: &[Half]) {
        self.acked.clear();
        halves.iter().for_each(|half| advances(half, &mut self.acked));
        // Those of one are in order.
        if halves.len() > 1 {
            self.acked.sort_by_key(|a| a.0);
        }
        running(self.acked.iter().map(|a| a.1), &mut self.acked_before);
        if let [one] = halves
            && self.fill(one.data.len(), sent_by(0, one))
        {
            self.places.clear();
            return;
        }
        let mut merged = std::mem::take(&mut self.merged);
        merged.clear();
        for (half, h) in halves.iter().enumerate() {
            merged.extend(sent_by(half, h));
        }
        merged.sort_by_key(|s| s.time);
        self.fill_merged(&merged);
        self.merged = merged;
    }

    fn fill_merged(&mut self, all: &[Sent]) {
        self.fill(all.len(), all.iter().copied());
        self.places.clear();
        self.places.extend(all.iter().map(|s| (s.half, s.index)));
    }

    /// Says whether they were in order of time: a capture may not be, and what is asked walks along the time.
    fn fill(&mut self, count: usize, sent: impl Iterator<Item = Sent>) -> bool {
        self.times.resize(count, 0);
        self.delays.resize(count, 0);
        self.echoes.resize(count, 0);
        self.sent_before.resize(count + 1, 0);
        let (mut sum, mut latest, mut in_order, mut echoed) = (0, i64::MIN, true, false);
        let delays = self.delays.iter_mut().zip(&mut self.echoes);
        let sums = self.sent_before.iter_mut().skip(1);
        let places = self.times.iter_mut().zip(delays).zip(sums);
        for (((time, (delay, echo)), sum_behind), s) in places.zip(sent) {
            (*time, *delay, *echo) = (s.time, s.delay, s.echo);
            sum += u64::from(s.bytes);
            *sum_behind = sum;
            in_order &= s.time >= latest;
            latest = s.time;
            echoed |= s.echo != u32::MAX;
        }
        self.echoed = echoed;
        let gap = |w: &[i64]| (w[1] - w[0]).min(i64::from(LONGEST_GAP)) as i32;
        self.gaps.clear();
        self.gaps.extend(self.times.windows(2).map(gap));
        in_order
    }

    #[cfg(test)]
    pub(super) fn of(sent: &[Sent], acked: &[(i64, u64)]) -> Passed {
        let mut passed = Passed {
            acked: acked.to_vec(),
            ..Passed::default()
        };
        running(acked.iter().map(|a| a.1), &mut passed.acked_before);
        passed.fill_merged(sent);
        passed
    }

    /// The connection of a packet, and its index there.
    pub(super) fn place(&self, k: usize) -> (usize, usize) {
        let place = self.places.get(k);
        place.map_or((0, k), |&(half, index)| (usize::from(half), index as usize))
    }

    /// The highest rate before, around or after every packet, of `own`.
    pub(super) fn near(&self, span: i64, own: f64, rates: &mut [Vec<f32>]) {
        let (times, sums) = (&self.times, &self.sent_before);
        let mut at = [0usize; 4];
        let offsets = [-span, -span / 2, span / 2, span];
        for (k, time) in times.iter().enumerate() {
            for (place, offset) in at.iter_mut().zip(offsets) {
                while times.get(*place).is_some_and(|other| *other <= time + offset) {
                    *place += 1;
                }
            }
            let (before, around, after) = (
                sums[k + 1] - sums[at[0].min(k)],
                sums[at[2]] - sums[at[1].min(k)],
                sums[at[3]] - sums[k],
            );
            let most = before.max(around).max(after) as f64 * NANOS_PER_SECOND as f64 / span as f64;
            let (half, index) = self.place(k);
            rates[half][index] = (most / own) as f32;
        }
    }

    /// Bytes/s over all of it; `None` without packets.
    pub(super) fn mean(&self) -> Option<f64> {
        let (first, last) = (self.times.first()?, self.times.last()?);
        let bytes = *self.sent_before.last()?;
        Some(bytes as f64 * NANOS_PER_SECOND as f64 / (last - first).max(1) as f64)
    }

    /// Every half length of a stretch one begins; those without packets are left out.
    pub(super) fn stretches(&self, length: i64) -> Vec<BusyStretch> {
        let mut found = Vec::new();
        let (times, acked) = (&self.times, &self.acked);
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            return found;
        };
        let mut begin = first;
        let (mut data, mut acks) = (0..0, 0..0);
        while begin + length <= last {
            let sent_until = |from: usize, time: i64| from + behind(&times[from..], |t| *t < time);
            let acked_until = |from: usize, time: i64| from + behind(&acked[from..], |a| a.0 < time);
            data.start = sent_until(data.start, begin);
            acks.start = acked_until(acks.start, begin);
            data.end = sent_until(data.end.max(data.start), begin + length);
            acks.end = acked_until(acks.end.max(acks.start), begin + length);
            if data.is_empty() {
                let Some(next) = times.get(data.start) else { break };
                let steps = (next - begin) / (length / 2);
                begin += steps.max(1) * (length / 2);
                continue;
            }
            let bytes = self.sent_before[data.end] - self.sent_before[data.start];
            let confirmed = self.acked_before[acks.end] - self.acked_before[acks.start];
            let least = if acked.is_empty() {
                bytes
            } else {
                bytes.min(confirmed)
            };
            found.push(BusyStretch {
                data: data.clone(),
                acks: acks.clone(),
                begin,
                rate: least as f64 * NANOS_PER_SECOND as f64 / length as f64,
            });
            begin += length / 2;
        }
        found
    }
}

/// A stretch: packets `from..to` of the data, acknowledgements likewise.
#[derive(Debug, Clone)]
pub(super) struct BusyStretch {
    pub(super) data: std::ops::Range<usize>,
    pub(super) acks: std::ops::Range<usize>,
    pub(super) begin: i64,
    pub(super) rate: f64,
}

/// Sums of all values before each of them, and of all.
fn running(values: impl Iterator<Item = u64>, sums: &mut Vec<u64>) {
    let mut sum = 0;
    sums.clear();
    sums.push(sum);
    sums.extend(values.map(|value| {
        sum += value;
        sum
    }));
}

/// How many at the beginning of a list are `before` something, as all are before those that are not. Looked for in steps that double: it
/// mostly is near.
fn behind<T>(list: &[T], before: impl Fn(&T) -> bool) -> usize {
    let (mut from, mut to) = (0, 1);
    while list.get(to - 1).is_some_and(&before) {
        (from, to) = (to, 2 * to);
    }
    let between = &list[from..list.len().min(to - 1)];
    from + between.partition_point(before)
}

/// The packets with data of one of them.
fn sent_by(half: usize, h: &Half) -> impl Iterator<Item = Sent> {
    let micros =
        |least: Option<i64>| least.map_or(0, |least| u32::try_from(least / 1_000).unwrap_or(u32::MAX));
    let (least_delay, least_echo) = (micros(h.d1), micros(h.echoed));
    let above = |us: u32, least: u32| {
        if us == u32::MAX {
            us
        } else {
            us.saturating_sub(least)
        }
    };
    h.data.iter().enumerate().map(move |(index, d)| Sent {
        time: d.time,
        bytes: d.payload() as u32,
        delay: above(d.acked_after, least_delay),
        echo: above(d.echo_after, least_echo),
        half: half as u16,
        index: index as u32,
    })
}

/// Newly acknowledged bytes.
pub(super) fn advances(half: &Half, acked: &mut Vec<(i64, u64)>) {
    let mut highest = half.acks.first().map_or(0, |a| a.ack);
    for a in &half.acks {
        if a.ack > highest {
            acked.push((a.time, a.ack - highest));
            highest = a.ack;
        }
    }
}
