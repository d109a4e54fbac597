//! The packets of inner connections, kept for the account ([`rekeyscope_impact::account`]).
//!
//! What cannot be read, or is no connection, counts as one connection per tunnel. At [`MOST_PACKETS`] the connections that carry
//! hardly anything are forgotten; where that frees too little, later packets are not looked at.

use crate::diagnosis::PacketRecord;
use crate::throughput::flow::ConnectionId;
use rekeyscope_impact::account::{AccountConnection, AccountPacket, Syn};
use rekeyscope_ipsec::esp::inner::{Inner, TcpSegment};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;

/// Most packets that are kept, some 330 MB of capture: 15 MB, and three times as much while the account is made.
const MOST_PACKETS: usize = 1 << 18;
/// A connection that carries less of its direction's bytes is forgotten first.
const HARDLY_ANYTHING: f64 = 0.01;

/// A connection and its tunnel.
#[derive(Debug)]
struct Kept {
    tunnel: TunnelIndex,
    connection: AccountConnection,
}

/// What a tunnel carried, by direction.
#[derive(Debug, Clone, Copy, Default)]
struct TunnelTotals {
    /// New bytes.
    bytes: [u64; 2],
    /// ESP numbers that no packet had.
    missing: [u32; 2],
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    /// By the number of the connection.
    open: Vec<Option<Box<Kept>>>,
    /// Ended, and followed by another one between the same ports.
    over: Vec<Kept>,
    /// What cannot be read, by tunnel.
    sealed: HashMap<TunnelIndex, Box<Kept>>,
    /// By tunnel.
    totals: Vec<TunnelTotals>,
    packets: usize,
    /// Packets from here on are not kept.
    stopped: Option<Timestamp>,
}

impl Connections {
    /// Takes an ESP packet. `skipped`: numbers of its SA right before its own that no packet had.
    pub(crate) fn take(&mut self, p: &PacketRecord, inner: &Inner, skipped: u64) {
        let (tunnel, slot) = (usize::from(p.tunnel), p.slot());
        if tunnel >= self.totals.len() {
            self.totals.resize(tunnel + 1, TunnelTotals::default());
        }
        let Some(totals) = self.totals.get_mut(tunnel) else {
            return;
        };
        let missing = &mut totals.missing[slot];
        *missing = missing.saturating_add(u32::try_from(skipped).unwrap_or(u32::MAX));
        let is_connection = p.connection != ConnectionId::NONE;
        if self.stopped.is_some() || p.is_opened() && !is_connection {
            return;
        }
        let payload = if p.is_opened() { p.payload } else { p.outer };
        let new = if p.is_opened() { p.new } else { p.outer };
        let packet = packet(p, inner, (payload, new, *missing));
        totals.bytes[slot] += u64::from(new);
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
            place.get_or_insert_with(|| Box::new(Kept::new(tunnel, p.is_tcp())))
        } else {
            self.sealed
                .entry(tunnel)
                .or_insert_with(|| Box::new(Kept::new(tunnel, false)))
        };
        kept.take(p, inner, packet);
        self.packets += 1;
        if self.packets >= MOST_PACKETS {
            self.forget_small_ones(p.time);
        }
    }

    fn forget_small_ones(&mut self, now: Timestamp) {
        let all = &self.totals;
        let matters = |kept: &Kept| {
            let totals = all.get(kept.tunnel).map_or([0; 2], |of| of.bytes);
            let pairs = kept.connection.bytes.iter().zip(totals);
            pairs
                .into_iter()
                .any(|(&own, all)| own as f64 >= HARDLY_ANYTHING * all as f64 && own > 0)
        };
        self.over.retain(|kept| matters(kept));
        for place in &mut self.open {
            if place.as_deref().is_some_and(|kept| !matters(kept)) {
                *place = None;
            }
        }
        self.packets = self.all().map(|kept| kept.connection.packets.len()).sum();
        if self.packets > MOST_PACKETS / 8 * 7 {
            self.stopped = Some(now);
        }
    }

    fn all(&self) -> impl Iterator<Item = &Kept> {
        let open = self.open.iter().filter_map(Option::as_deref);
        self.over
            .iter()
            .chain(open)
            .chain(self.sealed.values().map(|kept| &**kept))
    }

    /// Those of a tunnel: one by one where everything could be read, else all packets as one.
    pub(crate) fn of(
        &self,
        tunnel: TunnelIndex,
        readable: bool,
    ) -> Vec<std::borrow::Cow<'_, AccountConnection>> {
        use std::borrow::Cow;
        let own = self
            .all()
            .filter(|kept| kept.tunnel == tunnel)
            .map(|kept| &kept.connection);
        if readable {
            return own
                .filter(|c| c.packets.iter().any(|p| p.new > 0))
                .map(Cow::Borrowed)
                .collect();
        }
        let mut one = AccountConnection::default();
        for connection in own {
            one.packets.extend(&connection.packets);
            for (sum, bytes) in one.bytes.iter_mut().zip(connection.bytes) {
                *sum += bytes;
            }
        }
        one.packets.sort_by_key(|p| p.frame);
        vec![Cow::Owned(one)]
    }

    /// Packets from here on were not kept.
    pub(crate) fn stopped(&self) -> Option<Timestamp> {
        self.stopped
    }
}

impl Kept {
    fn new(tunnel: TunnelIndex, tcp: bool) -> Self {
        let connection = AccountConnection {
            tcp,
            ..AccountConnection::default()
        };
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
    let base = AccountPacket {
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
        ..AccountPacket::default()
    };
    base.that([
        p.slot() == 1,
        p.is_late(),
        p.again > 0,
        p.acknowledges(),
        tcp.is_some_and(|t| t.timestamp.is_some()),
        inner.ip_id != 0,
        flag(TcpSegment::FIN) || flag(TcpSegment::RST),
        flag(TcpSegment::SYN),
    ])
}
