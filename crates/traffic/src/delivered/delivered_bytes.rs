//! Delivered bytes of all connections.

use super::line::{ConnectionLine, DeliveryLine};
use crate::packet::{InnerPayload, Packet, TcpHeader};
use crate::run::{RunBound, Runs, TransmissionRun};
use crate::segment::{ConnectionId, Segment, SegmentKind, Settlement};
use crate::table::{BoundedTable, by_key};
use crate::tracker::Tracker;
use foldhash::HashMap;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;
use std::collections::BTreeMap;

/// Most directions of connections that are followed, 3 MB without their runs. Beyond, one that was not used lately is added to the others
/// of its direction if it counts, else forgotten.
const MOST_LINES: usize = 1 << 13;
/// A connection counts with at least this share of its direction's bytes: what sends less now and then is no transfer.
pub const CONNECTION_SHARE: f64 = 0.01;

type LineKey = (ConnectionId, Direction);

/// Sorts what was sent by what became of it, and says when how many bytes arrived.
///
/// A byte counts once, when the copy that arrived passes the capture. All other transmissions carry nothing.
#[derive(Debug, Default)]
pub struct DeliveredBytes {
    lines: BoundedTable<LineKey, ConnectionLine, MOST_LINES>,
    /// Connections that were forgotten and counted, by tunnel and direction.
    folded: BTreeMap<(u32, Direction), ConnectionLine>,
    /// Bytes of each tunnel's direction.
    totals: HashMap<(u32, Direction), u64>,
    runs: RunBound,
}

/// Tells whether none of the next transmissions is a copy of the same bytes. Copies of one segment are told one after the other.
fn is_last_copy(settled: &[Settlement], k: usize) -> bool {
    let name = |one: &Settlement| (one.connection, one.direction, one.seq);
    settled.get(k + 1).map(name) != settled.get(k).map(name)
}

impl DeliveredBytes {
    /// Takes a packet that the tracker has just taken, with what the tracker said of it.
    #[inline]
    pub fn take(&mut self, packet: &Packet, segment: &Segment, tracker: &Tracker) {
        let settled = tracker.settled();
        for (k, one) in settled.iter().enumerate() {
            let last_copy = is_last_copy(settled, k);
            self.with((one.connection, one.direction), packet.tunnel, |line, width| {
                line.take(one, last_copy, width);
                line.look(packet.time, tracker);
            });
        }
        let key = (segment.connection, packet.direction);
        match packet.payload {
            InnerPayload::Datagram(bytes) if segment.kind == SegmentKind::Unnumbered => {
                self.with(key, packet.tunnel, |line, width| {
                    line.datagram(packet, bytes, segment.missing > 0, width);
                });
            }
            // A line is there before anybody acknowledges something.
            InnerPayload::Tcp(_) if segment.len > 0 => self.with(key, packet.tunnel, |_, _| {}),
            _ => {}
        }
        if segment.flags & (TcpHeader::FIN | TcpHeader::RST) != 0 {
            self.close(segment);
        }
        if self.runs.is_reached() {
            self.coarsen();
        }
    }

    /// A FIN ends what its side sends, a reset what both do.
    #[cold]
    fn close(&mut self, segment: &Segment) {
        for direction in Direction::BOTH {
            if let Some(line) = self.lines.get_mut(&(segment.connection, direction)) {
                line.closed |= direction == segment.direction || segment.flags & TcpHeader::RST != 0;
            }
        }
    }

    #[inline]
    fn with(&mut self, key: LineKey, tunnel: u32, change: impl FnOnce(&mut ConnectionLine, i64)) {
        let new = || ConnectionLine::new(tunnel, key.1, Some(key.0));
        let (place, gone) = self.lines.place(key, new);
        if let Some(gone) = gone {
            self.runs.count(gone.len(), 0);
            self.fold(gone);
        }
        let Some(line) = self.lines.at_mut(place) else {
            return;
        };
        let (runs, bytes) = (line.len(), line.bytes);
        change(line, self.runs.width());
        self.runs.count(runs, line.len());
        if line.bytes > bytes {
            let added = line.bytes - bytes;
            *self.totals.entry((line.tunnel, line.direction)).or_default() += added;
        }
    }

