//! libpcap files (draft-ietf-opsawg-pcap): a 24-byte header, then records. Microseconds or nanoseconds, either byte
//! order, and the "modified" records of old Linux libpcap.
//!
//! pcap-parser reads header and records. Added here: limits on lengths, the swapped lengths of old writers, and the modified
//! format in big-endian.

use crate::file::buffer::Buffer;
use crate::file::info::CaptureInfo;
use crate::file::link_type::LinkType;
use crate::file::magic::{HEADER_LEN, MODIFIED_BIG, USUAL_BIG, begins_file, begins_section};
use crate::file::order::ByteOrder;
use crate::file::record::{CaptureEnd, ContainerRecord, RecordStep};
use pcap_parser::nom::{Err, IResult, Needed};
use pcap_parser::{
    LegacyPcapBlock, PcapError, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header,
};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::borrow::Cow;
use std::io;

const RECORD_HEADER_LEN: usize = 16;
/// Interface index, protocol and packet type after the usual record header.
const MODIFIED_RECORD_HEADER_LEN: usize = 24;
/// The largest snap length of libpcap (`MAXIMUM_SNAPLEN`): no record is longer unless the file header allows it.
const USUAL_SNAP_LEN: usize = 262_144;
/// Most that a file header can allow. Larger ones are written by tools that mean "no limit".
const LARGEST_SNAP_LEN: usize = 16 * 1024 * 1024;

type ParsedRecord<'b> = IResult<&'b [u8], LegacyPcapBlock<'b>, PcapError<&'b [u8]>>;

/// A walk through a pcap file, behind its header.
#[derive(Debug)]
pub(super) struct PcapWalk {
    parse: for<'b> fn(&'b [u8]) -> ParsedRecord<'b>,
    order: ByteOrder,
    record_header_len: usize,
    pub(super) nanos_per_tick: i64,
    link_type: LinkType,
    /// The longest record.
    pub(super) largest: usize,
    /// Before version 2.4 some writers put the original length first.
    lengths_may_be_swapped: bool,
}

impl PcapWalk {
    /// Reads the file header, which is whole in the buffer; `None` where there is another one.
    #[cold]
    pub(super) fn begin(buffer: &mut Buffer, info: &mut CaptureInfo) -> Option<PcapWalk> {
        let walk = PcapWalk::read(buffer.available().get(..HEADER_LEN)?)?;
        buffer.consume(HEADER_LEN);
        info.note_link_type(walk.link_type);
        Some(walk)
    }

    fn read(head: &[u8]) -> Option<PcapWalk> {
        let head = match head.strip_prefix(MODIFIED_BIG) {
            Some(rest) => Cow::Owned([USUAL_BIG, rest].concat()),
            None => Cow::Borrowed(head),
        };
        let (_, told) = parse_pcap_header(&head).ok()?;
        let modified = told.is_modified_format() || matches!(head, Cow::Owned(_));
        Some(PcapWalk {
            parse: match (told.is_bigendian(), modified) {
                (true, _) => parse_pcap_frame_be,
                (false, true) => parse_pcap_frame_modified,
                (false, false) => parse_pcap_frame,
            },
            order: if told.is_bigendian() {
                ByteOrder::Big
            } else {
                ByteOrder::Little
            },
            record_header_len: if modified {
                MODIFIED_RECORD_HEADER_LEN
            } else {
                RECORD_HEADER_LEN
            },
            nanos_per_tick: if told.is_nanosecond_precision() { 1 } else { 1_000 },
            // The upper bits tell about a frame check sequence, not the link type.
            link_type: LinkType(told.network.0 as u16),
            largest: (told.snaplen as usize).clamp(USUAL_SNAP_LEN, LARGEST_SNAP_LEN),
            lengths_may_be_swapped: told.version_minor < 4,
        })
    }

    /// pcap-parser takes the first length for the captured one in every version: the smaller one is put there
    /// (`old_pcap_versions_may_swap_the_two_lengths`).
    #[cold]
    fn put_captured_first(&self, head: &mut [u8]) {
        if let Some(lengths) = head.get_mut(8..RECORD_HEADER_LEN)
            && self.order.u32(lengths, 0) > self.order.u32(lengths, 4)
        {
            lengths.rotate_left(4);
        }
    }

    #[inline]
    fn record(&self, block: &LegacyPcapBlock<'_>) -> ContainerRecord {
        let (seconds, ticks) = (i64::from(block.ts_sec), i64::from(block.ts_usec));
        ContainerRecord {
            time: Timestamp(seconds * NANOS_PER_SECOND + ticks * self.nanos_per_tick),
            link_type: self.link_type,
            original_len: block.origlen.max(block.caplen),
            back: 0,
            len: block.caplen as usize,
        }
    }

    /// The next packet, with the buffer behind it.
    #[inline]
    pub(super) fn step(&self, buffer: &mut Buffer) -> io::Result<RecordStep> {
        let damaged = |what| Ok(RecordStep::End(CaptureEnd::Damaged(what)));
        loop {
            if self.lengths_may_be_swapped {
                self.put_captured_first(buffer.available_mut());
            }
            if begins_file(buffer)? || begins_section(buffer)? {
                return Ok(RecordStep::Appended);
            }
            let available = buffer.available();
            let (needed, record) = match (self.parse)(available) {
                Ok((_, block)) if (block.ts_sec | block.ts_usec | block.caplen | block.origlen) == 0 => {
                    return damaged("zero bytes where a packet should begin");
                }
                Ok((_, block)) => (
                    self.record_header_len + block.caplen as usize,
                    Some(self.record(&block)),
                ),
                Err(Err::Incomplete(Needed::Size(more))) => (available.len() + more.get(), None),
                Err(_) => return damaged("something that is no packet"),
            };
            if needed > self.record_header_len + self.largest {
                return damaged("a packet that is longer than the snap length allows");
            }
            if !buffer.ensure(needed)? {
                return Ok(RecordStep::End(buffer.ending()));
            }
            if let Some(record) = record {
                buffer.consume(needed);
                return Ok(RecordStep::Packet(record));
            }
        }
    }
}
