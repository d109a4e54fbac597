//! Synthetic capture files: the same packets in any container, byte order, resolution and compression; and a simple file read.

use crate::headers::tagged;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use std::io::Write;
use std::path::Path;

/// A packet of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// When it was captured.
    pub time: Timestamp,
    /// Its bytes on the wire.
    pub original_len: u32,
    /// What was captured of it.
    pub data: Vec<u8>,
}

impl Packet {
    /// A packet captured whole.
    pub fn new(time: i64, data: Vec<u8>) -> Packet {
        Packet {
            time: Timestamp(time),
            original_len: data.len() as u32,
            data,
        }
    }

    /// IKE on UDP 500, as in the lab's captures without NAT (Ethernet, IPv4 without options).
    pub fn is_ike(&self) -> bool {
        self.data.get(23) == Some(&17) && self.data.get(34..36) == Some(&[1, 0xf4])
    }

    /// Whether the IPv4 source address is this one.
    pub fn is_from(&self, address: std::net::IpAddr) -> bool {
        let source = self.data.get(26..30).and_then(|b| <[u8; 4]>::try_from(b).ok());
        source.is_some_and(|octets| std::net::IpAddr::from(octets) == address)
    }

    /// The same packet with VLAN tags, the outermost first.
    pub fn tagged(&self, tags: &[u16]) -> Packet {
        Packet {
            time: self.time,
            original_len: self.original_len + 4 * tags.len() as u32,
            data: tagged(&self.data, tags),
        }
    }
}

