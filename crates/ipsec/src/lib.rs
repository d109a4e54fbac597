//! ipsec

pub mod esp;
pub mod ike;
pub mod overhead;
pub mod rekey;
pub mod sa;
