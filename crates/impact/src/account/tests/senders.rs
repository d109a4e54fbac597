//! **Synthetic** senders whose account is known.

use super::super::AccountConnection;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{FiveTuple, InnerPayload, Packet, TcpHeader, Tracker};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

pub(super) const MSS: u16 = 1_200;

/// One packet on the wire. Time in nanoseconds; `reverse`: sent by the receiver of the data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire {
    pub(super) time: i64,
    pub(super) reverse: bool,
    pub(super) header: TcpHeader,
}

/// The connection whose packets these are, as the tracker sees them.
pub(super) fn connection(mut packets: Vec<Wire>) -> AccountConnection {
    packets.sort_by_key(|p| p.time);
    let flow = FiveTuple {
        protocol: 6,
        src: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        dst: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
        src_port: 443,
        dst_port: 50_000,
    };
    let (mut tracker, mut one) = (Tracker::default(), AccountConnection::new(true));
    for (frame, wire) in (1_u64..).zip(packets) {
        let direction = Direction::BOTH[usize::from(wire.reverse)];
        let packet = Packet {
            time: Timestamp(wire.time),
            frame,
            tunnel: 0,
            direction,
            esp: None,
            tuple: Some(direction.pick(flow, flow.reversed())),
            ip_id: 0,
            payload: InnerPayload::Tcp(wire.header),
        };
        let segment = tracker.push(&packet);
        let bytes = |bytes: u32| u16::try_from(bytes).unwrap();
        let sent = (bytes(segment.len), bytes(segment.new));
        one.take(&packet, &segment, &tracker, sent);
    }
    one
}

/// A **synthetic** sender with a full window of 64 kB all the time: one burst per round trip, each packet acknowledged. The capture
/// is at `place` of the way from the sender (0) to the receiver (1).
pub(super) fn window_limited(rtt_ms: i64, jitter_ms: i64, place: f64, seconds: i64) -> AccountConnection {
    const WINDOW: u32 = 65_535;
    let rtt = rtt_ms * NANOS_PER_MILLI;
    let to_receiver = ((1.0 - place) * rtt as f64 / 2.0) as i64;
    let to_sender = (place * rtt as f64 / 2.0) as i64;
    let mut packets = handshake(2 * to_sender, rtt, 0);
    // The acknowledgements that are on their way to the sender: bytes, and when they arrive.
    let mut returning: VecDeque<(u32, i64)> = VecDeque::new();
    let (mut seq, mut now) = (0u32, rtt);
    for k in 0i64.. {
        let behind = seq + u32::from(MSS);
        while let Some(&(acked, at)) = returning.front().filter(|_| behind > WINDOW) {
            now = now.max(at);
            if acked + WINDOW >= behind {
                break;
            }
            returning.pop_front();
        }
        if now > seconds * NANOS_PER_SECOND {
            break;
        }
        let wobble = (k * 7_919 % 1_000) * jitter_ms * NANOS_PER_MILLI / 1_000;
        let seen = now + to_sender;
        packets.push(packet(seen, false, seq + 1, MSS));
        let acknowledged = seen + 2 * to_receiver + wobble;
        packets.push(packet(acknowledged, true, behind + 1, 0));
        returning.push_back((behind, acknowledged + to_sender));
        seq = behind;
        now += NANOS_PER_MILLI / 10;
    }
    connection(packets)
}

