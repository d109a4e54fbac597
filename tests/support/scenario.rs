//! Synthetic captures for the tests: a virtual clock, a sender and a receiver that do what a scenario tells them, and
//! real encryption. Constructed, not recorded: what happens is exactly what the scenario says.
//!
//! L2TP/IPsec in transport mode: Ethernet, IPv4, ESP (AES-128-CBC, HMAC-SHA1-96) of UDP 1701, L2TP, PPP, IPv4, TCP. A download from
//! the server at 10.9.0.1 to the client at 10.9.0.2, captured at the server; round trip [`RTT`]. IKEv1 messages are encrypted with a
//! phase-1 key (AES-128-CBC). Phase 1 itself is not in the capture, so first blocks cannot be read, which is enough for
//! SPIs, lifetimes and Deletes.
#![allow(unreachable_pub, dead_code)] // a module of each test binary, which uses a part

use aes::Aes128;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit, block_padding::NoPadding};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use std::collections::VecDeque;
use std::path::Path;

pub(crate) const MILLI: u64 = 1_000_000;
/// From the capture to the client and back.
pub(crate) const RTT: u64 = 20 * MILLI;
/// One segment per tick: 4.9 Mbit/s.
pub(crate) const TICK: u64 = 2 * MILLI;
pub(crate) const SEGMENT: usize = 1_228;
const EPOCH: u64 = 1_800_000_000_000_000_000;
const SERVER: [u8; 4] = [10, 9, 0, 1];
const CLIENT: [u8; 4] = [10, 9, 0, 2];
const IKE_KEY: [u8; 16] = [0x5c; 16];

/// One SA: SPI and the last sequence number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sa {
    pub spi: u32,
    pub sequence: u32,
}

/// What differs between TCP headers.
#[derive(Debug, Clone, Copy)]
struct Tcp {
    seq: u32,
    ack: u32,
    window: u16,
    len: usize,
}

/// Both peers, the wire and the capture.
pub(crate) struct World {
    pub now: u64,
    frames: Vec<(u64, Vec<u8>)>,
    /// Towards the client, towards the server.
    pub down: Sa,
    pub up: Sa,
    spis: Vec<u32>,
    /// Next byte of the server, next byte that the client expects.
    pub seq: u32,
    pub expected: u32,
    /// Acknowledgements on their way: when they pass the capture, and of what.
    acks: VecDeque<(u64, u32)>,
    pub tick: u64,
    /// Payload bytes of a segment.
    pub segment_len: usize,
    /// UDP encapsulation with this port at the client's side.
    pub nat_port: Option<u16>,
    /// AH instead of ESP.
    pub ah: bool,
    /// Split ESP packets that are longer than this (IP packet).
    pub mtu: Option<usize>,
    /// Nothing is captured meanwhile.
    pub blind: bool,
    pub cookie: [u8; 8],
    cookies: Vec<[u8; 8]>,
    next_message_id: u32,
    last_block: [u8; 16],
}

impl World {
    pub fn new() -> Self {
        let cookie = *b"initiate";
        World {
            now: EPOCH,
            frames: Vec::new(),
            down: Sa {
                spi: 0xd000_0000,
                sequence: 0,
            },
            up: Sa {
                spi: 0xa000_0000,
                sequence: 0,
            },
            spis: vec![0xd000_0000, 0xa000_0000],
            seq: 1_000,
            expected: 1_000,
            acks: VecDeque::new(),
            tick: TICK,
            segment_len: SEGMENT,
            nat_port: None,
            ah: false,
            mtu: None,
            blind: false,
            cookie,
            cookies: vec![cookie],
            next_message_id: 0x1001,
            last_block: [0; 16],
        }
    }

    /// Data flows for a while; every second segment is acknowledged a round trip later.
    pub fn steady(&mut self, millis: u64) {
        let end = self.now + millis * MILLI;
        while self.now < end {
            self.segment();
            self.step(self.tick);
        }
    }

    /// Sends the next segment; it arrives.
    pub fn segment(&mut self) {
        self.lost_segment();
        self.deliver();
    }

