//! Writes a **synthetic** capture: constructed packets, real encryption.
//!
//! ```text
//! cargo run --release --example synthesize -- OUT.pcap [MEGABYTES [LIFETIME_MB STALL_MS]] [--suite NAME] [--flows N] [--as-real]
//! ```
//!
//! L2TP/IPsec in transport mode as Windows builds it: Ethernet, IPv4, ESP (AES-128-CBC, HMAC-SHA1-96), UDP 1701, L2TP, PPP, IPv4,
//! TCP. A download: two packets of 1,380 ESP bytes down, one acknowledgement up. The keys go to OUT.esp_sa; they are counted
//! up from the SPI and protect nothing.
//!
//! Without a lifetime it is for measuring speed: halfway the pair of SAs gives way to a second one, so there are 4 SAs, and no
//! rekey cost anything. With one, a Main Mode whose vendor ID is that of Windows comes first, and a Quick Mode of three unreadable
//! messages whenever LIFETIME_MB have gone down in ESP (without its padding) since the last one; then nothing is sent for a half, once or one and a half times STALL_MS in turn, and the transfer goes on
//! on a new pair of SAs. Packets then come at uneven intervals (a linear congruential generator), as in a real transfer.
//!
//! `--suite`: `aes128-sha1` (as above), `aes256-sha256`, `aes128gcm16`, `chacha20poly1305`. `--flows`: so many connections take turns.
//! `--as-real`: packets come in bursts, one in a thousand is lost and sent again, and twice a minute nothing comes for half a second.

use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::{Ipv4, Tcp, ethernet, ipv4, l2tp, ppp, udp};
use rekeyscope_testkit::ike::{Header, chain};
use std::collections::VecDeque;
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
const COOKIE: [u8; 8] = [0x5e; 8];
/// Time of the first packet.
const START: u64 = 1_800_000_000_000_000_000;

/// What the capture is to be like.
struct Wanted {
    /// Cipher, length of its key without salt, integrity.
    suite: (Encryption, usize, Integrity),
    flows: usize,
    as_real: bool,
    /// File, megabytes, lifetime, stall.
    plain: Vec<String>,
}

impl Wanted {
    fn read() -> Result<Wanted> {
        let usage = || {
            std::io::Error::other(
                "usage: synthesize OUT.pcap [MEGABYTES [LIFETIME_MB STALL_MS]] [--suite NAME] [--flows N] [--as-real]",
            )
        };
        let mut wanted = Wanted {
            suite: (Encryption::AesCbc, 16, Integrity::HmacSha1_96),
            flows: 1,
            as_real: false,
            plain: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--as-real" => wanted.as_real = true,
                "--flows" => {
                    let flows = words.next().and_then(|n| n.parse().ok());
                    wanted.flows = flows.filter(|n| (1..=1 << 20).contains(n)).ok_or_else(usage)?;
                }
                "--suite" => {
                    wanted.suite = match words.next().as_deref() {
                        Some("aes128-sha1") => wanted.suite,
                        Some("aes256-sha256") => (Encryption::AesCbc, 32, Integrity::HmacSha256_128),
                        Some("aes128gcm16") => (Encryption::AesGcm { icv: 16 }, 16, Integrity::None),
                        Some("chacha20poly1305") => (Encryption::ChaCha20Poly1305, 32, Integrity::None),
                        _ => return Err(usage()),
                    }
                }
                other if other.starts_with("--") => return Err(usage()),
                _ => wanted.plain.push(word),
            }
        }
        if wanted.plain.is_empty() {
            return Err(usage());
        }
        Ok(wanted)
    }

    /// The keys of an SA, by its SPI.
    fn suite_of(&self, spi: u32) -> Suite {
        match self.suite {
            (Encryption::AesCbc, 16, _) => Suite::of_spi(spi),
            (encryption, key_len, integrity) => Suite::new(
                encryption,
                key_len,
                integrity,
                spi.to_be_bytes().iter().fold(0, |a, b| a ^ b),
            ),
        }
    }
}

