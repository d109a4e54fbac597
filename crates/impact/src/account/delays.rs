//! Delays of data and of acknowledgements.

use super::packet::AccountPacket;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};
use rekeyscope_traffic::BESIDE_RECEIVER;

/// One in so many measurements may be off: a clock that brings a packet forward, an acknowledgement that was lost.
pub(crate) const OUTLIERS: usize = 200;
/// The pattern of acknowledgements and data is looked for in so much of the beginning.
const PATTERN_SPAN: i64 = 60 * NANOS_PER_SECOND;
/// The longest d2 that is looked for in it, bins of 1 ms.
const LONGEST_LAG: usize = 1_000;
/// Least correlation of a pattern.
const LEAST_PEAK: f64 = 0.25;
/// The first lag with so much of the highest correlation counts.
const NEAR_PEAK: f64 = 0.8;

/// The lower of what is known, nanoseconds, and the least of further delays, microseconds. Of many the one counts that
/// half a percent does not reach: a capture's clock, or a busy machine, brings single ones forward (lab: 7 to 14 of 40 ms).
pub(crate) fn lower(known: Option<i64>, delays: impl Iterator<Item = Option<u32>>) -> Option<i64> {
    let mut delays: Vec<u32> = delays.flatten().collect();
    if delays.is_empty() {
        return known;
    }
    let place = delays.len() / OUTLIERS;
    let least = i64::from(*delays.select_nth_unstable(place).1) * 1_000;
    Some(known.map_or(least, |known| known.min(least)))
}

/// The lag at which new data follows acknowledged bytes best, in bins of 1 ms.
pub(crate) fn pattern(data: &[AccountPacket], acks: &[AccountPacket], d1: i64) -> Option<i64> {
    let (begin, last) = (data.first()?.time, data.last()?.time);
    let bins = (last.nanos_since(begin).clamp(0, PATTERN_SPAN - 1) / NANOS_PER_MILLI) as usize + 1;
    let (mut sent, mut acked) = (vec![0.0_f64; bins], vec![0.0_f64; bins]);
    let add = |list: &mut [f64], p: &AccountPacket, bytes: f64| {
        let bin = usize::try_from(p.time.nanos_since(begin).div_euclid(NANOS_PER_MILLI)).ok();
        if let Some(sum) = bin.and_then(|bin| list.get_mut(bin)) {
            *sum += bytes;
        }
    };
    data.iter().for_each(|p| add(&mut sent, p, f64::from(p.new)));
    let mut highest = acks.first()?.ack;
    for p in acks {
        add(&mut acked, p, p.ack.saturating_sub(highest) as f64);
        highest = highest.max(p.ack);
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let center = |list: &mut [f64]| {
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        list.iter_mut().for_each(|x| *x -= mean);
        dot(list, list)
    };
    let scale = (center(&mut sent) * center(&mut acked)).sqrt();
    if scale <= 0.0 {
        return None;
    }
    let peaks: Vec<f64> = (0..LONGEST_LAG.min(bins))
        .map(|lag| dot(&sent[lag..], &acked) / scale)
        .collect();
    let highest = |from: usize| peaks.iter().skip(from).copied().fold(0.0, f64::max);
    // Acknowledgements follow their data at once where the capture is beside the receiver: shorter lags are theirs.
    let beyond = (BESIDE_RECEIVER / NANOS_PER_MILLI) as usize + 1;
    let follows = d1 < BESIDE_RECEIVER && highest(beyond) >= highest(0) / 2.0;
    let from = if follows { beyond } else { 0 };
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
        let of = |small: usize, all: usize, known: Option<i64>| {
            let usual = std::iter::repeat_n(40, all - small);
            lower(
                known,
                usual.chain(std::iter::repeat_n(7, small)).map(Some).chain([None]),
            )
        };
        assert_eq!((of(1, 200, None), of(1, 199, None)), (Some(40_000), Some(7_000)));
        assert_eq!(of(2, 200, None), Some(7_000));
        assert_eq!(
            of(1, 200, Some(20_000)),
            Some(20_000),
            "an earlier piece had less"
        );
        assert_eq!(of(2, 200, Some(20_000)), Some(7_000));
        assert_eq!(lower(Some(5), [None].into_iter()), Some(5));
    }

    /// A burst each 100 ms at no even distance, each acknowledged after `d1`; the next one comes `lag` behind that.
    fn bursts(d1: i64, lag: i64) -> (Vec<AccountPacket>, Vec<AccountPacket>) {
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
