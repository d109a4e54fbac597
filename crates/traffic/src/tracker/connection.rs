//! Both sides of a connection.

use super::associations::EspArrival;
use crate::packet::{EspNumber, InnerPayload, Packet, PacketForm, TcpHeader};
use crate::segment::{Acknowledgement, ConnectionId, Fate, PairId, Segment, SegmentKind, Settlement};
use crate::tcp::{
    AckSource, Advance, Handshake, INITIAL_WINDOW, RttEstimator, SendContext, SendMark, SendSequence,
    Transmitted, slot,
};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};

/// TIME-WAIT of Linux: after a rest as long as this the ports may belong to another connection.
const TIME_WAIT: i64 = 60 * NANOS_PER_SECOND;
/// The receiver is beside the capture where its acknowledgement passes this soon after the data: a host answers within a tick or two of its
/// scheduler (1 to 4 ms).
pub const BESIDE_RECEIVER: i64 = 3 * NANOS_PER_MILLI;

/// The place of the capture on the way of a direction's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tap {
    /// Less than half of the round trip lies behind it: nearer to the receiver.
    Receiver,
    /// Nearer to the sender.
    Sender,
    /// No handshake and no acknowledgement shows it.
    Unknown,
}

/// The state of a sender, as far as the capture shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderState {
    /// SND.UNA, unwrapped.
    pub snd_una: u64,
    /// From data to acknowledgement.
    pub rtt: RttEstimator,
    /// The place of the capture.
    pub tap: Tap,
    /// The round trip between the ends, wherever the capture stands.
    pub round_trip: Option<i64>,
    /// The receiver's last window was zero.
    pub window_closed: bool,
}

/// A packet that the tracker has not taken, beside what its sender sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preview {
    /// Time at which the sender's newest timestamp passed, and the nanoseconds from it to the packet's by the sender's own clock; `None` where
    /// the clock's rate is not known.
    pub since_newest: Option<(Timestamp, i64)>,
    /// Distance of the first byte from SND.NXT: 0 goes on, below 0 repeats.
    pub distance: i64,
    /// Bytes of the sender that are neither acknowledged nor acknowledged selectively; `None` where nobody acknowledged anything.
    pub in_flight: Option<u64>,
    /// Time at which the highest byte was sent first.
    pub newest: Option<Timestamp>,
}

/// A request that was acknowledged, and behind which no data of the side that has it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unanswered {
    pub(crate) pair: PairId,
    /// The direction of the answer.
    pub(crate) direction: Direction,
    /// Time of the acknowledgement.
    pub(crate) since: Timestamp,
    /// Frame of the acknowledgement.
    pub(crate) frame: u64,
    /// The round trip between the ends.
    pub(crate) round_trip: i64,
    /// Bytes of a full segment of the answer, as the side that asks says.
    pub(crate) mss: u16,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) pair: PairId,
    sides: [SendSequence; 2],
    last: Timestamp,
    pub(super) handshake: Handshake,
    /// The side whose last packet was a RST: nobody waits for anything any more.
    reset_by: Option<usize>,
}

/// The direction of a position.
fn direction(slot: usize) -> Direction {
    if slot == 0 {
        Direction::AToB
    } else {
        Direction::BToA
    }
}

impl Connection {
    pub(super) fn new(id: ConnectionId, pair: PairId, now: Timestamp) -> Self {
        Connection {
            id,
            pair,
            sides: Default::default(),
            last: now,
            handshake: Handshake::default(),
            reset_by: None,
        }
    }

    /// Transmissions that are kept.
    #[inline]
    pub(super) fn kept(&self) -> usize {
        self.sides[0].kept() + self.sides[1].kept()
    }

    /// The packet begins another connection on the same ports.
    #[inline]
    pub(super) fn is_over(&self, packet: &Packet, header: &TcpHeader) -> bool {
        let rested = packet.time.nanos_since(self.last) > TIME_WAIT;
        !header.has(TcpHeader::RST) && self.sides[slot(packet.direction)].is_foreign(header, rested)
    }

