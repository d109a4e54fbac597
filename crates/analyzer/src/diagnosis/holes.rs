//! Stretches that the capture lacks although the tunnel went on: proven holes, not the rekeys' doing.
//!
//! A link that is down, an SA that drops and an idle sender leave no hole in the ESP numbers at a silence of the *whole*
//! capture: who does not send uses up no number. What is missing behind such a silence was sent while the capture saw
//! nothing at all. It was lost by the capture if
//!
//! * the receiver acknowledged TCP bytes that the capture never showed and that nobody sent again, or
//! * numbers are missing in both directions at once and no TCP sender repeats what was in them.

use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::whole_run;
use crate::throughput::by_connection::ByConnection;
use crate::throughput::flow::ConnectionId;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// ESP numbers that are missing behind a silence; one may be a packet that was overtaken.
pub(super) const LEAST_JUMP: u64 = 2;
/// The first packets of both directions and an acknowledgement come within this after a hole, else nothing is proven.
const PATIENCE: i64 = NANOS_PER_SECOND;
/// Most holes that are kept; a capture with more is a sample, not a capture.
const MOST_HOLES: usize = 4_096;
/// Tunnels that are watched, as in [`whole_run`].
const MOST_TUNNELS: usize = 1_024;
/// Connections of a tunnel whose ends are remembered, each direction; further ones prove nothing.
const MOST_CONNECTIONS: usize = 256;

/// What shows that a hole is the capture's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HoleProof {
    /// The receiver acknowledged what the capture lacks.
    Acknowledged,
    /// Both directions went on behind it with a jump, and nothing in them was sent again.
    BothWays,
}

/// One proven hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) tunnel: TunnelIndex,
    /// Last packet of the capture before it.
    pub(crate) from: Timestamp,
    /// First packet of the capture behind it.
    pub(crate) to: Timestamp,
    pub(crate) proof: HoleProof,
    /// The first packet of each direction behind it, and the acknowledgement.
    pub(crate) frames: [Option<u64>; 3],
    /// ESP numbers missing at its end, both directions.
    pub(crate) missing: u64,
}

/// A silence of the whole capture, until it is known what it was.
#[derive(Debug)]
struct SuspectedHole {
    span: whole_run::CaptureSilence,
    edges: Edges,
    /// Streams that sent what followed those ends.
    filled: Vec<(ConnectionId, usize)>,
    /// Numbers missing before the first packet behind it, and its frame, per direction.
    jumps: [Option<(u64, u64)>; 2],
    /// Acknowledgement of bytes that the capture lacks, per direction of the bytes.
    unseen: [Option<u64>; 2],
}

/// Ends of the streams of each direction: behind the highest byte sent.
#[derive(Debug, Clone)]
struct Edges([ByConnection<Option<u32>>; 2]);

impl Default for Edges {
    fn default() -> Self {
        Edges([(); 2].map(|()| ByConnection::with_bound(MOST_CONNECTIONS)))
    }
}

impl Edges {
    fn get(&mut self, (connection, slot): (ConnectionId, usize)) -> Option<u32> {
        *self.0[slot].get(connection)?
    }

    fn sends(&mut self, p: &PacketRecord) {
        if let Some(edge) = self.0[p.slot()].get_or_begin(p.connection)
            && edge.is_none_or(|edge| before(edge, p.seq_end()))
        {
            *edge = Some(p.seq_end());
        }
    }
}

/// One tunnel.
#[derive(Debug, Default)]
struct Watch {
    last: Option<Timestamp>,
    used: [bool; 2],
    edges: Edges,
    silence: Option<SuspectedHole>,
}

/// All tunnels, and the holes that were proven.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    watches: Vec<Watch>,
    found: Vec<Hole>,
}

impl Holes {
    /// Takes an ESP packet. `skipped`: numbers of its SA right before its own that no packet had. `silence`: the longest
    /// silence of the whole capture since the packet before it in this tunnel.
    pub(crate) fn take(
        &mut self,
        p: &PacketRecord,
        skipped: u64,
        silence_since: impl FnOnce(Timestamp, Timestamp) -> Option<whole_run::CaptureSilence>,
    ) {
        let tunnel = usize::from(p.tunnel);
        if tunnel >= MOST_TUNNELS {
            return;
        }
        if tunnel >= self.watches.len() {
            self.watches.resize_with(tunnel + 1, Watch::default);
        }
        let watch = &mut self.watches[tunnel];
        if let Some(last) = watch.last
            && p.time.nanos_since(last) >= whole_run::LEAST_SILENCE
            && let Some(span) = silence_since(last, p.time)
        {
            self.found.extend(
                watch
                    .begin(span, tunnel)
                    .filter(|_| self.found.len() < MOST_HOLES),
            );
        }
        let watch = &mut self.watches[tunnel];
        watch.look_behind(p, skipped);
        watch.remember(p);
        let over = watch.silence.as_ref().is_some_and(|s| s.is_over(p.time));
        if over {
            self.found
                .extend(watch.end(tunnel).filter(|_| self.found.len() < MOST_HOLES));
        }
    }

    /// Decides on what is still open.
    pub(crate) fn finish(&mut self) {
        for (tunnel, watch) in self.watches.iter_mut().enumerate() {
            self.found
                .extend(watch.end(tunnel).filter(|_| self.found.len() < MOST_HOLES));
        }
        self.found.sort_by_key(|h| (h.from, h.tunnel));
    }

    /// The proven holes of a tunnel.
    pub(crate) fn of(&self, tunnel: TunnelIndex) -> impl Iterator<Item = &Hole> {
        self.found.iter().filter(move |h| h.tunnel == tunnel)
    }
}

