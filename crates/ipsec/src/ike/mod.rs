//! IKE messages → exchanges. IKEv1: RFC 2407, 2408, 2409. IKEv2: RFC 7296.
//!
//! ```text
//!                            ┌─ ikev1 → phase1 (decrypt) → reading (proof) → contents, quick ─┐
//! message → header → payload ┤                                                                ├→ exchange → timeline → derive
//!                            └─ ikev2 → ikev2_keys → sealed (decrypt) → ikev2_contents ───────┘
//! ```
//!
//! [`timeline::Timeline`] is the door; the rest serves it.

mod contents;
mod context;
mod crypto;
mod derive;
pub mod exchange;
mod exchange_type;
mod fragment;
mod header;
mod ikev1;
mod ikev2;
mod ikev2_contents;
mod ikev2_keys;
mod nat;
mod notify;
pub mod opening;
pub mod outline;
mod payload;
mod phase1;
mod prf;
pub mod proven;
mod quick;
mod reading;
mod sealed;
mod state;
pub mod timeline;
mod transform;

#[cfg(test)]
mod lab;
#[cfg(test)]
mod scenario;
