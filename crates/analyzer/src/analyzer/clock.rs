//! The capture's clock: steps forward and back are told from real idle time and from files out of order, and taken out, so
//! that no rate counts them as transfer time.
//!
//! At a jump of the frames' times a few frames are held back and looked into. What really passed is told by the peers' own
//! clocks (TCP timestamps inside the tunnel, RFC 7323 §3), else by data that was in flight, else by the ESP sequence numbers.
//! From a step on, all times of the analysis are those of a clock that did not step.

use super::Analyzer;
use super::stretches::Stretches;
use crate::analysis::Direction;
use crate::batch::{Pending, decode_one};
use crate::capture::{Frame, LinkType};
use crate::diagnostic::Diagnostics;
use crate::esp::inner::{FlowKey, Inner, TcpSegment};
use crate::framing::{Datagram, DatagramKind, Framing};
use crate::sa::database::SaIndex;
use crate::sa::tunnel::TunnelIndex;
use crate::spi::{IpsecProtocol, Spi};
use crate::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::HashMap;

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
/// Data was under way when the silence began: its last packet is no older than this.
const UNDER_WAY: i64 = NANOS_PER_SECOND;
/// Steps that are described one by one.
const MOST_STEPS: usize = 32;

/// What a jump of time turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jump {
    /// The clock was set.
    Step,
    /// Packets that come before those already read, or again.
    OutOfOrder,
    /// A long silence that may be either.
    Undecided,
}

/// One jump, for the report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockEvent {
    pub(crate) frame: u64,
    pub(crate) jump: Jump,
    /// How far the frames' times jump beyond what really passed, nanoseconds.
    pub(crate) nanos: i64,
    /// The peers' clocks say so; otherwise its size is that of the silence.
    pub(crate) measured: bool,
}

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

/// A frame that waits for the decision.
#[derive(Debug)]
struct HeldFrame {
    number: u64,
    time: Timestamp,
    link_type: LinkType,
    original_len: u32,
    data: Vec<u8>,
}

/// The state of the clock.
#[derive(Debug, Default)]
pub(crate) struct CaptureClock {
    /// Added to the frames' times.
    offset: i64,
    /// Time of the last frame, offset added.
    previous: Option<Timestamp>,
    stretches: Stretches,
    held: Vec<HeldFrame>,
    held_bytes: usize,
    senders: HashMap<Line, Sender>,
    pub(crate) events: Vec<ClockEvent>,
    pub(crate) more_events: u64,
}

impl CaptureClock {
    /// A decrypted TCP segment; `time` is the analysis' own.
    #[inline]
    pub(crate) fn take(&mut self, tunnel: TunnelIndex, direction: Direction, inner: &Inner, time: Timestamp) {
        let (Some(flow), Some(segment)) = (inner.flow, &inner.tcp) else {
            return;
        };
        let line = (tunnel, direction, flow);
        let room = self.senders.len() < MOST_FLOWS;
        match self.senders.get_mut(&line) {
            Some(sender) => sender.take(segment, inner.transport_bytes, time),
            None if room => {
                let mut sender = Sender {
                    first: None,
                    last: None,
                    next_seq: segment.seq,
                    data_at: time,
                    ack: segment.ack,
                };
                sender.take(segment, inner.transport_bytes, time);
                self.senders.insert(line, sender);
            }
            None => {}
        }
    }

    /// A time of the analysis as the frame has it.
    pub(super) fn as_stamped(&self, time: Timestamp) -> Timestamp {
        time.plus_nanos(self.offset.saturating_neg())
    }

    fn jumps(&self, time: Timestamp) -> bool {
        let Some(previous) = self.previous else {
            return false;
        };
        let gap = time.nanos_since(previous);
        gap >= LEAST_FORWARD || gap <= -LEAST_BACK
    }

    fn note(&mut self, event: ClockEvent) {
        if self.events.len() < MOST_STEPS {
            self.events.push(event);
        } else {
            self.more_events += 1;
        }
    }
}

/// What the held frames say.
#[derive(Debug, Default)]
struct Signs {
    /// From the first held frame to the one that is looked at, nanoseconds.
    since_first: i64,
    /// The most time that passed until the first held frame, by the clock of any sender.
    passed: Option<i64>,
    /// New data follows unacknowledged data directly: no retransmission timer ran out meanwhile.
    in_flight: bool,
    /// The first data of a flow after the jump was looked at.
    judged: Vec<Line>,
    /// ESP packets behind, and not above, the highest sequence number of their SA.
    newer: u64,
    older: u64,
    /// ESP packets on SAs that no packet was seen on before.
    strangers: u64,
    /// Frames that were there before with the same time: the file goes on with an earlier part of itself.
    again: u64,
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

impl Analyzer {
    /// Takes one frame: holds it back at a jump of time, hands it on otherwise.
    pub(super) fn pass_clock(&mut self, frame: &Frame<'_>) {
        if self.clock.held.is_empty() {
            let time = frame.time.plus_nanos(self.clock.offset);
            if !self.clock.jumps(time) {
                self.clock.stretches.go_on(frame.time);
                self.clock.previous = Some(time);
                return self.take_frame(&Frame { time, ..*frame });
            }
            // The senders' clocks have to be known up to here.
            self.flush();
        } else if self.clock.held.last().is_some_and(|last| {
            let gap = frame.time.nanos_since(last.time);
            gap >= LEAST_FORWARD || gap <= -LEAST_BACK
        }) {
            self.release_held();
            return self.pass_clock(frame);
        }
        self.clock.held_bytes += frame.data.len();
        self.clock.held.push(HeldFrame {
            number: frame.number,
            time: frame.time,
            link_type: frame.link_type,
            original_len: frame.original_len,
            data: frame.data.to_vec(),
        });
        if self.clock.held.len() >= MOST_HELD || self.clock.held_bytes >= MOST_HELD_BYTES {
            self.release_held();
        }
    }

