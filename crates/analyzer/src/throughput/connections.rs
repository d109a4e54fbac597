//! The packets of inner connections, kept for the account ([`rekeyscope_impact::account`]).
//!
//! What cannot be read, or is no connection, counts as one connection per tunnel. At [`MOST_PACKETS`] what is kept is folded, so that memory
//! does not grow with the capture: by another thread, while the next packets are kept.

use crate::diagnosis::PacketRecord;
use crate::throughput::flow::ConnectionId;
use rekeyscope_capture::file::InFlight;
use rekeyscope_impact::account::{AccountConnection, AccountPacket, AccountSettings, SpareMemory, Syn, fold};
use rekeyscope_ipsec::esp::inner::{Inner, TcpSegment};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use std::borrow::Cow;
use std::collections::HashMap;

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
    /// By the number of the connection.
    open: Vec<Option<Box<Kept>>>,
    /// Ended, and followed by another one between the same ports.
    over: Vec<Kept>,
    /// What cannot be read, by tunnel.
    sealed: HashMap<TunnelIndex, Box<Kept>>,
    packets: usize,
    /// How many were made.
    made: u64,
    folding: Option<InFlight<Folding>>,
    spare: SpareMemory,
    /// For the packets of the largest one.
    memory: Vec<AccountPacket>,
}

impl Connections {
    pub(crate) fn new(settings: AccountSettings) -> Connections {
        Connections {
            settings,
            open: Vec::new(),
            over: Vec::new(),
            sealed: HashMap::new(),
            packets: 0,
            made: 0,
            folding: None,
            spare: SpareMemory::default(),
            memory: Vec::new(),
        }
    }

    /// Takes an ESP packet.
    pub(crate) fn take(&mut self, p: &PacketRecord, inner: &Inner) {
        match self.open.get_mut(p.connection.0 as usize) {
            // Whether it is a SYN is all that is asked of most packets, here and in `Kept::take`.
            Some(Some(kept)) if p.flags & TcpSegment::SYN == 0 || !begins_anew(kept, p) => {
                kept.take(p, inner, (p.payload, p.new));
            }
            _ => {
                if !self.take_other(p, inner) {
                    return;
                }
            }
        }
        self.packets += 1;
        if self.packets >= MOST_PACKETS {
            self.begin_fold();
        }
    }

    /// The first packet of a connection, or one that cannot be read. Says whether it was taken: what is of no connection is not.
    // Inlined, it would take the registers from what is done for each packet of an open connection. So would what is rare, below.
    #[inline(never)]
    fn take_other(&mut self, p: &PacketRecord, inner: &Inner) -> bool {
        let tunnel = usize::from(p.tunnel);
        let made = &mut self.made;
        if !p.is_opened() {
            let new = || Box::new(Kept::new(made, tunnel, false));
            let kept = self.sealed.entry(tunnel).or_insert_with(new);
            kept.take(p, inner, (p.outer, p.outer));
            return true;
        }
        if p.connection == ConnectionId::NONE {
            return false;
        }
        let index = p.connection.0 as usize;
        if index >= self.open.len() {
            self.open.resize_with(index + 1, || None);
        }
        let mut kept = Kept::new(made, tunnel, p.is_tcp());
        kept.connection.number = p.connection.0;
        kept.take(p, inner, (p.payload, p.new));
        let before = self.open[index].replace(Box::new(kept));
        self.over.extend(before.map(|kept| *kept));
        true
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
            // It will bring as many again.
            memory.reserve(packets);
            let connection = kept.connection.part(memory);
            Kept { connection, ..*kept }
        };
        let mut connections: Vec<Kept> = self.all().map(&mut part).collect();
        self.packets = 0;
        self.folding = Some(InFlight::begin(move || {
            let mut of_tunnels: HashMap<TunnelIndex, Vec<&mut AccountConnection>> = HashMap::new();
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
        self.over.retain(counts);
        for place in &mut self.open {
            place.take_if(|kept| !counts(kept));
        }
    }

    /// No packet follows: waits for what is being folded, and gives its memory back.
    pub(crate) fn finish(&mut self) {
        self.end_fold();
        (self.memory, self.spare) = (Vec::new(), SpareMemory::default());
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Kept> {
        let open = self.open.iter_mut().filter_map(Option::as_deref_mut);
        let sealed = self.sealed.values_mut().map(|kept| &mut **kept);
        self.over.iter_mut().chain(open).chain(sealed)
    }

    /// Shift of the windows that the receiver of direction `slot` advertises, where the handshake says it.
    pub(crate) fn scale(&self, connection: ConnectionId, slot: usize) -> Option<u8> {
        let kept = self.open.get(connection.0 as usize)?.as_deref()?;
        kept.connection.stated_scale(slot)
    }

    /// Those of a tunnel: one by one where everything could be read, else what is left of their packets as one.
    pub(crate) fn of(&self, tunnel: TunnelIndex, readable: bool) -> Vec<Cow<'_, AccountConnection>> {
        let sealed = self.sealed.get(&tunnel).map(|kept| &kept.connection);
        let open = self.open.iter().filter_map(Option::as_deref);
        let own = self.over.iter().chain(open).filter(|kept| kept.tunnel == tunnel);
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

    /// `sent`: bytes of payload, and how many of them are new.
    // Called in three places, of which one is each packet's.
    #[inline(always)]
    fn take(&mut self, p: &PacketRecord, inner: &Inner, sent: (u16, u16)) {
        if p.flags & TcpSegment::SYN != 0 {
            self.opens(p, inner);
        }
        self.connection.push(packet(p, inner, sent));
    }

    /// It is a SYN.
    #[cold]
    #[inline(never)]
    fn opens(&mut self, p: &PacketRecord, inner: &Inner) {
        let syn = &mut self.connection.syns[p.slot()];
        *syn = Some(Syn {
            time: p.time,
            scale: inner.tcp.as_ref().and_then(|segment| segment.window_scale),
            repeated: syn.is_some(),
        });
    }
}

/// A SYN on a connection that has carried data.
fn begins_anew(kept: &Kept, p: &PacketRecord) -> bool {
    let first_syn = p.flags & (TcpSegment::SYN | TcpSegment::ACK) == TcpSegment::SYN;
    first_syn && kept.connection.bytes != [0; 2]
}

fn packet(p: &PacketRecord, inner: &Inner, (payload, new): (u16, u16)) -> AccountPacket {
    let tcp = inner.tcp.as_ref();
    AccountPacket {
        time: p.time,
        frame: p.frame,
        seq: p.seq,
        ack: p.ack,
        stamp: tcp.and_then(|t| t.timestamp).unwrap_or(0),
        echo: tcp.map_or(0, |t| t.echo),
        payload,
        new,
        window: p.window,
        flags: p.flags,
        reverse: p.slot() == 1,
        late: p.is_late(),
        seen_before: p.again > 0,
        stamped: tcp.is_some_and(|t| t.timestamp.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

    /// Without keys: everything of the tunnel is one connection.
    #[test]
    fn what_was_folded_meanwhile_and_what_came_since_is_one_connection() {
        let mut all = Connections::new(AccountSettings { reference_bps: None });
        let packets = 2 * MOST_PACKETS + 10;
        let mut packet = PacketRecord::default();
        packet.outer = 100;
        for frame in 0..packets as u64 {
            packet.time = Timestamp(frame as i64 * NANOS_PER_MILLI);
            packet.frame = frame;
            all.take(&packet, &Inner::default());
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
