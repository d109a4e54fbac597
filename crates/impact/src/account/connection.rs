//! A connection whose packets are kept until there are too many of them.

use super::carried::Carried;
use super::packet::AccountPacket;
use super::times::{MOST_STAMPS, micros};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{Fate, Handshake, InnerPayload, Packet, Segment, SegmentKind, TcpHeader, Tracker};
use std::collections::VecDeque;

/// One inner connection, or what takes the place of one: a UDP flow, or everything of a tunnel that cannot be read.
#[derive(Debug, Clone, Default)]
pub struct AccountConnection {
    /// In order of the capture, behind those that [`fold`](super::fold) took; it takes what came by [`AccountConnection::push`].
    pub packets: Vec<AccountPacket>,
    /// Names it for whoever keeps it.
    pub number: u32,
    /// The packets that opened it.
    pub handshake: Handshake,
    /// True for TCP that can be read.
    pub tcp: bool,
    /// New bytes of each direction.
    pub bytes: [u64; 2],
    /// State that [`fold`](super::fold) made of packets, of each direction.
    pub(super) carried: [Option<Box<Carried>>; 2],
    /// Timestamps of each direction that wait to be echoed, and when each came first.
    pub(super) stamps: [VecDeque<(u32, Timestamp)>; 2],
    /// Place of the last packet that each direction acknowledged; a hint.
    pub(super) acked: [usize; 2],
    /// Time of the last packet.
    pub(super) latest: Option<Timestamp>,
}

impl AccountConnection {
    /// One without packets.
    #[must_use]
    pub fn new(tcp: bool) -> AccountConnection {
        AccountConnection {
            tcp,
            ..AccountConnection::default()
        }
    }

    /// Takes the next packet of the capture, which the tracker has just taken. `sent`: bytes of payload, and how many of them are new.
    pub fn take(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        tracker: &Tracker,
        (payload, new): (u16, u16),
    ) {
        if segment.kind == SegmentKind::Duplicate {
            return;
        }
        if segment.flags & TcpHeader::SYN != 0 || self.handshake.is_under_way() {
            self.handshake = tracker.handshake().copied().unwrap_or_default();
        }
        let keeps_alive = segment.kind == SegmentKind::KeepAlive;
        let mut kept = AccountPacket {
            time: self
                .latest
                .map_or(segment.time, |latest| latest.max(segment.time)),
            frame: segment.frame,
            seq: segment.seq,
            ack: segment.acks.map_or(0, |acks| acks.ack),
            payload: if keeps_alive { 0 } else { payload },
            new,
            flags: segment.flags,
            reverse: segment.direction == Direction::BToA,
            late: segment.behind > 0,
            again: segment.kind == SegmentKind::Retransmission,
            ..AccountPacket::default()
        };
        if let InnerPayload::Tcp(header) = &packet.payload {
            kept.window = header.window;
            if let Some((stamp, echo)) = header.timestamps {
                kept.stamp = stamp;
                self.echo(&mut kept, echo);
            }
        }
        for settled in tracker.settled() {
            let nanos = settled.shown.0.nanos_since(settled.time);
            // An acknowledgement that was captured before its data, or is older by the frames' times, tells no time.
            let shows = settled.frame < kept.frame && nanos >= 0 && settled.connection == segment.connection;
            let of_data = settled.fate == Fate::Arrived && settled.payload() > 0;
            if settled.frame == kept.frame {
                // A copy of what was acknowledged, which the sender could not know.
                kept.superfluous |= matches!(settled.fate, Fate::Superfluous { unheard: 0 });
            } else if shows && matches!(settled.fate, Fate::Superfluous { .. }) {
                if let Some(place) = self.place(settled.frame, kept.slot()) {
                    self.packets[place].superfluous = true;
                }
            } else if shows && settled.sent_once && of_data {
                let after = micros(nanos);
                kept.answers_after = Some(kept.answers_after.map_or(after, |least| least.min(after)));
                if let Some(place) = self.place(settled.frame, kept.slot()) {
                    self.packets[place].acked_after = Some(after);
                }
            }
        }
        self.push(kept);
    }

    /// Place of the packet with this frame, which an acknowledgement of direction `slot` covers. Most cover data in the order of its frames.
    fn place(&mut self, frame: u64, slot: usize) -> Option<usize> {
        let last = self.acked[slot];
        let in_order = self.packets.get(last).is_some_and(|p| p.frame <= frame);
        let place = if in_order {
            let behind = self.packets[last..].iter().position(|p| p.frame >= frame)?;
            last + behind
        } else {
            self.packets.partition_point(|p| p.frame < frame)
        };
        self.acked[slot] = place;
        self.packets
            .get(place)
            .filter(|p| p.frame == frame)
            .map(|_| place)
    }

