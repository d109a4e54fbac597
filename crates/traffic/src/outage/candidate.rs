//! A stretch between two deliveries, and what was sent in it in vain.

use crate::interval::LostPacket;
use crate::packet::{EspNumber, Packet, PacketForm};
use crate::segment::ConnectionId;
use crate::tcp::LEAST_TIMEOUT;
use rekeyscope_model::time::Timestamp;

/// Stretches under so many round trips are not looked at: recovery from a loss takes two or three.
const LEAST_ROUND_TRIPS: i64 = 4;
/// Packets that are kept of what was sent in vain; ten make an outage already.
const MOST_PACKETS: usize = 64;
/// Further ones that are kept because they came after a timer, or of another connection: Linux gives up after 15 (tcp_retries2), and two connections may wait.
pub(super) const MOST_COPIES: usize = 32;

/// A transmission that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delivered {
    pub(super) time: Timestamp,
    pub(super) frame: u64,
    /// The packet's place in its security association.
    pub(super) esp: Option<EspNumber>,
}

impl Delivered {
    pub(super) fn new(time: Timestamp, frame: u64, esp: Option<EspNumber>) -> Self {
        Delivered { time, frame, esp }
    }

    pub(super) fn of(packet: &Packet) -> Self {
        Delivered::new(packet.time, packet.frame, packet.esp)
    }

    /// The packet, if it did not arrive after all, where no transport header shows its connection.
    pub(super) fn lost(self, bytes: u32) -> LostPacket {
        LostPacket {
            time: self.time,
            frame: self.frame,
            connection: ConnectionId::NONE,
            esp: self.esp,
            bytes,
            syn: false,
            superfluous: false,
        }
    }

    /// The end of the transfer, or of the capture.
    pub(super) fn nothing(time: Timestamp) -> Self {
        Delivered::new(time, 0, None)
    }
}

/// Transmissions in vain.
#[derive(Debug, Clone, Default)]
pub(super) struct InVain {
    packets: Vec<LostPacket>,
    /// Number of transmissions that are not kept, and when the last of all was sent where [`MOST_PACKETS`] are kept.
    more: u32,
    more_until: Option<Timestamp>,
    /// Acknowledgements that the sender did not hear.
    pub(super) unheard: u32,
}

impl InVain {
    pub(super) fn push(&mut self, packet: LostPacket, unheard: u32) {
        self.unheard = self.unheard.max(unheard);
        let last = self.more_until.or(self.packets.last().map(|packet| packet.time));
        let by_timer = last.is_some_and(|last| packet.time.nanos_since(last) > LEAST_TIMEOUT);
        // Each connection is to be counted.
        let known = || self.packets.iter().any(|own| own.connection == packet.connection);
        let room = if by_timer || self.packets.len() >= MOST_PACKETS && !known() {
            MOST_PACKETS + MOST_COPIES
        } else {
            MOST_PACKETS
        };
        if self.packets.len() < room {
            self.packets.push(packet);
        } else {
            self.more = self.more.saturating_add(1);
        }
        if self.packets.len() >= MOST_PACKETS {
            self.more_until = self.more_until.max(Some(packet.time));
        }
    }

    /// Packets that are kept, in order of time.
    pub(super) fn packets(&self) -> Vec<LostPacket> {
        let mut packets = self.packets.clone();
        packets.sort_by_key(|packet| (packet.time, packet.frame));
        packets
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The transmissions between two moments.
    pub(super) fn between(&self, from: Timestamp, to: Timestamp) -> InVain {
        let inside = |packet: &&LostPacket| from < packet.time && packet.time < to;
        InVain {
            packets: self.packets.iter().filter(inside).copied().collect(),
            more: self.more,
            more_until: self.more_until.filter(|time| from < *time && *time < to),
            unheard: self.unheard,
        }
    }

    /// Bytes of the smallest one up to a moment.
    pub(super) fn smallest_until(&self, time: Timestamp) -> Option<u32> {
        let earlier = self.packets.iter().filter(|packet| packet.time <= time);
        earlier.map(|packet| packet.bytes).min()
    }

    /// The form of all that are kept, where it is one.
    pub(super) fn form(&self) -> Option<PacketForm> {
        let mut forms = self
            .packets
            .iter()
            .map(|packet| packet.esp.map_or(PacketForm::Plain, |esp| esp.form));
        let first = forms.next()?;
        forms.all(|form| form == first).then_some(first)
    }

    /// The first one that is kept.
    pub(super) fn first_packet(&self) -> Option<&LostPacket> {
        self.packets.iter().min_by_key(|packet| packet.time)
    }

    /// Connections of those that are kept.
    pub(super) fn connections(&self) -> u32 {
        let mut all: Vec<ConnectionId> = self.packets.iter().map(|packet| packet.connection).collect();
        all.sort_unstable();
        all.dedup();
        let named = all.iter().filter(|connection| **connection != ConnectionId::NONE);
        u32::try_from(named.count()).unwrap_or(u32::MAX)
    }

    /// Forgets those up to a moment that are no larger than what arrived then.
    pub(super) fn forget_sizes_until(&mut self, time: Timestamp, bytes: u32) {
        self.packets
            .retain(|packet| packet.time > time || packet.bytes > bytes);
        if self.packets.is_empty() {
            self.clear();
        }
    }

    /// Forgets those up to a moment. A segment that waited for its acknowledgement until now may have been sent before all of them.
    pub(super) fn forget_until(&mut self, time: Timestamp) {
        self.packets.retain(|packet| packet.time > time);
        if self.more_until.is_none_or(|last| last <= time) {
            (self.more, self.more_until) = (0, None);
        }
        if self.packets.is_empty() && self.more == 0 {
            self.unheard = 0;
        }
    }

    pub(super) fn clear(&mut self) {
        self.packets.clear();
        (self.more, self.more_until, self.unheard) = (0, None, 0);
    }

    pub(super) fn first(&self) -> Option<Timestamp> {
        self.first_packet().map(|packet| packet.time)
    }

    /// Times of the first transmission and of the last.
    pub(super) fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let times = || self.packets.iter().map(|packet| packet.time);
        Some((self.first()?, times().max().max(self.more_until)?))
    }

