//! Hashes and ciphers by the special instructions of a processor, behind functions that are safe to call.
//!
//! A round of a hash waits for the round before it, so a single message leaves most of a core idle. A vector register holds the states of
//! many messages side by side, one in each lane, and one instruction then does the same step of all of them. One message alone fills the
//! lanes of AES and ChaCha20, whose blocks do not wait for one another, and those of GHASH and Poly1305, which multiply several blocks by
//! several powers of their key. The crate knows hash states, blocks, keys and bytes, and no protocol.
//!
//! | type | instructions | what it does |
//! |---|---|---|
//! | [`Avx512`] | AVX-512 F and BW | SHA-1 and SHA-256 of sixteen messages ([`Compress`]) |
//! | [`Avx2`] | AVX2 | SHA-1 and SHA-256 of eight messages, four blocks of ChaCha20, Poly1305 |
//! | [`ShaNi`] | SHA-NI | SHA-256 of two messages |
//! | [`WideGhash`] | VPCLMULQDQ | GHASH |
//! | [`AesNi`] | AES-NI and AVX | AES: blocks, and CBC decryption |
//! | [`Simd128`] | simd128 of WebAssembly | SHA-1 and SHA-256 of four messages |
//!
//! [`fetch_behind`] asks for memory that is wanted soon.
//!
//! # How a caller uses it
//!
//! `Avx512::detect` and its like, and `AesNi::new` and `WideGhash::new`, ask the processor at run time and give `None` where it lacks the
//! instructions. A caller has another way for that case, such as the crates of RustCrypto; both ways give the same bytes. What another kind of
//! processor has always says `None`: there the types have no values, and what stands behind them compiles to nothing.
//!
//! # Example
//!
//! Sixteen texts of two blocks each are to be hashed with SHA-1. `Avx512::detect` gives the lanes. Word w of the state in lane l stands in
//! `states[w][l]`, and the caller sets every lane to `LaneHash::Sha1.initial()`. It cuts each text into blocks, the padding of FIPS 180-4
//! §5.1 included, and calls `compress` with the sixteen slices of blocks and two steps. The first five words of each lane, as big-endian
//! bytes, are then the digest of its text. Texts of different lengths take several calls, each with as many steps as the shortest of them
//! has blocks left; a lane that is done takes the next text.
//!
//! # Why it is safe
//!
//! - `unsafe` code stands in the module `x86_64` alone. Every block has a comment that says why it is sound.
//! - A function that is compiled for certain instructions may be called only where the processor has them. A value of one of the types
//!   above is the proof of it: its fields are private, and its only maker has found the instructions. Each such call takes a value, or
//!   stands in the maker, behind the question.
//! - Vector loads and stores take pointers. Each stands in a function whose argument is a reference to an array of just as many bytes, and
//!   none of them asks for an alignment.
//! - The rounds of SHA-1 and SHA-256 are written once for vectors of any width, so that tests with AVX2 also try the rounds of AVX-512.

#![warn(clippy::undocumented_unsafe_blocks)]

#[macro_use]
mod hash;

// The workspace denies unsafe code; this module is the exception.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86_64;

#[cfg(target_arch = "wasm32")]
mod wasm32;

mod elsewhere;

pub use elsewhere::*;
pub use hash::{Block, Chain, Compress, LaneHash, Messages, States};
#[cfg(target_arch = "wasm32")]
pub use wasm32::Simd128;
#[cfg(target_arch = "x86_64")]
pub use x86_64::{AesNi, Avx2, Avx512, ShaNi, WideGhash, fetch_behind};

#[cfg(test)]
mod tests;
