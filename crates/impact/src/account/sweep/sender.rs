//! A sender, as its data and the acknowledgements that reached it show it.

use super::receiver::Receiver;
use super::rounds::Rounds;
use crate::account::half::Half;
use crate::account::packet::AccountPacket;
use rekeyscope_traffic::INITIAL_WINDOW;

/// The state of a sender.
#[derive(Debug, Clone, Default)]
pub(crate) struct TcpSender {
    /// The last packet with data: time, number.
    pub(crate) last: Option<(i64, u64)>,
    /// When the first one passed, in whatever piece.
    pub(crate) first_sent: Option<i64>,
    /// Everything below is acknowledged.
    pub(crate) snd_una: u64,
    /// Behind the highest byte sent.
    pub(crate) snd_nxt: u64,
    pub(crate) receiver: Receiver,
    pub(crate) rounds: Rounds,
    /// The last acknowledgement that told it something.
    pub(crate) told: Option<i64>,
    pub(crate) all_acked_since: Option<i64>,
    /// The point where it began anew after a rest: rounds that were over, and the next byte.
    pub(crate) began_anew: Option<(usize, u64)>,
    /// A flight that was there, bytes.
    pub(crate) proven: u64,
    /// The receiver's window is full.
    pub(crate) touched: bool,
    /// The last time that it was full.
    pub(crate) touched_at: Option<i64>,
    /// Sums of waits that an acknowledgement ended, and that none did though more could have been sent; they fade.
    pub(crate) waits_clocked: f64,
    pub(crate) waits_unclocked: f64,
    /// The time until which they have faded.
    pub(crate) waits_at: i64,
    /// The episode that is going on: until this byte is acknowledged.
    pub(crate) recovery_point: Option<u64>,
    pub(crate) loss_seen: Option<i64>,
    /// After some rounds, so that it is known what was under way before.
    pub(crate) lost_from_known_flight: bool,
    /// Flight before the last episode.
    pub(crate) at_loss: u64,
    /// Flight before the first episode from which it has not come back.
    pub(crate) before_loss: u64,
    /// True until the flight has come back.
    pub(crate) ramping: bool,
    pub(crate) application_until: Option<i64>,
    pub(crate) late_seen: Option<i64>,
    /// Acknowledgements that have not reached it.
    pub(crate) under_way: Vec<AccountPacket>,
    /// The last time that its data showed that it had not heard the next of them.
    pub(crate) unheard_at: Option<i64>,
    /// Time at which the last acknowledgement reached the sender.
    pub(crate) heard_at: Option<i64>,
}

impl TcpSender {
    /// One that has sent nothing. Sequence numbers begin with `first`.
    pub(crate) fn new(first: u64, mss: u64) -> TcpSender {
        TcpSender {
            snd_una: first,
            snd_nxt: first,
            rounds: Rounds::new(first),
            proven: u64::from(INITIAL_WINDOW) * mss,
            ..TcpSender::default()
        }
    }

    /// Bytes under way.
    pub(crate) fn flight(&self) -> u64 {
        self.snd_nxt.saturating_sub(self.snd_una)
    }

    /// Bytes under way once it has sent `data`.
    pub(crate) fn flight_with(&self, data: &AccountPacket) -> u64 {
        self.snd_nxt.max(data.end()).saturating_sub(self.snd_una)
    }

    /// The flight of the rounds before now.
    pub(crate) fn usual_flight(&self) -> u64 {
        self.rounds.usual().max(self.flight())
    }

    /// A packet that others had overtaken came less than two round trips before `now`.
    pub(crate) fn is_disordered(&self, now: i64, rtt: i64) -> bool {
        self.late_seen.is_some_and(|late| now - late <= 2 * rtt)
    }

    /// Everything that was sent is acknowledged.
    pub(crate) fn all_acked(&self) -> bool {
        self.snd_una >= self.snd_nxt
    }

    /// An acknowledgement reaches it.
    #[inline]
    pub(crate) fn hears(&mut self, half: &Half, ack: &AccountPacket, at: i64) {
        let more = self.receiver.opens(half, ack, at, self.last.map(|l| l.0));
        if let Some(after) = ack.answers_after.map(|us| i64::from(us) * 1_000) {
            self.rounds.delayed(after);
        }
        let news = ack.ack > self.snd_una;
        if more || news {
            self.told = Some(at);
        }
        if news {
            self.snd_una = ack.ack;
            if self.all_acked() {
                self.all_acked_since.get_or_insert(at);
            }
            if self.recovery_point.is_some_and(|until| self.snd_una >= until) {
                self.recovery_point = None;
            }
            if self
                .rounds
                .acknowledged(self.snd_una, self.snd_nxt, self.loss_seen.is_none())
            {
                self.receiver.round_ends();
            }
        }
    }

