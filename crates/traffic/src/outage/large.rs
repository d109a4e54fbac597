//! Large segments of one direction, apart from the small ones: where the MTU of a path is or has become too small, the small ones still pass.

use super::backoff::SmallPassed;
use super::candidate::{Before, Candidate, Delivered, InVain, TransferEnd};
use super::echoes::Echoes;
use super::judge::MANY_ATTEMPTS;
use crate::interval::LostPacket;
use crate::segment::{Fate, Settlement};
use rekeyscope_model::time::Timestamp;

/// Full-sized segments of Ethernet carry so much at most (1,500 bytes less the headers of IP and TCP).
const FULL_SIZED: u32 = 1_460;
/// Small arrivals that are kept since the last large one; where there are more, every second one goes.
const MOST_SMALL: usize = 64;

/// The segments of more than half of the largest payload that anybody ever sent. Those in vain are larger than what arrived behind them.
#[derive(Debug, Default)]
pub(super) struct LargeSegments {
    /// The largest payload that anybody sent, and that arrived here.
    largest: u32,
    arrived: u32,
    delivered: Option<Delivered>,
    /// Sent since the last one was delivered.
    in_vain: InVain,
    /// Times and payloads of small ones that arrived since.
    small: Vec<(Timestamp, u32)>,
}

impl LargeSegments {
    fn is_large(&self, len: u32) -> bool {
        2 * len > self.largest.min(FULL_SIZED)
    }

    /// Something became of a segment, where the largest that anybody sent is known. A stretch in which large ones did not arrive ends when one does. Requests whose `echoes` came were small
    /// segments that arrived, too.
    #[inline]
    pub(super) fn take(
        &mut self,
        settled: &Settlement,
        (before, largest): (Before, u32),
        echoes: &Echoes,
    ) -> Option<(Candidate, SmallPassed)> {
        self.largest = largest;
        match settled.fate {
            Fate::Arrived => self.arrive(settled, before, echoes),
            Fate::Swallowed | Fate::Abandoned if self.is_large(settled.packet) => {
                self.fail(settled);
                None
            }
            _ => None,
        }
    }

    fn arrive(
        &mut self,
        settled: &Settlement,
        before: Before,
        echoes: &Echoes,
    ) -> Option<(Candidate, SmallPassed)> {
        self.arrived = self.arrived.max(settled.packet);
        let at = Delivered::new(settled.time, settled.frame, settled.esp);
        let too_large = self.in_vain.smallest_until(settled.time);
        let small = too_large.is_some_and(|least| settled.packet < least);
        let cut = (small && settled.cut).then_some(settled.packet);
        if cut.is_none() && (small || !self.is_large(settled.packet)) {
            self.pass((settled.time, settled.packet));
            return None;
        }
        let in_vain = too_large.map(|_| self.in_vain.clone());
        match cut {
            // All of them come again in smaller ones.
            Some(_) => self.in_vain.forget_until(at.time),
            None => self.in_vain.forget_sizes_until(at.time, settled.packet),
        }
        if self.in_vain.smallest_until(at.time).is_some() {
            // Larger ones do not arrive yet.
            self.pass((settled.time, settled.packet));
            return None;
        }
        let ended = in_vain.and_then(|in_vain| self.stretch(in_vain, at, (before, cut), echoes));
        if self.delivered.is_none_or(|last| last.time <= at.time) {
            self.delivered = Some(at);
        }
        self.small.retain(|(time, _)| *time > at.time);
        ended
    }

    fn pass(&mut self, small: (Timestamp, u32)) {
        if self.small.len() == MOST_SMALL {
            let mut odd = false;
            self.small.retain(|_| {
                odd = !odd;
                odd
            });
        }
        self.small.push(small);
    }

    fn fail(&mut self, settled: &Settlement) {
        if self.delivered.is_none_or(|last| last.time < settled.time) {
            self.in_vain.push(LostPacket::of(settled), 0);
        }
    }

