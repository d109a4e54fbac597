//! Attempts to make or renew SAs, whatever became of them. A rekey that fails leaves no succession of SAs: it shows in the
//! messages, and in what does not follow them.
//!
//! - [`outcome`]: the outcome of an exchange; [`ike_sa`]: that of an exchange that makes or renews an IKE SA.
//! - [`dead`]: checks of the peer that stay without an answer.

mod dead;
mod find;
mod ike_sa;
mod outcome;
mod seen;
mod tables;
#[cfg(test)]
mod tests;

pub use dead::{UnansweredCheck, unanswered_checks};
pub use find::attempts;
pub use seen::{AttemptSeen, FIRST_REPEAT_NANOS, ON_ITS_WAY, PEER_SENDS_ESP, PEER_SILENT};
