//! ChaCha20 by AVX2.

use crate::Avx2;
use ::chacha20::ChaCha20;
use cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use hex_literal::hex;
use proptest::prelude::*;

/// Constants, key, counter, nonce (RFC 8439 §2.3).
fn state(key: [u8; 32], counter: u32, nonce: [u8; 12]) -> [u32; 16] {
    let bytes = [&b"expand 32-byte k"[..], &key, &counter.to_le_bytes(), &nonce].concat();
    let words = bytes.as_chunks::<4>().0;
    std::array::from_fn(|i| u32::from_le_bytes(words[i]))
}

/// RFC 8439 §2.3.2, in each of the four places.
#[test]
fn chacha20_rfc8439() {
    let Some(avx2) = Avx2::detect() else {
        return println!("skipped: chacha20_rfc8439, this processor has no AVX2");
    };
    let key = std::array::from_fn(|i| i as u8);
    let of_the_rfc = state(key, 1, hex!("000000090000004a00000000"));
    let block = hex!(
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2"
        "b5129cd1de164eb9cbd083e8a2503c4e"
    );
    for place in 0..4 {
        let mut states = [[0; 16]; 4];
        states[place] = of_the_rfc;
        assert_eq!(avx2.chacha20(&states)[place], block, "{place}");
    }
}

/// Four blocks that have nothing in common: the same as by RustCrypto.
#[test]
fn chacha20_as_by_the_library() {
    let Some(avx2) = Avx2::detect() else {
        return println!("skipped: chacha20_as_by_the_library, this processor has no AVX2");
    };
    proptest!(|(inputs: [([u8; 32], u32, [u8; 12]); 4])| {
        let blocks = avx2.chacha20(&inputs.map(|(key, counter, nonce)| state(key, counter, nonce)));
        for (block, (key, counter, nonce)) in blocks.into_iter().zip(inputs) {
            let mut stream = ChaCha20::new(&key.into(), &nonce.into());
            stream.seek(64 * u64::from(counter));
            let mut library = [0; 64];
            stream.apply_keystream(&mut library);
            prop_assert_eq!(block, library);
        }
    });
}
