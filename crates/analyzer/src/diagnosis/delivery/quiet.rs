//! Silences that may be rest: nothing new came in a direction, or nothing at all passed in a tunnel. What they were is decided
//! when everything is known ([`crate::assembly`]).

use crate::diagnosis::record::PacketRecord;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Shorter silences are no rest: applications pause for a second or two within what their users call one transfer.
pub(crate) const LEAST_REST: i64 = 3 * NANOS_PER_SECOND;
/// Acknowledgements say what a direction delivered where inner TCP brings at least one in so many of its bytes.
const ALL_OF_TCP: u64 = 2;

/// From the last new data of a direction to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quiet {
    pub(crate) tunnel: TunnelIndex,
    pub(crate) slot: usize,
    /// Last new data.
    pub(crate) from: Timestamp,
    /// First new data after it.
    pub(crate) to: Timestamp,
    /// Since then everything that was sent was acknowledged; `None` where inner TCP does not tell.
    pub(crate) acknowledged: Option<Timestamp>,
    /// The last packet of this direction with anything in it, also with what was sent before.
    pub(crate) sent: Timestamp,
    /// It ends on another SA, and no new connection begins: nothing says that the sender was free to send.
    pub(crate) other_sa: bool,
    /// Least time from data to its acknowledgement, nanoseconds, as far as it was seen.
    pub(crate) answered_in: Option<i64>,
}

/// Nothing at all passed in a tunnel, in either direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TunnelSilence {
    pub(crate) tunnel: TunnelIndex,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

/// What a direction brought last.
#[derive(Debug, Clone, Copy)]
struct LastNews {
    time: Timestamp,
    sa: SaIndex,
}

/// Watches one direction.
#[derive(Debug, Default)]
pub(super) struct QuietWatch {
    news: Option<LastNews>,
    sent: Timestamp,
    /// Since when nothing is in flight.
    acknowledged: Option<Timestamp>,
    answered_in: Option<i64>,
    /// New bytes of inner TCP, and all.
    bytes: (u64, u64),
}

impl QuietWatch {
    /// A packet of this direction; `in_flight`: data before it waits for its acknowledgement; `known`: its connection sent
    /// data before.
    pub(super) fn takes(
        &mut self,
        p: &PacketRecord,
        in_flight: bool,
        known: impl FnOnce() -> bool,
    ) -> Option<Quiet> {
        let carries = p.payload > 0 || !p.is_opened();
        let brings = p.new > 0 || !p.is_opened();
        let before = self.news;
        let quiet = before
            .filter(|n| brings && p.time.nanos_since(n.time) >= LEAST_REST)
            .map(|n| Quiet {
                tunnel: usize::from(p.tunnel),
                slot: p.slot(),
                from: n.time,
                to: p.time,
                acknowledged: self
                    .tells(in_flight)
                    .then(|| self.acknowledged.map_or(n.time, |t| t.max(n.time))),
                sent: self.sent,
                other_sa: n.sa != p.sa() && (!p.is_tcp_data() || known()),
                answered_in: self.answered_in,
            });
        if brings {
            self.news = Some(LastNews {
                time: p.time,
                sa: p.sa(),
            });
            self.bytes.0 += if p.is_tcp_data() { u64::from(p.new) } else { 0 };
            self.bytes.1 += u64::from(if p.is_opened() { p.new } else { p.outer });
        }
        if carries {
            self.sent = p.time;
        }
        if p.is_tcp_data() {
            self.acknowledged = None;
        }
        quiet
    }

    fn tells(&self, in_flight: bool) -> bool {
        let (tcp, all) = self.bytes;
        !in_flight && ALL_OF_TCP * tcp >= all && tcp > 0
    }

    /// Nothing is in flight any more.
    pub(super) fn is_settled(&mut self, now: Timestamp) {
        self.acknowledged = Some(now);
    }

    /// Data that was sent once was acknowledged after so long.
    pub(super) fn is_answered_in(&mut self, nanos: i64) {
        self.answered_in = Some(self.answered_in.map_or(nanos, |least| least.min(nanos)));
    }
}

impl Quiet {
    /// Nothing that anybody waits for is under way since then.
    pub(crate) fn since(&self) -> Timestamp {
        self.acknowledged.unwrap_or(self.sent)
    }
}
