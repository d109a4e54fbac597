//! Steps of one direction of a connection, packet by packet, before anything else is known.

use super::episode::Episode;
use super::step::{NONE, Step, StepLabel};
use crate::account::flow::measured::Measured;
use crate::account::read::half::Half;
use crate::account::times::Times;
use rekeyscope_model::analysis::{AccountLabel, D2Source};
use rekeyscope_model::time::NANOS_PER_MILLI;
use std::collections::HashMap;

/// Two full windows lie at most 1.5 round trips and this apart.
const BETWEEN_TOUCHES: i64 = 5 * NANOS_PER_MILLI;

/// What is known of a connection beside its steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrackFacts {
    /// It can be read, and has sequence numbers.
    pub(crate) tcp: bool,
    pub(crate) times: Times,
    /// Least round trip, as it was measured.
    pub(crate) measured_rtt: Option<i64>,
    pub(crate) d2_from: D2Source,
    pub(crate) d2_known: bool,
    /// Something was acknowledged.
    pub(crate) acknowledged: bool,
    pub(crate) scale_known: bool,
    pub(crate) shows_queues: bool,
    /// Neither handshake nor timestamps: what limits the flight cannot be told.
    pub(crate) blind: bool,
    /// It was closed.
    pub(crate) ended: bool,
}

impl TrackFacts {
    pub(crate) fn of(half: &Half) -> TrackFacts {
        TrackFacts {
            tcp: half.tcp,
            times: Times::of(half.rtt, half.d2.unwrap_or(half.rtt)),
            measured_rtt: half.measured_rtt,
            d2_from: half.d2_from,
            d2_known: half.d2.is_some(),
            acknowledged: half.d1.is_some(),
            scale_known: half.scale_known,
            shows_queues: half.shows_queues(),
            blind: half.blind,
            ended: half.ended,
        }
    }
}

/// The steps.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    pub(crate) facts: TrackFacts,
    /// In order of time.
    pub(crate) steps: Vec<Step>,
    pub(crate) episodes: Vec<Episode>,
    /// A queue that was there from the first packet to the last would not show.
    pub(crate) hides_queues: bool,
    /// Rounds that were not seen may have been growth, or none.
    pub(crate) hides_growth: bool,
    /// Not of a trial run.
    pub(crate) measured: Option<Box<Measured>>,
    /// Where the steps of the piece that is being gone over begin: waits that are alike are counted together at once. `None` in a trial run:
    /// one step for each packet.
    pub(crate) piece: Option<usize>,
}

impl Track {
    pub(crate) fn new(half: &Half) -> Track {
        Track {
            facts: TrackFacts::of(half),
            steps: Vec::new(),
            episodes: Vec::new(),
            hides_queues: false,
            hides_growth: false,
            measured: None,
            piece: None,
        }
    }

    /// Adds a wait. One with a full window stays alone, and so does what lies next to it: [`Track::mark_full`] parts them there.
    pub(crate) fn add(&mut self, step: &Step) {
        let gap = self.facts.times.gap;
        let alone = self.piece.is_none_or(|first| self.steps.len() <= first) || step.touched;
        match self.steps.last_mut() {
            Some(last) if !alone && !last.touched && last.is_alike(step, gap) => last.absorb(step),
            _ => self.steps.push(*step),
        }
    }

