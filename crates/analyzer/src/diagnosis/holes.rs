//! Stretches that the capture lacks although the tunnel went on: proven holes, not the rekeys' doing.
//!
//! A link that is down, an SA that drops and an idle sender leave no hole in the ESP numbers at a silence of the *whole*
//! capture: who does not send uses up no number. What is missing behind such a silence was sent while the capture saw
//! nothing at all. It was lost by the capture if
//!
//! * the receiver acknowledged TCP bytes that the capture never showed and that nobody sent again, or
//! * numbers are missing in both directions at once and no TCP sender repeats what was in them.

use crate::diagnosis::whole_run;
use rekeyscope_impact::ledger::LEAST_GAP;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Event, EventKind, MOST_EVENTS};
use rekeyscope_model::chance::SEVERAL;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{ConnectionId, Segment, SegmentKind};

/// A silence of the whole capture, until it is known what it was.
#[derive(Debug)]
struct SuspectedHole {
    span: (Timestamp, Timestamp),
    /// The newest connection before it.
    newest: Option<ConnectionId>,
    /// A sender of a connection from before goes on behind it with nothing missing, or repeats what is.
    goes_on: bool,
    /// Numbers missing before the first packet behind it, and its frame, per direction.
    jumps: [Option<(u32, u64)>; 2],
    /// Acknowledged bytes that the capture lacks, per direction, and the frame of the first acknowledgement.
    unseen: [Option<(u64, u64)>; 2],
}

/// One tunnel.
#[derive(Debug, Default)]
struct Watch {
    last: Option<Timestamp>,
    newest: Option<ConnectionId>,
    silence: Option<SuspectedHole>,
}

/// All tunnels, and the holes that were proven.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    watches: Vec<Watch>,
    found: Vec<Event>,
}

impl Holes {
    /// Takes an ESP packet of a tunnel. `silence_since`: the longest silence of the whole capture between two times.
    pub(crate) fn take(
        &mut self,
        tunnel: TunnelIndex,
        p: &Segment,
        silence_since: impl FnOnce(Timestamp, Timestamp) -> Option<(Timestamp, Timestamp)>,
    ) {
        if tunnel >= whole_run::MOST_TUNNELS {
            return;
        }
        if tunnel >= self.watches.len() {
            self.watches.resize_with(tunnel + 1, Watch::default);
        }
        let watch = &mut self.watches[tunnel];
        if let Some(last) = watch.last
            && p.time.nanos_since(last) >= LEAST_GAP
            && let Some(span) = silence_since(last, p.time)
        {
            let before = watch.begin(span, tunnel);
            self.keep(before);
        }
        let watch = &mut self.watches[tunnel];
        watch.look_behind(p);
        watch.remember(p);
        if watch.silence.as_ref().is_some_and(|s| s.is_over(p.time)) {
            let hole = watch.end(tunnel);
            self.keep(hole);
        }
    }

    fn keep(&mut self, hole: Option<Event>) {
        self.found.extend(hole.filter(|_| self.found.len() < MOST_EVENTS));
    }

    /// Decides on what is still open.
    pub(crate) fn finish(&mut self) {
        for tunnel in 0..self.watches.len() {
            let hole = self.watches[tunnel].end(tunnel);
            self.keep(hole);
        }
        self.found.sort_by_key(|h| (h.time, h.tunnel));
    }

    /// The proven holes, in order of time: each from the last packet of the capture before it to the first one behind it.
    pub(crate) fn found(&self) -> &[Event] {
        &self.found
    }
}

impl Watch {
    /// A new silence begins to be looked at; the one before is decided, unless it was longer and waits for the first packet of a direction.
    fn begin(&mut self, span: (Timestamp, Timestamp), tunnel: TunnelIndex) -> Option<Event> {
        let nanos = span.1.nanos_since(span.0);
        if self
            .silence
            .as_ref()
            .is_some_and(|before| before.waits_through(span.1, nanos))
        {
            return None;
        }
        let before = self.end(tunnel);
        self.silence = Some(SuspectedHole {
            span,
            newest: self.newest,
            goes_on: false,
            jumps: [None; 2],
            unseen: [None; 2],
        });
        before
    }

    fn end(&mut self, tunnel: TunnelIndex) -> Option<Event> {
        self.silence.take().and_then(|s| s.proven(tunnel))
    }

    /// Looks at a packet behind a silence.
    fn look_behind(&mut self, p: &Segment) {
        let Some(silence) = &mut self.silence else { return };
        let own = slot(p.direction);
        silence.jumps[own].get_or_insert((p.missing, p.frame));
        let known = silence.newest.is_some_and(|newest| p.connection <= newest);
        let brings = p.new > 0 && p.kind != SegmentKind::Unnumbered;
        silence.goes_on |= known && brings && p.gap == 0;
        if let Some(acks) = p.acks.filter(|acks| acks.unseen > 0) {
            silence.unseen[1 - own].get_or_insert((0, p.frame)).0 += acks.unseen;
        }
        // A file may have data behind its acknowledgement.
        if let (SegmentKind::Late | SegmentKind::Retransmission, Some((bytes, _))) =
            (p.kind, &mut silence.unseen[own])
        {
            *bytes = bytes.saturating_sub(u64::from(p.new));
        }
    }

    fn remember(&mut self, p: &Segment) {
        self.last = Some(self.last.map_or(p.time, |last| last.max(p.time)));
        if p.connection != ConnectionId::NONE {
            self.newest = self.newest.max(Some(p.connection));
        }
    }
}

impl SuspectedHole {
    /// Whether the first packets of both directions and an acknowledgement would have come.
    fn is_over(&self, now: Timestamp) -> bool {
        now.nanos_since(self.span.1) > whole_run::LONG_SILENCE
    }

