//! Tunnels in UDP, by their ports and their first bytes, for the ports are sometimes other protocols': L2TP, VXLAN (RFC 7348),
//! Geneve (RFC 8926), GTP-U (3GPP TS 29.281). Where the bytes end before what tells them, the port has to do.

use super::{Found, Layer, Layers, Step, Stop, Walk};
use etherparse::{UdpHeader, ip_number};

const L2TP_PORT: u16 = 1701;
/// 4789 is IANA's, 8472 the one that Linux used before it.
const VXLAN_PORTS: [u16; 2] = [4789, 8472];
const VXLAN_HEADER_LEN: usize = 8;
const GENEVE_PORT: u16 = 6081;
const GENEVE_HEADER_LEN: usize = 8;
const GTP_PORT: u16 = 2152;
const GTP_HEADER_LEN: usize = 8;

/// Which tunnel a datagram belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tunnel {
    L2tp,
    Vxlan,
    Geneve,
    Gtp,
}

impl<'a> Walk<'a> {
    /// Without a tunnel the walk stays at the UDP header.
    #[inline]
    pub(super) fn udp(&mut self) -> Result<Step<'a>, Stop> {
        let upper = Step::Found(Found::Upper(ip_number::UDP));
        let Some((&[s0, s1, d0, d1, l0, l1, _, _], body)) = self.bytes.split_first_chunk() else {
            return Ok(upper);
        };
        let ports = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
        let body_len = self.len - UdpHeader::LEN;
        let Some(tunnel) = tunnel(ports, body, body_len) else {
            return Ok(upper);
        };
        (self.bytes, self.len, self.at) = (body, body_len, self.at + UdpHeader::LEN);
        // A length under 8 is offload or damage: the IP header knows the length then.
        if let Some(declared) = usize::from(u16::from_be_bytes([l0, l1])).checked_sub(UdpHeader::LEN) {
            self.cut_to(declared);
        }
        match tunnel {
            Tunnel::L2tp => Ok(Step::Below(Layer::L2tp)),
            Tunnel::Vxlan => {
                self.pass(Layers::VXLAN);
                self.skip("VXLAN", VXLAN_HEADER_LEN)?;
                Ok(Step::Below(Layer::Ethernet))
            }
            Tunnel::Geneve => self.geneve(),
            Tunnel::Gtp => self.gtp(),
        }
    }

    /// RFC 8926 §3.4: version and length of the options in words, flags, EtherType, network.
    fn geneve(&mut self) -> Result<Step<'a>, Stop> {
        const LAYER: &str = "Geneve";
        const OPTIONS_LEN: u8 = 0x3f;
        let &[first, _, t0, t1, _, _, _, _] = self.take::<GENEVE_HEADER_LEN>(LAYER)?;
        self.skip(LAYER, usize::from(first & OPTIONS_LEN) * 4)?;
        Ok(Step::Below(Layer::EtherType(u16::from_be_bytes([t0, t1]))))
    }

    /// TS 29.281 §5.1: flags, type, length, tunnel; then, with any of three flags, four bytes whose last is the type of the
    /// first extension header (§5.2), each of which begins with its length in words and ends with the type of the next.
    fn gtp(&mut self) -> Result<Step<'a>, Stop> {
        const LAYER: &str = "GTP";
        const OPTIONAL: u8 = 0x07;
        const EXTENSION: u8 = 0x04;
        let &[flags, ..] = self.take::<GTP_HEADER_LEN>(LAYER)?;
        if flags & OPTIONAL != 0 {
            let &[_, _, _, mut next] = self.take::<4>(LAYER)?;
            while flags & EXTENSION != 0 && next != 0 {
                self.stacked("too many GTP extension headers")?;
                let &[words] = self.peek::<1>(LAYER)?;
                let len = usize::from(words.max(1)) * 4;
                next = self.bytes.get(len - 1).copied().unwrap_or_default();
                self.skip(LAYER, len)?;
            }
        }
        match self.peek::<1>(LAYER)?[0] >> 4 {
            4 | 6 => Ok(Step::Below(Layer::Ip { in_ppp: false })),
            _ => Err(Stop::Other(LAYER)),
        }
    }
}

#[inline]
fn tunnel((src, dst): (u16, u16), body: &[u8], body_len: usize) -> Option<Tunnel> {
    let (tunnel, header_len, fits) = match (src, dst) {
        // The version: 2 in RFC 2661, 3 in RFC 3931.
        (L2TP_PORT, _) | (_, L2TP_PORT) => (
            Tunnel::L2tp,
            2,
            matches!(body, [_, low, ..] if matches!(low & 15, 2 | 3)),
        ),
        // The I flag, perhaps that of a group policy, which is in the next bytes then; else reserved bytes of zero.
        (_, port) if VXLAN_PORTS.contains(&port) => (
            Tunnel::Vxlan,
            VXLAN_HEADER_LEN,
            matches!(
                body,
                [0x08, 0, 0, 0, _, _, _, 0, ..] | [0x88, _, _, _, _, _, _, 0, ..]
            ),
        ),
        // Version 0, and what it carries is Ethernet or IP.
        (_, GENEVE_PORT) => (
            Tunnel::Geneve,
            GENEVE_HEADER_LEN,
            matches!(
                body,
                [0..0x40, _, 0x65, 0x58, _, _, _, 0, ..]
                    | [0..0x40, _, 0x08, 0x00, _, _, _, 0, ..]
                    | [0..0x40, _, 0x86, 0xdd, _, _, _, 0, ..]
            ),
        ),
        // Version 1, no GTP', and a user's packet: the others are control messages.
        (GTP_PORT, _) | (_, GTP_PORT) => (
            Tunnel::Gtp,
            GTP_HEADER_LEN,
            matches!(body, [0x30..0x40, 0xff, ..]),
        ),
        _ => return None,
    };
    let cut = body.len() < header_len && body_len >= header_len;
    (fits || cut).then_some(tunnel)
}
