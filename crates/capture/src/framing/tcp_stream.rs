//! IKE and ESP in TCP (RFC 9329): a stream that begins with `IKETCP`, then messages behind 16 bits of length that count
//! themselves. Segments are put in order; a stream whose beginning, or a piece, is not in the capture is picked up again
//! where message lengths agree with each other.

use crate::framing::datagram::{Datagram, DatagramKind, ESP_HEADER_LEN, TcpSegment, UdpPorts};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

const PREFIX: &[u8] = b"IKETCP";
/// Length field before each message (RFC 9329 §3).
const LENGTH_LEN: usize = 2;
/// Most streams that are followed; further ones are counted and not looked into.
const MOST_STREAMS: usize = 256;
/// Bytes of one direction that may wait for the rest of a message: the longest message, and one more segment.
const MOST_BUFFERED: usize = 2 << 16;
/// Bytes that may wait for a segment that is missing. A lost segment is repeated within a window; after this many bytes it
/// is missing from the capture.
const MOST_WAITING: usize = 1 << 16;
/// Bytes that a waiting segment counts for beside its own: its place in the table. Segments of a byte are bounded too.
const WAITING_ENTRY: usize = 64;
/// Messages in a row that are looked at where the start of one is sought.
const MOST_CHAINED: usize = 3;
/// Bytes that are kept while the start of a message is sought: four of the largest usual ones, so that three are whole.
const SEARCHED: usize = 6_000;
/// Bytes at which the start of a message is sought in vain before a stream is taken for another protocol's: as many as 64
/// segments that are each searched together with all the bytes that are kept. Messages of the usual size are found within four
/// segments.
const MOST_SOUGHT: usize = 64 * SEARCHED;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TcpMessage {
    Ike(Vec<u8>),
    Esp(Vec<u8>),
    Keepalive,
}

impl TcpMessage {
    /// Bytes behind the length field; the non-ESP marker is not counted.
    pub(crate) fn len(&self) -> u16 {
        match self {
            TcpMessage::Ike(bytes) | TcpMessage::Esp(bytes) => u16::try_from(bytes.len()).unwrap_or(u16::MAX),
            TcpMessage::Keepalive => 1,
        }
    }
}

/// Messages that a segment completed, and what was lost.
#[derive(Debug, Default)]
pub struct Taken {
    pub(crate) messages: Vec<TcpMessage>,
    /// Header bytes of the segments that brought them.
    headers: u32,
    /// A hole in the stream that no later segment filled, or bytes that make no message.
    pub lost_place: bool,
    /// The stream carries something else, or there are too many streams.
    pub foreign: bool,
}

