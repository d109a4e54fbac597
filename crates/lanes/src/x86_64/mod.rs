//! The instructions of x86-64.

mod aes_ni;
mod avx2;
mod chacha20;
mod fetch;
mod ghash;
mod poly1305;
mod rounds;

pub use aes_ni::AesNi;
pub use avx2::Avx2;
pub use fetch::fetch_behind;
pub use ghash::WideGhash;