impl Watch {
    /// A new silence begins to be looked at; the one before is decided.
    fn begin(&mut self, span: whole_run::CaptureSilence, tunnel: TunnelIndex) -> Option<Hole> {
        let before = self.end(tunnel);
        self.silence = Some(SuspectedHole {
            span,
            edges: self.edges.clone(),
            filled: Vec::new(),
            jumps: [None; 2],
            unseen: [None; 2],
        });
        before
    }

    fn end(&mut self, tunnel: TunnelIndex) -> Option<Hole> {
        self.silence.take().and_then(|s| s.proven(tunnel))
    }

    /// What a packet behind a silence says about it.
    fn look_behind(&mut self, p: &PacketRecord, skipped: u64) {
        let slot = p.slot();
        let begun_before = self.used[slot];
        let Some(silence) = &mut self.silence else { return };
        // The first SA of a direction may be older than the capture.
        let skipped = if begun_before { skipped } else { 0 };
        silence.jumps[slot].get_or_insert((skipped, p.frame));
        if p.connection == ConnectionId::NONE {
            return;
        }
        let (sent, acked) = ((p.connection, slot), (p.connection, 1 - slot));
        if p.payload > 0
            && let Some(edge) = silence.edges.get(sent)
            && !before(edge, p.seq)
            && before(edge, p.seq_end())
            && !silence.filled.contains(&sent)
            && silence.filled.len() < MOST_CONNECTIONS
        {
            silence.filled.push(sent);
        }
        if p.acknowledges()
            && let Some(edge) = silence.edges.get(acked)
            && before(edge, p.ack)
            && !silence.filled.contains(&acked)
        {
            silence.unseen[1 - slot].get_or_insert(p.frame);
        }
    }

    fn remember(&mut self, p: &PacketRecord) {
        self.used[p.slot()] = true;
        self.last = Some(self.last.map_or(p.time, |last| last.max(p.time)));
        if p.payload == 0 || !p.is_tcp() || p.connection == ConnectionId::NONE {
            return;
        }
        self.edges.sends(p);
    }
}

impl SuspectedHole {
    fn is_over(&self, now: Timestamp) -> bool {
        now.nanos_since(self.span.to) > PATIENCE
            || self.acknowledged().is_some() && self.jumps.iter().all(Option::is_some)
    }

    fn jump(&self, slot: usize) -> u64 {
        self.jumps[slot].map_or(0, |(missing, _)| missing)
    }

    /// The acknowledgement of missing bytes in a direction that also lacks numbers.
    fn acknowledged(&self) -> Option<u64> {
        (0..2)
            .filter(|&d| self.jump(d) >= LEAST_JUMP)
            .find_map(|d| self.unseen[d])
    }

    fn proven(&self, tunnel: TunnelIndex) -> Option<Hole> {
        let ack = self.acknowledged();
        let both = (0..2).all(|d| self.jump(d) >= LEAST_JUMP) && self.filled.is_empty();
        let proof = match (ack, both) {
            (Some(_), _) => HoleProof::Acknowledged,
            (None, true) => HoleProof::BothWays,
            (None, false) => return None,
        };
        let frame = |d: usize| self.jumps[d].filter(|j| j.0 >= LEAST_JUMP).map(|j| j.1);
        Some(Hole {
            tunnel,
            from: self.span.from,
            to: self.span.to,
            proof,
            frames: [frame(0), frame(1), ack],
            missing: self.jump(0).saturating_add(self.jump(1)),
        })
    }
}

/// Whether TCP sequence number `a` lies before `b` (RFC 9293 §3.4).
fn before(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_MILLI;

    fn at(ms: i64) -> Timestamp {
        Timestamp(ms * NANOS_PER_MILLI)
    }

    /// Data of 100 bytes every 10 ms in direction 0, acknowledged 1 ms later in direction 1, until 1,000 ms and from 1,500 ms
    /// on. `lost`: bytes and numbers of both directions went on meanwhile. `again`: the sender repeats from the edge.
    fn holes(lost: u32, again: bool) -> Vec<Hole> {
        let mut holes = Holes::default();
        let span = whole_run::CaptureSilence {
            from: at(991),
            to: at(1_500),
            to_frame: 0,
        };
        let silence = |from: Timestamp, to: Timestamp| (from <= span.from && span.to <= to).then_some(span);
        let mut frame = 0;
        for k in 0..200_u32 {
            let behind = k >= 100;
            let ms = i64::from(k) * 10 + if behind { 500 } else { 0 };
            let skipped = if k == 100 { u64::from(lost) } else { 0 };
            let repeats = again && k == 100;
            let seq = 100 * (k + if behind && !repeats { lost } else { 0 });
            frame += 2;
            let data = PacketRecord::for_test(false, at(ms), frame, (seq, 100, 1));
            let ack = PacketRecord::for_test(true, at(ms + 1), frame + 1, (1, 0, seq + 100));
            holes.take(&data, skipped, silence);
            holes.take(&ack, skipped, silence);
        }
        holes.finish();
        holes.of(0).copied().collect()
    }

    #[test]
    fn acknowledged_bytes_that_were_never_captured_prove_a_hole() {
        let found = holes(50, false);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].from, found[0].to), (at(991), at(1_500)));
        assert_eq!((found[0].proof, found[0].missing), (HoleProof::Acknowledged, 100));
    }

    #[test]
    fn a_pause_and_a_loss_on_the_path_are_no_holes() {
        assert_eq!(holes(0, false), [], "a pause: no number is missing");
        assert_eq!(holes(50, true), [], "what was lost is sent again");
    }
}
