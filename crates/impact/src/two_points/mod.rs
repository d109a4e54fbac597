//! One tunnel captured at two points: what was lost between them and what it took.
//!
//! - **What is the same packet**: destination, SPI and sequence number; of an extended sequence number (RFC 4303 §2.2.1) only the lower half is on the
//!   wire, so numbers are counted through their wraps in capture order, and two captures that begin on different sides of a wrap are shifted to where they
//!   overlap. Where a NAT changed the destination in between, SPI and number must do: then the SPI has to be the only one of its kind on both sides. Copies
//!   count once, at their first sighting. IKE messages are the same where cookie, message ID and every byte are.
//! - **Order**: of packets a → b the difference of the two times is *offset + delay* where this point comes first, and *offset − delay* where it comes
//!   second; b → a is the opposite. So the direction with the greater differences passes this point first. Nothing has to be known of the clocks.
//!   Where packets of one direction only were seen, the TTL or hop limit of the same packets tells: it is larger at the first point. It tells nothing of the clocks.
//! - **Clock**: the offset lies under every difference of the packets that come here first, and above every one of the others. Of the straight lines
//!   between the two clouds that one is taken which lies closest to both: the linear program of Moon, Skelly and Towsley (Estimation and removal of clock
//!   skew from network delay measurements, INFOCOM 1999), here with one slope for both directions. Its optimum is found on the lower hull of one cloud and
//!   the upper hull of the other. The gap between the clouds is the shortest round trip: the offset is known up to half of it, because nothing tells how it
//!   divides into the two ways (Paxson, On calibrating measurements of packet transit times, SIGMETRICS 1998). With one direction alone only the variation of the
//!   delay can be told.
//! - **Loss**: seen at the first point and not at the second, within the time that both captures cover, less the longest delay at both ends. Missing at both
//!   is what the gaps in the sequence numbers of both together give. A capture that dropped a packet cannot be told from a path that did: the report says so.

mod clock;
mod compare;
mod lane;
mod messages;
mod numbers;
mod rekey_loss;
#[cfg(test)]
mod tests;
mod trace;

pub use compare::two_points;
pub use rekey_loss::RekeyAt;
pub use trace::{PointMessage, PointPacket, PointSa, PointTrace};