    /// The stretch that lasts to the end: `waiting` segments may never arrive. Where none waits, their sender gave up before.
    pub(super) fn open(
        &self,
        waiting: &[Settlement],
        end: Timestamp,
        before: Before,
        echoes: &Echoes,
    ) -> Option<(Candidate, SmallPassed)> {
        let since = self.delivered.map(|last| last.time);
        let given_up =
            |settled: &&Settlement| Some(settled.time) > since && end.nanos_since(settled.time) > before.rto;
        let large = waiting.iter().filter(given_up);
        let mut in_vain = self.in_vain.clone();
        let mut waits = false;
        for settled in large.filter(|settled| self.is_large(settled.packet)) {
            in_vain.push(LostPacket::of(settled), 0);
            waits = true;
        }
        let last = in_vain.span()?.1;
        let to = if waits { end } else { last };
        let (mut candidate, passed) =
            self.stretch(in_vain, Delivered::nothing(to), (before, None), echoes)?;
        if !waits {
            candidate.transfer_end = TransferEnd::Late;
        }
        Some((candidate, passed))
    }

    /// Tells whether nothing as large as a packet in vain has ever arrived.
    pub(super) fn never_arrived(&self, in_vain: &InVain) -> bool {
        let least = in_vain.span().and_then(|(_, last)| in_vain.smallest_until(last));
        least.is_some_and(|least| least > self.arrived)
    }

