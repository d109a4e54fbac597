//! GRE (RFC 2784, 2890; version 1 of RFC 2637; ERSPAN inside), EtherIP (RFC 3378), what UDP ports announce (L2TP, VXLAN of
//! RFC 7348), and the header of IPComp (RFC 3173).

use super::{Found, Layer, Layers, Step, Stop, Walk};
use etherparse::{IpNumber, UdpHeader, ip_number};

const L2TP_PORT: u16 = 1701;
/// 4789 is IANA's, 8472 the one that Linux used before it.
const VXLAN_PORTS: [u16; 2] = [4789, 8472];
const VXLAN_HEADER_LEN: usize = 8;
/// Types in GRE that are no EtherTypes of an IP packet: mirror ports, whose header has two forms, and keepalives.
const ERSPAN: u16 = 0x88be;
const ERSPAN_III: u16 = 0x22eb;
const KEEPALIVE: u16 = 0;

impl<'a> Walk<'a> {
    pub(super) fn gre(&mut self) -> Result<Step<'a>, Stop> {
        const LAYER: &str = "GRE";
        const CHECKSUM: u16 = 0x8000;
        const ROUTING: u16 = 0x4000;
        const KEY: u16 = 0x2000;
        const SEQUENCE: u16 = 0x1000;
        const ACKNOWLEDGEMENT: u16 = 0x0080;
        self.pass(Layers::GRE);
        let &[f0, f1, t0, t1] = self.take::<4>(LAYER)?;
        let (flags, kind) = (u16::from_be_bytes([f0, f1]), u16::from_be_bytes([t0, t1]));
        let optional = |flag: u16| if flags & flag != 0 { 4 } else { 0 };
        match flags & 7 {
            0 if flags & ROUTING == 0 => {
                self.skip(LAYER, optional(CHECKSUM) + optional(KEY) + optional(SEQUENCE))?;
                match kind {
                    KEEPALIVE => Err(Stop::Other("GRE keepalive")),
                    ERSPAN | ERSPAN_III => self.erspan(kind, flags & SEQUENCE != 0),
                    other => Ok(Step::Below(Layer::EtherType(other))),
                }
            }
            0 => Err(Stop::Other("GRE source routing")),
            // PPTP: the key holds payload length and call (RFC 2637 §4.1); no payload: an acknowledgement.
            1 if kind == 0x880b => {
                let &[l0, l1, _, _] = self.take::<4>(LAYER)?;
                self.skip(LAYER, optional(SEQUENCE) + optional(ACKNOWLEDGEMENT))?;
                self.cut_to(usize::from(u16::from_be_bytes([l0, l1])));
                if self.len == 0 {
                    Err(Stop::Other("PPTP acknowledgement"))
                } else {
                    Ok(Step::Below(Layer::Ppp))
                }
            }
            _ => Err(Stop::Other("GRE")),
        }
    }

    /// Type I has neither a sequence number nor a header of its own, type II has both; type III says at its end whether a
    /// platform's header follows.
    fn erspan(&mut self, kind: u16, sequence: bool) -> Result<Step<'a>, Stop> {
        const LAYER: &str = "ERSPAN";
        const SUBHEADER_LEN: usize = 8;
        if kind == ERSPAN_III {
            let &[.., flags] = self.take::<12>(LAYER)?;
            self.skip(LAYER, if flags & 1 != 0 { SUBHEADER_LEN } else { 0 })?;
        } else if sequence {
            self.skip(LAYER, 8)?;
        }
        Ok(Step::Below(Layer::Ethernet))
    }

    pub(super) fn ether_ip(&mut self) -> Result<Step<'a>, Stop> {
        // Version 3 and twelve bits of zero.
        match self.take::<2>("EtherIP")? {
            [0x30, 0] => Ok(Step::Below(Layer::Ethernet)),
            _ => Err(Stop::Other("EtherIP")),
        }
    }

    /// A tunnel by its port and its first bytes; otherwise the walk stays at the UDP header.
    #[inline]
    pub(super) fn udp(&mut self) -> Result<Step<'a>, Stop> {
        let upper = Step::Found(Found::Upper(ip_number::UDP));
        let Some((&[s0, s1, d0, d1, l0, l1, _, _], body)) = self.bytes.split_first_chunk() else {
            return Ok(upper);
        };
        let (src, dst) = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
        let body_len = self.len - UdpHeader::LEN;
        let is_l2tp = (src == L2TP_PORT || dst == L2TP_PORT) && looks_like_l2tp(body, body_len);
        let is_vxlan = VXLAN_PORTS.contains(&dst) && looks_like_vxlan(body, body_len);
        if !is_l2tp && !is_vxlan {
            return Ok(upper);
        }
        (self.bytes, self.len, self.at) = (body, body_len, self.at + UdpHeader::LEN);
        // A length under 8 is offload or damage: the IP header knows the length then.
        if let Some(declared) = usize::from(u16::from_be_bytes([l0, l1])).checked_sub(UdpHeader::LEN) {
            self.cut_to(declared);
        }
        if is_l2tp {
            return Ok(Step::Below(Layer::L2tp));
        }
        self.pass(Layers::VXLAN);
        self.skip("VXLAN", VXLAN_HEADER_LEN)?;
        Ok(Step::Below(Layer::Ethernet))
    }

    /// RFC 3173 §3.1: next header, flags, compression parameter index.
    pub(super) fn ip_comp(&mut self) -> Result<Step<'a>, Stop> {
        const LAYER: &str = "IPComp";
        self.pass(Layers::IPCOMP);
        let &[next, _, c0, c1] = self.take::<4>(LAYER)?;
        match u16::from_be_bytes([c0, c1]) {
            // 2 is DEFLATE (RFC 2394); from 256 on the peers negotiate what the index means, nearly always DEFLATE.
            2 | 256.. => Ok(Step::Found(Found::Deflated(IpNumber(next)))),
            _ => Err(Stop::Other(LAYER)),
        }
    }
}

/// Whether the version field is one of L2TP's: 2 in RFC 2661, 3 in RFC 3931. Where the bytes end before it, the port has to
/// do.
fn looks_like_l2tp(body: &[u8], body_len: usize) -> bool {
    match body {
        [_, low, ..] => matches!(low & 15, 2 | 3),
        _ => body_len >= 2,
    }
}

/// The I flag, perhaps that of a group policy, which is in the next bytes then; else reserved bytes of zero (RFC 7348 §5): the
/// ports are sometimes other protocols'. Where the bytes end before them, the port has to do.
fn looks_like_vxlan(body: &[u8], body_len: usize) -> bool {
    match body.first_chunk::<VXLAN_HEADER_LEN>() {
        Some(header) => matches!(header, [0x08, 0, 0, 0, _, _, _, 0] | [0x88, _, _, _, _, _, _, 0]),
        None => body_len >= VXLAN_HEADER_LEN,
    }
}