    /// Decides what the jump was, and hands the held frames on.
    pub(super) fn release_held(&mut self) {
        let held = std::mem::take(&mut self.clock.held);
        self.clock.held_bytes = 0;
        let (Some(first), Some(previous)) = (held.first(), self.clock.previous) else {
            return;
        };
        let gap = first.time.plus_nanos(self.clock.offset).nanos_since(previous);
        let signs = self.signs(&held, previous);
        if let Some(event) = judge(gap, &signs, first.number) {
            match event.jump {
                Jump::Step => {
                    self.clock.offset = self.clock.offset.saturating_sub(event.nanos);
                    self.clock.stretches.begin(first.time, self.clock.offset);
                }
                Jump::OutOfOrder => self.begin_earlier_part(),
                Jump::Undecided => {}
            }
            self.clock.note(event);
        }
        // A part of the file that comes again has the steps of the clock that it had before.
        if signs.come_again()
            && let Some(offset) = self.clock.stretches.go_back(first.time)
        {
            self.clock.offset = offset;
        }
        for frame in &held {
            self.clock.stretches.go_on(frame.time);
            let time = frame.time.plus_nanos(self.clock.offset);
            self.clock.previous = Some(time);
            self.take_frame(&Frame {
                number: frame.number,
                time,
                link_type: frame.link_type,
                original_len: frame.original_len,
                data: &frame.data,
            });
        }
    }

    /// What follows was captured before what was read: data below the highest byte is not a retransmission of it.
    fn begin_earlier_part(&mut self) {
        self.clock.senders.clear();
        // The jump has its own finding: it is no regression of the clock besides.
        self.totals.previous_time = None;
        self.flows.forget_sequences();
        self.meters.begin_earlier_part();
    }

    fn signs(&self, held: &[HeldFrame], previous: Timestamp) -> Signs {
        let mut signs = Signs::default();
        // A decoder of its own: the frames come again.
        let mut framing = Framing::with_esp_ports(&self.options.esp_ports);
        let mut unheard = Diagnostics::default();
        let first = held.first().map(|frame| frame.time);
        for frame in held {
            signs.since_first = first.map_or(0, |first| frame.time.nanos_since(first).max(0));
            let frame = Frame {
                number: frame.number,
                time: frame.time,
                link_type: frame.link_type,
                original_len: frame.original_len,
                data: &frame.data,
            };
            let Some(datagram) = framing.decode(&frame, &mut unheard) else {
                continue;
            };
            match datagram.kind {
                DatagramKind::Esp { packet, .. } => self.look_at(&datagram, packet, previous, &mut signs),
                _ => signs.again += u64::from(self.duplicates.hold(&datagram, frame.time)),
            }
        }
        signs
    }

    fn look_at(&self, datagram: &Datagram<'_>, packet: &[u8], previous: Timestamp, signs: &mut Signs) {
        let Some((&[s0, s1, s2, s3, n0, n1, n2, n3], _)) = packet.split_first_chunk::<8>() else {
            return;
        };
        let (spi, sequence) = (
            Spi(u32::from_be_bytes([s0, s1, s2, s3])),
            u32::from_be_bytes([n0, n1, n2, n3]),
        );
        let known = self.sas.newest(datagram.dst, IpsecProtocol::Esp, spi);
        let Some(sa) = known.filter(|&sa| self.sas.associations()[sa].counters.packets > 0) else {
            signs.strangers += 1;
            return;
        };
        if let Some(highest) = self.sas.associations()[sa].sequence.highest() {
            // The lower half is enough: an SA does not wrap within a jump.
            if (sequence.wrapping_sub(highest as u32) as i32) > 0 {
                signs.newer += 1;
            } else {
                signs.older += 1;
            }
        }
        if let Some(inner) = self.open_held(sa, datagram, packet, sequence) {
            self.look_inside(sa, &inner, previous, signs);
        }
    }

    fn open_held(&self, sa: SaIndex, datagram: &Datagram<'_>, packet: &[u8], sequence: u32) -> Option<Inner> {
        let association = &self.sas.associations()[sa];
        let key = association
            .key
            .as_ref()
            .filter(|_| association.proven && !datagram.cut)?;
        let ends = (datagram.src, datagram.dst);
        let mut pending = Pending::new(sa, 0, datagram.time, 0, 0, ends, false, sequence);
        pending.proven = true;
        let esn_high = association.esn_high(sequence);
        let decoded = decode_one(&key.cipher, &pending, esn_high, packet, &mut Vec::new());
        decoded.opened.map(|_| decoded.inner)
    }

    fn look_inside(&self, sa: SaIndex, inner: &Inner, previous: Timestamp, signs: &mut Signs) {
        let (Some(flow), Some(segment)) = (inner.flow, &inner.tcp) else {
            return;
        };
        let association = &self.sas.associations()[sa];
        let line = (association.tunnel, association.direction, flow);
        let Some(sender) = self.clock.senders.get(&line) else {
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
            .clock
            .senders
            .get(&(association.tunnel, association.direction.reverse(), back))
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
