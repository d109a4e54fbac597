//! Tunnels: an IKE SA and its successors with their SAs, between two ends. The places of its ends name a tunnel (with their ports where
//! NAT puts several clients behind one address); an end that moves takes further names, and the tunnel stays the same.

use crate::sa::whereabouts::{
    ChangeKind, OuterPath, OuterPlace, RoleShownBy, TunnelChange, WELL_KNOWN, Whereabouts,
};
use foldhash::HashMap;
use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_model::analysis::{Direction, Encapsulation};
use rekeyscope_model::spi::IkeSpi;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// Index in [`TunnelTable::tunnels`].
pub type TunnelIndex = usize;

/// One direction of a tunnel, inside the analysis.
pub type Side = (TunnelIndex, Direction);

/// Evidence of which end is the client, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoleEvidence {
    /// The client began the first exchange of IKE.
    Ike,
    /// The client asked for an L2TP session, or was told its address by PPP.
    Ppp,
    /// The client is behind a NAT, because the peer answers at the port that the NAT gave.
    Port,
    /// The client uses the other end's service inside.
    Service,
}

/// A tunnel while the capture is read. Directions inside the analysis run from `ends[0]`, the first sender seen; the client may become
/// known later, so the document's `a` and `b` are chosen at the end ([`Tunnel::published`]).
#[derive(Debug, Clone)]
pub struct Tunnel {
    /// First addresses of the first sender seen and of its peer, which name the two ends from then on.
    pub ends: [IpAddr; 2],
    /// Other addresses of each end since then.
    moved: [Vec<IpAddr>; 2],
    whereabouts: [Whereabouts; 2],
    /// Number of changes kept of this tunnel.
    changes: usize,
    /// Evidence of the client, and the index of that end.
    client: Option<(RoleEvidence, usize)>,
    /// Seen around ESP.
    pub encapsulation: Option<Encapsulation>,
    /// Sign of a NAT: one side used IKE's own port and the other none of them, or a port changed.
    pub port_changed: bool,
    /// The tunnel that this one was the beginning of.
    part_of: Option<TunnelIndex>,
}

impl Tunnel {
    /// Other addresses kept of an end, a bound on memory (1 KB); a further one replaces the oldest.
    const MOST_ADDRESSES: usize = 64;

    /// A tunnel between two ends at their present addresses.
    pub fn between(ends: [IpAddr; 2]) -> Self {
        Tunnel {
            ends,
            moved: Default::default(),
            whereabouts: Default::default(),
            changes: 0,
            client: None,
            encapsulation: None,
            port_changed: false,
            part_of: None,
        }
    }

    fn was_at(&self, end: usize, address: IpAddr) -> bool {
        self.ends[end] == address || self.moved[end].contains(&address)
    }

    /// Internal direction of a packet towards `dst`, an address of one of its ends.
    pub fn direction_to(&self, dst: IpAddr) -> Direction {
        if self.ends[0] != self.ends[1] && self.was_at(0, dst) {
            Direction::BToA
        } else {
            Direction::AToB
        }
    }

    /// Internal direction of a packet that has one of the ends where it was before.
    pub fn direction_of(&self, path: &OuterPath) -> Direction {
        let known = self.was_at(0, path.dst) || self.was_at(1, path.dst);
        if known || !self.was_at(1, path.src) {
            self.direction_to(path.dst)
        } else {
            Direction::BToA
        }
    }

    /// Names of the ends as source and destination of a packet in this direction.
    pub fn names(&self, internal: Direction) -> (IpAddr, IpAddr) {
        let [a, b] = self.ends;
        internal.pick((a, b), (b, a))
    }

    /// The places from which an end of these names sent its newest ESP packet, and to which it was sent to.
    pub fn places_of_esp(&self, name: IpAddr) -> [Option<OuterPlace>; 2] {
        let end = &self.whereabouts[usize::from(self.ends[0] != name)];
        [false, true].map(|is_receiver| end.seen(is_receiver, RoleShownBy::Esp))
    }