    /// Sends one byte; it arrives.
    pub fn tiny_segment(&mut self) {
        let tcp = Tcp {
            seq: self.seq,
            ack: 1,
            window: 0xffff,
            len: 1,
        };
        self.esp_down(&l2tp(&tcp_packet(false, tcp)));
        self.seq += 1;
        self.expected = self.seq;
        self.acks.push_back((self.now + RTT, self.expected));
    }

    /// Everything sent so far has arrived; the client acknowledges every second segment.
    pub fn deliver(&mut self) {
        self.expected = self.seq;
        if ((self.seq - 1_000) / self.segment_len as u32).is_multiple_of(2) {
            self.acks.push_back((self.now + RTT, self.expected));
        }
    }

    /// What was sent last is acknowledged too, as the delayed acknowledgement timer would bring about.
    pub fn acknowledge_all(&mut self) {
        self.acks.push_back((self.now + RTT, self.expected));
    }

    /// Sends the next segment; the client never acknowledges it (it did not arrive, or the answer is held back).
    pub fn lost_segment(&mut self) {
        self.resend(self.seq);
        self.seq = self.seq.wrapping_add(self.segment_len as u32);
    }

    /// Sends the segment at `seq`.
    pub fn resend(&mut self, seq: u32) {
        let payload = l2tp(&tcp_packet(
            false,
            Tcp {
                seq,
                ack: 1,
                window: 0xffff,
                len: self.segment_len,
            },
        ));
        self.esp_down(&payload);
    }

    /// Time passes; acknowledgements pass the capture.
    pub fn step(&mut self, nanos: u64) {
        let end = self.now + nanos;
        while let Some(&(when, ack)) = self.acks.front()
            && when <= end
        {
            self.acks.pop_front();
            self.now = self.now.max(when);
            self.ack(ack, 0xffff);
        }
        self.now = end;
    }

    pub fn wait(&mut self, millis: u64) {
        self.step(millis * MILLI);
    }

    /// The acknowledgements on their way are forgotten (the client died, or holds them back).
    pub fn drop_acks(&mut self) -> VecDeque<(u64, u32)> {
        std::mem::take(&mut self.acks)
    }

    /// An acknowledgement passes the capture now.
    pub fn ack(&mut self, ack: u32, window: u16) {
        let payload = l2tp(&tcp_packet(
            true,
            Tcp {
                seq: 1,
                ack,
                window,
                len: 0,
            },
        ));
        let mut sa = self.up;
        self.esp(&mut sa, CLIENT, SERVER, &payload);
        self.up = sa;
    }

    /// A payload (from UDP on) towards the client.
    pub fn esp_down(&mut self, payload: &[u8]) {
        let mut sa = self.down;
        self.esp(&mut sa, SERVER, CLIENT, payload);
        self.down = sa;
    }

    /// An L2TP control message of this type towards the client; `None`: an acknowledgement.
    pub fn l2tp_control(&mut self, from_client: bool, kind: Option<u16>) {
        let mut body = vec![0xc8, 0x02, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1];
        if let Some(kind) = kind {
            body.extend([0x80, 8, 0, 0, 0, 0]);
            body.extend(kind.to_be_bytes());
        }
        let len = (body.len() as u16).to_be_bytes();
        body[2..4].copy_from_slice(&len);
        let payload = udp(1701, 1701, &body);
        if from_client {
            let mut sa = self.up;
            self.esp(&mut sa, CLIENT, SERVER, &payload);
            self.up = sa;
        } else {
            self.esp_down(&payload);
        }
    }