    /// Says what one packet of the connection was.
    #[inline]
    pub(super) fn take(
        &mut self,
        packet: &Packet,
        header: &TcpHeader,
        numbered: EspArrival,
        most_waiting: usize,
        settled: &mut Vec<Settlement>,
    ) -> Segment {
        let own = slot(packet.direction);
        self.last = packet.time;
        let mut segment = unnumbered(packet, header.len, numbered);
        (segment.connection, segment.pair, segment.flags) = (self.id, self.pair, header.flags);
        segment.closes = self.reset_by.is_none() && header.flags & (TcpHeader::FIN | TcpHeader::RST) != 0;
        let again = self.sides[own].is_same_packet(header, packet.ip_id) && packet.esp.is_none();
        if numbered.duplicate || again {
            segment.kind = SegmentKind::Duplicate;
            return segment;
        }
        if header.has(TcpHeader::SYN) || self.handshake.is_under_way() {
            self.handshake.take(own, header, packet.time);
        }
        let mark = SendMark {
            time: packet.time,
            frame: packet.frame,
            number: packet.esp.map_or(0, |esp| esp.number),
            spi: packet.esp.map_or(0, |esp| esp.spi),
            association: numbered.association,
            timestamp: header.timestamps.map(|(value, _)| value),
            ip_id: packet.ip_id,
            form: packet.esp.map_or(PacketForm::Plain, |esp| esp.form),
            len: u32::try_from(header.sequence_len()).unwrap_or(u32::MAX),
            told_before: false,
        };
        if let Some(ticks) = mark.timestamp {
            self.sides[own].clock.take(ticks, packet.time);
        }
        segment.acks = self.acknowledge(packet, header, settled);
        let around = SendContext {
            round_trip: self.round_trip(),
            window_closed: self.sides[1 - own].window_closed,
            most_waiting,
            window_missing: numbered.missing >= INITIAL_WINDOW,
        };
        let note = note((self.id, self.pair), own, packet, settled);
        self.sides[own].send(header, &mark, &around, &mut segment, note);
        if packet.ip_id != 0 {
            segment.id_jump = self.sides[own].ids.take(packet.ip_id);
        }
        self.sides[own].window_closed = header.window == 0 && !header.has(TcpHeader::RST);
        if header.has(TcpHeader::RST) {
            self.abandon(packet, settled);
            self.reset_by = Some(own);
        } else if self.reset_by == Some(own) {
            // RFC 5961 §3.2: a RST that does not fit exactly is answered, and the connection goes on.
            self.reset_by = None;
        }
        segment
    }

    #[inline]
    fn acknowledge(
        &mut self,
        packet: &Packet,
        header: &TcpHeader,
        settled: &mut Vec<Settlement>,
    ) -> Option<Acknowledgement> {
        if !header.has(TcpHeader::ACK) {
            return None;
        }
        let other = 1 - slot(packet.direction);
        let source = AckSource {
            time: packet.time,
            frame: packet.frame,
            echo: header.timestamps.map(|(_, echo)| echo),
        };
        let note = note((self.id, self.pair), other, packet, settled);
        Some(self.sides[other].acknowledge(header, &source, note))
    }

    /// All that waits on both sides is given up.
    #[cold]
    pub(super) fn abandon(&mut self, by: &Packet, settled: &mut Vec<Settlement>) {
        for own in 0..2 {
            self.sides[own].abandon(note((self.id, self.pair), own, by, settled));
        }
    }

