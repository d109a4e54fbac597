//! Steps of one direction of a connection, packet by packet, before anything else is known.

use crate::account::flow::Measured;
use crate::account::times::Times;
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::NANOS_PER_MILLI;
use rekeyscope_traffic::FINEST;

/// Facts that waits have in common that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepKind {
    /// `None`: what its episode of loss turns out to be.
    pub(crate) found: Option<AccountLabel>,
    /// Between two full windows.
    pub(crate) between_full: bool,
    /// The path carries all it can.
    pub(crate) at_capacity: bool,
}

/// One wait, or several short ones. It ends with a data packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// The data packet before it; of the first step its own.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// Numbers of these packets.
    pub(crate) frames: (u64, u64),
    /// New bytes.
    pub(crate) bytes: u64,
    /// The longest of its waits, nanoseconds.
    pub(crate) longest: i64,
    pub(crate) kind: StepKind,
    /// The receiver's window as it was.
    pub(crate) window: u32,
    /// Packets that it counts.
    pub(crate) packets: u32,
    /// The window was full when it began.
    pub(crate) touched: bool,
}

impl Step {
    /// The one behind it may be counted with it: both are short, waits of at most `gap`, and of one kind.
    pub(crate) fn is_alike(&self, next: &Step, gap: i64) -> bool {
        let short = self.longest.max(next.longest) <= gap && next.to - self.from <= FINEST;
        // The first of a connection is no wait.
        short && self.kind == next.kind && self.frames.0 != self.frames.1
    }

    /// Takes the one behind it in.
    pub(crate) fn absorb(&mut self, next: &Step) {
        (self.to, self.frames.1) = (next.to, next.frames.1);
        self.bytes += next.bytes;
        self.longest = self.longest.max(next.longest);
        self.window = next.window;
        self.packets += next.packets;
    }
}

/// Two full windows lie at most 1.5 round trips and this apart.
const BETWEEN_TOUCHES: i64 = 5 * NANOS_PER_MILLI;

/// The steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Track {
    /// In order of time.
    pub(crate) steps: Vec<Step>,
    /// Why something was sent again last: an episode lasts from the first copy until all that was sent by then is acknowledged. Later steps of
    /// it, or on the way back from it, may follow.
    pub(crate) episode: Option<AccountLabel>,
    /// Steps before this one belong to no episode, or to one whose cause they have.
    pub(crate) settled: usize,
    /// A queue that was there from the first packet to the last would not show.
    pub(crate) hides_queues: bool,
    /// Rounds that were not seen may have been growth, or none.
    pub(crate) hides_growth: bool,
    /// Not of a trial run.
    pub(crate) measured: Option<Box<Measured>>,
}

