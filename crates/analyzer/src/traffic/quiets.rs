//! Silences that may be rest: nothing new came in a direction. What they were is decided
//! when everything is known ([`crate::assembly`]).

use foldhash::HashSet;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{
    ConnectionId, Fate, InnerPayload, Interval, LEAST_REST, Packet, Segment, SegmentKind, Tracker,
};

/// Most silences that are kept, some 80 bytes each; what comes after later ones goes on with the transfer before.
const MOST_SILENCES: usize = 1 << 13;
/// Tunnels that are watched, 1 KB each.
const MOST_TUNNELS: usize = 1 << 12;
/// Connections of a direction that wait for acknowledgements; with more, it counts as waiting.
const MOST_WAITING: usize = 1 << 14;

/// A silence, from the last new data of a direction to the next.
pub(crate) type Quiet = Interval<QuietFacts>;

/// Evidence whether the sender rested in a silence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuietFacts {
    /// The moment since which everything that was sent was acknowledged; `None` where inner TCP does not tell.
    pub(crate) acknowledged: Option<Timestamp>,
    /// The last packet of this direction with anything in it, also with what was sent before.
    pub(crate) sent: Timestamp,
    /// The silence ends on another SA, and no new connection begins: nothing says that the sender was free to send.
    pub(crate) other_sa: bool,
    /// Least time from data to its acknowledgement, nanoseconds, as far as it was seen.
    pub(crate) answered_in: Option<i64>,
}

impl QuietFacts {
    /// Nothing that anybody waits for is under way since then.
    pub(crate) fn since(&self) -> Timestamp {
        self.acknowledged.unwrap_or(self.sent)
    }
}

/// One direction of a tunnel.
#[derive(Debug, Default)]
struct QuietWatch {
    /// Last new data, and its SA.
    news: Option<(Timestamp, SaIndex)>,
    sent: Timestamp,
    /// Connections with data in flight.
    waiting: HashSet<ConnectionId>,
    /// The connection of the last packet, and whether it is one of them.
    last: Option<(ConnectionId, bool)>,
    /// The moment since which no connection has data in flight.
    acknowledged: Option<Timestamp>,
    answered_in: Option<i64>,
    /// New bytes of inner TCP, and all.
    bytes: (u64, u64),
    quiets: Vec<Quiet>,
}

/// All tunnels.
#[derive(Debug, Default)]
pub(crate) struct Quiets {
    /// Tunnels by their index.
    tunnels: Vec<[QuietWatch; 2]>,
    kept: usize,
    left_out: u64,
}

impl Quiets {
    pub(super) fn take(
        &mut self,
        (tunnel, sa): (TunnelIndex, SaIndex),
        packet: &Packet,
        segment: &Segment,
        tracker: &Tracker,
    ) {
        if tunnel >= self.tunnels.len() && tunnel < MOST_TUNNELS {
            self.tunnels.resize_with(tunnel + 1, Default::default);
        }
        let Some(own) = self.tunnels.get_mut(tunnel) else {
            return;
        };
        let at = slot(packet.direction);
        if let Some(quiet) = own[at].take(sa, packet, segment) {
            if self.kept < MOST_SILENCES {
                self.kept += 1;
                own[at].quiets.push(quiet);
            } else {
                self.left_out += 1;
            }
        }
        // Segments of a connection that is gone wait no more.
        let abandoned = tracker.settled().iter().filter(|one| one.fate == Fate::Abandoned);
        for gone in abandoned {
            own[slot(gone.direction)].waits(gone.connection, false, packet.time);
        }
        if matches!(packet.payload, InnerPayload::Tcp(_)) {
            for direction in Direction::BOTH {
                let lane = &mut own[slot(direction)];
                if lane.waits(segment.connection, tracker.waits(direction), packet.time) {
                    let sender = tracker.sender(direction);
                    let least = sender.and_then(|sender| sender.rtt.min);
                    lane.answered_in = lane.answered_in.into_iter().chain(least).min();
                }
            }
        }
    }

    /// Silences of a direction of a tunnel that may be rest, in order of time.
    pub(crate) fn of(&self, tunnel: TunnelIndex, slot: usize) -> &[Quiet] {
        self.tunnels.get(tunnel).map_or(&[], |own| &own[slot].quiets)
    }

    /// Silences that there was no room for.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl QuietWatch {
    /// A packet of this direction.
    fn take(&mut self, sa: SaIndex, packet: &Packet, segment: &Segment) -> Option<Quiet> {
        let unread = matches!(packet.payload, InnerPayload::Unread(_));
        let tcp = matches!(packet.payload, InnerPayload::Tcp(_)) && segment.len > 0;
        let brings = segment.new > 0 || unread;
        // The first data of a connection: its sender was free to send.
        let begins = tcp && segment.kind == SegmentKind::InOrder && segment.seq <= Segment::ORIGIN + 1;
        let quiet = self
            .news
            .filter(|(news, _)| brings && packet.time.nanos_since(*news) >= LEAST_REST)
            .map(|(from, before)| Interval {
                from,
                to: packet.time,
                facts: QuietFacts {
                    acknowledged: self
                        .tells()
                        .then(|| self.acknowledged.map_or(from, |t| t.max(from))),
                    sent: self.sent,
                    other_sa: before != sa && !begins,
                    answered_in: self.answered_in,
                },
            });
        if brings {
            self.news = Some((packet.time, sa));
            let new = u64::from(if unread { segment.len } else { segment.new });
            self.bytes.0 += if tcp { new } else { 0 };
            self.bytes.1 += new;
        }
        if segment.len > 0 || unread {
            self.sent = packet.time;
        }
        quiet
    }

    /// Inner TCP, which brings most of the bytes, says what was delivered, and nothing waits.
    fn tells(&self) -> bool {
        let (tcp, all) = self.bytes;
        self.waiting.is_empty() && 2 * tcp >= all && tcp > 0
    }

    /// Notes whether data of a connection is in flight. Gives whether all of it has just been acknowledged.
    fn waits(&mut self, connection: ConnectionId, in_flight: bool, now: Timestamp) -> bool {
        if self.last.replace((connection, in_flight)) == Some((connection, in_flight)) {
            return false;
        }
        if in_flight {
            if self.waiting.len() < MOST_WAITING {
                self.waiting.insert(connection);
            }
            self.acknowledged = None;
            return false;
        }
        let emptied = self.waiting.remove(&connection);
        if emptied && self.waiting.is_empty() {
            self.acknowledged = Some(now);
        }
        emptied
    }
}
