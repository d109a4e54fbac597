//! ESP packets (RFC 4303): ciphers, integrity, and what is inside.

pub mod cipher;
pub mod inner;

#[cfg(test)]
mod lab_test;
