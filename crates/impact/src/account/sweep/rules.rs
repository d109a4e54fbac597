//! Data and acknowledgements of one direction of a connection in order of time: every wait for a packet gets a label.

use super::rounds::{FIRST_ROUNDS, FLAT, ROUNDS};
use super::sender::TcpSender;
use super::track::{Step, StepKind, Track};
use crate::account::capacity::{NEAR_BEST, queue_margin};
use crate::account::half::Half;
use crate::account::packet::AccountPacket;
use crate::account::times::Times;
use crate::ledger::AT_LIMIT;
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::NANOS_PER_SECOND;
use rekeyscope_traffic::{INITIAL_RTO, INITIAL_WINDOW};

/// The flight after a timeout, segments.
const AFTER_TIMEOUT: u64 = 2;
/// Half-life of what is known of a sender: sums of waits fall with exp(−t/2 s).
const MEMORY: f64 = 2.0 * NANOS_PER_SECOND as f64;
/// A loss leaves CUBIC this share of its window (RFC 9438 §4.6), and Reno half of it.
const CUBIC_LEAVES: f64 = 0.7;
/// CUBIC grows by W segments in the cube root of W over this, seconds (RFC 9438 §4.2, §5).
const CUBIC_SCALE: f64 = 0.4;

/// Goes over the next piece of a connection: one step for each packet with data. `rates`: how near to C it is at each, or empty.
pub(crate) fn sweep(half: &Half, rates: &[f32], sender: &mut TcpSender, track: &mut Track) {
    let times = half.times();
    let mut acks = std::mem::take(&mut sender.under_way);
    acks.extend_from_slice(&half.acks);
    let mut acks = acks.iter();
    let mut sweep = Sweep {
        half,
        rates,
        times,
        sender,
        track,
    };
    for (k, data) in half.data.iter().enumerate() {
        sweep.hear_until(data, &mut acks);
        sweep.send(k, data);
    }
    sweep.sender.under_way = acks.as_slice().to_vec();
}

#[derive(Debug)]
struct Sweep<'a> {
    half: &'a Half,
    rates: &'a [f32],
    times: Times,
    sender: &'a mut TcpSender,
    track: &'a mut Track,
}