    /// Transmissions that nobody has acknowledged yet.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Settlement> {
        // A reset ends all waits; what was on its way passes behind it.
        let open = self.reset_by.is_none();
        let sides = self.sides.iter().enumerate().filter(move |_| open);
        sides.flat_map(move |(own, side)| {
            side.waiting().flat_map(move |sent| {
                let of = move |mark: &SendMark| {
                    settlement(
                        (self.id, self.pair),
                        own,
                        (sent, mark),
                        Fate::Waiting,
                        (mark.time, mark.frame),
                    )
                };
                sent.marks().filter(|mark| !mark.told_before).map(of)
            })
        })
    }

    /// The round trip between the ends: of the handshake, else of both sides' data.
    fn round_trip(&self) -> Option<i64> {
        if let Some([a, b]) = self.handshake.halves() {
            return Some(a + b);
        }
        match (self.sides[0].rtt.min, self.sides[1].rtt.min) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        }
    }

    /// Neither side has closed or reset it.
    pub(super) fn is_open(&self) -> bool {
        self.reset_by.is_none() && self.sides.iter().all(|side| !side.finished)
    }

    /// The last request to the sender of a direction, where all of it is acknowledged and no data came back since; `None` where its SYN was not
    /// seen.
    pub(super) fn unanswered(&self, of: Direction) -> Option<Unanswered> {
        let (asking, answering) = (&self.sides[1 - slot(of)], &self.sides[slot(of)]);
        let Advance {
            time: since,
            frame,
            ack,
        } = asking.last_advance()?;
        let is_whole = ack + u64::from(asking.finished) >= asking.nxt && ack > Segment::ORIGIN + 1;
        let answered = answering.last_advance().is_some_and(|last| last.time > since);
        (is_whole && !answered && answering.in_flight() == 0).then_some(Unanswered {
            pair: self.pair,
            direction: of,
            since,
            frame,
            round_trip: self.round_trip()?,
            mss: self.handshake.mss(of.reverse())?,
        })
    }

    fn tap(&self, sender: usize) -> Tap {
        let to_receiver = self.sides[sender].rtt.min;
        if let Some(halves) = self.handshake.halves() {
            let nearest = to_receiver.map_or(halves[1 - sender], |least| least.min(halves[1 - sender]));
            return if 2 * nearest < halves[0] + halves[1] {
                Tap::Receiver
            } else {
                Tap::Sender
            };
        }
        match to_receiver {
            Some(least) if least < BESIDE_RECEIVER => Tap::Receiver,
            _ => Tap::Unknown,
        }
    }

    /// Tells whether data of a direction is in flight, or has no room at its receiver, in a connection that nobody reset. SYN and FIN take a
    /// sequence number and are no data.
    #[inline]
    pub(super) fn waits(&self, of: Direction) -> bool {
        let side = &self.sides[slot(of)];
        let syn = side.initial.is_some() && side.una == Segment::ORIGIN;
        let in_flight = side.in_flight() > u64::from(side.finished) + u64::from(syn);
        self.reset_by.is_none() && (in_flight || self.sides[1 - slot(of)].window_closed)
    }

    /// Compares a packet that was not taken with what its sender sent before.
    pub(super) fn preview(&self, of: Direction, header: &TcpHeader) -> Preview {
        let side = &self.sides[slot(of)];
        let ticks = header.timestamps.map(|(value, _)| value);
        Preview {
            since_newest: ticks.and_then(|ticks| side.clock.since_newest(ticks)),
            distance: side.distance(header),
            // SEG.ACK of the other side was heard.
            in_flight: (side.una > Segment::ORIGIN).then(|| side.in_flight()),
            newest: side.newest(),
        }
    }

    pub(super) fn sender(&self, of: Direction) -> SenderState {
        let side = &self.sides[slot(of)];
        SenderState {
            snd_una: side.una,
            rtt: side.rtt,
            tap: self.tap(slot(of)),
            round_trip: self.round_trip(),
            window_closed: self.sides[1 - slot(of)].window_closed,
        }
    }
}

/// A segment of which nothing is known but its length.
#[inline]
pub(super) fn unnumbered(packet: &Packet, len: u32, numbered: EspArrival) -> Segment {
    Segment {
        time: packet.time,
        frame: packet.frame,
        connection: ConnectionId::NONE,
        pair: PairId::NONE,
        direction: packet.direction,
        esp: packet.esp,
        seq: 0,
        len,
        flags: 0,
        closes: false,
        kind: if numbered.duplicate {
            SegmentKind::Duplicate
        } else {
            SegmentKind::Unnumbered
        },
        new: 0,
        again: 0,
        acks: None,
        gap: 0,
        missing: numbered.missing,
        behind: numbered.behind,
        id_jump: 0,
    }
}

/// Payload bytes of a packet without sequence numbers.
pub(super) fn payload_len(payload: &InnerPayload) -> u32 {
    match payload {
        InnerPayload::Tcp(header) => header.len,
        InnerPayload::Datagram(len) | InnerPayload::Unread(len) => *len,
        InnerPayload::Echo { bytes, .. } => *bytes,
    }
}

fn settlement(
    (connection, pair): (ConnectionId, PairId),
    own: usize,
    (sent, mark): (&Transmitted, &SendMark),
    fate: Fate,
    shown: (Timestamp, u64),
) -> Settlement {
    Settlement {
        connection,
        pair,
        direction: direction(own),
        seq: sent.start,
        len: u32::try_from(sent.end - sent.start).unwrap_or(u32::MAX),
        syn: sent.syn,
        fin: sent.fin,
        beyond_gap: sent.beyond_gap,
        lacking_since: sent.lacking_since,
        time: mark.time,
        frame: mark.frame,
        esp: (mark.association != 0).then_some(EspNumber {
            spi: mark.spi,
            number: mark.number,
            form: mark.form,
        }),
        sent_once: sent.copies.is_empty(),
        packet: mark.len,
        cut: mark.len < sent.first.len,
        fate,
        shown,
    }
}

/// Writes down what becomes of the transmissions of one side.
fn note<'a>(
    ids: (ConnectionId, PairId),
    own: usize,
    by: &Packet,
    settled: &'a mut Vec<Settlement>,
) -> impl FnMut(&Transmitted, &SendMark, Fate) + use<'a> {
    let shown = (by.time, by.frame);
    move |sent, mark, fate| {
        if !mark.told_before || fate == Fate::Arrived {
            settled.push(settlement(ids, own, (sent, mark), fate, shown));
        }
    }
}
