//! Why something was sent again: an episode lasts from the first copy until all that was sent by then is acknowledged.

use crate::account::packet::AccountPacket;
use rekeyscope_model::analysis::AccountLabel;

/// A copy that is acknowledged sooner than this share of the usual time was not needed.
const TOO_SOON: f64 = 0.7;

/// One episode.
#[derive(Debug, Clone)]
pub(crate) struct Episode {
    end: u64,
    pub(crate) time: i64,
    /// An answer to the copy before this comes too soon, nanoseconds.
    soon: f64,
    /// From the copy to its acknowledgement.
    answered_after: Option<i64>,
    pub(crate) queue: bool,
    /// A smaller ESP number came late right before.
    pub(crate) overtaken: bool,
    /// True where the capture had shown the bytes before they were sent again.
    seen: bool,
}

impl Episode {
    /// An episode that begins with a copy. `smoothed`: time from data to acknowledgement, nanoseconds.
    pub(crate) fn begun(copy: &AccountPacket, smoothed: Option<i64>) -> Episode {
        Episode {
            end: copy.end(),
            time: copy.time.0,
            soon: TOO_SOON * smoothed.unwrap_or(0) as f64,
            answered_after: None,
            queue: false,
            overtaken: false,
            seen: copy.seen_before,
        }
    }

    pub(crate) fn is_answered(&mut self, ack: &AccountPacket) {
        if self.answered_after.is_none() && ack.ack >= self.end {
            self.answered_after = Some(ack.time.0 - self.time);
        }
    }

    /// The cause of the episode, as a label.
    pub(crate) fn cause(&self) -> AccountLabel {
        let too_soon = self
            .answered_after
            .is_some_and(|after| after >= 0 && (after as f64) < self.soon);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{ack, at, data};

    /// A copy at 10 s; acknowledgements mostly take 40 ms.
    fn copy() -> Episode {
        Episode::begun(&data(10_000, 0), Some(at(40)))
    }

    #[test]
    fn what_is_acknowledged_sooner_than_usual_was_not_lost() {
        let cause = |ms: i64, seen: bool| {
            let mut episode = copy();
            episode.seen = seen;
            episode.is_answered(&ack(9_000, 999, 0));
            episode.is_answered(&ack(10_000 + ms, 1_000, 0));
            episode.is_answered(&ack(10_001, 1_000, 0));
            episode.cause()
        };
        // 70 % of 40 ms.
        assert_eq!(cause(27, true), AccountLabel::Reordering);
        assert_eq!(cause(28, true), AccountLabel::PathLoss);
        assert_eq!(cause(27, false), AccountLabel::PathLoss, "it never got so far");
        assert_eq!(cause(-1, true), AccountLabel::PathLoss);
    }

    #[test]
    fn a_queue_or_an_overtaken_packet_is_its_reason() {
        let mut episode = copy();
        assert_eq!(episode.cause(), AccountLabel::PathLoss);
        episode.queue = true;
        assert_eq!(episode.cause(), AccountLabel::QueueLoss);
        episode.overtaken = true;
        assert_eq!(episode.cause(), AccountLabel::Reordering);
    }
}
