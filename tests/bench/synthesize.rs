//! Writes a **synthetic** capture for measuring speed: constructed packets, real encryption. No rekey in it cost anything.
//!
//! ```text
//! cargo run --release --example synthesize -- OUT.pcap [MEGABYTES]
//! ```
//!
//! L2TP/IPsec in transport mode as Windows builds it: Ethernet, IPv4, ESP (AES-128-CBC, HMAC-SHA1-96), UDP 1701, L2TP, PPP, IPv4,
//! TCP. A download at 100 Mbit/s: two packets of 1,380 ESP bytes down, one acknowledgement up. Halfway the pair of SAs gives
//! way to a second one, so there are 4 SAs. The keys go to OUT.esp_sa; they are counted up from the SPI and protect nothing.

use aes::Aes128;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit, block_padding::NoPadding};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

const SERVER: [u8; 4] = [192, 0, 2, 1];
const CLIENT: [u8; 4] = [198, 51, 100, 2];
const INNER_SERVER: [u8; 4] = [203, 0, 113, 1];
const INNER_CLIENT: [u8; 4] = [203, 0, 113, 2];
const SEGMENT: usize = 1_276;
/// Nanoseconds between two downstream packets: 1,276 payload bytes at about 100 Mbit/s.
const PACE: u64 = 102_000;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments
        .next()
        .ok_or_else(|| std::io::Error::other("usage: synthesize OUT.pcap [MEGABYTES]"))?;
    let megabytes: u64 = arguments.next().and_then(|m| m.parse().ok()).unwrap_or(1_000);
    let mut writer = Writer::new(Path::new(&out))?;
    let spis = [[0x5e5e_0001, 0x5e5e_0002], [0x5e5e_0003, 0x5e5e_0004]];
    let half = megabytes * 1_000_000 / 2;
    let mut stream = Stream { sent: 0, ack: 1 };
    for (generation, pair) in spis.into_iter().enumerate() {
        let mut down = Sa::new(pair[0], SERVER, CLIENT);
        let mut up = Sa::new(pair[1], CLIENT, SERVER);
        while writer.written < half * (generation as u64 + 1) {
            for _ in 0..2 {
                let payload = stream.segment();
                writer.packet(&mut down, &payload)?;
            }
            let payload = stream.acknowledgement();
            writer.packet(&mut up, &payload)?;
        }
    }
    writer.file.flush()?;
    write_keys(Path::new(&out), &spis)
}

fn write_keys(out: &Path, spis: &[[u32; 2]]) -> Result<()> {
    let mut keys = File::create(out.with_extension("esp_sa"))?;
    for (index, &spi) in spis.iter().flatten().enumerate() {
        let (src, dst) = if index % 2 == 0 {
            ("192.0.2.1", "198.51.100.2")
        } else {
            ("198.51.100.2", "192.0.2.1")
        };
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let (encryption, integrity) = keys_of(spi);
        writeln!(
            keys,
            "\"IPv4\",\"{src}\",\"{dst}\",\"0x{spi:08x}\",\"AES-CBC [RFC3602]\",\"0x{}\",\"HMAC-SHA-1-96 [RFC2404]\",\"0x{}\"",
            hex(&encryption),
            hex(&integrity)
        )?;
    }
    Ok(())
}

fn keys_of(spi: u32) -> ([u8; 16], [u8; 20]) {
    let byte = |i: usize| spi.to_be_bytes()[i % 4].wrapping_mul(31).wrapping_add(i as u8);
    (std::array::from_fn(byte), std::array::from_fn(|i| byte(i + 100)))
}

/// The inner TCP connection.
struct Stream {
    sent: u32,
    ack: u32,
}

impl Stream {
    fn segment(&mut self) -> Vec<u8> {
        let packet = l2tp(
            INNER_SERVER,
            INNER_CLIENT,
            (5201, 40_000),
            self.sent,
            self.ack,
            SEGMENT,
        );
        self.sent = self.sent.wrapping_add(SEGMENT as u32);
        packet
    }

    fn acknowledgement(&mut self) -> Vec<u8> {
        l2tp(INNER_CLIENT, INNER_SERVER, (40_000, 5201), self.ack, self.sent, 0)
    }
}

