//! What is known of a sender from its data and the acknowledgements that reached it.

use super::data::{Ack, Data};
use super::half::Half;
use super::receiver::Receiver;
use super::rounds::Rounds;

/// Its first flight, segments (RFC 6928).
pub(super) const FIRST_FLIGHT: u64 = 10;

/// The state of a sender.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    /// Its last packet with data: time, number, IPv4 identification.
    pub(super) last: Option<(i64, u64, u16)>,
    /// Everything below is acknowledged.
    pub(super) una: u64,
    /// Behind the highest byte sent.
    pub(super) nxt: u64,
    pub(super) receiver: Receiver,
    pub(super) rounds: Rounds,
    /// The last acknowledgement that told it something.
    pub(super) told: i64,
    pub(super) all_acked_since: Option<i64>,
    /// A flight that was there, bytes.
    pub(super) proven: u64,
    /// The receiver's window is full.
    pub(super) touched: bool,
    /// Sums of waits that an acknowledgement ended, and that none did though more could have been sent; they fade.
    pub(super) waits_clocked: f64,
    pub(super) waits_unclocked: f64,
    /// Smoothed time from data to acknowledgement, nanoseconds.
    pub(super) smoothed: f64,
    /// The episode that is going on: until this byte is acknowledged.
    pub(super) recovering: Option<u64>,
    pub(super) loss_seen: Option<i64>,
    /// Flight before the last episode.
    pub(super) before_loss: u64,
    /// It has not come back since.
    pub(super) ramping: bool,
    /// A pause after which the flight has not come back: its number and the flight before.
    pub(super) paused: Option<(u32, u64)>,
    pub(super) pauses: u32,
    pub(super) application_until: i64,
    pub(super) late_seen: Option<i64>,
    /// Acknowledgements that have not reached it.
    pub(super) under_way: Vec<Ack>,
}

impl Sender {
    /// One that has sent nothing. Sequence numbers begin with `first`.
    pub(super) fn new(first: u64, mss: u64) -> Sender {
        Sender {
            last: None,
            una: first,
            nxt: first,
            receiver: Receiver::default(),
            rounds: Rounds::new(first),
            told: i64::MIN / 2,
            all_acked_since: None,
            proven: FIRST_FLIGHT * mss,
            touched: false,
            waits_clocked: 0.0,
            waits_unclocked: 0.0,
            smoothed: 0.0,
            recovering: None,
            loss_seen: None,
            before_loss: 0,
            ramping: false,
            paused: None,
            pauses: 0,
            application_until: i64::MIN,
            late_seen: None,
            under_way: Vec::new(),
        }
    }

    /// Bytes under way.
    pub(super) fn flight(&self) -> u64 {
        self.nxt.saturating_sub(self.una)
    }

    /// The flight of the rounds before now.
    pub(super) fn usual_flight(&self) -> u64 {
        self.rounds.usual().max(self.flight())
    }

    /// Everything that was sent is acknowledged.
    pub(super) fn all_acked(&self) -> bool {
        self.una >= self.nxt
    }

    /// An acknowledgement reaches it. Says whether it is news.
    pub(super) fn hears(&mut self, half: &Half, ack: &Ack, at: i64) -> bool {
        let more = self.receiver.opens(half, ack, at, self.last.map(|l| l.0));
        if ack.after != i64::MAX {
            self.rounds.delayed(ack.after);
            let weight = if self.smoothed == 0.0 { 1.0 } else { 0.125 };
            self.smoothed += weight * (ack.after as f64 - self.smoothed);
        }
        let news = ack.ack > self.una;
        if more || news {
            self.told = at;
        }
        if news {
            self.una = ack.ack;
            if self.all_acked() {
                self.all_acked_since.get_or_insert(at);
            }
            if self.recovering.is_some_and(|until| self.una >= until) {
                self.recovering = None;
            }
            if self
                .rounds
                .acknowledged(self.una, self.nxt, self.loss_seen.is_none())
            {
                self.receiver.round_ends();
            }
        }
        news
    }

    /// It has sent `data`; so much is under way now.
    pub(super) fn has_sent(&mut self, half: &Half, data: &Data, flight: u64) {
        self.last = Some((data.time, data.frame, data.ip_id));
        if data.end > self.nxt {
            self.nxt = data.end;
            self.all_acked_since = None;
        }
        self.rounds.flew(flight);
        if self.recovering.is_none() {
            self.proven = self.proven.max(flight);
        }
        self.touched = self.receiver.is_full(half, self.nxt);
    }
}