    fn esp(&mut self, sa: &mut Sa, src: [u8; 4], dst: [u8; 4], payload: &[u8]) {
        sa.sequence += 1;
        let esp = seal(*sa, payload);
        let (protocol, body) = match self.nat_port {
            None if self.ah => (51, authenticate(*sa, payload)),
            None => (50, esp),
            Some(port) => {
                let (from, to) = if src == SERVER { (4500, port) } else { (port, 4500) };
                (17, udp(from, to, &esp))
            }
        };
        match self.mtu.filter(|mtu| 20 + body.len() > *mtu) {
            None => {
                let packet = [&ipv4(src, dst, protocol, 20 + body.len(), 0, 0)[..], &body].concat();
                self.capture(packet);
            }
            Some(mtu) => {
                let first = (mtu - 20) / 8 * 8;
                let id = sa.sequence as u16;
                let head = ipv4(src, dst, protocol, 20 + first, id, 0x2000);
                self.capture([&head[..], &body[..first]].concat());
                let rest = ipv4(
                    src,
                    dst,
                    protocol,
                    20 + body.len() - first,
                    id,
                    (first / 8) as u16,
                );
                self.capture([&rest[..], &body[first..]].concat());
            }
        }
    }

    /// An IP packet passes the capture.
    pub fn capture(&mut self, packet: Vec<u8>) {
        if !self.blind {
            let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
            frame.extend(packet);
            self.frames.push((self.now, frame));
        }
        self.now += 1_000;
    }

    /// L2TP in clear.
    pub fn leak(&mut self) {
        let body = l2tp(&tcp_packet(
            false,
            Tcp {
                seq: 1,
                ack: 1,
                window: 100,
                len: 10,
            },
        ));
        self.capture([&ipv4(SERVER, CLIENT, 17, 20 + body.len(), 0, 0)[..], &body].concat());
    }

    fn ike(&mut self, from_client: bool, kind: u8, message_id: u32, flags: u8, first: u8, body: &[u8]) {
        let mut message = Vec::from(self.cookie);
        message.extend(*b"responds");
        message.extend([first, 0x10, kind, flags]);
        message.extend(message_id.to_be_bytes());
        message.extend(((28 + body.len()) as u32).to_be_bytes());
        message.extend(body);
        let (src, dst) = if from_client {
            (CLIENT, SERVER)
        } else {
            (SERVER, CLIENT)
        };
        let datagram = match self.nat_port {
            None => udp(500, 500, &message),
            Some(port) => {
                let (from, to) = if from_client { (port, 4500) } else { (4500, port) };
                udp(from, to, &[&[0; 4][..], &message].concat())
            }
        };
        self.capture([&ipv4(src, dst, 17, 20 + datagram.len(), 0, 0)[..], &datagram].concat());
    }

    /// Payloads under the phase-1 key, chained by the ciphertext before.
    fn encrypt(&mut self, payloads: &[(u8, Vec<u8>)], iv: [u8; 16]) -> (u8, Vec<u8>) {
        let mut plain = Vec::new();
        for (index, (_, body)) in payloads.iter().enumerate() {
            let next = payloads.get(index + 1).map_or(0, |p| p.0);
            plain.extend([next, 0]);
            plain.extend(((4 + body.len()) as u16).to_be_bytes());
            plain.extend(body);
        }
        plain.resize(plain.len().next_multiple_of(16), 0);
        let len = plain.len();
        cbc::Encryptor::<Aes128>::new(&IKE_KEY.into(), &iv.into())
            .encrypt_padded::<NoPadding>(&mut plain, len)
            .unwrap();
        self.last_block.copy_from_slice(&plain[len - 16..]);
        (payloads[0].0, plain)
    }

    /// A new cookie: the next exchanges belong to another phase 1, whose Main Mode is captured.
    pub fn main_mode(&mut self) {
        self.cookie = *b"renewing";
        self.cookies.push(self.cookie);
        for message in 0..6u8 {
            // Unreadable bodies: what matters are the cookies.
            self.ike(message % 2 == 0, 2, 0, 1, 5, &[message; 64]);
            self.steady(10);
        }
    }

    /// Begins a Quick Mode.
    pub fn begin(&mut self, from_client: bool) -> QuickMode {
        self.next_message_id += 0x101;
        let n = self.spis.len() as u32;
        let spis = [0xd000_0000 + n, 0xa000_0000 + n];
        self.spis.extend(spis);
        QuickMode {
            from_client,
            message_id: self.next_message_id,
            down: spis[0],
            up: spis[1],
            kilobytes: 250_000,
            key_exchange: false,
            tail: [9; 16],
            sent: Vec::new(),
        }
    }

