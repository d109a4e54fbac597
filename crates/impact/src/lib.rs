//! What rekeys cost, why, and where every second of a transfer went. Pure arithmetic; nothing here reads a packet.
//!
//! ```text
//! ledger      what rekeys and failures cost, from arrived bytes: the one book that every figure of a cost is read from
//! verdict     the ledger of a direction → shown, some, bounded or inconclusive, with its sentence; other lifetimes
//! account     where every second of a transfer went, from the packets of its connections
//! explain     what explains a time without delivery: one table of causes
//! tell        accounts, failures and two points in words; numbers for people
//! compare     several captures against each other
//! two_points  one tunnel captured at two points: losses between them, delays, clocks
//! ```
//!
//! **Where it is decided that a rekey hurt**: `ledger/ownership.rs`; what it cost: `ledger/price.rs`; what the verdict is:
//! `verdict/judge.rs`.

pub mod account;
pub mod compare;
pub mod explain;
pub mod ledger;
pub mod tell;
pub mod two_points;
pub mod verdict;