    /// IKE alone came, and only from or to port 500: where it goes on is not known yet.
    fn only_begins(&self) -> bool {
        self.encapsulation.is_none() && self.whereabouts.iter().any(Whereabouts::is_only_at_500)
    }

    fn client(&self) -> usize {
        self.client.map_or(0, |(_, end)| end)
    }

    /// Tells whether packets show which end is the client.
    pub fn knows_client(&self) -> bool {
        self.client.is_some()
    }

    /// The document's `a`: the client.
    pub fn a(&self) -> IpAddr {
        self.ends[self.client()]
    }

    /// The document's `b`.
    pub fn b(&self) -> IpAddr {
        self.ends[1 - self.client()]
    }

    /// The document's direction for an internal one.
    pub fn published(&self, internal: Direction) -> Direction {
        if self.client() == 0 {
            internal
        } else {
            internal.reverse()
        }
    }

    fn take_address(&mut self, end: usize, address: IpAddr) {
        if self.was_at(end, address) {
            return;
        }
        let moved = &mut self.moved[end];
        if moved.len() >= Self::MOST_ADDRESSES {
            moved.remove(0);
        }
        moved.push(address);
    }
}

/// Both ends of a path with their ports, the lower first; IKE's own ports tell no end from another.
type TunnelKey = [(IpAddr, u16); 2];

fn key_of(path: &OuterPath) -> TunnelKey {
    let port = |p: u16| if WELL_KNOWN.contains(&p) { 0 } else { p };
    let (s, d) = path.udp.map_or((0, 0), |u| (port(u.src), port(u.dst)));
    let mut key = [(path.src, s), (path.dst, d)];
    key.sort_unstable();
    key
}

/// All tunnels. Bounded by [`TunnelTable::MAX_TUNNELS`]: packets of a further one are counted and not analysed.
#[derive(Debug, Default)]
pub struct TunnelTable {
    /// In order of appearance.
    pub tunnels: Vec<Tunnel>,
    by_key: HashMap<TunnelKey, TunnelIndex>,
    by_cookie: HashMap<IkeSpi, TunnelIndex>,
    changes: Vec<TunnelChange>,
}

impl TunnelTable {
    /// Most tunnels that are kept.
    pub const MAX_TUNNELS: usize = 4_096;
    /// Most names (address pairs with ports, cookies) that lead to them.
    const MAX_NAMES: usize = 1 << 16;
    /// Most changes that are kept, a bound on memory (1.5 MB): four of each tunnel.
    const MAX_CHANGES: usize = 4 * Self::MAX_TUNNELS;
    /// Most changes kept of one tunnel: a NAT that gives every packet another port leaves room for the others.
    const MOST_CHANGES: usize = 64;

    /// The tunnel that this path names already.
    pub fn of_path(&self, path: &OuterPath) -> Option<TunnelIndex> {
        self.by_key.get(&key_of(path)).map(|&named| self.whole(named))
    }

    /// The tunnel that a tunnel turned out to be a part of, or itself.
    pub fn whole(&self, tunnel: TunnelIndex) -> TunnelIndex {
        self.tunnels[tunnel].part_of.unwrap_or(tunnel)
    }

    /// The tunnel that this path names, else a new one.
    pub fn begin(&mut self, path: &OuterPath) -> Option<TunnelIndex> {
        self.named(path, path.udp.is_none())
    }

    /// The tunnel that this path names, else a new one; `joins` where the packet may be the first of its kind between two ends without a NAT.
    fn named(&mut self, path: &OuterPath, joins: bool) -> Option<TunnelIndex> {
        if let Some(tunnel) = self.of_path(path) {
            return Some(tunnel);
        }
        if self.tunnels.len() >= Self::MAX_TUNNELS || self.by_key.len() >= Self::MAX_NAMES {
            return None;
        }
        let other_half = self.other_half(path).filter(|_| joins);
        let tunnel = other_half.unwrap_or_else(|| {
            self.tunnels.push(Tunnel::between([path.src, path.dst]));
            self.tunnels.len() - 1
        });
        self.by_key.insert(key_of(path), tunnel);
        Some(tunnel)
    }

