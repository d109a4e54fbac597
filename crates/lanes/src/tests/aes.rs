//! AES by AES-NI.

use crate::AesNi;
use cbc::Decryptor;
use cipher::array::Array;
use cipher::consts::U16;
use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockSizeUser, InnerIvInit, KeyInit};
use hex_literal::hex;
use proptest::prelude::*;

/// The same key for both ways.
fn both(key: &[u8]) -> Option<(AesNi<false>, AesNi<true>)> {
    Some((AesNi::new(key)?, AesNi::new(key)?))
}

/// FIPS 197 appendix C. CBC of one block with an IV of zeros is the block alone.
#[test]
fn aes_fips197() {
    let key: [u8; 32] = std::array::from_fn(|i| i as u8);
    let plain = hex!("00112233445566778899aabbccddeeff");
    let vectors = [
        (16, hex!("69c4e0d86a7b0430d8cdb78070b4c55a")),
        (24, hex!("dda97ca4864cdfe06eaf70a0ec0d7191")),
        (32, hex!("8ea2b7ca516745bfeafc49904b496089")),
    ];
    for (key_len, ciphertext) in vectors {
        let Some((encrypts, decrypts)) = both(&key[..key_len]) else {
            return println!("skipped: aes_fips197, this processor has no AES-NI");
        };
        let mut block = plain;
        encrypts.encrypt_block((&mut block).into());
        assert_eq!(block, ciphertext);
        let mut blocks = [block];
        decrypts.cbc(&[0; 16], &mut blocks);
        assert_eq!(blocks, [plain]);
    }
}

/// Any number of blocks, whatever the length of the key: the same as by RustCrypto.
#[test]
fn aes_as_by_the_library() {
    if both(&[0; 16]).is_none() {
        return println!("skipped: aes_as_by_the_library, this processor has no AES-NI");
    }
    proptest!(|(
        key: [u8; 32],
        key_len in prop::sample::select(vec![16, 24, 32]),
        iv: [u8; 16],
        text in prop::collection::vec(any::<[u8; 16]>(), 0..40),
    )| {
        let key = &key[..key_len];
        let (encrypts, decrypts) = both(key).unwrap();
        let mut encrypted = text.clone();
        encrypts.encrypt_blocks(Array::cast_slice_from_core_mut(&mut encrypted));
        let mut decrypted = text.clone();
        decrypts.cbc(&iv, &mut decrypted);
        let library = match key_len {
            16 => by_library::<aes::Aes128>(key, iv, &text),
            24 => by_library::<aes::Aes192>(key, iv, &text),
            _ => by_library::<aes::Aes256>(key, iv, &text),
        };
        prop_assert_eq!((encrypted, decrypted), library);
    });
}

/// The blocks each encrypted, and all decrypted as CBC.
fn by_library<C>(key: &[u8], iv: [u8; 16], text: &[[u8; 16]]) -> (Vec<[u8; 16]>, Vec<[u8; 16]>)
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>,
{
    let cipher = C::new_from_slice(key).unwrap();
    let mut encrypted = text.to_vec();
    for block in &mut encrypted {
        cipher.encrypt_block(block.into());
    }
    let mut decrypted = text.to_vec();
    Decryptor::inner_iv_init(cipher, &iv.into())
        .decrypt_blocks(Array::cast_slice_from_core_mut(&mut decrypted));
    (encrypted, decrypted)
}

#[test]
fn aes_ni_takes_keys_of_aes_only() {
    for len in (0..40).filter(|len| ![16, 24, 32].contains(len)) {
        assert!(both(&vec![1; len]).is_none(), "{len}");
    }
}