    /// The stretch since the last delivery, where small segments passed and large ones were tried again and again behind them. One that ends
    /// with segments that were `cut` to so many bytes began with the first try, where the sender had rested before.
    fn stretch(
        &self,
        in_vain: InVain,
        to: Delivered,
        (before, cut): (Before, Option<u32>),
        echoes: &Echoes,
    ) -> Option<(Candidate, SmallPassed)> {
        let begin = *in_vain.first_packet()?;
        let first = begin.time;
        let rested = first.plus_nanos(-before.rto);
        let delivered = self.delivered.filter(|last| cut.is_none() || last.time > rested);
        // If none as large ever arrived, what passed right before the first one shows that the way was open.
        let open = match cut.is_some() && self.never_arrived(&in_vain) {
            true => rested,
            false => first,
        };
        let passed = || self.small.iter().filter(|(time, _)| *time > open);
        let segments = passed()
            .map(|(time, _)| *time)
            .chain(delivered.map(|last| last.time));
        let segment = segments.filter(|time| *time > open).min();
        let since = segment.into_iter().chain(echoes.first_answered(first)).min()?;
        let tried = in_vain.between(since, to.time).attempts(before.round_trip);
        let try_itself = Delivered::new(first.plus_nanos(-1), begin.frame, begin.esp);
        let candidate = Candidate::new((delivered.unwrap_or(try_itself), to), before, in_vain);
        let stood = tried >= MANY_ATTEMPTS && candidate.is_long_enough();
        stood.then(|| {
            let passed = SmallPassed {
                answered: u32::try_from(passed().count()).unwrap_or(u32::MAX),
                largest: passed().map(|(_, len)| *len).chain(cut).max().unwrap_or(0),
                cut: cut.is_some(),
                larger_since: 0,
            };
            (candidate, passed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{ConnectionId, PairId};
    use rekeyscope_model::analysis::Direction;
    use rekeyscope_model::time::NANOS_PER_MILLI;

    const BEFORE: Before = Before {
        round_trip: 40 * NANOS_PER_MILLI,
        rto: 240 * NANOS_PER_MILLI,
        busy: true,
        at_receiver: false,
        beside_receiver: false,
        lacks: false,
        asked: 0,
        full: false,
        unheard: false,
    };

    fn at(ms: i64) -> Timestamp {
        Timestamp(ms * NANOS_PER_MILLI)
    }

    fn settled(ms: i64, len: u32, fate: Fate) -> Settlement {
        Settlement {
            connection: ConnectionId(0),
            pair: PairId(0),
            direction: Direction::AToB,
            seq: 0,
            len,
            syn: false,
            fin: false,
            beyond_gap: false,
            lacking_since: at(ms),
            time: at(ms),
            frame: ms as u64,
            esp: None,
            sent_once: true,
            packet: len,
            cut: false,
            fate,
            shown: (at(ms), 0),
        }
    }

    /// A large segment arrives at 0; then it is tried at these times, and small ones arrive at those.
    fn open(tries: &[i64], small: &[i64]) -> Option<SmallPassed> {
        let mut large = LargeSegments::default();
        large.take(
            &settled(0, 1_400, Fate::Arrived),
            (BEFORE, 1_400),
            &Echoes::default(),
        );
        for &ms in small {
            large.take(
                &settled(ms, 150, Fate::Arrived),
                (BEFORE, 1_400),
                &Echoes::default(),
            );
        }
        let waiting: Vec<Settlement> = tries
            .iter()
            .map(|&ms| settled(ms, 1_400, Fate::Waiting))
            .collect();
        let (candidate, passed) = large.open(&waiting, at(20_000), BEFORE, &Echoes::default())?;
        assert_eq!((candidate.from.time, candidate.to.time), (at(0), at(20_000)));
        Some(passed)
    }

    #[test]
    fn large_segments_are_tried_again_while_small_ones_pass() {
        let tries = [10, 300, 800, 1_800, 3_800];
        let often: Vec<i64> = (1..200).map(|k| 50 * k).collect();
        let passed = open(&tries, &often).unwrap();
        assert_eq!(
            (passed.answered > 10, passed.largest),
            (true, 150),
            "however many there are"
        );
        assert_eq!(open(&tries, &[5, 7]).map(|p| p.answered), None, "before");
        assert_eq!(
            open(&tries, &[3_000]).map(|p| p.answered),
            None,
            "one try behind it"
        );
        assert_eq!(open(&tries, &[700]).map(|p| p.answered), Some(1));
        assert_eq!(
            open(&[], &often).map(|p| p.answered),
            None,
            "nothing large was sent"
        );
    }

    /// Large ones are tried at 10 ms and at these times behind something small that arrived at `open`; then they come cut.
    fn cut(open: i64, tries: &[i64]) -> Option<SmallPassed> {
        let mut large = LargeSegments::default();
        let mut take = |settled| large.take(&settled, (BEFORE, 1_400), &Echoes::default());
        take(settled(open, 1, Fate::Arrived));
        for ms in [10].iter().chain(tries) {
            take(settled(*ms, 1_400, Fate::Swallowed));
        }
        let smaller = Settlement {
            cut: true,
            ..settled(4_000, 1_000, Fate::Arrived)
        };
        let (candidate, passed) = take(smaller)?;
        assert_eq!(
            (candidate.from.time, candidate.to.time),
            (at(10).plus_nanos(-1), at(4_000))
        );
        Some(passed)
    }

    #[test]
    fn segments_that_come_cut_end_the_stretch() {
        let tries = [300, 800, 1_800];
        let passed = cut(0, &tries).map(|passed| (passed.cut, passed.largest));
        assert_eq!(passed, Some((true, 1_000)));
        assert_eq!(cut(-300, &tries), None, "nothing shows that the way was open");
        assert_eq!(cut(0, &tries[..1]), None, "tried twice");
    }

    #[test]
    fn a_large_segment_that_arrives_ends_the_stretch() {
        let mut large = LargeSegments::default();
        large.take(
            &settled(0, 1_400, Fate::Arrived),
            (BEFORE, 1_400),
            &Echoes::default(),
        );
        large.take(
            &settled(500, 150, Fate::Arrived),
            (BEFORE, 1_400),
            &Echoes::default(),
        );
        for ms in [10, 600, 1_200, 2_400] {
            large.take(
                &settled(ms, 1_400, Fate::Swallowed),
                (BEFORE, 1_400),
                &Echoes::default(),
            );
        }
        let ended = large.take(
            &settled(4_800, 1_400, Fate::Arrived),
            (BEFORE, 1_400),
            &Echoes::default(),
        );
        assert_eq!(
            ended.map(|(c, _)| (c.from.time, c.to.time)),
            Some((at(0), at(4_800)))
        );
        assert!(large.open(&[], at(20_000), BEFORE, &Echoes::default()).is_none());
    }
}
