//! libpcap files (draft-ietf-opsawg-pcap): a 24-byte header, then records. Microseconds or nanoseconds, either byte
//! order, and the "modified" records of old Linux libpcap.

use super::buffer::Buffer;
use super::order::Order;
use super::record::{End, Record, Step};
use super::{CaptureInfo, LinkType};
use crate::time::{NANOS_PER_SECOND, Timestamp};
use std::io;

const FILE_HEADER_LEN: usize = 24;
const RECORD_HEADER_LEN: usize = 16;
/// Interface index, protocol and packet type after the usual record header.
const MODIFIED_RECORD_HEADER_LEN: usize = 24;
/// The largest snap length of libpcap (`MAXIMUM_SNAPLEN`): no record is longer unless the file header allows it.
const USUAL_SNAP_LEN: usize = 262_144;
/// Most that a file header can allow. Larger ones are written by tools that mean "no limit".
const LARGEST_SNAP_LEN: usize = 16 * 1024 * 1024;

/// Order and width of the fields, as the magic tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Magic {
    order: Order,
    nanos_per_tick: i64,
    record_header_len: usize,
}

impl Magic {
    /// `None` when the bytes do not begin a pcap file.
    pub(super) fn read(head: &[u8]) -> Option<Magic> {
        let known = |value: u32| match value {
            0xa1b2_c3d4 => Some((1_000, RECORD_HEADER_LEN)),
            0xa1b2_3c4d => Some((1, RECORD_HEADER_LEN)),
            0xa1b2_cd34 => Some((1_000, MODIFIED_RECORD_HEADER_LEN)),
            _ => None,
        };
        [Order::Little, Order::Big].into_iter().find_map(|order| {
            let (nanos_per_tick, record_header_len) = known(order.u32(head, 0)?)?;
            Some(Magic {
                order,
                nanos_per_tick,
                record_header_len,
            })
        })
    }

    #[inline]
    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        self.order.u32(bytes, at).unwrap_or(0)
    }
}

/// The state of a walk through a pcap file.
#[derive(Debug)]
pub(super) struct PcapWalk {
    magic: Magic,
    /// `None` until the file header was read.
    header: Option<Header>,
}

#[derive(Debug, Clone, Copy)]
struct Header {
    link_type: LinkType,
    largest: usize,
    /// Before version 2.4 some writers put the original length first.
    lengths_may_be_swapped: bool,
}

impl PcapWalk {
    pub(super) fn new(magic: Magic) -> PcapWalk {
        PcapWalk { magic, header: None }
    }

    /// The next packet, with the buffer behind it.
    #[inline]
    pub(super) fn step(&mut self, buffer: &mut Buffer, info: &mut CaptureInfo) -> io::Result<Step> {
        let header = match self.header {
            Some(header) => header,
            None => match self.read_header(buffer, info)? {
                Some(header) => header,
                None => return Ok(Step::End(End::Cut)),
            },
        };
        let fixed = self.magic.record_header_len;
        if !buffer.ensure(fixed)? {
            let clean = buffer.available().is_empty();
            return Ok(Step::End(if clean { End::Clean } else { End::Cut }));
        }
        let head = buffer.available();
        let (seconds, ticks) = (self.magic.u32(head, 0), self.magic.u32(head, 4));
        let (mut captured, mut original) = (self.magic.u32(head, 8), self.magic.u32(head, 12));
        if header.lengths_may_be_swapped && captured > original {
            std::mem::swap(&mut captured, &mut original);
        }
        if captured as usize > header.largest {
            return Ok(Step::End(End::Damaged(
                "a packet that is longer than the snap length allows",
            )));
        }
        if (seconds | ticks | captured | original) == 0 {
            return Ok(Step::End(End::Damaged("zero bytes where a packet should begin")));
        }
        let captured_len = captured as usize;
        if !buffer.ensure(fixed + captured_len)? {
            return Ok(Step::End(End::Cut));
        }
        buffer.consume(fixed + captured_len);
        Ok(Step::Packet(Record {
            time: Timestamp(
                i64::from(seconds) * NANOS_PER_SECOND + i64::from(ticks) * self.magic.nanos_per_tick,
            ),
            link_type: header.link_type,
            original_len: original.max(captured),
            back: 0,
            len: captured_len,
        }))
    }

    #[cold]
    fn read_header(&mut self, buffer: &mut Buffer, info: &mut CaptureInfo) -> io::Result<Option<Header>> {
        if !buffer.ensure(FILE_HEADER_LEN)? {
            return Ok(None);
        }
        let head = buffer.available();
        let minor = self.magic.order.u16(head, 6);
        let snap_len = self.magic.u32(head, 16) as usize;
        // The upper bits tell about a frame check sequence, not the link type.
        let link_type = LinkType(self.magic.u32(head, 20) as u16);
        let header = Header {
            link_type,
            largest: snap_len.clamp(USUAL_SNAP_LEN, LARGEST_SNAP_LEN),
            lengths_may_be_swapped: minor.is_some_and(|minor| minor < 4),
        };
        buffer.consume(FILE_HEADER_LEN);
        info.note_link_type(link_type);
        self.header = Some(header);
        Ok(Some(header))
    }
}
