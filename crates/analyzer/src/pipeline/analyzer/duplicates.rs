//! Packets that the capture holds again, of those that have no number of an SA: IKE, L2TP in clear, NAT keepalives, and
//! whatever else is only counted. Those of ESP and AH are told by SA, number and ICV ([`rekeyscope_ipsec::sa::seen`]).
//!
//! One rule for all the ways to get there (a mirror port that sees both directions of itself, VLAN and QinQ doubles,
//! `tcpdump -i any`, interfaces or files merged, a file appended to itself): the same content under the same IPv4
//! identification, stamped less than a window after or before, as the frames have it. Link layers, hop limit and, for IKE,
//! addresses may differ, but no copy goes the other way: what comes back to its sender was reflected. A file appended to itself
//! repeats its times too.
//!
//! Why a retransmission is not taken for a copy: the sender waits for its timer first ([`SHORTEST_TIMER`]), and it sends a
//! new packet, which gets an identification of its own. What the rule cannot tell:
//! - Retransmissions that a queue held back and let go together, in IPv6 or with the identification 0 that RFC 6864 §4.1
//!   allows: within [`ANONYMOUS`] they are one. Then a loss is not seen; none is made up.
//! - Copies later than the window (two hosts' captures with clocks apart), unless they have an identification and ESP packets
//!   came twice before, as much later ([`CopiesApart`]): they count again, IKE as retransmissions.
//! - Copies of which one was cut within the first [`HEAD`] bytes, or where the clock was set between the two.

use super::apart::CopiesApart;
use foldhash::quality::RandomState;
use rekeyscope_capture::framing::{AH, Datagram, DatagramKind};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

/// The shortest time after which an IKE implementation sends again: Solaris (`retry_timer_init`, 0.5 s), and the least that
/// Android can be set to. strongSwan waits 4 s (`retransmit_timeout`), L2TP 1 s (RFC 2661 §5.8).
const SHORTEST_TIMER: i64 = 500 * NANOS_PER_MILLI;
/// The identification is the same: no new packet, wherever a queue delayed the copy. Half of the timer, since a host may keep
/// the identification of an earlier packet when it sends that again (RFC 1122 §3.2.1.5): the other half is for retransmissions
/// that a queue brought closer together.
const IDENTIFIED: i64 = SHORTEST_TIMER / 2;
/// There is none. Mirror ports, bridges and the interfaces of one host show a packet again within microseconds, or a few
/// milliseconds where it waits for a processor.
const ANONYMOUS: i64 = 5 * NANOS_PER_MILLI;
/// There is none, and equal packets follow each other on purpose: an acknowledgement that asks for lost data is repeated
/// byte for byte (RFC 5681 §3.2). Only the time itself tells copies.
const SAME_TIME: i64 = 1;

/// First bytes, which cut copies have to have. An IKE header and the number of an IKE fragment (RFC 7383 §2.5) are 36; a VLAN
/// tag moves the cut by four, and the shortest usual snap length, 96, leaves 46 in QinQ and IPv4.
const HEAD: usize = 40;
/// Bytes that are looked at of packets that are only counted.
const MOST_HASHED: usize = 128;
/// Sightings that are remembered of each class, some 10 MB: more than there may be exchanges. Beyond, the oldest is forgotten:
/// what repeats it far behind counts again.
const MOST_SIGHTINGS: usize = 1 << 16;
/// Packets with the same first bytes and different others, within one window: the sequels of an attack.
const MOST_ALIKE: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Ike,
    /// Data that should be inside the tunnel.
    Clear,
    Counted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Imprint {
    class: Class,
    name: &'static str,
    /// Digest of the identification, the length on the wire and the first bytes.
    head: u64,
    /// Digest of what follows; `None` where the snap length cut it.
    rest: Option<u64>,
    ends: Ends,
    /// Sightings closer than this are one packet, nanoseconds.
    window: i64,
}

/// The ends of a packet, by digests of the addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Ends {
    src: u32,
    dst: u32,
}

impl Ends {
    fn of(datagram: &Datagram<'_>) -> Ends {
        let of = |address| digest(address) as u32;
        Ends {
            src: of(datagram.src),
            dst: of(datagram.dst),
        }
    }

