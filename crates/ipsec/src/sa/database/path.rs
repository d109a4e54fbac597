//! Choice of a packet's SA: by its path, and by its number if an end moved.

use super::{SaDatabase, SaIndex};
use crate::esp::cipher::Icv;
use crate::sa::association::{Association, NumberCourse, SaContext};
use crate::sa::specimen::Specimen;
use crate::sa::tunnel::TunnelIndex;
use crate::sa::whereabouts::OuterPath;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::spi::{IpsecProtocol, SaId, Spi};
use rekeyscope_model::time::Timestamp;

/// Newest SAs with the SPI of a packet that are tried if its receiver moved, a bound on time: peers that count their SPIs up from the
/// same number share a few.
const MOST_NAMESAKES: usize = 16;
/// Names that lead to SAs without a search for their tunnels, a bound on memory (6 MB); further names are searched for each time.
const MOST_NAMES: usize = 4 * SaDatabase::MAX_SAS;

/// A packet that looks for its SA.
#[derive(Debug, Clone, Copy)]
pub struct Arriving<'a> {
    /// Path of the packet.
    pub path: OuterPath,
    /// ESP or AH.
    pub protocol: IpsecProtocol,
    /// SPI.
    pub spi: Spi,
    /// Lower half of the sequence number.
    pub number: u32,
    /// Time.
    pub time: Timestamp,
    /// Bytes of the packet, where an ICV can be checked.
    pub specimen: Option<Specimen<'a>>,
}

impl SaDatabase {
    /// The SA whose newest packet took the same path; takes this packet in.
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

    /// The SA that a packet goes on with, though its tunnel does not know that SA. The receiver chose the SPI (RFC 4301 §4.1), so the same
    /// receiver and SPI are the same SA while the numbers go on, wherever the sender is. If the receiver moved, sender and SPI are the
    /// same: numbers that go on closely tell the SA from another receiver's, and a proven key does for certain.
    pub fn going_on(&self, packet: &Arriving<'_>, is_known_tunnel: bool) -> Option<SaIndex> {
        let OuterPath { src, dst, udp } = packet.path;
        let of_receiver = self.newest(dst, packet.protocol, packet.spi);
        if let Some(sa) = of_receiver {
            let association = &self.associations[sa];
            let Some(course) = &association.course else {
                return Some(sa); // IKE named it
            };
            // Several receivers may be behind one address, each at its port.
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
        // Nobody moved between known places, so the SPI is another receiver's.
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

    /// Takes in a packet of this SA; false for a late one, whose path says nothing new.
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

/// Tells whether the packet's ICV fits the SA's proven key; `None` where that cannot be said.
fn fits(association: &Association, packet: &Arriving<'_>) -> Option<bool> {
    let specimen = packet.specimen.filter(|s| s.whole && association.proven)?;
    let cipher = association.cipher()?;
    match cipher.verify(specimen.packet, association.esn_high(packet.number)) {
        Icv::Verified => Some(true),
        Icv::Failed => Some(false),
        Icv::Unchecked => None,
    }
}
