//! Why something was sent again: an episode lasts from the first copy until all that was sent by then is acknowledged.

use super::half::{Ack, Data, Half};
use super::surroundings::{RekeyWindow, Surroundings, touched};
use super::times::Times;
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::NANOS_PER_MILLI;

/// Packets that arrive before the new SA is there are among the first of it: one replay window (RFC 4303 §3.4.3).
const FIRST_OF_SA: u32 = 64;
/// Or they left right before the switch.
const RIGHT_BEFORE: i64 = 50 * NANOS_PER_MILLI;
/// So many copies are more than single loss.
const SEVERAL: u32 = 3;
/// A copy that is acknowledged sooner than this share of the usual time was not needed.
const TOO_SOON: f64 = 0.7;
/// Or than this share of the least time.
const TOO_SOON_OF_LEAST: f64 = 0.8;

/// One episode.
#[derive(Debug, Clone)]
pub(super) struct Episode {
    /// Index of the first copy.
    pub(super) first: usize,
    end: u64,
    time: i64,
    /// The wait for it, nanoseconds.
    nanos: i64,
    pub(super) copies: u32,
    /// From the copy to its acknowledgement.
    answered_after: Option<i64>,
    pub(super) queue: bool,
    /// A smaller ESP number came late right before.
    pub(super) overtaken: bool,
    /// What is sent again passed the capture before.
    pub(super) seen: bool,
    /// Smoothed time from data to acknowledgement, nanoseconds.
    pub(super) smoothed: i64,
}

impl Episode {
    pub(super) fn begun(first: usize, data: &Data, nanos: i64) -> Episode {
        Episode {
            first,
            end: data.end,
            time: data.time,
            nanos,
            copies: 0,
            answered_after: None,
            queue: false,
            overtaken: false,
            seen: data.seen_before,
            smoothed: 0,
        }
    }

    pub(super) fn is_answered(&mut self, ack: &Ack) {
        if self.answered_after.is_none() && ack.ack >= self.end {
            self.answered_after = Some(ack.time - self.time);
        }
    }

    /// What it comes from. `firsts`: indices of the data that was sent for the first time, in order.
    pub(super) fn cause(
        &self,
        half: &Half,
        firsts: &[u32],
        times: Times,
        around: &Surroundings,
    ) -> AccountLabel {
        let from = self.time - self.nanos;
        if self.nanos > times.gap && touched(&around.failed, from, self.time) {
            return AccountLabel::TunnelDown;
        }

        if self.nanos > times.long && around.rekeys_in(from, self.time).next().is_some() {
            return AccountLabel::Rekey;
        }
        if self.is_of_a_rekey(half, firsts, times, around) {
            return AccountLabel::Rekey;
        }
        let soon = (TOO_SOON * self.smoothed as f64).max(TOO_SOON_OF_LEAST * half.d1.unwrap_or(0) as f64);
        let too_soon = self
            .answered_after
            .is_some_and(|after| after >= 0 && (after as f64) < soon);
        // A receiver acknowledges at once what fills a hole: soon says something only of what got as far as the capture.
        if too_soon && self.seen || self.overtaken {
            return AccountLabel::Reordering;
        }
        if self.queue {
            AccountLabel::QueueLoss
        } else {
            AccountLabel::PathLoss
        }
    }

    /// What was lost was lost at a switch.
    fn is_of_a_rekey(&self, half: &Half, firsts: &[u32], times: Times, around: &Surroundings) -> bool {
        let data = |place: usize| firsts.get(place).and_then(|&k| half.data.get(k as usize));
        let copy = &half.data[self.first];
        // The last that begins at or before what is repeated.
        let place = firsts.partition_point(|&k| half.data[k as usize].start <= copy.start);
        let Some(original) = place.checked_sub(1).and_then(data) else {
            return false;
        };
        if original.end > copy.start {
            let near = RIGHT_BEFORE.max(times.rtt);
            let at_switch = |w: &RekeyWindow| {
                let early = original.sa == w.new_sa && original.esp <= FIRST_OF_SA;
                let before = w.switched.0 - original.time;
                early || (0..=near).contains(&before)
            };
            return self.copies >= SEVERAL
                && around
                    .rekeys_in(original.time, original.time + near)
                    .any(at_switch);
        }
        // It was never seen: lost before encryption, if no number is missing either.
        let Some(behind) = data(place) else { return false };
        let whole = original.missing == behind.missing;
        whole && around.rekeys_in(original.time, behind.time).next().is_some()
    }
}
