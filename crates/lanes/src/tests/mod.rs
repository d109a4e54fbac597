//! Every way against the vectors of its standard and against RustCrypto. A test says `skipped: …` for what the processor lacks.

mod aes;
mod chacha20;
mod ghash;
mod hashes;
mod poly1305;

use proptest::prelude::*;

/// Up to so many bytes.
fn text(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..longest)
}
