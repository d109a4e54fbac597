//! The names that Wireshark, kernels and IKE daemons give to the transforms.

use crate::algorithm::{Encryption, Integrity};

const GCM_16: Encryption = Encryption::AesGcm { icv: 16 };

/// Letters and digits of each known name, in lower case, without what stands in square brackets.
const ENCRYPTIONS: &[(&str, Encryption)] = &[
    ("null", Encryption::Null),
    ("ciphernull", Encryption::Null),
    ("ecbciphernull", Encryption::Null),
    ("aes", Encryption::AesCbc),
    ("aescbc", Encryption::AesCbc),
    ("cbcaes", Encryption::AesCbc),
    ("aes128", Encryption::AesCbc),
    ("aes192", Encryption::AesCbc),
    ("aes256", Encryption::AesCbc),
    ("aes128cbc", Encryption::AesCbc),
    ("aes192cbc", Encryption::AesCbc),
    ("aes256cbc", Encryption::AesCbc),
    ("rijndael", Encryption::AesCbc),
    ("rijndaelcbc", Encryption::AesCbc),
    ("aesctr", Encryption::AesCtr),
    ("rfc3686ctraes", Encryption::AesCtr),
    ("aesgcm", GCM_16),
    ("aesgcm8", Encryption::AesGcm { icv: 8 }),
    ("aesgcm12", Encryption::AesGcm { icv: 12 }),
    ("aesgcm16", GCM_16),
    ("aesgcmwith8octeticv", Encryption::AesGcm { icv: 8 }),
    ("aesgcmwith12octeticv", Encryption::AesGcm { icv: 12 }),
    ("aesgcmwith16octeticv", GCM_16),
    ("rfc4106gcmaes", GCM_16),
    ("aesccm8", Encryption::AesCcm { icv: 8 }),
    ("aesccm12", Encryption::AesCcm { icv: 12 }),
    ("aesccm16", Encryption::AesCcm { icv: 16 }),
    ("rfc4309ccmaes", Encryption::AesCcm { icv: 16 }),
    ("nullaesgmac", Encryption::AesGmac),
    ("aesgmac", Encryption::AesGmac),
    ("rfc4543gcmaes", Encryption::AesGmac),
    ("aesccm8iiv", Encryption::AesCcm8Iiv),
    ("aesgcm16iiv", Encryption::AesGcm16Iiv),
    ("chacha20poly1305iiv", Encryption::ChaCha20Poly1305Iiv),
    ("chacha20poly1305", Encryption::ChaCha20Poly1305),
    ("chacha20withpoly1305", Encryption::ChaCha20Poly1305),
    ("rfc7539espchacha20poly1305", Encryption::ChaCha20Poly1305),
    ("tripledescbc", Encryption::TripleDesCbc),
    ("3des", Encryption::TripleDesCbc),
    ("3descbc", Encryption::TripleDesCbc),
    ("des3", Encryption::TripleDesCbc),
    ("cbcdes3ede", Encryption::TripleDesCbc),
    ("des", Encryption::DesCbc),
    ("descbc", Encryption::DesCbc),
    ("cbcdes", Encryption::DesCbc),
    ("camellia", Encryption::CamelliaCbc),
    ("camelliacbc", Encryption::CamelliaCbc),
    ("cbccamellia", Encryption::CamelliaCbc),
];

/// As [`ENCRYPTIONS`].
const INTEGRITIES: &[(&str, Integrity)] = &[
    ("null", Integrity::None),
    ("none", Integrity::None),
    ("digestnull", Integrity::None),
    ("md5", Integrity::HmacMd5_96),
    ("hmacmd5", Integrity::HmacMd5_96),
    ("hmacmd596", Integrity::HmacMd5_96),
    ("hmacmd5128", Integrity::HmacMd5_128),
    ("hmacsha1160", Integrity::HmacSha1_160),
    ("sha1", Integrity::HmacSha1_96),
    ("hmacsha", Integrity::HmacSha1_96),
    ("hmacsha1", Integrity::HmacSha1_96),
    ("hmacsha196", Integrity::HmacSha1_96),
    ("hmacsha256", Integrity::HmacSha256_128),
    ("sha256", Integrity::HmacSha256_128),
    ("hmacsha2256", Integrity::HmacSha256_128),
    ("hmacsha25696", Integrity::HmacSha256_96),
    ("hmacsha225696", Integrity::HmacSha256_96),
    ("hmacsha256128", Integrity::HmacSha256_128),
    ("hmacsha2256128", Integrity::HmacSha256_128),
    ("sha384", Integrity::HmacSha384_192),
    ("hmacsha384", Integrity::HmacSha384_192),
    ("hmacsha2384", Integrity::HmacSha384_192),
    ("hmacsha384192", Integrity::HmacSha384_192),
    ("hmacsha2384192", Integrity::HmacSha384_192),
    ("sha512", Integrity::HmacSha512_256),
    ("hmacsha512", Integrity::HmacSha512_256),
    ("hmacsha2512", Integrity::HmacSha512_256),
    ("hmacsha512256", Integrity::HmacSha512_256),
    ("hmacsha2512256", Integrity::HmacSha512_256),
    ("aesxcbc", Integrity::AesXcbc96),
    ("aesxcbcmac", Integrity::AesXcbc96),
    ("aesxcbcmac96", Integrity::AesXcbc96),
    ("aesxcbc96", Integrity::AesXcbc96),
    ("xcbcaes", Integrity::AesXcbc96),
    ("aescmac", Integrity::AesCmac96),
    ("aescmac96", Integrity::AesCmac96),
    ("cmacaes", Integrity::AesCmac96),
];

