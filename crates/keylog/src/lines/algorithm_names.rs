//! Transforms as far as a key log leaves them open: ICV lengths that stand apart, where KEYMAT divides, and what the lengths of
//! the keys admit where no name stands. The names are in [`rekeyscope_model::algorithm`].

use rekeyscope_model::algorithm::{Encryption, Integrity};

/// The cipher of a name that also tells the length of the key, or of the ICV: `aes-128-cbc`, `aes-cbc-128`, `AES_CBC_128`, `aes128-cbc-hmac96`.
pub(crate) fn encryption(name: &[u8]) -> Option<Encryption> {
    let name = name.strip_suffix(b"-hmac96").unwrap_or(name);
    let without_length = || {
        [&b"128"[..], b"192", b"256"].iter().find_map(|bits| {
            let at = memchr::memmem::find(name, bits)?;
            Encryption::named(&[name.get(..at)?, name.get(at + bits.len()..)?].concat())
        })
    };
    // tcpdump's word for NULL.
    let none = (name == b"none").then_some(Encryption::Null);
    Encryption::named(name).or(none).or_else(without_length)
}

/// The integrity transform of a name that may lack `HMAC`, or have it at its end: `sha1-96`, `sha1-hmac`, `SHA2-256-128`.
pub(crate) fn integrity(name: &[u8]) -> Option<Integrity> {
    let with_hmac = |name: &[u8]| Integrity::named(&[b"hmac-", name].concat());
    let hash = name.strip_suffix(b"-hmac").unwrap_or(name);
    Integrity::named(name).or_else(|| with_hmac(hash))
}

/// A combined-mode transform whose ICV length stands beside its name, in bits.
pub(crate) fn with_icv_bits(encryption: Encryption, bits: u32) -> Encryption {
    encryption.with_icv(match bits {
        64 => 8,
        96 => 12,
        _ => 16,
    })
}

/// Tells whether `len` bytes are a key of the transform, salt included.
pub(crate) fn fits_encryption(encryption: Encryption, len: usize) -> bool {
    encryption
        .key_lens()
        .iter()
        .any(|key| key + encryption.salt_len() == len)
}

/// Length of the encryption key at the start of `len` bytes that hold one SA's whole KEYMAT (RFC 2409 §5.5: the
/// encryption key comes first). `None` when the length fits no pair of transforms.
pub(crate) fn keymat_encryption_len(
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
pub(crate) fn plausible(
    encryption: Option<Encryption>,
    encryption_len: usize,
    integrity: Option<Integrity>,
    integrity_len: usize,
) -> Vec<(Encryption, Integrity)> {
    let encryptions: Vec<Encryption> = match encryption {
        Some(named) => vec![named],
        None => Encryption::rows()
            .filter(|row| row.guessed && fits_encryption(row.encryption, encryption_len))
            .map(|row| row.encryption)
            .collect(),
    };
    let integrities: Vec<Integrity> = match integrity {
        Some(named) => vec![named],
        None if integrity_len == 0 => vec![Integrity::None],
        None => Integrity::rows()
            .filter(|row| row.guessed && row.key_len == integrity_len)
            .map(|row| row.integrity)
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

    const GCM_16: Encryption = Encryption::AesGcm { icv: 16 };

    #[test]
    fn names_of_every_source() {
        for name in ["AES-CBC [RFC3602]", "AES_CBC", "cbc(aes)", "aes-cbc"] {
            assert_eq!(
                Encryption::named(name.as_bytes()),
                Some(Encryption::AesCbc),
                "{name}"
            );
        }
        assert_eq!(
            Encryption::named(b"AES-GCM with 12 octet ICV [RFC4106]"),
            Some(Encryption::AesGcm { icv: 12 })
        );
        assert_eq!(Encryption::named(b"CAST5-CBC [RFC2144]"), None);
        assert_eq!(
            Integrity::named(b"HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]"),
            Some(Integrity::HmacSha256_96)
        );
        assert_eq!(
            Integrity::named(b"HMAC_SHA2_256_128"),
            Some(Integrity::HmacSha256_128)
        );
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
            assert_eq!(Encryption::named(name.as_bytes()), Some(transform), "{name}");
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
            assert_eq!(Integrity::named(name.as_bytes()), Some(transform), "{name}");
        }
    }

    #[test]
    fn a_name_stands_once() {
        for row in Encryption::rows() {
            let named = |name: &str| Encryption::named(name.as_bytes()) == Some(row.encryption);
            assert!(row.spellings().all(named), "{}", row.name);
        }
        for row in Integrity::rows() {
            let named = |name: &str| Integrity::named(name.as_bytes()) == Some(row.integrity);
            assert!(row.spellings().all(named), "{}", row.name);
        }
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
