//! The headers around and inside of IPsec.

use std::io::Write;

/// An IPv4 header; what is not set is zero.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ipv4<'a> {
    /// Source address.
    pub src: [u8; 4],
    /// Destination address.
    pub dst: [u8; 4],
    /// What is inside.
    pub protocol: u8,
    /// Identification.
    pub id: u16,
    /// Flags and fragment offset.
    pub fragment: u16,
    /// A multiple of four bytes.
    pub options: &'a [u8],
}

impl Ipv4<'_> {
    /// The header of so many bytes of payload, with a good checksum.
    pub fn header(&self, payload: usize) -> Vec<u8> {
        let len = 20 + self.options.len();
        let mut h = Vec::with_capacity(len + payload);
        h.extend([0x40 + (len / 4) as u8, 0]);
        h.extend(((len + payload) as u16).to_be_bytes());
        h.extend(self.id.to_be_bytes());
        h.extend(self.fragment.to_be_bytes());
        h.extend([64, self.protocol, 0, 0]);
        h.extend(self.src);
        h.extend(self.dst);
        h.extend(self.options);
        let sum = checksum(&h);
        h[10..12].copy_from_slice(&sum.to_be_bytes());
        h
    }

    /// Header and payload.
    pub fn packet(&self, payload: &[u8]) -> Vec<u8> {
        let mut packet = self.header(payload.len());
        packet.extend(payload);
        packet
    }

    /// The payload in fragments of `size` bytes (a multiple of eight) but for the last.
    pub fn fragments(&self, payload: &[u8], size: usize) -> Vec<Vec<u8>> {
        let count = payload.len().div_ceil(size);
        let piece = |(index, piece): (usize, &[u8])| {
            let more = if index + 1 < count { 0x2000 } else { 0 };
            let fragment = more | (index * size / 8) as u16;
            Ipv4 { fragment, ..*self }.packet(piece)
        };
        payload.chunks(size).enumerate().map(piece).collect()
    }
}

/// The Internet checksum (RFC 1071) of an even number of bytes.
pub fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|c| u32::from(u16::from_be_bytes([c[0], c[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded + (folded >> 16)) as u16)
}

/// An IPv4 packet.
pub fn ipv4(src: [u8; 4], dst: [u8; 4], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let header = Ipv4 {
        src,
        dst,
        protocol,
        ..Ipv4::default()
    };
    header.packet(payload)
}

/// An IPv6 packet between 2001:db8::`src` and 2001:db8::`dst`.
pub fn ipv6(src: u8, dst: u8, next: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((payload.len() as u16).to_be_bytes());
    packet.extend([next, 64]);
    for end in [src, dst] {
        packet.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, end]);
    }
    packet.extend(payload);
    packet
}

/// Those packets with a payload in fragments of `size` bytes (a multiple of eight) but for the last.
pub fn ipv6_fragments(ends: (u8, u8), id: u32, next: u8, payload: &[u8], size: usize) -> Vec<Vec<u8>> {
    let count = payload.len().div_ceil(size);
    let piece = |(index, piece): (usize, &[u8])| {
        let field = (index * size) as u16 | u16::from(index + 1 < count);
        let header = [&[next, 0][..], &field.to_be_bytes(), &id.to_be_bytes()].concat();
        ipv6(ends.0, ends.1, 44, &[&header, piece].concat())
    };
    payload.chunks(size).enumerate().map(piece).collect()
}

/// A UDP datagram without a checksum.
pub fn udp(src: u16, dst: u16, payload: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::with_capacity(8 + payload.len());
    for field in [src, dst, (8 + payload.len()) as u16, 0] {
        datagram.extend(field.to_be_bytes());
    }
    datagram.extend(payload);
    datagram
}

/// A TCP header without a checksum. By default an acknowledgement of one byte.
#[derive(Debug, Clone, Copy)]
pub struct Tcp<'a> {
    /// Source and destination.
    pub ports: (u16, u16),
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// FIN is 1, SYN 2, RST 4, PSH 8, ACK 16.
    pub flags: u8,
    /// Without scaling.
    pub window: u16,
    /// A multiple of four bytes.
    pub options: &'a [u8],
}

impl Default for Tcp<'_> {
    fn default() -> Self {
        Tcp {
            ports: (0, 0),
            seq: 0,
            ack: 1,
            flags: 0x10,
            window: 0xffff,
            options: &[],
        }
    }
}

impl Tcp<'_> {
    /// Header and payload.
    pub fn segment(&self, payload: &[u8]) -> Vec<u8> {
        let len = 20 + self.options.len();
        let mut segment = Vec::with_capacity(len + payload.len());
        segment.extend(self.ports.0.to_be_bytes());
        segment.extend(self.ports.1.to_be_bytes());
        segment.extend(self.seq.to_be_bytes());
        segment.extend(self.ack.to_be_bytes());
        segment.extend([(len / 4 * 16) as u8, self.flags]);
        segment.extend(self.window.to_be_bytes());
        segment.extend([0; 4]);
        segment.extend(self.options);
        segment.extend(payload);
        segment
    }
}

