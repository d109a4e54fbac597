//! Tunnels: two addresses with IPsec between them, and where NAT puts several clients behind one address, their ports.

use foldhash::HashMap;
use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_model::analysis::{Direction, Encapsulation};
use rekeyscope_model::spi::IkeSpi;
use std::net::IpAddr;

/// Ports that say nothing about a client: IKE's own (RFC 7296 §2, RFC 3947).
const WELL_KNOWN: [u16; 2] = [500, 4500];

/// Index in [`TunnelTable::tunnels`].
pub type TunnelIndex = usize;

/// A tunnel while the capture is read. Directions inside the analysis run from `ends[0]`, the first sender seen; who
/// initiated IKE may become known later, so the document's `a` and `b` are chosen at the end ([`Tunnel::published`]).
#[derive(Debug, Clone)]
pub struct Tunnel {
    /// First sender seen, and its peer.
    pub ends: [IpAddr; 2],
    /// The IKE initiator, once IKE showed it.
    pub initiator: Option<IpAddr>,
    /// Seen around ESP.
    pub encapsulation: Option<Encapsulation>,
    /// One side used IKE's own port and the other none of them: something in between changed it.
    pub port_changed: bool,
}

impl Tunnel {
    /// Internal direction of a packet towards `dst`.
    pub fn direction_to(&self, dst: IpAddr) -> Direction {
        if dst == self.ends[0] && self.ends[0] != self.ends[1] {
            Direction::BToA
        } else {
            Direction::AToB
        }
    }

    /// The document's `a`: the IKE initiator.
    pub fn a(&self) -> IpAddr {
        self.initiator.unwrap_or(self.ends[0])
    }

    /// The document's `b`.
    pub fn b(&self) -> IpAddr {
        if self.a() == self.ends[0] {
            self.ends[1]
        } else {
            self.ends[0]
        }
    }