/// A **synthetic** application that writes 192 kB each half second, at the sender's end: 40 ms of round trip, 24 Mbit/s. The sender begins
/// each time with ten segments (RFC 5681 §4.1), and every acknowledgement releases two. What one burst takes, seconds.
pub(super) fn bursts(seconds: i64) -> (AccountConnection, f64) {
    const RTT: i64 = 40 * NANOS_PER_MILLI;
    const SPACED: i64 = 2 * NANOS_PER_MILLI / 5;
    const SEGMENTS: usize = 160;
    let (mut packets, mut seq, mut took) = (Vec::new(), 1u32, 0);
    for burst in 0..2 * seconds {
        let begin = RTT + burst * NANOS_PER_SECOND / 2;
        let (mut sends, mut free) = (vec![begin; 10], begin);
        for k in 0..SEGMENTS {
            let send = sends[k];
            free = free.max(send) + SPACED;
            packets.push(packet(send, false, seq, MSS));
            seq += u32::from(MSS);
            packets.push(packet(free + RTT, true, seq, 0));
            sends.extend([free + RTT; 2]);
            took = send - begin;
        }
    }
    let connection = behind_handshake(packets, RTT, 6);
    (connection, took as f64 / NANOS_PER_SECOND as f64)
}

/// A **synthetic** sender, at its end, of two seconds: 10 ms of round trip, a path that carries a packet each `spaced` nanoseconds, and
/// `flight` times what it holds under way. What is more than it holds queues.
pub(super) fn flies(spaced: i64, flight: f64) -> AccountConnection {
    const RTT: i64 = 10 * NANOS_PER_MILLI;
    let most = (RTT as f64 * flight) as i64 / spaced;
    let (mut packets, mut seq, mut free) = (Vec::new(), 1u32, RTT);
    let mut sends: VecDeque<i64> = [RTT; 10].into();
    let mut under_way = 10;
    while let Some(send) = sends.pop_front()
        && send < 2 * NANOS_PER_SECOND
    {
        free = free.max(send) + spaced;
        packets.push(packet(send, false, seq, MSS));
        seq = seq.wrapping_add(u32::from(MSS));
        packets.push(packet(free + RTT, true, seq, 0));
        sends.push_back(free + RTT);
        if under_way < most {
            sends.push_back(free + RTT);
            under_way += 1;
        }
    }
    behind_handshake(packets, RTT, 9)
}

/// A **synthetic** sender of eight seconds with 40 segments under way, over 40 ms of round trip and a link that carries a packet each 2 ms,
/// and after four seconds one each 8 ms. What the link does not hold queues before it. The capture stands at the sender, or right before
/// the receiver; both ends stamp what they send with milliseconds.
pub(super) fn slower_link(at_receiver: bool) -> AccountConnection {
    const WAY: i64 = 20 * NANOS_PER_MILLI;
    let (up, down) = if at_receiver { (WAY, 0) } else { (0, WAY) };
    let stamped = |mut wire: Wire, stamp: i64, echo: i64| {
        let millis = |time: i64| u32::try_from(time / NANOS_PER_MILLI).unwrap();
        wire.header.timestamps = Some((millis(stamp), millis(echo)));
        wire
    };
    let (mut packets, mut seq, mut free) = (handshake(2 * up, 2 * WAY, 7), 1u32, 0);
    // Times at which the sender may send, and the receiver's stamps that it has heard.
    let mut sends: VecDeque<(i64, i64)> = (0..40).map(|_| (2 * WAY, WAY)).collect();
    while let Some((send, heard)) = sends.pop_front()
        && send < 8 * NANOS_PER_SECOND
    {
        let spaced = if send < 4 * NANOS_PER_SECOND { 2 } else { 8 };
        free = free.max(send) + spaced * NANOS_PER_MILLI;
        let arrives = free + WAY;
        let seen = if at_receiver { arrives } else { send };
        packets.push(stamped(packet(seen, false, seq, MSS), send, heard));
        seq += u32::from(MSS);
        packets.push(stamped(packet(arrives + down, true, seq, 0), arrives, send));
        sends.push_back((arrives + WAY, arrives));
    }
    connection(packets)
}

