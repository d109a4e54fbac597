//! Ports that carry IKE and ESP.

use crate::framing::datagram::UdpPorts;
use crate::layers::udp::is_ipsec_port;
use std::collections::HashSet;
use std::net::IpAddr;

/// One end of UDP: address and port.
type UdpEnd = (IpAddr, u16);

/// UDP ports that carry ESP and IKE beside 500 and 4500.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    /// By request, with the rules of port 4500.
    pub(super) ports: Vec<u16>,
    /// Pairs of ends between which IKE was seen.
    pub(super) learned: HashSet<(UdpEnd, UdpEnd)>,
}

impl Carriers {
    /// Most pairs that are learned.
    const MOST_LEARNED: usize = 4_096;

    fn pair(ends: (IpAddr, IpAddr), ports: UdpPorts) -> (UdpEnd, UdpEnd) {
        let (a, b) = ((ends.0, ports.src), (ends.1, ports.dst));
        if a <= b { (a, b) } else { (b, a) }
    }

    /// IKE passed between these ends: so will ESP.
    pub(super) fn learn(&mut self, ends: (IpAddr, IpAddr), ports: UdpPorts) {
        let known = |port| is_ipsec_port(port) || self.ports.contains(&port);
        if !known(ports.src) && !known(ports.dst) && self.learned.len() < Self::MOST_LEARNED {
            self.learned.insert(Self::pair(ends, ports));
        }
    }

    pub(super) fn has_learned(&self, ends: (IpAddr, IpAddr), ports: UdpPorts) -> bool {
        !self.learned.is_empty() && self.learned.contains(&Self::pair(ends, ports))
    }
}
