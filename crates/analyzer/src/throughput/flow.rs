//! Inner transport flows: which bytes are new, which are sent again.
//!
//! New bytes are those that the capture shows for the first time. For TCP that is decided by sequence number: what
//! lies beyond the highest byte seen so far, or in a hole that earlier segments left (a late first transmission). For
//! every other protocol each payload byte is new.

mod new_bytes;
mod tcp;

pub use new_bytes::NewBytes;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use rekeyscope_ipsec::esp::inner::{FlowKey, Inner};
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_model::analysis::{Direction, Flow};
use tcp::{MOST_HOLES, TcpSequence};

/// Most flows that are followed one by one, about 12 MB. Further ones are counted together, one bucket per direction
/// ([`FlowTable::others`]); every payload byte counts as new there.
pub const MOST_FLOWS: usize = 1 << 16;
/// Most holes in TCP streams remembered together, 4 MiB; beyond, each flow that is heard from keeps its highest few.
const MOST_HOLES_TOGETHER: usize = 1 << 18;
/// Those few.
const FEW_HOLES: usize = 4;
/// Most flows in the document.
pub const MOST_LISTED: usize = 1000;

/// Names both directions of one transport connection within this analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u32);

impl ConnectionId {
    /// Packets without a transport header, and flows beyond [`MOST_FLOWS`].
    pub const NONE: ConnectionId = ConnectionId(u32::MAX);
}

impl Default for ConnectionId {
    fn default() -> Self {
        ConnectionId::NONE
    }
}

/// Sums over packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowTotals {
    /// Transport payload bytes.
    pub bytes: u64,
    /// Those not seen before.
    pub new_bytes: u64,
    /// Those seen before. A keep-alive's byte is in neither.
    pub retransmitted_bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl FlowTotals {
    fn add(&mut self, payload: u32, split: NewBytes) {
        self.bytes = self.bytes.saturating_add(u64::from(payload));
        self.new_bytes = self.new_bytes.saturating_add(u64::from(split.new));
        self.retransmitted_bytes = self
            .retransmitted_bytes
            .saturating_add(u64::from(split.retransmitted));
        self.packets = self.packets.saturating_add(1);
    }
}

/// One direction of one flow in one tunnel.
type DirectedFlow = (usize, Direction, FlowKey);