/// UDP 1701, L2TP data header with length, PPP with address and control, IPv4, TCP.
fn l2tp(src: [u8; 4], dst: [u8; 4], ports: (u16, u16), seq: u32, ack: u32, data: usize) -> Vec<u8> {
    let ip_len = 40 + data;
    let l2tp_len = 8 + 4 + ip_len;
    let mut p = Vec::with_capacity(8 + l2tp_len);
    p.extend(1701u16.to_be_bytes());
    p.extend(1701u16.to_be_bytes());
    p.extend(((8 + l2tp_len) as u16).to_be_bytes());
    p.extend([0, 0]);
    p.extend([0x40, 0x02]);
    p.extend((l2tp_len as u16).to_be_bytes());
    p.extend([0, 1, 0, 1]);
    p.extend([0xff, 0x03, 0x00, 0x21]);
    p.extend(ipv4(src, dst, 6, ip_len));
    p.extend(ports.0.to_be_bytes());
    p.extend(ports.1.to_be_bytes());
    p.extend(seq.to_be_bytes());
    p.extend(ack.to_be_bytes());
    p.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    p.extend((0..data).map(|i| i as u8));
    p
}

fn ipv4(src: [u8; 4], dst: [u8; 4], protocol: u8, total: usize) -> [u8; 20] {
    let mut h = [0; 20];
    h[0] = 0x45;
    h[2..4].copy_from_slice(&(total as u16).to_be_bytes());
    h[8] = 64;
    h[9] = protocol;
    h[12..16].copy_from_slice(&src);
    h[16..20].copy_from_slice(&dst);
    let sum = h
        .chunks(2)
        .map(|c| u32::from(u16::from_be_bytes([c[0], c[1]])))
        .sum::<u32>();
    let folded = (sum & 0xffff) + (sum >> 16);
    h[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    h
}

/// One SA that encrypts.
struct Sa {
    spi: u32,
    src: [u8; 4],
    dst: [u8; 4],
    sequence: u32,
    encryption: [u8; 16],
    integrity: Hmac<Sha1>,
}

impl Sa {
    fn new(spi: u32, src: [u8; 4], dst: [u8; 4]) -> Self {
        let (encryption, key) = keys_of(spi);
        let integrity = Hmac::new_from_slice(&key).expect("HMAC takes keys of any length");
        Sa {
            spi,
            src,
            dst,
            sequence: 0,
            encryption,
            integrity,
        }
    }

    /// RFC 4303 §2 with AES-CBC (RFC 3602) and HMAC-SHA1-96 (RFC 2404).
    fn seal(&mut self, payload: &[u8]) -> Vec<u8> {
        self.sequence += 1;
        let mut iv = [0u8; 16];
        iv[..4].copy_from_slice(&self.spi.to_be_bytes());
        iv[12..].copy_from_slice(&self.sequence.to_be_bytes());
        let pad = (16 - (payload.len() + 2) % 16) % 16;
        let mut plain = payload.to_vec();
        plain.extend((1..=pad).map(|i| i as u8));
        plain.extend([pad as u8, 17]);
        let len = plain.len();
        let cipher = cbc::Encryptor::<Aes128>::new(&self.encryption.into(), &iv.into());
        cipher
            .encrypt_padded::<NoPadding>(&mut plain, len)
            .expect("whole blocks");
        let mut packet = Vec::with_capacity(24 + len + 12);
        packet.extend(self.spi.to_be_bytes());
        packet.extend(self.sequence.to_be_bytes());
        packet.extend(iv);
        packet.extend(plain);
        let mut mac = self.integrity.clone();
        mac.update(&packet);
        packet.extend(&mac.finalize().into_bytes()[..12]);
        packet
    }
}

/// A nanosecond pcap.
struct Writer {
    file: BufWriter<File>,
    written: u64,
    clock: u64,
}

impl Writer {
    fn new(path: &Path) -> Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        file.write_all(&0xa1b2_3c4du32.to_le_bytes())?;
        file.write_all(&[2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0])?;
        Ok(Writer {
            file,
            written: 24,
            clock: 1_800_000_000_000_000_000,
        })
    }

    fn packet(&mut self, sa: &mut Sa, payload: &[u8]) -> Result<()> {
        let esp = sa.seal(payload);
        let total = 20 + esp.len();
        let len = (14 + total) as u32;
        let mut head = Vec::with_capacity(50);
        head.extend(((self.clock / 1_000_000_000) as u32).to_le_bytes());
        head.extend(((self.clock % 1_000_000_000) as u32).to_le_bytes());
        head.extend(len.to_le_bytes());
        head.extend(len.to_le_bytes());
        head.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        head.extend(ipv4(sa.src, sa.dst, 50, total));
        self.file.write_all(&head)?;
        self.file.write_all(&esp)?;
        self.written += 16 + u64::from(len);
        self.clock += PACE;
        Ok(())
    }
}
