//! The capture's clock: steps forward and back are told from real idle time and from files out of order, and taken out, so
//! that no rate counts them as transfer time.
//!
//! At a jump of the frames' times a few frames are held back and looked into. What really passed is told by the peers' own
//! clocks (TCP timestamps inside the tunnel, RFC 7323 §3), else by data that was in flight, else by the ESP sequence numbers.
//! From a step on, all times of the analysis are those of a clock that did not step.

use crate::pipeline::analyzer::stretches::Stretches;
use crate::pipeline::clock_event::{ClockEvent, Jump};
use foldhash::HashMap;
use rekeyscope_capture::file::{Frame, KeptFrames};
use rekeyscope_ipsec::esp::inner::{FlowKey, Inner, TcpSegment};
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

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
/// Inner TCP flows whose clocks are followed; further ones are no evidence.
const MOST_FLOWS: usize = 4_096;
/// A sender's clock is measured over this at least, nanoseconds.
const LEAST_MEASURED: i64 = NANOS_PER_SECOND / 2;
/// Ticks per second of a timestamp clock: 1 ms to 1 s (RFC 7323 §5.4), with room for what is measured over half a second.
const TICK_RATES: std::ops::RangeInclusive<f64> = 0.5..=2_000.0;
/// No time of the analysis is further from 1970, 146 years: sums of times and lengths stay numbers, whatever clocks say and however
/// often they step.
const FARTHEST: i64 = i64::MAX / 2;
/// Data was under way when the silence began: its last packet is no older than this.
const UNDER_WAY: i64 = NANOS_PER_SECOND;

/// The clock of one sender of a TCP flow, and what it has under way.
#[derive(Debug, Clone, Copy)]
struct Sender {
    /// The sender's first timestamp and when it was captured.
    first: Option<(u32, Timestamp)>,
    last: Option<(u32, Timestamp)>,
    /// Behind its highest byte, and when data was sent last.
    next_seq: u32,
    data_at: Timestamp,
    /// The highest byte it acknowledges.
    ack: u32,
}

impl Sender {
    fn take(&mut self, segment: &TcpSegment, payload: u32, time: Timestamp) {
        if let Some(ticks) = segment.timestamp {
            // An older one is late, not a step of the peer's clock.
            if self
                .last
                .is_none_or(|(last, _)| (ticks.wrapping_sub(last) as i32) >= 0)
            {
                self.last = Some((ticks, time));
            }
            self.first.get_or_insert((ticks, time));
        }
        let end = segment.seq.wrapping_add(payload);
        if payload > 0 && (end.wrapping_sub(self.next_seq) as i32) > 0 {
            (self.next_seq, self.data_at) = (end, time);
        }
        if (segment.ack.wrapping_sub(self.ack) as i32) > 0 {
            self.ack = segment.ack;
        }
    }

    /// Nanoseconds from its newest timestamp to `ticks`, by its own clock.
    fn passed(&self, ticks: u32) -> Option<i64> {
        let ((t0, at0), (t1, at1)) = (self.first?, self.last?);
        let measured = at1.nanos_since(at0);
        if measured < LEAST_MEASURED {
            return None;
        }
        let rate = f64::from(t1.wrapping_sub(t0)) / (measured as f64 / NANOS_PER_SECOND as f64);
        let ahead = f64::from(ticks.wrapping_sub(t1) as i32);
        TICK_RATES
            .contains(&rate)
            .then(|| (ahead / rate * NANOS_PER_SECOND as f64) as i64)
    }
}

type Line = (TunnelIndex, Direction, FlowKey);

