//! Poly1305 by AVX2.

use crate::Avx2;
use crate::tests::text;
use cipher::KeyInit;
use hex_literal::hex;
use poly1305::Poly1305;
use poly1305::universal_hash::UniversalHash;
use proptest::prelude::*;

fn by_library(key: &[u8; 32], first: [u8; 16], text: &[u8], last: [u8; 16]) -> [u8; 16] {
    let mut poly = Poly1305::new(key.into());
    poly.update(&[first.into()]);
    poly.update_padded(text);
    poly.update(&[last.into()]);
    poly.finalize().into()
}

/// RFC 8439 §2.8.2: additional data of 12 bytes, 114 bytes of ciphertext, their lengths.
#[test]
fn poly1305_rfc8439() {
    let Some(avx2) = Avx2::detect() else {
        return println!("skipped: poly1305_rfc8439, this processor has no AVX2");
    };
    let key = hex!("7bac2b252db447af09b67a55a4e955840ae1d6731075d9eb2a9375783ed553ff");
    let first = hex!("50515253c0c1c2c3c4c5c6c700000000");
    let text = hex!(
        "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
        "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
        "3ff4def08e4b7a9de576d26586cec64b6116"
    );
    let last = hex!("0c000000000000007200000000000000");
    assert_eq!(
        avx2.poly1305(&key, first, &text, last),
        hex!("1ae10b594f09e26a7e902ecbd0600691")
    );
}

/// Every number of blocks, whole and not; also of bytes that make the largest numbers.
#[test]
fn poly1305_as_by_the_library() {
    let Some(avx2) = Avx2::detect() else {
        return println!("skipped: poly1305_as_by_the_library, this processor has no AVX2");
    };
    proptest!(|(key: [u8; 32], first: [u8; 16], last: [u8; 16], mut text in text(400), full: bool)| {
        if full {
            text.fill(0xff);
        }
        for len in 0..=text.len() {
            let text = &text[..len];
            let ours = avx2.poly1305(&key, first, text, last);
            prop_assert_eq!(ours, by_library(&key, first, text, last), "{} bytes", len);
        }
    });
}

/// Sums of blocks at the modulus and just beside it: r is 1, and the blocks are close to 2¹²⁸ (as in RFC 8439 appendix A.3).
#[test]
fn poly1305_at_the_modulus() {
    let Some(avx2) = Avx2::detect() else {
        return println!("skipped: poly1305_at_the_modulus, this processor has no AVX2");
    };
    let mut key = [0; 32];
    key[0] = 1;
    let near = |below: u128| (u128::MAX - below).to_le_bytes();
    for first in 0..8 {
        for text in [vec![], near(0).to_vec(), vec![0xff; 32], vec![0; 16]] {
            for last in (0..8).map(near).chain((0..8_u128).map(u128::to_le_bytes)) {
                let ours = avx2.poly1305(&key, near(first), &text, last);
                assert_eq!(
                    ours,
                    by_library(&key, near(first), &text, last),
                    "{first} {text:?} {last:?}"
                );
            }
        }
    }
}
