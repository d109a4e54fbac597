//! Rekeys without a silence that slowed the transfer all the same: one test over all of them.

use super::arrivals::ArrivedBytes;
use super::input::{LEAST_COST, TimeSpan};
use super::price::rate;
use super::spans::{nanos, without};
use super::undisturbed::quantile;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rekeyscope_model::chance::TWO_SIDED_95;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Length of the time on both sides of a window that gives the rate there.
const BESIDE: i64 = NANOS_PER_SECOND * 3 / 2;
/// Number of draws: the smallest share that they can show is a 401st.
const DRAWS: usize = 400;
/// Highest share of draws as slow at which rekeys are called slow: one in a hundred transfers without an effect.
const LEVEL: f64 = 0.01;
/// Seed of the draws, which are the same each time.
const SEED: u64 = 1;

/// The test of the rekeys that own no silence.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowRekeys {
    /// Additional time over all of the rekeys, nanoseconds.
    pub nanos: i64,
    /// Share of draws from undisturbed time that are as slow.
    pub p: f64,
    /// Rekeys and the cost of each of them, nanoseconds; none where chance explains it.
    pub rekeys: Vec<(usize, i64)>,
    /// Bound of the cost at each rekey that the test could have missed, nanoseconds.
    pub bound: i64,
}

impl SlowRekeys {
    /// Adds the rekeys of a later stretch, which was tested for itself.
    pub(super) fn and(self, later: SlowRekeys) -> SlowRekeys {
        SlowRekeys {
            nanos: self.nanos + later.nanos,
            p: self.p.min(later.p),
            rekeys: [self.rekeys, later.rekeys].concat(),
            bound: self.bound.max(later.bound),
        }
    }
}

/// Undisturbed time, without the windows themselves, in which a rate can be measured.
struct RateGround<'a> {
    arrivals: &'a ArrivedBytes<'a>,
    /// Undisturbed time, with the windows.
    open: &'a [TimeSpan],
    /// Undisturbed time without the windows.
    beside: &'a [TimeSpan],
}

fn inside(spans: &[TimeSpan], (from, to): TimeSpan) -> Vec<TimeSpan> {
    let first = spans.partition_point(|span| span.1 <= from);
    let touched = spans.iter().skip(first).take_while(|span| span.0 < to);
    touched.map(|span| (span.0.max(from), span.1.min(to))).collect()
}

impl RateGround<'_> {
    /// Additional time that a window took, compared with its bytes at the rate beside it, nanoseconds.
    fn lost(&self, (from, to): TimeSpan) -> Option<f64> {
        let mut sides = inside(self.beside, (from.plus_nanos(-BESIDE), from));
        sides.extend(inside(self.beside, (to, to.plus_nanos(BESIDE))));
        let rate = rate(self.arrivals.within(&sides), nanos(&sides)).filter(|rate| *rate > 0.0)?;
        let own = inside(self.open, (from, to));
        let seconds = self.arrivals.within(&own) / rate;
        Some(nanos(&own) as f64 - seconds * NANOS_PER_SECOND as f64)
    }
}