#[derive(Debug, Default)]
struct FlowState {
    totals: FlowTotals,
    /// The part of the capture that `tcp` is about.
    part: u32,
    tcp: Option<TcpSequence>,
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
    /// Of all flows, those of earlier parts included while they are in memory.
    holes: usize,
    /// Counts [`FlowTable::forget_sequences`].
    part: u32,
    /// Packets since the sequences of earlier parts were taken out of memory.
    since_sweep: usize,
    most_flows: usize,
    connections: u32,
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
            holes: 0,
            part: 0,
            since_sweep: 0,
            most_flows,
            connections: 0,
        }
    }

    /// Counts a decrypted packet. A payload that holds no transport header (encrypted PPP, an unknown protocol) counts
    /// as new; a control message has no payload. Says too which connection the packet belongs to.
    pub fn observe_connection(
        &mut self,
        tunnel: usize,
        direction: Direction,
        inner: &Inner,
    ) -> (NewBytes, ConnectionId) {
        let payload = inner.transport_bytes;
        let all_new = NewBytes {
            new: payload,
            retransmitted: 0,
        };
        let Some(flow) = &inner.flow else {
            return (all_new, ConnectionId::NONE);
        };
        let Some(place) = self.place(tunnel, direction, flow) else {
            self.others[slot(direction)].add(payload, all_new);
            return (all_new, ConnectionId::NONE);
        };
        let state = &mut self.flows[place];
        self.since_sweep = self.since_sweep.saturating_add(1);
        if state.part != self.part {
            self.holes -= state.tcp.take().map_or(0, |tcp| tcp.holes());
            state.part = self.part;
        }
        let split = match &inner.tcp {
            Some(segment) => {
                let before = state.tcp.as_ref().map_or(0, TcpSequence::holes);
                let most_holes = if self.holes < MOST_HOLES_TOGETHER {
                    MOST_HOLES
                } else {
                    FEW_HOLES
                };
                let sequence = state
                    .tcp
                    .get_or_insert_with(|| TcpSequence::starting_with(segment));
                let split = sequence.observe(segment, payload, most_holes);
                self.holes = self.holes - before + sequence.holes();
                split
            }
            None => all_new,
        };
        state.totals.add(payload, split);
        (split, state.connection)
    }

    /// Where a flow is; `None` for a new one at the bound.
    #[inline]
    fn place(&mut self, tunnel: usize, direction: Direction, flow: &FlowKey) -> Option<usize> {
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

    /// Begins to follow a flow, under the name of its other direction where that one is known. At the
    /// bound it does not.
    fn begin(&mut self, key: DirectedFlow) -> Option<usize> {
        if self.flows.len() >= self.most_flows {
            return None;
        }
        let connection = match self.flows.get(&other_way(key)) {
            Some(known) => known.connection,
            None => {
                self.connections = self.connections.saturating_add(1);
                ConnectionId(self.connections - 1)
            }
        };
        let state = FlowState {
            connection,
            part: self.part,
            ..FlowState::default()
        };
        Some(self.flows.insert_full(key, state).0)
    }

    /// Forgets which bytes were seen: what follows was captured before them. The flows are walked only when as many packets
    /// came since the last walk, so that time that jumps with every frame costs no more than the packets themselves.
    pub fn forget_sequences(&mut self) {
        self.part = self.part.wrapping_add(1);
        if self.since_sweep < self.flows.len() {
            return;
        }
        for state in self.flows.values_mut() {
            state.tcp = None;
        }
        self.holes = 0;
        self.since_sweep = 0;
    }

    /// TCP payload bytes of one direction that no packet of the capture carries and that the receiver acknowledged all the
    /// same, over all flows that are followed; and the mean payload of the packets of these flows.
    pub fn never_captured(&self, tunnel: usize, direction: Direction) -> (u64, f64) {
        let (mut bytes, mut carried) = (0u64, FlowTotals::default());
        for (key, state) in &self.flows {
            let Some(sequence) = self
                .sequence(state)
                .filter(|_| (key.0, key.1) == (tunnel, direction))
            else {
                continue;
            };
            carried.bytes += state.totals.bytes;
            carried.packets += state.totals.packets;
            let receiver = self
                .flows
                .get(&other_way(*key))
                .and_then(|state| self.sequence(state));
            bytes += receiver.map_or(0, |receiver| sequence.never_captured(receiver));
        }
        (bytes, carried.bytes as f64 / carried.packets.max(1) as f64)
    }

    /// What was seen of a flow in the part of the capture that goes on.
    fn sequence<'a>(&self, state: &'a FlowState) -> Option<&'a TcpSequence> {
        state.tcp.as_ref().filter(|_| state.part == self.part)
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
    pub(crate) fn flow_of(&self, connection: ConnectionId, direction: Direction) -> Option<FlowKey> {
        let mut all = self.flows.iter();
        all.find(|(key, state)| state.connection == connection && key.1 == direction)
            .map(|(key, _)| key.2)
    }

    /// What flows beyond [`MOST_FLOWS`] carried in `direction`, over all tunnels.
    pub fn others(&self, direction: Direction) -> FlowTotals {
        self.others[slot(direction)]
    }

    /// The [`MOST_LISTED`] flows with most bytes, most first; equal ones in the order of their keys. With their connections.
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

