//! An attempt, as it was found.

use crate::ike::timeline::Notice;
use crate::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::AttemptOutcome;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::net::IpAddr;

/// A request is sent again within this (racoon after 10 s, strongSwan after 4 s, Windows after 1 s; RFC 7296 §2.1 leaves it
/// open). Where a capture ends sooner after the first copy, the request may have been answered.
pub const FIRST_REPEAT_NANOS: i64 = 10 * NANOS_PER_SECOND;
/// Packets that were on their way when an SA ended, or when an exchange began, arrive within this, and so does an answer that nothing has
/// to be computed for: a round trip, and a busy host's scheduling.
pub const ON_ITS_WAY: i64 = NANOS_PER_SECOND;
/// Reason of an unanswered request: its receiver sends no ESP either.
pub const PEER_SILENT: &str = "peer_silent";
/// Reason of an unanswered request: its receiver sends ESP meanwhile.
pub const PEER_SENDS_ESP: &str = "peer_sends_esp";
/// Most frames kept of an attempt.
pub(super) const MOST_FRAMES: usize = 20;

/// An attempt, in the words of the tables it was found in.
#[derive(Debug, Clone)]
pub struct AttemptSeen {
    /// Tunnel.
    pub tunnel: TunnelIndex,
    /// The exchange.
    pub exchange: usize,
    /// The side that asked.
    pub initiator: Option<IpAddr>,
    /// First message.
    pub first_time: Timestamp,
    /// Last message.
    pub last_time: Timestamp,
    /// Messages.
    pub messages: u64,
    /// Copies of the request.
    pub transmissions: u64,
    /// Times of the copies of the request.
    pub requests: Vec<Timestamp>,
    /// Time of the first answer.
    pub answered: Option<Timestamp>,
    /// Sender, frame and time of the refusal.
    pub refused: Option<Notice>,
    /// Outcome of the attempt.
    pub outcome: AttemptOutcome,
    /// Why, in a word.
    pub reason: Option<&'static str>,
    /// Frames that show it, at most [`MOST_FRAMES`].
    pub frames: Vec<u64>,
}

impl AttemptSeen {
    /// Times of the repeats of the first message before the answer came.
    pub fn repeats_before_answer(&self) -> impl Iterator<Item = Timestamp> {
        let answered = self.answered;
        let copies = self.requests.iter().skip(1).copied();
        copies.take_while(move |time| answered.is_some_and(|answered| *time <= answered))
    }

    /// The request was answered in the end, but only after so many copies that the wait is the fault.
    pub fn answered_late(&self) -> bool {
        self.answered.is_some() && self.transmissions >= LEAST_NOT_BY_CHANCE
    }
}