/// Whether a name with square brackets has only its start considered: `AES-CBC [RFC3602]` is `aescbc`.
fn letters(name: &[u8]) -> String {
    let end = memchr::memchr(b'[', name).unwrap_or(name.len());
    let name = name.get(..end).unwrap_or(name);
    name.iter()
        .filter(|b| b.is_ascii_alphanumeric())
        .map(|b| char::from(b.to_ascii_lowercase()))
        .collect()
}

fn lookup<T: Copy>(table: &[(&str, T)], name: &[u8]) -> Option<T> {
    let letters = letters(name);
    table
        .iter()
        .find(|(known, _)| *known == letters)
        .map(|(_, value)| *value)
}

/// The encryption transform of that name.
pub(super) fn encryption(name: &[u8]) -> Option<Encryption> {
    lookup(ENCRYPTIONS, name)
}

/// The integrity transform of that name.
pub(super) fn integrity(name: &[u8]) -> Option<Integrity> {
    lookup(INTEGRITIES, name)
}

/// A combined-mode transform whose ICV length stands beside its name, in bits.
pub(super) fn with_icv_bits(encryption: Encryption, bits: u32) -> Encryption {
    let icv = match bits {
        64 => 8,
        96 => 12,
        _ => 16,
    };
    match encryption {
        Encryption::AesGcm { .. } => Encryption::AesGcm { icv },
        Encryption::AesCcm { .. } => Encryption::AesCcm { icv },
        other => other,
    }
}

/// Whether `len` bytes are a key of the transform, salt included.
pub(super) fn fits_encryption(encryption: Encryption, len: usize) -> bool {
    encryption
        .key_lens()
        .iter()
        .any(|key| key + encryption.salt_len() == len)
}

/// Ciphers to try where a file names none, the most usual first.
const USUAL_ENCRYPTIONS: [Encryption; 12] = [
    Encryption::AesCbc,
    GCM_16,
    Encryption::TripleDesCbc,
    Encryption::ChaCha20Poly1305,
    Encryption::AesGcm { icv: 12 },
    Encryption::AesGcm { icv: 8 },
    Encryption::AesCcm { icv: 16 },
    Encryption::AesCcm { icv: 8 },
    Encryption::AesCtr,
    Encryption::CamelliaCbc,
    Encryption::DesCbc,
    Encryption::Null,
];

/// Integrity transforms to try where a file names none, the most usual first.
const USUAL_INTEGRITIES: [Integrity; 8] = [
    Integrity::HmacSha1_96,
    Integrity::HmacSha256_128,
    Integrity::HmacMd5_96,
    Integrity::HmacSha384_192,
    Integrity::HmacSha512_256,
    Integrity::HmacSha256_96,
    Integrity::AesXcbc96,
    Integrity::AesCmac96,
];

/// Length of the encryption key at the start of `len` bytes that hold one SA's whole KEYMAT (RFC 2409 §5.5: the
/// encryption key comes first). `None` when the length fits no pair of transforms.
pub(super) fn keymat_encryption_len(
    len: usize,
    encryption: Option<Encryption>,
    integrity: Option<Integrity>,
) -> Option<usize> {
    if let Some(aead) = encryption.filter(|e| e.is_aead()) {
        return fits_encryption(aead, len).then_some(len);
    }
    let integrities: &[Integrity] = match &integrity {
        Some(named) => std::slice::from_ref(named),
        None => &[Integrity::HmacSha1_96, Integrity::HmacSha256_128],
    };
    integrities
        .iter()
        .filter(|i| **i != Integrity::None)
        .find_map(|i| {
            let rest = len.checked_sub(i.key_len())?;
            fits_encryption(encryption.unwrap_or(Encryption::AesCbc), rest).then_some(rest)
        })
}