    /// Notes when the acknowledgement passed whose timestamp a packet echoes, and the first one with the next timestamp. Those before it
    /// are not asked for again.
    fn echo(&mut self, packet: &mut AccountPacket, echo: u32) {
        let own = packet.slot();
        if packet.acknowledges() && self.stamps[own].back().is_none_or(|last| last.0 != packet.stamp) {
            self.stamps[own].push_back((packet.stamp, packet.time));
            if self.stamps[own].len() > MOST_STAMPS {
                self.stamps[own].pop_front();
            }
        }
        let heard = &mut self.stamps[1 - own];
        let is_older = |stamp: &(u32, Timestamp)| (echo.wrapping_sub(stamp.0) as i32) > 0;
        while heard.len() > 1 && heard.front().is_some_and(is_older) {
            heard.pop_front();
        }
        let since =
            |stamp: Option<&(u32, Timestamp)>| stamp.map(|stamp| micros(packet.time.nanos_since(stamp.1)));
        if heard.front().is_some_and(|first| first.0 == echo) {
            packet.echo_after = since(heard.front());
            // An overtaken packet was sent before others that have passed already.
            packet.unheard_after = since(heard.get(1).filter(|_| !packet.late));
        }
    }

    /// Takes the next packet, for [`fold`](super::fold).
    pub fn push(&mut self, packet: AccountPacket) {
        let time = self.latest.map_or(packet.time, |latest| latest.max(packet.time));
        self.latest = Some(time);
        self.bytes[packet.slot()] += u64::from(packet.new);
        self.packets.push(AccountPacket { time, ..packet });
    }