    /// The other way. A NAT between the two sightings changes one end and leaves the other; a host that talks to itself has
    /// one address for both.
    fn reflect(self, other: Ends) -> bool {
        self.src != self.dst && (self.src == other.dst || self.dst == other.src)
    }
}

fn digest(parts: impl Hash) -> u64 {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::default);
    SEED.hash_one(parts)
}

impl Imprint {
    /// `None` where numbers of an SA tell.
    fn of(datagram: &Datagram<'_>) -> Option<Imprint> {
        let (class, name) = match datagram.kind {
            DatagramKind::Esp { .. } | DatagramKind::Other(AH) => return None,
            DatagramKind::Ike { .. } => (Class::Ike, "IKE"),
            DatagramKind::Other(name @ "L2TP in clear") => (Class::Clear, name),
            DatagramKind::NatKeepalive => (Class::Counted, "NAT keepalive"),
            DatagramKind::TcpSegment(_) => (Class::Counted, "TCP"),
            DatagramKind::Other(name) => (Class::Counted, name),
        };
        let identification = datagram.identification.filter(|id| *id != 0);
        let window = match (identification, name) {
            (Some(_), _) => IDENTIFIED,
            (None, "TCP") => SAME_TIME,
            (None, _) => ANONYMOUS,
        };
        let ends = Ends::of(datagram);
        // A NAT that is captured on both sides changes the addresses, and not the message with its SPIs.
        let (bytes, told_by_ends) = match datagram.kind {
            DatagramKind::Ike { message, .. } => (message, None),
            _ => (datagram.payload, Some(ends)),
        };
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD));
        let rest = match class {
            Class::Counted => rest.get(..MOST_HASHED - HEAD).unwrap_or(rest),
            _ => rest,
        };
        Some(Imprint {
            class,
            name,
            head: digest((name, told_by_ends, identification, datagram.wire_len, head)),
            rest: (!datagram.cut).then(|| digest(rest)),
            ends,
            window,
        })
    }

    /// Number of the stretch of time, a window long, that `time` lies in: what lies in one is closer than the window.
    fn stretch(&self, time: Timestamp) -> i64 {
        time.0.div_euclid(self.window)
    }
}

/// A packet that was seen, with the time of its frame.
#[derive(Debug, Clone, Copy)]
struct Sighting {
    rest: Option<u64>,
    time: Timestamp,
    ends: Ends,
}

impl Sighting {
    fn agrees(&self, imprint: &Imprint) -> bool {
        let same = match (self.rest, imprint.rest) {
            (Some(a), Some(b)) => a == b,
            // A packet that was cut may be any.
            _ => true,
        };
        same && !self.ends.reflect(imprint.ends)
    }
}

/// First bytes, and the stretch of time in which they were seen.
type SightingKey = (u64, i64);

/// The sightings of one class.
#[derive(Debug)]
struct Sightings {
    alike: HashMap<SightingKey, VecDeque<Sighting>, RandomState>,
    /// The keys of all sightings, the oldest first.
    order: VecDeque<SightingKey>,
    most: usize,
    /// Sightings that the bound took away.
    forgotten: u64,
}

impl Sightings {
    /// Remembers `most`.
    fn new(most: usize) -> Sightings {
        Sightings {
            alike: HashMap::default(),
            order: VecDeque::new(),
            most,
            forgotten: 0,
        }
    }

    /// Notes a packet. True when it was there before.
    #[cfg(test)]
    fn observe(&mut self, imprint: &Imprint, time: Timestamp) -> bool {
        self.observe_apart(imprint, time, 0)
    }

    /// Notes a packet. True when it was there before, less than its window and `apart` nanoseconds away.
    fn observe_apart(&mut self, imprint: &Imprint, time: Timestamp, apart: i64) -> bool {
        if self.seen_within(imprint, time, imprint.window.saturating_add(apart)) {
            return true;
        }
        let key = (imprint.head, imprint.stretch(time));
        let alike = self.alike.entry(key).or_default();
        if alike.len() >= MOST_ALIKE {
            return false;
        }
        alike.push_back(Sighting {
            rest: imprint.rest,
            time,
            ends: imprint.ends,
        });
        self.order.push_back(key);
        if self.order.len() > self.most {
            self.forget_oldest();
        }
        false
    }