impl Taken {
    /// The messages as datagrams. The headers of the IP packets that brought them belong to them; the first one carries them.
    pub fn datagrams<'a>(
        &'a self,
        completed_by: &Datagram<'a>,
        segment: &TcpSegment<'_>,
    ) -> impl Iterator<Item = Datagram<'a>> {
        let (base, udp) = (completed_by.clone(), segment.ports);
        let mut headers = self.headers;
        self.messages.iter().map(move |message| {
            let wire_len = u32::from(message.len());
            let around = std::mem::take(&mut headers) + LENGTH_LEN as u32;
            Datagram {
                outer_bytes: around + wire_len,
                cut: false,
                wire_len,
                kind: match message {
                    TcpMessage::Ike(message) => DatagramKind::Ike { udp, message },
                    TcpMessage::Esp(packet) => DatagramKind::Esp {
                        udp: Some(udp),
                        packet,
                    },
                    TcpMessage::Keepalive => DatagramKind::NatKeepalive,
                },
                ..base.clone()
            }
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum StreamPlace {
    /// At the stream's first byte.
    Start,
    /// Somewhere.
    #[default]
    Unknown,
    /// At a message's length field.
    Message,
    /// In another protocol: not looked into before the next connection.
    Foreign,
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct CarrierStream {
    next: u32,
    place: StreamPlace,
    buffer: Vec<u8>,
    /// By sequence number: all behind `next` and within half of the numbers.
    waiting: BTreeMap<u32, Vec<u8>>,
    /// Their bytes, [`WAITING_ENTRY`] included.
    waiting_len: usize,
    /// Header bytes of the segments with something new since the last message.
    headers: u32,
    /// Bytes at which the start of a message was sought since the last message, also in earlier connections of these ports.
    sought: usize,
}

/// All streams.
#[derive(Debug, Default)]
pub struct TcpStreams {
    streams: HashMap<(IpAddr, IpAddr, UdpPorts), CarrierStream>,
}

impl TcpStreams {
    /// Takes the segment of a datagram; gives the messages that it completes.
    pub fn push(&mut self, datagram: &Datagram<'_>, segment: &TcpSegment<'_>) -> Taken {
        let mut taken = Taken::default();
        let key = (datagram.src, datagram.dst, segment.ports);
        if !self.streams.contains_key(&key) && self.streams.len() >= MOST_STREAMS {
            taken.foreign = true;
            return taken;
        }
        let stream = self.streams.entry(key).or_insert_with(|| CarrierStream {
            next: segment.seq,
            ..CarrierStream::default()
        });
        if segment.syn {
            *stream = CarrierStream {
                next: segment.seq.wrapping_add(1),
                place: StreamPlace::Start,
                sought: stream.sought,
                ..CarrierStream::default()
            };
            return taken;
        }
        if stream.add(segment.seq, segment.payload, &mut taken) {
            let headers = datagram.outer_bytes.saturating_sub(segment.payload.len() as u32);
            stream.headers = stream.headers.saturating_add(headers);
        }
        if !taken.messages.is_empty() {
            taken.headers = std::mem::take(&mut stream.headers);
        } else if stream.is_unknown() {
            // Nobody knows whose they are.
            stream.headers = 0;
        }
        taken.foreign = stream.is_unknown() && taken.messages.is_empty() && !segment.payload.is_empty();
        taken
    }
}

impl CarrierStream {
    fn is_unknown(&self) -> bool {
        matches!(self.place, StreamPlace::Unknown | StreamPlace::Foreign)
    }

    /// Takes a payload. Says whether it brings something new.
    fn add(&mut self, seq: u32, payload: &[u8], taken: &mut Taken) -> bool {
        let ahead = seq.wrapping_sub(self.next) as i32;
        if payload.is_empty() || self.place == StreamPlace::Foreign {
            return false;
        }
        if ahead > 0 {
            let new = self.keep_waiting(seq, payload);
            while self.waiting_len > MOST_WAITING && self.jump(taken) {}
            return new;
        }
        let before = self.next;
        self.append(seq, payload);
        self.parse(taken);
        self.take_waiting(before, taken);
        self.next != before
    }

    /// Keeps the longer one of two segments that begin with the same byte. `false` where that was there.
    fn keep_waiting(&mut self, seq: u32, payload: &[u8]) -> bool {
        let held = self.waiting.get(&seq).map_or(0, Vec::len);
        let longer = held < payload.len();
        if longer {
            self.forget_waiting(seq);
            self.waiting.insert(seq, payload.to_vec());
            self.waiting_len += payload.len() + WAITING_ENTRY;
        }
        longer
    }

    fn forget_waiting(&mut self, seq: u32) -> Option<Vec<u8>> {
        let payload = self.waiting.remove(&seq)?;
        self.waiting_len = self.waiting_len.saturating_sub(payload.len() + WAITING_ENTRY);
        Some(payload)
    }

    /// The first waiting segment, where all of them are behind `before` (numbers wrap).
    fn first_waiting(&self, before: u32) -> Option<u32> {
        let mut ahead = self.waiting.range(before..).map(|(seq, _)| *seq);
        ahead.next().or_else(|| self.waiting.keys().next().copied())
    }

    /// Appends what of a segment is new.
    fn append(&mut self, seq: u32, payload: &[u8]) {
        let known = self.next.wrapping_sub(seq) as usize;
        let new = payload.get(known..).unwrap_or_default();
        self.buffer.extend_from_slice(new);
        self.next = self.next.wrapping_add(new.len() as u32);
    }

    /// Segments that came before the one that is there now; all of them are behind `before`.
    fn take_waiting(&mut self, before: u32, taken: &mut Taken) {
        while let Some(seq) = self.first_waiting(before) {
            if seq.wrapping_sub(self.next) as i32 > 0 {
                return;
            }
            let Some(payload) = self.forget_waiting(seq) else {
                return;
            };
            self.append(seq, &payload);
            self.parse(taken);
        }
    }

    /// A piece of the stream is not in the capture: goes on behind it. `false` where nothing waits.
    fn jump(&mut self, taken: &mut Taken) -> bool {
        let before = self.next;
        let Some(seq) = self.first_waiting(before) else {
            return false;
        };
        taken.lost_place = true;
        self.buffer.clear();
        self.place = StreamPlace::Unknown;
        self.next = seq;
        self.take_waiting(before, taken);
        true
    }

    fn parse(&mut self, taken: &mut Taken) {
        let mut at = 0;
        loop {
            let rest = self.buffer.get(at..).unwrap_or_default();
            match self.place {
                StreamPlace::Start if rest.len() < PREFIX.len() && PREFIX.starts_with(rest) => break,
                StreamPlace::Start if rest.starts_with(PREFIX) => {
                    at += PREFIX.len();
                    self.place = StreamPlace::Message;
                }
                StreamPlace::Start => self.place = StreamPlace::Unknown,
                StreamPlace::Unknown if self.sought > MOST_SOUGHT => return self.give_up(),
                StreamPlace::Unknown => match find_message(rest) {
                    Some(skip) => {
                        self.sought += skip;
                        at += skip;
                        self.place = StreamPlace::Message;
                    }
                    None => {
                        self.sought += rest.len();
                        at = self.buffer.len().saturating_sub(SEARCHED).max(at);
                        break;
                    }
                },
                StreamPlace::Foreign => return self.give_up(),
                StreamPlace::Message => match next_message(rest) {
                    Next::Incomplete => break,
                    Next::Message(len, message) => {
                        taken.messages.push(message);
                        self.sought = 0;
                        at += len;
                    }
                    Next::Nonsense => {
                        taken.lost_place = true;
                        self.place = StreamPlace::Unknown;
                    }
                },
            }
        }
        self.buffer.drain(..at.min(self.buffer.len()));
        if self.buffer.len() > MOST_BUFFERED {
            self.buffer.clear();
            self.place = StreamPlace::Unknown;
        }
    }

    /// Another protocol: nothing of it is kept.
    fn give_up(&mut self) {
        *self = CarrierStream {
            next: self.next,
            place: StreamPlace::Foreign,
            sought: self.sought,
            ..CarrierStream::default()
        };
    }
}

enum Next {
    Incomplete,
    /// Bytes with the length field, and what is behind it.
    Message(usize, TcpMessage),
    Nonsense,
}

fn next_message(bytes: &[u8]) -> Next {
    let Some(len) = length(bytes) else {
        return Next::Incomplete;
    };
    if len <= LENGTH_LEN {
        return Next::Nonsense;
    }
    let Some(body) = bytes.get(LENGTH_LEN..len) else {
        return Next::Incomplete;
    };
    match body {
        [0, 0, 0, 0, message @ ..] => Next::Message(len, TcpMessage::Ike(message.to_vec())),
        [0xff] => Next::Message(len, TcpMessage::Keepalive),
        packet if packet.len() >= ESP_HEADER_LEN => Next::Message(len, TcpMessage::Esp(packet.to_vec())),
        _ => Next::Nonsense,
    }
}

fn length(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk().map(|b| usize::from(u16::from_be_bytes(*b)))
}

/// Finds where a message begins, in bytes of which that is not known. A chain of lengths that ends with the bytes is taken: of one
/// message at the very start (noise does so once in 65,536), of two of one SPI elsewhere. So is one of three messages of
/// which two have the same SPI. No chain is followed further, so that the steps grow with the bytes and no faster.
fn find_message(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find(|&at| {
        let chain = chain(bytes.get(at..).unwrap_or_default());
        match (chain.messages, chain.ends) {
            (0, _) => false,
            (1, ends) => ends && at == 0,
            (2, ends) => ends && (chain.repeats || at == 0),
            _ => chain.repeats,
        }
    })
}

#[derive(Default)]
struct MessageChain {
    messages: usize,
    /// The chain ends where the bytes do.
    ends: bool,
    /// Two of them begin with the same SPI or marker.
    repeats: bool,
}

/// At most [`MOST_CHAINED`] messages.
fn chain(mut bytes: &[u8]) -> MessageChain {
    let mut chain = MessageChain::default();
    let mut spis = [None; MOST_CHAINED];
    for n in 0..MOST_CHAINED {
        let Some(len) = length(bytes).filter(|len| *len >= LENGTH_LEN + ESP_HEADER_LEN) else {
            break;
        };
        let (Some(rest), Some(spi)) = (
            bytes.get(len..),
            bytes.get(LENGTH_LEN..).and_then(<[u8]>::first_chunk::<4>),
        ) else {
            return chain;
        };
        chain.repeats |= spis.contains(&Some(*spi));
        spis[n] = Some(*spi);
        chain.messages += 1;
        bytes = rest;
    }
    chain.ends = bytes.is_empty();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_model::time::Timestamp;
    use rekeyscope_testkit::headers::framed;
    use rekeyscope_testkit::thread_time::assert_linear;

    fn esp(spi: u8, len: usize) -> Vec<u8> {
        let mut packet = vec![0xc0, 0, 0, spi];
        packet.resize(len.max(8), 7);
        packet
    }

    fn push(streams: &mut TcpStreams, (seq, syn, payload): (u32, bool, &[u8])) -> Taken {
        let ports = UdpPorts {
            src: 40_000,
            dst: 4500,
        };
        let segment = TcpSegment {
            ports,
            seq,
            syn,
            payload,
        };
        let ends = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let datagram = Datagram {
            outer_bytes: 40 + payload.len() as u32,
            ..Datagram::bare(1, Timestamp(0), ends, payload)
        };
        streams.push(&datagram, &segment)
    }

    fn stream() -> (Vec<u8>, Vec<TcpMessage>) {
        let mut bytes = PREFIX.to_vec();
        let mut messages = Vec::new();
        for n in 0..20 {
            let packet = esp(1, 40 + n * 37);
            bytes.extend(framed(&packet));
            messages.push(TcpMessage::Esp(packet));
        }
        bytes.extend(framed(&[&[0; 4][..], &[9; 28]].concat()));
        messages.push(TcpMessage::Ike(vec![9; 28]));
        bytes.extend(framed(&[0xff]));
        messages.push(TcpMessage::Keepalive);
        (bytes, messages)
    }

    proptest! {
        /// However the bytes are cut into segments, in whichever order neighbours come, and if some come twice.
        #[test]
        fn segments_do_not_matter(sizes in proptest::collection::vec(1usize..1_500, 1..60), swap in any::<u64>(), start in any::<u32>()) {
            let (bytes, messages) = stream();
            let mut segments = Vec::new();
            let (mut at, mut k) = (0, 0);
            while at < bytes.len() {
                let end = (at + sizes[k % sizes.len()]).min(bytes.len());
                segments.push((start.wrapping_add(1 + at as u32), &bytes[at..end]));
                (at, k) = (end, k + 1);
            }
            for i in 1..segments.len() {
                if swap >> (i % 64) & 1 == 1 {
                    segments.swap(i - 1, i);
                }
            }
            let mut streams = TcpStreams::default();
            push(&mut streams, (start, true, &[]));
            let mut found = Vec::new();
            for &(seq, payload) in segments.iter().flat_map(|s| [s, s]) {
                found.extend(push(&mut streams, (seq, false, payload)).messages);
            }
            prop_assert_eq!(found, messages);
        }

        #[test]
        fn noise_never_panics(parts in proptest::collection::vec((any::<u32>(), proptest::collection::vec(any::<u8>(), 0..300)), 0..40)) {
            let mut streams = TcpStreams::default();
            for (seq, payload) in parts {
                push(&mut streams, (seq % 2_000, seq % 7 == 0, &payload));
            }
        }
    }

    #[test]
    fn a_hole_costs_what_was_in_it() {
        let packet = esp(1, 500);
        let one = framed(&packet);
        let mut streams = TcpStreams::default();
        push(&mut streams, (0, true, &[]));
        push(&mut streams, (1, false, PREFIX));
        let (mut found, mut lost) = (0, 0);
        for n in 0..400u32 {
            // Number 10 was not captured.
            if n != 10 {
                let taken = push(&mut streams, (7 + n * one.len() as u32, false, &one));
                found += taken.messages.len();
                lost += u32::from(taken.lost_place);
            }
        }
        assert_eq!((found, lost), (399, 1));
    }

    #[test]
    fn a_stream_without_its_beginning_is_picked_up() {
        let bytes: Vec<u8> = (0..8).flat_map(|_| framed(&esp(3, 200))).collect();
        let mut streams = TcpStreams::default();
        assert_eq!(push(&mut streams, (500, false, &bytes[100..])).messages.len(), 7);
        assert!(push(&mut streams, (9, true, &[])).messages.is_empty());
        let taken = push(
            &mut streams,
            (10, false, b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
        );
        assert!(taken.foreign && taken.messages.is_empty());
    }
    /// Three messages at most are looked at from each byte: the search takes three steps a byte, however long the segment
    /// is.
    #[test]
    fn the_search_for_a_message_grows_with_the_bytes() {
        let bytes: Vec<u8> = (0..1u32 << 16)
            .flat_map(|n| framed(&[n.to_be_bytes(), [7; 4]].concat()))
            .collect();
        assert!(chain(&bytes).messages <= MOST_CHAINED);
        let mut streams = TcpStreams::default();
        assert_linear(bytes.len(), || {
            push(&mut streams, (500, false, &bytes));
        });
    }

    /// Byte `n` of a protocol that makes the search look at three messages from every other byte: 16-bit numbers `12, 12, 14,
    /// 14, …` that could all be lengths, two after two of which never come again where these lead.
    fn another_protocol(n: u32) -> u8 {
        let pair = n / 2 % 200;
        if n.is_multiple_of(2) {
            0
        } else {
            (12 + pair / 2 * 2) as u8
        }
    }

    /// Another protocol's stream is given up: its segments are counted and cost no search, also where connection follows on
    /// connection; nothing of it is kept, and an IPsec stream on the same ports is found.
    #[test]
    fn a_stream_of_another_protocol_is_given_up() {
        const SEGMENTS: u32 = 100_000;
        const LEN: u32 = 60;
        for connections in [1, 1_000] {
            let mut streams = TcpStreams::default();
            let mut foreign = 0;
            assert_linear(SEGMENTS as usize, || {
                for n in 0..SEGMENTS {
                    if n.is_multiple_of(SEGMENTS / connections) {
                        push(&mut streams, ((n * LEN).wrapping_sub(1), true, &[]));
                    }
                    let payload: Vec<u8> = (n * LEN..(n + 1) * LEN).map(another_protocol).collect();
                    let taken = push(&mut streams, (n * LEN, false, &payload));
                    foreign += u32::from(taken.foreign);
                }
            });
            assert_eq!(foreign, SEGMENTS);
            let held = streams.streams.values().next().unwrap();
            assert_eq!(held.place, StreamPlace::Foreign);
            assert!(held.buffer.capacity() == 0 && held.waiting.is_empty());
            push(&mut streams, (0, true, &[]));
            let (bytes, messages) = stream();
            assert_eq!(push(&mut streams, (1, false, &bytes)).messages, messages);
        }
    }

    /// What waits is bounded, in bytes and in segments, also where the same number comes again and again with more.
    #[test]
    fn what_waits_is_bounded() {
        let streams = |segments: &mut dyn Iterator<Item = (u32, usize)>| {
            let mut streams = TcpStreams::default();
            push(&mut streams, (0, true, &[]));
            let mut most = 0;
            for (seq, len) in segments {
                push(&mut streams, (seq, false, &vec![0x11; len]));
                let stream = streams.streams.values().next().unwrap();
                let held: usize = stream
                    .waiting
                    .values()
                    .map(|payload| payload.len() + WAITING_ENTRY)
                    .sum();
                assert_eq!(held, stream.waiting_len);
                most = most.max(held);
            }
            most
        };
        let bound = MOST_WAITING + 1_448 + WAITING_ENTRY;
        let growing = (0..2).flat_map(|round| (0..1_000).map(move |n| (100 + n * 2_000, 1 + round * 1_447)));
        assert!(streams(&mut { growing }) <= bound);
        // Small ones in front: giving up one of them makes no room for a large one.
        let small_first = (0..2_000).map(|n| (100 + n * 2_000, if n < 900 { 1 } else { 1_448 }));
        assert!(streams(&mut { small_first }) <= bound);
        assert!(streams(&mut (0..50_000).map(|n| (100 + n * 2, 1))) <= bound);
    }

    /// Segments that wait across the end of the numbers are taken in their order.
    #[test]
    fn segments_wait_across_the_end_of_the_numbers() {
        let one = framed(&esp(1, 90));
        let start = u32::MAX - 3 * one.len() as u32;
        let at = |n: usize| start.wrapping_add(1 + (n * one.len()) as u32);
        let mut streams = TcpStreams::default();
        push(&mut streams, (start, true, &[]));
        for n in (1..7).rev() {
            assert!(push(&mut streams, (at(n), false, &one)).messages.is_empty());
        }
        let prefixed = push(&mut streams, (at(0), false, &one));
        assert_eq!(prefixed.messages.len(), 7);
    }
}
