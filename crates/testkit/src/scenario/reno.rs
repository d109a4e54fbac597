//! A download by a sender that does as Reno does (RFC 5681, RFC 6582), over a link with a queue before it: whatever limits such a
//! sender is a field here, so that two transfers may differ by the limit alone.

use crate::headers::Tcp;
use crate::scenario::packets::l2tp;
use crate::scenario::world::{MILLI, SEGMENT, World};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The connection's number.
const CONNECTION: u16 = 2;
/// Shift of the windows (RFC 7323 §2.2).
const SCALE: u8 = 7;
/// Between two segments that the sender has at once.
const APART: u64 = 10_000;
/// Duplicates that make a sender repeat a segment (RFC 5681 §3.2).
const DUPLICATES: u32 = 3;

/// A transfer by Reno: the limits of the sender, and the fate of its segments.
#[derive(Debug, Clone, Copy)]
pub struct Reno {
    /// New data is sent for so long, milliseconds.
    pub millis: u64,
    /// The round trip without a queue, milliseconds.
    pub rtt: u64,
    /// Time that the link needs for a segment, nanoseconds.
    pub spaced: u64,
    /// Segments that find room before the link.
    pub queue: u64,
    /// Segments in flight that the receiver's window allows.
    pub window: u32,
    /// Segments in flight that the sender's buffer holds.
    pub buffer: u32,
    /// Segments of which the first copy is lost on the way.
    pub lost: fn(u32) -> bool,
    /// Segments are lost before they are encrypted, so that no ESP number is missing.
    pub before_encryption: bool,
    /// Segments that take another way, slower by 8 ms.
    pub overtaken: fn(u32) -> bool,
    /// The capture is at the receiver, else at the sender.
    pub at_receiver: bool,
    /// The capture begins so late, milliseconds.
    pub unseen: u64,
}

impl Reno {
    /// Ten seconds of a link of 9.8 Mbit/s, which has more to do than it can: packets queue before it.
    pub const OF_A_LINK: Reno = Reno {
        millis: 10_000,
        rtt: 40,
        spaced: MILLI,
        queue: 1_000,
        window: 100,
        buffer: 1_000,
        lost: |_| false,
        before_encryption: false,
        overtaken: |_| false,
        at_receiver: false,
        unseen: 0,
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A segment reaches the receiver; its stamp.
    Arrives(u32, u32),
    /// The sender hears that all before a segment arrived; the receiver's stamp, and whether later ones arrived (RFC 2018).
    Hears(u32, u32, bool),
}

/// Sender, link and receiver. Segments have numbers from 0 on.
struct Transfer<'a> {
    of: Reno,
    world: &'a mut World,
    begin: u64,
    steps: BinaryHeap<Reverse<(u64, Step)>>,
    una: u32,
    nxt: u32,
    cwnd: f64,
    ssthresh: f64,
    duplicates: u32,
    recovery_point: Option<u32>,
    /// When the sender's last segment left it, and the receiver's stamp that it then had heard (RFC 7323 §4.3).
    sent_at: u64,
    stamp_heard: u32,
    link_free: u64,
    expected: u32,
    early: BTreeSet<u32>,
}

/// Both ends stamp what they send with milliseconds.
fn stamp(time: u64) -> u32 {
    (time / MILLI) as u32
}

impl World {
    /// Such a download, from its handshake until all of it is acknowledged.
    pub fn transfer(&mut self, of: Reno) {
        let begin = self.now + of.rtt * MILLI;
        let mut transfer = Transfer {
            of,
            world: self,
            begin,
            steps: BinaryHeap::new(),
            una: 0,
            nxt: 0,
            cwnd: 10.0,
            // Slow start ends where packets begin to queue (RFC 9406).
            ssthresh: (of.rtt * MILLI / of.spaced).min(of.queue) as f64,
            duplicates: 0,
            recovery_point: None,
            sent_at: 0,
            stamp_heard: 0,
            link_free: 0,
            expected: 0,
            early: BTreeSet::new(),
        };
        transfer.handshake();
        transfer.run();
    }
}

