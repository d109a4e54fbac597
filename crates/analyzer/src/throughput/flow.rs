//! Inner transport flows, and their bytes. New bytes are those that the capture shows for the first time: of TCP as the tracker of `traffic`
//! says, of every other protocol all.

use foldhash::HashMap;
use foldhash::fast::RandomState;
use indexmap::IndexMap;
use rekeyscope_ipsec::esp::inner::Inner;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_model::analysis::{Direction, Flow};
use rekeyscope_model::flow::FiveTuple;
use rekeyscope_traffic::{ConnectionId, Segment};
use std::net::IpAddr;

/// Most flows that are followed one by one, about 12 MB, and most of their connections, 1 MB. Further flows are counted together, one bucket per direction
/// ([`FlowTable::others`]); every payload byte counts as new there.
pub const MOST_FLOWS: usize = 1 << 16;
const PROTOCOL_TCP: u8 = 6;
/// Most flows in the document.
pub const MOST_LISTED: usize = 1000;

/// Sums over packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowTotals {
    /// Transport payload bytes.
    pub bytes: u64,
    /// Bytes not seen before.
    pub new_bytes: u64,
    /// Bytes seen before. A keep-alive's byte is in neither.
    pub retransmitted_bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl FlowTotals {
    fn add(&mut self, payload: u32, (new, again): (u32, u32)) {
        self.bytes = self.bytes.saturating_add(u64::from(payload));
        self.new_bytes = self.new_bytes.saturating_add(u64::from(new));
        self.retransmitted_bytes = self.retransmitted_bytes.saturating_add(u64::from(again));
        self.packets = self.packets.saturating_add(1);
    }
}

/// One direction of one flow in one tunnel.
type DirectedFlow = (usize, Direction, FiveTuple);

#[derive(Debug)]
struct FlowState {
    totals: FlowTotals,
    /// The flow's last connection.
    connection: ConnectionId,
}

/// All flows of a capture. Holds at most [`MOST_FLOWS`].
#[derive(Debug)]
pub struct FlowTable {
    flows: IndexMap<DirectedFlow, FlowState, RandomState>,
    /// The place of each direction's last packet: many packets of one flow come in a row.
    last: [usize; 2],
    /// Towards B, towards A.
    others: [FlowTotals; 2],
    most_flows: usize,
    /// A flow of each connection.
    connections: HashMap<ConnectionId, usize>,
}

impl Default for FlowTable {
    fn default() -> Self {
        FlowTable::new()
    }
}

impl FlowTable {
    /// An empty table.
    pub fn new() -> Self {
        FlowTable::with_bound(MOST_FLOWS)
    }

    fn with_bound(most_flows: usize) -> Self {
        FlowTable {
            flows: IndexMap::default(),
            last: [0; 2],
            others: [FlowTotals::default(); 2],
            most_flows,
            connections: HashMap::default(),
        }
    }

    /// Counts a decrypted packet, which is `segment` to its connection. A payload that holds no transport header (encrypted PPP, an unknown
    /// protocol) counts as new; a control message has no payload. Gives the new bytes, and the connection where it is followed by itself.
    pub fn observe(
        &mut self,
        tunnel: usize,
        direction: Direction,
        inner: &Inner,
        segment: &Segment,
    ) -> (u32, ConnectionId) {
        let payload = inner.transport_bytes;
        let Some(flow) = &inner.flow else {
            return (payload, ConnectionId::NONE);
        };
        let Some(place) = self.place(tunnel, direction, flow) else {
            self.others[slot(direction)].add(payload, (payload, 0));
            return (payload, ConnectionId::NONE);
        };
        let new = if inner.tcp.is_some() { segment.new } else { payload };
        let state = &mut self.flows[place];
        state.totals.add(payload, (new, segment.again));
        if state.connection != segment.connection {
            let known = self.connections.contains_key(&segment.connection);
            if !known && self.connections.len() >= self.most_flows {
                return (new, ConnectionId::NONE);
            }
            state.connection = segment.connection;
            self.connections.insert(segment.connection, place);
        }
        (new, state.connection)
    }