    /// The only tunnel between two ends, of which IKE alone came from a port of its own, and ESP alone without UDP. Ends that find no NAT between
    /// them send ESP so, whatever ports IKE has (RFC 7296 §2.23).
    fn other_half(&self, path: &OuterPath) -> Option<TunnelIndex> {
        let is_between = |own: &Tunnel| own.was_at(0, path.src) && own.was_at(1, path.dst);
        let back = |own: &Tunnel| own.was_at(0, path.dst) && own.was_at(1, path.src);
        let all = self.tunnels.iter().enumerate();
        let mut between = all.filter(|(_, own)| own.part_of.is_none() && (is_between(own) || back(own)));
        let (only, own) = between.next()?;
        let heard_ike = own.whereabouts.iter().any(Whereabouts::was_shown_by_ike);
        let fits = match path.udp {
            Some(_) => own.encapsulation == Some(Encapsulation::Esp) && !heard_ike,
            None => own.encapsulation.is_none() && heard_ike,
        };
        (between.next().is_none() && fits).then_some(only)
    }

    /// Takes in a packet of a tunnel in an internal direction, perhaps with its ends at new places.
    pub fn join(&mut self, tunnel: TunnelIndex, path: &OuterPath, direction: Direction) {
        if self.by_key.len() < Self::MAX_NAMES {
            self.by_key.entry(key_of(path)).or_insert(tunnel);
        }
        let (from, to) = direction.pick((0, 1), (1, 0));
        let joined = &mut self.tunnels[tunnel];
        joined.take_address(from, path.src);
        joined.take_address(to, path.dst);
    }

    /// The tunnel of an IKE message. The initiator's cookie holds a client together when NAT moves its ports (RFC 3947
    /// §4) or its address changes (RFC 4555). A client that dials again begins at port 500, for which NAT may give it another port than
    /// before; the path on which it goes on at port 4500 tells who it is.
    pub fn of_ike(&mut self, path: &OuterPath, initiator_cookie: IkeSpi) -> Option<TunnelIndex> {
        // A message without a cookie is none of an IKE SA.
        let named = initiator_cookie != IkeSpi::ZERO;
        if let Some(&begun) = self.by_cookie.get(&initiator_cookie).filter(|_| named) {
            let mut tunnel = self.whole(begun);
            let known = self.of_path(path).filter(|known| *known != tunnel);
            if let Some(known) = known.filter(|_| self.tunnels[tunnel].only_begins()) {
                self.unite(tunnel, known);
                tunnel = known;
            }
            let direction = self.tunnels[tunnel].direction_of(path);
            self.join(tunnel, path, direction);
            return Some(tunnel);
        }
        let tunnel = self.named(path, true)?;
        if named && self.by_cookie.len() < Self::MAX_NAMES {
            self.by_cookie.insert(initiator_cookie, tunnel);
        }
        Some(tunnel)
    }

    /// Makes a tunnel, of which no ESP was seen, a part of another one.
    pub fn unite(&mut self, part: TunnelIndex, whole: TunnelIndex) {
        if part == whole {
            return;
        }
        for own in &mut self.tunnels {
            if own.part_of == Some(part) {
                own.part_of = Some(whole);
            }
        }
        self.tunnels[part].part_of = Some(whole);
    }

    /// The known tunnel between two addresses; without ports, or with IKE's own, that of the addresses alone.
    pub fn known(&self, src: IpAddr, dst: IpAddr, udp: Option<UdpPorts>) -> Option<TunnelIndex> {
        self.of_path(&OuterPath { src, dst, udp })
    }