impl Transfer<'_> {
    fn half(&self) -> u64 {
        self.of.rtt * MILLI / 2
    }

    /// A packet passes the capture at `time`. Its `stamps`: the sender's own, and the one that it echoes (RFC 7323 §3.2).
    fn passes(&mut self, time: u64, from_client: bool, tcp: Tcp<'_>, len: usize, stamps: (u32, u32)) {
        let (own, echo) = (stamps.0.to_be_bytes(), stamps.1.to_be_bytes());
        let options = [tcp.options, &[1, 1, 8, 10], &own, &echo].concat();
        let tcp = Tcp {
            options: &options,
            ..tcp
        };
        self.world.blind = time < self.begin + self.of.unseen * MILLI && self.of.unseen > 0;
        self.world.now = time;
        let packet = l2tp(&self.world.tcp_packet(CONNECTION, from_client, tcp, len));
        if from_client {
            self.world.esp_up(&packet);
        } else {
            self.world.esp_down(&packet);
        }
        self.world.blind = false;
    }

    /// The client opens; its SYN reaches the server when all begins.
    fn handshake(&mut self) {
        let options = [2, 4, (SEGMENT >> 8) as u8, SEGMENT as u8, 1, 3, 3, SCALE];
        let away = if self.of.at_receiver { self.half() } else { 0 };
        let syn = |flags: u8, seq: u32, ack: u32| Tcp {
            flags,
            seq,
            ack,
            options: &options,
            ..Tcp::default()
        };
        let opened = self.begin - self.half();
        self.passes(self.begin - away, true, syn(2, 0, 0), 0, (stamp(opened), 0));
        let answer = (stamp(self.begin), stamp(opened));
        self.passes(self.begin + away, false, syn(18, 0, 1), 0, answer);
        self.acknowledges(self.begin + self.half(), stamp(self.begin));
    }

    /// The receiver acknowledges all that it has in order, and echoes the stamp of what it answers.
    fn acknowledges(&mut self, time: u64, echo: u32) {
        let acknowledgement = Tcp {
            seq: 1,
            ack: 1 + self.expected * SEGMENT as u32,
            window: (self.of.window * SEGMENT as u32).div_ceil(1 << SCALE) as u16,
            ..Tcp::default()
        };
        let heard = time + self.half();
        let seen = if self.of.at_receiver { time } else { heard };
        self.passes(seen, true, acknowledgement, 0, (stamp(time), echo));
        let step = Step::Hears(self.expected, stamp(time), !self.early.is_empty());
        self.steps.push(Reverse((heard, step)));
    }

    fn run(&mut self) {
        let end = self.begin + self.of.millis * MILLI;
        while let Some(Reverse((time, step))) = self.steps.pop() {
            match step {
                Step::Arrives(segment, sent) => {
                    self.early.insert(segment);
                    while self.early.remove(&self.expected) {
                        self.expected += 1;
                    }
                    self.early = self.early.split_off(&self.expected);
                    self.acknowledges(time, sent);
                }
                Step::Hears(ack, theirs, later) => {
                    self.stamp_heard = theirs;
                    self.hears(ack, later, time);
                }
            }
            if time < end {
                self.send_what_may(time);
            } else if self.una == self.nxt {
                self.world.now = time;
                return;
            }
        }
    }

    fn hears(&mut self, ack: u32, later: bool, time: u64) {
        if ack > self.una {
            (self.una, self.duplicates) = (ack, 0);
            match self.recovery_point {
                Some(point) if ack < point && later => self.send(ack, time),
                Some(point) if ack < point => {}
                Some(_) => (self.recovery_point, self.cwnd) = (None, self.ssthresh),
                None if self.cwnd < self.ssthresh => self.cwnd += 1.0,
                None => self.cwnd += 1.0 / self.cwnd,
            }
        } else if later {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES && self.recovery_point.is_none() {
                self.ssthresh = (f64::from(self.nxt - self.una) / 2.0).max(2.0);
                self.cwnd = self.ssthresh;
                self.recovery_point = Some(self.nxt);
                self.send(self.una, time);
            }
        }
    }

    fn send_what_may(&mut self, time: u64) {
        let may = |of: &Self| {
            let flight = of.nxt - of.una;
            let heard_of = flight.saturating_sub(of.duplicates);
            flight < of.of.window.min(of.of.buffer) && f64::from(heard_of) + 1.0 <= of.cwnd
        };
        while may(self) {
            self.nxt += 1;
            self.send(self.nxt - 1, time);
        }
    }

    /// A copy of a segment passes the link, behind all that wait before it. First copies may be lost.
    fn send(&mut self, segment: u32, time: u64) {
        let first = segment + 1 == self.nxt && self.recovery_point.is_none_or(|point| segment >= point);
        self.sent_at = time.max(self.sent_at + APART);
        let waiting = self.link_free.saturating_sub(self.sent_at) / self.of.spaced;
        let fits = !first || waiting < self.of.queue;
        if fits {
            self.link_free = self.sent_at.max(self.link_free) + self.of.spaced;
        }
        let slower = if first && (self.of.overtaken)(segment) {
            8 * MILLI
        } else {
            0
        };
        let arrives = self.link_free + self.half() + slower;
        let lost = !fits || first && (self.of.lost)(segment);
        if !lost {
            let step = Step::Arrives(segment, stamp(self.sent_at));
            self.steps.push(Reverse((arrives, step)));
        }
        let data = Tcp {
            seq: 1 + segment * SEGMENT as u32,
            ..Tcp::default()
        };
        let stamps = (stamp(self.sent_at), self.stamp_heard);
        if !self.of.at_receiver {
            self.passes(self.sent_at, false, data, SEGMENT, stamps);
        } else if lost {
            self.world.down.sequence += u32::from(!self.of.before_encryption);
        } else {
            self.passes(arrives, false, data, SEGMENT, stamps);
        }
    }
}