    /// The next message of a Quick Mode passes the capture.
    pub fn message(&mut self, qm: &mut QuickMode) {
        let number = qm.sent.len();
        let from_client = qm.from_client == (number != 1);
        // The SPI in a message is inbound to its sender.
        let spi = if from_client { qm.down } else { qm.up };
        let payloads = match number {
            0 | 1 => {
                let mut list = vec![
                    (8, vec![7; 20]),
                    (1, proposal(spi, qm.kilobytes, self.ah)),
                    (10, vec![3; 32]),
                ];
                if qm.key_exchange {
                    list.push((4, vec![5; 512]));
                }
                list.extend([
                    (5, vec![1, 17, 6, 165, 10, 9, 0, 2]),
                    (5, vec![1, 17, 6, 165, 10, 9, 0, 1]),
                ]);
                list
            }
            _ => vec![(8, vec![8; 20])],
        };
        let (first, body) = self.encrypt(&payloads, qm.tail);
        qm.tail = self.last_block;
        self.ike(from_client, 32, qm.message_id, 1, first, &body);
        qm.sent.push((from_client, first, body));
    }

    /// A message of a Quick Mode (counted from 0) passes the capture again.
    pub fn repeat(&mut self, qm: &QuickMode, number: usize) {
        let (from_client, first, body) = qm.sent[number].clone();
        self.ike(from_client, 32, qm.message_id, 1, first, &body);
    }

    /// The client deletes one of its inbound SAs.
    pub fn delete(&mut self, spi: u32) {
        self.next_message_id += 0x101;
        let id = self.next_message_id;
        let body = [&[0, 0, 0, 1, 3, 4, 0, 1][..], &spi.to_be_bytes()].concat();
        let (first, body) = self.encrypt(&[(8, vec![6; 20]), (12, body)], [4; 16]);
        self.ike(true, 5, id, 1, first, &body);
    }

    pub fn switch_up(&mut self, qm: &QuickMode) {
        self.up = Sa {
            spi: qm.up,
            sequence: 0,
        };
    }

    pub fn switch_down(&mut self, qm: &QuickMode) {
        self.down = Sa {
            spi: qm.down,
            sequence: 0,
        };
    }

    /// The first pair of SAs is made by a captured exchange, before any data.
    pub fn establish(&mut self, kilobytes: u32) {
        let mut qm = self.begin(true);
        qm.kilobytes = kilobytes;
        for _ in 0..3 {
            self.message(&mut qm);
            self.wait(10);
        }
        self.switch_up(&qm);
        self.switch_down(&qm);
    }

    /// Writes the capture (nanosecond pcap) and its keys; returns the key files.
    pub fn write(mut self, folder: &Path, with_ike_key: bool) -> Vec<std::path::PathBuf> {
        // Packets of the two ends are stamped in order of time.
        self.frames.sort_by_key(|f| f.0);
        let mut pcap = Vec::from(0xa1b2_3c4du32.to_le_bytes());
        pcap.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
        for (time, frame) in &self.frames {
            pcap.extend(((time / 1_000_000_000) as u32).to_le_bytes());
            pcap.extend(((time % 1_000_000_000) as u32).to_le_bytes());
            let len = (frame.len() as u32).to_le_bytes();
            pcap.extend(len);
            pcap.extend(len);
            pcap.extend(frame);
        }
        std::fs::write(folder.join("trace.pcap"), pcap).unwrap();
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let mut rows = String::new();
        for &spi in &self.spis {
            let (encryption, integrity) = keys_of(spi);
            rows.push_str(&format!(
                "\"IPv4\",\"*\",\"*\",\"0x{spi:08x}\",\"AES-CBC [RFC3602]\",\"0x{}\",\"HMAC-SHA-1-96 [RFC2404]\",\"0x{}\"\n",
                hex(&encryption),
                hex(&integrity)
            ));
        }
        let mut files = vec![folder.join("keys.esp_sa")];
        std::fs::write(&files[0], rows).unwrap();
        if with_ike_key {
            let rows: String = self
                .cookies
                .iter()
                .map(|c| format!("{},{}\n", hex(c), hex(&IKE_KEY)))
                .collect();
            files.push(folder.join("keys.ikev1"));
            std::fs::write(&files[1], rows).unwrap();
        }
        files
    }
}

