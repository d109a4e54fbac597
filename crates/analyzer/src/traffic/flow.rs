//! Inner transport flows, and their bytes. New bytes are those that the capture shows for the first time: of TCP as the tracker of `traffic`
//! says, of every other protocol all.

use etherparse::{IpNumber, ip_number};
use foldhash::HashMap;
use foldhash::fast::RandomState;
use indexmap::IndexMap;
use rekeyscope_ipsec::esp::inner::Inner;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::{Direction, Flow};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::flow::{FiveTuple, TcpHeader};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{ConnectionId, LEAST_TIMEOUT, Segment};
use std::net::IpAddr;

/// Most flows that are followed one by one, about 12 MB, and most of their connections, 1 MB. Every payload byte of further flows counts as
/// new, and no row of the document has them.
const MOST_FLOWS: usize = 1 << 16;
/// Most flows in the document.
const MOST_LISTED: usize = 1000;

/// One direction of one flow in one tunnel.
type DirectedFlow = (usize, Direction, FiveTuple);

/// Sums over the packets of a flow.
#[derive(Debug)]
struct FlowState {
    /// Transport payload bytes.
    bytes: u64,
    /// Bytes not seen before.
    new_bytes: u64,
    /// Bytes seen before. A keep-alive's byte is in neither.
    retransmitted_bytes: u64,
    packets: u64,
    /// Times and frames of the first and the last packet.
    seen: [(Timestamp, u64); 2],
    /// The longest time between two packets.
    pause: (Timestamp, Timestamp),
    /// Every packet is a TCP reset: its sender does not know the connection.
    refuses: bool,
    /// The flow's last connection.
    connection: ConnectionId,
}

/// A flow whose packets came through another tunnel from a moment on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GoneOver {
    pub(crate) from: Side,
    pub(crate) to: Side,
    /// Time and frame of the first packet there.
    pub(crate) begin: (Timestamp, u64),
    /// Number of packets there.
    pub(crate) packets: u64,
    /// The next packet of that direction here, or the end of the capture, where those of the other direction come through the first tunnel still; `None` where they
    /// went over, too.
    pub(crate) until: Option<Timestamp>,
    /// Inner addresses, sender and receiver; `None` where no key shows them.
    pub(crate) ends: Option<(IpAddr, IpAddr)>,
}

impl FlowState {
    /// The end of the time in which a flow comes no more, from the begin of the `other` one on, which comes until then alone.
    fn rests_until(&self, other: &FlowState, ends: Timestamp) -> Option<Timestamp> {
        let ([first, last], (from, to)) = (self.seen, self.pause);
        let [begin, end] = other.seen;
        let settled = begin.0.plus_nanos(LEAST_TIMEOUT);
        match first.0 < begin.0 {
            true if last.0 <= settled => Some(ends),
            true => (from <= settled && begin.0 < to && end.0 <= to.plus_nanos(LEAST_TIMEOUT)).then_some(to),
            false => None,
        }
    }

    /// Tells whether a flow came at half of its rate here, at most, in the `other` tunnel: a sender of TCP that is not answered.
    fn falls(&self, other: &FlowState, ends: Timestamp) -> bool {
        let [first, last] = self.seen;
        let here = i128::from(last.0.nanos_since(first.0));
        let there = i128::from(ends.nanos_since(other.seen[0].0));
        2 * i128::from(other.packets) * here <= i128::from(self.packets) * there
    }
}

/// Packets between two inner addresses in one direction of a tunnel.
#[derive(Debug)]
pub(crate) struct PairSeen {
    pub(crate) packets: u64,
    /// Time of the first packet.
    pub(crate) first: Timestamp,
    /// Time and frame of the last packet.
    pub(crate) last: (Timestamp, u64),
    /// Transport payload bytes: those of TCP, and all.
    pub(crate) bytes: (u64, u64),
}

/// All pairs of inner addresses, source and destination, by the side that sends.
pub(crate) type PairsSeen = HashMap<(Side, (IpAddr, IpAddr)), PairSeen>;

/// All flows of a capture. Holds at most [`MOST_FLOWS`].
#[derive(Debug, Default)]
pub(crate) struct FlowTable {
    flows: IndexMap<DirectedFlow, FlowState, RandomState>,
    /// A flow of each connection.
    connections: HashMap<ConnectionId, usize>,
}