    /// Whether a direction has sent nothing since, when a silence of so many nanoseconds ends at `to`.
    fn waits_through(&self, to: Timestamp, nanos: i64) -> bool {
        let longer = self.span.1.nanos_since(self.span.0) >= nanos;
        longer && !self.is_over(to) && self.jumps.iter().any(Option::is_none)
    }

    fn jump(&self, slot: usize) -> u32 {
        self.jumps[slot].map_or(0, |(missing, _)| missing)
    }

    /// Whether a direction lacks numbers.
    fn jumped(&self, slot: usize) -> bool {
        u64::from(self.jump(slot)) >= SEVERAL
    }

    /// The acknowledgement of missing bytes in a direction that also lacks numbers.
    fn acknowledged(&self) -> Option<u64> {
        (0..2)
            .filter(|&d| self.jumped(d))
            .find_map(|d| self.unseen[d].filter(|(bytes, _)| *bytes > 0))
            .map(|(_, frame)| frame)
    }

    fn proven(&self, tunnel: TunnelIndex) -> Option<Event> {
        let ack = self.acknowledged();
        let both = (0..2).all(|d| self.jumped(d)) && !self.goes_on;
        if ack.is_none() && !both {
            return None;
        }
        let frame = |d: usize| self.jumps[d].filter(|j| u64::from(j.0) >= SEVERAL).map(|j| j.1);
        let first = [frame(0), frame(1), ack].into_iter().flatten().min()?;
        // Where no key shows who sends again, packets that a path lost look the same.
        let known = match ack.is_some() || self.newest.is_some() {
            true => Certainty::Proven,
            false => Certainty::Inferred,
        };
        Some(Event {
            tunnel: Some(tunnel),
            until: Some(self.span.1),
            count: Some(u64::from(self.jump(0)) + u64::from(self.jump(1))),
            ..Event::at(EventKind::CaptureHole, known, self.span.0, first)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::Direction;
    use rekeyscope_model::time::NANOS_PER_MILLI;
    use rekeyscope_traffic::{EspNumber, FiveTuple, InnerPayload, Packet, TcpHeader, Tracker};
    use std::net::{IpAddr, Ipv4Addr};

    fn at(ms: i64) -> Timestamp {
        Timestamp(ms * NANOS_PER_MILLI)
    }

    /// Data of 100 bytes every 10 ms in direction 0, acknowledged 1 ms later in direction 1, until 1,000 ms and from 1,500 ms
    /// on. `lost`: bytes and numbers of both directions went on meanwhile. `again`: the sender repeats those bytes.
    /// `late`: what is missing lies further behind in the file.
    fn holes(lost: u32, again: bool, late: bool) -> Vec<Event> {
        let (mut holes, mut tracker) = (Holes::default(), Tracker::default());
        let span = (at(991), at(1_500));
        let silence = |from: Timestamp, to: Timestamp| (from <= span.0 && span.1 <= to).then_some(span);
        let mut frame = 0;
        let mut take = |direction: Direction, ms: i64, number: u32, (seq, len, ack): (u32, u32, u32)| {
            frame += 1;
            let data = FiveTuple {
                protocol: 6,
                src: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
                dst: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
                src_port: 443,
                dst_port: 50_000,
            };
            let header = TcpHeader {
                seq,
                ack,
                len,
                flags: TcpHeader::ACK,
                ..TcpHeader::default()
            };
            let segment = tracker.push(&Packet {
                time: at(ms),
                frame,
                tunnel: 0,
                direction,
                esp: Some(EspNumber {
                    spi: 1,
                    number: u64::from(number),
                    ..EspNumber::default()
                }),
                tuple: Some(direction.pick(data, data.reversed())),
                ip_id: 0,
                payload: InnerPayload::Tcp(header),
            });
            holes.take(0, &segment, silence);
        };
        for k in 0..200_u32 {
            let behind = k >= 100;
            let ms = i64::from(k) * 10 + if behind { 500 } else { 0 };
            let number = 1 + k + if behind { lost } else { 0 };
            let seq = 100 * (k + if behind && !again { lost } else { 0 });
            take(Direction::AToB, ms, number, (seq, 100, 1));
            if late && k == 130 {
                (0..lost).for_each(|m| take(Direction::AToB, ms, 101 + m, (100 * (100 + m), 100, 1)));
            }
            take(Direction::BToA, ms + 1, number, (1, 0, seq + 100));
        }
        holes.finish();
        holes.found().to_vec()
    }

    #[test]
    fn acknowledged_bytes_that_were_never_captured_prove_a_hole() {
        let found = holes(50, false, false);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].time, found[0].until), (at(991), Some(at(1_500))));
        assert_eq!((found[0].frame, found[0].count), (201, Some(100)));
    }

    #[test]
    fn a_short_silence_does_not_hide_a_long_one_before_both_directions_are_back() {
        let mut watch = Watch::default();
        let long = (at(0), at(2_000));
        watch.begin(long, 0);
        watch.begin((at(2_000), at(2_110)), 0);
        assert_eq!(watch.silence.as_ref().map(|own| own.span), Some(long));
        watch.begin((at(2_110), at(4_500)), 0);
        assert_ne!(watch.silence.as_ref().map(|own| own.span), Some(long));
    }

    #[test]
    fn a_pause_and_a_loss_on_the_path_are_no_holes() {
        assert_eq!(holes(0, false, false), [], "a pause: no number is missing");
        assert_eq!(holes(50, true, false), [], "what was lost is sent again");
        assert_eq!(holes(50, false, true), [], "the file is out of order");
    }
}