    /// Times of the first transmission that did not arrive and of the last.
    pub(super) fn swallowed(&self) -> Option<(Timestamp, Timestamp)> {
        let swallowed = self.packets.iter().filter(|packet| !packet.superfluous);
        let times = || swallowed.clone().map(|packet| packet.time);
        Some((times().min()?, times().max().max(self.more_until)?))
    }

    /// Number of transmissions; zero where all are requests for a connection, because no host need listen there, or copies that arrived.
    pub(super) fn count(&self) -> u32 {
        if self.packets.iter().all(|packet| packet.syn || packet.superfluous) {
            return 0;
        }
        u32::try_from(self.packets.len())
            .unwrap_or(u32::MAX)
            .saturating_add(self.more)
    }

    /// Groups of them more than a round trip apart.
    pub(super) fn attempts(&self, round_trip: i64) -> u32 {
        let mut times: Vec<Timestamp> = self.packets.iter().map(|packet| packet.time).collect();
        times.sort_unstable();
        let (mut attempts, mut last) = (0, None);
        for time in times {
            if last.is_none_or(|last| time.nanos_since(last) > round_trip) {
                attempts += 1;
                last = Some(time);
            }
        }
        attempts
    }
}

/// The sender's state when the stretch began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Before {
    /// The round trip.
    pub(super) round_trip: i64,
    /// The sender's retransmission timeout.
    pub(super) rto: i64,
    /// A transfer was going on: at least ten segments had arrived in the last second or two.
    pub(super) busy: bool,
    /// The capture stands nearer to the receiver.
    pub(super) at_receiver: bool,
    /// The capture stands beside the receiver: it shows all that the receiver sends.
    pub(super) beside_receiver: bool,
    /// The receiver lacked what ends the stretch, so that its sender waited for its timer.
    pub(super) lacks: bool,
    /// The receiver waits for the answer to a request that was acknowledged, of segments of so many bytes; 0 where it does not.
    pub(super) asked: u16,
    /// The receiver had no room: since the last delivery it answered a probe of its closed window.
    pub(super) full: bool,
    /// Nothing of the receiver had come to this sender: perhaps it was not there.
    pub(super) unheard: bool,
}

impl Before {
    /// A stretch that is longer is looked at.
    pub(super) fn least(&self) -> i64 {
        (LEAST_ROUND_TRIPS * self.round_trip).max(LEAST_TIMEOUT)
    }
}

/// The end of the last connection within a stretch, by FIN or RST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferEnd {
    /// A connection stays open.
    Open,
    /// The end came within a retransmission timeout of the stretch's begin, so the transfer ended by itself.
    Soon,
    /// The end came later, so a sender may have given up.
    Late,
}

/// From a delivery to the next one.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) from: Delivered,
    pub(super) to: Delivered,
    pub(super) before: Before,
    pub(super) in_vain: InVain,
    pub(super) transfer_end: TransferEnd,
}

impl Candidate {
    /// A stretch in which no connection ends.
    pub(super) fn new((from, to): (Delivered, Delivered), before: Before, in_vain: InVain) -> Self {
        Candidate {
            from,
            to,
            before,
            in_vain,
            transfer_end: TransferEnd::Open,
        }
    }

    pub(super) fn is_long_enough(&self) -> bool {
        self.to.time.nanos_since(self.from.time) > self.before.least()
    }

    pub(super) fn contains(&self, time: Timestamp) -> bool {
        self.from.time < time && time < self.to.time
    }

    /// Something arrived in it after all.
    pub(super) fn split(self, at: Delivered) -> [Candidate; 2] {
        let part = |from: Delivered, to: Delivered| Candidate {
            transfer_end: self.transfer_end,
            ..Candidate::new((from, to), self.before, self.in_vain.between(from.time, to.time))
        };
        [part(self.from, at), part(at, self.to)]
    }
}
