//! Data and acknowledgements of one direction of a connection in order of time: every wait for a packet gets a label.

use super::capacity::queue_margin;
use super::episode::Episode;
use super::half::{Ack, Data, Half};
use super::times::Times;
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};
use std::collections::VecDeque;

/// After so long without anything under way, or three round trips, a sender begins anew (RFC 5681 §4.1).
const IDLE: i64 = 300 * NANOS_PER_MILLI;
/// Its first flight (RFC 6928), and the one after a timeout, segments.
const FIRST_FLIGHT: u64 = 10;
/// See [`FIRST_FLIGHT`].
const AFTER_TIMEOUT: u64 = 2;
/// The window is full when less than this share of it is left.
const FULL: f64 = 0.1;
/// Or, where its scale is inferred, less than so many segments, of a window of at least [`LEAST_INFERRED`].
const FULL_INFERRED: f64 = 1.5;
/// See [`FULL_INFERRED`].
const LEAST_INFERRED: u64 = 10;
/// An inferred window limits only while it does not grow: a receiver that opens it on demand keeps it at a multiple of the flight.
const STEADY: f64 = 1.05;
/// Rounds over which it does not.
const STEADY_ROUNDS: usize = 5;
/// Half-life of what is known of a sender: sums of waits fall with exp(−t/2 s).
const MEMORY: f64 = 2.0 * NANOS_PER_SECOND as f64;
/// Rounds that are remembered.
const ROUNDS: usize = 8;
/// A flight is flat while its last rounds are at most so much above earlier ones.
const FLAT: f64 = 1.06;
/// Since loss, for this long or ten round trips, a wait is not the application's.
const SINCE_LOSS: i64 = NANOS_PER_SECOND;

/// What a wait is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitLabel {
    Label(AccountLabel),
    /// What its episode of loss turns out to be.
    Episode,
}

/// One wait: it ends with the data packet of the same index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    pub(super) found: WaitLabel,
    /// The window was full when it began.
    pub(super) touched: bool,
    /// Everything was acknowledged before it ended.
    pub(super) all_acked: bool,
    /// Of an episode, or on the way back to the flight before it: its index.
    pub(super) episode: u32,
    /// On the way back after a long pause: the index of that pause's wait.
    pub(super) ramp: u32,
    /// The receiver's window as it was.
    pub(super) window: u32,
}

/// No index.
pub(super) const NONE: u32 = u32::MAX;

/// What a sweep finds.
#[derive(Debug)]
pub(super) struct Swept {
    pub(super) times: Times,
    /// One per data packet; the first wait has no length.
    pub(super) waits: Vec<Wait>,
    pub(super) episodes: Vec<Episode>,
}

/// Goes over a connection. `rates`: how near to C it is at each packet.
pub(super) fn sweep(half: &Half, rates: &[f32]) -> Swept {
    let mut state = State::new(half, rates);
    let mut acks = half.acks.iter().peekable();
    let d2 = half.d2.unwrap_or(0);
    for (k, data) in half.data.iter().enumerate() {
        while let Some(ack) = acks.next_if(|a| a.time + d2 <= data.time) {
            state.acknowledge(ack, ack.time + d2);
        }
        state.send(k, data);
    }
    // Copies whose acknowledgement comes last.
    for ack in acks {
        state.acknowledge(ack, ack.time + d2);
    }
    state.swept
}

#[derive(Debug)]
struct State<'a> {
    half: &'a Half,
    rates: &'a [f32],
    swept: Swept,
    last: Option<i64>,
    una: u64,
    nxt: u64,
    /// The highest byte that the receiver ever allowed, and when it was raised.
    allowed: u64,
    raised: VecDeque<(i64, u64)>,
    allowed_then: u64,
    window: u64,
    /// The window is smaller than a segment since then.
    small_since: Option<i64>,
    small: i64,
    /// The last acknowledgement that told the sender something.
    told: i64,
    all_acked_since: Option<i64>,
    /// A flight that was there.
    proven: u64,
    touched: bool,
    waits_clocked: f64,
    waits_unclocked: f64,
    round_ends: u64,
    round_most: u64,
    round_least: i64,
    last_round_least: i64,
    /// Largest flights of the last rounds, newest first.
    rounds: VecDeque<u64>,
    /// The receiver's windows at their ends, newest first.
    round_windows: VecDeque<u64>,
    /// Rounds that were completed.
    completed: u64,
    plateau: Option<u64>,
    smoothed: f64,
    /// The episode that is going on: until this byte is acknowledged.
    recovering: Option<u64>,
    loss_seen: Option<i64>,
    /// Flight before the last episode.
    before_loss: u64,
    /// It has not come back since.
    ramping: bool,
    /// A pause after which the flight has not come back: its wait and the flight before.
    paused: Option<(u32, u64)>,
    application_until: i64,
    late_seen: Option<i64>,
}

