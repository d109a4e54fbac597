//! The packets of inner connections, kept for the account ([`rekeyscope_impact::account`]).
//!
//! What cannot be read, or is no connection, counts as one connection per tunnel. At [`MOST_PACKETS`] what is kept is folded, so that memory
//! does not grow with the capture: by another thread, while the next packets are kept.

use crate::diagnosis::PacketRecord;
use foldhash::HashMap;
use rekeyscope_capture::file::InFlight;
use rekeyscope_impact::account::{AccountConnection, AccountPacket, AccountSettings, SpareMemory, fold};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_traffic::{ConnectionId, Packet, Segment, Tracker};
use std::borrow::Cow;

/// Most packets that are kept, some 40 MB of capture: 2 MB, and four times as much while they are folded and the next ones are kept.
/// Fewer hold too little of a fast path to prove what it carries.
const MOST_PACKETS: usize = 1 << 15;

/// A connection and its tunnel.
#[derive(Debug)]
struct Kept {
    /// Tells it from those that had its number before.
    name: u64,
    tunnel: TunnelIndex,
    connection: AccountConnection,
}

/// Connections that are being folded, and memory for the packets of one.
#[derive(Debug)]
struct Folding {
    connections: Vec<Kept>,
    spare: SpareMemory,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Connections {
    settings: AccountSettings,
    /// The connections stand in the order of their first packets. Of those that carry hardly anything only the packets since the last fold are kept.
    open: Vec<Kept>,
    /// Places in `open`.
    places: HashMap<ConnectionId, usize>,
    /// The place of the last packet: many packets of one connection come in a row.
    last: usize,
    /// Packets that cannot be read, by tunnel.
    sealed: HashMap<TunnelIndex, Box<Kept>>,
    packets: usize,
    /// The number of them.
    made: u64,
    folding: Option<InFlight<Folding>>,
    spare: SpareMemory,
    /// Memory for the packets of the largest one.
    memory: Vec<AccountPacket>,
}

impl Connections {
    pub(crate) fn new(settings: AccountSettings) -> Connections {
        Connections {
            settings,
            open: Vec::new(),
            places: HashMap::default(),
            last: 0,
            sealed: HashMap::default(),
            packets: 0,
            made: 0,
            folding: None,
            spare: SpareMemory::default(),
            memory: Vec::new(),
        }
    }

    /// Takes an ESP packet of a tunnel, which the tracker has just taken. `sent`: bytes of payload, and how many of them are new.
    pub(crate) fn take(&mut self, p: &PacketRecord, packet: &Packet, segment: &Segment, tracker: &Tracker) {
        match self.open.get_mut(self.last) {
            Some(kept) if kept.connection.number == p.connection.0 => {
                kept.connection.take(packet, segment, tracker, (p.payload, p.new));
            }
            _ => {
                let sent = if p.is_opened() {
                    (p.payload, p.new)
                } else {
                    (p.outer, p.outer)
                };
                let Some(kept) = self.look_up(p) else { return };
                kept.connection.take(packet, segment, tracker, sent);
            }
        }
        self.packets += 1;
        if self.packets >= MOST_PACKETS {
            self.begin_fold();
        }
    }

    /// The connection of a packet where it is not that of the packet before, or cannot be read; `None` where the packet is of none that is followed.
    // Inlined, it would take the registers from what is done for each packet of the same connection. So would what is rare, below.
    #[inline(never)]
    fn look_up(&mut self, p: &PacketRecord) -> Option<&mut Kept> {
        let (tunnel, name) = (usize::from(p.tunnel), p.connection);
        let made = &mut self.made;
        if !p.is_opened() {
            let new = || Box::new(Kept::new(made, tunnel, false));
            return Some(self.sealed.entry(tunnel).or_insert_with(new));
        }
        if name == ConnectionId::NONE {
            return None;
        }
        self.last = *self.places.entry(name).or_insert_with(|| {
            let mut kept = Kept::new(made, tunnel, p.is_tcp());
            kept.connection.number = name.0;
            self.open.push(kept);
            self.open.len() - 1
        });
        self.open.get_mut(self.last)
    }

    /// Lets another thread go over all packets, and begins anew.
    #[cold]
    #[inline(never)]
    fn begin_fold(&mut self) {
        self.end_fold();
        let mut memory = std::mem::take(&mut self.memory);
        let mut spare = std::mem::take(&mut self.spare);
        let settings = self.settings;
        let most = self.all().map(|kept| kept.connection.packets.len()).max();
        let mut part = |kept: &mut Kept| {
            let packets = kept.connection.packets.len();
            let mut memory = if Some(packets) == most {
                std::mem::take(&mut memory)
            } else {
                Vec::new()
            };
            // The next one brings as many again.
            memory.reserve(packets);
            let connection = kept.connection.part(memory);
            Kept { connection, ..*kept }
        };
        let mut connections: Vec<Kept> = self.all().map(&mut part).collect();
        self.packets = 0;
        self.folding = Some(InFlight::begin(move || {
            let mut of_tunnels: HashMap<TunnelIndex, Vec<&mut AccountConnection>> = HashMap::default();
            for kept in &mut connections {
                of_tunnels
                    .entry(kept.tunnel)
                    .or_default()
                    .push(&mut kept.connection);
            }
            for connections in of_tunnels.values_mut() {
                fold(connections, &settings, &mut spare);
            }
            Folding { connections, spare }
        }));
    }

