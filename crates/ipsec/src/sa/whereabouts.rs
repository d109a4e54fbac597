//! Places of the ends of a tunnel, and their changes.

use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_model::time::Timestamp;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Ports that say nothing about a client: IKE's own (RFC 7296 §2, RFC 3947). A move from one to the other is no change.
pub(super) const WELL_KNOWN: [u16; 2] = [500, 4500];

/// Outer addresses of a packet, with its ports where it is in UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OuterPath {
    /// Outer source.
    pub src: IpAddr,
    /// Outer destination.
    pub dst: IpAddr,
    /// UDP (or TCP) ports around ESP or IKE.
    pub udp: Option<UdpPorts>,
}

impl OuterPath {
    pub(super) fn from(&self) -> OuterPlace {
        OuterPlace {
            address: self.src,
            port: self.udp.map(|u| u.src),
        }
    }

    /// Place of the receiver.
    pub fn to(&self) -> OuterPlace {
        OuterPlace {
            address: self.dst,
            port: self.udp.map(|u| u.dst),
        }
    }
}

/// An outer address, and its port where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OuterPlace {
    /// Outer address.
    pub address: IpAddr,
    /// UDP (or TCP) port.
    pub port: Option<u16>,
}

impl fmt::Display for OuterPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => SocketAddr::new(self.address, port).fmt(f),
            None => self.address.fmt(f),
        }
    }
}

/// Evidence of the place of an end. Data and IKE may take different ways for a while: a request is repeated to the old address while
/// data goes to the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleShownBy {
    /// A packet of an SA.
    Esp,
    /// An IKE message.
    Ike,
}

/// Part of a place that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The outer address.
    Address,
    /// The port alone.
    Port,
    /// The end sends its first packets of their kind from another address than the one that its peer sends to.
    Source,
}

/// A change of the address or the port of an end of a tunnel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TunnelChange {
    /// Tunnel.
    pub tunnel: usize,
    /// Index of the end in the tunnel's `ends`.
    pub end: usize,
    /// Time of the first packet at the new place.
    pub time: Timestamp,
    /// Frame of that packet.
    pub frame: u64,
    /// Place before the change.
    pub from: OuterPlace,
    /// Place after the change.
    pub to: OuterPlace,
    /// Part that changed: the address, or the port alone.
    pub kind: ChangeKind,
    /// Kind of that packet.
    pub shown_by: RoleShownBy,
    /// Time of the peer's first ESP packet to the new place; `None` where none came.
    pub followed: Option<Timestamp>,
}

/// Last sighting of an end: the place, and the peer's port.
type EndSighting = (OuterPlace, Option<u16>);

/// Place of an end as packets show it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Whereabouts {
    address: Option<IpAddr>,
    /// Ports towards the peer's port 500, and towards any other: a NAT maps the two apart.
    ports: [Option<u16>; 2],
    /// Last sightings in packets from the end and to it, of ESP and of IKE: a packet still sent to the old place is no return.
    said: [[Option<EndSighting>; 2]; 2],
}

impl Whereabouts {
    /// Tells whether it spoke with the peer's port 500, and with no other.
    pub(super) fn is_only_at_500(&self) -> bool {
        matches!(self.ports, [Some(_), None])
    }

    pub(super) fn was_shown_by_ike(&self) -> bool {
        [false, true]
            .iter()
            .any(|&to| self.seen(to, RoleShownBy::Ike).is_some())
    }

    /// The place that the newest packet of its kind from this end, or to it, shows.
    pub(super) fn seen(&self, is_receiver: bool, shown_by: RoleShownBy) -> Option<OuterPlace> {
        self.said[usize::from(is_receiver)][shown_by as usize].map(|said| said.0)
    }

