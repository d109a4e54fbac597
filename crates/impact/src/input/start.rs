//! What is known of t_Q, the first message of an exchange.
//!
//! No beginning is sought by the rate: a slow stretch that was chosen because it is slow is no evidence. What the packets prove
//! by other means is in t_Q before it comes here: a volume limit that was reached, and an initiator that was deaf before its
//! first captured message, for which its silence *is* searched by those who look at the messages.

/// Assumed time from the exchange's beginning to the first packet on a new SA where no message was captured, seconds.
pub(crate) const ASSUMED_EXCHANGE_S: f64 = 0.3;

/// t_Q as far as the capture shows it, seconds from the start of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Start {
    /// The first exchange message.
    Message(f64),
    /// A later message: the first one is not in the capture.
    LaterMessage(f64),
    /// The first message that was captured came after a silence of both sides: it may be the second copy of one that was lost
    /// before the capture point, or there was nothing to send.
    AfterSilence(f64),
    /// No message of the exchange is in the capture. Both SAs of a pair come from one exchange, so it began before the
    /// first packet on either of them.
    Unseen {
        /// First packet on a new SA, in whichever direction came first.
        first_switch_s: f64,
    },
}

impl Start {
    /// t_Q of the window of a rekey that switches at `switched_s`: the latest moment that the evidence allows, the
    /// assumed length of an exchange before the first switch where there is no message.
    pub fn latest_s(self, switched_s: f64) -> f64 {
        let finite = |s: f64| s.is_finite().then_some(s);
        let known = match self {
            Start::Message(s) | Start::LaterMessage(s) | Start::AfterSilence(s) => finite(s),
            Start::Unseen { first_switch_s } => {
                finite(first_switch_s).map(|first| first.min(switched_s) - ASSUMED_EXCHANGE_S)
            }
        };
        known.unwrap_or(switched_s - ASSUMED_EXCHANGE_S).min(switched_s)
    }

    /// The same, told from a series that begins `s` seconds later.
    pub(crate) fn rebased(self, s: f64) -> Start {
        match self {
            Start::Message(t) => Start::Message(t - s),
            Start::LaterMessage(t) => Start::LaterMessage(t - s),
            Start::AfterSilence(t) => Start::AfterSilence(t - s),
            Start::Unseen { first_switch_s } => Start::Unseen {
                first_switch_s: first_switch_s - s,
            },
        }
    }

    /// The exchange began, or may have begun, earlier than the evidence shows.
    pub(crate) fn is_late(self) -> bool {
        !matches!(self, Start::Message(s) if s.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_wins_over_the_assumption_and_either_switch_counts() {
        assert_eq!(Start::Message(5.0).latest_s(6.0), 5.0);
        assert_eq!(Start::Message(7.0).latest_s(6.0), 6.0);
        assert_eq!(Start::LaterMessage(5.9).latest_s(6.0), 5.9);
        let unseen = |first_switch_s| Start::Unseen { first_switch_s }.latest_s(6.0);
        assert!((unseen(6.0) - 5.7).abs() < 1e-9);
        assert!(
            (unseen(2.0) - 1.7).abs() < 1e-9,
            "the other direction switched first"
        );
        assert!((unseen(9.0) - 5.7).abs() < 1e-9, "or later");
        assert!((unseen(f64::NAN) - 5.7).abs() < 1e-9);
        assert!(!Start::Message(1.0).is_late() && Start::LaterMessage(1.0).is_late());
        assert!(Start::AfterSilence(1.0).is_late() && Start::AfterSilence(5.9).latest_s(6.0) == 5.9);
    }

    #[test]
    fn told_from_a_later_begin_it_is_earlier() {
        let later = |start: Start| start.rebased(2.0);
        assert_eq!(later(Start::Message(5.0)), Start::Message(3.0));
        assert_eq!(later(Start::LaterMessage(5.0)), Start::LaterMessage(3.0));
        assert_eq!(later(Start::AfterSilence(5.0)), Start::AfterSilence(3.0));
        let unseen = |first_switch_s| Start::Unseen { first_switch_s };
        assert_eq!(later(unseen(5.0)), unseen(3.0));
    }
}
