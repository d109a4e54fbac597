//! Both peers, the wire between them and the capture on it.

use crate::containers::Packet;
use crate::headers::{Ipv4, ethernet, ip_comp, ipv4, udp};
use crate::scenario::packets::{authenticate, seal};
use crate::scenario::sa::{Carried, Sa};
use std::collections::{HashMap, VecDeque};

/// Nanoseconds.
pub const MILLI: u64 = 1_000_000;
/// From the capture to the client and back.
pub const RTT: u64 = 20 * MILLI;
/// One segment per tick: 4.9 Mbit/s.
pub const TICK: u64 = 2 * MILLI;
/// Payload bytes of a segment.
pub const SEGMENT: usize = 1_228;
const EPOCH: u64 = 1_800_000_000_000_000_000;
pub(super) const SERVER: [u8; 4] = [10, 9, 0, 1];
pub(super) const CLIENT: [u8; 4] = [10, 9, 0, 2];

/// Both peers, the wire and the capture.
#[derive(Debug)]
pub struct World {
    /// Nanoseconds since 1970.
    pub now: u64,
    pub(super) frames: Vec<Packet>,
    /// Towards the client.
    pub down: Sa,
    /// Towards the server.
    pub up: Sa,
    pub(super) spis: Vec<u32>,
    carried: HashMap<u32, Carried>,
    /// Next byte of the server.
    pub seq: u32,
    /// Next byte that the client expects.
    pub expected: u32,
    /// Acknowledgements on their way: when they pass the capture, and of what.
    pub(super) acks: VecDeque<(u64, u32)>,
    /// Between two segments.
    pub tick: u64,
    /// Payload bytes of a segment.
    pub segment_len: usize,
    /// Where the client is: its outer address.
    pub client: [u8; 4],
    /// The address that the client sends ESP and IKE to.
    pub server: [u8; 4],
    /// The address that ESP and IKE of the server come from.
    pub answers_from: [u8; 4],
    /// Address of the client inside the tunnel.
    pub inner_client: [u8; 4],
    /// UDP encapsulation with this port at the client's side.
    pub nat_port: Option<u16>,
    /// The client's port towards the server's port 500, where IKE goes meanwhile: NAT maps the two ports of IKE apart.
    pub begins_at: Option<u16>,
    /// AH instead of ESP.
    pub ah: bool,
    /// Split ESP packets that are longer than this (IP packet).
    pub mtu: Option<usize>,
    /// Only the first fragments pass of ESP packets that this address sends.
    pub rest_dropped: Option<[u8; 4]>,
    /// Nothing is captured meanwhile.
    pub blind: bool,
    /// Whatever is larger than 700 bytes comes with a wrong ICV.
    pub damaged: bool,
    /// Whatever is larger than 700 bytes is compressed (IPComp).
    pub compressed: bool,
    /// Echoes are cut into fragments before they are encrypted.
    pub cut: bool,
    /// The file has the last packet first.
    pub backwards: bool,
    /// The initiator's cookie or SPI of the phase 1 in use.
    pub cookie: [u8; 8],
    pub(super) cookies: Vec<[u8; 8]>,
    pub(super) next_message_id: u32,
    /// Last message ID of IKEv2 requests of the server, of the client.
    pub(super) next_v2_ids: [u32; 2],
    /// [`World::steady`] sends data towards the client.
    pub download: bool,
    /// And towards the server.
    pub upload: bool,
    /// Bytes that the client has sent.
    pub(super) uploaded: u32,
}

impl Default for World {
    fn default() -> Self {
        World::new()
    }
}

impl World {
    /// At rest, with a pair of SAs.
    pub fn new() -> Self {
        let cookie = *b"initiate";
        World {
            now: EPOCH,
            frames: Vec::new(),
            down: Sa::new(0xd000_0000),
            up: Sa::new(0xa000_0000),
            spis: vec![0xd000_0000, 0xa000_0000],
            carried: HashMap::new(),
            seq: 1_000,
            expected: 1_000,
            acks: VecDeque::new(),
            tick: TICK,
            segment_len: SEGMENT,
            client: CLIENT,
            server: SERVER,
            answers_from: SERVER,
            inner_client: [10, 66, 0, 2],
            nat_port: None,
            begins_at: None,
            ah: false,
            mtu: None,
            rest_dropped: None,
            blind: false,
            damaged: false,
            compressed: false,
            cut: false,
            backwards: false,
            cookie,
            cookies: vec![cookie],
            next_message_id: 0x1001,
            next_v2_ids: [10, 20],
            download: true,
            upload: false,
            uploaded: 0,
        }
    }

