//! The hashes and block ciphers of IKE. Names and numbers: RFC 2409 Appendix A, RFC 4868, the IANA registries
//! "Internet Key Exchange (IKE) Attributes".

use hmac::{Hmac, KeyInit, Mac};
use rekeyscope_model::algorithm::Encryption;
use sha2::Digest;
use zeroize::Zeroizing;

/// A hash function; as HMAC it is also the prf of IKEv1 (RFC 2409 §4) and of IKEv2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// All of them, the usual ones first.
    pub(super) const ALL: [Hash; 5] = [Hash::Sha1, Hash::Sha256, Hash::Md5, Hash::Sha384, Hash::Sha512];

    /// By the Hash Algorithm attribute of phase 1.
    pub(super) fn from_ikev1(id: u64) -> Option<Hash> {
        Some(match id {
            1 => Hash::Md5,
            2 => Hash::Sha1,
            4 => Hash::Sha256,
            5 => Hash::Sha384,
            6 => Hash::Sha512,
            _ => return None,
        })
    }

    /// The hash with outputs of `len` bytes, which is also the length of the SKEYIDs that it makes.
    pub(super) fn from_len(len: usize) -> Option<Hash> {
        Hash::ALL.into_iter().find(|h| h.len() == len)
    }

    /// Bytes of output.
    pub(super) fn len(self) -> usize {
        match self {
            Hash::Md5 => 16,
            Hash::Sha1 => 20,
            Hash::Sha256 => 32,
            Hash::Sha384 => 48,
            Hash::Sha512 => 64,
        }
    }

    /// The plain hash of `parts`, one after the other.
    pub(super) fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        let digest = match self {
            Hash::Md5 => digest_of::<md5::Md5>,
            Hash::Sha1 => digest_of::<sha1::Sha1>,
            Hash::Sha256 => digest_of::<sha2::Sha256>,
            Hash::Sha384 => digest_of::<sha2::Sha384>,
            Hash::Sha512 => digest_of::<sha2::Sha512>,
        };
        digest(parts)
    }

    /// HMAC (RFC 2104) over `parts`: the prf.
    pub(super) fn prf(self, key: &[u8], parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
        let mac = match self {
            Hash::Md5 => mac_of::<Hmac<md5::Md5>>,
            Hash::Sha1 => mac_of::<Hmac<sha1::Sha1>>,
            Hash::Sha256 => mac_of::<Hmac<sha2::Sha256>>,
            Hash::Sha384 => mac_of::<Hmac<sha2::Sha384>>,
            Hash::Sha512 => mac_of::<Hmac<sha2::Sha512>>,
        };
        mac(key, parts)
    }
}

fn digest_of<H: Digest>(parts: &[&[u8]]) -> Vec<u8> {
    let mut hash = H::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().to_vec()
}

/// The MAC over `parts`; empty for a key of a length that the MAC does not take. HMAC takes every one (RFC 2104 §3).
pub(super) fn mac_of<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else {
        return Zeroizing::new(Vec::new());
    };
    parts.iter().for_each(|part| mac.update(part));
    Zeroizing::new(mac.finalize().into_bytes().to_vec())
}

/// The ciphers of IKEv1, in CBC mode, the usual ones first.
pub(super) const PHASE_1_CIPHERS: [Encryption; 4] = [
    Encryption::AesCbc,
    Encryption::TripleDesCbc,
    Encryption::CamelliaCbc,
    Encryption::DesCbc,
];

/// By the Encryption Algorithm attribute of phase 1.
pub(super) fn phase_1_cipher(id: u64) -> Option<Encryption> {
    Some(match id {
        1 => Encryption::DesCbc,
        5 => Encryption::TripleDesCbc,
        7 => Encryption::AesCbc,
        8 => Encryption::CamelliaCbc,
        _ => return None,
    })
}

