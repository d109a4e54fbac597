//! Writes synthetic captures for tests: the same packets in any container, byte order, resolution and compression.

use pcap_parser::SHB_MAGIC;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::io::Write;

/// A packet to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) time: Timestamp,
    pub(crate) original_len: u32,
    pub(crate) data: Vec<u8>,
}

impl Packet {
    pub(crate) fn new(time: i64, data: Vec<u8>) -> Packet {
        Packet {
            time: Timestamp(time),
            original_len: data.len() as u32,
            data,
        }
    }
}

/// Packets that differ in length, content and time (whole microseconds, so that every container can tell them).
pub(crate) fn packets(count: usize) -> Vec<Packet> {
    (0..count)
        .map(|i| {
            let data: Vec<u8> = (0..(i * 37) % 211).map(|b| (b * 7 + i) as u8).collect();
            let original_len = data.len() as u32 + if i % 5 == 4 { 1000 } else { 0 };
            let time = Timestamp(1_795_205_509 * NANOS_PER_SECOND + i as i64 * 123_456_000);
            Packet {
                time,
                original_len,
                data,
            }
        })
        .collect()
}

/// Packets that get smaller by a third only: 1.8 MB, several blocks in each compressed format.
pub(crate) fn noise() -> Vec<Packet> {
    let mut state = 7_u64;
    let mut noise = move || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let mut byte = move |at: usize| if at < 400 { noise() } else { 0x5a };
    (0..3000)
        .map(|i| Packet::new(i, (0..600).map(&mut byte).collect()))
        .collect()
}

