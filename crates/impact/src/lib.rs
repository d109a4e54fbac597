//! Cost of rekeys, the reasons for it, and an account of every second of a transfer. Pure arithmetic; nothing here reads a packet.
//!
//! ```text
//! ledger      what rekeys and failures cost, from arrived bytes: the one book that every figure of a cost is read from
//! verdict     the ledger of a direction → shown, some, bounded or inconclusive, with its sentence; other lifetimes
//! account     where every second of a transfer went, from the packets of its connections
//! explain     what explains a time without delivery: one table of causes
//! answer      what an answer speaks of, chosen once
//! tell        accounts, failures and two points in words; numbers for people
//! compare     several captures against each other
//! two_points  one tunnel captured at two points: losses between them, delays, clocks
//! ```
//!
//! **Places of decisions**: that a rekey hurt is decided in `ledger/ownership.rs`; its cost in `ledger/price.rs`; the verdict in
//! `verdict/judge.rs`.

pub mod account;
pub mod answer;
pub mod compare;
pub mod explain;
pub mod ledger;
pub mod tell;
pub mod two_points;
pub mod verdict;