    /// Waits for what is being folded, and forgets the connections that carried hardly anything.
    fn end_fold(&mut self) {
        let Some(folded) = self.folding.take().and_then(InFlight::wait) else {
            return;
        };
        self.spare = folded.spare;
        let mut parted = folded.connections;
        // Whoever had most packets leaves the memory for as many.
        if let Some(largest) = parted
            .iter_mut()
            .max_by_key(|kept| kept.connection.packets.capacity())
            && largest.connection.packets.capacity() > self.memory.capacity()
        {
            self.memory = std::mem::take(&mut largest.connection.packets);
        }
        // Names grow with the connections: nearly all stand in their order, here and there.
        parted.sort_by_key(|kept| kept.name);
        let mut next = 0;
        for kept in self.all() {
            if parted.get(next).is_none_or(|parted| parted.name != kept.name) {
                next = parted.partition_point(|parted| parted.name < kept.name);
            }
            if let Some(parted) = parted.get_mut(next).filter(|parted| parted.name == kept.name) {
                kept.connection.rejoin(&mut parted.connection);
                next += 1;
            }
        }
        let counts = |kept: &Kept| kept.connection.is_folded() || !kept.connection.packets.is_empty();
        self.open.retain(counts);
        let names = self.open.iter().map(|kept| ConnectionId(kept.connection.number));
        self.places = names.zip(0..).collect();
        self.last = 0;
    }

    /// No packet follows: waits for what is being folded, and gives its memory back.
    pub(crate) fn finish(&mut self) {
        self.end_fold();
        (self.memory, self.spare) = (Vec::new(), SpareMemory::default());
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Kept> {
        let sealed = self.sealed.values_mut().map(|kept| &mut **kept);
        self.open.iter_mut().chain(sealed)
    }

    /// Shift of the windows that the receiver of direction `slot` advertises, where the handshake says it.
    pub(crate) fn scale(&self, connection: ConnectionId, slot: usize) -> Option<u8> {
        let kept = self.open.get(*self.places.get(&connection)?)?;
        kept.connection.stated_scale(slot)
    }

    /// The connections of a tunnel: one by one where everything could be read, else what is left of their packets as one.
    pub(crate) fn of(&self, tunnel: TunnelIndex, readable: bool) -> Vec<Cow<'_, AccountConnection>> {
        let sealed = self.sealed.get(&tunnel).map(|kept| &kept.connection);
        let own = self.open.iter().filter(|kept| kept.tunnel == tunnel);
        let own = own.map(|kept| &kept.connection);
        if readable {
            let all = own.chain(sealed);
            return all.filter(|c| c.has_data()).map(Cow::Borrowed).collect();
        }
        let mut one = sealed.cloned().unwrap_or_default();
        let mut all = Vec::new();
        for connection in own {
            one.packets.extend(&connection.packets);
            for (sum, bytes) in one.bytes.iter_mut().zip(connection.bytes) {
                *sum += bytes;
            }
            if connection.is_folded() {
                all.push(Cow::Owned(connection.without_packets()));
            }
        }
        one.packets.sort_by_key(|p| p.frame);
        all.push(Cow::Owned(one));
        all
    }
}

impl Kept {
    fn new(made: &mut u64, tunnel: TunnelIndex, tcp: bool) -> Self {
        *made += 1;
        Kept {
            name: *made,
            tunnel,
            connection: AccountConnection::new(tcp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::Direction;
    use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
    use rekeyscope_traffic::InnerPayload;

    /// Without keys: everything of the tunnel is one connection.
    #[test]
    fn what_was_folded_meanwhile_and_what_came_since_is_one_connection() {
        let mut all = Connections::new(AccountSettings { reference_bps: None });
        let mut tracker = Tracker::new();
        let packets = 2 * MOST_PACKETS + 10;
        let record = PacketRecord::for_test(Timestamp(0), 0, 100);
        for frame in 0..packets as u64 {
            let packet = Packet {
                time: Timestamp(frame as i64 * NANOS_PER_MILLI),
                frame,
                tunnel: 0,
                direction: Direction::AToB,
                esp: None,
                tuple: None,
                ip_id: 0,
                payload: InnerPayload::Unread(90),
            };
            let segment = tracker.push(&packet);
            all.take(&record, &packet, &segment, &tracker);
        }
        all.finish();
        let found = all.of(TunnelIndex::default(), true);
        assert_eq!(found.len(), 1);
        assert!(found[0].is_folded());
        assert_eq!(
            (found[0].packets.len(), found[0].bytes),
            (10, [100 * packets as u64, 0])
        );
    }
}
