//! A capture → a pcapng file with the same packets and comments on some of them, or with other packets in their places.
//! Block by block, so memory stays bounded; times keep their resolution. Of a pcapng file sections, interfaces, names and
//! statistics stay; other containers get one section with an interface per link type.

use crate::file::frame::{Frame, Item, Raw};
use crate::file::link_type::LinkType;
use crate::file::order::ByteOrder;
use crate::file::secrets::{ESP_SECRETS, SECRETS_BLOCK};
use crate::file::write::{self, EnhancedPacket};
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
    /// Link types described so far, for containers that have no interfaces.
    described: Vec<LinkType>,
    begun: bool,
    /// Byte order of the section that is being written.
    order: ByteOrder,
    /// True where an interface is described: programs refuse a file without any.
    has_interface: bool,
    /// Rows to be written behind the first section header.
    esp_secrets: Option<SecretBytes>,
    scratch: Vec<u8>,
}

/// A packet's place in a pcapng file.
struct BlockPlace<'a> {
    order: ByteOrder,
    interface: u32,
    ticks: u64,
    options: &'a [u8],
}

impl<W: Write> CaptureCopy<W> {
    /// The same packets.
    pub fn of_packets(out: W) -> Self {
        CaptureCopy {
            out,
            replaced: None,
            described: Vec::new(),
            begun: false,
            order: ByteOrder::Little,
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
            (Raw::Block { bytes, order }, _) => self.pass_block(bytes, order),
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
        self.begin()?;
        if !self.has_interface {
            self.describe(self.replaced.unwrap_or(link_type), 0, 6)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.out.write_all(&write::section_header(ByteOrder::Little))?;
            self.write_secrets()?;
        }
        Ok(())
    }

    /// §4.7, from the memory of the rows itself: a copy of them would not be wiped.
    fn write_secrets(&mut self) -> io::Result<()> {
        let Some(rows) = self.esp_secrets.take() else {
            return Ok(());
        };
        let order = self.order;
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

    fn pass_block(&mut self, bytes: &[u8], order: ByteOrder) -> io::Result<()> {
        match order.u32(bytes, 0).unwrap_or(0) {
            SHB_MAGIC => {
                (self.begun, self.order) = (true, order);
                self.out.write_all(&write::copied_section_header(order, bytes))?;
                self.write_secrets()
            }
            IDB_MAGIC => {
                self.has_interface = true;
                match (self.replaced, bytes.split_at_checked(8)) {
                    (Some(link_type), Some((head, [_, _, rest @ ..]))) => {
                        self.out.write_all(head)?;
                        self.out.write_all(&order.u16_bytes(link_type.0))?;
                        self.out.write_all(rest)
                    }
                    _ => self.out.write_all(bytes),
                }
            }
            NRB_MAGIC | ISB_MAGIC => self.out.write_all(bytes),
            _ if self.replaced.is_some() => Ok(()),
            _ => self.out.write_all(bytes),
        }
    }

    fn write(&mut self, item: &Item<'_>, packet: &Frame<'_>, comment: Option<&str>) -> io::Result<()> {
        let link_type = item.frame.map(|frame| frame.link_type).unwrap_or_default();
        let Some(place) = self.place(item, packet, link_type)? else {
            return Ok(());
        };
        let kept;
        let options = if self.replaced.is_some() {
            kept = options_of_others(place.order, place.options);
            &kept
        } else {
            place.options
        };
        let block = EnhancedPacket {
            interface: place.interface,
            ticks: place.ticks,
            original_len: packet.original_len,
            data: packet.data,
            options,
            comment,
        };
        self.scratch = block.block(place.order, std::mem::take(&mut self.scratch));
        self.out.write_all(&self.scratch)
    }

    /// The interface of a packet; `None` beyond [`MOST_INTERFACES`].
    fn place<'a>(
        &mut self,
        item: &Item<'a>,
        packet: &Frame<'_>,
        link_type: LinkType,
    ) -> io::Result<Option<BlockPlace<'a>>> {
        match item.raw {
            Raw::Block { bytes, order } => Ok(place_of_block(order, bytes)),
            Raw::Record {
                nanos_per_tick,
                snap_len,
            } => {
                let Some(interface) = self.interface(link_type, snap_len, nanos_per_tick)? else {
                    return Ok(None);
                };
                Ok(Some(BlockPlace {
                    order: ByteOrder::Little,
                    interface,
                    // Before 1970 no container but pcapng can be.
                    ticks: u64::try_from(packet.time.0 / nanos_per_tick.max(1)).unwrap_or(0),
                    options: &[],
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
        if let Some(known) = self.described.iter().position(|&l| l == link_type) {
            return Ok(Some(known as u32));
        }
        if self.described.len() >= MOST_INTERFACES {
            return Ok(None);
        }
        self.begin()?;
        let decimals = if nanos_per_tick == 1 { 9 } else { 6 };
        self.describe(self.replaced.unwrap_or(link_type), snap_len, decimals)?;
        self.described.push(link_type);
        Ok(Some(self.described.len() as u32 - 1))
    }

    fn describe(&mut self, link_type: LinkType, snap_len: u32, decimals: u8) -> io::Result<()> {
        self.has_interface = true;
        let block = write::interface_description(self.order, link_type, snap_len, decimals);
        self.out.write_all(&block)
    }
}

/// Interface, time and options of a packet block of any kind. A simple packet has no time (0, as Wireshark shows it).
fn place_of_block(order: ByteOrder, bytes: &[u8]) -> Option<BlockPlace<'_>> {
    let field = |at| order.u32(bytes, at);
    let ticks = |high, low| Some(u64::from(field(high)?) << 32 | u64::from(field(low)?));
    let (interface, ticks, options) = match field(0)? {
        SPB_MAGIC => (0, 0, &[][..]),
        kind => {
            let interface = match kind {
                EPB_MAGIC => field(8)?,
                // The obsolete packet block (Appendix A).
                _ => u32::from(order.u16(bytes, 8)?),
            };
            let options_at = 28 + (field(20)? as usize).checked_next_multiple_of(4)?;
            let options = whole_options(order, bytes.get(options_at..bytes.len() - 4)?);
            (interface, ticks(12, 16)?, options)
        }
    };
    Some(BlockPlace {
        order,
        interface,
        ticks,
        options,
    })
}

/// The options before the end mark.
fn whole_options(order: ByteOrder, tail: &[u8]) -> &[u8] {
    let len: usize = write::options(order, tail).map(|(_, option)| option.len()).sum();
    tail.get(..len).unwrap_or_default()
}

/// The options that also hold for what was inside: no hash, and of the flags the direction.
fn options_of_others(order: ByteOrder, options: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(options.len());
    for (code, option) in write::options(order, options) {
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