    /// New bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.steps.iter().map(|s| s.bytes).sum()
    }

    /// What was captured before its first loss, which has just begun, is the way back from a loss that was not: as far as nothing else
    /// explains it.
    pub(crate) fn comes_back(&mut self) {
        use AccountLabel::{Growth, ReceiveWindow, SendBuffer, Unexplained};
        let first = self.episodes.len() as u32 - 1;
        for step in &mut self.steps {
            // An inferred window is the largest flight, which comes right before a loss.
            step.touched &= self.facts.scale_known;
            match step.kind.found {
                StepLabel::Label(ReceiveWindow) if self.facts.scale_known => {}
                StepLabel::Label(label @ (Growth | ReceiveWindow | SendBuffer | Unexplained)) => {
                    step.kind.found = StepLabel::WayBack(label);
                    step.kind.episode = first;
                }
                _ => {}
            }
        }
    }

    /// Completes a piece by what its packets say about each other, once all of it was gone over. Its steps begin with `first`.
    pub(crate) fn complete(&mut self, first: usize) {
        self.mark_full(first);
        self.gather(first);
    }

    /// From one full window to the next everything waits for the receiver. Of the steps from `first` on.
    pub(crate) fn mark_full(&mut self, first: usize) {
        let apart = self.facts.times.rtt * 3 / 2 + BETWEEN_TOUCHES;
        let steps = &mut self.steps[first..];
        // That a wait began with a full window says that the packet before it filled it.
        let mut last: Option<usize> = None;
        for k in 1..steps.len() {
            if !steps[k].touched {
                continue;
            }
            let filled = k - 1;
            if let Some(before) = last.replace(filled)
                && steps[filled].to - steps[before].to <= apart
            {
                let between = &mut steps[before + 1..=filled];
                between.iter_mut().for_each(|s| s.kind.between_full = true);
            }
        }
    }

    /// Short waits that are alike become one step.
    fn gather(&mut self, first: usize) {
        let gap = self.facts.times.gap;
        let mut kept = first;
        for k in first..self.steps.len() {
            let step = self.steps[k];
            if kept > first && self.steps[kept - 1].is_alike(&step, gap) {
                self.steps[kept - 1].absorb(&step);
            } else {
                self.steps[kept] = step;
                kept += 1;
            }
        }
        self.steps.truncate(kept);
    }

    /// Makes it coarser: short steps become part of the one before; of two the longer says what they are.
    pub(crate) fn coarsen(&mut self) {
        let length = |s: &Step| s.to - s.from;
        let mut lengths: Vec<i64> = self.steps.iter().map(length).collect();
        if lengths.len() < 2 {
            return;
        }
        let middle = lengths.len() / 2;
        let middle = *lengths.select_nth_unstable(middle).1;
        let mut extended = false;
        self.steps.dedup_by(|step, last| {
            let joins = !extended && length(step) <= middle;
            if joins {
                if length(step) > length(last) {
                    last.kind = step.kind;
                }
                last.absorb(step);
            }
            extended = joins;
            joins
        });
        self.forget_episodes();
    }

    /// Those that no step belongs to any more, but the last, which may go on.
    fn forget_episodes(&mut self) {
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut kept: Vec<Episode> = Vec::new();
        let last = self.episodes.len().checked_sub(1).map(|k| k as u32);
        for place in self.steps.iter_mut().map(|s| &mut s.kind.episode) {
            if *place == NONE {
                continue;
            }
            let episode = self.episodes.get(*place as usize);
            *place = *places.entry(*place).or_insert_with(|| {
                kept.extend(episode.cloned());
                kept.len() as u32 - 1
            });
        }
        if let Some(last) = last.filter(|last| !places.contains_key(last)) {
            kept.extend(self.episodes.get(last as usize).cloned());
        }
        self.episodes = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{at, data, half, step as wait};
    use crate::account::sweep::step::{StepKind, StepLabel};
    use rekeyscope_model::analysis::AccountLabel;

    /// An episode that is known again by its number.
    fn episode(number: i64) -> Episode {
        Episode::begun(&data(number, 0), None, &half())
    }

    fn step(from: i64, to: i64, episode: u32) -> Step {
        Step {
            from,
            to,
            frames: (from as u64, to as u64),
            bytes: 100,
            longest: to - from,
            kind: StepKind {
                found: StepLabel::Label(AccountLabel::Rekey),
                episode,
                between_full: false,
                at_capacity: false,
            },
            window: 0,
            packets: 1,
            touched: false,
            all_acked: false,
        }
    }

    /// Steps of these lengths, one behind the other, of these episodes.
    fn track(steps: &[(i64, u32)], episodes: u32) -> Track {
        let mut track = Track::new(&half());
        let mut time = 0;
        for &(length, episode) in steps {
            track.steps.push(step(time, time + length, episode));
            time += length;
        }
        track.episodes = (0..i64::from(episodes)).map(episode).collect();
        track
    }

    #[test]
    fn of_two_steps_the_longer_says_what_they_are() {
        // 10 is the middle length: what is longer stays alone, and what has just been made longer takes no third.
        let mut track = track(
            &[
                (20, NONE),
                (10, NONE),
                (5, NONE),
                (9, NONE),
                (30, NONE),
                (10, NONE),
            ],
            0,
        );
        track.coarsen();
        let seen: Vec<_> = track
            .steps
            .iter()
            .map(|s| (s.from, s.to, s.bytes, s.packets))
            .collect();
        let expected = [(0, 30, 200, 2), (30, 44, 200, 2), (44, 84, 200, 2)];
        assert_eq!(seen, expected);
        assert_eq!(track.steps[1].longest, 9);
        assert_eq!(track.steps[1].frames, (30, 44));
    }

    #[test]
    fn a_long_step_is_not_swallowed() {
        let mut track = track(&[(1, NONE), (50, NONE), (1, NONE), (1, NONE), (60, NONE)], 0);
        track.coarsen();
        let seen: Vec<_> = track.steps.iter().map(|s| (s.from, s.to)).collect();
        assert_eq!(seen, [(0, 1), (1, 52), (52, 53), (53, 113)]);
    }

    #[test]
    fn one_step_stays() {
        let mut track = track(&[(10, 0)], 1);
        track.coarsen();
        assert_eq!((track.steps.len(), track.episodes.len()), (1, 1));
    }

    #[test]
    fn episodes_are_still_those_of_their_steps() {
        // Episode 1 belongs to a short step only and goes; 3, the last, has no step yet and may go on.
        let mut track = track(&[(20, NONE), (30, 2), (10, 1), (40, 0), (10, 2)], 4);
        track.coarsen();
        let numbers: Vec<_> = track
            .steps
            .iter()
            .filter(|s| s.kind.episode != NONE)
            .map(|s| track.episodes[s.kind.episode as usize].time)
            .collect();
        assert_eq!(numbers, [at(2), 0]);
        let kept: Vec<_> = track.episodes.iter().map(|e| e.time).collect();
        assert_eq!(kept, [at(2), 0, at(3)]);
    }

    /// Waits of 5 ms, one behind the other, of a connection with round trips of 40 ms.
    fn waits(count: i64) -> Track {
        let mut track = Track::new(&Half {
            rtt: at(40),
            ..half()
        });
        let wait = |k| wait(5 * k, 5 * k + 5, AccountLabel::Growth);
        track.steps = (0..count).map(wait).collect();
        track
    }

    fn spans(track: &Track) -> Vec<(i64, i64)> {
        let ms = |nanos: i64| nanos / NANOS_PER_MILLI;
        track.steps.iter().map(|s| (ms(s.from), ms(s.to))).collect()
    }

    #[test]
    fn short_waits_that_are_alike_are_counted_together_for_twenty_milliseconds() {
        let mut track = waits(9);
        track.gather(0);
        assert_eq!(spans(&track), [(0, 20), (20, 40), (40, 45)]);
        assert_eq!(
            (track.steps[0].packets, track.steps[0].bytes, track.bytes()),
            (4, 4_000, 9_000)
        );
        let mut parted = waits(4);
        parted.steps[2].kind.found = StepLabel::Episode;
        parted.gather(0);
        assert_eq!(spans(&parted), [(0, 10), (10, 15), (15, 20)]);
        let mut later = waits(4);
        later.gather(2);
        assert_eq!(
            spans(&later),
            [(0, 5), (5, 10), (10, 20)],
            "of an earlier piece nothing"
        );
        let mut first = waits(2);
        first.steps[0].frames = (5, 5);
        first.gather(0);
        assert_eq!(spans(&first).len(), 2, "the first packet waited for nothing");
        let mut pause = waits(2);
        pause.steps[1].longest = at(61);
        pause.gather(0);
        assert_eq!(spans(&pause).len(), 2);
        pause.steps[1].longest = at(60);
        pause.gather(0);
        assert_eq!(spans(&pause).len(), 1);
    }

    /// Waits of 5 ms; the window was full before the third one.
    #[test]
    fn waits_are_counted_together_as_they_come_but_next_to_a_full_window() {
        let added = |piece: Option<usize>| {
            let (mut track, mut made) = (waits(0), waits(7).steps);
            track.piece = piece;
            made[2].touched = true;
            made.iter().for_each(|step| track.add(step));
            spans(&track)
        };
        let [whole, trial, later] = [Some(0), None, Some(1)].map(added);
        assert_eq!(whole, [(0, 10), (10, 15), (15, 35)], "the third is alone");
        assert_eq!(trial.len(), 7, "in a trial run");
        assert_eq!(later[..2], [(0, 5), (5, 10)], "not with one of an earlier piece");
    }

    /// The window was full before these.
    #[test]
    fn between_two_full_windows_all_waits_are_marked() {
        let marked = |touched: &[usize], length: i64| {
            let mut track = waits(8);
            track.steps.iter_mut().for_each(|s| s.to = s.from + at(length));
            for &k in touched {
                track.steps[k].touched = true;
            }
            track.mark_full(0);
            let between = track
                .steps
                .iter()
                .enumerate()
                .filter(|(_, s)| s.kind.between_full);
            between.map(|(k, _)| k).collect::<Vec<_>>()
        };
        assert_eq!(marked(&[2, 5], 5), [2, 3, 4]);
        assert_eq!(marked(&[2, 4, 5], 5), [2, 3, 4]);
        assert_eq!(marked(&[2], 5), [0; 0]);
        let apart = |ms: i64| {
            let mut track = waits(8);
            track.steps[4].to = track.steps[1].to + at(ms);
            (track.steps[2].touched, track.steps[5].touched) = (true, true);
            track.mark_full(0);
            track.steps[3].kind.between_full
        };
        assert!(apart(65) && !apart(66), "one and a half round trips and 5 ms");
    }
}
