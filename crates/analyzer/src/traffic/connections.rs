//! The packets of inner connections, kept for the account ([`rekeyscope_impact::account`]).
//!
//! Packets that cannot be read, or are of no connection, count as one connection per tunnel. At [`MOST_PACKETS`] all that are kept are folded, so that memory
//! does not grow with the capture.

use crate::diagnosis::PacketRecord;
use foldhash::HashMap;
use rekeyscope_impact::account::{AccountConnection, AccountSettings, fold};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_traffic::{ConnectionId, Packet, Segment, Tracker};
use std::borrow::Cow;

/// Most packets that are kept, some 40 MB of capture: 2.6 MB. Fewer hold too little of a fast path to prove what it carries.
const MOST_PACKETS: usize = 1 << 15;

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    settings: AccountSettings,
    /// The connections with their tunnels, in the order of their first packets. Of those that carry hardly anything only the packets since the last fold are kept.
    open: Vec<(TunnelIndex, AccountConnection)>,
    /// Places in `open`.
    places: HashMap<ConnectionId, usize>,
    /// The place of the last packet: many packets of one connection come in a row.
    last: usize,
    /// Packets that cannot be read, by tunnel.
    sealed: HashMap<TunnelIndex, AccountConnection>,
    packets: usize,
}

impl Connections {
    pub(crate) fn new(settings: AccountSettings) -> Connections {
        Connections {
            settings,
            ..Connections::default()
        }
    }

    /// Takes an ESP packet of a tunnel, which the tracker has just taken. `sent`: bytes of payload, and how many of them are new.
    pub(crate) fn take(&mut self, p: &PacketRecord, packet: &Packet, segment: &Segment, tracker: &Tracker) {
        match self.open.get_mut(self.last) {
            Some((_, own)) if own.number == p.connection.0 => {
                own.take(packet, segment, tracker, (p.payload, p.new));
            }
            _ => {
                let sent = if p.opened {
                    (p.payload, p.new)
                } else {
                    (p.outer, p.outer)
                };
                let Some(connection) = self.look_up(p) else { return };
                connection.take(packet, segment, tracker, sent);
            }
        }
        self.packets += 1;
        if self.packets >= MOST_PACKETS {
            self.fold();
        }
    }

    /// The connection of a packet where it is not that of the packet before, or cannot be read; `None` where the packet is of none that is followed.
    // Inlined, it would take the registers from what is done for each packet of the same connection. So would what is rare, below.
    #[inline(never)]
    fn look_up(&mut self, p: &PacketRecord) -> Option<&mut AccountConnection> {
        let (tunnel, name) = (usize::from(p.tunnel), p.connection);
        if !p.opened {
            return Some(self.sealed.entry(tunnel).or_default());
        }
        if name == ConnectionId::NONE {
            return None;
        }
        self.last = *self.places.entry(name).or_insert_with(|| {
            let mut connection = AccountConnection::new(p.tcp);
            connection.number = name.0;
            self.open.push((tunnel, connection));
            self.open.len() - 1
        });
        self.open.get_mut(self.last).map(|(_, own)| own)
    }

    /// Goes over all packets, begins anew, and forgets the connections that carried hardly anything.
    #[cold]
    #[inline(never)]
    fn fold(&mut self) {
        let mut of_tunnels: HashMap<TunnelIndex, Vec<&mut AccountConnection>> = HashMap::default();
        let open = self.open.iter_mut().map(|(tunnel, own)| (*tunnel, own));
        let sealed = self
            .sealed
            .iter_mut()
            .map(|(tunnel, connection)| (*tunnel, connection));
        for (tunnel, connection) in open.chain(sealed) {
            of_tunnels.entry(tunnel).or_default().push(connection);
        }
        for connections in of_tunnels.values_mut() {
            fold(connections, &self.settings);
        }
        self.open.retain(|(_, own)| own.is_folded());
        self.sealed.retain(|_, connection| connection.is_folded());
        let names = self.open.iter().map(|(_, own)| ConnectionId(own.number));
        self.places = names.zip(0..).collect();
        (self.packets, self.last) = (0, 0);
    }

    /// Shift of the windows that the receiver of direction `slot` advertises, where the handshake says it.
    pub(crate) fn scale(&self, connection: ConnectionId, slot: usize) -> Option<u8> {
        let (_, own) = self.open.get(*self.places.get(&connection)?)?;
        own.stated_scale(slot)
    }

    /// The connections of a tunnel: one by one where everything could be read, else what is left of their packets as one.
    pub(crate) fn of(&self, tunnel: TunnelIndex, readable: bool) -> Vec<Cow<'_, AccountConnection>> {
        let sealed = self.sealed.get(&tunnel);
        let own = self.open.iter().filter(|(of, _)| *of == tunnel);
        let own = own.map(|(_, own)| own);
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

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::Direction;
    use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
    use rekeyscope_traffic::InnerPayload;

    /// Without keys: everything of the tunnel is one connection.
    #[test]
    fn what_was_folded_and_what_came_since_is_one_connection() {
        let mut all = Connections::new(AccountSettings { reference_bps: None });
        let mut tracker = Tracker::default();
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
        let found = all.of(TunnelIndex::default(), true);
        assert_eq!(found.len(), 1);
        assert!(found[0].is_folded());
        assert_eq!(
            (found[0].packets.len(), found[0].bytes),
            (10, [100 * packets as u64, 0])
        );
    }
}
