//! A capture as tshark's tables have it.

use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{EspNumber, FiveTuple, InnerPayload, Packet, SealedPacket, TcpHeader};
use std::collections::HashMap;
use std::io::{Error, Result};
use std::net::{IpAddr, Ipv4Addr};

/// One packet in tshark's analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Theirs {
    /// Nothing was found.
    InOrder,
    /// Sent before, and not acknowledged.
    Retransmission,
    /// Sent before, and acknowledged.
    Spurious,
    /// Overtaken by others.
    OutOfOrder,
    /// Something before it is missing.
    LostSegment,
    /// Asks whether the peer is there.
    KeepAlive,
    /// One byte into a closed window.
    WindowProbe,
}

/// Header of an IPv4 packet without options, bytes.
const IP_HEADER: u32 = 20;
/// Header of UDP, bytes.
const UDP_HEADER: u32 = 8;

/// A capture.
pub struct LabCapture {
    /// Inner packets, and what tshark says of each.
    pub packets: Vec<(Packet, Theirs)>,
    /// ESP packets as they are without a key.
    pub sealed: Vec<(Direction, SealedPacket)>,
    /// Time of the first frame of any kind.
    pub first: Timestamp,
    /// Time of the last frame of any kind.
    pub last: Timestamp,
    /// IKE messages: time, frame, and the fields that tshark has in clear.
    pub messages: Vec<(Timestamp, u64, Vec<String>)>,
}

fn number<T: std::str::FromStr + Default>(text: &str) -> T {
    text.split(',')
        .next()
        .and_then(|first| first.parse().ok())
        .unwrap_or_default()
}

fn hex(text: &str) -> u64 {
    let first = text.split(',').next().unwrap_or_default();
    u64::from_str_radix(first.trim_start_matches("0x"), 16).unwrap_or_default()
}

fn time(text: &str) -> Timestamp {
    let (seconds, rest) = text.split_once('.').unwrap_or((text, "0"));
    let nanos: i64 = format!("{rest:0<9}")[..9].parse().unwrap_or_default();
    Timestamp(seconds.parse::<i64>().unwrap_or_default() * NANOS_PER_SECOND + nanos)
}

/// Reads the tables of one capture.
pub fn read(outer: &str, inner: &str) -> Result<LabCapture> {
    let outer = std::fs::read_to_string(outer)?;
    let inner = std::fs::read_to_string(inner)?;
    // ESP numbers by frame, and the responder: where the first IKE or ESP packet goes.
    let (mut esp, mut responder, mut last, mut messages) = (HashMap::new(), None, None, Vec::new());
    let (mut first, mut sealed) = (None, Vec::new());
    for line in outer.lines() {
        let row: Vec<&str> = line.split('\t').collect();
        let [
            frame,
            at,
            dst,
            spi,
            sequence,
            cookies,
            _,
            _,
            _,
            _,
            ip_length,
            udp_length,
        ] = row[..]
        else {
            return Err(Error::other(format!("not a row: {line}")));
        };
        first.get_or_insert(time(at));
        last = Some(time(at));
        if spi.is_empty() && cookies.is_empty() {
            continue;
        }
        let responder = responder.get_or_insert(dst.to_owned());
        if cookies.is_empty() {
            let place = EspNumber {
                spi: hex(spi) as u32,
                number: number(sequence),
                ..EspNumber::default()
            };
            esp.insert(number::<u64>(frame), (place, dst.to_owned()));
            let headers = IP_HEADER + if udp_length.is_empty() { 0 } else { UDP_HEADER };
            let packet = SealedPacket {
                time: time(at),
                frame: number(frame),
                spi: place.spi,
                bytes: number::<u32>(ip_length).saturating_sub(headers),
                missing: 0,
            };
            sealed.push((direction(dst, responder), packet));
        } else {
            let fields = row[5..10].iter().map(|field| (*field).to_owned()).collect();
            messages.push((time(at), number(frame), fields));
        }
    }
    let responder = responder.unwrap_or_default();
    let packets = inner
        .lines()
        .filter_map(|line| packet(line, &esp, &responder))
        .collect();
    Ok(LabCapture {
        packets,
        sealed,
        first: first.unwrap_or_default(),
        last: last.unwrap_or_default(),
        messages,
    })
}

fn direction(to: &str, responder: &str) -> Direction {
    if to == responder {
        Direction::AToB
    } else {
        Direction::BToA
    }
}

fn packet(line: &str, esp: &HashMap<u64, (EspNumber, String)>, responder: &str) -> Option<(Packet, Theirs)> {
    let row: Vec<&str> = line.split('\t').collect();
    let frame: u64 = row[0].rsplit(' ').next()?.parse().ok()?;
    let (esp, to) = esp.get(&frame)?;
    let address = |text: &str| {
        text.split(',')
            .next()
            .and_then(|first| first.parse::<Ipv4Addr>().ok())
    };
    let (src, dst) = (address(row[2])?, address(row[3])?);
    let (protocol, payload) = if !row[7].is_empty() {
        (6, InnerPayload::Tcp(header(&row)))
    } else if !row[17].is_empty() {
        let echo = InnerPayload::Echo {
            request: number::<u8>(row[17]) == 8,
            id: number(row[18]),
            seq: number(row[19]),
            bytes: 0,
        };
        (1, echo)
    } else {
        (17, InnerPayload::Datagram(number(row[20])))
    };
    let packet = Packet {
        time: time(row[1]),
        frame,
        tunnel: 0,
        direction: direction(to, responder),
        esp: Some(*esp),
        tuple: Some(FiveTuple {
            protocol,
            src: IpAddr::V4(src),
            dst: IpAddr::V4(dst),
            src_port: number(row[5]),
            dst_port: number(row[6]),
        }),
        ip_id: hex(row[4]) as u16,
        payload,
    };
    let is = |k: usize| !row[k].is_empty();
    let theirs = if is(26) {
        Theirs::KeepAlive
    } else if is(27) {
        Theirs::WindowProbe
    } else if is(23) {
        Theirs::Spurious
    } else if is(24) {
        Theirs::OutOfOrder
    } else if is(21) || is(22) {
        Theirs::Retransmission
    } else if is(25) {
        Theirs::LostSegment
    } else {
        Theirs::InOrder
    };
    Some((packet, theirs))
}

fn header(row: &[&str]) -> TcpHeader {
    let edges = |text: &str| -> Vec<u32> { text.split(',').filter_map(|edge| edge.parse().ok()).collect() };
    TcpHeader {
        seq: number(row[7]),
        ack: number(row[8]),
        flags: hex(row[9]) as u8,
        window: number(row[10]),
        window_scale: (!row[11].is_empty()).then(|| number(row[11])),
        mss: None,
        sack: edges(row[12]).into_iter().zip(edges(row[13])).collect(),
        timestamps: (!row[14].is_empty()).then(|| (number(row[14]), number(row[15]))),
        len: number(row[16]),
    }
}