    fn counts(&self, line: &ConnectionLine) -> bool {
        let all = self.totals.get(&(line.tunnel, line.direction)).copied();
        line.bytes as f64 >= CONNECTION_SHARE * all.unwrap_or(0) as f64 && line.bytes > 0
    }

    fn fold(&mut self, gone: ConnectionLine) {
        if !self.counts(&gone) {
            return;
        }
        let (tunnel, direction) = (gone.tunnel, gone.direction);
        let folded = self.folded.entry((tunnel, direction));
        let folded = folded.or_insert_with(|| ConnectionLine::new(tunnel, direction, None));
        let before = folded.len();
        folded.merge(&gone, self.runs.width());
        self.runs.count(before, folded.len());
    }

    #[cold]
    fn coarsen(&mut self) {
        self.runs.make_room(|width| {
            let lines = self.lines.values_mut().chain(self.folded.values_mut());
            lines.map(|line| line.coarsen(width)).sum()
        });
    }

    /// Begins another part of the capture: the packets that follow were captured before those that came, or their tracker is another one
    /// and gives names anew. `end`: the last frame of any kind of the part that came.
    pub fn begin_part(&mut self, tracker: &Tracker, end: Timestamp) {
        let waiting = waiting(tracker);
        let lines = std::mem::take(&mut self.lines);
        for mut line in lines.into_values() {
            self.runs.count(line.len(), 0);
            give_up(&mut line, &waiting, end, self.runs.width());
            self.fold(line);
        }
    }

    /// Deliveries of each direction of each tunnel. `end`: the last frame of any kind of the capture.
    pub fn lines(&self, tracker: &Tracker, end: Timestamp) -> Vec<DeliveryLine> {
        let waiting = waiting(tracker);
        let mut directions: BTreeMap<(u32, Direction), Vec<ConnectionLine>> = BTreeMap::new();
        for line in self.lines.values().chain(self.folded.values()) {
            let mut line = line.clone();
            give_up(&mut line, &waiting, end, self.runs.width());
            let key = (line.tunnel, line.direction);
            directions.entry(key).or_default().push(line);
        }
        directions.into_iter().filter_map(joined).collect()
    }
}

/// Transmissions that nobody has acknowledged yet.
fn waiting(tracker: &Tracker) -> HashMap<LineKey, Vec<Settlement>> {
    let waiting = tracker.waiting();
    by_key(waiting.map(|settled| ((settled.connection, settled.direction), settled)))
}

/// Settles transmissions that wait, of which nothing more is heard.
fn give_up(
    line: &mut ConnectionLine,
    waiting: &HashMap<LineKey, Vec<Settlement>>,
    end: Timestamp,
    width: i64,
) {
    let open = line.connection.and_then(|id| waiting.get(&(id, line.direction)));
    let open = open.map_or(&[][..], Vec::as_slice);
    for (k, one) in open.iter().enumerate() {
        line.give_up(one, is_last_copy(open, k), end, width);
    }
}

/// Joins the connections of a direction that count; TCP where it carries more than datagrams do.
fn joined(((tunnel, direction), mut lines): ((u32, Direction), Vec<ConnectionLine>)) -> Option<DeliveryLine> {
    let of_kind = |datagrams: bool| {
        let own = lines.iter().filter(|line| line.datagrams == datagrams);
        own.map(|line| line.bytes).sum::<u64>()
    };
    let datagrams = of_kind(true) > of_kind(false);
    lines.retain(|line| line.datagrams == datagrams && line.bytes > 0);
    let all: u64 = lines.iter().map(|line| line.bytes).sum();
    lines.retain(|line| line.bytes as f64 >= CONNECTION_SHARE * all as f64);
    let most = lines.iter().max_by_key(|line| line.bytes)?;
    let last = lines.iter().max_by_key(|line| line.last())?;
    let sorted = |of: fn(&ConnectionLine) -> &Runs| {
        let mut runs: Vec<TransmissionRun> = lines.iter().flat_map(|line| of(line).iter().copied()).collect();
        runs.sort_by_key(|run| (run.from, run.frames.0));
        runs
    };
    Some(DeliveryLine {
        tunnel,
        direction,
        connections: lines.len(),
        round_trip: most.round_trip,
        closed: last.closed,
        datagrams,
        arrived: sorted(|line| &line.arrived),
        in_vain: sorted(|line| &line.in_vain),
    })
}
