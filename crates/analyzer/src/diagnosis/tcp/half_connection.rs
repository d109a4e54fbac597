//! One direction of one connection: what was sent, what was acknowledged, and the events that follow.

use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::tcp::events::{DataStall, Retransmission, TcpEvents, UnseenBytes};
use rekeyscope_ipsec::esp::inner::TcpSegment;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// Most segments remembered to find what a retransmission repeats, about 5 MB while a window is looked at; a
/// retransmission of a later one has no known original.
pub(super) const MOST_SEGMENTS: usize = 1 << 17;
/// Of them, segments of one stream that others overtook.
const MOST_OVERTAKEN: usize = 256;
/// Most events of each kind.
const MOST_EVENTS: usize = 1 << 12;
/// A pause under this is no stall (the ledger's shortest silence).
const LEAST_STALL: i64 = 50 * NANOS_PER_MILLI;
/// The third duplicate acknowledgement means loss (RFC 5681 §3.2).
const DUPLICATES_OF_LOSS: u32 = 3;
/// Holes of a stream that are remembered; further ones are not looked for.
const MOST_HOLES: usize = 64;

/// `a` lies before `b` in sequence space.
pub(crate) fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// One direction of one connection.
#[derive(Debug, Default, Clone)]
pub(super) struct HalfConnection {
    /// Behind the highest byte sent.
    edge: Option<u32>,
    /// Highest acknowledgement by the peer, and the packet that brought it.
    acked: Option<u32>,
    /// Window of the peer's last packet.
    window: Option<u16>,
    duplicates: u32,
    asked_for: Option<u32>,
    last_data: Option<(Timestamp, u64)>,
    /// A segment whose acknowledgement is waited for.
    probe: Option<(u32, Timestamp)>,
    least_half: Option<i64>,
    holes: Vec<TcpHole>,
    /// Sequence numbers of first transmissions, in their order, and frames.
    sent: Vec<(u32, u64)>,
    /// First transmissions of segments that others overtook, in order of the capture.
    overtaken: Vec<(u32, u64)>,
    /// Payload bytes.
    pub(super) bytes: u64,
}

impl HalfConnection {
    /// The one that a SYN begins.
    pub(super) fn begun_by(syn: &PacketRecord) -> Self {
        HalfConnection {
            edge: Some(syn.seq_end().wrapping_add(1)),
            ..HalfConnection::default()
        }
    }

    /// Least time from data to its acknowledgement.
    pub(super) fn least_half(&self) -> Option<i64> {
        self.least_half
    }

    /// Remembers a first transmission. `left`: how many more may be remembered.
    fn remember(&mut self, p: &PacketRecord, overtaken: bool, left: &mut usize) {
        let list = if overtaken {
            &mut self.overtaken
        } else {
            &mut self.sent
        };
        if *left == 0 || overtaken && list.len() >= MOST_OVERTAKEN {
            return;
        }
        *left -= 1;
        list.push((p.seq, p.frame));
    }

    /// The frame of what a segment that is not followed repeats.
    pub(super) fn repeated_by(&self, p: &PacketRecord) -> Option<u64> {
        let behind = self.edge.is_some_and(|edge| before(p.seq, edge));
        (behind && !is_overtaken(p)).then(|| self.original(p.seq))?
    }

    /// The frame of the first transmission of the segment that begins at `seq`.
    fn original(&self, seq: u32) -> Option<u64> {
        let at = self.sent.partition_point(|(sent, _)| before(*sent, seq));
        let in_order = self.sent.get(at).filter(|(sent, _)| *sent == seq);
        let found = in_order.or_else(|| self.overtaken.iter().rev().find(|(sent, _)| *sent == seq));
        found.map(|(_, frame)| *frame)
    }
}

/// Bytes of a stream that were never seen, and the segment behind them.
#[derive(Debug, Clone, Copy)]
struct TcpHole {
    start: u32,
    end: u32,
    time: Timestamp,
    frame: u64,
}

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() < MOST_EVENTS {
        list.push(item);
    }
}

/// The peer of `stream` acknowledges.
pub(super) fn acknowledge(stream: &mut HalfConnection, p: &PacketRecord, found: &mut TcpEvents) {
    let slot = 1 - p.slot();
    if p.window == 0 && p.flags & TcpSegment::RST == 0 {
        push(&mut found.zero_windows, (slot, p.time, p.frame));
    }
    // RFC 5681 §2: the same window, or it is an update of that. With SACK the blocks tell (RFC 6675 §2).
    let alike = p.sack_blocks > 0 || stream.window == Some(p.window);
    stream.window = Some(p.window);
    match stream.acked {
        Some(acked) if !before(acked, p.ack) => {
            let outstanding = stream.edge.is_some_and(|edge| before(p.ack, edge));
            if p.ack == acked && p.is_pure_ack() && outstanding && alike && p.window > 0 {
                duplicate(stream, p);
            }
        }
        _ => progress(stream, p, slot, found),
    }
}