    /// A payload (from UDP on) towards the client.
    pub fn esp_down(&mut self, payload: &[u8]) {
        self.down = self.esp(self.down, self.answers_from, self.client, payload);
    }

    /// A payload (from UDP on) towards the server.
    pub fn esp_up(&mut self, payload: &[u8]) {
        self.up = self.esp(self.up, self.client, self.server, payload);
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
            self.esp_up(&payload);
        } else {
            self.esp_down(&payload);
        }
    }

    /// The next packet of an SA; the SA after it.
    fn esp(&mut self, mut sa: Sa, src: [u8; 4], dst: [u8; 4], payload: &[u8]) -> Sa {
        sa.sequence += 1;
        let mut esp = match self.compressed && payload.len() > 700 {
            true => seal(sa, 108, &ip_comp(17, 2, payload)),
            false => seal(sa, 17, payload),
        };
        if let Some(end) = esp.last_mut().filter(|_| self.damaged && payload.len() > 700) {
            *end ^= 1;
        }
        let carried = self.carried.entry(sa.spi).or_default();
        carried.packets += 1;
        carried.inner += payload.len() as u64;
        carried.esp += esp.len() as u64;
        let (protocol, body) = match self.nat_port {
            None if self.ah => (51, authenticate(sa, payload)),
            None => (50, esp),
            Some(port) => {
                let (from, to) = if src == self.client {
                    (port, 4500)
                } else {
                    (4500, port)
                };
                (17, udp(from, to, &esp))
            }
        };
        let header = Ipv4 {
            src,
            dst,
            protocol,
            ..Ipv4::default()
        };
        match self.mtu.filter(|mtu| 20 + body.len() > *mtu) {
            None => self.capture(header.packet(&body)),
            Some(mtu) => {
                let id = sa.sequence as u16;
                let pieces = (Ipv4 { id, ..header }).fragments(&body, (mtu - 20) / 8 * 8);
                let passing = if self.rest_dropped == Some(src) {
                    1
                } else {
                    pieces.len()
                };
                for piece in pieces.into_iter().take(passing) {
                    self.capture(piece);
                }
            }
        }
        sa
    }

    /// How many frames were captured, which is the number of the last one.
    pub fn captured(&self) -> u64 {
        self.frames.len() as u64
    }

    /// An IP packet passes the capture.
    pub fn capture(&mut self, packet: Vec<u8>) {
        if !self.blind {
            let frame = ethernet(0x0800, &packet);
            self.frames.push(Packet::new(self.now.cast_signed(), frame));
        }
        self.now += 1_000;
    }

    /// What passes the capture of another tunnel too, at its own times.
    pub fn beside(&mut self, other: World) {
        self.frames.extend(other.frames);
        self.spis.extend(other.spis);
        self.cookies.extend(other.cookies);
    }

    /// Other SPIs for the pair in use: towards the client, towards the server.
    pub fn name_pair(&mut self, down: u32, up: u32) {
        (self.down, self.up) = (Sa::new(down), Sa::new(up));
        self.spis.extend([down, up]);
    }

    /// What the pair in use has carried: towards the client, towards the server.
    pub fn carried(&self) -> [Carried; 2] {
        [self.down, self.up].map(|sa| self.carried.get(&sa.spi).copied().unwrap_or_default())
    }

    pub(super) fn new_spis(&mut self) -> [u32; 2] {
        let n = self.spis.len() as u32;
        let spis = [self.down, self.up].map(|sa| (sa.spi & 0xffff_0000) + n);
        self.spis.extend(spis);
        spis
    }

    /// An IKE message passes the capture.
    pub(super) fn ike_datagram(&mut self, from_client: bool, message: &[u8]) {
        let (src, dst) = if from_client {
            (self.client, self.server)
        } else {
            (self.answers_from, self.client)
        };
        let between = |port, own: u16| if from_client { (port, own) } else { (own, port) };
        let datagram = match (self.begins_at, self.nat_port) {
            (None, Some(port)) => {
                let (from, to) = between(port, 4500);
                udp(from, to, &[&[0; 4][..], message].concat())
            }
            (port, _) => {
                let (from, to) = between(port.unwrap_or(500), 500);
                udp(from, to, message)
            }
        };
        self.capture(ipv4(src, dst, 17, &datagram));
    }
}