    /// Takes in a packet from this end, or to it, that shows it at `place`. Returns the kind of a change, and the place before.
    pub(super) fn show(
        &mut self,
        is_receiver: bool,
        shown_by: RoleShownBy,
        place: OuterPlace,
        peer_port: Option<u16>,
    ) -> Option<(ChangeKind, OuterPlace)> {
        let spoke = self.said[0].iter().any(Option::is_some);
        let is_asked = |said: &Option<EndSighting>| said.is_some_and(|said| said.0.address == place.address);
        let asked = self.said[1].iter().any(is_asked);
        let said = &mut self.said[usize::from(is_receiver)][shown_by as usize];
        let first = said.is_none();
        if said.replace((place, peer_port)) == Some((place, peer_port)) {
            return None;
        }
        // Whoever is asked where he was asked before has not moved there.
        if is_receiver && first && spoke && asked && self.address != Some(place.address) {
            return None;
        }
        let towards = usize::from(peer_port != Some(WELL_KNOWN[0]));
        let address = self.address.replace(place.address);
        let port = self.ports[towards];
        self.ports[towards] = place.port.or(port);
        let before = OuterPlace {
            address: address.unwrap_or(place.address),
            port: place.port.and(port),
        };
        if before.address != place.address {
            self.ports[1 - towards] = None;
            let kind = match first && !is_receiver {
                true => ChangeKind::Source,
                false => ChangeKind::Address,
            };
            return Some((kind, before));
        }
        let (old, new) = before.port.zip(place.port)?;
        let floats = WELL_KNOWN.contains(&old) && WELL_KNOWN.contains(&new);
        (old != new && !floats).then_some((ChangeKind::Port, before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const AWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 22));

    fn at(address: IpAddr, port: u16) -> OuterPlace {
        OuterPlace {
            address,
            port: Some(port),
        }
    }

    #[test]
    fn what_is_still_sent_to_the_old_place_is_no_return() {
        let mut end = Whereabouts::default();
        let mut show =
            |to: bool, by, address| end.show(to, by, at(address, 4500), Some(4500)).map(|(k, _)| k);
        use RoleShownBy::{Esp, Ike};
        for (to, by) in [(false, Ike), (true, Ike), (false, Esp), (true, Esp)] {
            assert_eq!(show(to, by, HOME), None);
        }
        assert_eq!(show(false, Esp, AWAY), Some(ChangeKind::Address));
        // The peer learns of the move a round trip later, and its IKE later still.
        assert_eq!(show(true, Esp, HOME), None);
        assert_eq!(show(true, Ike, HOME), None);
        assert_eq!(show(true, Esp, AWAY), None);
        assert_eq!(show(true, Ike, AWAY), None);
        assert_eq!(show(false, Esp, HOME), Some(ChangeKind::Address), "and back");
    }

    #[test]
    fn who_answers_from_elsewhere_has_not_moved() {
        let mut end = Whereabouts::default();
        let mut show =
            |to: bool, by, address| end.show(to, by, at(address, 4500), Some(4500)).map(|(k, _)| k);
        use RoleShownBy::{Esp, Ike};
        assert_eq!(show(true, Ike, HOME), None);
        assert_eq!(show(false, Ike, AWAY), Some(ChangeKind::Source));
        assert_eq!(show(true, Esp, HOME), None, "it is still asked where it was");
        assert_eq!(show(false, Esp, AWAY), None);
        assert_eq!(show(false, Ike, HOME), Some(ChangeKind::Address));
    }

    #[test]
    fn a_port_changes_where_the_peers_port_stays() {
        let mut end = Whereabouts::default();
        let mut show = |own, peer| end.show(false, RoleShownBy::Ike, at(HOME, own), Some(peer));
        for (own, peer) in [(500, 500), (4500, 4500), (1024, 4500), (1025, 500)] {
            let seen = show(own, peer);
            let changed = [1024, 1025].contains(&own);
            assert_eq!(seen.is_some(), changed, "{own} towards {peer}");
        }
        let (kind, before) = show(1030, 4500).unwrap();
        assert_eq!((kind, before), (ChangeKind::Port, at(HOME, 1024)));
    }

    #[test]
    fn a_gateway_that_goes_on_on_port_4500_stays_where_it_was() {
        let mut end = Whereabouts::default();
        assert_eq!(end.show(true, RoleShownBy::Ike, at(HOME, 500), Some(1024)), None);
        assert_eq!(end.show(true, RoleShownBy::Ike, at(HOME, 4500), Some(1025)), None);
        assert_eq!(end.show(true, RoleShownBy::Esp, at(HOME, 4500), Some(1026)), None);
        let plain = OuterPlace {
            address: HOME,
            port: None,
        };
        assert_eq!(end.show(true, RoleShownBy::Esp, plain, None), None, "without UDP");
        assert_eq!(at(HOME, 4500).to_string(), "192.0.2.1:4500");
        assert_eq!(plain.to_string(), "192.0.2.1");
    }
}
