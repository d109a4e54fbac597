//! Puts fragmented IP datagrams together again (RFC 791 §3.2, RFC 8200 §4.5).
//!
//! Bounds: [`MOST_DATAGRAMS`] datagrams and [`MOST_BYTES`] bytes at a time, [`TIMEOUT_NANOS`] of packet time each; the
//! oldest one gives way, and a datagram that is given up is counted. Where fragments overlap, the first one wins,
//! but another one at its very place replaces it.

use crate::framing::datagram::UdpPorts;
use crate::framing::first_fragments::{Ways, ports_and_ike};
use crate::layers::ip::{self, IpPacket, Piece};
use etherparse::{IpNumber, ip_number};
use foldhash::HashMap;
use rekeyscope_model::analysis::MOST_EVENTS;
use rekeyscope_model::diagnostic::{Diagnostics, FrameDiagnostics};
use rekeyscope_model::error::WireError;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::VecDeque;
use std::net::IpAddr;

/// Most datagrams that are remembered, finished ones included.
const MOST_DATAGRAMS: usize = 4096;
/// Most bytes that unfinished datagrams hold together.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Most separate ranges of one datagram.
const MOST_RANGES: usize = 256;
/// Longest payload of a datagram.
const LONGEST: u32 = 65_535;
/// An unfinished datagram is given up after this long. The hosts wait longer (RFC 791: 15 s, RFC 8200: 60 s), but fragments
/// travel back to back, and the 16-bit identification of IPv4 comes round again after 6.5 s at 10,000 packets/s: a stale
/// fragment must not meet the next datagram of its number.
const TIMEOUT_NANOS: i64 = 5 * NANOS_PER_SECOND;
/// Further fragments of a finished datagram are duplicates for this long after its first one, unless they begin otherwise.
const DUPLICATE_NANOS: i64 = NANOS_PER_SECOND;
/// Beginnings of fragments that are remembered of a datagram: a packet of ESP is seldom in more than three.
const MOST_BEGINNINGS: usize = 8;
/// UDP header, SPI and sequence number; behind the first fragment, ciphertext.
const BEGINNING: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct FragmentKey {
    src: IpAddr,
    dst: IpAddr,
    id: u32,
    /// `None` in IPv6, where the identification alone tells datagrams apart.
    protocol: Option<IpNumber>,
}

/// An IKE message whose first fragment came, but not all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncompleteIke {
    /// Source.
    pub src: IpAddr,
    /// Destination.
    pub dst: IpAddr,
    /// Ports.
    pub udp: UdpPorts,
    /// Time of the first fragment captured.
    pub time: Timestamp,
    /// Frame of the first fragment captured.
    pub frame: u64,
    /// Number of fragments that came.
    pub fragments: u16,
}

#[derive(Debug, Default)]
struct Partial {
    serial: u64,
    started: Timestamp,
    frame: u64,
    finished: bool,
    bytes: Vec<u8>,
    ranges: Vec<(u32, u32)>,
    /// Offset of the first hole that a snap length left.
    hole: u32,
    total: Option<u32>,
    /// Protocol in the fragment with offset 0.
    protocol: Option<IpNumber>,
    outer_bytes: u32,
    largest: u32,
    fragments: u16,
    /// First bytes of the fragments at these offsets.
    beginnings: Vec<(u32, [u8; BEGINNING])>,
}

/// A datagram that is whole again; its bytes are in [`FragmentTable::whole`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) protocol: IpNumber,
    /// Payload bytes on the wire.
    pub(super) payload_len: u32,
    /// IP total lengths together.
    pub(super) outer_bytes: u32,
    pub(super) largest: u32,
    pub(super) fragments: u16,
    /// Identification in the IPv4 headers.
    pub(super) identification: Option<u16>,
}

