//! Datagrams and keys → SAs, exchanges and rekeys.
//!
//! ```text
//! datagram ─┬─ ike: messages → exchanges ─┐
//!           └─ esp: packets ─ sa: keys ───┴─→ rekey: which SA follows which, and why
//! ```
//!
//! - [`ike`]: IKEv1 (RFC 2409) and IKEv2 (RFC 7296): reading, decrypting, the timeline of exchanges, keys that follow from them.
//! - [`esp`]: ESP (RFC 4303): ICVs many at a time, decryption, what is inside.
//! - [`sa`]: security associations and tunnels; a key is a claim until packets prove it.
//! - [`rekey`]: **where a rekey is recognised** ([`rekey::detect`]) and what triggered it ([`rekey::trigger`]).
//! - [`overhead`]: bytes that a suite and its carriers add to a packet.

pub mod esp;
pub mod ike;
pub mod overhead;
pub mod rekey;
pub mod sa;
