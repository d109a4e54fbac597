//! Synthetic captures for the tests: a virtual clock, a sender and a receiver that do what a scenario tells them, and
//! real encryption. Constructed, not recorded: what happens is exactly what the scenario says.
//!
//! L2TP/IPsec in transport mode: Ethernet, IPv4, ESP (AES-128-CBC, HMAC-SHA1-96) of UDP 1701, L2TP, PPP, IPv4, TCP. A download from
//! the server at 10.9.0.1 to the client at 10.9.0.2 (an upload too, where a scenario asks for it), captured at the server; round trip [`RTT`]. IKEv1 messages are encrypted with a
//! phase-1 key (AES-128-CBC). Phase 1 itself is not in the capture, so first blocks cannot be read, which is enough for
//! SPIs, lifetimes and Deletes. IKEv2 is in [`ikev2`].
#![allow(unreachable_pub, dead_code, unused_imports)] // a module of each test binary, which uses a part

mod ikev1;
mod ikev2;
mod packets;
mod upload;
mod write;

pub(crate) use ikev1::QuickMode;
pub(crate) use ikev2::ChildRekey;
use packets::{Tcp, authenticate, ipv4, l2tp, seal, tcp_packet, udp};
use std::collections::{HashMap, VecDeque};

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

/// What an SA has carried, as its ends count it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carried {
    pub packets: u64,
    /// Payload before encryption.
    pub inner: u64,
    /// From the SPI to the ICV.
    pub esp: u64,
}

/// Both peers, the wire and the capture.
pub(crate) struct World {
    pub now: u64,
    frames: Vec<(u64, Vec<u8>)>,
    /// Towards the client, towards the server.
    pub down: Sa,
    pub up: Sa,
    spis: Vec<u32>,
    carried: HashMap<u32, Carried>,
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
    /// Last message ID of IKEv2 requests of the server, of the client.
    next_v2_ids: [u32; 2],
    /// What [`World::steady`] sends.
    pub download: bool,
    pub upload: bool,
    uploaded: upload::Uploaded,
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
            carried: HashMap::new(),
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
            next_v2_ids: [10, 20],
            download: true,
            upload: false,
            uploaded: upload::Uploaded::default(),
            last_block: [0; 16],
        }
    }

    /// Data flows for a while; every second segment is acknowledged a round trip later.
    pub fn steady(&mut self, millis: u64) {
        let end = self.now + millis * MILLI;
        while self.now < end {
            if self.upload {
                self.upload_segment();
            }
            if self.download {
                self.segment();
            }
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
        let carried = self.carried.entry(sa.spi).or_default();
        carried.packets += 1;
        carried.inner += payload.len() as u64;
        carried.esp += esp.len() as u64;
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

    /// What the pair in use has carried: towards the client, towards the server.
    pub fn carried(&self) -> [Carried; 2] {
        [self.down, self.up].map(|sa| self.carried.get(&sa.spi).copied().unwrap_or_default())
    }

    fn new_spis(&mut self) -> [u32; 2] {
        let n = self.spis.len() as u32;
        let spis = [0xd000_0000 + n, 0xa000_0000 + n];
        self.spis.extend(spis);
        spis
    }

    /// An IKE message passes the capture.
    fn ike_datagram(&mut self, from_client: bool, message: &[u8]) {
        let (src, dst) = if from_client {
            (CLIENT, SERVER)
        } else {
            (SERVER, CLIENT)
        };
        let datagram = match self.nat_port {
            None => udp(500, 500, message),
            Some(port) => {
                let (from, to) = if from_client { (port, 4500) } else { (4500, port) };
                udp(from, to, &[&[0; 4][..], message].concat())
            }
        };
        self.capture([&ipv4(src, dst, 17, 20 + datagram.len(), 0, 0)[..], &datagram].concat());
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
}