/// A Quick Mode under way.
pub(crate) struct QuickMode {
    from_client: bool,
    message_id: u32,
    pub down: u32,
    pub up: u32,
    pub kilobytes: u32,
    pub key_exchange: bool,
    tail: [u8; 16],
    sent: Vec<(bool, u8, Vec<u8>)>,
}

/// An SA payload: one proposal of ESP with AES-CBC-128 and HMAC-SHA1-96, or of AH with the latter; transport mode, 3,600 s and
/// some kilobytes.
fn proposal(spi: u32, kilobytes: u32, ah: bool) -> Vec<u8> {
    let mut attributes = vec![0x80, 1, 0, 1, 0x80, 2, 0x0e, 0x10, 0x80, 1, 0, 2, 0, 2, 0, 4];
    attributes.extend(kilobytes.to_be_bytes());
    attributes.extend([0x80, 4, 0, 2, 0x80, 5, 0, 2]);
    // Numbers of RFC 2407 §4.4: protocol AH with AH_SHA, or ESP with AES (RFC 3602 §5.3) and its key length.
    let (protocol, id) = if ah { (2, 3) } else { (3, 12) };
    if !ah {
        attributes.extend([0x80, 6, 0, 128]);
    }
    let mut transform = vec![0, 0, 0, (8 + attributes.len()) as u8, 1, id, 0, 0];
    transform.extend(attributes);
    let mut proposal = vec![0, 0, 0, (12 + transform.len()) as u8, 1, protocol, 4, 1];
    proposal.extend(spi.to_be_bytes());
    proposal.extend(transform);
    [&[0, 0, 0, 1, 0, 0, 0, 1][..], &proposal].concat()
}

fn keys_of(spi: u32) -> ([u8; 16], [u8; 20]) {
    let byte = |i: usize| spi.to_be_bytes()[i % 4].wrapping_mul(31).wrapping_add(i as u8);
    (std::array::from_fn(byte), std::array::from_fn(|i| byte(i + 100)))
}

/// RFC 4303 §2 with AES-CBC (RFC 3602) and HMAC-SHA1-96 (RFC 2404).
fn seal(sa: Sa, payload: &[u8]) -> Vec<u8> {
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
fn authenticate(sa: Sa, payload: &[u8]) -> Vec<u8> {
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

fn udp(src: u16, dst: u16, body: &[u8]) -> Vec<u8> {
    let len = ((8 + body.len()) as u16).to_be_bytes();
    [&src.to_be_bytes()[..], &dst.to_be_bytes(), &len, &[0, 0], body].concat()
}

/// UDP 1701, L2TP data header with length, PPP.
fn l2tp(ip: &[u8]) -> Vec<u8> {
    let len = ((8 + 4 + ip.len()) as u16).to_be_bytes();
    let head = [0x40, 0x02, len[0], len[1], 0, 1, 0, 1, 0xff, 0x03, 0x00, 0x21];
    udp(1701, 1701, &[&head[..], ip].concat())
}

fn tcp_packet(from_client: bool, tcp: Tcp) -> Vec<u8> {
    let (inner_server, inner_client) = ([10, 66, 0, 1], [10, 66, 0, 2]);
    let (src, dst, ports) = if from_client {
        (inner_client, inner_server, [40_000u16, 5201])
    } else {
        (inner_server, inner_client, [5201, 40_000])
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

fn ipv4(src: [u8; 4], dst: [u8; 4], protocol: u8, total: usize, id: u16, fragment: u16) -> [u8; 20] {
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

impl World {
    /// A new cookie pair: the next exchanges belong to another IKE SA whose phase 1 is not captured.
    pub fn begin_ike_sa(&mut self, number: u8) {
        self.cookie = [b'i', b'k', b'e', b's', b'a', b'-', b'n', number];
        self.cookies.push(self.cookie);
    }
}