/// The other direction of the same connection.
fn other_way((tunnel, direction, flow): DirectedFlow) -> DirectedFlow {
    let other = FlowKey {
        src: flow.dst,
        dst: flow.src,
        src_port: flow.dst_port,
        dst_port: flow.src_port,
        ..flow
    };
    (tunnel, direction.reverse(), other)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_ipsec::esp::inner::TcpSegment;
    use rekeyscope_testkit::thread_time::assert_linear;
    use std::collections::HashSet;

    impl FlowTable {
        /// The bytes alone.
        pub(crate) fn observe(&mut self, tunnel: usize, direction: Direction, inner: &Inner) -> NewBytes {
            self.observe_connection(tunnel, direction, inner).0
        }
    }

    fn inner(port: u16, seq: u32, flags: u8, payload: u32) -> Inner {
        let address = "192.0.2.1".parse().unwrap();
        Inner {
            flow: Some(FlowKey {
                protocol: 6,
                src: address,
                dst: address,
                src_port: port,
                dst_port: 5201,
            }),
            tcp: Some(TcpSegment {
                seq,
                ack: 0,
                flags,
                window: 0,
                sack_blocks: 0,
                window_scale: None,
                timestamp: None,
                echo: 0,
            }),
            transport_bytes: payload,
            ..Inner::default()
        }
    }

    /// One flow: (seq, flags, payload) → (new, retransmitted).
    fn sequence(segments: &[(u32, u8, u32)]) -> Vec<(u32, u32)> {
        let mut table = FlowTable::new();
        segments
            .iter()
            .map(|&(seq, flags, payload)| table.observe(0, Direction::AToB, &inner(1, seq, flags, payload)))
            .map(|split| (split.new, split.retransmitted))
            .collect()
    }

    const ACK: u8 = TcpSegment::ACK;
    const PUSHED: u8 = TcpSegment::ACK | TcpSegment::PSH;

    #[test]
    fn retransmissions_are_not_new_across_the_wrap() {
        let near_end = u32::MAX - 99;
        let seen = sequence(&[
            (near_end.wrapping_sub(1), TcpSegment::SYN, 0),
            (near_end, ACK, 100),
            (0, ACK, 100),
            (near_end, ACK, 150),
            (50, ACK, 100),
        ]);
        assert_eq!(seen, [(0, 0), (100, 0), (100, 0), (0, 150), (50, 50)]);
    }

    #[test]
    fn a_late_first_transmission_is_new() {
        let seen = sequence(&[
            (0, TcpSegment::SYN, 0),
            (1, ACK, 10),
            (21, ACK, 10),
            (11, ACK, 10),
            (11, ACK, 10),
        ]);
        assert_eq!(seen, [(0, 0), (10, 0), (10, 0), (10, 0), (0, 10)]);
    }

    #[test]
    fn a_stream_under_way_may_start_out_of_order() {
        assert_eq!(
            sequence(&[(5000, ACK, 10), (4990, ACK, 10), (4990, ACK, 20)]),
            [(10, 0), (10, 0), (0, 20)]
        );
    }

    #[test]
    fn a_keep_alive_is_neither() {
        let seen = sequence(&[
            (0, TcpSegment::SYN, 0),
            (1, ACK, 10),
            (10, ACK, 1),
            (10, ACK, 0),
            (10, PUSHED, 1),
        ]);
        assert_eq!(seen, [(0, 0), (10, 0), (0, 0), (0, 0), (0, 1)]);
    }

    #[test]
    fn fin_takes_no_byte_and_reused_ports_begin_anew() {
        let seen = sequence(&[
            (100, TcpSegment::SYN, 0),
            (100, TcpSegment::SYN, 0),
            (101, ACK | TcpSegment::FIN, 10),
            (101, ACK | TcpSegment::FIN, 10),
            (111, ACK, 0),
            (50, TcpSegment::SYN, 5),
            (51, ACK, 15),
        ]);
        assert_eq!(seen, [(0, 0), (0, 0), (10, 0), (0, 10), (0, 0), (5, 0), (10, 5)]);
    }

    #[test]
    fn a_jump_beyond_any_window_begins_anew() {
        assert_eq!(
            sequence(&[(0, ACK, 10), (0x6000_0000, ACK, 10), (0x6000_0000, ACK, 10)])[1..],
            [(10, 0), (0, 10)]
        );
    }

    #[test]
    fn the_lowest_holes_are_forgotten_at_the_bound() {
        let mut table = FlowTable::new();
        let mut observe = |seq, payload| {
            table
                .observe(0, Direction::AToB, &inner(1, seq, PUSHED, payload))
                .new
        };
        observe(0, 1);
        let holes = MOST_HOLES as u32;
        for number in 1..=holes + 1 {
            assert_eq!(observe(number * 10, 5), 5);
        }
        assert_eq!(observe(1, 5), 0, "forgotten");
        assert_eq!(observe(15, 5), 5, "the lowest of those remembered");
        assert_eq!(observe(holes * 10 + 5, 5), 5, "the highest");
        assert!(table.holes <= MOST_HOLES);
    }

    #[test]
    fn a_part_that_was_captured_earlier_is_new_and_costs_no_walk_per_packet() {
        let mut table = FlowTable::new();
        let new = |table: &mut FlowTable, port, seq| {
            table
                .observe(0, Direction::AToB, &inner(port, seq, PUSHED, 5))
                .new
        };
        for port in 1..=200 {
            assert_eq!(new(&mut table, port, 100), 5);
            assert_eq!(new(&mut table, port, 200), 5, "with a hole");
        }
        for part in 0..3 {
            table.forget_sequences();
            assert_eq!(new(&mut table, 1, 100), 5, "new again in part {part}");
            assert_eq!(new(&mut table, 1, 100), 0);
        }
        let held = |table: &FlowTable| -> usize {
            let sequences = table.flows.iter().filter_map(|(_, state)| state.tcp.as_ref());
            sequences.map(TcpSequence::holes).sum()
        };
        assert_eq!(table.holes, held(&table));
        // As many flows and jumps as a hostile capture holds: each jump with a packet.
        for port in 0..u16::MAX {
            new(&mut table, port, 100);
        }
        let jumps = 200_000;
        assert_linear(jumps, || {
            for _ in 0..jumps {
                table.forget_sequences();
                assert_eq!(new(&mut table, 1, 100), 5);
            }
        });
        assert_eq!(table.holes, held(&table));
    }

    #[test]
    fn every_payload_byte_of_other_protocols_is_new_and_the_table_is_bounded() {
        let mut table = FlowTable::with_bound(1);
        let udp = Inner {
            tcp: None,
            ..inner(1, 0, 0, 7)
        };
        for _ in 0..3 {
            assert_eq!(table.observe(0, Direction::AToB, &udp).new, 7);
        }
        for _ in 0..2 {
            assert_eq!(table.observe(0, Direction::BToA, &inner(2, 0, ACK, 9)).new, 9);
        }
        assert_eq!(table.len(), 1);
        assert_eq!(table.others(Direction::AToB), FlowTotals::default());
        let others = table.others(Direction::BToA);
        assert_eq!((others.bytes, others.new_bytes, others.packets), (18, 18, 2));
        let listed: Vec<Flow> = table.flows().into_iter().map(|(_, flow)| flow).collect();
        assert_eq!(
            (listed[0].bytes, listed[0].packets, listed[0].protocol.as_str()),
            (21, 3, "tcp")
        );
    }

    proptest! {
        /// Against the definition itself: a set of the (flow, position) pairs seen so far. Streams begin with a SYN or are
        /// under way; positions may pass the wrap.
        #[test]
        fn agrees_with_a_set_of_bytes(
            start in any::<u32>(),
            with_syn in any::<bool>(),
            segments in proptest::collection::vec((0u16..4, 0u32..3000, 0u32..60), 1..300),
        ) {
            let mut table = FlowTable::new();
            let mut seen = HashSet::new();
            for port in (0..4).filter(|_| with_syn) {
                table.observe(0, Direction::AToB, &inner(port, start.wrapping_sub(1), TcpSegment::SYN, 0));
            }
            for (port, offset, payload) in segments {
                let split =
                    table.observe(0, Direction::AToB, &inner(port, start.wrapping_add(offset), PUSHED, payload));
                let new = (offset..offset + payload).filter(|position| seen.insert((port, *position))).count();
                prop_assert_eq!((split.new, split.retransmitted), (new as u32, payload - new as u32));
            }
            let listed: u64 = table.flows().iter().map(|(_, flow)| flow.new_bytes).sum();
            prop_assert_eq!(listed, seen.len() as u64);
        }

        /// Anything goes in; nothing panics, and the parts add up (but for keep-alives).
        #[test]
        fn hostile_segments(segments in proptest::collection::vec(any::<(u32, u8, u32)>(), 0..200)) {
            for ((new, again), (_, _, payload)) in sequence(&segments).into_iter().zip(segments) {
                prop_assert!(u64::from(new) + u64::from(again) == u64::from(payload) || payload == 1);
            }
        }
    }
}