fn main() -> Result<()> {
    let wanted = Wanted::read()?;
    let out = Path::new(&wanted.plain[0]);
    let number = |place: usize| wanted.plain.get(place).and_then(|n| n.parse::<f64>().ok());
    let bytes = number(1).unwrap_or(1_000.0) as u64 * 1_000_000;
    let mut writer = Writer::new(out, wanted.as_real)?;
    let mut traffic = Traffic::new(&wanted);
    let spis = match (number(2), number(3)) {
        (Some(lifetime_mb), Some(stall_ms)) => {
            let each = (lifetime_mb * 1e6) as u64;
            with_rekeys(&mut writer, &mut traffic, bytes, each, (stall_ms * 1e6) as u64)?
        }
        _ => in_halves(&mut writer, &mut traffic, bytes / 2)?,
    };
    writer.file.flush()?;
    write_keys(out, &wanted, &spis)
}

/// Two pairs of SAs, each for half of the file.
fn in_halves(writer: &mut Writer, traffic: &mut Traffic, half: u64) -> Result<Vec<[u32; 2]>> {
    for generation in 0..2 {
        let mut pair = Pair::new(generation, traffic.wanted);
        while writer.written < half * (u64::from(generation) + 1) {
            pair.three_packets(writer, traffic)?;
        }
    }
    Ok((0..2).map(Pair::spis).collect())
}

/// A pair of SAs for each `lifetime` bytes of payload, with a Quick Mode and a stall between them.
fn with_rekeys(
    writer: &mut Writer,
    traffic: &mut Traffic,
    bytes: u64,
    lifetime: u64,
    stall: u64,
) -> Result<Vec<[u32; 2]>> {
    writer.noise = 1;
    main_mode(writer)?;
    let mut generation = 0;
    while writer.written < bytes {
        let mut pair = Pair::new(generation, traffic.wanted);
        let mut sent = 0;
        while sent < lifetime && writer.written < bytes {
            pair.three_packets(writer, traffic)?;
            sent += 2 * traffic.streams[0].packet_len() as u64;
        }
        if writer.written < bytes {
            quick_mode(writer, &mut pair, traffic, generation)?;
            writer.clock += stall * (u64::from(generation) % 3 + 1) / 2;
        }
        generation += 1;
    }
    Ok((0..generation).map(Pair::spis).collect())
}

/// Six messages (RFC 2409 §5), of which the client's first one holds the vendor ID of Windows 8 and later. The SA payloads, keys and
/// nonces are no real ones.
fn main_mode(writer: &mut Writer) -> Result<()> {
    const WINDOWS: [u8; 20] = *b"\x1e\x2b\x51\x69\x05\x99\x1c\x7d\x7c\x96\xfc\xbf\xb5\x87\xe4\x61\0\0\0\x09";
    let keys = || chain(&[(4, vec![0x77; 256]), (10, vec![0x78; 48])]);
    let messages = [
        (0, chain(&[(1, vec![0; 48]), (13, WINDOWS.to_vec())])),
        (0, chain(&[(1, vec![0; 48])])),
        (0, keys()),
        (0, keys()),
        (1, (5, vec![0x79; 64])),
        (1, (5, vec![0x7a; 64])),
    ];
    for (number, (flags, (first, body))) in messages.into_iter().enumerate() {
        let responder = if number == 0 { [0; 8] } else { COOKIE };
        let header = Header {
            spis: [COOKIE, responder],
            first,
            version: 1,
            exchange_type: 2,
            flags,
            message_id: 0,
        };
        let (src, dst) = ends(number % 2 == 0);
        writer.ip(src, dst, 17, &udp(500, 500, &header.message(&body)))?;
        writer.clock += 15_000_000;
    }
    Ok(())
}

/// Source and destination.
fn ends(from_client: bool) -> ([u8; 4], [u8; 4]) {
    match from_client {
        true => (CLIENT, SERVER),
        false => (SERVER, CLIENT),
    }
}

/// Three messages of which only the header can be read (RFC 2409 §5.5), 15 ms apart, while data goes on.
fn quick_mode(writer: &mut Writer, pair: &mut Pair, traffic: &mut Traffic, generation: u32) -> Result<()> {
    for (body, from_client) in [(160, true), (160, false), (32, true)] {
        let (src, dst) = ends(from_client);
        writer.ip(src, dst, 17, &isakmp(generation, body))?;
        let until = writer.clock + 15_000_000;
        while writer.clock < until {
            pair.three_packets(writer, traffic)?;
        }
    }
    Ok(())
}

