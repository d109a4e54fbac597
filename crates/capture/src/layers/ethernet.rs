//! Ethernet and what an EtherType announces: VLAN tags (IEEE 802.1Q), LLC and SNAP (IEEE 802.2, RFC 1042), PPPoE (RFC 2516),
//! MPLS (RFC 3032) with its pseudowires (RFC 4448).

use crate::layers::layer::{Control, Layer, LayerStep, Layers, Stop};
use crate::layers::plausible::{fits_ip, is_ethernet};
use crate::layers::walk::Walk;

impl<'a> Walk<'a> {
    /// Two addresses and a type.
    #[inline]
    pub(super) fn ethernet(&mut self) -> Result<LayerStep<'a>, Stop> {
        const LAYER: &str = "Ethernet";
        self.descend(Layers::ETHERNET)?;
        let &[.., t0, t1] = self.take::<14>(LAYER)?;
        Ok(LayerStep::Below(Layer::EtherType(u16::from_be_bytes([t0, t1]))))
    }

    /// Dispatches on an EtherType that was read already.
    #[inline]
    pub(super) fn ether_type(&mut self, number: u16) -> Result<LayerStep<'a>, Stop> {
        Ok(LayerStep::Below(match number {
            0x0800 | 0x86dd => return self.ip(false),
            // 802.1Q, 802.1ad, and the numbers that were used for stacks before it.
            0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
                self.stacked("a stack of too many VLAN tags")?;
                let &[_, _, t0, t1] = self.take::<4>("VLAN")?;
                Layer::EtherType(u16::from_be_bytes([t0, t1]))
            }
            // The tag of older Broadcom switches: the port, then the EtherType.
            0x8874 => {
                self.stacked("a stack of too many Broadcom tags")?;
                let &[_, _, _, _, t0, t1] = self.take::<6>("Broadcom tag")?;
                Layer::EtherType(u16::from_be_bytes([t0, t1]))
            }
            0x8863 | 0x8864 => Layer::Pppoe,
            0x8847 | 0x8848 => return self.mpls(),
            // Transparent Ethernet bridging (gretap), and PPP in GRE.
            0x6558 => Layer::Ethernet,
            0x880b => Layer::Ppp,
            // The length of an IEEE 802.3 frame. In Linux SLL 4 is 802.2 LLC.
            0..=0x05dc => Layer::Llc,
            other => return Err(Stop::Other(ether_type_name(other))),
        }))
    }

    /// IEEE 802.2 LLC; only SNAP with an EtherType leads to IP.
    pub(super) fn llc(&mut self) -> Result<LayerStep<'a>, Stop> {
        match self.take::<3>("LLC")? {
            [0xaa, 0xaa, 0x03] => {
                let &[o0, o1, o2, t0, t1] = self.take::<5>("SNAP")?;
                match ([o0, o1, o2], u16::from_be_bytes([t0, t1])) {
                    // 0x0000f8: bridge-tunnel encapsulation (802.1H), the same shape.
                    ([0, 0, 0 | 0xf8], number @ 0x0600..) => Ok(LayerStep::Below(Layer::EtherType(number))),
                    _ => Err(Stop::Other("a vendor's SNAP protocol")),
                }
            }
            [0x42, 0x42, _] => Err(Stop::Other("STP")),
            [0xfe, 0xfe, _] => Err(Stop::Other("IS-IS")),
            _ => Err(Stop::Other("LLC")),
        }
    }

    /// RFC 2516 §4: version and type, code, session, length, then PPP without address and control. The length is not needed, for
    /// the IP header inside has its own, and offload leaves a wrong one.
    pub(super) fn pppoe(&mut self) -> Result<LayerStep<'a>, Stop> {
        match self.take::<6>("PPPoE")? {
            [0x11, 0, ..] => Ok(LayerStep::Below(Layer::Ppp)),
            [0x11, code, ..] => Err(Stop::Control(Control::Pppoe(*code))),
            _ => Err(Stop::Other("an unknown version of PPPoE")),
        }
    }

    /// Labels to the bottom of the stack. What is below has no type: an IP packet that fits, or a pseudowire, which may have a
    /// control word that begins with nibble 0 (RFC 4385). An address may begin with any of these.
    pub(super) fn mpls(&mut self) -> Result<LayerStep<'a>, Stop> {
        const LAYER: &str = "MPLS";
        const CONTROL_WORD_LEN: usize = 4;
        loop {
            self.stacked("a stack of too many MPLS labels")?;
            let &[_, _, bottom, _] = self.take::<4>(LAYER)?;
            if bottom & 1 == 1 {
                break;
            }
        }
        let &[first] = self.peek::<1>(LAYER)?;
        // Cut before its length, it cannot show that it fits.
        const LENGTH_AT: usize = 6;
        let is_cut = self.bytes.len() < LENGTH_AT;
        match first >> 4 {
            4 | 6 if is_cut || fits_ip(self.bytes, self.len) => self.ip(false),
            _ if is_ethernet(self.bytes, self.len) => Ok(LayerStep::Below(Layer::Ethernet)),
            0 => {
                self.skip(LAYER, CONTROL_WORD_LEN)?;
                Ok(LayerStep::Below(Layer::Ethernet))
            }
            _ => Err(Stop::Other("an MPLS payload")),
        }
    }
}

fn ether_type_name(ether_type: u16) -> &'static str {
    match ether_type {
        0x0806 => "ARP",
        0x8035 => "RARP",
        0x8137 => "IPX",
        0x8808 => "Ethernet flow control",
        0x8809 => "LACP",
        0x888e => "802.1X",
        0x88cc => "LLDP",
        0x88e5 => "MACsec",
        0x88e7 => "802.1ah",
        0x88f7 => "PTP",
        0x8902 => "CFM",
        0x9000 => "Ethernet loopback test",
        _ => "another EtherType",
    }
}
