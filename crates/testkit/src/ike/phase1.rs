//! The transforms of phase 1 and the keys made of them (RFC 2409 §5, Appendix B).

use crate::esp::Suite;
use hmac::{Hmac, KeyInit, Mac};
use rekeyscope_model::algorithm::Encryption;
use sha2::Digest;

/// A hash, of which the prf is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA2-256.
    Sha256,
}

impl Hash {
    /// Bytes of its result.
    pub fn digest_len(self) -> usize {
        match self {
            Hash::Md5 => 16,
            Hash::Sha1 => 20,
            Hash::Sha256 => 32,
        }
    }

    /// The hash of these parts.
    pub fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        let whole = parts.concat();
        match self {
            Hash::Md5 => md5::Md5::digest(&whole).to_vec(),
            Hash::Sha1 => sha1::Sha1::digest(&whole).to_vec(),
            Hash::Sha256 => sha2::Sha256::digest(&whole).to_vec(),
        }
    }

    /// Its HMAC over these parts.
    pub fn prf(self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        fn prf<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
            let mut mac = <M as KeyInit>::new_from_slice(key).unwrap();
            mac.update(message);
            mac.finalize().into_bytes().to_vec()
        }
        let whole = parts.concat();
        match self {
            Hash::Md5 => prf::<Hmac<md5::Md5>>(key, &whole),
            Hash::Sha1 => prf::<Hmac<sha1::Sha1>>(key, &whole),
            Hash::Sha256 => prf::<Hmac<sha2::Sha256>>(key, &whole),
        }
    }
}

/// A transform of phase 1: cipher, its key's length, hash.
#[derive(Debug, Clone, Copy)]
pub struct Phase1(pub Encryption, pub usize, pub Hash);

/// Phase-1 transforms: AES-128/SHA-1, AES-256/SHA-1 (expanded key), 3DES/MD5, AES-256/SHA-256.
pub const PHASE_1: [Phase1; 4] = [
    Phase1(Encryption::AesCbc, 16, Hash::Sha1),
    Phase1(Encryption::AesCbc, 32, Hash::Sha1),
    Phase1(Encryption::TripleDesCbc, 24, Hash::Md5),
    Phase1(Encryption::AesCbc, 32, Hash::Sha256),
];

impl Phase1 {
    /// SKEYID_d, SKEYID_a, SKEYID_e: counted up.
    pub fn skeyids(self) -> [Vec<u8>; 3] {
        let secret = |n: u8| (0..self.2.digest_len() as u8).map(|i| i * 7 + n).collect();
        [1, 2, 3].map(secret)
    }

    /// The cipher with the key of phase 1: SKEYID_e's first bytes, or, when it is too short, K1 | K2 | … with K1 =
    /// prf(SKEYID_e, 0) and Ki = prf(SKEYID_e, Ki-1).
    pub(crate) fn cipher(self) -> Suite {
        let Phase1(encryption, len, hash) = self;
        let [_, _, skeyid_e] = self.skeyids();
        let mut key = skeyid_e.clone();
        if key.len() < len {
            key.clear();
            let mut block = vec![0];
            while key.len() < len {
                block = hash.prf(&skeyid_e, &[&block]);
                key.extend(&block);
            }
        }
        key.truncate(len);
        Suite::cipher(encryption, key)
    }
}
