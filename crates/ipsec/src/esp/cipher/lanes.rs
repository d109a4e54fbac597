//! Many messages at once, one in each lane of a vector register, and what else needs the processor's special instructions.
//!
//! A round of a hash waits for the one before it, so a single message leaves most of a core idle. Nothing here knows about
//! HMAC: refilling the lanes and padding are in `hmac`.

// The one place in the crate: vector loads and stores take pointers, and a function compiled for certain instructions may be
// called only where the processor has them. Both are wrapped here in functions that cannot be misused.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod rounds;
#[cfg(target_arch = "x86_64")]
mod aes_ni;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod chacha20;
mod fetch;
#[cfg(target_arch = "x86_64")]
mod ghash;
#[cfg(target_arch = "x86_64")]
mod poly1305;
#[cfg(target_arch = "x86_64")]
mod sha_ni;
mod state;

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere;

#[cfg(not(target_arch = "x86_64"))]
pub(super) use elsewhere::{AesNi, Avx2, Avx512, ShaNi, WideGhash};
pub use fetch::fetch_behind;
#[cfg(test)]
pub(super) use state::Messages;
pub(super) use state::{Block, Chain, Compress, LaneHash, States};
#[cfg(target_arch = "x86_64")]
pub(super) use {aes_ni::AesNi, avx2::Avx2, avx512::Avx512, ghash::WideGhash, sha_ni::ShaNi};
