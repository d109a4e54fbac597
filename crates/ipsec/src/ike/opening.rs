//! The first message of an exchange may be in the capture or not; it tells who began. A capture that starts in the middle of
//! an exchange shows a later message first; its sender is then no proof of anything, but its kind may be.

use crate::ike::exchange::Exchange;
pub use crate::ike::exchange_type::FirstSeen;
use rekeyscope_model::analysis::ExchangeKind;
use std::net::IpAddr;

/// Longest third message of a Quick Mode (RFC 2409 §5.5: HDR*, HASH(3)): a header of 28 bytes and a hash payload of at
/// most 4 + 64 bytes (HMAC-SHA2-512), padded to the cipher's 16. The first two messages carry a hash, an SA and a nonce
/// payload, so they are longer: 124 bytes at least with a 16-byte hash and nonce.
pub(crate) const LONGEST_THIRD_MESSAGE: u32 = 28 + 80;

/// The beginning of an exchange in the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// The first message is there.
    Whole,
    /// A later message is the first one.
    Cut {
        /// The side that began it, where a message's kind tells.
        initiator: Option<IpAddr>,
    },
}

impl Exchange {
    /// Tells whether the capture holds its first message, and who sent that.
    pub fn opening(&self) -> Opening {
        match self.first_seen {
            FirstSeen::Answers => Opening::Cut {
                initiator: Some(self.initiator),
            },
            FirstSeen::GoesOn => Opening::Cut { initiator: None },
            FirstSeen::Begins if self.kind == ExchangeKind::QuickMode => self.quick_mode_opening(),
            FirstSeen::Begins => Opening::Whole,
        }
    }

    /// The third message is the initiator's and shorter than the others: where its sender did not send the first one
    /// captured, that one was the second.
    fn quick_mode_opening(&self) -> Opening {
        let third = self.records.iter().find(|r| r.len <= LONGEST_THIRD_MESSAGE);
        let (Some(first), Some(third)) = (self.records.first(), third) else {
            return Opening::Whole;
        };
        if third.frame != first.frame && third.src == first.src {
            return Opening::Whole;
        }
        Opening::Cut {
            initiator: Some(third.src),
        }
    }

    /// This is [`Exchange::opening`] of an exchange that made SAs: its initiator sent a third message, so where a Quick Mode's
    /// messages all come from one side and none is a third one, that side is the responder.
    pub fn opening_of_made(&self) -> Opening {
        let opening = self.opening();
        let no_third = self.records.iter().all(|r| r.len > LONGEST_THIRD_MESSAGE);
        if opening == Opening::Whole
            && self.kind == ExchangeKind::QuickMode
            && self.is_one_sided()
            && no_third
        {
            return Opening::Cut {
                initiator: Some(self.responder),
            };
        }
        opening
    }

    /// The side that began it, where that is known.
    pub fn known_initiator(&self) -> Option<IpAddr> {
        self.initiator_by(self.opening())
    }

    /// The side that began it, if it begins like this.
    pub fn initiator_by(&self, opening: Opening) -> Option<IpAddr> {
        match opening {
            Opening::Whole => Some(self.initiator),
            Opening::Cut { initiator } => initiator,
        }
    }

    /// The capture lacks messages of it that the SAs' names may stand in.
    pub fn lacks_messages(&self) -> bool {
        self.is_one_sided() || self.opening() != Opening::Whole
    }

    /// All messages come from one address.
    pub fn is_one_sided(&self) -> bool {
        let mut senders = self.records.iter().map(|r| r.src);
        let first = senders.next();
        senders.all(|s| Some(s) == first)
    }
}
