//! One walker over everything that encloses a packet: link layers, tunnels, mirror headers. `framing` goes from a
//! frame to the packet that carries IPsec, `esp::inner` from the next header of ESP to the transport header; a layer
//! is read the same way for both.
//!
//! [`Walk::next`] leads to the next IP header, or to where no tunnel leads on. It is a loop, not a recursion: layers can enclose
//! one another in a circle, which ends at [`MAX_DEPTH`] or [`walk::MOST_HEADERS`].

pub mod deflate;
mod ethernet;
mod icmp;
pub mod ip;
mod l2tp;
mod layer;
mod plausible;
mod ppp;
mod tunnel;
pub mod udp;
mod walk;

pub use icmp::IcmpError;
pub use l2tp::l2tp_control;
pub use layer::{Control, Layers};
pub use layer::{Found, Layer, Place, Stop};
#[cfg(test)]
pub(crate) use walk::MOST_HEADERS;
pub use walk::{MAX_DEPTH, Walk};
