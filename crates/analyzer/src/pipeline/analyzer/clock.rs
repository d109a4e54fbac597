//! The capture's clock: steps forward and back are told from real idle time and from files out of order, and taken out, so
//! that no rate counts them as transfer time.
//!
//! At a jump of the frames' times a few frames are held back and looked into. What really passed is told by the peers' own
//! clocks (TCP timestamps inside the tunnel, RFC 7323 §3), else by data that was in flight, else by the ESP sequence numbers.
//! From a step on, all times of the analysis are those of a clock that did not step.

use crate::pipeline::analyzer::stretches::Stretches;
use crate::pipeline::record::{ClockEvent, Jump};
use rekeyscope_capture::file::{Frame, KeptFrames};
use rekeyscope_impact::ledger::LEAST_GAP;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::flow::FiveTuple;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::Preview;
use std::cmp::Ordering;

/// A silence of all frames shorter than this is never taken for a step: packets that waited in a queue carry old timestamps
/// too, and queues hold seconds at most.
const LEAST_FORWARD: i64 = 10 * NANOS_PER_SECOND;
/// Merged interfaces and queues disorder frames by less than this.
const LEAST_BACK: i64 = NANOS_PER_SECOND;
/// A silence of this length without evidence either way is worth a sentence.
const LEAST_UNDECIDED: i64 = 60 * NANOS_PER_SECOND;
/// Frames that are held back and looked into: a queue of an interface released at once is longer, but the newest of its
/// timestamps count.
const MOST_HELD: usize = 64;
/// Bytes of them.
const MOST_HELD_BYTES: usize = 1 << 18;
/// No time of the analysis is further from 1970, 146 years: sums of times and lengths stay numbers, whatever clocks say and however
/// often they step.
const FARTHEST: i64 = i64::MAX / 2;
/// Data was under way when the silence began: its last packet is no older than this.
const UNDER_WAY: i64 = NANOS_PER_SECOND;

/// A flow of inner TCP in one direction of a tunnel.
type Line = (TunnelIndex, Direction, FiveTuple);

/// The steps of the frames' times.
#[derive(Debug, Default)]
struct Ticks {
    last: Option<Timestamp>,
    /// The longest step that all times are apart by whole multiples of; 0 before the second time.
    step: i64,
    frames: u64,
    /// Frames with another time than the frame before.
    moved: u64,
}

impl Ticks {
    #[inline]
    fn take(&mut self, stamped: Timestamp) {
        let apart = self
            .last
            .replace(stamped)
            .map_or(0, |last| stamped.nanos_since(last).saturating_abs());
        self.frames += 1;
        if apart == 0 {
            return;
        }
        self.moved += 1;
        // Steps below a silence that counts move nothing that is measured.
        if self.step == 0 || self.step >= LEAST_GAP && apart % self.step != 0 {
            self.step = greatest_common_divisor(self.step, apart);
        }
    }

    /// The step of a clock that is too coarse for silences: most frames have the time of the one before.
    fn coarse(&self) -> Option<i64> {
        let is_coarse =
            self.step >= LEAST_GAP && self.moved >= LEAST_NOT_BY_CHANCE && 2 * self.moved <= self.frames;
        is_coarse.then_some(self.step)
    }
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The state of the clock.
#[derive(Debug, Default)]
pub(super) struct CaptureClock {
    /// Added to the frames' times.
    offset: i64,
    /// Time of the last frame, offset added.
    previous: Option<Timestamp>,
    stretches: Stretches,
    ticks: Ticks,
    /// Frames that wait for the decision.
    held: KeptFrames,
}

impl CaptureClock {
    /// The time of the next frame, stamped so; `None` where the times jump.
    #[inline]
    pub(super) fn go_on(&mut self, stamped: Timestamp) -> Option<Timestamp> {
        let time = self.at(stamped);
        let jumps = self.previous.is_some_and(|previous| is_jump(time, previous));
        (!jumps).then(|| self.pass(stamped))
    }

    /// The time of the next frame, stamped so, whether or not the times jump.
    pub(super) fn pass(&mut self, stamped: Timestamp) -> Timestamp {
        self.stretches.go_on(stamped);
        self.ticks.take(stamped);
        let time = self.at(stamped);
        self.previous = Some(time);
        time
    }

