//! Data and acknowledgements that passed on a path, and what can be asked of them: rates, stretches.

use crate::account::half::Half;
use crate::account::times::micros;
use rekeyscope_model::time::NANOS_PER_SECOND;
use std::ops::Range;

/// A packet with data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) time: i64,
    pub(super) bytes: u32,
    /// Above the connection's least, microseconds.
    pub(super) delay: Option<u32>,
    pub(super) echo: Option<u32>,
    /// The packet's connection, and its place there.
    pub(super) half: usize,
    pub(super) index: usize,
}

/// Data and acknowledgements that passed on a path, of all connections together.
#[derive(Debug)]
pub(crate) struct Passed {
    /// In order of time: the packets of a capture may not be.
    pub(super) sent: Vec<Sent>,
    /// Bytes of all before each of them, and of all.
    pub(super) sent_before: Vec<u64>,
    /// Newly acknowledged bytes.
    pub(super) acked: Vec<(i64, u64)>,
    /// See `sent_before`.
    pub(super) acked_before: Vec<u64>,
}

impl Passed {
    /// The packets of these connections.
    pub(super) fn by(halves: &[&Half]) -> Passed {
        let (mut sent, mut acked) = (Vec::new(), Vec::new());
        for (half, h) in halves.iter().enumerate() {
            sent.extend(sent_by(half, h));
            advances(h, &mut acked);
        }
        Passed::of(sent, acked)
    }

    pub(super) fn of(mut sent: Vec<Sent>, mut acked: Vec<(i64, u64)>) -> Passed {
        sent.sort_by_key(|s| s.time);
        acked.sort_by_key(|a| a.0);
        Passed {
            sent_before: running(sent.iter().map(|s| u64::from(s.bytes))),
            acked_before: running(acked.iter().map(|a| a.1)),
            sent,
            acked,
        }
    }

    /// The highest rate before, around or after every packet, of `own`.
    pub(super) fn near(&self, span: i64, own: f64, rates: &mut [Vec<f32>]) {
        let (sent, sums) = (&self.sent, &self.sent_before);
        let mut at = [0usize; 4];
        let offsets = [-span, -span / 2, span / 2, span];
        for (k, packet) in sent.iter().enumerate() {
            for (place, offset) in at.iter_mut().zip(offsets) {
                while sent
                    .get(*place)
                    .is_some_and(|other| other.time <= packet.time + offset)
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
            rates[packet.half][packet.index] = (most / own) as f32;
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
        let (Some(first), Some(last)) = (self.sent.first(), self.sent.last()) else {
            return found;
        };
        let mut begin = first.time;
        while begin + length <= last.time {
            let sent_until = |time: i64| self.sent.partition_point(|s| s.time < time);
            let acked_until = |time: i64| self.acked.partition_point(|a| a.0 < time);
            let data = sent_until(begin)..sent_until(begin + length);
            if data.is_empty() {
                let Some(next) = self.sent.get(data.start) else {
                    break;
                };
                let steps = (next.time - begin) / (length / 2);
                begin += steps.max(1) * (length / 2);
                continue;
            }
            let acks = acked_until(begin)..acked_until(begin + length);
            let bytes = self.sent_before[data.end] - self.sent_before[data.start];
            let confirmed = self.acked_before[acks.end] - self.acked_before[acks.start];
            let least = if self.acked.is_empty() {
                bytes
            } else {
                bytes.min(confirmed)
            };
            found.push(BusyStretch {
                data,
                acks,
                begin,
                rate: least as f64 * NANOS_PER_SECOND as f64 / length as f64,
            });
            begin += length / 2;
        }
        found
    }
}

/// A stretch: its packets with data, and its acknowledgements.
#[derive(Debug, Clone)]
pub(super) struct BusyStretch {
    pub(super) data: Range<usize>,
    pub(super) acks: Range<usize>,
    pub(super) begin: i64,
    pub(super) rate: f64,
}

/// Sums of all values before each of them, and of all.
fn running(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let sums = values.scan(0, |sum, value| {
        *sum += value;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// The packets with data of one of them.
fn sent_by(half: usize, h: &Half) -> impl Iterator<Item = Sent> {
    let above = |us: Option<u32>, least: Option<i64>| Some(us?.saturating_sub(micros(least.unwrap_or(0))));
    h.data.iter().enumerate().map(move |(index, p)| Sent {
        time: p.time.0,
        bytes: u32::from(p.payload),
        delay: above(p.acked_after, h.d1),
        echo: above(p.echo_after, h.echoed),
        half,
        index,
    })
}

/// Newly acknowledged bytes.
pub(super) fn advances(half: &Half, acked: &mut Vec<(i64, u64)>) {
    let mut highest = half.acks.first().map_or(0, |a| a.ack);
    for a in &half.acks {
        if a.ack > highest {
            acked.push((a.time.0, a.ack - highest));
            highest = a.ack;
        }
    }
}
