//! Large segments of one direction, apart from the small ones: where the MTU of a path has become smaller, the small ones still pass.

use super::backoff::SmallPassed;
use super::candidate::{Before, Candidate, Delivered, InVain, TransferEnd};
use super::judge::MANY_ATTEMPTS;
use crate::interval::LostPacket;
use crate::segment::{Fate, Settlement};
use rekeyscope_model::time::Timestamp;

/// Small arrivals that are kept since the last large one; where there are more, every second one goes.
const MOST_SMALL: usize = 64;

/// The segments of more than half of the largest payload that ever arrived.
#[derive(Debug, Default)]
pub(super) struct LargeSegments {
    largest: u32,
    delivered: Option<Delivered>,
    /// Sent since the last one was delivered.
    in_vain: InVain,
    /// Times and payloads of small ones that arrived since.
    small: Vec<(Timestamp, u32)>,
}

impl LargeSegments {
    fn is_large(&self, len: u32) -> bool {
        2 * len > self.largest
    }

    /// Something became of a segment. A stretch in which large ones did not arrive ends when one does.
    #[inline]
    pub(super) fn take(&mut self, settled: &Settlement, before: Before) -> Option<(Candidate, SmallPassed)> {
        match settled.fate {
            Fate::Arrived if self.is_large(settled.len) => {
                let at = Delivered {
                    time: settled.time,
                    frame: settled.frame,
                    esp: settled.esp,
                };
                let ended =
                    (!self.in_vain.is_empty()).then(|| self.stretch(self.in_vain.clone(), at, before));
                self.largest = self.largest.max(settled.len);
                if self.delivered.is_none_or(|last| last.time <= at.time) {
                    self.delivered = Some(at);
                }
                self.in_vain.forget_until(at.time);
                self.small.retain(|(time, _)| *time > at.time);
                ended.flatten()
            }
            Fate::Arrived => {
                if self.small.len() == MOST_SMALL {
                    let mut odd = false;
                    self.small.retain(|_| {
                        odd = !odd;
                        odd
                    });
                }
                self.small.push((settled.time, settled.len));
                None
            }
            Fate::Swallowed | Fate::Abandoned if self.is_large(settled.len) => {
                if self.delivered.is_some_and(|last| last.time < settled.time) {
                    self.in_vain.push(LostPacket::of(settled), 0);
                }
                None
            }
            _ => None,
        }
    }

    /// The stretch that lasts to the end: `waiting` segments may never arrive.
    pub(super) fn open(
        &self,
        waiting: &[Settlement],
        end: Timestamp,
        before: Before,
    ) -> Option<(Candidate, SmallPassed)> {
        let from = self.delivered?.time;
        let mut in_vain = self.in_vain.clone();
        let given_up =
            |settled: &&Settlement| settled.time > from && end.nanos_since(settled.time) > before.rto;
        for settled in waiting.iter().filter(given_up) {
            if self.is_large(settled.len) {
                in_vain.push(LostPacket::of(settled), 0);
            }
        }
        self.stretch(in_vain, Delivered::nothing(end), before)
    }

    /// The stretch since the last delivery, where small segments passed and large ones were tried again and again behind them.
    fn stretch(&self, in_vain: InVain, to: Delivered, before: Before) -> Option<(Candidate, SmallPassed)> {
        let from = self.delivered?;
        let first = in_vain.first()?;
        let passed = || self.small.iter().filter(|(time, _)| *time > first);
        let since = passed().map(|(time, _)| *time).min()?;
        let tried = in_vain.between(since, to.time).attempts(before.round_trip);
        let candidate = Candidate {
            from,
            to,
            before,
            in_vain,
            transfer_end: TransferEnd::Open,
        };
        let stood = tried >= MANY_ATTEMPTS && candidate.is_long_enough();
        stood.then(|| {
            let largest = passed().map(|(_, len)| *len).max().unwrap_or(0);
            let answered = u32::try_from(passed().count()).unwrap_or(u32::MAX);
            (candidate, SmallPassed { answered, largest })
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
        large.take(&settled(0, 1_400, Fate::Arrived), BEFORE);
        for &ms in small {
            large.take(&settled(ms, 150, Fate::Arrived), BEFORE);
        }
        let waiting: Vec<Settlement> = tries
            .iter()
            .map(|&ms| settled(ms, 1_400, Fate::Waiting))
            .collect();
        let (candidate, passed) = large.open(&waiting, at(20_000), BEFORE)?;
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
        large.take(&settled(0, 1_400, Fate::Arrived), BEFORE);
        large.take(&settled(500, 150, Fate::Arrived), BEFORE);
        for ms in [10, 600, 1_200, 2_400] {
            large.take(&settled(ms, 1_400, Fate::Swallowed), BEFORE);
        }
        let ended = large.take(&settled(4_800, 1_400, Fate::Arrived), BEFORE);
        assert_eq!(
            ended.map(|(c, _)| (c.from.time, c.to.time)),
            Some((at(0), at(4_800)))
        );
        assert!(large.open(&[], at(20_000), BEFORE).is_none());
    }
}
