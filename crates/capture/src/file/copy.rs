//! A capture → a pcapng file with the same packets and comments on some of them, or with other packets in their places.
//! Block by block, so memory stays bounded; times keep their resolution. Of a pcapng file sections, interfaces, names and
//! statistics stay; other containers get one section with an interface per link type.

use crate::file::frame::{Frame, Item, Raw};
use crate::file::link_type::LinkType;
use crate::file::order::ByteOrder;
use crate::file::pcapng::OBSOLETE_PACKET;
use crate::file::secrets::{ESP_SECRETS, SECRETS_BLOCK};
use crate::file::sound::{self, LONGEST_PACKET, are_sound_options, is_sound, sound_options};
use crate::file::write::{self, BlockPlace};
use pcap_parser::{EPB_MAGIC, IDB_MAGIC, ISB_MAGIC, NRB_MAGIC, SHB_MAGIC, SPB_MAGIC};
use rekeyscope_model::secret::SecretBytes;
use std::io::{self, Write};

/// Bits of `epb_flags` that also hold for what was inside the packet: its direction (§4.3.1).
const DIRECTION_FLAGS: u32 = 3;
/// Most link types of a capture that is not pcapng; packets of further ones are left out of a copy.
const MOST_INTERFACES: usize = 64;

/// A pcapng file being written from the [`Item`]s of a capture.
#[derive(Debug)]
pub struct CaptureCopy<W> {
    out: W,
    /// Link type of all packets where others take their places.
    replaced: Option<LinkType>,
    /// The section that is being written; `None` before the first one.
    section: Option<SectionCopy>,
    /// True where an interface is described: programs refuse a file without any.
    has_interface: bool,
    /// Rows to be written behind the first section header.
    esp_secrets: Option<SecretBytes>,
    scratch: Vec<u8>,
}

/// A section, and the interfaces that it has described.
#[derive(Debug)]
enum SectionCopy {
    /// Interfaces of the capture, as they are there; with the snap length of the first one.
    Copied { order: ByteOrder, snap_len: Option<u32> },
    /// Interfaces for packets of other containers: link type, and nanoseconds per tick.
    Own(Vec<(LinkType, i64)>),
}

impl<W: Write> CaptureCopy<W> {
    /// The same packets.
    pub fn of_packets(out: W) -> Self {
        CaptureCopy {
            out,
            replaced: None,
            section: None,
            has_interface: false,
            esp_secrets: None,
            scratch: Vec::new(),
        }
    }

    /// Other packets, of this link type, in the places of some. Packets that get no [`CaptureCopy::replace`] and blocks
    /// that speak of packets are left out.
    pub fn with_other_packets(out: W, link_type: LinkType) -> Self {
        CaptureCopy {
            replaced: Some(link_type),
            ..Self::of_packets(out)
        }
    }

    /// Puts these rows of `esp_sa` in front of all packets, in a Decryption Secrets Block.
    pub fn with_esp_secrets(self, rows: SecretBytes) -> Self {
        CaptureCopy {
            esp_secrets: Some(rows),
            ..self
        }
    }

    /// Copies a step as it is; with other packets, only what describes the capture.
    ///
    /// # Errors
    /// Those of the output.
    pub fn pass(&mut self, item: &Item<'_>) -> io::Result<()> {
        match (item.raw, item.frame) {
            (Raw::Block { bytes, order }, _) => self.pass_block(item, bytes, order),
            (Raw::Record { .. }, Some(frame)) if self.replaced.is_none() => self.write(item, &frame, None),
            (Raw::Record { .. }, _) => Ok(()),
        }
    }

    /// Copies a packet with one more comment.
    ///
    /// # Errors
    /// Those of the output.
    pub fn annotate(&mut self, item: &Item<'_>, comment: &str) -> io::Result<()> {
        match item.frame {
            Some(frame) => self.write(item, &frame, Some(comment)),
            None => self.pass(item),
        }
    }

    /// Writes `data` in the place of the item's packet, with its time, direction and comments and one comment more.
    ///
    /// # Errors
    /// Those of the output.
    pub fn replace(&mut self, item: &Item<'_>, data: &[u8], comment: &str) -> io::Result<()> {
        let Some(frame) = item.frame else { return Ok(()) };
        let packet = Frame {
            original_len: data.len() as u32,
            data,
            block: None,
            ..frame
        };
        self.write(item, &packet, Some(comment))
    }