/// UDP 500 and an encrypted Quick Mode message (RFC 2408 §3.1); the body is no ciphertext of anything.
fn isakmp(generation: u32, body: usize) -> Vec<u8> {
    let header = Header {
        spis: [COOKIE; 2],
        first: 8,
        version: 1,
        exchange_type: 32,
        flags: 1,
        message_id: 0x5e5e_5e00 + generation,
    };
    let body: Vec<u8> = (0..body)
        .map(|i| (i * 37 + generation as usize * 11 + body) as u8)
        .collect();
    udp(500, 500, &header.message(&body))
}

/// The SAs of one generation.
struct Pair {
    down: Sa,
    up: Sa,
}

impl Pair {
    fn spis(generation: u32) -> [u32; 2] {
        [0x5e5e_0001 + 2 * generation, 0x5e5e_0002 + 2 * generation]
    }

    fn new(generation: u32, wanted: &Wanted) -> Pair {
        let [down, up] = Pair::spis(generation);
        Pair {
            down: Sa::new(down, SERVER, CLIENT, wanted),
            up: Sa::new(up, CLIENT, SERVER, wanted),
        }
    }

    /// Two segments down, one acknowledgement up; and what was lost, once more.
    fn three_packets(&mut self, writer: &mut Writer, traffic: &mut Traffic) -> Result<()> {
        if traffic.wanted.as_real {
            if let Some(segment) = traffic.due(writer.clock) {
                writer.packet(&mut self.down, &segment)?;
            }
            if writer.clock >= traffic.next_pause {
                writer.clock += 500_000_000;
                traffic.next_pause = writer.clock + 30_000_000_000;
            }
        }
        let stream = traffic.next();
        for _ in 0..2 {
            let payload = traffic.streams[stream].segment();
            writer.packet(&mut self.down, &payload)?;
            if traffic.wanted.as_real && writer.chance(1_000) {
                // The capture point lies before the place where it was lost.
                traffic.lost.push_back((writer.clock + 30_000_000, payload));
            }
        }
        let payload = traffic.streams[stream].acknowledgement();
        writer.packet(&mut self.up, &payload)
    }
}

/// The inner connections, which take turns.
struct Traffic<'w> {
    wanted: &'w Wanted,
    streams: Vec<Stream>,
    turn: usize,
    /// Segments to be sent again, and when.
    lost: VecDeque<(u64, Vec<u8>)>,
    next_pause: u64,
}

impl<'w> Traffic<'w> {
    fn new(wanted: &'w Wanted) -> Self {
        let stream = |index: usize| Stream {
            port: 1_024 + ((38_976 + index) % 60_000) as u16,
            server: [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19][index / 60_000],
            sent: 0,
            ack: 1,
        };
        Traffic {
            wanted,
            streams: (0..wanted.flows).map(stream).collect(),
            turn: 0,
            lost: VecDeque::new(),
            next_pause: START + 15_000_000_000,
        }
    }

    /// A segment whose time to be sent again has come.
    fn due(&mut self, clock: u64) -> Option<Vec<u8>> {
        let is_due = self.lost.front().is_some_and(|(when, _)| *when <= clock);
        if is_due {
            self.lost.pop_front().map(|(_, segment)| segment)
        } else {
            None
        }
    }

    fn next(&mut self) -> usize {
        self.turn = (self.turn + 1) % self.streams.len();
        self.turn
    }
}

fn write_keys(out: &Path, wanted: &Wanted, spis: &[[u32; 2]]) -> Result<()> {
    let mut keys = File::create(out.with_extension("esp_sa"))?;
    for (index, &spi) in spis.iter().flatten().enumerate() {
        let (src, dst) = if index % 2 == 0 {
            ("192.0.2.1", "198.51.100.2")
        } else {
            ("198.51.100.2", "192.0.2.1")
        };
        let row = wanted.suite_of(spi).esp_sa_row(spi);
        write!(
            keys,
            "{}",
            row.replacen("\"*\",\"*\"", &format!("\"{src}\",\"{dst}\""), 1)
        )?;
    }
    Ok(())
}

/// An inner TCP connection.
struct Stream {
    port: u16,
    server: u8,
    sent: u32,
    ack: u32,
}

impl Stream {
    fn segment(&mut self) -> Vec<u8> {
        let ports = (5201, self.port);
        let packet = in_l2tp(self.server(), INNER_CLIENT, ports, self.sent, self.ack, SEGMENT);
        self.sent = self.sent.wrapping_add(SEGMENT as u32);
        packet
    }

