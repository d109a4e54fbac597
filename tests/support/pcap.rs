//! Classic pcap files (little-endian) in and out, to change what a real capture holds.
#![allow(dead_code, unreachable_pub)] // a module of each test binary, which uses a part

use std::path::Path;

/// One packet: time in nanoseconds, bytes on the wire, captured bytes.
#[derive(Debug, Clone)]
pub(crate) struct Packet {
    pub nanos: u64,
    pub wire_len: u32,
    pub data: Vec<u8>,
}

const NANOSECONDS: u32 = 0xa1b2_3c4d;

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Reads a file of the lab: nanoseconds, Ethernet.
pub(crate) fn read(path: &Path) -> Vec<Packet> {
    let file = std::fs::read(path).unwrap();
    assert_eq!(word(&file, 0), NANOSECONDS, "{}", path.display());
    let (mut at, mut packets) = (24, Vec::new());
    while at + 16 <= file.len() {
        let len = word(&file, at + 8) as usize;
        packets.push(Packet {
            nanos: u64::from(word(&file, at)) * 1_000_000_000 + u64::from(word(&file, at + 4)),
            wire_len: word(&file, at + 12),
            data: file[at + 16..at + 16 + len].to_vec(),
        });
        at += 16 + len;
    }
    packets
}

/// Writes packets in the order given.
pub(crate) fn write(path: &Path, packets: &[Packet]) {
    let mut file = Vec::from(NANOSECONDS.to_le_bytes());
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    for p in packets {
        file.extend(((p.nanos / 1_000_000_000) as u32).to_le_bytes());
        file.extend(((p.nanos % 1_000_000_000) as u32).to_le_bytes());
        file.extend((p.data.len() as u32).to_le_bytes());
        file.extend(p.wire_len.to_le_bytes());
        file.extend(&p.data);
    }
    std::fs::write(path, file).unwrap();
}

/// IKE on UDP 500, as in the lab's captures without NAT (Ethernet, IPv4 without options).
pub(crate) fn is_ike(packet: &Packet) -> bool {
    packet.data.get(23) == Some(&17) && packet.data.get(34..36) == Some(&[1, 0xf4])
}

/// Whether the IPv4 source address is this one.
pub(crate) fn is_from(packet: &Packet, address: std::net::IpAddr) -> bool {
    let source = packet.data.get(26..30).and_then(|b| <[u8; 4]>::try_from(b).ok());
    source.is_some_and(|octets| std::net::IpAddr::from(octets) == address)
}

/// The same packet with VLAN tags, the outermost first.
pub(crate) fn tagged(packet: &Packet, tags: &[u16]) -> Packet {
    let mut data = packet.data[..12].to_vec();
    for (index, id) in tags.iter().enumerate() {
        // The outer one of two is a service tag (IEEE 802.1ad).
        let ether_type: u16 = if index + 1 < tags.len() { 0x88a8 } else { 0x8100 };
        data.extend(ether_type.to_be_bytes());
        data.extend(id.to_be_bytes());
    }
    data.extend(&packet.data[12..]);
    Packet {
        nanos: packet.nanos,
        wire_len: packet.wire_len + 4 * tags.len() as u32,
        data,
    }
}
