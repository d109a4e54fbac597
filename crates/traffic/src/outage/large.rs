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
            Fate::Swallowed | Fate::Abandoned if self.is_large(settled.len) => {
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
        self.arrived = self.arrived.max(settled.len);
        let too_large = self.in_vain.smallest_until(settled.time);
        if !self.is_large(settled.len) || too_large.is_some_and(|least| settled.len < least) {
            self.pass((settled.time, settled.len));
            return None;
        }
        let at = Delivered {
            time: settled.time,
            frame: settled.frame,
            esp: settled.esp,
        };
        let in_vain = too_large.map(|_| self.in_vain.clone());
        self.in_vain.forget_sizes_until(at.time, settled.len);
        if self.in_vain.smallest_until(at.time).is_some() {
            // Larger ones do not arrive yet.
            self.pass((settled.time, settled.len));
            return None;
        }
        let ended = in_vain.and_then(|in_vain| self.stretch(in_vain, at, before, echoes));
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
        for settled in large.filter(|settled| self.is_large(settled.len)) {
            in_vain.push(LostPacket::of(settled), 0);
            waits = true;
        }
        let last = in_vain.span()?.1;
        let never_larger = in_vain.smallest_until(last)? > self.arrived;
        let to = if waits { end } else { last };
        let (candidate, passed) = self.stretch(in_vain, Delivered::nothing(to), before, echoes)?;
        let transfer_end = if waits {
            TransferEnd::Open
        } else {
            TransferEnd::Late
        };
        Some((
            Candidate {
                transfer_end,
                ..candidate
            },
            SmallPassed {
                never_larger,
                ..passed
            },
        ))
    }

    /// The stretch since the last delivery, where small segments passed and large ones were tried again and again behind them.
    fn stretch(
        &self,
        in_vain: InVain,
        to: Delivered,
        before: Before,
        echoes: &Echoes,
    ) -> Option<(Candidate, SmallPassed)> {
        let begin = *in_vain.first_packet()?;
        let first = begin.time;
        let passed = || self.small.iter().filter(|(time, _)| *time > first);
        let segment = passed().map(|(time, _)| *time).min();
        let since = segment.into_iter().chain(echoes.first_answered(first)).min()?;
        let tried = in_vain.between(since, to.time).attempts(before.round_trip);
        let candidate = Candidate {
            from: self.delivered.unwrap_or(Delivered {
                time: first.plus_nanos(-1),
                frame: begin.frame,
                esp: begin.esp,
            }),
            to,
            before,
            in_vain,
            transfer_end: TransferEnd::Open,
        };
        let stood = tried >= MANY_ATTEMPTS && candidate.is_long_enough();
        stood.then(|| {
            let passed = SmallPassed {
                answered: u32::try_from(passed().count()).unwrap_or(u32::MAX),
                largest: passed().map(|(_, len)| *len).max().unwrap_or(0),
                never_larger: false,
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
