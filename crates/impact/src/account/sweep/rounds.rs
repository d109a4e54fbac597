//! The rounds of a sender: one lasts until everything that was sent by its begin is acknowledged.

use crate::account::capacity::queue_margin;
use crate::account::half::Half;
use crate::ledger::AT_LIMIT;

/// Rounds that are remembered.
pub(crate) const ROUNDS: usize = 8;
/// Two rounds, three before them: so many show whether a flight grows. A sender that begins, or begins anew, grows in as many whatever they
/// look like.
pub(crate) const FIRST_ROUNDS: usize = 5;
/// A flight, or a window, stays as it is while it is at most so much above what it was.
pub(crate) const FLAT: f64 = 1.06;

/// Rounds that a capture may have begun in.
const PARTIAL_ROUNDS: usize = 2;

/// The last rounds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rounds {
    /// This one ends when so much is acknowledged.
    ends: u64,
    /// The round's largest flight, bytes.
    most: u64,
    /// The round's least delay, and that of the one before, nanoseconds.
    least: Option<i64>,
    last_least: Option<i64>,
    /// Largest flights of those that are over, newest first; 0 before the first.
    flights: [u64; ROUNDS],
    /// The smallest flight, but for the first rounds, of which a capture that begins later sees a part.
    smallest: Option<u64>,
    /// Rounds that are over.
    pub(crate) completed: usize,
    /// Nine tenths of the flight that does not grow any more.
    plateau: Option<u64>,
}

impl Rounds {
    /// The first one begins at sequence number `first`.
    pub(crate) fn new(first: u64) -> Rounds {
        Rounds {
            ends: first,
            ..Rounds::default()
        }
    }

    /// Data took so long to be acknowledged.
    pub(crate) fn delayed(&mut self, nanos: i64) {
        self.least = Some(self.least.map_or(nanos, |least| least.min(nanos)));
    }

    /// Takes the bytes that were under way.
    pub(crate) fn flew(&mut self, flight: u64) {
        self.most = self.most.max(flight);
    }

    /// Everything up to `una` is acknowledged, everything up to `nxt` was sent. `lossless`: nothing was lost so far. Says whether
    /// that ends a round.
    pub(crate) fn acknowledged(&mut self, una: u64, nxt: u64, lossless: bool) -> bool {
        if una < self.ends {
            return false;
        }
        if self.most == 0 {
            // Nothing was sent in it: at the receiver's end acknowledgements of a burst and the next burst come one after the other.
            self.ends = nxt;
            return false;
        }
        let flight = std::mem::take(&mut self.most);
        self.completed += 1;
        self.ends = nxt;
        self.last_least = self.least.take();
        self.flights.copy_within(..ROUNDS - 1, 1);
        self.flights[0] = flight;
        if self.completed > PARTIAL_ROUNDS {
            self.smallest = Some(self.smallest.map_or(flight, |smallest| smallest.min(flight)));
        }
        if lossless && self.is_flat_over(ROUNDS - 2) {
            let most = self.flights.iter().max().copied().unwrap_or(0);
            self.plateau = Some((AT_LIMIT * most as f64).ceil() as u64);
        }
        true
    }

    /// The least delay of the last one, nanoseconds; 0 where nothing tells it.
    pub(crate) fn delay(&self) -> i64 {
        self.last_least.unwrap_or(0)
    }

    /// The last one is above the one before.
    pub(crate) fn grow(&self) -> bool {
        self.completed > 1 && self.last() as f64 > FLAT * self.flights[1] as f64
    }

    /// The last two are hardly above two earlier ones.
    pub(crate) fn flat(&self) -> bool {
        self.is_flat_over(FIRST_ROUNDS - 2)
    }

    /// How many are remembered.
    fn known(&self) -> usize {
        self.completed.min(ROUNDS)
    }

    /// The last two are hardly above those `back` rounds and one more ago.
    fn is_flat_over(&self, back: usize) -> bool {
        self.known() >= back + 2 && self.most_of(0) as f64 <= FLAT * self.most_of(back) as f64
    }

    /// `flight` is above the largest of the last two.
    pub(crate) fn are_below(&self, flight: u64) -> bool {
        self.completed > 0 && flight as f64 > FLAT * self.most_of(0) as f64
    }

    /// `flight` is as large as they are since they do not grow any more.
    pub(crate) fn are_level_with(&self, flight: u64) -> bool {
        self.plateau.is_some_and(|plateau| flight >= plateau)
    }

    /// The last two are above the first two that are remembered, by a segment and by less than half.
    pub(crate) fn climb(&self, segment: u64) -> bool {
        let rounds = self.known();
        let (last, first) = (self.most_of(0), self.most_of(rounds.saturating_sub(2)));
        rounds >= 4 && last >= first + segment && 2 * last < 3 * first
    }

    /// The larger flight of two rounds, of which the later one is `back` rounds ago.
    fn most_of(&self, back: usize) -> u64 {
        self.flights[back..].iter().take(2).max().copied().unwrap_or(0)
    }

    /// The largest flight of the last one.
    pub(crate) fn last(&self) -> u64 {
        self.flights[0]
    }

    /// The largest flight of this one and the last two.
    pub(crate) fn usual(&self) -> u64 {
        self.most_of(0).max(self.most)
    }

