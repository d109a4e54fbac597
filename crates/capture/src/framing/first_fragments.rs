//! First fragments of ESP that come alone, one after the other: something on the way drops the fragments behind them.
//!
//! Bound: [`MOST_WAYS`] pairs of hosts; of further ones nothing is known.

use crate::framing::datagram::UdpPorts;
use crate::layers::ip::{IpPacket, Piece};
use crate::layers::udp::{IKE_PORT, NAT_T_PORT};
use etherparse::{IpNumber, ip_number};
use foldhash::HashMap;
use rekeyscope_model::analysis::MOST_EVENTS;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{LEAST_TIMEOUT, Timestamp};
use std::net::IpAddr;

/// Most pairs of a sender and a receiver that are watched, 0.8 MB.
const MOST_WAYS: usize = 4096;

/// First fragments of ESP from one host to another, between which no later fragment came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstFragments {
    /// Source.
    pub src: IpAddr,
    /// Destination.
    pub dst: IpAddr,
    /// Ports; `None` where ESP is not in UDP.
    pub udp: Option<UdpPorts>,
    /// Time and frame of the first of them.
    pub begin: (Timestamp, u64),
    /// Times of the last two.
    pub last: (Timestamp, Timestamp),
    /// Number of them.
    pub count: u64,
    /// Groups of them so far apart that their sender had waited for its timer.
    pub tries: u64,
    /// Time and frame of the next later fragment; `None` where none came any more.
    pub until: Option<(Timestamp, u64)>,
}

/// ESP packets from one host to another of which the first fragment came, and not all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutPackets {
    /// Source.
    pub src: IpAddr,
    /// Destination.
    pub dst: IpAddr,
    /// Ports of the last of them; `None` where ESP is not in UDP.
    pub udp: Option<UdpPorts>,
    /// Number of them.
    pub count: u64,
}

/// Fragments from one host to another.
#[derive(Debug, Default)]
struct Way {
    /// First fragments of ESP, and packets that came whole.
    begun: u64,
    whole: u64,
    /// Ports of the last first fragment.
    udp: Option<UdpPorts>,
    /// A later fragment came once. A capture that holds none was chosen by ports, which later fragments lack, or they take another way.
    later: bool,
    alone: Option<FirstFragments>,
}

/// The ways on which fragments came.
#[derive(Debug, Default)]
pub(super) struct Ways {
    ways: HashMap<(IpAddr, IpAddr), Way>,
    /// Runs that are over, at most [`MOST_EVENTS`].
    over: Vec<FirstFragments>,
}

impl Ways {
    /// Takes a fragment that was not there before.
    pub(super) fn take(&mut self, packet: &IpPacket<'_>, piece: Piece, time: Timestamp, frame: u64) {
        let ends = (packet.src, packet.dst);
        if self.ways.len() >= MOST_WAYS && !self.ways.contains_key(&ends) {
            return;
        }
        // The capture has later fragments where those of the other direction came.
        let has_later = self
            .ways
            .get(&(packet.dst, packet.src))
            .is_some_and(|way| way.later);
        let way = self.ways.entry(ends).or_default();
        if piece.offset > 0 {
            way.later = true;
            let alone = way.alone.take().map(FirstFragments::without_last);
            let alone = alone.filter(FirstFragments::is_no_chance);
            let room = self.over.len() < MOST_EVENTS;
            self.over
                .extend(alone.filter(|_| room).map(|alone| FirstFragments {
                    until: Some((time, frame)),
                    ..alone
                }));
            return;
        }
        let Some(udp) = esp_in(packet.protocol, packet.payload) else {
            return;
        };
        (way.begun, way.udp) = (way.begun + 1, udp);
        if !way.later && !has_later {
            return;
        }
        let alone = way.alone.get_or_insert(FirstFragments {
            src: packet.src,
            dst: packet.dst,
            udp,
            begin: (time, frame),
            last: (time, time),
            count: 0,
            tries: 1,
            until: None,
        });
        if alone.udp == udp {
            alone.tries += u64::from(time.nanos_since(alone.last.1) > LEAST_TIMEOUT);
            alone.last = (alone.last.1, time);
            alone.count += 1;
        }
    }

    /// All fragments of a packet came.
    pub(super) fn complete(&mut self, ends: (IpAddr, IpAddr), protocol: IpNumber, bytes: &[u8]) {
        if let (Some(way), Some(_)) = (self.ways.get_mut(&ends), esp_in(protocol, bytes)) {
            way.whole += 1;
        }
    }

    /// Packets that never came whole, where others did.
    pub(super) fn cut(&self) -> Vec<CutPackets> {
        let ways = self.ways.iter().filter(|(_, way)| way.whole > 0);
        let cut = ways.map(|(&(src, dst), way)| CutPackets {
            src,
            dst,
            udp: way.udp,
            count: way.begun.saturating_sub(way.whole),
        });
        cut.filter(|cut| cut.count > 0).collect()
    }

    /// Runs that no chance makes, those that go on included.
    pub(super) fn alone(&self) -> Vec<FirstFragments> {
        let going_on = self.ways.values().filter_map(|way| way.alone);
        let going_on = going_on.filter(FirstFragments::is_no_chance);
        let mut told: Vec<FirstFragments> = self.over.iter().copied().chain(going_on).collect();
        told.sort_by_key(|run| run.begin);
        told
    }

    pub(super) fn forget(&mut self) {
        self.ways.clear();
        self.over.clear();
    }
}

impl FirstFragments {
    /// The last one was followed by its later fragment.
    fn without_last(self) -> Self {
        let (before, last) = self.last;
        let tried = last.nanos_since(before) > LEAST_TIMEOUT;
        FirstFragments {
            last: (before, before),
            count: self.count.saturating_sub(1),
            tries: self.tries.saturating_sub(u64::from(tried)),
            ..self
        }
    }

    /// Several fragments that a capture lost are lost at once, and a sender whose packets arrive goes on without a timer.
    fn is_no_chance(&self) -> bool {
        self.tries >= LEAST_NOT_BY_CHANCE
    }
}

/// The ports of the UDP datagram that begins so, and whether they are those of IKE, with the non-ESP marker on port 4500 (RFC 3948 §2.2).
pub(super) fn ports_and_ike(datagram: &[u8]) -> Option<(UdpPorts, bool)> {
    let &[s0, s1, d0, d1, _, _, _, _, m0, m1, m2, m3] = datagram.first_chunk::<12>()?;
    let udp = UdpPorts {
        src: u16::from_be_bytes([s0, s1]),
        dst: u16::from_be_bytes([d0, d1]),
    };
    let on = |port: u16| udp.src == port || udp.dst == port;
    let is_ike = on(IKE_PORT) || on(NAT_T_PORT) && [m0, m1, m2, m3] == [0; 4];
    Some((udp, is_ike))
}

/// The ports of ESP in a first fragment, `Some(None)` without UDP; `None` where it is something else.
fn esp_in(protocol: IpNumber, begins: &[u8]) -> Option<Option<UdpPorts>> {
    match protocol {
        ip_number::ENCAPSULATING_SECURITY_PAYLOAD => Some(None),
        ip_number::UDP => {
            let (udp, is_ike) = ports_and_ike(begins)?;
            (!is_ike).then_some(Some(udp))
        }
        _ => None,
    }
}