    /// The document's direction for an internal one.
    pub fn published(&self, internal: Direction) -> Direction {
        if self.a() == self.ends[0] {
            internal
        } else {
            internal.reverse()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct TunnelKey {
    low: (IpAddr, u16),
    high: (IpAddr, u16),
}

impl TunnelKey {
    fn new(src: IpAddr, dst: IpAddr, udp: Option<UdpPorts>) -> TunnelKey {
        let port = |p: u16| if WELL_KNOWN.contains(&p) { 0 } else { p };
        let (s, d) = udp.map_or((0, 0), |u| (port(u.src), port(u.dst)));
        let (x, y) = ((src, s), (dst, d));
        if x <= y {
            TunnelKey { low: x, high: y }
        } else {
            TunnelKey { low: y, high: x }
        }
    }
}

/// All tunnels. Bounded by [`TunnelTable::MAX_TUNNELS`]: packets of a further one are counted and not analysed.
#[derive(Debug, Default)]
pub struct TunnelTable {
    /// In order of appearance.
    pub tunnels: Vec<Tunnel>,
    by_key: HashMap<TunnelKey, TunnelIndex>,
    by_cookie: HashMap<IkeSpi, TunnelIndex>,
}

impl TunnelTable {
    /// Most tunnels that are kept.
    pub const MAX_TUNNELS: usize = 4_096;
    /// Most names (address pairs with ports, cookies) that lead to them.
    const MAX_NAMES: usize = 1 << 16;

    /// The tunnel of an ESP packet.
    pub fn of_esp(
        &mut self,
        src: IpAddr,
        dst: IpAddr,
        udp: Option<UdpPorts>,
        encapsulation: Encapsulation,
    ) -> Option<TunnelIndex> {
        let tunnel = self.by_key(src, dst, udp)?;
        self.note_ports(tunnel, udp);
        let seen = &mut self.tunnels[tunnel].encapsulation;
        // Where AH is around ESP, the tunnel is one of ESP.
        if seen.is_none_or(|e| e == Encapsulation::Ah) {
            *seen = Some(encapsulation);
        }
        Some(tunnel)
    }

    /// The tunnel of an IKE message. The initiator's cookie holds a client together when NAT moves its ports (RFC 3947
    /// §4) or its address changes (RFC 4555).
    pub fn of_ike(
        &mut self,
        src: IpAddr,
        dst: IpAddr,
        udp: UdpPorts,
        initiator_cookie: IkeSpi,
    ) -> Option<TunnelIndex> {
        if let Some(&tunnel) = self.by_cookie.get(&initiator_cookie) {
            if self.by_key.len() < Self::MAX_NAMES {
                self.by_key
                    .entry(TunnelKey::new(src, dst, Some(udp)))
                    .or_insert(tunnel);
            }
            self.note_ports(tunnel, Some(udp));
            return Some(tunnel);
        }
        let tunnel = self.by_key(src, dst, Some(udp))?;
        self.note_ports(tunnel, Some(udp));
        if self.by_cookie.len() < Self::MAX_NAMES {
            self.by_cookie.insert(initiator_cookie, tunnel);
        }
        Some(tunnel)
    }

    /// The tunnel between two addresses, where there is one already; without ports, or with IKE's own, that of the addresses alone.
    pub fn known(&self, src: IpAddr, dst: IpAddr, udp: Option<UdpPorts>) -> Option<TunnelIndex> {
        self.by_key.get(&TunnelKey::new(src, dst, udp)).copied()
    }

    /// IKE shows who initiated; the first such word stays.
    pub fn settle(&mut self, tunnel: TunnelIndex, initiator: IpAddr) {
        if let Some(t) = self.tunnels.get_mut(tunnel)
            && t.initiator.is_none()
            && t.ends.contains(&initiator)
        {
            t.initiator = Some(initiator);
        }
    }

    fn note_ports(&mut self, tunnel: TunnelIndex, udp: Option<UdpPorts>) {
        let own = |port: u16| WELL_KNOWN.contains(&port);
        self.tunnels[tunnel].port_changed |= udp.is_some_and(|u| own(u.src) != own(u.dst));
    }

    fn by_key(&mut self, src: IpAddr, dst: IpAddr, udp: Option<UdpPorts>) -> Option<TunnelIndex> {
        let key = TunnelKey::new(src, dst, udp);
        if let Some(&tunnel) = self.by_key.get(&key) {
            return Some(tunnel);
        }
        if self.tunnels.len() >= Self::MAX_TUNNELS || self.by_key.len() >= Self::MAX_NAMES {
            return None;
        }
        let tunnel = self.tunnels.len();
        self.tunnels.push(Tunnel {
            ends: [src, dst],
            initiator: None,
            encapsulation: None,
            port_changed: false,
        });
        self.by_key.insert(key, tunnel);
        Some(tunnel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const B: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 7));

    fn ports(src: u16, dst: u16) -> UdpPorts {
        UdpPorts { src, dst }
    }

    #[test]
    fn two_clients_behind_one_nat_are_two_tunnels() {
        let mut t = TunnelTable::default();
        let first = t.of_ike(A, B, ports(500, 500), IkeSpi([1; 8]));
        let second = t.of_ike(A, B, ports(1024, 500), IkeSpi([2; 8]));
        assert_ne!(first, second);
        assert_eq!(t.of_ike(A, B, ports(1025, 4500), IkeSpi([2; 8])), second);
        assert_eq!(
            t.of_esp(B, A, Some(ports(4500, 1025)), Encapsulation::Udp),
            second
        );
        assert_eq!(t.of_esp(A, B, Some(ports(4500, 4500)), Encapsulation::Udp), first);
        assert_eq!(t.of_esp(B, A, None, Encapsulation::Esp), first);
    }

    #[test]
    fn the_first_word_on_the_initiator_stays() {
        let mut t = TunnelTable::default();
        let id = t.of_esp(B, A, None, Encapsulation::Esp).unwrap();
        assert_eq!(t.tunnels[id].a(), B);
        t.settle(id, A);
        t.settle(id, B);
        let tunnel = &t.tunnels[id];
        assert_eq!((tunnel.a(), tunnel.b()), (A, B));
        assert_eq!(tunnel.published(tunnel.direction_to(B)), Direction::AToB);
    }
}