impl FlowTable {
    /// Counts a decrypted packet, which is `segment` to its connection. A payload that holds no transport header (encrypted PPP, an unknown
    /// protocol) counts as new; a control message has no payload. Gives the new bytes, and the connection where it is followed by itself.
    pub(crate) fn observe(
        &mut self,
        tunnel: usize,
        direction: Direction,
        inner: &Inner,
        segment: &Segment,
        seen: (Timestamp, u64),
    ) -> (u32, ConnectionId) {
        let payload = inner.transport_bytes;
        let key = inner.flow.map(|flow| (tunnel, direction, flow));
        let room = self.flows.len() < MOST_FLOWS;
        let Some(key) = key.filter(|key| room || self.flows.contains_key(key)) else {
            return (payload, ConnectionId::NONE);
        };
        let new = if inner.tcp.is_some() { segment.new } else { payload };
        let entry = self.flows.entry(key);
        let place = entry.index();
        let state = entry.or_insert(FlowState {
            bytes: 0,
            new_bytes: 0,
            retransmitted_bytes: 0,
            packets: 0,
            seen: [seen; 2],
            pause: (seen.0, seen.0),
            refuses: true,
            connection: ConnectionId::NONE,
        });
        state.bytes += u64::from(payload);
        state.new_bytes += u64::from(new);
        state.retransmitted_bytes += u64::from(segment.again);
        state.packets += 1;
        let before = state.seen[1].0;
        if seen.0.nanos_since(before) > state.pause.1.nanos_since(state.pause.0) {
            state.pause = (before, seen.0);
        }
        state.seen[1] = seen;
        state.refuses &= inner.tcp.is_some_and(|tcp| tcp.flags & TcpHeader::RST != 0);
        if state.connection != segment.connection {
            let known = self.connections.contains_key(&segment.connection);
            if !known && self.connections.len() >= MOST_FLOWS {
                return (new, ConnectionId::NONE);
            }
            state.connection = segment.connection;
            self.connections.insert(segment.connection, place);
        }
        (new, state.connection)
    }

    /// The flows of a direction of a tunnel.
    fn of(&self, tunnel: usize, direction: Direction) -> impl Iterator<Item = (&FiveTuple, &FlowState)> {
        let all = self.flows.iter();
        all.filter_map(move |(key, state)| ((key.0, key.1) == (tunnel, direction)).then_some((&key.2, state)))
    }

    /// Sums of the flows over their addresses.
    pub(crate) fn pairs(&self) -> PairsSeen {
        let mut pairs = PairsSeen::default();
        for ((tunnel, direction, flow), state) in &self.flows {
            let [(first, _), last] = state.seen;
            let of = ((*tunnel, *direction), (flow.src, flow.dst));
            let pair = pairs.entry(of).or_insert(PairSeen {
                packets: 0,
                first,
                last,
                bytes: (0, 0),
            });
            pair.packets += state.packets;
            pair.first = pair.first.min(first);
            pair.last = pair.last.max(last);
            pair.bytes.1 += state.bytes;
            if flow.protocol == ip_number::TCP.0 {
                pair.bytes.0 += state.bytes;
            }
        }
        pairs
    }

    /// The flows that went over to another tunnel, those of one direction alone and those of both, up to the end of the capture.
    pub(crate) fn gone_over(&self, ends: Timestamp) -> Vec<GoneOver> {
        let mut tunnels: HashMap<FiveTuple, Vec<Side>> = HashMap::default();
        for (tunnel, direction, flow) in self.flows.keys() {
            tunnels.entry(*flow).or_default().push((*tunnel, *direction));
        }
        let state = |(tunnel, direction): Side, flow: FiveTuple| self.flows.get(&(tunnel, direction, flow));
        let gone = |flow: FiveTuple, from: Side, to: Side| {
            let [old, new] = [state(from, flow)?, state(to, flow)?];
            let back = |(tunnel, direction): Side| state((tunnel, direction.reverse()), flow.reversed());
            let begin = new.seen[0];
            let until = old.rests_until(new, ends)?;
            let back_here = back(from)?;
            let (alone, both) = match back(to) {
                None => (back_here.seen[1].0 >= begin.0, false),
                Some(answers) if answers.refuses => (true, false),
                Some(answers) => {
                    let went_back = back_here.rests_until(answers, ends);
                    (false, until == ends && went_back == Some(ends))
                }
            };
            let in_vain = both || flow.protocol != ip_number::TCP.0 || old.falls(new, ends);
            let went =
                from.0 != to.0 && new.packets >= LEAST_NOT_BY_CHANCE && !new.refuses && (alone || both);
            (went && in_vain).then_some(GoneOver {
                from,
                to,
                begin,
                packets: new.packets,
                until: alone.then_some(until),
                ends: Some((flow.src, flow.dst)),
            })
        };
        // The first flow of two hosts and two tunnels stands for all.
        type Between = (TunnelIndex, TunnelIndex, (IpAddr, IpAddr));
        let mut first: HashMap<Between, GoneOver> = HashMap::default();
        for (flow, mut sides) in tunnels {
            sides.sort_by_key(|side| state(*side, flow).map(|own| own.seen[0]));
            for own in sides.windows(2).filter_map(|two| gone(flow, two[0], two[1])) {
                let hosts = (flow.src.min(flow.dst), flow.src.max(flow.dst));
                let kept = first.entry((own.from.0, own.to.0, hosts)).or_insert(own);
                if own.begin < kept.begin {
                    *kept = own;
                }
            }
        }
        let mut all: Vec<GoneOver> = first.into_values().collect();
        all.sort_unstable_by_key(|own| (own.begin, own.from, own.to));
        all
    }

