//! The instructions of WebAssembly. A module that has them runs nowhere else, so nobody is asked at run time.

mod simd128;

pub use simd128::Simd128;
