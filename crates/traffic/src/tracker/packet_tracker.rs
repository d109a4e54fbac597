//! All connections.

use super::associations::{Associations, EspArrival};
use super::connection::{Connection, Preview, SenderState, Unanswered, payload_len, unnumbered};
use crate::packet::{FiveTuple, InnerPayload, Packet, TcpHeader};
use crate::segment::{ConnectionId, PairId, Segment, SegmentKind, Settlement};
use crate::table::BoundedTable;
use crate::tcp::{Handshake, SharedCounters};
use rekeyscope_model::analysis::Direction;
use std::net::IpAddr;

/// Most connections that are followed, 12 MB; beyond, one that was not used lately is abandoned.
const MOST_CONNECTIONS: usize = 1 << 14;
/// Most pairs of inner addresses that keep their name; one that is forgotten gets another when it comes again.
const MOST_PAIRS: usize = 1 << 14;
/// Transmissions of all connections that are kept, 28 MB, before each side keeps [`FEW_WAITING`] only.
const MOST_KEPT: usize = 1 << 18;
/// Transmissions that one side keeps then: the segments of an initial window (RFC 6928), and those that came after it.
const FEW_WAITING: usize = 16;

type ConnectionKey = (u32, FiveTuple);

/// The name of a flow in both directions: as the packets from A to B have it.
fn oriented(tuple: &FiveTuple, direction: Direction) -> FiveTuple {
    match direction {
        Direction::AToB => *tuple,
        Direction::BToA => tuple.reversed(),
    }
}

/// Tells of each packet what it was, and what became of those before it.
#[derive(Debug, Default)]
pub struct Tracker {
    connections: BoundedTable<ConnectionKey, Connection, MOST_CONNECTIONS>,
    /// The place of the last packet.
    current: Option<usize>,
    pairs: BoundedTable<(u32, IpAddr, IpAddr), PairId, MOST_PAIRS>,
    associations: Associations,
    shared: SharedCounters,
    settled: Vec<Settlement>,
    /// Transmissions of all connections.
    kept: usize,
    begun: u32,
    begun_pairs: u32,
}

impl Tracker {
    /// Forgets all connections: the packets that follow were captured before those that came. Names of addresses stay.
    pub fn forget_connections(&mut self) {
        *self = Tracker {
            pairs: std::mem::take(&mut self.pairs),
            begun: self.begun,
            begun_pairs: self.begun_pairs,
            ..Tracker::default()
        };
    }

    /// Takes the next packet of the capture.
    pub fn push(&mut self, packet: &Packet) -> Segment {
        self.settled.clear();
        let numbered = self.associations.take(packet);
        let Some(tuple) = &packet.tuple else {
            self.current = None;
            return unnumbered(packet, payload_len(&packet.payload), numbered);
        };
        let key = (packet.tunnel, oriented(tuple, packet.direction));
        let known = self.connections.find(&key);
        let place = known.unwrap_or_else(|| self.begin(key, packet));
        self.current = Some(place);
        let left_out = match packet.ip_id {
            0 => u16::MAX,
            id => self.shared.take((tuple.src, tuple.dst), id),
        };
        match &packet.payload {
            InnerPayload::Tcp(header) => {
                let segment = self.take(place, packet, header, numbered);
                let id_jump = segment.id_jump.min(left_out);
                Segment { id_jump, ..segment }
            }
            other => {
                let mut segment = unnumbered(packet, payload_len(other), numbered);
                if segment.kind != SegmentKind::Duplicate {
                    segment.new = segment.len;
                }
                if let Some(connection) = self.connections.at(place) {
                    (segment.connection, segment.pair) = (connection.id, connection.pair);
                }
                segment
            }
        }
    }

    #[inline]
    fn take(&mut self, place: usize, packet: &Packet, header: &TcpHeader, numbered: EspArrival) -> Segment {
        let most = if self.kept < MOST_KEPT {
            usize::MAX
        } else {
            FEW_WAITING
        };
        let Some(connection) = self.connections.at_mut(place) else {
            return unnumbered(packet, header.len, numbered);
        };
        let before = connection.kept();
        if connection.is_over(packet, header) {
            connection.abandon(packet, &mut self.settled);
            *connection = Connection::new(ConnectionId(self.begun), connection.pair, packet.time);
            self.begun = self.begun.saturating_add(1);
        }
        let segment = connection.take(packet, header, numbered, most, &mut self.settled);
        self.kept = self.kept + connection.kept() - before;
        segment
    }