/// Tests the windows of rekeys that own nothing. `None` without any, or without undisturbed time to compare with. `least`:
/// nanoseconds that they cost together at least where they cost anything.
pub(super) fn slow(
    arrivals: &ArrivedBytes<'_>,
    undisturbed: &[TimeSpan],
    windows: &[(usize, TimeSpan)],
    least: f64,
) -> Option<SlowRekeys> {
    let mut spans: Vec<TimeSpan> = windows.iter().map(|window| window.1).collect();
    spans = super::spans::joined(spans);
    let beside: Vec<TimeSpan> = undisturbed
        .iter()
        .flat_map(|span| without(*span, &spans))
        .collect();
    let ground = RateGround {
        arrivals,
        open: undisturbed,
        beside: &beside,
    };
    let own: Vec<(usize, TimeSpan, f64)> = windows
        .iter()
        .filter_map(|(rekey, window)| Some((*rekey, *window, ground.lost(*window)?)))
        .collect();
    let sum: f64 = own.iter().map(|one| one.2).sum();
    let lengths: Vec<i64> = own.iter().map(|one| one.1.1.nanos_since(one.1.0)).collect();
    let [by_byte, by_time] = [DrawnBy::Byte, DrawnBy::Time].map(|by| draws(&ground, &lengths, by));
    let (by_byte, by_time) = (DrawnSums::of(by_byte?, sum), DrawnSums::of(by_time?, sum));
    let p = by_byte.p.max(by_time.p);
    // A slow-down that chance hid, and what was measured.
    let bound = by_byte.quantile.max(by_time.quantile) + sum.max(0.0);
    let positive: f64 = own.iter().map(|one| one.2.max(0.0)).sum();
    let is_slow = p <= LEVEL && sum >= least.max(own.len() as f64 * LEAST_COST as f64);
    let share = |one: &(usize, TimeSpan, f64)| (one.0, (one.2.max(0.0) / positive * sum).round() as i64);
    Some(SlowRekeys {
        nanos: sum.round() as i64,
        p,
        rekeys: own.iter().filter(|_| is_slow).map(share).collect(),
        bound: (bound / own.len() as f64).max(0.0).round() as i64,
    })
}

/// Choice of the moments of draws: rekeys that come by volume fall into fast moments, and those that come by time into any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DrawnBy {
    Byte,
    Time,
}

/// Comparison of a sum with the draws.
struct DrawnSums {
    /// Share of the draws that are as slow.
    p: f64,
    /// Value that a share of [`BOUND`] of the draws stays under, above their mean.
    quantile: f64,
}

impl DrawnSums {
    fn of(mut draws: Vec<f64>, sum: f64) -> DrawnSums {
        let as_slow = draws.iter().filter(|draw| **draw >= sum).count();
        let mean = draws.iter().sum::<f64>() / draws.len().max(1) as f64;
        DrawnSums {
            p: (as_slow + 1) as f64 / (draws.len() + 1) as f64,
            quantile: quantile(&mut draws, TWO_SIDED_95).unwrap_or(0.0) - mean,
        }
    }
}

/// Sums of as many windows of the same lengths in undisturbed time.
fn draws(ground: &RateGround<'_>, lengths: &[i64], by: DrawnBy) -> Option<Vec<f64>> {
    let longest = *lengths.iter().max()?;
    let room = |span: &&TimeSpan| span.1.nanos_since(span.0) > longest;
    let rooms: Vec<TimeSpan> = ground.beside.iter().filter(room).copied().collect();
    let mut ends = Vec::with_capacity(rooms.len());
    let mut all = 0.0;
    for room in &rooms {
        let last = room.1.plus_nanos(-longest);
        all += match by {
            DrawnBy::Byte => ground.arrivals.at(last) - ground.arrivals.at(room.0),
            DrawnBy::Time => last.nanos_since(room.0) as f64,
        };
        ends.push(all);
    }
    if all <= 0.0 {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut draw = |length: &i64| {
        let at = random.next_u64() as f64 / u64::MAX as f64 * all;
        let k = ends.partition_point(|end| *end <= at).min(rooms.len() - 1);
        let room = rooms.get(k)?;
        let before = k.checked_sub(1).and_then(|k| ends.get(k)).copied().unwrap_or(0.0);
        let from = match by {
            DrawnBy::Byte => moment_of(ground.arrivals, *room, longest, at - before),
            DrawnBy::Time => room.0.plus_nanos((at - before) as i64),
        };
        ground.lost((from, from.plus_nanos(*length)))
    };
    let sum = |_| lengths.iter().filter_map(&mut draw).sum();
    Some((0..DRAWS).map(sum).collect())
}

/// Time at which so many bytes of a stretch had arrived.
fn moment_of(arrivals: &ArrivedBytes<'_>, room: TimeSpan, longest: i64, bytes: f64) -> Timestamp {
    let wanted = arrivals.at(room.0) + bytes;
    let (mut low, mut high) = (room.0.0, room.1.0 - longest);
    while low < high {
        let middle = low + (high - low) / 2;
        if arrivals.at(Timestamp(middle)) < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Timestamp(low)
}