    /// The step of the clock, where it is longer than silences that count.
    pub(super) fn coarse_step(&self) -> Option<i64> {
        self.ticks.coarse()
    }

    /// The analysis' own time of a frame.
    fn at(&self, stamped: Timestamp) -> Timestamp {
        Timestamp(stamped.plus_nanos(self.offset).0.clamp(-FARTHEST, FARTHEST))
    }

    /// Tells whether frames wait for the decision.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Tells whether the times jump again behind the frames that wait.
    pub(super) fn jumps_again(&self, stamped: Timestamp) -> bool {
        let last = self.held.last_time();
        last.is_some_and(|last| is_jump(stamped, last))
    }

    /// Keeps a frame until the decision. True when there are enough of them.
    pub(super) fn hold(&mut self, frame: &Frame<'_>) -> bool {
        self.held.push(frame);
        self.held.len() >= MOST_HELD || self.held.size() >= MOST_HELD_BYTES
    }

    /// The frames that wait, and the time before the jump.
    pub(super) fn take_held(&mut self) -> Option<(KeptFrames, Timestamp)> {
        let held = std::mem::take(&mut self.held);
        self.previous
            .filter(|_| !held.is_empty())
            .map(|previous| (held, previous))
    }

    /// Takes the memory of frames that were handed on, for the next ones.
    pub(super) fn reuse(&mut self, mut held: KeptFrames) {
        held.clear();
        self.held = held;
    }

    /// Decides what the jump before `first` was, and goes on accordingly; `None` for idle time.
    pub(super) fn settle(
        &mut self,
        first: &Frame<'_>,
        previous: Timestamp,
        signs: &Signs,
    ) -> Option<ClockEvent> {
        let gap = self.at(first.time).nanos_since(previous);
        let event = judge(gap, signs, first.number);
        if let Some(ClockEvent {
            jump: Jump::Step,
            nanos,
            ..
        }) = event
        {
            self.offset = self.offset.saturating_sub(nanos);
            self.stretches.begin(first.time, self.offset);
        }
        // A part of the file that comes again has the steps of the clock that it had before.
        if signs.come_again()
            && let Some(offset) = self.stretches.go_back(first.time)
        {
            self.offset = offset;
        }
        event
    }

    /// A time of the analysis as the frame has it.
    pub(super) fn as_stamped(&self, time: Timestamp) -> Timestamp {
        time.plus_nanos(self.offset.saturating_neg())
    }
}

/// Tells whether the times jump from `previous` to `time`.
fn is_jump(time: Timestamp, previous: Timestamp) -> bool {
    let gap = time.nanos_since(previous);
    gap >= LEAST_FORWARD || gap <= -LEAST_BACK
}

/// Evidence of the held frames.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// From the first held frame to the one that is looked at, nanoseconds.
    pub(super) since_first: i64,
    /// The most time that passed until the first held frame, by the clock of any sender.
    passed: Option<i64>,
    /// New data follows unacknowledged data directly: no retransmission timer ran out meanwhile.
    in_flight: bool,
    /// The first data of a flow after the jump was looked at.
    judged: Vec<Line>,
    /// ESP packets behind, and not above, the highest sequence number of their SA.
    pub(super) newer: u64,
    pub(super) older: u64,
    /// ESP packets on SAs that no packet was seen on before.
    pub(super) strangers: u64,
    /// Frames that were there before with the same time: the file goes on with an earlier part of itself.
    pub(super) again: u64,
    /// The first data of a known flow repeats earlier data.
    repeats: bool,
    /// New data follows data that was all acknowledged: the sender had nothing to send.
    settled: bool,
}

impl Signs {
    /// Takes a decrypted packet of a held frame: `payload` bytes of a flow, beside what its sender sent before the jump. `previous` is the time
    /// before the jump.
    pub(super) fn look_inside(&mut self, line: Line, payload: u32, before: &Preview, previous: Timestamp) {
        if let Some((newest, passed)) = before.since_newest {
            // The last frame's time counts here: the sender's newest timestamp may be older than that.
            let passed = passed.saturating_sub(previous.nanos_since(newest));
            let passed = passed.saturating_sub(self.since_first);
            self.passed = Some(self.passed.map_or(passed, |most| most.max(passed)));
        }
        if payload == 0 || self.judged.contains(&line) {
            return;
        }
        self.judged.push(line);
        let outstanding = before.in_flight.is_some_and(|bytes| bytes > 0);
        let under_way = before
            .newest
            .is_some_and(|newest| previous.nanos_since(newest) <= UNDER_WAY);
        match before.distance.cmp(&0) {
            Ordering::Less => self.repeats = true,
            Ordering::Equal => {
                self.in_flight |= outstanding && under_way;
                self.settled |= before.in_flight == Some(0);
            }
            Ordering::Greater => {}
        }
    }