    fn acknowledgement(&mut self) -> Vec<u8> {
        let ports = (self.port, 5201);
        in_l2tp(INNER_CLIENT, self.server(), ports, self.ack, self.sent, 0)
    }

    /// Bytes of a segment's packet in ESP.
    fn packet_len(&self) -> usize {
        in_l2tp(self.server(), INNER_CLIENT, (5201, self.port), 0, 0, SEGMENT).len()
    }

    fn server(&self) -> [u8; 4] {
        let [a, b, c, _] = INNER_SERVER;
        [a, b, c, self.server]
    }
}

/// UDP 1701, L2TP data header with length, PPP with address and control, IPv4, TCP.
fn in_l2tp(src: [u8; 4], dst: [u8; 4], ports: (u16, u16), seq: u32, ack: u32, data: usize) -> Vec<u8> {
    let header = Tcp {
        ports,
        seq,
        ack,
        ..Tcp::default()
    };
    let data: Vec<u8> = (0..data).map(|i| i as u8).collect();
    l2tp(0x4000, 1, &ppp(&ipv4(src, dst, 6, &header.segment(&data))))
}

/// One SA that encrypts.
struct Sa {
    spi: u32,
    src: [u8; 4],
    dst: [u8; 4],
    sequence: u32,
    suite: Suite,
}

impl Sa {
    fn new(spi: u32, src: [u8; 4], dst: [u8; 4], wanted: &Wanted) -> Self {
        Sa {
            spi,
            src,
            dst,
            sequence: 0,
            suite: wanted.suite_of(spi),
        }
    }

    fn seal(&mut self, payload: &[u8]) -> Vec<u8> {
        self.sequence += 1;
        let number = self.sequence.into();
        if self.suite.encryption.is_aead() {
            return self.suite.seal(self.spi, number, false, 17, payload);
        }
        let iv = [&self.spi.to_be_bytes()[..], &[0; 8], &self.sequence.to_be_bytes()].concat();
        self.suite.seal_with(&iv, self.spi, number, false, 17, payload)
    }
}

/// A nanosecond pcap.
struct Writer {
    file: BufWriter<File>,
    written: u64,
    clock: u64,
    /// State of the generator; 0: packets come evenly.
    noise: u64,
    as_real: bool,
}

impl Writer {
    fn new(path: &Path, as_real: bool) -> Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        file.write_all(&0xa1b2_3c4du32.to_le_bytes())?;
        file.write_all(&[2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0])?;
        Ok(Writer {
            file,
            written: 24,
            clock: START,
            noise: u64::from(as_real),
            as_real,
        })
    }

    fn packet(&mut self, sa: &mut Sa, payload: &[u8]) -> Result<()> {
        let esp = sa.seal(payload);
        self.ip(sa.src, sa.dst, 50, &esp)
    }

    fn ip(&mut self, src: [u8; 4], dst: [u8; 4], protocol: u8, payload: &[u8]) -> Result<()> {
        let header = Ipv4 {
            src,
            dst,
            protocol,
            ..Ipv4::default()
        };
        let head = ethernet(0x0800, &header.header(payload.len()));
        let len = (head.len() + payload.len()) as u32;
        let seconds = (self.clock / 1_000_000_000) as u32;
        for word in [seconds, (self.clock % 1_000_000_000) as u32, len, len] {
            self.file.write_all(&word.to_le_bytes())?;
        }
        self.file.write_all(&head)?;
        self.file.write_all(payload)?;
        self.written += 16 + u64::from(len);
        self.clock += self.pace();
        Ok(())
    }

    /// Even, with noise between a half and one and a half of it, or in bursts: a hundredth of it between most packets, the rest
    /// between bursts of sixteen on average.
    fn pace(&mut self) -> u64 {
        if self.noise == 0 {
            return PACE;
        }
        let noise = self.random();
        match self.as_real {
            true if !noise.is_multiple_of(16) => PACE / 100 + noise % 1_000,
            true => PACE * 12 + noise % (PACE * 6),
            false => PACE / 2 + noise % PACE,
        }
    }

    /// True once in `n` times.
    fn chance(&mut self, n: u64) -> bool {
        self.random().is_multiple_of(n)
    }

    fn random(&mut self) -> u64 {
        self.noise = self
            .noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.noise >> 33
    }
}
