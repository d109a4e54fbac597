//! A few packets on their way: packet → segment → interval. The third segment is swallowed, and its sender's timer repeats it.
#![allow(clippy::print_stdout, reason = "it is a program")]

use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::{FiveTuple, InnerPayload, Outages, Packet, TcpHeader, Tracker};
use std::net::{IpAddr, Ipv4Addr};

fn main() {
    let client = FiveTuple {
        protocol: 6,
        src: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        dst: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
        src_port: 50_000,
        dst_port: 443,
    };
    // Milliseconds, direction, sequence number, length, acknowledgement.
    let rows = [
        (0, Direction::AToB, 0, 100, 0),
        (10, Direction::AToB, 100, 100, 0),
        (20, Direction::BToA, 0, 0, 100),
        (30, Direction::BToA, 0, 0, 200),
        (31, Direction::AToB, 200, 100, 0),
        (290, Direction::AToB, 200, 100, 0),
        (310, Direction::BToA, 0, 0, 300),
    ];
    let at = |ms: i64| Timestamp(ms * NANOS_PER_MILLI);
    let (mut tracker, mut outages) = (Tracker::default(), Outages::default());
    for ((ms, direction, seq, len, ack), frame) in rows.into_iter().zip(1..) {
        let header = TcpHeader {
            seq,
            ack,
            len,
            flags: TcpHeader::ACK,
            ..TcpHeader::default()
        };
        let packet = Packet {
            time: at(ms),
            frame,
            tunnel: 0,
            direction,
            esp: None,
            tuple: Some(if direction == Direction::AToB {
                client
            } else {
                client.reversed()
            }),
            ip_id: 0,
            payload: InnerPayload::Tcp(header),
        };
        let segment = tracker.push(&packet);
        outages.take(&packet, &segment, &tracker);
        println!(
            "{ms:>4} ms frame {frame}: {:?}, new {}, again {}",
            segment.kind, segment.new, segment.again
        );
        for settled in tracker.settled() {
            println!("         frame {} {:?}", settled.frame, settled.fate);
        }
    }
    for interval in outages.intervals(&tracker, &[], at(400)) {
        println!(
            "{} ms: {:?}",
            interval.nanos() / NANOS_PER_MILLI,
            interval.facts.kind
        );
    }
}
