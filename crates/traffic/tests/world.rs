//! Packets in words, facts in words. One line a packet:
//!
//! ```text
//! 20 > 1:100 ack 1        after 20 ms the client sends 100 bytes from sequence number 1 on, and acknowledges 1
//! 40 < 1:0 ack 101        the server acknowledges them
//! ```
//!
//! Behind that: `S`, `F`, `R`, `P` (flags); `esp=7/12` (SPI, number); `id=5`; `ts=5/3` (value, echo); `win=0`; `scale=7`; `mss=1000`; `sack=200-300,400-500`;
//! `port=2` (another connection); `echo=3` (a request of that number, or its reply with `<`); `ping=3` (the same, asked with `<`); `udp=100`; `unread=100` (an ESP packet of that length that no key opens).

use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::{
    EspNumber, Fate, FiveTuple, InnerPayload, Packet, Segment, SegmentKind, Settlement, TcpHeader, Tracker,
};
use std::net::{IpAddr, Ipv4Addr};

/// The numbers of both sides on the wire begin here.
pub(crate) type Initial = [u32; 2];

pub(crate) fn at(ms: i64) -> Timestamp {
    Timestamp(ms * NANOS_PER_MILLI)
}

fn tuple(protocol: u8, port: u16, direction: Direction) -> FiveTuple {
    let client = FiveTuple {
        protocol,
        src: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        dst: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
        src_port: port,
        dst_port: 443,
    };
    match direction {
        Direction::AToB => client,
        Direction::BToA => client.reversed(),
    }
}

/// A TCP packet of the client's first connection.
pub(crate) fn tcp(time: Timestamp, frame: u64, direction: Direction, header: TcpHeader) -> Packet {
    Packet {
        time,
        frame,
        tunnel: 0,
        direction,
        esp: None,
        tuple: Some(tuple(6, 1, direction)),
        ip_id: 0,
        payload: InnerPayload::Tcp(header),
    }
}

/// The packets that lines describe.
pub(crate) fn packets(lines: &str, initial: Initial) -> Vec<Packet> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .zip(1..)
        .map(|(line, frame)| packet(line, frame, initial))
        .collect()
}

fn packet(line: &str, frame: u64, initial: Initial) -> Packet {
    let mut words = line.split_whitespace();
    let time = at(words.next().unwrap().parse().unwrap());
    let direction = match words.next().unwrap() {
        ">" => Direction::AToB,
        _ => Direction::BToA,
    };
    let own = usize::from(direction == Direction::BToA);
    let mut header = TcpHeader {
        window: 1_000,
        ..TcpHeader::default()
    };
    let mut packet = tcp(time, frame, direction, header);
    let number = |text: &str| text.parse::<u32>().unwrap();
    let (mut port, mut other) = (1, None);
    while let Some(word) = words.next() {
        if let Some((seq, len)) = word.split_once(':') {
            header.seq = initial[own].wrapping_add(number(seq));
            header.len = number(len);
            continue;
        }
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let pair = |mark: char| value.split_once(mark).unwrap();
        match name {
            "ack" => {
                header.flags |= TcpHeader::ACK;
                header.ack = initial[1 - own].wrapping_add(number(words.next().unwrap()));
            }
            "S" => header.flags |= TcpHeader::SYN,
            "F" => header.flags |= TcpHeader::FIN,
            "R" => header.flags |= TcpHeader::RST,
            "P" => header.flags |= TcpHeader::PSH,
            "esp" => {
                packet.esp = Some(EspNumber {
                    spi: number(pair('/').0),
                    number: u64::from(number(pair('/').1)),
                    ..EspNumber::default()
                });
            }
            "id" => packet.ip_id = value.parse().unwrap(),
            "ts" => header.timestamps = Some((number(pair('/').0), number(pair('/').1))),
            "win" => header.window = value.parse().unwrap(),
            "mss" => header.mss = Some(value.parse().unwrap()),
            "scale" => header.window_scale = Some(value.parse().unwrap()),
            "sack" => {
                let edge = |text: &str| initial[1 - own].wrapping_add(number(text));
                let blocks = value.split(',').map(|block| block.split_once('-').unwrap());
                let blocks: Vec<(u32, u32)> = blocks.map(|(left, right)| (edge(left), edge(right))).collect();
                header.sack = blocks.iter().copied().collect();
            }
            "port" => port = value.parse().unwrap(),
            "echo" | "ping" => {
                other = Some((
                    1,
                    InnerPayload::Echo {
                        request: (direction == Direction::AToB) == (name == "echo"),
                        id: 1,
                        seq: value.parse().unwrap(),
                        bytes: 64,
                    },
                ));
            }
            "unread" => other = Some((17, InnerPayload::Unread(number(value)))),
            "udp" => other = Some((17, InnerPayload::Datagram(number(value)))),
            _ => panic!("{word}"),
        }
    }
    let (protocol, payload) = other.unwrap_or((6, InnerPayload::Tcp(header)));
    Packet {
        tuple: Some(tuple(protocol, port, direction)),
        payload,
        ..packet
    }
}

/// The tracker's word on each packet.
pub(crate) fn track(packets: &[Packet]) -> Vec<(Segment, Vec<Settlement>)> {
    let mut tracker = Tracker::default();
    let mut take = |packet| (tracker.push(packet), tracker.settled().to_vec());
    packets.iter().map(&mut take).collect()
}

/// Facts, a line a packet: what it was, what it acknowledges, what became of which frame.
pub(crate) fn facts(lines: &str) -> String {
    let mut una = [Segment::ORIGIN; 2];
    let tracked = track(&packets(lines, [0, 0]));
    let said = tracked.iter().map(|(segment, settled)| {
        let una = &mut una[usize::from(segment.direction == Direction::BToA)];
        let ack = segment.acks.map_or(*una, |acks| acks.ack.max(*una));
        let advanced = ack - std::mem::replace(una, ack);
        line(segment, advanced, settled)
    });
    said.collect()
}

fn line(segment: &Segment, advanced: u64, settled: &[Settlement]) -> String {
    let mut words = vec![match segment.kind {
        SegmentKind::InOrder => "in order".to_owned(),
        SegmentKind::Late => "late".to_owned(),
        SegmentKind::Retransmission => "repeats".to_owned(),
        SegmentKind::Acknowledgement => "-".to_owned(),
        kind => format!("{kind:?}"),
    }];
    for (name, bytes) in [("new", segment.new), ("again", segment.again)] {
        if bytes > 0 {
            words.push(format!("{name} {bytes}"));
        }
    }
    if segment.gap > 0 {
        words.push(format!("gap {}", segment.gap));
    }
    let unseen = segment.acks.map_or(0, |acks| acks.unseen);
    for (name, bytes) in [("advances", advanced), ("unseen", unseen)] {
        if bytes > 0 {
            words.push(format!("{name} {bytes}"));
        }
    }
    for one in settled {
        let fate = match one.fate {
            Fate::Arrived => "arrived",
            Fate::Swallowed => "swallowed",
            Fate::Superfluous { .. } => "superfluous",
            Fate::Abandoned => "abandoned",
            Fate::Waiting => "waiting",
        };
        words.push(format!("{} {fate}", one.frame));
    }
    words.join(", ") + "\n"
}

/// Without indentation.
pub(crate) fn lines(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("{line}\n"))
        .collect()
}
