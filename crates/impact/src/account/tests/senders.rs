//! **Synthetic** senders whose account is known.

use super::super::{AccountConnection, AccountPacket, Syn};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use std::collections::VecDeque;

pub(super) const MSS: u16 = 1_200;

/// A **synthetic** sender with a full window of 64 kB all the time: one burst per round trip, each packet acknowledged. The capture
/// is at `place` of the way from the sender (0) to the receiver (1).
pub(super) fn window_limited(rtt_ms: i64, jitter_ms: i64, place: f64, seconds: i64) -> AccountConnection {
    const WINDOW: u32 = 65_535;
    let rtt = rtt_ms * NANOS_PER_MILLI;
    let to_receiver = ((1.0 - place) * rtt as f64 / 2.0) as i64;
    let to_sender = (place * rtt as f64 / 2.0) as i64;
    let mut packets: Vec<AccountPacket> = Vec::new();
    let packet = |time: i64, reverse: bool, (seq, ack, payload): (u32, u32, u16), window: u16, syn: bool| {
        AccountPacket {
            time: Timestamp(time),
            seq,
            ack,
            payload,
            new: payload,
            window,
            reverse,
            flags: AccountPacket::ACK | if syn { AccountPacket::SYN } else { 0 },
            ..AccountPacket::default()
        }
    };
    let syn = |time: i64| {
        Some(Syn {
            time: Timestamp(time),
            scale: Some(0),
            repeated: false,
        })
    };
    // The receiver opens.
    packets.push(packet(0, true, (0, 0, 0), WINDOW as u16, true));
    packets.push(packet(2 * to_sender, false, (0, 1, 0), WINDOW as u16, true));
    packets.push(packet(rtt, true, (1, 1, 0), WINDOW as u16, false));
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
        packets.push(packet(seen, false, (seq + 1, 1, MSS), WINDOW as u16, false));
        let acknowledged = seen + 2 * to_receiver + wobble;
        packets.push(packet(
            acknowledged,
            true,
            (1, behind + 1, 0),
            WINDOW as u16,
            false,
        ));
        returning.push_back((behind, acknowledged + to_sender));
        seq = behind;
        now += NANOS_PER_MILLI / 10;
    }
    packets.sort_by_key(|p| p.time);
    for (frame, packet) in (1u64..).zip(&mut packets) {
        packet.frame = frame;
    }
    AccountConnection {
        packets,
        syns: [syn(2 * to_sender), syn(0)],
        bytes: [u64::from(seq), 0],
        ..AccountConnection::new(true)
    }
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

/// A **synthetic** packet at the sender's end, of the data (`seq`: its first byte) or an acknowledgement (`seq`: what it acknowledges).
fn packet(time: i64, reverse: bool, seq: u32, payload: u16) -> AccountPacket {
    AccountPacket {
        time: Timestamp(time),
        seq: if reverse { 1 } else { seq },
        ack: if reverse { seq } else { 1 },
        payload,
        new: payload,
        window: 65_535,
        reverse,
        flags: AccountPacket::ACK,
        ..AccountPacket::default()
    }
}

/// These packets in order of time behind a handshake that takes `rtt`.
fn behind_handshake(packets: Vec<AccountPacket>, rtt: i64, scale: u8) -> AccountConnection {
    let handshake = [(0, true, 0), (0, false, 1), (rtt, true, 1)].map(|(time, reverse, ack)| AccountPacket {
        ack,
        seq: ack,
        flags: AccountPacket::ACK | if time == 0 { AccountPacket::SYN } else { 0 },
        ..packet(time, reverse, 0, 0)
    });
    let mut packets: Vec<AccountPacket> = handshake.into_iter().chain(packets).collect();
    packets.sort_by_key(|p| p.time);
    for (frame, packet) in (1u64..).zip(&mut packets) {
        packet.frame = frame;
    }
    let syn = Some(Syn {
        time: Timestamp(0),
        scale: Some(scale),
        repeated: false,
    });
    AccountConnection {
        bytes: [packets.iter().map(|p| u64::from(p.new)).sum(), 0],
        packets,
        syns: [syn, syn],
        ..AccountConnection::new(true)
    }
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
            packets.push(AccountPacket {
                new: 0,
                seen_before: true,
                ..packet(arrive[0], false, una, MSS)
            });
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
