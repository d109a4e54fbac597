//! IKE messages → exchanges. IKEv1: RFC 2407, 2408, 2409. IKEv2: RFC 7296.
//!
//! ```text
//!                            ┌─ ikev1 → phase1 (decrypt) → reading (proof) → contents ─┐
//! message → header → payload ┤                                                         ├→ exchange → timeline
//!                            └─ ikev2 ─────────────────────────────────────────────────┘
//! ```
//!
//! [`timeline::Timeline`] is the door; the rest serves it.

mod attribute;
mod contents;
mod crypto;
pub mod exchange;
mod header;
mod ikev1;
mod ikev2;
mod nat;
mod notify;
mod payload;
mod phase1;
mod quick;
mod reading;
pub mod timeline;
mod transform;

#[cfg(test)]
mod lab;
