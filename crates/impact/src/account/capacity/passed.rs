//! What passed on a path, and what can be asked of it: rates, stretches.

use crate::account::read::half::Half;
use rekeyscope_model::time::NANOS_PER_SECOND;

/// See [`Passed::gaps`].
const LONGEST_GAP: i32 = 2_000_000_000;

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

/// What passed on a path, of all connections together.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    pub(super) sent: Vec<Sent>,
    /// From each of them to the next, nanoseconds, two seconds at most: longer than any stretch.
    pub(super) gaps: Vec<i32>,
    /// Bytes of all before each of them, and of all.
    pub(super) sent_before: Vec<u64>,
    /// Some of it echoes acknowledgements.
    pub(super) echoes: bool,
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
        self.acked.sort_unstable();
        self.sent.clear();
        merge(halves, &mut self.sent);
        self.sum_up();
    }

    fn sum_up(&mut self) {
        let gap = |w: &[Sent]| (w[1].time - w[0].time).min(i64::from(LONGEST_GAP)) as i32;
        self.gaps.clear();
        self.gaps.extend(self.sent.windows(2).map(gap));
        let mut echoes = false;
        let bytes = self.sent.iter().map(|s| {
            echoes |= s.echo != u32::MAX;
            u64::from(s.bytes)
        });
        running(bytes, &mut self.sent_before);
        self.echoes = echoes;
        running(self.acked.iter().map(|a| a.1), &mut self.acked_before);
    }

    #[cfg(test)]
    pub(super) fn of(sent: &[Sent], acked: &[(i64, u64)]) -> Passed {
        let mut passed = Passed {
            sent: sent.to_vec(),
            acked: acked.to_vec(),
            ..Passed::default()
        };
        passed.sum_up();
        passed
    }

    /// The highest rate before, around or after every packet, of `own`.
    pub(super) fn near(&self, span: i64, own: f64, rates: &mut [Vec<f32>]) {
        let (sent, sums) = (&self.sent, &self.sent_before);
        let mut at = [0usize; 4];
        let offsets = [-span, -span / 2, span / 2, span];
        for (k, s) in sent.iter().enumerate() {
            for (place, offset) in at.iter_mut().zip(offsets) {
                while sent
                    .get(*place)
                    .is_some_and(|other| other.time <= s.time + offset)
                {
                    *place += 1;
                }
            }
            let (before, around, after) = (
                sums[k + 1] - sums[at[0].min(k)],
                sums[at[2]] - sums[at[1].min(k)],
                sums[at[3]] - sums[k],
            );
            let most = before.max(around).max(after) as f64 * NANOS_PER_SECOND as f64 / span as f64;
            rates[s.half as usize][s.index as usize] = (most / own) as f32;
        }
    }

    /// Bytes/s over all of it; `None` without packets.
    pub(super) fn mean(&self) -> Option<f64> {
        let (first, last) = (self.sent.first()?, self.sent.last()?);
        let bytes = *self.sent_before.last()?;
        Some(bytes as f64 * NANOS_PER_SECOND as f64 / (last.time - first.time).max(1) as f64)
    }

    /// Every half length of a stretch one begins; those without packets are left out.
    pub(super) fn stretches(&self, length: i64) -> Vec<BusyStretch> {
        let mut found = Vec::new();
        let (sent, acked) = (&self.sent, &self.acked);
        let (Some(first), Some(last)) = (sent.first(), sent.last()) else {
            return found;
        };
        let mut begin = first.time;
        let (mut data, mut acks) = (0..0, 0..0);
        while begin + length <= last.time {
            let sent_until = |from: usize, time: i64| from + behind(&sent[from..], |s| s.time < time);
            let acked_until = |from: usize, time: i64| from + behind(&acked[from..], |a| a.0 < time);
            data.start = sent_until(data.start, begin);
            acks.start = acked_until(acks.start, begin);
            data.end = sent_until(data.end.max(data.start), begin + length);
            acks.end = acked_until(acks.end.max(acks.start), begin + length);
            if data.is_empty() {
                let Some(next) = sent.get(data.start) else { break };
                let steps = (next.time - begin) / (length / 2);
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

/// Their packets with data, in order of time.
fn merge(halves: &[Half], all: &mut Vec<Sent>) {
    let above = |us: u32, least: Option<i64>| {
        let least = least.map_or(0, |least| u32::try_from(least / 1_000).unwrap_or(u32::MAX));
        if us == u32::MAX {
            us
        } else {
            us.saturating_sub(least)
        }
    };
    for (half, h) in halves.iter().enumerate() {
        all.extend(h.data.iter().enumerate().map(|(index, d)| Sent {
            time: d.time,
            bytes: d.payload() as u32,
            delay: above(d.acked_after, h.d1),
            echo: above(d.echo_after, h.echoed),
            half: half as u16,
            index: index as u32,
        }));
    }
    // Of one connection too: a capture may be out of order, and what follows walks along the time.
    all.sort_by_key(|s| s.time);
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
