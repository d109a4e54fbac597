//! Where every second of a transfer went: packets of its connections and what is known of the tunnel → labels. Pure arithmetic.
//!
//! ```text
//! packet, connection   a packet, with what the tracker of `traffic` says of it; a connection, whose packets are gone over in pieces
//! half       one direction of a connection: how long data and acknowledgements take, the shift of the window where no
//!            handshake says it, and the packets of the piece
//! capacity   what the path can carry: C; how near to it the transfer is at every packet
//! times      what counts as at once, as a pause, as a timeout
//! sweep      the packets of a half in order of time → one step per wait for a data packet: the rules; what is known of the sender,
//!            its rounds, the receiver's window; all steps, and why something was sent again (track)
//! flow       what is measured on the way: round trips, the window, the data in flight
//! carried, fold   what stays of a direction between two pieces, and how the pieces of all connections are gone over
//! overlay    the label of every step; holes of the capture
//! total      several connections → stretches of one direction (join), the lines of the account (sums), what is drawn (strip)
//! whole      the account: what the ledger says of rekeys and failures, and the other labels
//! ```
//!
//! A wait is the time from one data packet to the next; it ends with that packet's new bytes. Whether a byte is new, was sent again or
//! late, and what acknowledged it, is the tracker's to say. The sender of the sweep is another view of it: it has heard what an
//! acknowledgement says d2 after that passed the capture, when the data that it releases passes.
//!
//! A capture is gone over in pieces ([`fold`]), so that memory does not grow with it: a piece's packets become steps, which know
//! nothing of rekeys yet. At the end rekeys, failures and holes are laid over all steps at once.

mod capacity;
mod carried;
mod connection;
mod flow;
mod fold;
mod half;
#[cfg(test)]
mod made_up;
mod overlay;
mod packet;
mod surroundings;
mod sweep;
#[cfg(test)]
mod tests;
mod times;
mod total;
mod whole;

pub use connection::AccountConnection;
pub use fold::fold;
pub use packet::AccountPacket;
pub use surroundings::{AccountSettings, Death, Surroundings};
pub use whole::{LabelledDirection, label};