/// Every pair of transforms that the given names admit and the key lengths fit.
pub(super) fn plausible(
    encryption: Option<Encryption>,
    encryption_len: usize,
    integrity: Option<Integrity>,
    integrity_len: usize,
) -> Vec<(Encryption, Integrity)> {
    let encryptions: Vec<Encryption> = match encryption {
        Some(named) => vec![named],
        None => USUAL_ENCRYPTIONS
            .into_iter()
            .filter(|e| fits_encryption(*e, encryption_len))
            .collect(),
    };
    let integrities: Vec<Integrity> = match integrity {
        Some(named) => vec![named],
        None if integrity_len == 0 => vec![Integrity::None],
        None => USUAL_INTEGRITIES
            .into_iter()
            .filter(|i| i.key_len() == integrity_len)
            .collect(),
    };
    let pairs = encryptions
        .iter()
        .flat_map(|e| integrities.iter().map(|i| (*e, *i)));
    pairs
        .filter(|(e, i)| !e.is_aead() || *i == Integrity::None)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_source() {
        for name in ["AES-CBC [RFC3602]", "AES_CBC", "cbc(aes)", "aes-cbc"] {
            assert_eq!(encryption(name.as_bytes()), Some(Encryption::AesCbc), "{name}");
        }
        assert_eq!(
            encryption(b"AES-GCM with 12 octet ICV [RFC4106]"),
            Some(Encryption::AesGcm { icv: 12 })
        );
        assert_eq!(encryption(b"CAST5-CBC [RFC2144]"), None);
        assert_eq!(
            integrity(b"HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]"),
            Some(Integrity::HmacSha256_96)
        );
        assert_eq!(integrity(b"HMAC_SHA2_256_128"), Some(Integrity::HmacSha256_128));
    }

    /// As charon prints them: `using NAME for encryption`, `using NAME for integrity`.
    #[test]
    fn names_of_charon() {
        for (name, transform) in [
            ("AES_CBC", Encryption::AesCbc),
            ("AES_CTR", Encryption::AesCtr),
            ("AES_GCM_8", Encryption::AesGcm { icv: 8 }),
            ("AES_GCM_12", Encryption::AesGcm { icv: 12 }),
            ("AES_GCM_16", GCM_16),
            ("AES_CCM_8", Encryption::AesCcm { icv: 8 }),
            ("AES_CCM_12", Encryption::AesCcm { icv: 12 }),
            ("AES_CCM_16", Encryption::AesCcm { icv: 16 }),
            ("CHACHA20_POLY1305", Encryption::ChaCha20Poly1305),
            ("NULL_AES_GMAC", Encryption::AesGmac),
            ("CAMELLIA_CBC", Encryption::CamelliaCbc),
            ("3DES_CBC", Encryption::TripleDesCbc),
            ("DES_CBC", Encryption::DesCbc),
            ("NULL", Encryption::Null),
        ] {
            assert_eq!(encryption(name.as_bytes()), Some(transform), "{name}");
        }
        for (name, transform) in [
            ("HMAC_MD5_96", Integrity::HmacMd5_96),
            ("HMAC_SHA1_96", Integrity::HmacSha1_96),
            ("HMAC_SHA1_160 [RFC4595]", Integrity::HmacSha1_160),
            ("HMAC_MD5_128 [RFC4595]", Integrity::HmacMd5_128),
            ("HMAC_SHA2_256_96", Integrity::HmacSha256_96),
            ("HMAC_SHA2_256_128", Integrity::HmacSha256_128),
            ("HMAC_SHA2_384_192", Integrity::HmacSha384_192),
            ("HMAC_SHA2_512_256", Integrity::HmacSha512_256),
            ("AES_XCBC_96", Integrity::AesXcbc96),
            ("AES_CMAC_96", Integrity::AesCmac96),
        ] {
            assert_eq!(integrity(name.as_bytes()), Some(transform), "{name}");
        }
    }

    #[test]
    fn a_name_stands_once() {
        let known = |name: &str| INTEGRITIES.iter().filter(|(n, _)| *n == name).count();
        assert!(INTEGRITIES.iter().all(|(name, _)| known(name) == 1));
    }

    #[test]
    fn lengths_decide_where_names_are_missing() {
        assert_eq!(
            plausible(None, 16, None, 20),
            [
                (Encryption::AesCbc, Integrity::HmacSha1_96),
                (Encryption::CamelliaCbc, Integrity::HmacSha1_96),
            ]
        );
        assert_eq!(
            plausible(None, 20, None, 0).first(),
            Some(&(GCM_16, Integrity::None))
        );
        assert_eq!(plausible(None, 15, None, 20), []);
    }
}
