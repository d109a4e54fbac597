//! The packets of inner connections, kept for the account ([`rekeyscope_impact::account`]).
//!
//! What cannot be read, or is no connection, counts as one connection per tunnel. At [`MOST_PACKETS`] what is kept is folded: memory
//! does not grow with the capture.

use crate::diagnosis::PacketRecord;
use crate::throughput::flow::ConnectionId;
use rekeyscope_impact::account::{AccountConnection, AccountPacket, AccountSettings, SpareMemory, Syn, fold};
use rekeyscope_ipsec::esp::inner::{Inner, TcpSegment};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use std::borrow::Cow;
use std::collections::HashMap;

/// Most packets that are kept, some 40 MB of capture: 2 MB, and three times as much while they are folded. Room for more would be asked
/// for and given back at every fold; 4,096 change no label of the lab by half a point.
const MOST_PACKETS: usize = 1 << 15;

/// A connection and its tunnel.
#[derive(Debug)]
struct Kept {
    tunnel: TunnelIndex,
    connection: AccountConnection,
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
    /// ESP numbers that no packet had, by tunnel and direction.
    missing: Vec<[u32; 2]>,
    packets: usize,
    spare: SpareMemory,
}

impl Connections {
    pub(crate) fn new(settings: AccountSettings) -> Connections {
        Connections {
            settings,
            open: Vec::new(),
            over: Vec::new(),
            sealed: HashMap::new(),
            missing: Vec::new(),
            packets: 0,
            spare: SpareMemory::default(),
        }
    }

    /// Takes an ESP packet. `skipped`: numbers of its SA right before its own that no packet had.
    pub(crate) fn take(&mut self, p: &PacketRecord, inner: &Inner, skipped: u64) {
        let (tunnel, slot) = (usize::from(p.tunnel), p.slot());
        if tunnel >= self.missing.len() {
            self.missing.resize(tunnel + 1, [0; 2]);
        }
        let Some(missing) = self.missing.get_mut(tunnel).map(|m| &mut m[slot]) else {
            return;
        };
        *missing = missing.saturating_add(u32::try_from(skipped).unwrap_or(u32::MAX));
        let is_connection = p.connection != ConnectionId::NONE;
        if p.is_opened() && !is_connection {
            return;
        }
        let payload = if p.is_opened() { p.payload } else { p.outer };
        let new = if p.is_opened() { p.new } else { p.outer };
        let packet = packet(p, inner, (payload, new, *missing));
        let kept = if is_connection && p.is_opened() {
            let index = p.connection.0 as usize;
            if index >= self.open.len() {
                self.open.resize_with(index + 1, || None);
            }
            let Some(place) = self.open.get_mut(index) else {
                return;
            };
            if begins_anew(place.as_deref(), p) {
                self.over.extend(place.take().map(|kept| *kept));
            }
            place.get_or_insert_with(|| {
                let mut kept = Kept::new(tunnel, p.is_tcp());
                kept.connection.number = p.connection.0;
                Box::new(kept)
            })
        } else {
            self.sealed
                .entry(tunnel)
                .or_insert_with(|| Box::new(Kept::new(tunnel, false)))
        };
        kept.take(p, inner, packet);
        self.packets += 1;
        if self.packets >= MOST_PACKETS {
            self.fold();
        }
    }

    /// Goes over all packets and forgets them, and the connections that carried hardly anything.
    fn fold(&mut self) {
        let mut of_tunnels: HashMap<TunnelIndex, Vec<&mut AccountConnection>> = HashMap::new();
        let open = self.open.iter_mut().filter_map(Option::as_deref_mut);
        let sealed = self.sealed.values_mut().map(|kept| &mut **kept);
        for kept in self.over.iter_mut().chain(open).chain(sealed) {
            of_tunnels
                .entry(kept.tunnel)
                .or_default()
                .push(&mut kept.connection);
        }
        for connections in of_tunnels.values_mut() {
            fold(connections, &self.settings, &mut self.spare);
        }
        // Whoever had most packets keeps the memory for as many.
        let folded = || of_tunnels.values().flatten();
        let most = folded().map(|c| c.packets.capacity()).max().unwrap_or(0);
        let mut kept = false;
        for connection in of_tunnels.values_mut().flatten() {
            if kept || connection.packets.capacity() < most {
                connection.packets = Vec::new();
            } else {
                kept = true;
            }
        }
        self.over.retain(|kept| kept.connection.is_folded());
        for place in &mut self.open {
            place.take_if(|kept| !kept.connection.is_folded());
        }
        self.packets = 0;
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
    fn new(tunnel: TunnelIndex, tcp: bool) -> Self {
        let connection = AccountConnection::new(tcp);
        Kept { tunnel, connection }
    }

    fn take(&mut self, p: &PacketRecord, inner: &Inner, packet: AccountPacket) {
        let own = &mut self.connection;
        if let Some(segment) = inner.tcp.as_ref().filter(|s| s.has(TcpSegment::SYN)) {
            let syn = &mut own.syns[p.slot()];
            *syn = Some(Syn {
                time: p.time,
                scale: segment.window_scale,
                repeated: syn.is_some(),
            });
        }
        own.bytes[p.slot()] += u64::from(packet.new);
        own.packets.push(packet);
    }
}

/// A SYN on a connection that has carried data.
fn begins_anew(kept: Option<&Kept>, p: &PacketRecord) -> bool {
    let first_syn = p.flags & (TcpSegment::SYN | TcpSegment::ACK) == TcpSegment::SYN && p.is_tcp();
    first_syn && kept.is_some_and(|kept| kept.connection.bytes != [0; 2])
}

fn packet(p: &PacketRecord, inner: &Inner, (payload, new, missing): (u16, u16, u32)) -> AccountPacket {
    let tcp = inner.tcp.as_ref();
    let flag = |flag: u8| p.is_tcp() && p.flags & flag != 0;
    AccountPacket {
        time: p.time,
        frame: p.frame,
        seq: p.seq,
        ack: p.ack,
        stamp: tcp.and_then(|t| t.timestamp).unwrap_or(0),
        echo: tcp.map_or(0, |t| t.echo),
        esp: p.sequence,
        sa: p.sa,
        missing,
        payload,
        new,
        window: p.window,
        ip_id: inner.ip_id,
        reverse: p.slot() == 1,
        late: p.is_late(),
        seen_before: p.again > 0,
        acknowledges: p.acknowledges(),
        stamped: tcp.is_some_and(|t| t.timestamp.is_some()),
        numbered: inner.ip_id != 0,
        ends: flag(TcpSegment::FIN) || flag(TcpSegment::RST),
        resets: flag(TcpSegment::RST),
        syn: flag(TcpSegment::SYN),
    }
}
