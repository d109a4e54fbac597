//! Types without values, so that what is asked of them needs no code.

use crate::hash::{LaneHash, Messages, States};

/// A type without values.
macro_rules! none {
    ($(#[$derive:meta])? $name:ident) => {
        /// Instructions that this processor does not have.
        $(#[$derive])?
        pub enum $name {}
    };
}

none!(
    #[derive(Debug, Clone, Copy, PartialEq)]
    Avx2
);

impl Avx2 {
    /// `None`.
    pub fn detect() -> Option<Self> {
        None
    }

    /// No value can ask.
    pub fn gains(self, _: LaneHash) -> bool {
        match self {}
    }

    /// No value can ask.
    pub fn compress(self, _: LaneHash, _: &mut States, _: &Messages<'_>, _: usize) {
        match self {}
    }

    /// ChaCha20.
    pub fn chacha20(self, _: &[[u32; 16]; 4]) -> [[u8; 64]; 4] {
        match self {}
    }

    /// Poly1305.
    pub fn poly1305(self, _: &[u8; 32], _: [u8; 16], _: &[u8], _: [u8; 16]) -> [u8; 16] {
        match self {}
    }
}

none!(WideGhash);

impl WideGhash {
    /// `None`.
    pub fn new(_: [u8; 16]) -> Option<Self> {
        None
    }

    /// GHASH.
    pub fn hash(&self, _: [u8; 16], _: &[u8], _: [u8; 16]) -> [u8; 16] {
        match *self {}
    }
}

/// Does nothing: this processor's prefetch is not used.
#[inline]
pub fn fetch_behind(_: &[u8]) {}
