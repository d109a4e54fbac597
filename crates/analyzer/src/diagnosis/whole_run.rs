//! Counters over the whole capture that need no window: sizes and fragments, SAs in use side by side,
//! silences of everything, cleartext packets between the tunnel's ends.

use crate::diagnosis::filter::MOST_FRAMES;
use crate::diagnosis::record::PacketRecord;
use rekeyscope_impact::explain::DELETE_OF_A_REKEY;
use rekeyscope_impact::ledger::LEAST_GAP;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::analysis::{Certainty, Event, EventKind, MOST_EVENTS};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{LEAST_TIMEOUT, LONGEST_ACK_DELAY};
use std::collections::VecDeque;

/// A silence that is told of by itself: two acknowledgements cannot be held back for longer.
pub(crate) const LONG_SILENCE: i64 = 2 * LONGEST_ACK_DELAY;
/// Newest silences that are kept; older ones lie before every open window that matters.
const MOST_KEPT: usize = 256;
/// A TCP payload up to this is the remainder of a write that did not fit into a segment.
const TINY_PAYLOAD: u16 = 64;
/// A fragment that carries no more than this behind its headers is a remainder too.
const TINY_FRAGMENT: u16 = 128;
/// Tunnels with counters of their own; packets of further ones are not counted here (the tunnel table has more).
pub(super) const MOST_TUNNELS: usize = 1_024;

/// A bounded list of frames.
#[derive(Debug, Default, Clone)]
pub(crate) struct Examples(Vec<u64>);

impl Examples {
    pub(super) fn push(&mut self, frame: u64) {
        if self.0.len() < MOST_FRAMES {
            self.0.push(frame);
        }
    }

    /// The frames.
    pub(crate) fn frames(&self) -> &[u64] {
        &self.0
    }
}

/// Counters of one tunnel and direction.
#[derive(Debug, Default, Clone)]
pub(crate) struct LaneCounters {
    pub(crate) packets: u64,
    /// TCP segments with payload.
    pub(crate) data_segments: u64,
    /// Packets that came in more than one IP packet.
    pub(crate) fragmented: u64,
    /// Remainders of at most [`TINY_FRAGMENT`] among those.
    pub(crate) tiny_remainders: u64,
    pub(crate) fragment_frames: Examples,
    /// A full segment followed by a tiny one of the same connection, which waited for no more than the acknowledgement of it (RFC 9293 §3.7.4): what
    /// comes later was written later.
    pub(crate) full_and_tiny: u64,
    pub(crate) full_and_tiny_frames: Examples,
    /// Largest IP packet that was not fragmented, and largest fragment.
    pub(crate) largest_whole: u16,
    pub(crate) largest_fragment: u16,
    /// Largest TCP payload.
    pub(crate) largest_payload: u16,
    /// Returns to an SA long after another one took over.
    pub(crate) returns: u64,
    pub(crate) return_frames: Examples,
    /// SA and time of the packet before.
    previous: Option<(SaIndex, Timestamp)>,
    previous_data: Option<(rekeyscope_traffic::ConnectionId, u16, Timestamp)>,
    other_sa: Option<(SaIndex, Timestamp)>,
    sa_began: Option<Timestamp>,
}

impl LaneCounters {
    fn take(&mut self, p: &PacketRecord) {
        self.packets += 1;
        if p.fragments > 1 {
            self.fragmented += 1;
            self.fragment_frames.push(p.frame);
            let remainder = p.outer.saturating_sub(p.largest_fragment);
            self.tiny_remainders += u64::from(p.fragments == 2 && remainder <= TINY_FRAGMENT);
            self.largest_fragment = self.largest_fragment.max(p.largest_fragment);
        } else {
            self.largest_whole = self.largest_whole.max(p.outer);
        }
        if p.tcp {
            self.take_tcp(p);
        }
        self.take_sa(p);
    }

