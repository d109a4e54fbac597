//! Other processors have no lanes: there is no value of these types.

use crate::esp::cipher::lanes::state::{Compress, LaneHash, Messages, States};
use cipher::consts::U16;
use cipher::{BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser};

/// A type without values.
macro_rules! none {
    ($name:ident<$way:ident>) => {
        pub(in crate::esp::cipher) enum $name<const $way: bool> {}
    };
    ($name:ident) => {
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub(in crate::esp::cipher) enum $name {}
    };
    ($name:ident, $lanes:literal) => {
        none!($name);

        impl $name {
            pub(in crate::esp::cipher) fn detect() -> Option<Self> {
                None
            }
        }

        impl Compress<$lanes> for $name {
            fn compress(self, _: LaneHash, _: &mut States<$lanes>, _: &Messages<'_, $lanes>, _: usize) {
                match self {}
            }
        }
    };
}

none!(Avx512, 16);
none!(Avx2, 8);
none!(ShaNi, 2);
none!(WideGhash);
none!(AesNi<DECRYPTS>);

impl<const DECRYPTS: bool> AesNi<DECRYPTS> {
    pub(in crate::esp::cipher) fn new(_: &[u8]) -> Option<Self> {
        None
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

impl AesNi<true> {
    pub(in crate::esp::cipher) fn cbc(&self, _: &[u8; 16], _: &mut [[u8; 16]]) {
        match *self {}
    }
}

impl WideGhash {
    pub(in crate::esp::cipher) fn new(_: [u8; 16]) -> Option<Self> {
        None
    }

    pub(in crate::esp::cipher) fn hash(&self, _: [u8; 16], _: &[u8], _: [u8; 16]) -> [u8; 16] {
        match *self {}
    }
}

impl Avx2 {
    pub(in crate::esp::cipher) fn chacha20(self, _: &[[u32; 16]; 4]) -> [[u8; 64]; 4] {
        match self {}
    }

    pub(in crate::esp::cipher) fn poly1305(
        self,
        _: &[u8; 32],
        _: [u8; 16],
        _: &[u8],
        _: [u8; 16],
    ) -> [u8; 16] {
        match self {}
    }
}
