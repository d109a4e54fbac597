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
            syn,
            acknowledges: true,
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
    let data = |time: i64, seq: u32, frame: u64| AccountPacket {
        time: Timestamp(time),
        frame,
        seq,
        ack: 1,
        payload: MSS,
        new: MSS,
        window: 65_535,
        acknowledges: true,
        ..AccountPacket::default()
    };
    let (mut packets, mut seq, mut took) = (Vec::new(), 1u32, 0);
    for burst in 0..2 * seconds {
        let begin = RTT + burst * NANOS_PER_SECOND / 2;
        let (mut sends, mut free) = (vec![begin; 10], begin);
        for k in 0..SEGMENTS {
            let send = sends[k];
            free = free.max(send) + SPACED;
            packets.push(data(send, seq, 0));
            seq += u32::from(MSS);
            packets.push(AccountPacket {
                reverse: true,
                payload: 0,
                new: 0,
                seq: 1,
                ack: seq,
                ..data(free + RTT, seq, 0)
            });
            sends.extend([free + RTT; 2]);
            took = send - begin;
        }
    }
    let handshake = [(0, true, 0), (0, false, 1), (RTT, true, 1)].map(|(time, reverse, ack)| AccountPacket {
        reverse,
        payload: 0,
        new: 0,
        seq: ack,
        ack,
        syn: time == 0,
        ..data(time, 0, 0)
    });
    packets.extend(handshake);
    packets.sort_by_key(|p| p.time);
    for (frame, packet) in (1u64..).zip(&mut packets) {
        packet.frame = frame;
    }
    let syn = Some(Syn {
        time: Timestamp(0),
        scale: Some(6),
        repeated: false,
    });
    let connection = AccountConnection {
        packets,
        syns: [syn, syn],
        bytes: [u64::from(seq), 0],
        ..AccountConnection::new(true)
    };
    (connection, took as f64 / NANOS_PER_SECOND as f64)
}