    /// Sends `data`; so much is under way now.
    #[inline]
    pub(crate) fn has_sent(&mut self, half: &Half, data: &AccountPacket, flight: u64) {
        self.last = Some((data.time.0, data.frame));
        self.first_sent.get_or_insert(data.time.0);
        if data.end() > self.snd_nxt {
            self.snd_nxt = data.end();
            self.all_acked_since = None;
        }
        self.rounds.flew(flight);
        if self.recovery_point.is_none() {
            self.proven = self.proven.max(flight);
        }
        let changes = || self.ramping || self.rounds.grow() || self.rounds.are_below(flight);
        self.touched = self.receiver.is_full(half, self.snd_nxt, changes);
        if self.touched {
            self.touched_at = Some(data.time.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{ack, at, data, half};

    fn sender() -> TcpSender {
        TcpSender::new(0, 1_000)
    }

    #[test]
    fn what_is_under_way_is_what_nobody_acknowledged() {
        let mut of = sender();
        assert!(of.all_acked() && of.flight() == 0);
        of.has_sent(&half(), &data(0, 0), 1_000);
        of.has_sent(&half(), &data(1, 1_000), 2_000);
        assert_eq!((of.flight(), of.all_acked(), of.snd_nxt), (2_000, false, 2_000));
        of.hears(&half(), &ack(20, 1_000, 0), at(30));
        assert_eq!((of.flight(), of.all_acked_since), (1_000, None));
        of.hears(&half(), &ack(21, 2_000, 0), at(31));
        assert_eq!((of.all_acked(), of.all_acked_since), (true, Some(at(31))));
        of.has_sent(&half(), &data(50, 1_000), 0);
        assert_eq!(of.all_acked_since, Some(at(31)), "a copy is nothing new");
        of.has_sent(&half(), &data(51, 2_000), 1_000);
        assert_eq!((of.all_acked_since, of.last), (None, Some((at(51), 51))));
    }

    #[test]
    fn a_higher_number_or_a_wider_window_tells_something() {
        let mut of = sender();
        of.has_sent(&half(), &data(0, 0), 1_000);
        of.hears(&half(), &ack(1, 0, 5_000), at(10));
        assert_eq!(of.told, Some(at(10)), "it may send more");
        of.hears(&half(), &ack(2, 0, 5_000), at(20));
        assert_eq!(of.told, Some(at(10)));
        of.hears(&half(), &ack(3, 500, 4_500), at(30));
        assert_eq!((of.told, of.snd_una), (Some(at(30)), 500));
    }

    #[test]
    fn recovery_ends_with_what_was_sent_by_its_begin() {
        let mut of = sender();
        of.snd_nxt = 9_000;
        of.recovery_point = Some(5_000);
        of.hears(&half(), &ack(1, 4_999, 0), at(1));
        assert_eq!(of.recovery_point, Some(5_000));
        of.hears(&half(), &ack(2, 5_000, 0), at(2));
        assert_eq!(of.recovery_point, None);
    }

    /// What is under way while something is sent again proves no flight.
    #[test]
    fn a_flight_is_proven_outside_of_recovery() {
        let mut of = sender();
        assert_eq!(of.proven, 10_000);
        of.recovery_point = Some(1);
        of.has_sent(&half(), &data(0, 0), 12_000);
        assert_eq!(of.proven, 10_000);
        of.recovery_point = None;
        of.has_sent(&half(), &data(1, 1_000), 11_000);
        assert_eq!((of.proven, of.usual_flight()), (11_000, 12_000));
    }

    #[test]
    fn a_packet_that_fills_the_window_touches_it() {
        let mut of = sender();
        of.hears(&half(), &ack(0, 0, 3_000), at(0));
        of.has_sent(&half(), &data(5, 1_000), 2_000);
        assert!(!of.touched, "a segment is left");
        of.has_sent(&half(), &data(6, 1_500), 2_500);
        assert_eq!((of.touched, of.touched_at), (true, Some(at(6))));
    }
}