impl Sweep<'_> {
    /// Takes those of the acknowledgements that have reached the sender when it sends `data`. One that waits in a queue reaches it later
    /// than d2, the least delay, and the data that echoes an older one shows it: then the first data that echoes it tells when.
    fn hear_until(&mut self, data: &AccountPacket, acks: &mut std::slice::Iter<'_, AccountPacket>) {
        let (d2, now) = (self.half.d2.unwrap_or(0), data.time.0);
        let waited = self.waited_in_queue(data);
        while let Some(ack) = acks.as_slice().first().filter(|ack| ack.time.0 + d2 <= now) {
            if waited && data.did_not_hear(ack) {
                self.sender.unheard_at = Some(now);
                return;
            }
            let due = ack.time.0 + d2;
            let held = self.sender.unheard_at.is_some_and(|unheard| unheard > due);
            // After a rest the first data tells nothing: it waited for something else.
            let follows = self
                .sender
                .unheard_at
                .is_some_and(|unheard| now - unheard < self.times.gap);
            let at = if held && follows { now } else { due };
            let at = self.sender.heard_at.map_or(at, |before| before.max(at));
            self.sender.heard_at = Some(at);
            if let Some(measured) = &mut self.track.measured {
                measured.hears(self.half, ack);
            }
            self.sender.hears(self.half, ack, at);
            acks.next();
        }
    }

    /// The acknowledgement behind the one that `data` echoes had been on its way for so long that something queued.
    fn waited_in_queue(&self, data: &AccountPacket) -> bool {
        let usual = self.half.d2.unwrap_or(0) + queue_margin(self.half.rtt);
        data.unheard_after.is_some_and(|us| i64::from(us) * 1_000 > usual)
    }

    /// The last round shows that packets queue.
    fn queues(&self) -> bool {
        self.sender.rounds.queues(self.half)
    }

    /// How near to C it is there; less than 0 where nobody knows.
    fn rate(&self, k: usize) -> f64 {
        self.rates.get(k).map_or(-1.0, |&rate| f64::from(rate))
    }

    /// The wait for a packet, by the rules.
    fn send(&mut self, k: usize, data: &AccountPacket) {
        let (flight, now) = (self.sender.flight_with(data), data.time.0);
        let (from, frame) = self.sender.last.unwrap_or((now, data.frame));
        let nanos = now - from;
        if data.late {
            self.sender.late_seen = Some(now);
            // Whoever takes an overtaken segment for a lost one makes its window smaller, whether or not it is sent again.
            if self.sender.ramping && self.sender.recovery_point.is_none() {
                self.track.begins(AccountLabel::Reordering);
            }
        }
        let all_acked = self.sender.all_acked();
        // After a timeout without anything under way a sender begins anew (RFC 5681 §4.1).
        if all_acked && nanos > self.times.long {
            self.sender.proven = u64::from(INITIAL_WINDOW) * self.half.mss;
            self.sender.began_anew = Some((self.sender.rounds.completed, self.sender.snd_nxt));
        }
        if data.again {
            self.repeats(k, data, nanos);
        }
        let (window, touched) = (self.sender.receiver.window, self.sender.touched);
        let step = Step {
            from,
            to: now,
            frames: (frame, data.frame),
            bytes: u64::from(data.new),
            longest: nanos,
            kind: StepKind {
                found: self.label(k, data, flight, from),
                between_full: false,
                at_capacity: self.rate(k) >= AT_LIMIT,
            },
            window: u32::try_from(window).unwrap_or(u32::MAX),
            packets: 1,
            touched,
        };
        self.track.steps.push(step);
        self.sender.has_sent(self.half, data, flight);
        if let Some(measured) = &mut self.track.measured {
            measured.sends(data, (flight, self.sender.snd_nxt), all_acked);
        }
    }

    /// A segment that was sent before.
    fn repeats(&mut self, k: usize, data: &AccountPacket, nanos: i64) {
        let timeout = nanos > self.times.long;
        let rtt = self.times.rtt;
        if self.sender.recovery_point.is_none() {
            // Loss after loss: the flight before the first one has not come back.
            let held_down = if self.sender.ramping {
                self.sender.before_loss
            } else {
                0
            };
            self.sender.at_loss = self.sender.usual_flight();
            self.sender.before_loss = self.sender.at_loss.max(held_down);
            self.sender.ramping = true;
            self.sender.proven = if timeout {
                AFTER_TIMEOUT * self.half.mss
            } else {
                self.sender.before_loss / 2
            };
            self.sender.recovery_point = Some(self.sender.snd_nxt);
            let then = self.half.data[..k].partition_point(|d| d.time.0 < data.time.0 - rtt);
            let busy = [k, k.saturating_sub(1), then]
                .iter()
                .any(|&k| self.rate(k) >= 0.85);
            // A smaller ESP number came late right before, or the copy was not needed.
            let disordered = self.sender.is_disordered(data.time.0, rtt);
            self.track.begins(if disordered || data.superfluous {
                AccountLabel::Reordering
            } else if busy || self.queues() {
                AccountLabel::QueueLoss
            } else {
                AccountLabel::PathLoss
            });
            if self.comes_back_from_the_unseen(data.time.0) {
                self.track.comes_back(self.half.scale_known);
            }
            self.sender.lost_from_known_flight |= self.sender.rounds.completed >= FIRST_ROUNDS;
        } else if timeout {
            self.sender.proven = AFTER_TIMEOUT * self.half.mss;
        }
        self.sender.loss_seen = Some(data.time.0);
    }

    /// The first loss from a flight that is known, at `now`, of a connection that had begun before the capture: it had grown as it does
    /// after a loss, by segments, and for no longer than coming back takes (RFC 5681 §3.1, RFC 9438 §4.2).
    fn comes_back_from_the_unseen(&self, now: i64) -> bool {
        let Some(first) = self.sender.first_sent.filter(|_| !self.half.begun) else {
            return false;
        };
        !self.sender.lost_from_known_flight
            && self.sender.rounds.climb(self.half.mss)
            && now - first <= self.back_after()
    }

    /// How long after the last loss a sender that has enough to send has the flight of before the first one back, nanoseconds: by
    /// segments from half of it (RFC 5681 §3.1), or by CUBIC to what it was at the last loss, and on from there.
    fn back_after(&self) -> i64 {
        let segments = |bytes: u64| bytes as f64 / self.half.mss as f64;
        let (before, at_loss) = (segments(self.sender.before_loss), segments(self.sender.at_loss));
        let reno = (before - at_loss / 2.0) * self.sender.rounds.delay().max(self.times.rtt) as f64;
        let grows = |by: f64| libm::cbrt(by / CUBIC_SCALE) * NANOS_PER_SECOND as f64;
        let cubic = grows((1.0 - CUBIC_LEAVES) * at_loss) + grows(before - at_loss);
        reno.max(cubic) as i64
    }

    /// The first rule that holds (docs/account.md) for the wait since `from`; `None`: what the last episode of loss turns out to be.
    fn label(
        &mut self,
        k: usize,
        data: &AccountPacket,
        flight_after: u64,
        from: i64,
    ) -> Option<AccountLabel> {
        use AccountLabel::{
            Application, Capacity, Growth, ReceiveWindow, SendBuffer, Unexplained, ZeroWindow,
        };
        let times = self.times;
        let (now, nanos) = (data.time.0, data.time.0 - from);
        let (rate, queued) = (self.rate(k), self.queues());
        let fills = rate >= AT_LIMIT;
        let queues = rate >= NEAR_BEST && queued;
        let slower = rate < 0.6;
        // Behind a queue packets come as the link lets them through, however they were sent.
        let waited = self.waited_in_queue(data);
        // Packets that overtake each other come as their ways let them through, too.
        let disordered = self.sender.is_disordered(now, times.rtt);
        let back_after = self.back_after();
        let sender = &mut *self.sender;
        // Something else than the loss holds a flight that is not back by then, but for packets that go on overtaking each other.
        let goes_on = disordered && self.track.episode == Some(AccountLabel::Reordering);
        if sender.loss_seen.is_some_and(|lost| now - lost > back_after) && !goes_on {
            (sender.loss_seen, sender.ramping, sender.before_loss) = (None, false, 0);
        }
        let small = sender.receiver.small_until(now, (nanos > 0).then_some(from));
        let allowed = sender.receiver.allowed_at(now - times.released);
        let clocked = sender.told.is_some_and(|told| told > now - times.released);
        let could = data.end() <= allowed && sender.flight() + data.payload() <= sender.proven;
        let recovering = sender.recovery_point.is_some();
        if nanos > times.released && !recovering && !waited && !disordered {
            let before = k.checked_sub(1).and_then(|before| self.half.data.get(before));
            // Both sums fade alike, because only the larger of them is asked for.
            let fade = libm::exp(-((now - sender.waits_at) as f64) / MEMORY);
            sender.waits_at = now;
            sender.waits_clocked *= fade;
            sender.waits_unclocked *= fade;
            if !clocked && could {
                sender.waits_unclocked += nanos as f64;
            } else if clocked && before.is_none_or(|before| data.payload() >= before.payload()) {
                // Part of a segment waits until the part before is acknowledged, whatever limits the rest (RFC 9293 §3.7.4).
                sender.waits_clocked += nanos as f64;
            }
        }
        if nanos > times.released && small * 2 > nanos {
            return Some(ZeroWindow);
        }
        if recovering {
            return if fills && nanos < times.gap {
                Some(Capacity)
            } else {
                None
            };
        }
        if (fills || queues) && nanos < times.gap && !sender.touched {
            return Some(Capacity);
        }
        let back = flight_after + self.half.mss > sender.before_loss;
        if self.half.d2.is_none() {
            // Right before the receiver hardly anything is under way.
            sender.ramping &= !back && self.half.shows_queues();
            if !sender.ramping {
                return Some(Unexplained);
            }
            return None;
        }
        // A sender that begins anew has sent more than the application's next words: a burst takes its time whatever went before.
        let begun = sender
            .began_anew
            .filter(|(round, _)| sender.rounds.completed - round < FIRST_ROUNDS);
        let anew =
            begun.is_some_and(|(_, from)| data.end() > from + u64::from(INITIAL_WINDOW) * self.half.mss);
        let idle = sender
            .all_acked_since
            .is_some_and(|since| now - since > times.released.max(times.rtt / 2));
        if nanos > times.released && !clocked && could && !waited {
            let calm = sender
                .loss_seen
                .is_none_or(|t| now - t > INITIAL_RTO.max(10 * times.rtt));
            // A sender with nothing to send lets a queue run dry.
            let queues = queued && nanos < times.gap;
            let slow =
                sender.waits_unclocked >= sender.waits_clocked && slower && calm && !queues && !disordered;
            if slow || sender.all_acked() && idle {
                sender.application_until = Some(now + times.rtt);
                return Some(Application);
            }
        } else if nanos <= times.released && sender.application_until >= Some(now) && !anew {
            return Some(Application);
        }
        if sender.touched && clocked {
            return Some(ReceiveWindow);
        }
        let last = sender.rounds.last();
        let flight = flight_after.max(last);
        sender.ramping &= !back;
        if sender.ramping {
            return None;
        }
        let flat = sender.rounds.flat();
        if anew && sender.loss_seen.is_none() {
            return Some(Growth);
        }
        if sender.rounds.are_level_with(flight) || flat && sender.loss_seen.is_none() {
            let unloaded = self.half.begun || sender.rounds.were_smaller_than(flight);
            // An inferred window counts while it is full now and then.
            let window_known = self.half.scale_known
                || sender
                    .touched_at
                    .is_some_and(|full| now - full <= ROUNDS as i64 * times.rtt);
            let stands = (waited || queued) && nanos < times.gap;
            return Some(if sender.waits_unclocked > sender.waits_clocked && !stands {
                Application
            } else if window_known && flight as f64 >= 0.75 * sender.receiver.window as f64 {
                ReceiveWindow
            } else if stands {
                // A link before which packets queue carries what it can, however far below C that is.
                Capacity
            } else if self.half.shows_queues() && unloaded {
                SendBuffer
            } else {
                // A queue would look the same.
                self.track.hides_queues |= !unloaded;
                self.track.hides_growth |= !unloaded;
                Unexplained
            });
        }
        let back_at = FLAT * sender.before_loss as f64;
        if sender.loss_seen.is_some() && (flight_after as f64) < back_at {
            return None;
        }
        let few_rounds = sender.rounds.completed < FIRST_ROUNDS;
        let grows = if few_rounds {
            self.half.begun || sender.rounds.grow()
        } else {
            !flat
        };
        self.track.hides_growth |= few_rounds && !grows;
        Some(if grows { Growth } else { Unexplained })
    }
}

#[cfg(test)]
mod tests;