/// Packets that differ in length, content and time (whole microseconds, so that every container can tell them).
pub fn packets(count: usize) -> Vec<Packet> {
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
pub fn noise() -> Vec<Packet> {
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
pub enum Order {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

impl Order {
    /// Both orders.
    pub const BOTH: [Order; 2] = [Order::Little, Order::Big];

    /// Appends 16 bits.
    pub fn u16(self, out: &mut Vec<u8>, value: u16) {
        out.extend(if self == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }

    /// Appends 32 bits.
    pub fn u32(self, out: &mut Vec<u8>, value: u32) {
        out.extend(if self == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }

    /// Appends 64 bits.
    pub fn u64(self, out: &mut Vec<u8>, value: u64) {
        out.extend(if self == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }
}

/// The three kinds of pcap file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PcapKind {
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
    /// Kuznetzov's, with longer records.
    Modified,
}

/// The packets of a little-endian pcap of nanoseconds, as the lab's captures are.
pub fn read_pcap(path: &Path) -> Vec<Packet> {
    let file = std::fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    assert_eq!(word(0), 0xa1b2_3c4d, "{}", path.display());
    let (mut at, mut packets) = (24, Vec::new());
    while at + 16 <= file.len() {
        let len = word(at + 8) as usize;
        packets.push(Packet {
            time: Timestamp(i64::from(word(at)) * NANOS_PER_SECOND + i64::from(word(at + 4))),
            original_len: word(at + 12),
            data: file[at + 16..at + 16 + len].to_vec(),
        });
        at += 16 + len;
    }
    packets
}

/// Writes such a file of Ethernet, in the order given.
pub fn write_pcap(path: &Path, packets: &[Packet]) {
    let (file, _) = pcap(PcapKind::Nanos, Order::Little, LINKTYPE_ETHERNET, packets);
    std::fs::write(path, file).unwrap();
}

/// A pcap file and the offset behind each of its records (the first: behind the file header).
pub fn pcap(kind: PcapKind, order: Order, link_type: u16, packets: &[Packet]) -> (Vec<u8>, Vec<usize>) {
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

/// The link type of IP packets.
pub const LINKTYPE_RAW: u16 = 101;
/// The link type of Ethernet.
pub const LINKTYPE_ETHERNET: u16 = 1;

/// A pcap file of these frames, 1 ms apart.
pub fn pcap_of(link_type: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let packet = |(index, frame): (usize, &Vec<u8>)| {
        let millis = 1_800_000_000_000 + index as i64;
        Packet::new(millis * NANOS_PER_MILLI, frame.clone())
    };
    let packets: Vec<Packet> = frames.iter().enumerate().map(packet).collect();
    pcap(PcapKind::Micros, Order::Little, link_type, &packets).0
}

/// A pcapng file under construction.
pub struct Pcapng {
    /// Of the section under construction.
    pub order: Order,
    /// The file so far.
    pub bytes: Vec<u8>,
    /// The offset behind each block.
    pub ends: Vec<usize>,
}

impl Pcapng {
    /// A file with one section.
    pub fn new(order: Order) -> Pcapng {
        let mut file = Pcapng {
            order,
            bytes: Vec::new(),
            ends: Vec::new(),
        };
        file.section(order);
        file
    }

    /// A block of any kind, padded.
    pub fn block(&mut self, kind: u32, body: &[u8]) {
        let padded = body.len().next_multiple_of(4);
        let len = padded as u32 + 12;
        self.order.u32(&mut self.bytes, kind);
        self.order.u32(&mut self.bytes, len);
        self.bytes.extend(body);
        self.bytes.extend(vec![0; padded - body.len()]);
        self.order.u32(&mut self.bytes, len);
        self.ends.push(self.bytes.len());
    }

    /// A section in this byte order.
    pub fn section(&mut self, order: Order) {
        self.order = order;
        let mut body = Vec::new();
        order.u32(&mut body, 0x1a2b_3c4d);
        order.u16(&mut body, 1);
        order.u16(&mut body, 0);
        order.u64(&mut body, u64::MAX);
        self.block(0x0a0d_0d0a, &body);
    }

    /// Appends an option to a block's body.
    pub fn option(&self, out: &mut Vec<u8>, code: u16, value: &[u8]) {
        self.order.u16(out, code);
        self.order.u16(out, value.len() as u16);
        out.extend(value);
        out.extend(vec![0; value.len().next_multiple_of(4) - value.len()]);
    }

    /// An interface; options by code.
    pub fn interface(&mut self, link_type: u16, snap_len: u32, options: &[(u16, &[u8])]) {
        let mut body = Vec::new();
        self.order.u16(&mut body, link_type);
        self.order.u16(&mut body, 0);
        self.order.u32(&mut body, snap_len);
        self.options(&mut body, options);
        self.block(1, &body);
    }

    /// An interface with this resolution and offset.
    pub fn interface_with_clock(&mut self, link_type: u16, resolution: u8, offset: i64) {
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

    /// An enhanced packet block.
    pub fn enhanced(&mut self, interface: u32, ticks: u64, packet: &Packet, options: &[(u16, &[u8])]) {
        let mut body = Vec::new();
        self.order.u32(&mut body, interface);
        self.ticks_and_data(&mut body, ticks, packet);
        self.options(&mut body, options);
        self.block(6, &body);
    }

    /// The obsolete packet block.
    pub fn obsolete(&mut self, interface: u16, drops: u16, ticks: u64, packet: &Packet) {
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

    /// A simple packet block.
    pub fn simple(&mut self, packet: &Packet) {
        let mut body = Vec::new();
        self.order.u32(&mut body, packet.original_len);
        body.extend(&packet.data);
        self.block(3, &body);
    }

    /// An interface statistics block.
    pub fn statistics(&mut self, interface: u32, options: &[(u16, &[u8])]) {
        let mut body = Vec::new();
        self.order.u32(&mut body, interface);
        self.order.u64(&mut body, 0);
        self.options(&mut body, options);
        self.block(5, &body);
    }
}

/// Ticks of 10^-n seconds, or 2^-n with the top bit set, rounded up so that reading rounds down to the same nanosecond.
pub fn ticks(time: Timestamp, resolution: u8, offset_seconds: i64) -> u64 {
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
pub fn pcapng(order: Order, link_type: u16, resolution: u8, offset: i64, packets: &[Packet]) -> Vec<u8> {
    let mut file = Pcapng::new(order);
    file.interface_with_clock(link_type, resolution, offset);
    for packet in packets {
        file.enhanced(0, ticks(packet.time, resolution, offset), packet, &[]);
    }
    file.bytes
}

/// As gzip stores it.
pub fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// As Zstandard stores it.
pub fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(plain, 1).unwrap()
}

/// As LZ4 stores it.
pub fn lz4(plain: &[u8]) -> Vec<u8> {
    lz4_blocks(plain, lz4_flex::frame::BlockMode::Independent)
}

/// Blocks that refer to the ones before them.
pub fn lz4_linked(plain: &[u8]) -> Vec<u8> {
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
