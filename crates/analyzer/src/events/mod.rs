//! What the control plane and the path did, over the whole capture: one file for each source.
//!
//! - [`requests`]: refused, unanswered, answered late, and answers that were lost.
//! - [`ike_sas`]: IKE SAs that begin, replace each other, or say that they are the first.
//! - [`deletes`]: what was deleted, by whom, and whether something stood in its place.
//! - [`collisions`]: both sides renewed at once.
//! - [`moves`]: an end of a tunnel has another address, or another port, or sends from another one than that which is asked.
//! - [`one_sided`]: an SA that its sender goes on with though its receiver deleted or left it.
//! - [`turns`]: SAs for two inner networks that end each other.
//! - [`other_tunnels`]: one direction of a tunnel comes through another one.
//! - [`checks`]: a peer that does not answer whether it is alive, or does not know an SPI.
//! - [`fragments`]: IKE messages, and ESP packets, of which a part is missing.
//! - [`inner_control`]: L2TP and PPP take their leave, or ask in vain, as pings from end to end do.
//! - [`sas`]: numbers that new SAs begin with, limits that were reached.
//! - [`silences`]: everything silent, holes of the capture, one side's ESP, one SA.
//! - [`unreachable`]: ICMP errors about packets of IPsec.
//!
//! [`list`] puts them together; an attempt and its repeats are one event.

mod checks;
mod collisions;
mod deletes;
mod fragments;
mod ike_sas;
mod inner_control;
mod list;
mod moves;
mod one_sided;
mod other_tunnels;
mod reconnections;
mod requests;
mod sas;
mod silences;
mod sources;
mod standing;
mod turns;
mod unreachable;

pub(crate) use list::{EventList, events};
pub(crate) use other_tunnels::replaced;
pub(crate) use reconnections::{Reconnection, reconnections};
pub(crate) use sources::EventSources;