    /// Takes in the places of both ends of a tunnel that a packet shows.
    pub fn show(
        &mut self,
        tunnel: TunnelIndex,
        path: &OuterPath,
        shown_by: RoleShownBy,
        direction: Direction,
        (time, frame): (Timestamp, u64),
    ) {
        let shown = &mut self.tunnels[tunnel];
        let own = |port: u16| WELL_KNOWN.contains(&port);
        if let Some(udp) = path.udp.filter(|u| own(u.src) != own(u.dst)) {
            shown.port_changed = true;
            let behind_nat = direction.pick(0, 1) ^ usize::from(own(udp.src));
            shown.settle(RoleEvidence::Port, behind_nat);
        }
        let (from, to) = direction.pick((0, 1), (1, 0));
        let places = [(from, path.from(), path.to()), (to, path.to(), path.from())];
        for (is_receiver, (end, place, peer)) in [false, true].into_iter().zip(places) {
            let change = shown.whereabouts[end].show(is_receiver, shown_by, place, peer.port);
            let Some((kind, before)) = change else { continue };
            shown.port_changed |= kind == ChangeKind::Port;
            if shown.changes >= Self::MOST_CHANGES || self.changes.len() >= Self::MAX_CHANGES {
                continue;
            }
            shown.changes += 1;
            self.changes.push(TunnelChange {
                tunnel,
                end,
                time,
                frame,
                from: before,
                to: place,
                kind,
                shown_by,
                followed: None,
            });
        }
        let newest = self.changes.last_mut().filter(|_| shown_by == RoleShownBy::Esp);
        // IKE may have shown the place with a port that ESP does not have.
        let here = |change: &&mut TunnelChange| {
            let is_port = change.kind == ChangeKind::Port;
            let same = change.to == path.to() || !is_port && change.to.address == path.dst;
            (change.tunnel, change.end) == (tunnel, to) && same
        };
        if let Some(change) = newest.filter(here) {
            change.followed.get_or_insert(time);
        }
    }

    /// Changes of the places of ends, in the order of the capture.
    pub fn changes(&self) -> &[TunnelChange] {
        &self.changes
    }

    /// Forgets the changes, but not the places of the ends.
    pub fn leave_changes_behind(&mut self) {
        self.changes = Vec::new();
        self.tunnels.iter_mut().for_each(|tunnel| tunnel.changes = 0);
    }

    /// Notes the encapsulation of ESP.
    pub fn take_encapsulation(&mut self, tunnel: TunnelIndex, encapsulation: Encapsulation) {
        let seen = &mut self.tunnels[tunnel].encapsulation;
        // A tunnel with AH around ESP is one of ESP.
        if seen.is_none_or(|e| e == Encapsulation::Ah) {
            *seen = Some(encapsulation);
        }
    }

    /// IKE shows who initiated; the first such word stays.
    pub fn settle(&mut self, tunnel: TunnelIndex, initiator: IpAddr) {
        if let Some(t) = self.tunnels.get_mut(tunnel)
            && let Some(end) = (0..2).find(|&end| t.was_at(end, initiator))
        {
            t.settle(RoleEvidence::Ike, end);
        }
    }

    /// Notes inner evidence that the client sends in this internal direction.
    pub fn settle_role(&mut self, tunnel: TunnelIndex, evidence: RoleEvidence, client_sends: Direction) {
        self.tunnels[tunnel].settle(evidence, client_sends.pick(0, 1));
    }
}

impl Tunnel {
    /// The best evidence decides, and the first of equally good ones.
    fn settle(&mut self, evidence: RoleEvidence, end: usize) {
        if self.client.is_none_or(|(known, _)| evidence < known) {
            self.client = Some((evidence, end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const B: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 7));
    const AWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 9));

    fn path(src: IpAddr, dst: IpAddr, ports: Option<(u16, u16)>) -> OuterPath {
        let udp = ports.map(|(src, dst)| UdpPorts { src, dst });
        OuterPath { src, dst, udp }
    }