/// Writes integers in one byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    pub(crate) const BOTH: [Order; 2] = [Order::Little, Order::Big];

    pub(crate) fn u16(self, out: &mut Vec<u8>, value: u16) {
        out.extend(if self == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }
    pub(crate) fn u32(self, out: &mut Vec<u8>, value: u32) {
        out.extend(if self == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }
    pub(crate) fn u64(self, out: &mut Vec<u8>, value: u64) {
        out.extend(if self == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }
}

/// The three kinds of pcap file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PcapKind {
    Micros,
    Nanos,
    Modified,
}

/// A pcap file and the offset behind each of its records (the first: behind the file header).
pub(crate) fn pcap(
    kind: PcapKind,
    order: Order,
    link_type: u16,
    packets: &[Packet],
) -> (Vec<u8>, Vec<usize>) {
    let (magic, nanos_per_tick) = match kind {
        PcapKind::Micros => (0xa1b2_c3d4, 1_000),
        PcapKind::Nanos => (0xa1b2_3c4d, 1),
        PcapKind::Modified => (0xa1b2_cd34, 1_000),
    };
    let mut out = Vec::new();
    order.u32(&mut out, magic);
    order.u16(&mut out, 2);
    order.u16(&mut out, 4);
    order.u64(&mut out, 0);
    order.u32(&mut out, 262_144);
    order.u32(&mut out, u32::from(link_type));
    let mut ends = vec![out.len()];
    for packet in packets {
        order.u32(&mut out, (packet.time.0 / NANOS_PER_SECOND) as u32);
        order.u32(
            &mut out,
            ((packet.time.0 % NANOS_PER_SECOND) / nanos_per_tick) as u32,
        );
        order.u32(&mut out, packet.data.len() as u32);
        order.u32(&mut out, packet.original_len);
        if kind == PcapKind::Modified {
            out.extend([0; 8]);
        }
        out.extend(&packet.data);
        ends.push(out.len());
    }
    (out, ends)
}

/// A pcapng file under construction.
pub(crate) struct Pcapng {
    pub(crate) order: Order,
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<usize>,
}

impl Pcapng {
    pub(crate) fn new(order: Order) -> Pcapng {
        let mut file = Pcapng {
            order,
            bytes: Vec::new(),
            ends: Vec::new(),
        };
        file.section(order);
        file
    }

    pub(crate) fn block(&mut self, kind: u32, body: &[u8]) {
        let padded = body.len().next_multiple_of(4);
        let len = padded as u32 + 12;
        self.order.u32(&mut self.bytes, kind);
        self.order.u32(&mut self.bytes, len);
        self.bytes.extend(body);
        self.bytes.extend(vec![0; padded - body.len()]);
        self.order.u32(&mut self.bytes, len);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn section(&mut self, order: Order) {
        self.order = order;
        let mut body = Vec::new();
        order.u32(&mut body, 0x1a2b_3c4d);
        order.u16(&mut body, 1);
        order.u16(&mut body, 0);
        order.u64(&mut body, u64::MAX);
        self.block(SHB_MAGIC, &body);
    }

    pub(crate) fn option(&self, out: &mut Vec<u8>, code: u16, value: &[u8]) {
        self.order.u16(out, code);
        self.order.u16(out, value.len() as u16);
        out.extend(value);
        out.extend(vec![0; value.len().next_multiple_of(4) - value.len()]);
    }

    pub(crate) fn interface(&mut self, link_type: u16, snap_len: u32, options: &[(u16, &[u8])]) {
        let mut body = Vec::new();
        self.order.u16(&mut body, link_type);
        self.order.u16(&mut body, 0);
        self.order.u32(&mut body, snap_len);
        self.options(&mut body, options);
        self.block(1, &body);
    }

    /// An interface with this resolution and offset.
    pub(crate) fn interface_with_clock(&mut self, link_type: u16, resolution: u8, offset: i64) {
        let mut seconds = Vec::new();
        self.order.u64(&mut seconds, offset.cast_unsigned());
        self.interface(link_type, 0, &[(2, b"eth0"), (9, &[resolution]), (14, &seconds)]);
    }

    fn options(&self, body: &mut Vec<u8>, options: &[(u16, &[u8])]) {
        for (code, value) in options {
            self.option(body, *code, value);
        }
        if !options.is_empty() {
            self.option(body, 0, &[]);
        }
    }

    pub(crate) fn enhanced(&mut self, interface: u32, ticks: u64, packet: &Packet, options: &[(u16, &[u8])]) {
        let mut body = Vec::new();
        self.order.u32(&mut body, interface);
        self.ticks_and_data(&mut body, ticks, packet);
        self.options(&mut body, options);
        self.block(6, &body);
    }

    pub(crate) fn obsolete(&mut self, interface: u16, drops: u16, ticks: u64, packet: &Packet) {
        let mut body = Vec::new();
        self.order.u16(&mut body, interface);
        self.order.u16(&mut body, drops);
        self.ticks_and_data(&mut body, ticks, packet);
        self.block(2, &body);
    }

    fn ticks_and_data(&self, body: &mut Vec<u8>, ticks: u64, packet: &Packet) {
        self.order.u32(body, (ticks >> 32) as u32);
        self.order.u32(body, ticks as u32);
        self.order.u32(body, packet.data.len() as u32);
        self.order.u32(body, packet.original_len);
        body.extend(&packet.data);
        body.resize(body.len().next_multiple_of(4), 0);
    }

    pub(crate) fn simple(&mut self, packet: &Packet) {
        let mut body = Vec::new();
        self.order.u32(&mut body, packet.original_len);
        body.extend(&packet.data);
        self.block(3, &body);
    }

    pub(crate) fn statistics(&mut self, interface: u32, options: &[(u16, &[u8])]) {
        let mut body = Vec::new();
        self.order.u32(&mut body, interface);
        self.order.u64(&mut body, 0);
        self.options(&mut body, options);
        self.block(5, &body);
    }
}

/// Ticks of 10^-n seconds, or 2^-n with the top bit set, rounded up so that reading rounds down to the same nanosecond.
pub(crate) fn ticks(time: Timestamp, resolution: u8, offset_seconds: i64) -> u64 {
    let nanos = i128::from(time.0) - i128::from(offset_seconds) * i128::from(NANOS_PER_SECOND);
    let exponent = u32::from(resolution & 0x7f);
    let per_second = if resolution & 0x80 != 0 {
        1_i128 << exponent
    } else {
        10_i128.pow(exponent)
    };
    u64::try_from((nanos * per_second + i128::from(NANOS_PER_SECOND) - 1) / i128::from(NANOS_PER_SECOND))
        .unwrap()
}

/// pcapng with one interface and one enhanced packet block per packet.
pub(crate) fn pcapng(
    order: Order,
    link_type: u16,
    resolution: u8,
    offset: i64,
    packets: &[Packet],
) -> Vec<u8> {
    let mut file = Pcapng::new(order);
    file.interface_with_clock(link_type, resolution, offset);
    for packet in packets {
        file.enhanced(0, ticks(packet.time, resolution, offset), packet, &[]);
    }
    file.bytes
}

pub(crate) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(plain, 1).unwrap()
}

pub(crate) fn lz4(plain: &[u8]) -> Vec<u8> {
    lz4_blocks(plain, lz4_flex::frame::BlockMode::Independent)
}

/// Blocks that refer to the ones before them.
pub(crate) fn lz4_linked(plain: &[u8]) -> Vec<u8> {
    lz4_blocks(plain, lz4_flex::frame::BlockMode::Linked)
}

fn lz4_blocks(plain: &[u8], mode: lz4_flex::frame::BlockMode) -> Vec<u8> {
    let info = lz4_flex::frame::FrameInfo::new()
        .block_size(lz4_flex::frame::BlockSize::Max64KB)
        .block_mode(mode)
        .content_checksum(true);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}