    /// Something of it was folded.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        self.carried.iter().any(Option::is_some)
    }

    /// Shift of the windows that the receiver of direction `slot` advertises (RFC 7323 §2.2), where its SYN says it.
    #[must_use]
    pub fn stated_scale(&self, slot: usize) -> Option<u8> {
        self.handshake.window_scale(Direction::BOTH[1 - slot])
    }

    /// The connection without the packets that were not folded.
    #[must_use]
    pub fn without_packets(&self) -> AccountConnection {
        AccountConnection {
            number: self.number,
            handshake: self.handshake,
            tcp: self.tcp,
            bytes: self.bytes,
            carried: self.carried.clone(),
            ..AccountConnection::default()
        }
    }

    /// True once the connection has carried something.
    #[must_use]
    pub fn has_data(&self) -> bool {
        self.is_folded() || self.packets.iter().any(|p| p.new > 0)
    }

    /// Keeps what lies in a time only.
    pub fn retain(&mut self, within: std::ops::RangeInclusive<Timestamp>) {
        self.packets.retain(|p| within.contains(&p.time));
        for carried in self.carried.iter_mut().flatten() {
            carried.track.steps.retain(|s| within.contains(&Timestamp(s.to)));
        }
    }

    /// Packets that one direction has sent and that were not folded yet.
    pub(super) fn sent(&self, slot: usize) -> impl Iterator<Item = &AccountPacket> + Clone {
        self.packets.iter().filter(move |p| p.slot() == slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::at;
    use crate::account::{AccountSettings, fold};
    use rekeyscope_traffic::{FiveTuple, InnerPayload, SackBlocks};
    use std::net::{IpAddr, Ipv4Addr};

    fn connection(new: u16) -> AccountConnection {
        let packet = AccountPacket {
            payload: 100,
            new,
            ..AccountPacket::default()
        };
        let mut one = AccountConnection::new(true);
        one.push(packet);
        one
    }

    #[test]
    fn a_connection_has_data_once_it_brought_something_new() {
        assert!(connection(1).has_data() && !connection(0).has_data());
        let mut folded = connection(1);
        let settings = AccountSettings { reference_bps: None };
        fold(&mut [&mut folded], &settings);
        assert!(folded.is_folded() && folded.has_data() && folded.packets.is_empty());
        assert!(folded.without_packets().is_folded() && !connection(1).is_folded());
    }

    /// Milliseconds, direction, first byte, what it acknowledges or brings, flags.
    type Row = (i64, Direction, u32, u32, u8);

    /// `sacked`: bytes that the first acknowledgement covers selectively.
    fn tracked(rows: &[Row], scale: u8, sacked: &[(u32, u32)]) -> AccountConnection {
        let flow = FiveTuple {
            protocol: 6,
            src: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            dst: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
            src_port: 443,
            dst_port: 50_000,
        };
        let (mut tracker, mut one, mut sacked) = (Tracker::default(), AccountConnection::new(true), sacked);
        for (frame, &(ms, direction, number, len, flags)) in (1..).zip(rows) {
            let up = direction == Direction::AToB;
            let header = TcpHeader {
                seq: if up { number } else { 0 },
                ack: if up { 0 } else { number },
                len: if up { len } else { 0 },
                flags,
                sack: if up {
                    SackBlocks::default()
                } else {
                    std::mem::take(&mut sacked).iter().copied().collect()
                },
                window_scale: (flags & TcpHeader::SYN != 0).then_some(scale),
                ..TcpHeader::default()
            };
            let packet = Packet {
                time: Timestamp(at(ms)),
                frame,
                tunnel: 0,
                direction,
                esp: None,
                tuple: Some(direction.pick(flow, flow.reversed())),
                ip_id: 0,
                payload: InnerPayload::Tcp(header),
            };
            let segment = tracker.push(&packet);
            one.take(
                &packet,
                &segment,
                &tracker,
                (header.len as u16, segment.new as u16),
            );
        }
        one
    }

    /// Karn's algorithm: the third segment is repeated, and what acknowledges it says nothing of the time that it took.
    #[test]
    fn delays_are_those_of_data_that_was_sent_once() {
        use Direction::{AToB, BToA};
        let (data, ack) = (TcpHeader::PSH, TcpHeader::ACK);
        let rows = [
            (0, AToB, 1_000, 1_000, data),
            (10, AToB, 2_000, 1_000, data),
            (20, AToB, 3_000, 1_000, data),
            (45, BToA, 2_000, 0, ack),
            (50, AToB, 2_000, 1_000, data),
            (62, BToA, 4_000, 0, ack),
            (70, AToB, 3_999, 1, 0),
        ];
        let of = tracked(&rows, 0, &[]);
        let after: Vec<Option<u32>> = of.packets.iter().map(|p| p.acked_after).collect();
        let none = None;
        assert_eq!(after, [Some(45_000), none, Some(42_000), none, none, none, none]);
        let answers: Vec<Option<u32>> = of.packets.iter().map(|p| p.answers_after).collect();
        assert_eq!(
            answers,
            [none, none, none, Some(45_000), none, Some(42_000), none],
            "the least"
        );
        let again: Vec<bool> = of.packets.iter().map(|p| p.again).collect();
        assert_eq!(again, [false, false, false, false, true, false, false]);
        assert_eq!(of.packets[6].payload, 0, "a keep-alive brings nothing");
        assert_eq!(of.bytes, [3_000, 0]);
    }

    /// The round trip takes 40 ms at least. What answers a copy of the second segment after 12 ms answers the original; after 45 ms the copy.
    #[test]
    fn a_copy_that_is_answered_sooner_than_any_round_trip_was_not_needed() {
        use Direction::{AToB, BToA};
        let superfluous = |answered: i64| {
            let rows = [
                (0, AToB, 1_000, 1_000, TcpHeader::PSH),
                (40, BToA, 2_000, 0, TcpHeader::ACK),
                (50, AToB, 2_000, 1_000, TcpHeader::PSH),
                (250, AToB, 2_000, 1_000, TcpHeader::PSH),
                (250 + answered, BToA, 3_000, 0, TcpHeader::ACK),
            ];
            let of = tracked(&rows, 0, &[]);
            of.packets.iter().map(|p| p.superfluous).collect::<Vec<bool>>()
        };
        assert_eq!(superfluous(12), [false, false, false, true, false]);
        assert_eq!(superfluous(45), [false; 5]);
    }

    /// The acknowledgement passed while the copy was on its way; an older one had been heard, or was lost.
    #[test]
    fn a_copy_of_what_was_just_acknowledged_was_not_needed() {
        use Direction::{AToB, BToA};
        let superfluous = |copied: i64| {
            let rows = [
                (0, AToB, 1_000, 1_000, TcpHeader::PSH),
                (40, BToA, 2_000, 0, TcpHeader::ACK),
                (50, AToB, 2_000, 1_000, TcpHeader::PSH),
                (250, BToA, 3_000, 0, TcpHeader::ACK),
                (copied, AToB, 2_000, 1_000, TcpHeader::PSH),
            ];
            tracked(&rows, 0, &[]).packets[4].superfluous
        };
        assert_eq!([251, 500].map(superfluous), [true, false]);
    }

    /// The second segment is lost. Nothing queues though the third one's place in the stream is acknowledged 100 ms later.
    #[test]
    fn a_selective_acknowledgement_answers_what_it_covers() {
        use Direction::{AToB, BToA};
        let (data, ack) = (TcpHeader::PSH, TcpHeader::ACK);
        let rows = [
            (0, AToB, 1_000, 1_000, data),
            (10, AToB, 2_000, 1_000, data),
            (20, AToB, 3_000, 1_000, data),
            (60, BToA, 2_000, 0, ack),
            (120, AToB, 2_000, 1_000, data),
            (160, BToA, 4_000, 0, ack),
        ];
        let of = tracked(&rows, 0, &[(3_000, 4_000)]);
        let after: Vec<Option<u32>> = of.packets.iter().map(|p| p.acked_after).collect();
        assert_eq!(after[..3], [Some(60_000), None, Some(40_000)]);
        assert_eq!(
            (of.packets[3].answers_after, of.packets[5].answers_after),
            (Some(40_000), None)
        );
    }

    #[test]
    fn what_lies_outside_of_a_time_is_forgotten() {
        let mut of = connection(1);
        of.packets = [1, 2, 3]
            .map(|nanos| AccountPacket {
                time: Timestamp(nanos),
                ..of.packets[0]
            })
            .into();
        of.retain(Timestamp(2)..=Timestamp(3));
        let times: Vec<i64> = of.packets.iter().map(|p| p.time.0).collect();
        assert_eq!(times, [2, 3]);
    }
}