impl<'a> State<'a> {
    fn new(half: &'a Half, rates: &'a [f32]) -> Self {
        let first = half.data.first().map_or(0, |d| d.start);
        State {
            half,
            rates,
            swept: Swept {
                times: Times::of(half.rtt, half.d2.unwrap_or(half.rtt)),
                waits: Vec::with_capacity(half.data.len()),
                episodes: Vec::new(),
            },
            last: None,
            una: first,
            nxt: first,
            allowed: 0,
            raised: VecDeque::new(),
            allowed_then: 0,
            window: 0,
            small_since: None,
            small: 0,
            told: i64::MIN / 2,
            all_acked_since: None,
            proven: FIRST_FLIGHT * half.mss,
            touched: false,
            waits_clocked: 0.0,
            waits_unclocked: 0.0,
            round_ends: first,
            round_most: 0,
            round_least: i64::MAX,
            last_round_least: i64::MAX,
            rounds: VecDeque::with_capacity(ROUNDS + 1),
            round_windows: VecDeque::with_capacity(STEADY_ROUNDS + 1),
            completed: 0,
            plateau: None,
            smoothed: 0.0,
            recovering: None,
            loss_seen: None,
            before_loss: 0,
            ramping: false,
            paused: None,
            application_until: i64::MIN,
            late_seen: None,
        }
    }

    fn flight(&self) -> u64 {
        self.nxt.saturating_sub(self.una)
    }

    fn acknowledge(&mut self, ack: &Ack, at: i64) {
        let window = self.half.window(ack);
        let small = window < self.half.mss;
        match (self.small_since, small) {
            (None, true) => self.small_since = Some(at),
            (Some(since), false) => {
                self.small += at - since.max(self.last.unwrap_or(at));
                self.small_since = None;
            }
            _ => {}
        }
        self.window = window;
        if ack.after != i64::MAX {
            self.round_least = self.round_least.min(ack.after);
            let weight = if self.smoothed == 0.0 { 1.0 } else { 0.125 };
            self.smoothed += weight * (ack.after as f64 - self.smoothed);
        }
        if ack.ack > self.una {
            self.una = ack.ack;
            self.told = at;
            self.progress(ack, at);
        }
        let allowed = ack.ack + window;
        if allowed > self.allowed {
            self.allowed = allowed;
            self.told = at;
            self.raised.push_back((at, allowed));
        }
    }

    fn progress(&mut self, ack: &Ack, at: i64) {
        if self.una >= self.nxt {
            self.all_acked_since.get_or_insert(at);
        }
        if let Some(copy) = self.swept.episodes.last_mut() {
            copy.is_answered(ack);
        }
        if self.recovering.is_some_and(|until| self.una >= until) {
            self.recovering = None;
        }
        if self.una >= self.round_ends {
            self.rounds.push_front(self.round_most);
            self.rounds.truncate(ROUNDS);
            self.completed += 1;
            self.round_windows.push_front(self.window);
            self.round_windows.truncate(STEADY_ROUNDS);
            (self.round_ends, self.round_most) = (self.nxt, 0);
            (self.last_round_least, self.round_least) = (self.round_least, i64::MAX);
            if self.loss_seen.is_none() && self.rounds.len() == ROUNDS && self.is_flat_over(ROUNDS - 2) {
                self.plateau = self.rounds.iter().max().copied();
            }
        }
    }

    /// The last two rounds are hardly above those `back` rounds and one more ago.
    fn is_flat_over(&self, back: usize) -> bool {
        let most = |from: usize| self.rounds.iter().skip(from).take(2).max().copied().unwrap_or(0);
        self.rounds.len() >= back + 2 && most(0) as f64 <= FLAT * most(back) as f64
    }

