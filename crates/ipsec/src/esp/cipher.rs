//! ESP transforms at work: one packet at a time, or many.

mod aead;
mod decrypt;
mod hmac;
mod integrity;
mod keyed;
mod many;
mod parts;
mod whole;

pub(crate) use integrity::Xcbc;
pub use keyed::EspCipher;
pub use many::{Check, verify_many};
pub use parts::{Icv, Opened, wipe_deep_stack, wipe_stack};
pub(crate) use whole::{decrypt, open_combined};

#[cfg(test)]
mod tests;
