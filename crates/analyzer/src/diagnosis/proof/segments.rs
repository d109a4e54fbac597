//! Segments of a direction, and whether each was sent again.

use super::coverage::Coverage;
use crate::diagnosis::record::PacketRecord;
use crate::throughput::by_connection::ByConnection;
use crate::throughput::flow::ConnectionId;
use rekeyscope_ipsec::esp::inner::TcpSegment;
use rekeyscope_ipsec::sa::database::SaIndex;

/// Most streams that are followed in one window; segments of further ones are left out.
const MOST_STREAMS: usize = 256;

/// A TCP segment with data.
#[derive(Debug, Clone, Copy)]
// A window has a hundred thousand of them: 32 bytes each.
pub(crate) struct Segment<'a> {
    pub(super) packet: &'a PacketRecord,
    /// Where it begins, as an offset in the stream.
    from: i64,
    stream: u32,
    /// [`PacketRecord::sa`], which is asked of each.
    sa: u32,
    /// Every byte of it is sent again later.
    pub(super) is_sent_again: bool,
}

impl Segment<'_> {
    pub(super) fn sa(&self) -> SaIndex {
        self.sa as SaIndex
    }
}

/// One direction of a connection, from a SYN on.
#[derive(Debug, Default)]
struct SegmentStream {
    /// Counted over both directions, once it has sent something.
    id: Option<u32>,
    last: (u32, i64),
}

/// Those of both directions, each in capture order.
pub(super) fn segments<'a>(packets: impl Iterator<Item = &'a PacketRecord>) -> [Vec<Segment<'a>>; 2] {
    let mut streams = [(); 2].map(|()| ByConnection::<SegmentStream>::with_bound(MOST_STREAMS));
    let mut ids = 0;
    let mut all = [Vec::new(), Vec::new()];
    for p in packets.filter(|p| p.is_tcp() && p.connection != ConnectionId::NONE) {
        let streams = &mut streams[p.slot()];
        if p.flags & TcpSegment::SYN != 0 {
            streams.remove(p.connection);
        }
        if p.payload == 0 {
            continue;
        }
        let Some(stream) = streams.get_or_begin(p.connection) else {
            continue;
        };
        let id = *stream.id.get_or_insert_with(|| {
            ids += 1;
            stream.last = (p.seq, 0);
            ids - 1
        });
        all[p.slot()].push(stream.send(p, id));
    }
    all.iter_mut().for_each(|own| look_back(own, ids));
    all
}

impl SegmentStream {
    fn send<'a>(&mut self, p: &'a PacketRecord, id: u32) -> Segment<'a> {
        let (seq, offset) = self.last;
        // Sequence numbers compare modulo 2³² (RFC 9293 §3.4).
        let from = offset + i64::from(p.seq.wrapping_sub(seq).cast_signed());
        self.last = (p.seq, from);
        Segment {
            packet: p,
            from,
            stream: id,
            sa: p.sa,
            is_sent_again: false,
        }
    }
}

/// From the last to the first: what comes later is known then.
fn look_back(all: &mut [Segment<'_>], streams: u32) {
    let mut later: Vec<Coverage> = Vec::new();
    later.resize_with(streams as usize, Coverage::default);
    for segment in all.iter_mut().rev() {
        let Some(coverage) = later.get_mut(segment.stream as usize) else {
            continue;
        };
        let (from, to) = (segment.from, segment.from + i64::from(segment.packet.payload));
        segment.is_sent_again = coverage.holds(from, to);
        coverage.add(from, to);
    }
}
