//! The instructions of x86-64.

#[macro_use]
mod lanes;
mod aes_ni;
mod avx2;
mod avx512;
mod chacha20;
mod fetch;
mod ghash;
mod poly1305;
mod sha_ni;

pub use aes_ni::AesNi;
pub use avx2::Avx2;
pub use avx512::Avx512;
pub use fetch::fetch_behind;
pub use ghash::WideGhash;
pub use sha_ni::ShaNi;
