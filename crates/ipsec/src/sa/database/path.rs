//! Which SA a packet is of: where it goes, and whether its number goes on, where one of its ends moved.

use super::{SaContext, SaDatabase, SaIndex};
use crate::esp::cipher::Icv;
use crate::sa::association::{Association, NumberCourse};
use crate::sa::specimen::Specimen;
use crate::sa::tunnel::TunnelIndex;
use crate::sa::whereabouts::OuterPath;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::spi::{IpsecProtocol, SaId, Spi};
use rekeyscope_model::time::Timestamp;

/// SAs with the SPI of a packet that are looked at where its receiver moved, the newest: peers that count their SPIs up from the
/// same number share a few.
const MOST_NAMESAKES: usize = 16;
/// Names that lead to SAs without looking for their tunnels, 6 MB; packets with further ones are looked for each time.
const MOST_NAMES: usize = 4 * SaDatabase::MAX_SAS;

/// A packet that looks for its SA.
#[derive(Debug, Clone, Copy)]
pub struct Arriving<'a> {
    /// Where it was seen.
    pub path: OuterPath,
    /// ESP or AH.
    pub protocol: IpsecProtocol,
    /// SPI.
    pub spi: Spi,
    /// The lower half of its number.
    pub number: u32,
    /// When.
    pub time: Timestamp,
    /// Its bytes, where an ICV can be checked.
    pub specimen: Option<Specimen<'a>>,
}

impl SaDatabase {
    /// The SA whose newest packet took the same path, with this one taken in.
    #[inline]
    pub fn on_path(&mut self, packet: &Arriving<'_>) -> Option<SaIndex> {
        let sa = self.newest(packet.path.dst, packet.protocol, packet.spi)?;
        let course = self.associations[sa].course.as_mut()?;
        if course.path != packet.path {
            return None;
        }
        course.advance(&packet.path, packet.time, packet.number);
        Some(sa)
    }

    /// The newest generation of an SA of this end of a tunnel.
    pub fn of_end(
        &self,
        tunnel: TunnelIndex,
        direction: Direction,
        protocol: IpsecProtocol,
        spi: Spi,
    ) -> Option<SaIndex> {
        self.by_end.get(&(tunnel, direction, protocol, spi)).copied()
    }

    /// The SA that a packet goes on with, of which its tunnel knows nothing. Its receiver chose the SPI (RFC 4301 §4.1), so the same receiver
    /// and SPI are the same SA while the numbers go on, wherever the sender is. Where the receiver moved, the sender is the same,
    /// and so is the SPI: numbers that go on closely tell it from another receiver's, and its key, where that is proven, for
    /// certain.
    pub fn going_on(&self, packet: &Arriving<'_>, is_known_tunnel: bool) -> Option<SaIndex> {
        let OuterPath { src, dst, udp } = packet.path;
        let of_receiver = self.newest(dst, packet.protocol, packet.spi);
        if let Some(sa) = of_receiver {
            let association = &self.associations[sa];
            let Some(course) = &association.course else {
                return Some(sa); // IKE named it
            };
            // Behind one address may be several receivers, each at its port.
            let same_port = course.path.udp.map(|u| u.dst) == udp.map(|u| u.dst);
            let goes_on = if same_port {
                course.goes_on(packet.number)
            } else {
                course.goes_on_closely(packet.time, packet.number)
            };
            if fits(association, packet).unwrap_or(goes_on) {
                return Some(sa);
            }
        }
        // Between known places nobody moved, and the SPI is another receiver's.
        if is_known_tunnel {
            return None;
        }
        let namesakes = self.by_spi.get(&packet.spi)?.iter().rev().take(MOST_NAMESAKES);
        let mut continued = namesakes.filter(|&&sa| {
            let association = &self.associations[sa];
            association.protocol == packet.protocol
                && association.course.is_some_and(|course| {
                    course.path.src == src
                        && course.path.dst != dst
                        && fits(association, packet)
                            .unwrap_or_else(|| course.goes_on_closely(packet.time, packet.number))
                })
        });
        let only = continued.next().copied();
        only.filter(|_| continued.next().is_none())
    }

    /// The SA that a packet of a tunnel names, made on first sight; `None` at the bound.
    pub fn of_packet(&mut self, context: SaContext, spi: Spi) -> Option<SaIndex> {
        self.of_end(context.tunnel, context.direction, context.protocol, spi)
            .or_else(|| self.insert(context, spi))
    }

    /// A packet that was looked for, of this SA. Whether it shows where the SA's packets go from now on: a late one does not.
    pub fn take_path(&mut self, sa: SaIndex, packet: &Arriving<'_>) -> bool {
        let association = &mut self.associations[sa];
        association.take_place((packet.path.src, packet.path.dst));
        let newer = match &mut association.course {
            Some(course) => course.advance(&packet.path, packet.time, packet.number),
            none => {
                *none = Some(NumberCourse::begin(packet.path, packet.time, packet.number));
                true
            }
        };
        let (dst, protocol, spi) = (packet.path.dst, packet.protocol, packet.spi);
        let name = SaId { dst, protocol, spi };
        if self.newest.len() < MOST_NAMES || self.newest.contains_key(&name) {
            self.newest.insert(name, sa);
        }
        newer
    }
}

/// Whether the packet's ICV fits the SA's proven key; `None` where that cannot be said.
fn fits(association: &Association, packet: &Arriving<'_>) -> Option<bool> {
    let specimen = packet.specimen.filter(|s| s.whole && association.proven)?;
    let cipher = association.cipher()?;
    match cipher.verify(specimen.packet, association.esn_high(packet.number)) {
        Icv::Verified => Some(true),
        Icv::Failed => Some(false),
        Icv::Unchecked => None,
    }
}