    /// Packets queue: the last round's least delay shows it.
    fn queues(&self) -> bool {
        let Some(d1) = self.half.d1 else { return false };
        self.last_round_least != i64::MAX && self.last_round_least > d1 + queue_margin(self.half.rtt)
    }

    fn at_rate(&self, k: usize, share: f64) -> bool {
        self.rates.get(k).is_some_and(|&rate| f64::from(rate) >= share)
    }

    fn send(&mut self, k: usize, data: &Data) {
        let now = data.time;
        let before = self.last.replace(now);
        let nanos = before.map_or(0, |before| now - before);
        if let Some(since) = self.small_since {
            self.small += now - since.max(before.unwrap_or(now));
        }
        if data.late {
            self.late_seen = Some(now);
        }
        let window = u32::try_from(self.window).unwrap_or(u32::MAX);
        let all_acked = self.una >= self.nxt;
        let mut wait = Wait {
            found: WaitLabel::Label(AccountLabel::Unexplained),
            touched: self.touched,
            all_acked,
            episode: NONE,
            ramp: NONE,
            window,
        };
        let times = self.swept.times;
        if all_acked && nanos > IDLE.max(3 * times.rtt) {
            self.proven = FIRST_FLIGHT * self.half.mss;
        }
        if data.again {
            self.repeats(k, data, nanos);
        }
        if nanos > times.long && before.is_some() {
            self.paused = Some((k as u32, self.usual_flight()));
        }
        let flight_after = self.nxt.max(data.end).saturating_sub(self.una);
        wait.found = self.label(k, data, nanos, flight_after, &mut wait);
        self.follow(data, flight_after);
        self.swept.waits.push(wait);
    }

    /// The flight of the rounds before now.
    fn usual_flight(&self) -> u64 {
        let rounds = self.rounds.iter().take(2).max().copied().unwrap_or(0);
        rounds.max(self.flight()).max(self.round_most)
    }

    /// A segment that was sent before.
    fn repeats(&mut self, k: usize, data: &Data, nanos: i64) {
        let timeout = nanos > self.swept.times.long;
        if self.recovering.is_none() {
            // Loss after loss: the flight before the first one has not come back.
            let held_down = if self.ramping { self.before_loss } else { 0 };
            self.before_loss = self.usual_flight().max(held_down);
            // From here on it is the loss that keeps the flight down.
            self.paused = None;
            self.ramping = true;
            self.proven = if timeout {
                AFTER_TIMEOUT * self.half.mss
            } else {
                self.before_loss / 2
            };
            self.recovering = Some(self.nxt);
            let round_trip_ago = data.time - self.swept.times.rtt;
            let then = self.half.data[..k].partition_point(|d| d.time < round_trip_ago);
            let busy = [k, k.saturating_sub(1), then]
                .iter()
                .any(|&k| self.at_rate(k, 0.85));
            let late = self
                .late_seen
                .is_some_and(|t| data.time - t <= 2 * self.swept.times.rtt);
            let mut episode = Episode::begun(k, data, nanos);
            episode.queue = busy || self.queues();
            episode.overtaken = late;
            episode.smoothed = self.smoothed as i64;
            self.swept.episodes.push(episode);
        } else if timeout {
            self.proven = AFTER_TIMEOUT * self.half.mss;
        }
        self.loss_seen = Some(data.time);
        if let Some(episode) = self.swept.episodes.last_mut() {
            episode.copies += 1;
        }
    }

