//! Stretches in which nothing was delivered between two inner addresses, found from delivery and never from rekeys.
//!
//! A candidate lies between two transmissions of a direction that arrived, and is longer than a few round trips. What was sent in it in
//! vain says whether it was an outage, a loss that waited for its timer, or rest. Times are those of the data, not of the
//! acknowledgements, so that a receiver that is slow to acknowledge makes no outage.

mod backoff;
mod candidate;
mod delivery;
mod echoes;
mod hidden;
mod judge;
mod large;
mod late;
mod outages;
mod unread;

pub use echoes::EchoesInVain;
pub use judge::{LEAST_REST, three_take, window_takes};
pub use late::{LatePackets, REPLAY_WINDOWS};
pub use outages::Outages;
pub use unread::{LEAST_ANSWERED, LEAST_IN_LOOK, LOOK, MOST_PER_ANSWER};
