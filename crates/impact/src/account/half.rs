//! One direction of a connection: how long its data and acknowledgements take, and the packets of the piece that is gone over.

use super::delays::{lower, pattern};
use super::packet::AccountPacket;
use super::scale::inferred_scale;
use super::times::Times;
use rekeyscope_model::analysis::{D2Source, Direction};
use rekeyscope_model::time::NANOS_PER_MILLI;
use rekeyscope_traffic::{BESIDE_RECEIVER, Handshake, TcpHeader};

/// A handshake may be a little slower than what follows; too large a d2 makes waits for the window look like the application's.
const D2_SHARE: f64 = 0.95;
/// See [`D2_SHARE`].
const D2_MARGIN: i64 = NANOS_PER_MILLI;

/// One direction of a connection. Times are nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Half {
    /// True for TCP that can be read: the packets have sequence numbers.
    pub(crate) tcp: bool,
    /// Packets with data of the piece that is gone over.
    pub(crate) data: Vec<AccountPacket>,
    /// Packets of the other direction with an acknowledgement, likewise.
    pub(crate) acks: Vec<AccountPacket>,
    /// Largest payload, bytes.
    pub(crate) mss: u64,
    /// Shift of the receiver's window.
    pub(crate) scale: u8,
    /// True where the handshake says the shift.
    pub(crate) scale_known: bool,
    /// Least time from data to its acknowledgement; `None` without acknowledgements.
    pub(crate) d1: Option<i64>,
    /// Least time from what it echoes.
    pub(crate) echoed: Option<i64>,
    /// The lag at which data follows acknowledgements, where nothing else tells d2.
    pub(crate) lag: Option<i64>,
    /// From an acknowledgement to what it releases, as it is used.
    pub(crate) d2: Option<i64>,
    pub(crate) d2_from: Option<D2Source>,
    /// Least round trip, of d2 as it is used.
    pub(crate) rtt: i64,
    /// Least round trip, as it was measured.
    pub(crate) measured_rtt: Option<i64>,
    /// Neither handshake nor timestamps: what limits the flight cannot be told.
    pub(crate) blind: bool,
    /// True where the capture has the first packets, so that data was under way without a queue of its own.
    pub(crate) begun: bool,
    /// True once the connection was closed.
    pub(crate) ended: bool,
}

impl Half {
    /// Takes the next piece of a direction, and learns from it. Says whether the piece has data: without, what is acknowledged tells nothing.
    pub(crate) fn read(
        &mut self,
        packets: &[AccountPacket],
        (handshake, tcp): (&Handshake, bool),
        slot: usize,
    ) -> bool {
        let [sender, receiver] = [slot, 1 - slot].map(|slot| Direction::BOTH[slot]);
        let sent = |slot: usize| packets.iter().filter(move |p| p.slot() == slot);
        let resets = packets.iter().any(|p| p.has(TcpHeader::RST));
        self.ended |= resets || sent(slot).any(|p| p.has(TcpHeader::FIN));
        self.data = sent(slot).filter(|p| p.payload > 0).copied().collect();
        if self.data.is_empty() {
            return false;
        }
        self.tcp = tcp;
        if tcp {
            self.acks = sent(1 - slot).filter(|p| p.acknowledges()).copied().collect();
            self.echoed = lower(self.echoed, self.data.iter().map(|p| p.echo_after));
        }
        self.mss = self
            .data
            .iter()
            .map(AccountPacket::payload)
            .fold(self.mss, u64::max);
        self.d1 = lower(self.d1, self.data.iter().map(|p| p.acked_after));
        let sent_half = handshake.half(sender);
        if let (Some(d1), None) = (self.d1, sent_half.or(self.echoed).or(self.lag)) {
            self.lag = pattern(&self.data, &self.acks, d1);
        }
        let told = match (sent_half, self.echoed) {
            (half, Some(echoed)) if half.is_none_or(|half| echoed < half) => {
                Some((echoed, D2Source::Timestamps))
            }
            (Some(half), _) => Some((half, D2Source::Handshake)),
            (None, _) => self.lag.map(|lag| (lag, D2Source::Pattern)),
        };
        let (d2, from) = told.unzip();
        let used = d2.map(|d2| ((d2 as f64 * D2_SHARE) as i64 - D2_MARGIN).max(0));
        let stated = handshake.window_scale(receiver);
        self.scale_known = stated.is_some();
        self.scale =
            stated.unwrap_or_else(|| inferred_scale(&self.data, &self.acks, used.unwrap_or(0), self.scale));
        self.d2 = used.filter(|_| self.d1.is_some());
        self.d2_from = from.filter(|_| self.d1.is_some());
        self.rtt = self.d1.unwrap_or(0) + used.unwrap_or(0);
        self.measured_rtt = self.d1.zip(d2).map(|(d1, d2)| d1 + d2);
        // An answer takes time: a clock that shows none is coarser than the round trip.
        if self.measured_rtt == Some(0) {
            (self.d2, self.d2_from) = (None, None);
        }
        self.blind = tcp && matches!(from, Some(D2Source::Pattern) | None);
        self.begun = handshake.began(sender);
        true
    }

    /// Delays show a queue: not where data is acknowledged right behind the capture, and echoes nothing.
    pub(crate) fn shows_queues(&self) -> bool {
        self.echoed.is_some() || self.d1.is_some_and(|d1| d1 >= BESIDE_RECEIVER)
    }

    /// The receiver's window that an acknowledgement opens; that of a SYN is never scaled (RFC 7323 §2.2).
    pub(crate) fn window(&self, ack: &AccountPacket) -> u64 {
        let scale = if ack.has(TcpHeader::SYN) { 0 } else { self.scale };
        u64::from(ack.window) << scale
    }

    /// The times that the rules are made of.
    pub(crate) fn times(&self) -> Times {
        Times::of(self.rtt, self.d2.unwrap_or(self.rtt))
    }

    /// New bytes of the piece.
    pub(crate) fn new_bytes(&self) -> u64 {
        self.data.iter().map(|p| u64::from(p.new)).sum()
    }
}

#[cfg(test)]
mod tests {
    use crate::account::half::Half;
    use crate::account::made_up::{ack, at, half};
    use rekeyscope_traffic::TcpHeader;

    #[test]
    fn a_window_is_scaled_but_that_of_a_syn() {
        let half = Half { scale: 3, ..half() };
        let mut heard = ack(0, 0, 100);
        assert_eq!(half.window(&heard), 800);
        heard.flags |= TcpHeader::SYN;
        assert_eq!(half.window(&heard), 100);
    }

    #[test]
    fn queues_show_by_echoes_or_away_from_the_receiver() {
        let shows = |d1, echoed| Half { d1, echoed, ..half() }.shows_queues();
        assert!(shows(Some(at(3)), None) && !shows(Some(at(3) - 1), None));
        assert!(shows(None, Some(0)) && !shows(None, None));
    }
}
