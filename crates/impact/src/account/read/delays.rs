//! How long data and acknowledgements take.

use super::data::{Ack, Data};
use crate::account::packet::Source;
use crate::account::read::dot::dot;
use rekeyscope_model::analysis::D2Source;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};
use rekeyscope_traffic::BESIDE_RECEIVER;

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
/// Acknowledgements follow their data at once where the capture is beside the receiver: lags below this are theirs, bins.
const FOLLOWING_LAGS: usize = 4;

/// The least of delays, piece by piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeastDelay {
    /// Microseconds; `u32::MAX` before the first, which is below that.
    least: u32,
    /// Delays of the piece that is being read, and how many of them are below.
    known: usize,
    below: usize,
}

impl Default for LeastDelay {
    fn default() -> Self {
        LeastDelay {
            least: u32::MAX,
            known: 0,
            below: 0,
        }
    }
}

impl LeastDelay {
    /// Counts one of the piece, microseconds.
    pub(crate) fn add(&mut self, us: u32) {
        self.known += 1;
        self.below += usize::from(us < self.least);
    }

    /// The lower of it and [`low`] of all delays of the piece, which mostly is not: that so few of them are below it was counted.
    fn end_piece(&mut self, delays: impl Iterator<Item = u32>) {
        if self.below > self.known / OUTLIERS {
            self.least = low(delays).unwrap_or(u32::MAX);
        }
        (self.known, self.below) = (0, 0);
    }

    /// Nanoseconds.
    pub(crate) fn nanos(&self) -> Option<i64> {
        (self.least != u32::MAX).then(|| i64::from(self.least) * 1_000)
    }
}

/// The least delays that were seen so far, nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Delays {
    /// d1: from data to its acknowledgement.
    pub(crate) d1: LeastDelay,
    /// From the acknowledgement that data echoes.
    pub(crate) echoed: LeastDelay,
    /// The sender's half of the handshake.
    handshake: Option<i64>,
    /// All of it: the whole round trip, wherever the capture is.
    pub(crate) both_halves: Option<i64>,
    /// The lag at which data follows acknowledgements.
    lag: Option<i64>,
}

impl Delays {
    pub(crate) fn learn(&mut self, source: &Source<'_>, data: &[Data], acks: &[Ack]) {
        self.d1.end_piece(data.iter().map(|d| d.acked_after));
        self.echoed.end_piece(data.iter().map(|d| d.echo_after));
        self.handshake = source.handshake.half(source.sender());
        let other = source.handshake.half(source.receiver());
        self.both_halves = self.handshake.zip(other).map(|(own, other)| own + other);
        if self.handshake.or(self.echoed.nanos()).or(self.lag).is_none() {
            self.lag = self.d1.nanos().and_then(|d1| pattern(data, acks, d1));
        }
    }

    /// d2: from an acknowledgement to what it releases, and where it is known from.
    pub(crate) fn d2(&self) -> (Option<i64>, D2Source) {
        match (self.handshake, self.echoed.nanos()) {
            (Some(half), Some(echoed)) if echoed < half => (Some(echoed), D2Source::Timestamps),
            (Some(half), _) => (Some(half), D2Source::Handshake),
            (None, Some(echoed)) => (Some(echoed), D2Source::Timestamps),
            (None, None) if self.lag.is_some() => (self.lag, D2Source::Pattern),
            (None, None) => (None, D2Source::None),
        }
    }
}

