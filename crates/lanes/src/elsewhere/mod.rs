//! What only other processors have.

#[macro_use]
mod none;
#[cfg(not(target_arch = "wasm32"))]
mod wasm32;
#[cfg(not(target_arch = "x86_64"))]
mod x86_64;

#[cfg(not(target_arch = "wasm32"))]
pub use wasm32::Simd128;
#[cfg(not(target_arch = "x86_64"))]
pub use x86_64::{AesNi, Avx2, Avx512, ShaNi, WideGhash, fetch_behind};