impl Whole {
    /// The payload of the datagram between `ends`, as far as it was captured: behind further extension headers.
    ///
    /// # Errors
    /// [`WireError`] when one of these cannot be read.
    pub(super) fn upper_layer<'a>(
        &self,
        ends: (IpAddr, IpAddr),
        bytes: &'a [u8],
    ) -> Result<IpPacket<'a>, WireError> {
        let upper = ip::upper_layer(self.protocol, ends, bytes, self.payload_len, self.outer_bytes)?;
        Ok(IpPacket {
            identification: self.identification,
            ..upper
        })
    }
}

/// The datagrams that wait for fragments.
#[derive(Debug, Default)]
pub(super) struct FragmentTable {
    partials: HashMap<FragmentKey, Partial>,
    /// In order of their start, with serial numbers: an entry that was replaced since is stale.
    order: VecDeque<(u64, FragmentKey)>,
    next_serial: u64,
    held: usize,
    /// The payload of the datagram that was finished last.
    pub(super) whole: Vec<u8>,
    /// IKE messages that were given up, at most [`MOST_EVENTS`] (0.25 MB) until somebody takes them; further ones are only
    /// counted.
    pub(super) incomplete: Vec<IncompleteIke>,
    pub(super) ways: Ways,
}

impl FragmentTable {
    /// Forgets all of them, without counting.
    pub(super) fn forget(&mut self) {
        self.partials.clear();
        self.order.clear();
        self.whole.clear();
        self.ways.forget();
        self.held = 0;
    }

    /// Datagrams and bytes that are held.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        (
            self.partials.len(),
            self.partials.values().map(|partial| partial.bytes.len()).sum(),
        )
    }

    /// Adds a fragment; `Some` when it completes its datagram.
    pub(super) fn add(
        &mut self,
        packet: &IpPacket<'_>,
        piece: Piece,
        time: Timestamp,
        frame: u64,
        diagnostics: &mut Diagnostics,
    ) -> Option<Whole> {
        let diagnostics = &mut diagnostics.at(LAYER, Some(frame));
        let end = piece
            .offset
            .checked_add(packet.payload_len)
            .filter(|&end| end <= LONGEST);
        let Some(end) =
            end.filter(|_| packet.payload_len > 0 && (!piece.more || packet.payload_len.is_multiple_of(8)))
        else {
            diagnostics.note("malformed_fragment", "oddity-fragment-impossible");
            return None;
        };
        let key = FragmentKey {
            src: packet.src,
            dst: packet.dst,
            id: piece.id,
            protocol: packet.src.is_ipv4().then_some(packet.protocol),
        };
        self.forget_stale(&key, time, diagnostics);
        self.forget_another(&key, packet.payload, piece.offset);
        if !self.partials.contains_key(&key) {
            self.start(key, time, frame, diagnostics);
        }
        let partial = self.partials.get_mut(&key)?;
        if partial.finished {
            diagnostics.note("duplicate_fragment", DUPLICATE);
            return None;
        }
        let (held_before, fragments_before) = (partial.bytes.len(), partial.fragments);
        partial.insert(packet, piece, end, diagnostics);
        if partial.fragments > fragments_before {
            self.ways.take(packet, piece, time, frame);
        }
        self.held = (self.held + partial.bytes.len()).saturating_sub(held_before);
        let Some(whole) = partial.completed(packet.identification) else {
            self.make_room(MOST_DATAGRAMS, diagnostics);
            return None;
        };
        partial.finished = true;
        partial.ranges = Vec::new();
        self.whole = std::mem::take(&mut partial.bytes);
        self.held = self.held.saturating_sub(self.whole.len());
        self.whole.truncate(whole.payload_len.min(partial.hole) as usize);
        let ends = (packet.src, packet.dst);
        self.ways.complete(ends, whole.protocol, &self.whole);
        Some(whole)
    }

    /// Counts what is still unfinished when the capture ends.
    pub(super) fn finish(&mut self, diagnostics: &mut Diagnostics) {
        let diagnostics = &mut diagnostics.at(LAYER, None);
        while let Some((serial, key)) = self.order.pop_front() {
            self.remove(serial, &key, diagnostics);
        }
    }

    fn start(
        &mut self,
        key: FragmentKey,
        time: Timestamp,
        frame: u64,
        diagnostics: &mut FrameDiagnostics<'_>,
    ) {
        self.make_room(MOST_DATAGRAMS - 1, diagnostics);
        let serial = self.next_serial;
        self.next_serial += 1;
        self.order.push_back((serial, key));
        let partial = Partial {
            serial,
            started: time,
            frame,
            hole: u32::MAX,
            ..Partial::default()
        };
        self.partials.insert(key, partial);
    }

    /// The oldest give way until `datagrams` and [`MOST_BYTES`] hold. A fragment of a few bytes far behind the others makes its
    /// datagram long: every fragment may ask for room, not only the first.
    fn make_room(&mut self, datagrams: usize, diagnostics: &mut FrameDiagnostics<'_>) {
        while self.order.len() > datagrams || self.held > MOST_BYTES {
            let Some((serial, oldest)) = self.order.pop_front() else {
                return;
            };
            self.remove(serial, &oldest, diagnostics);
        }
    }

    /// The number came round again, or the clock stepped back: this is another datagram.
    fn forget_stale(&mut self, key: &FragmentKey, now: Timestamp, diagnostics: &mut FrameDiagnostics<'_>) {
        let Some(partial) = self.partials.get(key) else {
            return;
        };
        let limit = if partial.finished {
            DUPLICATE_NANOS
        } else {
            TIMEOUT_NANOS
        };
        if now.nanos_since(partial.started).saturating_abs() > limit {
            let serial = partial.serial;
            self.remove(serial, key, diagnostics);
        }
    }

    /// The number came round again within the time of duplicates, as it does at 65,536 packets/s: a fragment that begins otherwise
    /// than that of the finished datagram is no copy of it.
    fn forget_another(&mut self, key: &FragmentKey, payload: &[u8], offset: u32) {
        let begins_otherwise = |partial: &Partial| {
            let known = partial.beginnings.iter().find(|(at, _)| *at == offset);
            partial.finished && known.is_some_and(|(_, known)| *known != beginning(payload))
        };
        if self.partials.get(key).is_some_and(begins_otherwise) {
            self.partials.remove(key);
        }
    }

    fn remove(&mut self, serial: u64, key: &FragmentKey, diagnostics: &mut FrameDiagnostics<'_>) {
        if self
            .partials
            .get(key)
            .is_none_or(|partial| partial.serial != serial)
        {
            return;
        }
        let Some(partial) = self.partials.remove(key) else {
            return;
        };
        self.held = self.held.saturating_sub(partial.bytes.len());
        if !partial.finished {
            let room = self.incomplete.len() < MOST_EVENTS;
            self.incomplete.extend(partial.as_ike(key).filter(|_| room));
            diagnostics.note("incomplete_datagram", "oddity-fragments-missing");
        }
    }
}