    #[test]
    fn two_clients_behind_one_nat_are_two_tunnels() {
        let mut t = TunnelTable::default();
        let first = t.of_ike(&path(A, B, Some((500, 500))), IkeSpi([1; 8]));
        let second = t.of_ike(&path(A, B, Some((1024, 500))), IkeSpi([2; 8]));
        assert_ne!(first, second);
        assert_eq!(t.of_ike(&path(A, B, Some((1025, 4500))), IkeSpi([2; 8])), second);
        assert_eq!(t.begin(&path(B, A, Some((4500, 1025)))), second);
        assert_eq!(t.begin(&path(A, B, Some((4500, 4500)))), first);
        assert_eq!(t.begin(&path(B, A, None)), first);
        let nameless = [A, AWAY].map(|src| t.of_ike(&path(src, B, Some((500, 500))), IkeSpi::ZERO));
        assert_ne!(nameless[0], nameless[1], "no cookie holds nobody together");
    }

    #[test]
    fn a_client_that_dials_again_through_another_port_is_the_same() {
        let [there, back] =
            [(A, B, Some((4500, 4500))), (B, A, Some((4500, 4500)))].map(|(s, d, p)| path(s, d, p));
        let mut t = TunnelTable::default();
        let known = t.begin(&there).unwrap();
        for port in [61_500, 61_501] {
            let (begins, cookie) = (path(A, B, Some((port, 500))), IkeSpi([port as u8; 8]));
            let begun = t.of_ike(&begins, cookie).unwrap();
            t.show(
                begun,
                &begins,
                RoleShownBy::Ike,
                Direction::AToB,
                (Timestamp(0), 1),
            );
            assert_ne!(begun, known, "somebody else, for all that is known");
            assert_eq!(t.of_ike(&back, cookie), Some(known));
            assert_eq!((t.whole(begun), t.of_path(&begins)), (known, Some(known)));
        }
        // The cookie of a client that already went on at port 4500 holds it together, whatever place it moves to.
        let other = t
            .of_ike(&path(AWAY, B, Some((4500, 4500))), IkeSpi([9; 8]))
            .unwrap();
        t.show(
            other,
            &path(AWAY, B, Some((4500, 4500))),
            RoleShownBy::Ike,
            Direction::AToB,
            (Timestamp(0), 1),
        );
        assert_eq!(t.of_ike(&there, IkeSpi([9; 8])), Some(other));
    }

    #[test]
    fn the_first_word_of_the_best_evidence_stays() {
        let mut t = TunnelTable::default();
        let id = t.begin(&path(B, A, None)).unwrap();
        assert_eq!(t.tunnels[id].a(), B);
        // A is behind a NAT.
        let natted = path(A, B, Some((1024, 4500)));
        t.join(id, &natted, Direction::BToA);
        t.show(id, &natted, RoleShownBy::Esp, Direction::BToA, (Timestamp(0), 1));
        assert_eq!(t.tunnels[id].a(), A);
        t.settle_role(id, RoleEvidence::Ppp, Direction::AToB);
        assert_eq!(t.tunnels[id].a(), B);
        t.settle(id, A);
        t.settle(id, B);
        let tunnel = &t.tunnels[id];
        assert_eq!((tunnel.a(), tunnel.b()), (A, B));
        assert_eq!(tunnel.published(tunnel.direction_to(B)), Direction::AToB);
    }

    #[test]
    fn without_a_nat_ike_may_have_a_port_of_its_own() {
        let [ike, esp] = [Some((49_171, 4500)), None].map(|ports| path(A, B, ports));
        let seen = (Timestamp(0), 1);
        let cookie = IkeSpi([1; 8]);
        let mut t = TunnelTable::default();
        let known = t.begin(&esp).unwrap();
        t.take_encapsulation(known, Encapsulation::Esp);
        t.show(known, &esp, RoleShownBy::Esp, Direction::AToB, seen);
        assert_eq!(t.of_ike(&ike, cookie), Some(known));
        t.show(known, &ike, RoleShownBy::Ike, Direction::AToB, seen);
        assert_eq!(t.changes(), []);
        let other = path(A, B, Some((49_172, 4500)));
        let second = t.of_ike(&other, IkeSpi([2; 8]));
        assert_ne!(second, Some(known), "one of two has this port");

        let mut t = TunnelTable::default();
        let begun = t.of_ike(&ike, cookie).unwrap();
        t.show(begun, &ike, RoleShownBy::Ike, Direction::AToB, seen);
        assert_eq!(t.begin(&esp), Some(begun));

        let mut t = TunnelTable::default();
        for (port, cookie) in [(1024, [3; 8]), (1025, [4; 8])] {
            let ike = path(A, B, Some((port, 4500)));
            let own = t.of_ike(&ike, IkeSpi(cookie)).unwrap();
            t.show(own, &ike, RoleShownBy::Ike, Direction::AToB, seen);
        }
        assert_eq!(t.begin(&esp), Some(2), "of which of two is not known");
    }