/// A **synthetic** packet at the sender's end, of the data (`seq`: its first byte) or an acknowledgement (`seq`: what it acknowledges).
fn packet(time: i64, reverse: bool, seq: u32, payload: u16) -> Wire {
    let header = TcpHeader {
        seq: if reverse { 1 } else { seq },
        ack: if reverse { seq } else { 1 },
        len: u32::from(payload),
        window: 65_535,
        flags: TcpHeader::ACK,
        ..TcpHeader::default()
    };
    Wire {
        time,
        reverse,
        header,
    }
}

/// The receiver of the data opens at 0; the sender's SYN passes at `answered`, the receiver's answer at `rtt`.
pub(super) fn handshake(answered: i64, rtt: i64, scale: u8) -> Vec<Wire> {
    let syn = |time: i64, reverse: bool, flags: u8| {
        let mut syn = packet(time, reverse, 1, 0);
        syn.header.seq = 0;
        (syn.header.flags, syn.header.window_scale) = (flags, Some(scale));
        syn
    };
    let opens = syn(0, true, TcpHeader::SYN);
    let answers = syn(answered, false, TcpHeader::SYN | TcpHeader::ACK);
    vec![opens, answers, packet(rtt, true, 1, 0)]
}

/// The packets behind a handshake that takes `rtt`.
fn behind_handshake(packets: Vec<Wire>, rtt: i64, scale: u8) -> AccountConnection {
    connection(handshake(0, rtt, scale).into_iter().chain(packets).collect())
}

/// A **synthetic** sender, at whose end the capture is: so many segments are under way in each round trip of 40 ms, of a window of 54. Where
/// there are fewer than before, the first segment of the round before was lost.
pub(super) fn rounds(flights: &[usize]) -> AccountConnection {
    const RTT: i64 = 40 * NANOS_PER_MILLI;
    const SPACED: i64 = NANOS_PER_MILLI / 10;
    let (mut packets, mut seq, mut una) = (Vec::new(), 1u32, 1u32);
    // When the acknowledgements of the round before arrive.
    let mut arrive = vec![RTT];
    for (round, &segments) in flights.iter().enumerate() {
        if round > 0 && segments < flights[round - 1] {
            packets.push(packet(arrive[0], false, una, MSS));
            arrive = vec![arrive[0] + RTT];
            packets.push(packet(arrive[0], true, seq, 0));
        }
        let loses = flights.get(round + 1).is_some_and(|&next| next < segments);
        let (before, mut free) = (std::mem::take(&mut arrive), 0);
        una = seq;
        for k in 0..segments {
            free = before[k * before.len() / segments].max(free + SPACED);
            packets.push(packet(free, false, seq, MSS));
            seq += u32::from(MSS);
            arrive.push(free + RTT);
            packets.push(packet(free + RTT, true, if loses { una } else { seq }, 0));
        }
    }
    behind_handshake(packets, RTT, 0)
}

/// A **synthetic** application, at the sender's end, that writes 8,000 bytes each 21.8 ms by a clock of milliseconds. Two writes before were
/// acknowledged 1.3 or 2.3 ms ago; part of a segment waits for the part before (RFC 9293 §3.7.4).
pub(super) fn writes(count: i64) -> AccountConnection {
    const RTT: i64 = 41_700 * NANOS_PER_MILLI / 1_000;
    let (mut packets, mut seq, mut waiting, mut part_acked) = (Vec::new(), 1u32, 0u16, 0);
    let mut send = |time: i64, payload: u16| {
        packets.push(packet(time, false, seq, payload));
        seq += u32::from(payload);
        packets.push(packet(time + RTT, true, seq, 0));
    };
    for write in 0..count {
        let at = |write: i64| RTT + write * 218 / 10 * NANOS_PER_MILLI;
        waiting += 8_000;
        for _ in 0..waiting / MSS {
            send(at(write), MSS);
        }
        waiting %= MSS;
        if waiting > 0 && part_acked < at(write + 1) {
            let time = at(write).max(part_acked);
            send(time, std::mem::take(&mut waiting));
            part_acked = time + RTT;
        }
    }
    behind_handshake(packets, RTT, 0)
}
