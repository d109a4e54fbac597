//! The capture once more, as a pcapng file: with its decrypted packets ([`inner`]), or with comments ([`annotate`]). Both
//! need what the whole analysis found out, so they read the capture a second time.

pub mod annotate;
pub mod copies;
pub mod export;
pub mod inner;
pub mod key_ring;
mod unseal;

pub use unseal::{TakePacket, Unsealed, Unsealer};