/// The encryption key that phase 1 uses, from SKEYID_e (RFC 2409 Appendix B): its first bytes, or, when it is too
/// short, K1 | K2 | … with K1 = prf(SKEYID_e, 0) and Ki = prf(SKEYID_e, Ki-1).
pub(super) fn phase1_key(hash: Hash, skeyid_e: &[u8], len: usize) -> Zeroizing<Vec<u8>> {
    if let Some(key) = skeyid_e.get(..len) {
        return Zeroizing::new(key.to_vec());
    }
    chained(len, |before| match before {
        [] => hash.prf(skeyid_e, &[&[0]]),
        _ => hash.prf(skeyid_e, &[before]),
    })
}

/// KEYMAT of one IPsec SA (RFC 2409 §5.5): K1 = prf(SKEYID_d, seed), Ki = prf(SKEYID_d, Ki-1 | seed), where
/// seed = [g(qm)^xy |] protocol | SPI | Ni_b | Nr_b.
pub(super) fn keymat(hash: Hash, skeyid_d: &[u8], seed: &[&[u8]], len: usize) -> Zeroizing<Vec<u8>> {
    chained(len, |before| hash.prf(skeyid_d, &[&[before], seed].concat()))
}

/// The first `len` bytes of a chain of blocks that `next` makes, each from the one before, the first from none.
pub(super) fn chained(len: usize, mut next: impl FnMut(&[u8]) -> Zeroizing<Vec<u8>>) -> Zeroizing<Vec<u8>> {
    /// Bytes of the longest block: a vector that grew would leave a copy of the key behind.
    const LONGEST: usize = 64;
    let mut chain = Zeroizing::new(Vec::with_capacity(len + LONGEST));
    let mut block = Zeroizing::new(Vec::new());
    while chain.len() < len {
        block = next(&block);
        chain.extend_from_slice(&block);
    }
    chain.truncate(len);
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// The vector of a published pluto log: SKEYID_e and the key it expanded to.
    #[test]
    fn expands_skeyid_e_to_longer_keys() {
        let skeyid_e = hex!("b01681215f16202303186d2814dc5686ca5a4733");
        let long = hex!("449e829ea966d421fbcb86bd7ad92e865abab15baa5c672a 3054cd41eed91da1");
        assert_eq!(*phase1_key(Hash::Sha1, &skeyid_e, 24), long[..24]);
        assert_eq!(*phase1_key(Hash::Sha1, &skeyid_e, 32), long);
        assert_eq!(*phase1_key(Hash::Sha1, &skeyid_e, 16), skeyid_e[..16]);
    }

    /// RFC 2202 test case 2 and RFC 4231 test case 2: key "Jefe".
    #[test]
    fn prf_is_hmac() {
        let message: &[&[u8]] = &[b"what do ya want ", b"for nothing?"];
        assert_eq!(
            *Hash::Md5.prf(b"Jefe", message),
            hex!("750c783e6ab0b503eaa86e310a5db738")
        );
        assert_eq!(
            *Hash::Sha1.prf(b"Jefe", message),
            hex!("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
        );
        assert_eq!(
            *Hash::Sha256.prf(b"Jefe", message),
            hex!("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        );
        assert_eq!(
            *Hash::Sha384.prf(b"Jefe", message),
            hex!(
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
                "8e2240ca5e69e2c78b3239ecfab21649"
            )
        );
        assert_eq!(
            *Hash::Sha512.prf(b"Jefe", message),
            hex!(
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
            )
        );
    }

    #[test]
    fn keymat_iterates_and_cuts() {
        let seed: &[&[u8]] = &[&[3], &[1, 2, 3, 4], b"ni", b"nr"];
        let long = keymat(Hash::Sha1, b"d", seed, 50);
        assert_eq!(long.len(), 50);
        assert_eq!(long[..36], *keymat(Hash::Sha1, b"d", seed, 36));
        assert_eq!(long[..20], *Hash::Sha1.prf(b"d", seed));
        assert_eq!(
            long[20..40],
            *Hash::Sha1.prf(b"d", &[&long[..20], &[3, 1, 2, 3, 4], b"ninr"])
        );
    }
}
