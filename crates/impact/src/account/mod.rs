//! Where every second of a transfer went: packets of its connections and what is known of the tunnel → labels. Pure arithmetic.
//!
//! ```text
//! packet     what is kept of a packet; a connection
//! half       one direction of a connection: data, acknowledgements, delays
//! capacity   what the path can carry: C; how near to it the transfer is at every packet
//! times      what counts as at once, as a pause, as a timeout
//! sweep      data and acknowledgements in order of time → one label per wait for a data packet
//! episode    why something was sent again
//! overlay    waits that rekeys, failures and holes of the capture explain
//! join       several connections → stretches of one direction
//! sums       stretches → the account
//! ```
//!
//! A wait is the time from one data packet to the next; it ends with that packet's new bytes. Acknowledgements act when the data
//! that they release passes: d2 after they were seen.

mod capacity;
mod episode;
mod half;
mod join;
mod overlay;
mod packet;
mod sums;
mod surroundings;
mod sweep;
#[cfg(test)]
mod tests;
mod times;

pub use packet::{AccountConnection, AccountPacket, Syn};
pub use sums::account;
pub use surroundings::{AccountSettings, Death, DownSpan, RekeyWindow, Surroundings};