    fn take_tcp(&mut self, p: &PacketRecord) {
        if p.payload == 0 {
            return;
        }
        self.data_segments += 1;
        self.largest_payload = self.largest_payload.max(p.payload);
        let full = |payload: u16| payload.saturating_mul(10) / 9 >= self.largest_payload;
        if p.payload <= TINY_PAYLOAD
            && let Some((connection, payload, time)) = self.previous_data
            && connection == p.connection
            && p.time.nanos_since(time) <= LONGEST_ACK_DELAY
            && payload > TINY_PAYLOAD
            && full(payload)
        {
            self.full_and_tiny += 1;
            self.full_and_tiny_frames.push(p.frame);
        }
        self.previous_data = Some((p.connection, p.payload, p.time));
    }

    /// A renewal leaves its old SA for good, and deletes it. One that is used again later, sooner than a sender's timer ends, lives beside the
    /// new one.
    fn take_sa(&mut self, p: &PacketRecord) {
        let Some(previous) = self.previous.replace((p.sa(), p.time)) else {
            self.sa_began = Some(p.time);
            return;
        };
        if previous.0 == p.sa() {
            return;
        }
        let settled = self
            .sa_began
            .is_some_and(|began| p.time.nanos_since(began) > DELETE_OF_A_REKEY);
        let back = matches!(self.other_sa, Some((sa, _)) if sa == p.sa());
        if back && (settled || self.returns > 0) && p.time.nanos_since(previous.1) < LEAST_TIMEOUT {
            self.returns += 1;
            self.return_frames.push(p.frame);
        }
        if !back {
            self.sa_began = Some(p.time);
        }
        self.other_sa = Some(previous);
    }
}

/// Counters of the capture.
#[derive(Debug, Default)]
pub(crate) struct WholeRun {
    /// Counters by tunnel.
    pub(crate) lanes: Vec<[LaneCounters; 2]>,
    /// The newest times without any packet.
    silences: VecDeque<(Timestamp, Timestamp)>,
    /// The first of those that are longer than [`LONG_SILENCE`].
    pub(crate) long_silences: Vec<Event>,
    pub(crate) leaked: u64,
    pub(crate) leak_frames: Examples,
    pub(crate) regressions: Examples,
    /// Frames whose time lies before their predecessor's.
    pub(crate) regressed: u64,
    /// Farthest step back in time, nanoseconds.
    pub(crate) farthest_back: i64,
}

impl WholeRun {
    /// Takes an ESP packet.
    #[inline]
    pub(crate) fn take(&mut self, p: &PacketRecord) {
        let tunnel = usize::from(p.tunnel);
        if tunnel >= MOST_TUNNELS {
            return;
        }
        if tunnel >= self.lanes.len() {
            self.lanes.resize_with(tunnel + 1, Default::default);
        }
        self.lanes[tunnel][p.slot()].take(p);
    }

    /// Takes the time of any frame, and of the one before it.
    #[inline]
    pub(crate) fn take_frame(&mut self, previous: Option<Timestamp>, time: Timestamp, frame: u64) {
        let Some(from) = previous else { return };
        let pause = time.nanos_since(from);
        if pause < 0 {
            self.regressed += 1;
            self.regressions.push(frame);
            self.farthest_back = self.farthest_back.max(pause.saturating_neg());
        } else if pause >= LEAST_GAP {
            if self.silences.len() >= MOST_KEPT {
                self.silences.pop_front();
            }
            self.silences.push_back((from, time));
            if pause > LONG_SILENCE && self.long_silences.len() < MOST_EVENTS {
                self.long_silences.push(Event {
                    until: Some(time),
                    ..Event::at(EventKind::EverythingSilent, Certainty::Proven, from, frame)
                });
            }
        }
    }

    /// A cleartext packet that belongs into the tunnel.
    pub(crate) fn take_leak(&mut self, frame: u64) {
        self.leaked += 1;
        self.leak_frames.push(frame);
    }

    /// The longest silence within [from, to].
    pub(crate) fn longest_silence(&self, from: Timestamp, to: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let within = self.silences.iter().filter(|s| s.0 >= from && s.1 <= to);
        within.max_by_key(|s| s.1.nanos_since(s.0)).copied()
    }
}