    /// Whether datagrams of a direction of a tunnel go on in another tunnel, between the same addresses and ports.
    pub(crate) fn datagrams_go_on(&self, (tunnel, direction): Side, (new, after): Side) -> bool {
        let mut own = self.of(tunnel, direction);
        own.any(|(flow, _)| {
            flow.protocol == ip_number::UDP.0 && self.flows.contains_key(&(new, after, *flow))
        })
    }

    /// Mean payload of the TCP packets of one direction of a tunnel, bytes.
    pub(crate) fn mean_payload(&self, tunnel: usize, direction: Direction) -> f64 {
        let own = self.of(tunnel, direction);
        let tcp = own.filter(|(flow, _)| flow.protocol == ip_number::TCP.0);
        let (bytes, packets) = tcp.fold((0, 0), |(bytes, packets), (_, state)| {
            (bytes + state.bytes, packets + state.packets)
        });
        bytes as f64 / packets.max(1) as f64
    }

    /// The ends of a connection as the packets of one direction have them.
    pub(crate) fn flow_of(&self, connection: ConnectionId, direction: Direction) -> Option<FiveTuple> {
        let (key, _) = self.flows.get_index(*self.connections.get(&connection)?)?;
        let (of, flow) = (key.1, key.2);
        Some(if of == direction { flow } else { flow.reversed() })
    }

    /// Source and destination of the flow with most new bytes of a direction of a tunnel, among those with the wanted ends.
    pub(crate) fn busiest_ends(
        &self,
        tunnel: usize,
        direction: Direction,
        wanted: impl Fn((IpAddr, IpAddr)) -> bool,
    ) -> Option<(IpAddr, IpAddr)> {
        let own = self.of(tunnel, direction);
        let own = own.map(|(flow, state)| ((flow.src, flow.dst), state.new_bytes));
        let wanted = own.filter(|(ends, _)| wanted(*ends));
        wanted.max_by_key(|(_, bytes)| *bytes).map(|(ends, _)| ends)
    }

    /// The [`MOST_LISTED`] flows with most bytes, most first; equal ones in the order of their keys. With their last connections.
    pub(crate) fn flows(&self) -> Vec<(ConnectionId, Flow)> {
        let mut listed: Vec<(&DirectedFlow, &FlowState)> = self.flows.iter().collect();
        listed.sort_unstable_by_key(|(key, state)| (std::cmp::Reverse(state.bytes), **key));
        listed.truncate(MOST_LISTED);
        let described = listed
            .into_iter()
            .map(|(key, state)| (state.connection, document(key, state)));
        described.collect()
    }
}

fn document(&(tunnel, direction, key): &DirectedFlow, state: &FlowState) -> Flow {
    let port = |port: u16| (port != 0).then_some(port);
    Flow {
        tunnel,
        direction,
        protocol: match IpNumber(key.protocol) {
            ip_number::TCP => "tcp".to_owned(),
            ip_number::UDP => "udp".to_owned(),
            number => number.0.to_string(),
        },
        src: key.src,
        src_port: port(key.src_port),
        dst: key.dst,
        dst_port: port(key.dst_port),
        bytes: state.bytes,
        new_bytes: state.new_bytes,
        retransmitted_bytes: state.retransmitted_bytes,
        packets: state.packets,
        retransmitted_share: (key.protocol == ip_number::TCP.0 && state.bytes > 0)
            .then(|| state.retransmitted_bytes as f64 / state.bytes as f64),
        tcp: None,
    }
}