    /// The place of a flow; `None` for a new one at the bound.
    #[inline]
    fn place(&mut self, tunnel: usize, direction: Direction, flow: &FiveTuple) -> Option<usize> {
        let last = self.last[slot(direction)];
        let is_same = |of: &DirectedFlow| of.0 == tunnel && of.1 == direction && of.2 == *flow;
        if self.flows.get_index(last).is_some_and(|(of, _)| is_same(of)) {
            return Some(last);
        }
        self.look_up((tunnel, direction, *flow))
    }

    /// The same for another flow than that of the last packet.
    #[inline(never)]
    fn look_up(&mut self, key: DirectedFlow) -> Option<usize> {
        let place = match self.flows.get_index_of(&key) {
            Some(known) => known,
            None => self.begin(key)?,
        };
        self.last[slot(key.1)] = place;
        Some(place)
    }

    /// Begins to follow a flow. At the bound it does not.
    fn begin(&mut self, key: DirectedFlow) -> Option<usize> {
        if self.flows.len() >= self.most_flows {
            return None;
        }
        let state = FlowState {
            totals: FlowTotals::default(),
            connection: ConnectionId::NONE,
        };
        Some(self.flows.insert_full(key, state).0)
    }

    /// Mean payload of the TCP packets of one direction of a tunnel, bytes.
    pub fn mean_payload(&self, tunnel: usize, direction: Direction) -> f64 {
        let own = self
            .flows
            .iter()
            .filter(|(key, _)| (key.0, key.1) == (tunnel, direction));
        let tcp = own.filter(|(key, _)| key.2.protocol == PROTOCOL_TCP);
        let (bytes, packets) = tcp.fold((0, 0), |(bytes, packets), (_, state)| {
            (bytes + state.totals.bytes, packets + state.totals.packets)
        });
        bytes as f64 / packets.max(1) as f64
    }

    /// Flows that are followed one by one.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// No flow was seen.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
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
        let own = self
            .flows
            .iter()
            .filter(|(key, _)| (key.0, key.1) == (tunnel, direction));
        let own = own.filter(|(key, _)| wanted((key.2.src, key.2.dst)));
        let most = own.max_by_key(|(_, state)| state.totals.new_bytes);
        most.map(|(key, _)| (key.2.src, key.2.dst))
    }

    /// Totals of the flows beyond [`MOST_FLOWS`] in `direction`, over all tunnels.
    pub fn others(&self, direction: Direction) -> FlowTotals {
        self.others[slot(direction)]
    }

    /// The [`MOST_LISTED`] flows with most bytes, most first; equal ones in the order of their keys. With their last connections.
    pub fn flows(&self) -> Vec<(ConnectionId, Flow)> {
        let mut listed: Vec<(&DirectedFlow, &FlowState)> = self.flows.iter().collect();
        listed.sort_unstable_by(|(a_key, a), (b_key, b)| {
            let bytes = b.totals.bytes.cmp(&a.totals.bytes);
            bytes.then(a_key.cmp(b_key))
        });
        listed.truncate(MOST_LISTED);
        listed
            .into_iter()
            .map(|(key, state)| (state.connection, document(key, &state.totals)))
            .collect()
    }
}

fn document((tunnel, direction, key): &DirectedFlow, totals: &FlowTotals) -> Flow {
    let port = |port: u16| (port != 0).then_some(port);
    Flow {
        tunnel: *tunnel,
        direction: *direction,
        protocol: match key.protocol {
            6 => "tcp".to_owned(),
            17 => "udp".to_owned(),
            number => number.to_string(),
        },
        src: key.src,
        src_port: port(key.src_port),
        dst: key.dst,
        dst_port: port(key.dst_port),
        bytes: totals.bytes,
        new_bytes: totals.new_bytes,
        retransmitted_bytes: totals.retransmitted_bytes,
        packets: totals.packets,
        retransmitted_share: (key.protocol == 6 && totals.bytes > 0)
            .then(|| totals.retransmitted_bytes as f64 / totals.bytes as f64),
        tcp: None,
    }
}
