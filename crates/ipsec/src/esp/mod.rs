//! ESP packets (RFC 4303): ciphers, integrity, and what is inside.

pub mod cipher;
pub mod header;
pub mod inner;
pub mod null;
pub mod sequence;

#[cfg(test)]
mod tshark_test;