/// As far as it was captured.
fn beginning(payload: &[u8]) -> [u8; BEGINNING] {
    let mut begins = [0; BEGINNING];
    begins.iter_mut().zip(payload).for_each(|(to, from)| *to = *from);
    begins
}

/// Name of the layer in diagnostics.
const LAYER: &str = "IP fragments";
/// Identifier of the sentence about a fragment that came twice.
const DUPLICATE: &str = "oddity-fragment-twice";

impl Partial {
    /// Recognises an IKE message by its first fragment.
    fn as_ike(&self, key: &FragmentKey) -> Option<IncompleteIke> {
        let begins = self.ranges.first().is_some_and(|(from, _)| *from == 0);
        let (udp, is_ike) = ports_and_ike(&self.bytes)?;
        (begins && is_ike && self.protocol == Some(ip_number::UDP)).then_some(IncompleteIke {
            src: key.src,
            dst: key.dst,
            udp,
            time: self.started,
            frame: self.frame,
            fragments: self.fragments,
        })
    }

    fn insert(
        &mut self,
        packet: &IpPacket<'_>,
        piece: Piece,
        end: u32,
        diagnostics: &mut FrameDiagnostics<'_>,
    ) {
        if self
            .total
            .is_some_and(|total| end > total || (!piece.more && end != total))
        {
            diagnostics.note("malformed_fragment", "oddity-fragment-behind");
            return;
        }
        let gaps = self.gaps(piece.offset, end);
        if gaps.is_empty() {
            self.again(packet.payload, piece.offset, end, diagnostics);
            return;
        }
        if self.ranges.len() + gaps.len() > MOST_RANGES {
            diagnostics.note("too_many_fragments", "oddity-fragments-too-many");
            return;
        }
        if gaps != [(piece.offset, end)] {
            diagnostics.note("overlapping_fragment", "oddity-fragment-overlaps");
        }
        if self.beginnings.len() < MOST_BEGINNINGS {
            self.beginnings.push((piece.offset, beginning(packet.payload)));
        }
        for &(from, to) in &gaps {
            self.copy(packet.payload, piece.offset, from, to);
        }
        self.cover(gaps);
        if !piece.more {
            self.total = Some(end);
        }
        if piece.offset == 0 {
            self.protocol = Some(packet.protocol);
        }
        self.outer_bytes = self.outer_bytes.saturating_add(packet.total_len);
        self.largest = self.largest.max(packet.total_len);
        self.fragments = self.fragments.saturating_add(1);
    }

