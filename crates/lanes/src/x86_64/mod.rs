//! The instructions of x86-64.

mod avx2;
mod chacha20;
mod fetch;
mod ghash;
mod poly1305;
mod rounds;

pub use avx2::Avx2;
pub use fetch::fetch_behind;
pub use ghash::WideGhash;
