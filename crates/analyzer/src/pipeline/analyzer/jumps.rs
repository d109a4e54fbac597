//! The pipeline's work at a jump of the frames' times ([`crate::pipeline::analyzer::clock`]): frames are held back, looked into and let go.

use super::Analyzer;
use crate::decode::{Pending, decode_one};
use crate::pipeline::analyzer::clock::Signs;
use crate::pipeline::analyzer::stretches::MOST_JUMPS;
use crate::pipeline::record::{ClockEvent, Jump};
use rekeyscope_capture::file::{Frame, KeptFrames};
use rekeyscope_capture::framing::{Datagram, DatagramKind};
use rekeyscope_ipsec::esp::header::spi_and_sequence;
use rekeyscope_ipsec::esp::inner::Inner;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::spi::IpsecProtocol;
use rekeyscope_model::time::Timestamp;

impl Analyzer {
    /// Takes one frame: holds it back at a jump of time, hands it on otherwise.
    pub(super) fn pass_clock(&mut self, frame: &Frame<'_>) {
        if !self.clock.holds() {
            if let Some(time) = self.clock.go_on(frame.time) {
                return self.take_frame(&Frame { time, ..*frame });
            }
            // The senders' clocks have to be known up to here.
            self.flush();
        } else if self.clock.jumps_again(frame.time) {
            self.release_held();
            return self.pass_clock(frame);
        }
        if self.clock.hold(frame) {
            self.release_held();
        }
    }

    /// Decides what the jump was, and hands the held frames on.
    pub(super) fn release_held(&mut self) {
        let Some((held, previous)) = self.clock.take_held() else {
            return;
        };
        let signs = self.signs(&held, previous);
        let first = held.frames().next();
        let event = first.and_then(|first| self.clock.settle(&first, previous, &signs));
        if let Some(event) = event {
            self.note_jump(event);
        }
        for frame in held.frames() {
            let time = self.clock.pass(frame.time);
            self.take_frame(&Frame { time, ..frame });
        }
        self.clock.reuse(held);
    }

    fn note_jump(&mut self, event: ClockEvent) {
        if event.jump == Jump::OutOfOrder {
            // The jump has its own finding: it is no regression of the clock besides.
            self.record.totals.previous_time = None;
            let end = self.record.totals.last_time.unwrap_or_default();
            self.record.traffic.begin_earlier_part(end);
        }
        let events = &mut self.record.clock_events;
        if events.len() < MOST_JUMPS {
            events.push(event);
        }
    }

    fn signs(&mut self, held: &KeptFrames, previous: Timestamp) -> Signs {
        let mut signs = Signs::default();
        let Some(mut framing) = self.framing_ahead.take() else {
            return signs;
        };
        let mut unheard = Diagnostics::default();
        let first = held.frames().next().map(|frame| frame.time);
        for frame in held.frames() {
            signs.since_first = first.map_or(0, |first| frame.time.nanos_since(first).max(0));
            let Some(datagram) = framing.decode(&frame, &mut unheard) else {
                continue;
            };
            match datagram.kind {
                DatagramKind::Esp { packet, .. } => self.look_at(&datagram, packet, previous, &mut signs),
                _ => signs.again += u64::from(self.duplicates.hold(&datagram, frame.time)),
            }
        }
        framing.forget();
        self.framing_ahead = Some(framing);
        signs
    }

    fn look_at(&self, datagram: &Datagram<'_>, packet: &[u8], previous: Timestamp, signs: &mut Signs) {
        let Some((spi, sequence)) = spi_and_sequence(packet) else {
            return;
        };
        let known = self.record.sas.newest(datagram.dst, IpsecProtocol::Esp, spi);
        let Some(sa) = known.filter(|&sa| self.record.sas.associations()[sa].counters.packets > 0) else {
            signs.strangers += 1;
            return;
        };
        if let Some(highest) = self.record.sas.associations()[sa].sequence.highest() {
            // The lower half is enough: an SA does not wrap within a jump.
            if (sequence.wrapping_sub(highest as u32) as i32) > 0 {
                signs.newer += 1;
            } else {
                signs.older += 1;
            }
        }
        if let Some(inner) = self.open_held(sa, datagram, packet, sequence) {
            let association = &self.record.sas.associations()[sa];
            let lane = (association.tunnel, association.direction);
            if let Some((flow, before)) = inner.flow.zip(self.record.traffic.preview(lane, &inner)) {
                let line = (lane.0, lane.1, flow);
                signs.look_inside(line, inner.transport_bytes, &before, previous);
            }
        }
    }

    fn open_held(&self, sa: SaIndex, datagram: &Datagram<'_>, packet: &[u8], sequence: u32) -> Option<Inner> {
        let association = &self.record.sas.associations()[sa];
        let key = association
            .key
            .as_ref()
            .filter(|_| association.proven && !datagram.cut)?;
        let ends = (datagram.src, datagram.dst);
        let pending = Pending {
            opens: true,
            ..Pending::of(datagram, sa, ends, sequence)
        };
        let esn_high = association.esn_high(sequence);
        let decoded = decode_one(&key.cipher, &pending, esn_high, packet, &mut Vec::new());
        decoded.opened.map(|_| decoded.inner)
    }
}
