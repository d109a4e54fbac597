//! ESP packets and what is inside them.

use super::Sa;
use aes::Aes128;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit, block_padding::NoPadding};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

/// What differs between TCP headers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tcp {
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) window: u16,
    pub(super) len: usize,
}

pub(super) fn keys_of(spi: u32) -> ([u8; 16], [u8; 20]) {
    let byte = |i: usize| spi.to_be_bytes()[i % 4].wrapping_mul(31).wrapping_add(i as u8);
    (std::array::from_fn(byte), std::array::from_fn(|i| byte(i + 100)))
}

/// RFC 4303 §2 with AES-CBC (RFC 3602) and HMAC-SHA1-96 (RFC 2404).
pub(super) fn seal(sa: Sa, payload: &[u8]) -> Vec<u8> {
    let (encryption, integrity) = keys_of(sa.spi);
    let mut iv = [0u8; 16];
    iv[..4].copy_from_slice(&sa.spi.to_be_bytes());
    iv[12..].copy_from_slice(&sa.sequence.to_be_bytes());
    let pad = (16 - (payload.len() + 2) % 16) % 16;
    let mut plain = payload.to_vec();
    plain.extend((1..=pad).map(|i| i as u8));
    plain.extend([pad as u8, 17]);
    let len = plain.len();
    cbc::Encryptor::<Aes128>::new(&encryption.into(), &iv.into())
        .encrypt_padded::<NoPadding>(&mut plain, len)
        .unwrap();
    let mut packet = Vec::from(sa.spi.to_be_bytes());
    packet.extend(sa.sequence.to_be_bytes());
    packet.extend(iv);
    packet.extend(plain);
    let mut mac = Hmac::<Sha1>::new_from_slice(&integrity).unwrap();
    mac.update(&packet);
    packet.extend(&mac.finalize().into_bytes()[..12]);
    packet
}

/// RFC 4302 §2 around UDP. The ICV is made of the header and the payload only: nobody checks it.
pub(super) fn authenticate(sa: Sa, payload: &[u8]) -> Vec<u8> {
    let header = [
        &[17, 4, 0, 0][..],
        &sa.spi.to_be_bytes(),
        &sa.sequence.to_be_bytes(),
    ]
    .concat();
    let mut mac = Hmac::<Sha1>::new_from_slice(&keys_of(sa.spi).1).unwrap();
    mac.update(&header);
    mac.update(payload);
    [&header, &mac.finalize().into_bytes()[..12], payload].concat()
}

pub(super) fn udp(src: u16, dst: u16, body: &[u8]) -> Vec<u8> {
    let len = ((8 + body.len()) as u16).to_be_bytes();
    [&src.to_be_bytes()[..], &dst.to_be_bytes(), &len, &[0, 0], body].concat()
}

/// UDP 1701, L2TP data header with length, PPP.
pub(super) fn l2tp(ip: &[u8]) -> Vec<u8> {
    let len = ((8 + 4 + ip.len()) as u16).to_be_bytes();
    let head = [0x40, 0x02, len[0], len[1], 0, 1, 0, 1, 0xff, 0x03, 0x00, 0x21];
    udp(1701, 1701, &[&head[..], ip].concat())
}

pub(super) fn tcp_packet(from_client: bool, tcp: Tcp) -> Vec<u8> {
    tcp_packet_of(0, from_client, tcp)
}

/// A packet of one of several connections.
pub(super) fn tcp_packet_of(connection: u16, from_client: bool, tcp: Tcp) -> Vec<u8> {
    let (inner_server, inner_client) = ([10, 66, 0, 1], [10, 66, 0, 2]);
    let (src, dst, ports) = if from_client {
        (inner_client, inner_server, [40_000 + connection, 5201])
    } else {
        (inner_server, inner_client, [5201, 40_000 + connection])
    };
    let mut packet = ipv4(src, dst, 6, 40 + tcp.len, 0, 0).to_vec();
    packet.extend(ports.iter().flat_map(|p| p.to_be_bytes()));
    packet.extend(tcp.seq.to_be_bytes());
    packet.extend(tcp.ack.to_be_bytes());
    packet.extend([0x50, 0x10]);
    packet.extend(tcp.window.to_be_bytes());
    packet.extend([0; 4]);
    packet.resize(40 + tcp.len, 0x61);
    packet
}

pub(super) fn ipv4(
    src: [u8; 4],
    dst: [u8; 4],
    protocol: u8,
    total: usize,
    id: u16,
    fragment: u16,
) -> [u8; 20] {
    let mut h = [0; 20];
    h[0] = 0x45;
    h[2..4].copy_from_slice(&(total as u16).to_be_bytes());
    h[4..6].copy_from_slice(&id.to_be_bytes());
    h[6..8].copy_from_slice(&fragment.to_be_bytes());
    h[8] = 64;
    h[9] = protocol;
    h[12..16].copy_from_slice(&src);
    h[16..20].copy_from_slice(&dst);
    let sum: u32 = h
        .chunks(2)
        .map(|c| u32::from(u16::from_be_bytes([c[0], c[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    h[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    h
}