    /// At most half of `flight` was under way for a round: a queue that it makes was not there all the time.
    pub(crate) fn were_smaller_than(&self, flight: u64) -> bool {
        self.smallest.is_some_and(|smallest| smallest <= flight / 2)
    }

    /// Packets queue: the last round's least delay is above the least of all, by what shows it.
    pub(crate) fn queues(&self, half: &Half) -> bool {
        let least = half.d1.map(|d1| d1 + queue_margin(half.rtt));
        self.last_least
            .zip(least)
            .is_some_and(|(last, least)| last > least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{at, half};

    /// Rounds with these largest flights, each acknowledged as a whole.
    fn rounds(flights: &[u64], lossless: bool) -> Rounds {
        let mut rounds = Rounds::new(0);
        for (round, &flight) in (0u64..).zip(flights) {
            rounds.flew(flight / 2);
            rounds.flew(flight);
            rounds.flew(1);
            assert!(rounds.acknowledged(round, round + 1, lossless));
        }
        rounds
    }

    #[test]
    fn a_round_lasts_until_what_was_sent_by_its_begin_is_acknowledged() {
        let mut rounds = Rounds::new(1_000);
        rounds.flew(1);
        assert!(!rounds.acknowledged(999, 5_000, true));
        assert!(rounds.acknowledged(1_000, 5_000, true));
        rounds.flew(1);
        assert!(!rounds.acknowledged(4_999, 9_000, true));
        assert!(rounds.acknowledged(5_000, 9_000, true));
        assert_eq!(rounds.completed, 2);
    }

    #[test]
    fn flat_are_two_rounds_hardly_above_those_three_before() {
        assert!(rounds(&[100, 100, 1, 106, 106], true).flat());
        assert!(!rounds(&[100, 100, 1, 106, 107], true).flat());
        assert!(rounds(&[1, 100, 1, 106, 1], true).flat() && rounds(&[100, 1, 1, 1, 106], true).flat());
        assert!(!rounds(&[100; 4], true).flat(), "four rounds tell nothing");
    }

    #[test]
    fn a_plateau_is_the_highest_of_eight_rounds_without_loss() {
        let eight = [100, 90, 80, 80, 80, 80, 106, 90];
        assert_eq!(rounds(&eight, true).plateau, Some(96));
        assert_eq!(rounds(&eight, false).plateau, None);
        assert_eq!(rounds(&eight[..7], true).plateau, None);
        let rises = [100, 90, 80, 80, 80, 80, 107, 90];
        assert_eq!(rounds(&rises, true).plateau, None);
    }

    #[test]
    fn a_flight_above_the_last_two_rounds_grows() {
        let of = rounds(&[300, 100, 80], true);
        assert!(of.are_below(107) && !of.are_below(106));
        assert!(!rounds(&[], true).are_below(1), "no round is over");
    }

    #[test]
    fn a_round_in_which_nothing_was_sent_is_none() {
        let mut of = rounds(&[100], true);
        assert!(!of.acknowledged(1, 5, true));
        assert_eq!((of.completed, of.last()), (1, 100));
        of.flew(200);
        assert!(!of.acknowledged(4, 9, true), "it ends with what was sent since");
        assert!(of.acknowledged(5, 9, true));
        assert_eq!((of.completed, of.last()), (2, 200));
    }

    #[test]
    fn a_flight_climbs_by_segments() {
        let climb = |flights: &[u64]| rounds(flights, true).climb(10);
        assert!(climb(&[100, 90, 80, 110]) && !climb(&[100, 90, 80, 109]));
        assert!(
            climb(&[100, 90, 149, 80]) && !climb(&[100, 90, 150, 80]),
            "half as much again"
        );
        assert!(!climb(&[100, 90, 110]), "three rounds");
        assert!(
            climb(&[1, 100, 100, 100, 100, 100, 100, 100, 110]),
            "eight are remembered"
        );
    }

    #[test]
    fn what_the_last_rounds_had_under_way() {
        let mut of = rounds(&[300, 100, 200], true);
        assert_eq!((of.last(), of.usual()), (200, 200));
        of.flew(250);
        assert_eq!((of.last(), of.usual()), (200, 250));
        assert!(rounds(&[100, 107], true).grow() && !rounds(&[100, 106], true).grow());
        assert!(!rounds(&[100], true).grow());
        assert_eq!(rounds(&[300, 100], true).usual(), 300);
    }

    #[test]
    fn the_first_two_rounds_are_not_whole() {
        assert!(!rounds(&[1, 1, 100], true).were_smaller_than(199));
        assert!(rounds(&[1, 1, 100, 300], true).were_smaller_than(200));
        assert!(!rounds(&[1, 1], true).were_smaller_than(200));
    }

    #[test]
    fn packets_queue_where_the_least_delay_of_a_round_is_above_the_least_of_all() {
        let queues = |delay: Option<i64>| {
            let mut rounds = Rounds::new(0);
            for delay in delay.into_iter().chain(delay.map(|d| d + 5)) {
                rounds.delayed(at(delay));
            }
            rounds.flew(1);
            rounds.acknowledged(0, 1, true);
            // The next one has begun.
            rounds.delayed(at(1));
            let half = Half {
                d1: Some(at(10)),
                rtt: at(20),
                ..half()
            };
            rounds.queues(&half)
        };
        assert_eq!([Some(15), Some(14), None].map(queues), [true, false, false]);
    }
}
