//! GHASH by VPCLMULQDQ.

use crate::WideGhash;
use crate::tests::text;
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use hex_literal::hex;
use proptest::prelude::*;

/// RFC 8452 appendix A, and the ciphertext and the lengths of test case 2 of the GCM specification.
#[test]
fn ghash_vectors() {
    let vectors = [
        (
            hex!("25629347589242761d31f826ba4b757b"),
            hex!("4f4f95668c83dfb6401762bb2d01a262"),
            hex!("d1a24ddd2721d006bbe45f20d3c9f362"),
            hex!("bd9b3997046731fb96251b91f9c99d7a"),
        ),
        (
            hex!("66e94bd4ef8a2c3b884cfa59ca342b2e"),
            hex!("0388dace60b6a392f328c2b971b2fe78"),
            hex!("00000000000000000000000000000080"),
            hex!("f38cbb1ad69223dcc3457ae5b6b0f885"),
        ),
    ];
    for (key, first, last, hash) in vectors {
        let Some(wide) = WideGhash::new(key) else {
            return println!("skipped: ghash_vectors, this processor has no VPCLMULQDQ");
        };
        assert_eq!(wide.hash(first, &[], last), hash);
    }
}

/// Every number of blocks, whole and not.
#[test]
fn ghash_as_by_the_library() {
    if WideGhash::new([0; 16]).is_none() {
        return println!("skipped: ghash_as_by_the_library, this processor has no VPCLMULQDQ");
    }
    proptest!(|(key: [u8; 16], first: [u8; 16], last: [u8; 16], text in text(600))| {
        let wide = WideGhash::new(key).unwrap();
        for len in 0..=text.len() {
            let text = &text[..len];
            let mut library = GHash::new(&key.into());
            library.update(&[first.into()]);
            library.update_padded(text);
            library.update(&[last.into()]);
            prop_assert_eq!(wide.hash(first, text, last), <[u8; 16]>::from(library.finalize()), "{} bytes", len);
        }
    });
}