    /// All of this has arrived before: as a copy, or, where its number came round again after a loss, as part of an earlier datagram.
    /// The one that came last counts (RFC 791 §3.2): the earlier datagram will not be whole any more.
    fn again(&mut self, payload: &[u8], offset: u32, end: u32, diagnostics: &mut FrameDiagnostics<'_>) {
        let begins = beginning(payload);
        let known = self.beginnings.iter_mut().find(|(at, _)| *at == offset);
        let Some((_, known)) = known.filter(|(_, known)| *known != begins) else {
            diagnostics.note("duplicate_fragment", DUPLICATE);
            return;
        };
        *known = begins;
        self.copy(payload, offset, offset, end);
        diagnostics.note("replaced_fragment", "oddity-fragment-replaces");
    }

    /// What of `from..to` has not arrived yet.
    fn gaps(&self, from: u32, to: u32) -> Vec<(u32, u32)> {
        let mut gaps = Vec::with_capacity(1);
        let mut at = from;
        for &(start, end) in self
            .ranges
            .iter()
            .filter(|&&(start, end)| end > from && start < to)
        {
            if start > at {
                gaps.push((at, start));
            }
            at = at.max(end);
        }
        if at < to {
            gaps.push((at, to));
        }
        gaps
    }

    /// Copies `from..to` of the datagram out of a fragment that begins at `offset`; notes a hole where the snap length cut it.
    fn copy(&mut self, payload: &[u8], offset: u32, from: u32, to: u32) {
        let captured_to = to.min(offset.saturating_add(u32::try_from(payload.len()).unwrap_or(u32::MAX)));
        if captured_to < to {
            self.hole = self.hole.min(captured_to.max(from));
        }
        if self.bytes.len() < captured_to as usize {
            self.bytes.resize(captured_to as usize, 0);
        }
        if captured_to > from
            && let Some(target) = self.bytes.get_mut(from as usize..captured_to as usize)
            && let Some(source) = payload.get((from - offset) as usize..(captured_to - offset) as usize)
        {
            target.copy_from_slice(source);
        }
    }

    fn cover(&mut self, gaps: Vec<(u32, u32)>) {
        self.ranges.extend(gaps);
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|later, earlier| {
            let touches = later.0 <= earlier.1;
            if touches {
                earlier.1 = earlier.1.max(later.1);
            }
            touches
        });
    }

    fn completed(&self, identification: Option<u16>) -> Option<Whole> {
        let (total, protocol) = (self.total?, self.protocol?);
        match self.ranges.as_slice() {
            [(0, end), ..] if *end >= total => Some(Whole {
                protocol,
                payload_len: total,
                outer_bytes: self.outer_bytes,
                largest: self.largest,
                fragments: self.fragments,
                identification,
            }),
            _ => None,
        }
    }
}
