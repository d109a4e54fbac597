//! Where every second of a transfer went: packets of its connections and what is known of the tunnel → labels. Pure arithmetic.
//!
//! ```text
//! packet, connection    what is kept of a packet; a connection
//! reading, data         its packets → data and acknowledgements of one direction
//! delays, scale, half   how long they take; the shift of the window; all that is known of the direction
//! capacity              what the path can carry: C; how near to it the transfer is at every packet
//! times                 what counts as at once, as a pause, as a timeout
//! sweep, step           data and acknowledgements in order of time → one label per wait for a data packet
//!   sender, rounds, receiver   what is known of the sender and its flights, of the receiver's window
//! episode               why something was sent again
//! track                 the steps of a direction; short ones that are alike become one
//! carried               what stays when packets are forgotten
//! overlay               steps that rekeys, failures and holes of the capture explain
//! join                  several connections → stretches of one direction
//! sums, strip, whole    stretches → the lines of the account, what is drawn, the account
//! ```
//!
//! A wait is the time from one data packet to the next; it ends with that packet's new bytes. Acknowledgements act when the data
//! that they release passes: d2 after they were seen.
//!
//! A capture is gone over in pieces ([`fold`]), so that memory does not grow with it: a piece's packets become steps, which know
//! nothing of rekeys yet. At the end rekeys, failures and holes are laid over all steps at once.

mod capacity;
mod carried;
mod connection;
mod data;
mod delays;
mod episode;
mod half;
mod join;
mod overlay;
mod packet;
mod reading;
mod receiver;
mod rounds;
mod scale;
mod sender;
mod step;
mod strip;
mod sums;
mod surroundings;
mod sweep;
#[cfg(test)]
mod tests;
mod times;
mod track;
mod whole;

pub use connection::{AccountConnection, fold};
pub use packet::{AccountPacket, Syn};
pub use surroundings::{AccountSettings, Death, DownSpan, RekeyWindow, Surroundings};
pub use whole::account;