    #[test]
    fn a_client_that_moves_is_called_what_it_was() {
        let mut t = TunnelTable::default();
        let cookie = IkeSpi([1; 8]);
        let id = t.of_ike(&path(A, B, Some((4500, 4500))), cookie).unwrap();
        let away = path(AWAY, B, Some((4500, 4500)));
        assert_eq!(t.of_ike(&away, cookie), Some(id));
        let back = path(B, AWAY, None);
        assert_eq!(t.of_path(&back), Some(id));
        let tunnel = &t.tunnels[id];
        assert_eq!(tunnel.direction_of(&away), Direction::AToB);
        assert_eq!(tunnel.direction_of(&back), Direction::BToA);
        assert_eq!(tunnel.names(Direction::BToA), (B, A));
        t.settle(id, AWAY);
        assert_eq!(t.tunnels[id].a(), A);
    }

    #[test]
    fn the_peer_follows_with_its_first_packet_to_the_new_place() {
        let mut t = TunnelTable::default();
        let id = t.begin(&path(A, B, Some((1024, 4500)))).unwrap();
        let mut show = |path: OuterPath, shown_by, direction, time| {
            t.show(id, &path, shown_by, direction, (Timestamp(time), 1));
            t.changes().last().and_then(|change| change.followed)
        };
        use RoleShownBy::{Esp, Ike};
        let (up, down) = (Direction::AToB, Direction::BToA);
        show(path(A, B, Some((1024, 4500))), Esp, up, 1);
        show(path(B, A, Some((4500, 1024))), Esp, down, 1);
        assert_eq!(show(path(A, B, Some((1025, 4500))), Esp, up, 2), None);
        assert_eq!(show(path(B, A, Some((4500, 1024))), Esp, down, 3), None);
        assert_eq!(show(path(B, A, Some((4500, 1025))), Ike, down, 4), None);
        assert_eq!(
            show(path(B, A, Some((4500, 1025))), Esp, down, 5),
            Some(Timestamp(5))
        );
        // IKE shows a new address with its port, and ESP has none.
        show(path(AWAY, B, Some((500, 500))), Ike, up, 6);
        assert_eq!(show(path(B, AWAY, None), Esp, down, 7), Some(Timestamp(7)));
    }

    #[test]
    fn a_port_that_flaps_is_told_a_bounded_number_of_times() {
        let mut t = TunnelTable::default();
        let id = t.begin(&path(A, B, Some((1024, 4500)))).unwrap();
        for n in 0..10_000 {
            let flapping = path(A, B, Some((1024 + n % 2, 4500)));
            t.show(
                id,
                &flapping,
                RoleShownBy::Esp,
                Direction::AToB,
                (Timestamp(0), 1),
            );
        }
        assert_eq!(t.changes().len(), TunnelTable::MOST_CHANGES);
        assert!(
            t.changes()
                .iter()
                .all(|c| c.end == 0 && c.kind == ChangeKind::Port)
        );
        t.leave_changes_behind();
        let back = path(A, B, Some((1030, 4500)));
        t.show(id, &back, RoleShownBy::Esp, Direction::AToB, (Timestamp(0), 1));
        assert_eq!(t.changes().len(), 1, "where it was before is known");
    }
}
