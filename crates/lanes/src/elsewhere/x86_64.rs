//! The types of x86-64, without values.

use crate::hash::{Compress, LaneHash, Messages, States};
use cipher::consts::U16;
use cipher::{BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser};

no_lanes!(Avx512, 16);
no_lanes!(Avx2, 8);
no_lanes!(ShaNi, 2);

impl Avx2 {
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

none!(AesNi<DECRYPTS>);

impl<const DECRYPTS: bool> AesNi<DECRYPTS> {
    /// `None`.
    pub fn new(_: &[u8]) -> Option<Self> {
        None
    }
}

impl AesNi<true> {
    /// CBC.
    pub fn cbc(&self, _: &[u8; 16], _: &mut [[u8; 16]]) {
        match *self {}
    }
}

impl BlockSizeUser for AesNi<false> {
    type BlockSize = U16;
}

impl BlockCipherEncrypt for AesNi<false> {
    fn encrypt_with_backend(&self, _: impl BlockCipherEncClosure<BlockSize = U16>) {
        match *self {}
    }
}

/// Does nothing: this processor's prefetch is not used.
#[inline]
pub fn fetch_behind(_: &[u8]) {}
