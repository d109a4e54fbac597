//! GRE (RFC 2784, 2890; version 1 of RFC 2637; ERSPAN inside), EtherIP (RFC 3378), and the header of IPComp (RFC 3173).

use crate::layers::layer::{Found, Layer, LayerStep, Layers, Stop};
use crate::layers::walk::Walk;
use etherparse::IpNumber;

/// Types in GRE that are no EtherTypes of an IP packet: mirror ports, whose header has two forms, and keepalives.
const ERSPAN: u16 = 0x88be;
const ERSPAN_III: u16 = 0x22eb;
const KEEPALIVE: u16 = 0;

impl<'a> Walk<'a> {
    pub(super) fn gre(&mut self) -> Result<LayerStep<'a>, Stop> {
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
                    other => Ok(LayerStep::Below(Layer::EtherType(other))),
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
                    Ok(LayerStep::Below(Layer::Ppp))
                }
            }
            _ => Err(Stop::Other("GRE")),
        }
    }

    /// Type I has neither a sequence number nor a header of its own, type II has both; type III says at its end whether a
    /// platform's header follows.
    fn erspan(&mut self, kind: u16, sequence: bool) -> Result<LayerStep<'a>, Stop> {
        const LAYER: &str = "ERSPAN";
        const SUBHEADER_LEN: usize = 8;
        if kind == ERSPAN_III {
            let &[.., flags] = self.take::<12>(LAYER)?;
            self.skip(LAYER, if flags & 1 != 0 { SUBHEADER_LEN } else { 0 })?;
        } else if sequence {
            self.skip(LAYER, 8)?;
        }
        Ok(LayerStep::Below(Layer::Ethernet))
    }

    pub(super) fn ether_ip(&mut self) -> Result<LayerStep<'a>, Stop> {
        // Version 3 and twelve bits of zero.
        match self.take::<2>("EtherIP")? {
            [0x30, 0] => Ok(LayerStep::Below(Layer::Ethernet)),
            _ => Err(Stop::Other("EtherIP")),
        }
    }

    /// RFC 3173 §3.1: next header, flags, compression parameter index.
    pub(super) fn ip_comp(&mut self) -> Result<LayerStep<'a>, Stop> {
        const LAYER: &str = "IPComp";
        self.pass(Layers::IPCOMP);
        let &[next, _, c0, c1] = self.take::<4>(LAYER)?;
        match u16::from_be_bytes([c0, c1]) {
            // 2 is DEFLATE (RFC 2394); from 256 on the peers negotiate what the index means, nearly always DEFLATE.
            2 | 256.. => Ok(LayerStep::Found(Found::Deflated(IpNumber(next)))),
            _ => Err(Stop::Other(LAYER)),
        }
    }
}
