//! GRE (RFC 2784, 2890; version 1 of RFC 2637), Ethernet and what an EtherType announces, EtherIP (RFC 3378), MPLS
//! (RFC 3032, 4023).

use super::{Layer, Layers, Step, Walk};

/// Most VLAN tags or MPLS labels in a row.
const MOST_TAGS: usize = 8;
/// EtherTypes below this are IEEE 802.3 lengths.
const FIRST_ETHER_TYPE: u16 = 0x0600;

impl Walk<'_> {
    pub(super) fn gre(&mut self) -> Step {
        self.inner.layers = self.inner.layers.with(Layers::GRE);
        let &[f0, f1, t0, t1] = self.take::<4>().ok_or("GRE")?;
        let (flags, ether_type) = (u16::from_be_bytes([f0, f1]), u16::from_be_bytes([t0, t1]));
        let optional = |flag: u16, len: usize| if flags & flag != 0 { len } else { 0 };
        let (checksum, routing, key, sequence, acknowledgement) = (0x8000, 0x4000, 0x2000, 0x1000, 0x0080);
        match flags & 7 {
            0 if flags & routing == 0 => {
                self.skip(optional(checksum, 4) + optional(key, 4) + optional(sequence, 4))
                    .ok_or("GRE")?;
                Ok(Some(Layer::EtherType(ether_type)))
            }
            0 => Err("GRE source routing"),
            // PPTP: the key holds payload length and call (RFC 2637 §4.1); no payload: an acknowledgement.
            1 if ether_type == 0x880b => {
                let &[l0, l1, _, _] = self.take::<4>().ok_or("GRE")?;
                self.skip(optional(sequence, 4) + optional(acknowledgement, 4))
                    .ok_or("GRE")?;
                self.cut_to(usize::from(u16::from_be_bytes([l0, l1])));
                if self.len == 0 {
                    Err("PPTP acknowledgement")
                } else {
                    Ok(Some(Layer::Ppp))
                }
            }
            _ => Err("GRE"),
        }
    }

    pub(super) fn ether_ip(&mut self) -> Step {
        match self.take::<2>() {
            Some([0x30, 0]) => Ok(Some(Layer::Ethernet)),
            _ => Err("EtherIP"),
        }
    }

    pub(super) fn ethernet(&mut self) -> Step {
        self.descend(Layers::ETHERNET)?;
        self.skip(12).ok_or("Ethernet")?;
        let ether_type = u16::from_be_bytes(*self.take::<2>().ok_or("Ethernet")?);
        Ok(Some(Layer::EtherType(ether_type)))
    }

    /// What an EtherType announces; VLAN tags are passed over.
    pub(super) fn ether_type(&mut self, mut number: u16) -> Step {
        for _ in 0..MOST_TAGS {
            if !matches!(number, 0x8100 | 0x88a8 | 0x9100 | 0x9200) {
                break;
            }
            let &[_, _, t0, t1] = self.take::<4>().ok_or("VLAN")?;
            number = u16::from_be_bytes([t0, t1]);
        }
        match number {
            0x0800 | 0x86dd => self.ip_by_version(),
            // Transparent Ethernet bridging (gretap).
            0x6558 => Ok(Some(Layer::Ethernet)),
            0x880b => Ok(Some(Layer::Ppp)),
            0x8847 | 0x8848 => self.mpls(),
            0x8864 => {
                let &[0x11, 0, _, _, l0, l1] = self.take::<6>().ok_or("PPPoE")? else {
                    return Err("PPPoE");
                };
                self.cut_to(usize::from(u16::from_be_bytes([l0, l1])));
                Ok(Some(Layer::Ppp))
            }
            0x0806 => Err("ARP"),
            ..FIRST_ETHER_TYPE => Err("LLC"),
            _ => Err("EtherType"),
        }
    }

    /// A label stack, then by custom an IP packet (RFC 3032 §2.1: the bottom label tells, which a capture cannot know).
    pub(super) fn mpls(&mut self) -> Step {
        for _ in 0..MOST_TAGS {
            let &[_, _, exp_bottom, _] = self.take::<4>().ok_or("MPLS")?;
            if exp_bottom & 1 == 1 {
                return self.ip_by_version();
            }
        }
        Err("MPLS")
    }
}
