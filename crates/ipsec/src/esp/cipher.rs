//! ESP transforms at work: one packet at a time, or many.

mod aead;
mod decrypt;
mod hmac_sha1;
mod integrity;
mod keyed;
mod lanes;
mod many;
mod outcome;
mod parts;
mod sha1_lanes;

pub use keyed::EspCipher;
pub use many::{Check, verify_many};
pub use outcome::{Icv, KeyLengthError, OpenError, Opened};

#[cfg(test)]
mod tests;