    fn forget_oldest(&mut self) {
        let Some(Entry::Occupied(mut alike)) = self.order.pop_front().map(|key| self.alike.entry(key)) else {
            return;
        };
        alike.get_mut().pop_front();
        if alike.get().is_empty() {
            alike.remove();
        }
        self.forgotten += 1;
    }

    /// Tells whether it was seen less than `window` nanoseconds away.
    fn seen_within(&self, imprint: &Imprint, time: Timestamp, window: i64) -> bool {
        let farthest = window - 1;
        let from = imprint.stretch(Timestamp(time.0.saturating_sub(farthest)));
        let to = imprint.stretch(Timestamp(time.0.saturating_add(farthest)));
        let mut near = (from..=to).filter_map(|stretch| self.alike.get(&(imprint.head, stretch)));
        near.any(|alike| {
            let mut alike = alike.iter();
            alike.any(|s| s.agrees(imprint) && time.nanos_since(s.time).saturating_abs() < window)
        })
    }
}

/// Packets that were seen, by [`Class`].
#[derive(Debug)]
pub(super) struct Duplicates {
    classes: [Sightings; 3],
    apart: CopiesApart,
}

impl Default for Duplicates {
    fn default() -> Duplicates {
        Duplicates {
            classes: std::array::from_fn(|_| Sightings::new(MOST_SIGHTINGS)),
            apart: CopiesApart::default(),
        }
    }
}