/// A TCP segment without options that acknowledges one byte.
pub fn tcp(src: u16, dst: u16, seq: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let header = Tcp {
        ports: (src, dst),
        seq,
        flags,
        ..Tcp::default()
    };
    header.segment(payload)
}

/// Ethernet.
pub fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let addresses = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    [&addresses[..], &ether_type.to_be_bytes(), payload].concat()
}

/// Ethernet with the tags and the type, or a length and more headers, given as bytes. Behind MPLS tshark tells it by its
/// addresses, which therefore have no zeros.
pub fn ethernet_with(tags: &[u8], payload: &[u8]) -> Vec<u8> {
    [&[2; 12], tags, payload].concat()
}

/// The same frame with VLAN tags, the outermost first.
pub fn tagged(frame: &[u8], tags: &[u16]) -> Vec<u8> {
    let mut data = frame[..12].to_vec();
    for (index, id) in tags.iter().enumerate() {
        // The outer one of two is a service tag (IEEE 802.1ad).
        let ether_type: u16 = if index + 1 < tags.len() { 0x88a8 } else { 0x8100 };
        data.extend(ether_type.to_be_bytes());
        data.extend(id.to_be_bytes());
    }
    data.extend(&frame[12..]);
    data
}

/// An L2TP data message (RFC 2661 §3.1) of tunnel 1 with the fields that its flags name, on UDP 1701.
pub fn l2tp(flags: u16, session: u16, payload: &[u8]) -> Vec<u8> {
    let mut fields = vec![0, 1];
    fields.extend(session.to_be_bytes());
    if flags & 0x0800 != 0 {
        fields.extend([0, 5, 0, 6]);
    }
    if flags & 0x0200 != 0 {
        fields.extend([0, 2, 0xaa, 0xaa]);
    }
    let mut message = (flags | 2).to_be_bytes().to_vec();
    if flags & 0x4000 != 0 {
        message.extend(((4 + fields.len() + payload.len()) as u16).to_be_bytes());
    }
    message.extend(fields);
    message.extend(payload);
    udp(1701, 1701, &message)
}

/// An ICMP error that quotes a packet (RFC 792); the last two bytes of its header are the MTU of the next hop (RFC 1191).
pub fn icmp_about(kind: u8, code: u8, mtu: u16, quoted: &[u8]) -> Vec<u8> {
    let [high, low] = mtu.to_be_bytes();
    [&[kind, code, 0, 0, 0, 0, high, low], quoted].concat()
}

/// PPP with address and control around IPv4.
pub fn ppp(ip: &[u8]) -> Vec<u8> {
    [&[0xff, 0x03, 0x00, 0x21], ip].concat()
}

/// GRE (RFC 2784, RFC 2890) with the fields that its flags name.
pub fn gre(flags: u16, ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let named = [0x8000, 0x2000, 0x1000].iter().filter(|flag| flags & **flag != 0);
    let mut packet = [flags.to_be_bytes(), ether_type.to_be_bytes()].concat();
    packet.resize(4 + 4 * named.count(), 0x5a);
    packet.extend(payload);
    packet
}

/// VXLAN (RFC 7348) of network 7 on its port.
pub fn vxlan(frame: &[u8]) -> Vec<u8> {
    udp(50_000, 4789, &[&[8, 0, 0, 0, 0, 0, 7, 0], frame].concat())
}

/// An authentication header (RFC 4302 §2) with an ICV of 12 bytes.
pub fn ah(next: u8, spi: u32, sequence: u32, icv: &[u8], payload: &[u8]) -> Vec<u8> {
    let head = [&[next, 4, 0, 0][..], &spi.to_be_bytes(), &sequence.to_be_bytes()].concat();
    [&head, &icv[..12], payload].concat()
}

/// IPComp (RFC 3173) with DEFLATE (RFC 2394), whose number as CPI is 2.
pub fn ip_comp(next: u8, cpi: u16, payload: &[u8]) -> Vec<u8> {
    let header = [&[next, 0], &cpi.to_be_bytes()[..]].concat();
    let mut deflated = flate2::write::DeflateEncoder::new(header, flate2::Compression::best());
    deflated.write_all(payload).unwrap();
    deflated.finish().unwrap()
}

/// A message in a TCP stream (RFC 9329 §3).
pub fn framed(message: &[u8]) -> Vec<u8> {
    [&((message.len() + 2) as u16).to_be_bytes()[..], message].concat()
}