/// The least of the delays, `u32::MAX` is none; of many the one that half a percent does not reach:
/// a capture's clock, or a busy machine, brings single ones forward (lab: 7 to 14 of 40 ms).
fn low(delays: impl Iterator<Item = u32>) -> Option<u32> {
    let mut known: Vec<u32> = delays.filter(|&us| us != u32::MAX).collect();
    let place = known.len() / OUTLIERS;
    (!known.is_empty()).then(|| *known.select_nth_unstable(place).1)
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
    let (mut sent, mut acked) = (vec![0.0f32; bins], vec![0.0f32; bins]);
    for d in data {
        if let Some(slot) = bin(d.time).and_then(|b| sent.get_mut(b)) {
            *slot += f32::from(d.new);
        }
    }
    let mut highest = None;
    for a in acks {
        let before = highest.replace(highest.map_or(a.ack, |h: u64| h.max(a.ack)));
        let advanced = before.map_or(0, |before| a.ack.saturating_sub(before));
        if let Some(slot) = bin(a.time).and_then(|b| acked.get_mut(b)) {
            *slot += advanced as f32;
        }
    }
    let center = |list: &mut [f32]| {
        let mean = list.iter().copied().map(f64::from).sum::<f64>() / list.len() as f64;
        list.iter_mut().for_each(|x| *x -= mean as f32);
        dot(list, list)
    };
    let scale = (center(&mut sent) * center(&mut acked)).sqrt();
    if scale <= 0.0 {
        return None;
    }
    let at = |lag: usize| dot(&sent[lag..], &acked) / scale;
    let peaks: Vec<f64> = (0..LONGEST_LAG.min(bins)).map(at).collect();
    let highest = |from: usize| peaks.iter().skip(from).copied().fold(0.0, f64::max);
    let far = highest(FOLLOWING_LAGS);
    let from = if d1 < BESIDE_RECEIVER && far >= highest(0) / 2.0 {
        FOLLOWING_LAGS
    } else {
        0
    };
    let peak = highest(from);
    let first = (from..peaks.len()).find(|&lag| peaks[lag] >= NEAR_PEAK * peak)?;
    (peak >= LEAST_PEAK).then_some(first as i64 * NANOS_PER_MILLI)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{ack, at, data};

    #[test]
    fn half_a_percent_of_the_delays_may_be_too_small() {
        let of = |small: usize, all: usize| {
            let usual = std::iter::repeat_n(40, all - small);
            low(usual.chain(std::iter::repeat_n(7, small)).chain([u32::MAX]))
        };
        assert_eq!((of(1, 200), of(1, 199), of(2, 200)), (Some(40), Some(7), Some(7)));
        assert_eq!(low([u32::MAX].into_iter()), None);
        let after = |least: u32, small: usize| {
            let delays = std::iter::repeat_n(40, 200 - small).chain(std::iter::repeat_n(7, small));
            let mut of = LeastDelay {
                least,
                ..LeastDelay::default()
            };
            delays.clone().for_each(|us| of.add(us));
            of.end_piece(delays);
            assert_eq!((of.known, of.below), (0, 0), "the next piece begins");
            of.nanos()
        };
        assert_eq!(after(20, 1), Some(20_000), "one in two hundred");
        assert_eq!(
            (after(20, 2), after(7, 2), after(50, 0)),
            (Some(7_000), Some(7_000), Some(40_000))
        );
    }

    #[test]
    fn d2_is_the_handshakes_unless_timestamps_show_less() {
        let d2 = |handshake, echoed: Option<u32>, lag| {
            let delays = Delays {
                handshake,
                echoed: LeastDelay {
                    least: echoed.unwrap_or(u32::MAX),
                    ..LeastDelay::default()
                },
                lag,
                ..Delays::default()
            };
            delays.d2()
        };
        let found = |nanos, from| (Some(nanos), from);
        assert_eq!(
            d2(Some(10_000), Some(9), Some(1)),
            found(9_000, D2Source::Timestamps)
        );
        assert_eq!(
            d2(Some(10_000), Some(10), None),
            found(10_000, D2Source::Handshake)
        );
        assert_eq!(d2(Some(10_000), None, None), found(10_000, D2Source::Handshake));
        assert_eq!(d2(None, Some(9), Some(1)), found(9_000, D2Source::Timestamps));
        assert_eq!(d2(None, None, Some(1)), found(1, D2Source::Pattern));
        assert_eq!(d2(None, None, None), (None, D2Source::None));
    }

    /// A burst each 100 ms at no even distance, each acknowledged after `d1`; the next one comes `lag` behind that.
    fn bursts(d1: i64, lag: i64) -> (Vec<Data>, Vec<Ack>) {
        let (mut sent, mut heard, mut ms) = (Vec::new(), Vec::new(), 0);
        for k in 0..100u64 {
            sent.push(data(ms, 1_000 * k));
            heard.push(ack(ms + d1, 1_000 * (k + 1), 0));
            ms += d1 + lag + if k % 7 < 3 { 37 * (k as i64 % 3) } else { 0 };
        }
        (sent, heard)
    }

    #[test]
    fn data_that_follows_acknowledgements_shows_the_lag() {
        for (d1, lag) in [(30, 20), (30, 0), (2, 50), (50, 5)] {
            let (sent, heard) = bursts(d1, lag);
            assert_eq!(pattern(&sent, &heard, at(d1)), Some(at(lag)), "{d1} {lag}");
        }
        let (sent, heard) = bursts(30, 20);
        assert_eq!(pattern(&sent, &[], at(30)), None);
        assert_eq!(pattern(&sent, &heard[..1], at(30)), None, "nothing advances");
        assert_eq!(pattern(&[], &heard, at(30)), None);
    }
}