    /// The first rule that holds (account.md).
    fn label(&mut self, k: usize, data: &Data, nanos: i64, flight_after: u64, wait: &mut Wait) -> WaitLabel {
        use AccountLabel::{
            Application, Capacity, Growth, ReceiveWindow, SendBuffer, Unexplained, ZeroWindow,
        };
        let times = self.swept.times;
        let now = data.time;
        while self.raised.front().is_some_and(|r| r.0 <= now - times.released) {
            self.allowed_then = self.raised.pop_front().map_or(self.allowed_then, |r| r.1);
        }
        let clocked = self.told > now - times.released;
        let could = data.end <= self.allowed_then && self.flight() + data.payload() <= self.proven;
        let recovering = self.recovering.is_some();
        let decay = (-(nanos as f64) / MEMORY).exp();
        self.waits_clocked *= decay;
        self.waits_unclocked *= decay;
        if nanos > times.released && !recovering {
            if clocked {
                self.waits_clocked += nanos as f64;
            } else if could {
                self.waits_unclocked += nanos as f64;
            }
        }
        let episode = self
            .swept
            .episodes
            .len()
            .checked_sub(1)
            .map_or(NONE, |e| e as u32);
        if nanos > times.released && self.small * 2 > nanos {
            return WaitLabel::Label(ZeroWindow);
        }
        if recovering {
            wait.episode = episode;
            let full = self.at_rate(k, 0.9) && nanos < times.gap;
            return if full {
                WaitLabel::Label(Capacity)
            } else {
                WaitLabel::Episode
            };
        }
        let full = self.at_rate(k, 0.9) || self.queues() && self.at_rate(k, 0.75);
        if full && nanos < times.gap && !self.touched {
            return WaitLabel::Label(Capacity);
        }
        if self.half.d2.is_none() {
            return WaitLabel::Label(Unexplained);
        }
        let idle = self
            .all_acked_since
            .is_some_and(|since| now - since > times.released.max(times.rtt / 2));
        if nanos > times.released && !clocked && could {
            let calm = self
                .loss_seen
                .is_none_or(|t| now - t > SINCE_LOSS.max(10 * times.rtt));
            let slow = self.waits_unclocked >= self.waits_clocked && !self.at_rate(k, 0.6) && calm;
            if slow || wait.all_acked && idle {
                self.application_until = now + times.rtt;
                return WaitLabel::Label(Application);
            }
        } else if nanos <= times.released && now <= self.application_until {
            return WaitLabel::Label(Application);
        }
        if self.touched && clocked {
            return WaitLabel::Label(ReceiveWindow);
        }
        if let Some((pause, before)) = self.paused {
            if (flight_after as f64) < 0.95 * before as f64 {
                wait.ramp = pause;
            } else {
                self.paused = None;
            }
        }
        let flight = flight_after.max(self.rounds.front().copied().unwrap_or(0));
        if self.ramping && (flight_after as f64) < 0.95 * self.before_loss as f64 {
            wait.episode = episode;
            return WaitLabel::Episode;
        }
        self.ramping = false;
        let flat = self.is_flat_over(3);
        let at_plateau = self.plateau.is_some_and(|p| flight as f64 >= 0.9 * p as f64);
        if at_plateau || flat && self.loss_seen.is_none() {
            return WaitLabel::Label(if self.waits_unclocked > self.waits_clocked {
                Application
            } else if self.half.scale_known && flight as f64 >= 0.75 * self.window as f64 {
                ReceiveWindow
            } else if self.half.shows_queues() {
                SendBuffer
            } else {
                // A queue would look the same.
                Unexplained
            });
        }
        if self.loss_seen.is_some() && (flight_after as f64) < 1.05 * self.before_loss as f64 {
            wait.episode = episode;
            return WaitLabel::Episode;
        }
        WaitLabel::Label(if self.completed < 5 || !flat {
            Growth
        } else {
            Unexplained
        })
    }

    /// Whether a window of an inferred scale can limit anything.
    fn inferred_limits(&self) -> bool {
        let before = self
            .round_windows
            .iter()
            .skip(STEADY_ROUNDS / 2)
            .max()
            .copied()
            .unwrap_or(0) as f64;
        self.round_windows.len() == STEADY_ROUNDS
            && self.window as f64 <= STEADY * before
            && self.window >= LEAST_INFERRED * self.half.mss
    }

    fn follow(&mut self, data: &Data, flight_after: u64) {
        self.small = 0;
        if let Some(since) = self.small_since.as_mut() {
            *since = data.time;
        }
        if data.end > self.nxt {
            self.nxt = data.end;
            self.all_acked_since = None;
        }
        self.round_most = self.round_most.max(flight_after);
        if self.recovering.is_none() {
            self.proven = self.proven.max(flight_after);
        }
        let left = self.allowed.saturating_sub(self.nxt) as f64;
        let full = if self.half.scale_known {
            (self.half.mss as f64).max(FULL * self.window as f64)
        } else {
            FULL_INFERRED * self.half.mss as f64 * f64::from(u8::from(self.inferred_limits()))
        };
        self.touched = self.allowed > 0 && left < full;
    }
}