impl Duplicates {
    /// Notes a packet, stamped as its frame has it: its name where it was there before.
    pub(super) fn observe(&mut self, datagram: &Datagram<'_>, stamped: Timestamp) -> Option<&'static str> {
        let imprint = Imprint::of(datagram)?;
        let sightings = &mut self.classes[imprint.class as usize];
        // A packet without an identification may be another one with the same content.
        let apart = if imprint.window == IDENTIFIED {
            self.apart.nanos()
        } else {
            0
        };
        sightings
            .observe_apart(&imprint, stamped, apart)
            .then_some(imprint.name)
    }

    /// Notes an ESP packet, from its SPI on: copies of IKE come as much later as those of ESP.
    pub(super) fn note_esp(&mut self, packet: &[u8], stamped: Timestamp) {
        self.apart.note(packet, stamped);
    }

    /// The time by which copies of ESP packets come later, where that is more than a queue or a mirror makes it.
    pub(super) fn apart(&self) -> Option<i64> {
        Some(self.apart.nanos()).filter(|apart| *apart >= IDENTIFIED)
    }

    /// Tells whether a frame with this very time held the packet before.
    pub(super) fn hold(&self, datagram: &Datagram<'_>, stamped: Timestamp) -> bool {
        Imprint::of(datagram).is_some_and(|imprint| {
            self.classes[imprint.class as usize].seen_within(&imprint, stamped, SAME_TIME)
        })
    }

    /// Tells whether the bound made it forget what figures rest on. Of packets that are only counted no figure does.
    pub(super) fn forgot(&self) -> bool {
        [Class::Ike, Class::Clear]
            .iter()
            .any(|class| self.classes[*class as usize].forgotten > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_SECOND;

    fn imprint(head: u64, rest: Option<u64>, window: i64) -> Imprint {
        Imprint {
            class: Class::Ike,
            name: "IKE",
            head,
            rest,
            ends: Ends { src: 1, dst: 2 },
            window,
        }
    }

    #[test]
    fn what_comes_back_is_no_copy() {
        let between = |src, dst| Imprint {
            ends: Ends { src, dst },
            ..imprint(7, Some(1), IDENTIFIED)
        };
        let repeats = |first: Imprint, second: Imprint| {
            let mut seen = Sightings::new(MOST_SIGHTINGS);
            assert!(!seen.observe(&first, Timestamp(0)));
            seen.observe(&second, Timestamp(1))
        };
        assert!(repeats(between(1, 2), between(1, 2)));
        assert!(!repeats(between(1, 2), between(2, 1)));
        // Before and behind a NAT, either way.
        assert!(repeats(between(1, 2), between(3, 2)) && repeats(between(2, 1), between(2, 3)));
        assert!(!repeats(between(1, 2), between(2, 3)) && !repeats(between(1, 2), between(3, 1)));
        assert!(repeats(between(1, 1), between(1, 1)), "a host and itself");
        // Both ways, each twice: two copies.
        let mut seen = Sightings::new(MOST_SIGHTINGS);
        let all = [(1, 2), (2, 1), (1, 2), (2, 1)].map(|(a, b)| between(a, b));
        let told = all.map(|imprint| seen.observe(&imprint, Timestamp(0)));
        assert_eq!(told, [false, false, true, true]);
    }

    #[test]
    fn every_sighting_within_the_window_is_one_packet() {
        for window in [IDENTIFIED, ANONYMOUS, SAME_TIME] {
            for start in [0, 1, window - 1, -window, -1, 77 * NANOS_PER_SECOND + 3] {
                let mut seen = Sightings::new(MOST_SIGHTINGS);
                let mut see = |moved| {
                    let time = Timestamp(start + moved);
                    seen.observe(&imprint(7, Some(1), window), time)
                };
                assert!(
                    !see(0) && see(0) && see(window - 1) && see(1 - window),
                    "{window}"
                );
                assert!(!see(window) && !see(-window), "{window}: outside");
                assert!(
                    see(0) && see(window) && see(-window),
                    "{window}: again, all of it"
                );
            }
        }
    }

    #[test]
    fn a_cut_copy_is_one_and_another_end_is_not() {
        let mut seen = Sightings::new(MOST_SIGHTINGS);
        let mut see = |head, rest| seen.observe(&imprint(head, rest, ANONYMOUS), Timestamp(5));
        assert!(!see(1, Some(1)) && !see(1, Some(2)) && see(1, Some(2)));
        assert!(see(1, None), "cut");
        assert!(!see(2, None) && see(2, Some(3)), "the first one was cut");
        for rest in 4..100 {
            see(1, Some(rest));
        }
        assert!(seen.order.len() <= MOST_ALIKE + 1, "alike packets are bounded");
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let mut seen = Sightings::new(4);
        let mut see = |n: i64| {
            let time = Timestamp(n * NANOS_PER_SECOND);
            seen.observe(&imprint(1, Some(1), IDENTIFIED), time)
        };
        assert!((0..10).all(|n| !see(n)));
        assert!(see(9) && see(6) && !see(0), "forgotten");
        assert_eq!((seen.order.len(), seen.forgotten), (4, 7));
    }

    #[test]
    fn times_at_the_ends_of_the_range_are_times() {
        let mut seen = Sightings::new(MOST_SIGHTINGS);
        for time in [i64::MIN, i64::MAX] {
            for window in [IDENTIFIED, SAME_TIME] {
                let imprint = imprint(window.unsigned_abs(), None, window);
                assert!(!seen.observe(&imprint, Timestamp(time)));
                assert!(seen.observe(&imprint, Timestamp(time)));
            }
        }
    }

    #[test]
    fn the_table_tells_what_a_list_tells() {
        let mut number = 1u64;
        let mut any = |below: u64| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (number >> 33) % below
        };
        for most in [1, 2, 7, 40] {
            let mut seen = Sightings::new(most);
            let mut list: Vec<(Imprint, i64)> = Vec::new();
            let mut copies = 0;
            for _ in 0..4000 {
                let window = [10, SAME_TIME][any(2) as usize];
                let rest = [None, Some(any(3))][any(2) as usize];
                let imprint = imprint(2 * any(6) + u64::from(window == 10), rest, window);
                let time = any(60).cast_signed() - 30;
                let remembered = &list[list.len().saturating_sub(most)..];
                let alike = |s: &&(Imprint, i64)| s.0.head == imprint.head;
                let there = remembered.iter().filter(alike).any(|(other, at)| {
                    let same = other.rest.zip(rest).is_none_or(|(a, b)| a == b);
                    same && (at - time).abs() < window
                });
                assert_eq!(seen.observe(&imprint, Timestamp(time)), there);
                copies += usize::from(there);
                let beside = remembered.iter().filter(alike);
                let beside = beside.filter(|(_, at)| at.div_euclid(window) == time.div_euclid(window));
                if !there && beside.count() < MOST_ALIKE {
                    list.push((imprint, time));
                }
            }
            assert!(copies > 20, "{most}: {copies}");
            assert_eq!(seen.forgotten as usize, list.len() - seen.order.len());
        }
    }
}
