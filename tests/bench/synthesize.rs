//! Writes a **synthetic** capture: constructed packets, real encryption.
//!
//! ```text
//! cargo run --release --example synthesize -- OUT.pcap [MEGABYTES [LIFETIME_MB STALL_MS]]
//! ```
//!
//! L2TP/IPsec in transport mode as Windows builds it: Ethernet, IPv4, ESP (AES-128-CBC, HMAC-SHA1-96), UDP 1701, L2TP, PPP, IPv4,
//! TCP. A download: two packets of 1,380 ESP bytes down, one acknowledgement up. The keys go to OUT.esp_sa; they are counted
//! up from the SPI and protect nothing.
//!
//! Without a lifetime it is for measuring speed: halfway the pair of SAs gives way to a second one, so there are 4 SAs, and no
//! rekey cost anything. With one, a Quick Mode of three unreadable messages comes whenever LIFETIME_MB of payload have gone down
//! since the last one; then nothing is sent for a half, once or one and a half times STALL_MS in turn, and the transfer goes on
//! on a new pair of SAs. Packets then come at uneven intervals (a linear congruential generator), as in a real transfer.

use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::{Ipv4, Tcp, ethernet, ipv4, l2tp, ppp, udp};
use rekeyscope_testkit::ike::Header;
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
    let number = |text: Option<String>| text.and_then(|n| n.parse::<f64>().ok());
    let spis = match (number(arguments.next()), number(arguments.next())) {
        (Some(lifetime_mb), Some(stall_ms)) => {
            let each = (lifetime_mb * 1e6) as u64;
            with_rekeys(&mut writer, megabytes * 1_000_000, each, (stall_ms * 1e6) as u64)?
        }
        _ => in_halves(&mut writer, megabytes * 1_000_000 / 2)?,
    };
    writer.file.flush()?;
    write_keys(Path::new(&out), &spis)
}

/// Two pairs of SAs, each for half of the file.
fn in_halves(writer: &mut Writer, half: u64) -> Result<Vec<[u32; 2]>> {
    let mut stream = Stream { sent: 0, ack: 1 };
    for generation in 0..2 {
        let mut pair = Pair::new(generation);
        while writer.written < half * (u64::from(generation) + 1) {
            pair.three_packets(writer, &mut stream)?;
        }
    }
    Ok((0..2).map(Pair::spis).collect())
}

/// A pair of SAs for each `lifetime` bytes of payload, with a Quick Mode and a stall between them.
fn with_rekeys(writer: &mut Writer, bytes: u64, lifetime: u64, stall: u64) -> Result<Vec<[u32; 2]>> {
    let mut stream = Stream { sent: 0, ack: 1 };
    writer.noise = 1;
    let mut generation = 0;
    while writer.written < bytes {
        let mut pair = Pair::new(generation);
        let mut sent = 0;
        while sent < lifetime && writer.written < bytes {
            pair.three_packets(writer, &mut stream)?;
            sent += 2 * SEGMENT as u64;
        }
        if writer.written < bytes {
            quick_mode(writer, &mut pair, &mut stream, generation)?;
            writer.clock += stall * (u64::from(generation) % 3 + 1) / 2;
        }
        generation += 1;
    }
    Ok((0..generation).map(Pair::spis).collect())
}

/// Three messages of which only the header can be read (RFC 2409 §5.5), 15 ms apart, while data goes on.
fn quick_mode(writer: &mut Writer, pair: &mut Pair, stream: &mut Stream, generation: u32) -> Result<()> {
    for (body, from_client) in [(160, true), (160, false), (32, true)] {
        let (src, dst) = if from_client {
            (CLIENT, SERVER)
        } else {
            (SERVER, CLIENT)
        };
        writer.ip(src, dst, 17, &isakmp(generation, body))?;
        let until = writer.clock + 15_000_000;
        while writer.clock < until {
            pair.three_packets(writer, stream)?;
        }
    }
    Ok(())
}

/// UDP 500 and an encrypted Quick Mode message (RFC 2408 §3.1); the body is no ciphertext of anything.
fn isakmp(generation: u32, body: usize) -> Vec<u8> {
    let header = Header {
        spis: [[0x5e; 8]; 2],
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

    fn new(generation: u32) -> Pair {
        let [down, up] = Pair::spis(generation);
        Pair {
            down: Sa::new(down, SERVER, CLIENT),
            up: Sa::new(up, CLIENT, SERVER),
        }
    }

    /// Two segments down, one acknowledgement up.
    fn three_packets(&mut self, writer: &mut Writer, stream: &mut Stream) -> Result<()> {
        for _ in 0..2 {
            let payload = stream.segment();
            writer.packet(&mut self.down, &payload)?;
        }
        let payload = stream.acknowledgement();
        writer.packet(&mut self.up, &payload)
    }
}

fn write_keys(out: &Path, spis: &[[u32; 2]]) -> Result<()> {
    let mut keys = File::create(out.with_extension("esp_sa"))?;
    for (index, &spi) in spis.iter().flatten().enumerate() {
        let (src, dst) = if index % 2 == 0 {
            ("192.0.2.1", "198.51.100.2")
        } else {
            ("198.51.100.2", "192.0.2.1")
        };
        let row = Suite::of_spi(spi).esp_sa_row(spi);
        write!(
            keys,
            "{}",
            row.replacen("\"*\",\"*\"", &format!("\"{src}\",\"{dst}\""), 1)
        )?;
    }
    Ok(())
}

/// The inner TCP connection.
struct Stream {
    sent: u32,
    ack: u32,
}

impl Stream {
    fn segment(&mut self) -> Vec<u8> {
        let packet = in_l2tp(
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
        in_l2tp(INNER_CLIENT, INNER_SERVER, (40_000, 5201), self.ack, self.sent, 0)
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
    fn new(spi: u32, src: [u8; 4], dst: [u8; 4]) -> Self {
        Sa {
            spi,
            src,
            dst,
            sequence: 0,
            suite: Suite::of_spi(spi),
        }
    }

    fn seal(&mut self, payload: &[u8]) -> Vec<u8> {
        self.sequence += 1;
        let iv = [&self.spi.to_be_bytes()[..], &[0; 8], &self.sequence.to_be_bytes()].concat();
        let number = self.sequence.into();
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
            noise: 0,
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

    /// Even, or with noise between a half and one and a half of it.
    fn pace(&mut self) -> u64 {
        if self.noise == 0 {
            return PACE;
        }
        self.noise = self
            .noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        PACE / 2 + (self.noise >> 33) % PACE
    }
}