    #[cold]
    fn begin(&mut self, key: ConnectionKey, packet: &Packet) -> usize {
        let pair = self.pair_of((key.0, key.1.src, key.1.dst));
        let connection = Connection::new(ConnectionId(self.begun), pair, packet.time);
        self.begun = self.begun.saturating_add(1);
        let (place, gone) = self.connections.insert(key, connection);
        if let Some(mut gone) = gone {
            self.kept -= gone.kept();
            gone.abandon(packet, &mut self.settled);
        }
        place
    }

    fn pair_of(&mut self, key: (u32, IpAddr, IpAddr)) -> PairId {
        if let Some(pair) = self.pairs.get_mut(&key) {
            return *pair;
        }
        let pair = PairId(self.begun_pairs);
        self.begun_pairs = self.begun_pairs.saturating_add(1);
        self.pairs.insert(key, pair);
        pair
    }

    /// The tunnel of a pair, and its addresses: of the end from which [`Direction::AToB`] runs, and of the other one.
    pub fn addresses(&self, pair: PairId) -> Option<(u32, IpAddr, IpAddr)> {
        let mut pairs = self.pairs.entries();
        pairs.find(|(_, own)| **own == pair).map(|(key, _)| *key)
    }

    /// All pairs, with the same.
    pub(crate) fn all_addresses(&self) -> impl Iterator<Item = (PairId, (u32, IpAddr, IpAddr))> {
        self.pairs.entries().map(|(key, pair)| (*pair, *key))
    }

    /// The pair of two inner addresses of a tunnel.
    pub fn pair_between(&self, tunnel: u32, (one, other): (IpAddr, IpAddr)) -> Option<PairId> {
        let mut pairs = self.pairs.entries();
        let is_own =
            |key: &(u32, IpAddr, IpAddr)| *key == (tunnel, one, other) || *key == (tunnel, other, one);
        pairs.find(|(key, _)| is_own(key)).map(|(_, pair)| *pair)
    }

    /// Fates of earlier transmissions that the last packet showed.
    pub fn settled(&self) -> &[Settlement] {
        &self.settled
    }

    /// Tells whether data of a direction waits for its acknowledgement, or for room at its receiver, in the connection of the last packet. A SYN
    /// and a FIN are no data.
    #[inline]
    pub fn waits(&self, of: Direction) -> bool {
        let connection = self.current.and_then(|place| self.connections.at(place));
        connection.is_some_and(|connection| connection.waits(of))
    }

    /// The sender of a direction in the connection of the last packet.
    pub fn sender(&self, of: Direction) -> Option<SenderState> {
        let connection = self.connections.at(self.current?)?;
        Some(connection.sender(of))
    }

    /// The handshake of the connection of the last packet.
    #[inline]
    pub fn handshake(&self) -> Option<&Handshake> {
        Some(&self.connections.at(self.current?)?.handshake)
    }

    /// Compares a segment that was not taken with what its sender sent before; `None` where the connection is not known.
    pub fn preview(
        &self,
        (tunnel, direction): (u32, Direction),
        tuple: &FiveTuple,
        header: &TcpHeader,
    ) -> Option<Preview> {
        let connection = self.connections.get(&(tunnel, oriented(tuple, direction)))?;
        Some(connection.preview(direction, header))
    }

    /// The request of the connection of the last packet that waits for an answer in a direction.
    pub(crate) fn unanswered(&self, of: Direction) -> Option<Unanswered> {
        self.connections.at(self.current?)?.unanswered(of)
    }

    /// Requests of connections that are open, which wait for answers.
    pub(crate) fn all_unanswered(&self) -> impl Iterator<Item = Unanswered> {
        let open = self.connections.values().filter(|own| own.is_open());
        open.flat_map(|own| Direction::BOTH.map(|of| own.unanswered(of)).into_iter().flatten())
    }

    /// Transmissions that nobody has acknowledged yet.
    pub fn waiting(&self) -> impl Iterator<Item = Settlement> {
        self.connections.values().flat_map(Connection::waiting)
    }
}