    /// Nothing is new: this part of the file was read before.
    fn come_again(&self) -> bool {
        self.again + self.older > 0 && self.newer + self.strangers == 0
    }
}

fn judge(gap: i64, signs: &Signs, frame: u64) -> Option<ClockEvent> {
    let event = |jump, nanos, measured| {
        Some(ClockEvent {
            frame,
            jump,
            nanos,
            measured,
        })
    };
    if gap < 0 {
        // A clock cannot make the peers' clocks go back too.
        let older = match signs.passed {
            _ if signs.again > 0 => true,
            Some(passed) => passed <= -LEAST_BACK,
            // The peers would go on with the SAs that they have.
            None => signs.older + signs.strangers > signs.newer,
        };
        return if older {
            event(Jump::OutOfOrder, gap, false)
        } else {
            let passed = signs.passed.unwrap_or(0).max(0);
            event(Jump::Step, gap.saturating_sub(passed), signs.passed.is_some())
        };
    }
    match signs.passed {
        // Half of the silence: the senders' clocks are known to a few percent.
        Some(passed) if passed < gap / 2 => event(Jump::Step, gap.saturating_sub(passed.max(0)), true),
        Some(_) => None,
        None if signs.in_flight && !signs.repeats => event(Jump::Step, gap, false),
        None if gap >= LEAST_UNDECIDED && signs.newer > 0 && !signs.settled => {
            event(Jump::Undecided, gap, false)
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURS: i64 = 100_000 * NANOS_PER_SECOND;

    fn jump(gap: i64, signs: &Signs) -> Option<(Jump, i64)> {
        judge(gap, signs, 1).map(|e| (e.jump, e.nanos))
    }

    #[test]
    fn the_peers_clocks_decide() {
        let passed = |nanos| Signs {
            passed: Some(nanos),
            newer: 5,
            ..Signs::default()
        };
        let moment = NANOS_PER_SECOND / 100;
        assert_eq!(jump(HOURS, &passed(moment)), Some((Jump::Step, HOURS - moment)));
        assert_eq!(jump(HOURS, &passed(HOURS - moment)), None, "idle");
        assert_eq!(jump(-HOURS, &passed(moment)), Some((Jump::Step, -HOURS - moment)));
        assert_eq!(jump(-HOURS, &passed(-HOURS)), Some((Jump::OutOfOrder, -HOURS)));
    }

    #[test]
    fn without_them_data_in_flight_and_sequence_numbers_do() {
        let signs = |in_flight, repeats, newer, older| Signs {
            in_flight,
            repeats,
            newer,
            older,
            ..Signs::default()
        };
        assert_eq!(jump(HOURS, &signs(true, false, 5, 0)), Some((Jump::Step, HOURS)));
        assert_eq!(
            jump(HOURS, &signs(true, true, 5, 0)),
            Some((Jump::Undecided, HOURS)),
            "one flow sent again"
        );
        let idle = Signs {
            settled: true,
            ..signs(false, false, 5, 0)
        };
        assert_eq!(jump(HOURS, &idle), None, "all was acknowledged");
        let strangers = Signs {
            strangers: 64,
            ..Signs::default()
        };
        assert_eq!(
            jump(-HOURS, &strangers),
            Some((Jump::OutOfOrder, -HOURS)),
            "another part"
        );
        assert_eq!(
            jump(-HOURS, &Signs::default()),
            Some((Jump::Step, -HOURS)),
            "IKE only"
        );
        assert_eq!(jump(20 * NANOS_PER_SECOND, &signs(false, false, 5, 0)), None);
        assert_eq!(
            jump(-HOURS, &signs(false, false, 5, 1)),
            Some((Jump::Step, -HOURS))
        );
        assert_eq!(
            jump(-HOURS, &signs(false, false, 0, 5)),
            Some((Jump::OutOfOrder, -HOURS))
        );
    }
}