    /// Ends the file. One without any packet has a section and an interface, of `link_type` or of the other packets', at
    /// least.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, link_type: LinkType) -> io::Result<W> {
        if self.section.is_none() {
            self.begin()?;
        }
        if !self.has_interface {
            self.describe(self.replaced.unwrap_or(link_type), 0, 6)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    /// Begins a section of our own.
    fn begin(&mut self) -> io::Result<()> {
        let order = ByteOrder::Little;
        self.begin_with(&write::section_header(order), order, SectionCopy::Own(Vec::new()))
    }

    fn begin_with(&mut self, header: &[u8], order: ByteOrder, section: SectionCopy) -> io::Result<()> {
        self.out.write_all(header)?;
        self.section = Some(section);
        self.write_secrets(order)
    }

    /// §4.7, from the memory of the rows itself: a copy of them would not be wiped.
    fn write_secrets(&mut self, order: ByteOrder) -> io::Result<()> {
        let Some(rows) = self.esp_secrets.take() else {
            return Ok(());
        };
        let padding = rows.len().next_multiple_of(4) - rows.len();
        let block_len = order.u32_bytes((20 + rows.len() + padding) as u32);
        self.out.write_all(&order.u32_bytes(SECRETS_BLOCK))?;
        self.out.write_all(&block_len)?;
        self.out.write_all(&order.u32_bytes(ESP_SECRETS))?;
        self.out.write_all(&order.u32_bytes(rows.len() as u32))?;
        self.out.write_all(rows.expose())?;
        self.out.write_all([0; 3].get(..padding).unwrap_or_default())?;
        self.out.write_all(&block_len)
    }

    fn pass_block(&mut self, item: &Item<'_>, bytes: &[u8], order: ByteOrder) -> io::Result<()> {
        match order.u32(bytes, 0).unwrap_or(0) {
            SHB_MAGIC => {
                let section = SectionCopy::Copied {
                    order,
                    snap_len: None,
                };
                self.begin_with(&write::copied_section_header(order, bytes), order, section)
            }
            IDB_MAGIC => {
                self.has_interface = true;
                if let Some(SectionCopy::Copied { snap_len, .. }) = &mut self.section {
                    snap_len.get_or_insert(order.u32(bytes, 12).unwrap_or(0));
                }
                self.out
                    .write_all(&write::copied_interface(order, bytes, self.replaced))
            }
            EPB_MAGIC | OBSOLETE_PACKET | SPB_MAGIC => match item.frame {
                // Other programs stop at a packet of an interface that is not described.
                None => Ok(()),
                Some(_) if self.replaced.is_some() => Ok(()),
                Some(frame) if self.is_sound_packet(order, bytes, &frame) => self.out.write_all(bytes),
                Some(frame) => self.write(item, &frame, None),
            },
            NRB_MAGIC | ISB_MAGIC if is_sound(order, bytes) => self.out.write_all(bytes),
            _ if self.replaced.is_none() && is_sound(order, bytes) => self.out.write_all(bytes),
            _ => Ok(()),
        }
    }

    /// True where the block of a packet may be copied as it is.
    fn is_sound_packet(&self, order: ByteOrder, bytes: &[u8], frame: &Frame<'_>) -> bool {
        let sound = match (order.u32(bytes, 0), &self.section) {
            (Some(SPB_MAGIC), Some(SectionCopy::Copied { snap_len, .. })) => {
                let limit = snap_len.filter(|len| *len > 0).unwrap_or(u32::MAX);
                frame.data.len() == frame.original_len.min(limit) as usize
            }
            (Some(kind), _) => options_at(order, bytes)
                .and_then(|at| bytes.get(at..bytes.len() - 4))
                .is_some_and(|tail| are_sound_options(order, kind, tail)),
            (None, _) => false,
        };
        sound && frame.data.len() <= LONGEST_PACKET
    }

    fn write(&mut self, item: &Item<'_>, packet: &Frame<'_>, comment: Option<&str>) -> io::Result<()> {
        let Some(mut place) = self.place(item, packet)? else {
            return Ok(());
        };
        if self.replaced.is_some() {
            place.options = options_of_others(place.order, &place.options);
        }
        let scratch = std::mem::take(&mut self.scratch);
        self.scratch = write::enhanced_packet(&place, packet, comment, scratch);
        self.out.write_all(&self.scratch)
    }

    /// The interface of a packet; `None` beyond [`MOST_INTERFACES`].
    fn place(&mut self, item: &Item<'_>, packet: &Frame<'_>) -> io::Result<Option<BlockPlace>> {
        match item.raw {
            Raw::Block { bytes, order } => Ok(place_of_block(order, bytes)),
            Raw::Record {
                nanos_per_tick,
                snap_len,
            } => {
                let Some(interface) = self.interface(packet.link_type, snap_len, nanos_per_tick)? else {
                    return Ok(None);
                };
                Ok(Some(BlockPlace {
                    order: ByteOrder::Little,
                    interface,
                    // Before 1970 no container but pcapng can be.
                    ticks: u64::try_from(packet.time.0 / nanos_per_tick.max(1)).unwrap_or(0),
                    options: Vec::new(),
                }))
            }
        }
    }

    /// The interface for a link type, described on first sight.
    fn interface(
        &mut self,
        link_type: LinkType,
        snap_len: u32,
        nanos_per_tick: i64,
    ) -> io::Result<Option<u32>> {
        // Behind a section that was copied comes one of our own.
        if !matches!(self.section, Some(SectionCopy::Own(_))) {
            self.begin()?;
        }
        let Some(SectionCopy::Own(described)) = &mut self.section else {
            return Ok(None);
        };
        let wanted = (link_type, nanos_per_tick);
        if let Some(known) = described.iter().position(|described| *described == wanted) {
            return Ok(Some(known as u32));
        }
        if described.len() >= MOST_INTERFACES {
            return Ok(None);
        }
        described.push(wanted);
        let interface = described.len() as u32 - 1;
        let decimals = if nanos_per_tick == 1 { 9 } else { 6 };
        self.describe(self.replaced.unwrap_or(link_type), snap_len, decimals)?;
        Ok(Some(interface))
    }

    fn describe(&mut self, link_type: LinkType, snap_len: u32, decimals: u8) -> io::Result<()> {
        self.has_interface = true;
        let order = match self.section {
            Some(SectionCopy::Copied { order, .. }) => order,
            _ => ByteOrder::Little,
        };
        let block = write::interface_description(order, link_type, snap_len, decimals);
        self.out.write_all(&block)
    }
}

/// Offset of the options in an enhanced or an obsolete packet (§4.3, Appendix A).
fn options_at(order: ByteOrder, bytes: &[u8]) -> Option<usize> {
    (order.u32(bytes, 20)? as usize)
        .checked_next_multiple_of(4)?
        .checked_add(28)
}

/// Interface, time and options of a packet block of any kind. A simple packet has no time (0, as Wireshark shows it).
fn place_of_block(order: ByteOrder, bytes: &[u8]) -> Option<BlockPlace> {
    let field = |at| order.u32(bytes, at);
    let ticks = |high, low| Some(u64::from(field(high)?) << 32 | u64::from(field(low)?));
    let (interface, ticks, options) = match field(0)? {
        SPB_MAGIC => (0, 0, Vec::new()),
        kind => {
            let interface = match kind {
                EPB_MAGIC => field(8)?,
                _ => u32::from(order.u16(bytes, 8)?),
            };
            let tail = bytes.get(options_at(order, bytes)?..bytes.len() - 4)?;
            (interface, ticks(12, 16)?, sound_options(order, kind, tail))
        }
    };
    Some(BlockPlace {
        order,
        interface,
        ticks,
        options,
    })
}

/// The options that also hold for what was inside: no hash, and of the flags the direction.
fn options_of_others(order: ByteOrder, options: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(options.len());
    for (code, option) in sound::options(order, options) {
        match code {
            write::EPB_HASH => {}
            write::EPB_FLAGS => {
                let flags = order.u32(option, 4).unwrap_or(0) & DIRECTION_FLAGS;
                kept.extend_from_slice(option.get(..4).unwrap_or_default());
                kept.extend_from_slice(&order.u32_bytes(flags));
            }
            _ => kept.extend_from_slice(option),
        }
    }
    kept
}