fn duplicate(stream: &mut HalfConnection, p: &PacketRecord) {
    stream.duplicates += 1;
    if stream.duplicates == DUPLICATES_OF_LOSS {
        stream.asked_for = Some(p.ack);
    }
}

/// The acknowledgement is higher than all before.
fn progress(stream: &mut HalfConnection, p: &PacketRecord, slot: usize, found: &mut TcpEvents) {
    stream.acked = Some(p.ack);
    stream.duplicates = 0;
    if let Some((end, sent)) = stream.probe
        && !before(p.ack, end)
    {
        let half = p.time.nanos_since(sent).max(0);
        stream.least_half = Some(stream.least_half.map_or(half, |least| least.min(half)));
        stream.probe = None;
    }
    report_unseen(stream, p, slot, found);
}

/// Holes below the acknowledgement: the receiver has what the capture lacks.
fn report_unseen(stream: &mut HalfConnection, p: &PacketRecord, slot: usize, found: &mut TcpEvents) {
    stream.holes.retain(|hole| {
        let covered = !before(p.ack, hole.end);
        if covered {
            let event = UnseenBytes {
                slot,
                time: hole.time,
                frame: hole.frame,
                ack_frame: p.frame,
                bytes: hole.end.wrapping_sub(hole.start),
            };
            push(&mut found.unseen, event);
        }
        !covered
    });
}

/// It was overtaken, and brings its segment for the first time.
fn is_overtaken(p: &PacketRecord) -> bool {
    p.is_late() && p.again == 0
}

/// A segment with data. `left`: how many more first transmissions may be remembered.
pub(super) fn send(stream: &mut HalfConnection, p: &PacketRecord, left: &mut usize, found: &mut TcpEvents) {
    let edge = stream.edge.unwrap_or(p.seq);
    let behind = before(p.seq, edge);
    stream.bytes += u64::from(p.payload);
    let overtaken = behind && is_overtaken(p);
    note_stall(stream, p, behind && !overtaken, found);
    if behind {
        fill_holes(&mut stream.holes, p);
    }
    if behind && !overtaken {
        repeat(stream, p, found);
    } else {
        if before(edge, p.seq) && stream.holes.len() < MOST_HOLES {
            stream.holes.push(TcpHole {
                start: edge,
                end: p.seq,
                time: p.time,
                frame: p.frame,
            });
        }
        stream.remember(p, overtaken, left);
        if !overtaken {
            stream.probe.get_or_insert((p.seq_end(), p.time));
        }
    }
    if stream.edge.is_none_or(|edge| before(edge, p.seq_end())) {
        stream.edge = Some(p.seq_end());
    }
    stream.last_data = Some((p.time, p.frame));
}

fn repeat(stream: &mut HalfConnection, p: &PacketRecord, found: &mut TcpEvents) {
    // Karn: the acknowledgement of a repeated segment measures nothing.
    stream.probe = None;
    let event = Retransmission {
        slot: p.slot(),
        time: p.time,
        frame: p.frame,
        connection: p.connection,
        end: p.seq_end(),
        original: stream.original(p.seq),
        fast: stream.asked_for == Some(p.seq),
    };
    if event.fast {
        stream.asked_for = None; // sent a second time without being asked again, it is the timer's doing
    }
    if let Some(original) = event.original {
        found.repeated.entry(original).or_insert(event.frame);
    }
    push(&mut found.retransmissions, event);
}

/// What a late segment brings is missing no longer.
fn fill_holes(holes: &mut Vec<TcpHole>, p: &PacketRecord) {
    let mut left = Vec::with_capacity(holes.len());
    for hole in holes.drain(..) {
        if !before(hole.start, p.seq_end()) || !before(p.seq, hole.end) {
            left.push(hole);
            continue;
        }
        if before(hole.start, p.seq) {
            left.push(TcpHole { end: p.seq, ..hole });
        }
        if before(p.seq_end(), hole.end) {
            let start = p.seq_end();
            left.push(TcpHole { start, ..hole });
        }
    }
    left.truncate(MOST_HOLES);
    *holes = left;
}

fn note_stall(stream: &HalfConnection, p: &PacketRecord, repeats: bool, found: &mut TcpEvents) {
    let Some((from, from_frame)) = stream.last_data else {
        return;
    };
    if p.time.nanos_since(from) < LEAST_STALL {
        return;
    }
    let stall = DataStall {
        slot: p.slot(),
        connection: p.connection,
        from,
        from_frame,
        to: p.time,
        to_frame: p.frame,
        ended_by_retransmission: repeats && stream.acked.is_none_or(|acked| !before(acked, p.seq)),
        asked_for: stream.asked_for == Some(p.seq),
    };
    push(&mut found.stalls, stall);
}