impl Track {
    /// New bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.steps.iter().map(|s| s.bytes).sum()
    }

    /// An episode begins, so that the one before is over.
    pub(crate) fn begins(&mut self, cause: AccountLabel) {
        self.settle();
        self.episode = Some(cause);
    }

    /// The steps of the last episode are called what it was.
    pub(crate) fn settle(&mut self) {
        let cause = self.episode.unwrap_or(AccountLabel::PathLoss);
        for step in &mut self.steps[self.settled..] {
            step.kind.found.get_or_insert(cause);
        }
        self.settled = self.steps.len();
    }

    /// The steps before the first loss, which has just begun, are the way back from a loss that the capture does not hold: as far as nothing else
    /// explains it. Who cannot tell reordering from loss comes back alike. `window_known`: an inferred window is the largest flight, which
    /// comes right before a loss.
    pub(crate) fn comes_back(&mut self, window_known: bool) {
        use AccountLabel::{Growth, ReceiveWindow, SendBuffer, Unexplained};
        for step in &mut self.steps {
            step.touched &= window_known;
            step.kind.found = step.kind.found.filter(|label| match label {
                ReceiveWindow => window_known,
                label => !matches!(label, Growth | SendBuffer | Unexplained),
            });
        }
        self.settled = 0;
    }

    /// Completes a piece by what its packets say about each other, once all of it was gone over: its steps begin with `first`. Short waits
    /// that are alike become one step.
    pub(crate) fn complete(&mut self, first: usize, times: Times) {
        self.mark_full(first, times);
        self.steps.dedup_by(|step, last| {
            let alike = last.is_alike(step, times.gap);
            if alike {
                last.absorb(step);
            }
            alike
        });
        self.settled = 0;
    }

    /// From one full window to the next everything waits for the receiver. Of the steps from `first` on.
    pub(crate) fn mark_full(&mut self, first: usize, times: Times) {
        let apart = times.rtt * 3 / 2 + BETWEEN_TOUCHES;
        let steps = &mut self.steps[first..];
        // A wait that began with a full window says that the packet before it filled it.
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
        self.settled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{at, step};
    use AccountLabel::{Application, Growth, PathLoss, QueueLoss, ReceiveWindow, SendBuffer};

    /// Round trips of 40 ms: a pause has 60 ms.
    fn times() -> Times {
        Times::of(at(40), 0)
    }

    /// Steps of these lengths, milliseconds, one behind the other.
    fn track(lengths: &[i64]) -> Track {
        let mut track = Track::default();
        let mut time = 0;
        for &length in lengths {
            track.steps.push(step(time, time + length, Growth));
            time += length;
        }
        track
    }

    fn spans(track: &Track) -> Vec<(i64, i64)> {
        let ms = |nanos: i64| nanos / NANOS_PER_MILLI;
        track.steps.iter().map(|s| (ms(s.from), ms(s.to))).collect()
    }

    #[test]
    fn of_two_steps_the_longer_says_what_they_are() {
        // 10 is the middle length: what is longer stays alone, and what has just been made longer takes no third.
        let mut track = track(&[20, 10, 5, 9, 30, 10]);
        track.steps[3].kind.found = Some(Application);
        track.coarsen();
        assert_eq!(spans(&track), [(0, 30), (30, 44), (44, 84)]);
        let second = track.steps[1];
        assert_eq!((second.bytes, second.packets, second.longest), (2_000, 2, at(9)));
        assert_eq!((second.frames, second.kind.found), ((30, 44), Some(Application)));
    }

    #[test]
    fn a_long_step_is_not_swallowed() {
        let mut long = track(&[1, 50, 1, 1, 60]);
        long.coarsen();
        assert_eq!(spans(&long), [(0, 1), (1, 52), (52, 53), (53, 113)]);
        let mut one = track(&[10]);
        one.coarsen();
        assert_eq!(one.steps.len(), 1);
    }

    /// An episode's label is settled once the next one begins, whatever joined it meanwhile.
    #[test]
    fn steps_have_the_cause_of_their_episode() {
        let mut track = track(&[10, 100, 10, 100, 10]);
        track.begins(QueueLoss);
        track.steps[1].kind.found = None;
        track.complete(0, times());
        track.begins(PathLoss);
        track.steps[3].kind.found = None;
        track.coarsen();
        track.settle();
        let found: Vec<_> = track.steps.iter().map(|s| s.kind.found.unwrap()).collect();
        assert_eq!(found, [Growth, QueueLoss, PathLoss]);
        let mut early = self::track(&[100; 2]);
        early.steps[1].kind.found = None;
        early.begins(QueueLoss);
        early.settle();
        assert_eq!(early.steps[1].kind.found, Some(PathLoss), "of no episode");
    }

    #[test]
    fn the_way_back_from_an_unseen_loss_is_the_next_losss() {
        let found = |window_known: bool| {
            let mut track = track(&[100; 4]);
            for (step, label) in track
                .steps
                .iter_mut()
                .zip([Growth, ReceiveWindow, Application, SendBuffer])
            {
                step.kind.found = Some(label);
                step.touched = true;
            }
            track.begins(QueueLoss);
            track.comes_back(window_known);
            track.settle();
            let touched = track.steps[0].touched;
            (
                touched,
                track
                    .steps
                    .iter()
                    .map(|s| s.kind.found.unwrap())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            found(true),
            (true, vec![QueueLoss, ReceiveWindow, Application, QueueLoss])
        );
        assert_eq!(
            found(false),
            (false, vec![QueueLoss, QueueLoss, Application, QueueLoss])
        );
    }

    /// Waits of 5 ms, one behind the other.
    fn waits(count: usize) -> Track {
        track(&vec![5; count])
    }

    #[test]
    fn short_waits_that_are_alike_are_counted_together_for_twenty_milliseconds() {
        let completed = |change: fn(&mut Vec<Step>)| {
            let mut track = waits(9);
            change(&mut track.steps);
            track.complete(0, times());
            track
        };
        let all = completed(|_| ());
        assert_eq!(spans(&all), [(0, 20), (20, 40), (40, 45)]);
        assert_eq!(
            (all.steps[0].packets, all.steps[0].bytes, all.bytes()),
            (4, 4_000, 9_000)
        );
        let first = completed(|steps| steps[0].frames = (5, 5));
        assert_eq!(
            spans(&first)[..2],
            [(0, 5), (5, 25)],
            "the first packet waited for nothing"
        );
        let parted = completed(|steps| steps[2].kind.found = None);
        assert_eq!(spans(&parted)[..3], [(0, 10), (10, 15), (15, 35)]);
        let last = |length: fn(&mut Vec<Step>)| spans(&completed(length))[1];
        assert_eq!(last(|steps| steps[7].longest = at(61)), (20, 35));
        assert_eq!(last(|steps| steps[7].longest = at(60)), (20, 40));
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
            track.mark_full(0, times());
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
            track.mark_full(0, times());
            track.steps[3].kind.between_full
        };
        assert!(apart(65) && !apart(66), "one and a half round trips and 5 ms");
    }
}