/// The state of the clock.
#[derive(Debug, Default)]
pub(super) struct CaptureClock {
    /// Added to the frames' times.
    offset: i64,
    /// Time of the last frame, offset added.
    previous: Option<Timestamp>,
    stretches: Stretches,
    /// Frames that wait for the decision.
    held: KeptFrames,
    senders: Vec<(Line, Sender)>,
    places: HashMap<Line, usize>,
    /// The place of each direction's last packet: many packets of one flow come in a row.
    last: [usize; 2],
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
        let time = self.at(stamped);
        self.previous = Some(time);
        time
    }

    /// The analysis' own time of a frame.
    fn at(&self, stamped: Timestamp) -> Timestamp {
        Timestamp(stamped.plus_nanos(self.offset).0.clamp(-FARTHEST, FARTHEST))
    }

    /// Whether frames wait for the decision.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether the times jump again behind the frames that wait.
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
        match event {
            Some(ClockEvent {
                jump: Jump::Step,
                nanos,
                ..
            }) => {
                self.offset = self.offset.saturating_sub(nanos);
                self.stretches.begin(first.time, self.offset);
            }
            // What follows was captured before: data below the highest byte is not a retransmission of it.
            Some(ClockEvent {
                jump: Jump::OutOfOrder,
                ..
            }) => {
                self.senders.clear();
                self.places.clear();
            }
            _ => {}
        }
        // A part of the file that comes again has the steps of the clock that it had before.
        if signs.come_again()
            && let Some(offset) = self.stretches.go_back(first.time)
        {
            self.offset = offset;
        }
        event
    }

    /// A decrypted TCP segment; `time` is the analysis' own.
    #[inline]
    pub(super) fn take(&mut self, tunnel: TunnelIndex, direction: Direction, inner: &Inner, time: Timestamp) {
        let (Some(flow), Some(segment)) = (&inner.flow, &inner.tcp) else {
            return;
        };
        let last = self.last[slot(direction)];
        let is_same = |of: &Line| of.0 == tunnel && of.1 == direction && of.2 == *flow;
        if let Some((_, sender)) = self.senders.get_mut(last).filter(|(of, _)| is_same(of)) {
            sender.take(segment, inner.transport_bytes, time);
            return;
        }
        let Some(place) = self.place_of((tunnel, direction, *flow), segment, time) else {
            return;
        };
        self.last[slot(direction)] = place;
        if let Some((_, sender)) = self.senders.get_mut(place) {
            sender.take(segment, inner.transport_bytes, time);
        }
    }

    /// The place of another line than that of the last packet; `None` for a new one at the bound.
    #[inline(never)]
    fn place_of(&mut self, line: Line, segment: &TcpSegment, time: Timestamp) -> Option<usize> {
        if let Some(&known) = self.places.get(&line) {
            return Some(known);
        }
        let place = self.senders.len();
        if place >= MOST_FLOWS {
            return None;
        }
        let sender = Sender {
            first: None,
            last: None,
            next_seq: segment.seq,
            data_at: time,
            ack: segment.ack,
        };
        self.places.insert(line, place);
        self.senders.push((line, sender));
        Some(place)
    }

    fn sender(&self, line: &Line) -> Option<&Sender> {
        let place = self.places.get(line)?;
        self.senders.get(*place).map(|(_, sender)| sender)
    }

    /// A time of the analysis as the frame has it.
    pub(super) fn as_stamped(&self, time: Timestamp) -> Timestamp {
        time.plus_nanos(self.offset.saturating_neg())
    }

    /// What a decrypted packet of a held frame says, in `tunnel` and `direction`; `previous` is the time before the jump.
    pub(super) fn look_inside(
        &self,
        (tunnel, direction): (TunnelIndex, Direction),
        inner: &Inner,
        previous: Timestamp,
        signs: &mut Signs,
    ) {
        let (Some(flow), Some(segment)) = (inner.flow, &inner.tcp) else {
            return;
        };
        let line = (tunnel, direction, flow);
        let Some(sender) = self.sender(&line) else {
            return;
        };
        if let Some(passed) = segment.timestamp.and_then(|ticks| sender.passed(ticks)) {
            // By the last frame's time: its own newest timestamp may be older than that.
            let before = sender.last.map_or(0, |(_, at)| previous.nanos_since(at));
            let passed = passed.saturating_sub(before).saturating_sub(signs.since_first);
            signs.passed = Some(signs.passed.map_or(passed, |p: i64| p.max(passed)));
        }
        if inner.transport_bytes == 0 || signs.judged.contains(&line) {
            return;
        }
        signs.judged.push(line);
        let back = FlowKey {
            src: flow.dst,
            dst: flow.src,
            src_port: flow.dst_port,
            dst_port: flow.src_port,
            ..flow
        };
        let acked = self
            .sender(&(tunnel, direction.reverse(), back))
            .map(|peer| peer.ack);
        let outstanding = acked.is_some_and(|ack| (sender.next_seq.wrapping_sub(ack) as i32) > 0);
        let under_way = previous.nanos_since(sender.data_at) <= UNDER_WAY;
        if segment.seq == sender.next_seq {
            signs.in_flight |= outstanding && under_way;
            signs.settled |= acked.is_some() && !outstanding;
        } else if (segment.seq.wrapping_sub(sender.next_seq) as i32) < 0 {
            signs.repeats = true;
        }
    }
}

/// Whether the times jump from `previous` to `time`.
fn is_jump(time: Timestamp, previous: Timestamp) -> bool {
    let gap = time.nanos_since(previous);
    gap >= LEAST_FORWARD || gap <= -LEAST_BACK
}

/// What the held frames say.
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
    /// Nothing is new: this part of the file was read before.
    fn come_again(&self) -> bool {
        self.again + self.older > 0 && self.newer + self.strangers == 0
    }
}

/// What a jump by `gap` is; `None` for idle time.
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

    #[test]
    fn a_senders_clock_is_measured_across_its_wrap() {
        let segment = |ticks| TcpSegment {
            timestamp: Some(ticks),
            ..TcpSegment::default()
        };
        let mut sender = Sender {
            first: None,
            last: None,
            next_seq: 0,
            data_at: Timestamp(0),
            ack: 0,
        };
        for tenth in 0..20u32 {
            let time = Timestamp(i64::from(tenth) * NANOS_PER_SECOND / 10);
            sender.take(&segment((u32::MAX - 500).wrapping_add(tenth * 100)), 0, time);
        }
        let at = (u32::MAX - 500).wrapping_add(19 * 100 + 7_000);
        let passed = sender.passed(at).unwrap();
        assert!(
            (passed - 7 * NANOS_PER_SECOND).abs() < NANOS_PER_SECOND / 10,
            "{passed}"
        );
    }
}
