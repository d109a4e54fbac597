//! Names of the ESP transforms, shared by IKE (which negotiates them), key logs (which give their keys) and ESP
//! (which runs them). Numbers: IANA "IKEv2 Transform Type 1/3" and the ISAKMP registries.

use std::fmt;

/// An ESP encryption transform, without its key length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encryption {
    /// NULL (RFC 2410).
    Null,
    /// AES-CBC (RFC 3602).
    AesCbc,
    /// AES-CTR (RFC 3686); the key carries a 4-byte nonce at its end.
    AesCtr,
    /// AES-GCM (RFC 4106) with an ICV of 8, 12 or 16 bytes; the key carries a 4-byte salt at its end.
    AesGcm {
        /// ICV length in bytes: 8, 12 or 16.
        icv: u8,
    },
    /// AES-CCM (RFC 4309) with an ICV of 8, 12 or 16 bytes; the key carries a 3-byte salt at its end.
    AesCcm {
        /// ICV length in bytes: 8, 12 or 16.
        icv: u8,
    },
    /// AES-GMAC (RFC 4543): integrity only; the key carries a 4-byte salt at its end.
    AesGmac,
    /// ChaCha20-Poly1305 (RFC 7634); the 32-byte key carries a 4-byte salt at its end.
    ChaCha20Poly1305,
    /// 3DES-CBC (RFC 2451).
    TripleDesCbc,
    /// DES-CBC (RFC 2405).
    DesCbc,
    /// Camellia-CBC (RFC 4312).
    CamelliaCbc,
    /// AES-CCM-8 with an implicit IV (RFC 8750, transform 29).
    AesCcm8Iiv,
    /// AES-GCM-16 with an implicit IV (RFC 8750, transform 30).
    AesGcm16Iiv,
    /// ChaCha20-Poly1305 with an implicit IV (RFC 8750, transform 31).
    ChaCha20Poly1305Iiv,
}

/// An ESP integrity transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Integrity {
    /// None: an AEAD does both, or there is no ICV at all.
    None,
    /// HMAC-MD5-96 (RFC 2403), 16-byte key.
    HmacMd5_96,
    /// HMAC-SHA-1-96 (RFC 2404), 20-byte key.
    HmacSha1_96,
    /// HMAC-SHA-256 cut to 96 bits (draft-ietf-ipsec-ciph-sha-256-00; old Linux kernels), 32-byte key.
    HmacSha256_96,
    /// HMAC-SHA-256-128 (RFC 4868), 32-byte key.
    HmacSha256_128,
    /// HMAC-SHA-384-192 (RFC 4868), 48-byte key.
    HmacSha384_192,
    /// HMAC-SHA-512-256 (RFC 4868), 64-byte key.
    HmacSha512_256,
    /// AES-XCBC-MAC-96 (RFC 3566), 16-byte key.
    AesXcbc96,
    /// AES-CMAC-96 (RFC 4494), 16-byte key.
    AesCmac96,
    /// HMAC-MD5-128 (RFC 4595, IKEv2 transform 6), 16-byte key.
    HmacMd5_128,
    /// HMAC-SHA-1-160 (RFC 4595, IKEv2 transform 7), 20-byte key.
    HmacSha1_160,
    /// Some transform with an ICV of this many bytes, whose key is not known: nothing is checked (`tcpdump -E`, Wireshark's
    /// "ANY … authentication").
    Unknown {
        /// Bytes of ICV.
        icv: u8,
    },
}

impl Encryption {
    /// The same transform with its IV in each packet, where this one has an implicit one (RFC 8750); else itself.
    #[must_use]
    pub fn with_explicit_iv(self) -> Encryption {
        match self {
            Encryption::AesCcm8Iiv => Encryption::AesCcm { icv: 8 },
            Encryption::AesGcm16Iiv => Encryption::AesGcm { icv: 16 },
            Encryption::ChaCha20Poly1305Iiv => Encryption::ChaCha20Poly1305,
            explicit => explicit,
        }
    }

    /// The form with an implicit IV, where RFC 8750 defines one.
    pub fn with_implicit_iv(self) -> Option<Encryption> {
        match self {
            Encryption::AesCcm { icv: 8 } => Some(Encryption::AesCcm8Iiv),
            Encryption::AesGcm { icv: 16 } => Some(Encryption::AesGcm16Iiv),
            Encryption::ChaCha20Poly1305 => Some(Encryption::ChaCha20Poly1305Iiv),
            _ => None,
        }
    }

    /// True where the transform carries its own integrity (RFC 4303 "combined mode").
    pub fn is_aead(self) -> bool {
        matches!(
            self.with_explicit_iv(),
            Encryption::AesGcm { .. }
                | Encryption::AesCcm { .. }
                | Encryption::AesGmac
                | Encryption::ChaCha20Poly1305
        )
    }

    /// Bytes of salt or nonce at the end of the key material.
    pub fn salt_len(self) -> usize {
        match self.with_explicit_iv() {
            Encryption::AesCtr
            | Encryption::AesGcm { .. }
            | Encryption::AesGmac
            | Encryption::ChaCha20Poly1305 => 4,
            Encryption::AesCcm { .. } => 3,
            _ => 0,
        }
    }

    /// Explicit IV bytes in each packet.
    pub fn iv_len(self) -> usize {
        match self {
            Encryption::Null
            | Encryption::AesCcm8Iiv
            | Encryption::AesGcm16Iiv
            | Encryption::ChaCha20Poly1305Iiv => 0,
            Encryption::AesCbc | Encryption::CamelliaCbc => 16,
            _ => 8,
        }
    }

    /// Cipher block in bytes to which the plaintext is padded (1 for stream modes; ESP itself asks for 4).
    pub fn block_len(self) -> usize {
        match self {
            Encryption::AesCbc | Encryption::CamelliaCbc => 16,
            Encryption::TripleDesCbc | Encryption::DesCbc => 8,
            _ => 1,
        }
    }

    /// Key lengths in bytes that the transform takes, without salt.
    pub fn key_lens(self) -> &'static [usize] {
        match self {
            Encryption::Null => &[0],
            Encryption::TripleDesCbc => &[24],
            Encryption::DesCbc => &[8],
            Encryption::ChaCha20Poly1305 | Encryption::ChaCha20Poly1305Iiv => &[32],
            _ => &[16, 24, 32],
        }
    }
}

impl Integrity {
    /// Key length in bytes.
    pub fn key_len(self) -> usize {
        match self {
            Integrity::None | Integrity::Unknown { .. } => 0,
            Integrity::HmacMd5_96 | Integrity::HmacMd5_128 | Integrity::AesXcbc96 | Integrity::AesCmac96 => {
                16
            }
            Integrity::HmacSha1_96 | Integrity::HmacSha1_160 => 20,
            Integrity::HmacSha256_96 | Integrity::HmacSha256_128 => 32,
            Integrity::HmacSha384_192 => 48,
            Integrity::HmacSha512_256 => 64,
        }
    }

    /// ICV length in bytes (0 for [`Integrity::None`]).
    pub fn icv_len(self) -> usize {
        match self {
            Integrity::None => 0,
            Integrity::Unknown { icv } => usize::from(icv),
            Integrity::HmacSha256_128 | Integrity::HmacMd5_128 => 16,
            Integrity::HmacSha1_160 => 20,
            Integrity::HmacSha384_192 => 24,
            Integrity::HmacSha512_256 => 32,
            _ => 12,
        }
    }
}

/// The name without key length: `AES-CBC`, `AES-GCM-16`.
impl fmt::Display for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Encryption::Null => f.write_str("NULL"),
            Encryption::AesCbc => f.write_str("AES-CBC"),
            Encryption::AesCtr => f.write_str("AES-CTR"),
            Encryption::AesGcm { icv } => write!(f, "AES-GCM-{icv}"),
            Encryption::AesCcm { icv } => write!(f, "AES-CCM-{icv}"),
            Encryption::AesGmac => f.write_str("AES-GMAC"),
            Encryption::ChaCha20Poly1305 => f.write_str("ChaCha20-Poly1305"),
            Encryption::TripleDesCbc => f.write_str("3DES-CBC"),
            Encryption::DesCbc => f.write_str("DES-CBC"),
            Encryption::CamelliaCbc => f.write_str("Camellia-CBC"),
            Encryption::AesCcm8Iiv | Encryption::AesGcm16Iiv | Encryption::ChaCha20Poly1305Iiv => {
                write!(f, "{}-IIV", self.with_explicit_iv())
            }
        }
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Integrity::None => "none",
            Integrity::HmacMd5_96 => "HMAC-MD5-96",
            Integrity::HmacSha1_96 => "HMAC-SHA1-96",
            Integrity::HmacSha256_96 => "HMAC-SHA2-256-96",
            Integrity::HmacSha256_128 => "HMAC-SHA2-256-128",
            Integrity::HmacSha384_192 => "HMAC-SHA2-384-192",
            Integrity::HmacSha512_256 => "HMAC-SHA2-512-256",
            Integrity::AesXcbc96 => "AES-XCBC-96",
            Integrity::AesCmac96 => "AES-CMAC-96",
            Integrity::HmacMd5_128 => "HMAC-MD5-128",
            Integrity::HmacSha1_160 => "HMAC-SHA1-160",
            Integrity::Unknown { icv: 12 } => "unknown-96",
            Integrity::Unknown { icv: 16 } => "unknown-128",
            Integrity::Unknown { icv: 24 } => "unknown-192",
            Integrity::Unknown { .. } => "unknown",
        })
    }
}

/// A full ESP transform: what an SA was negotiated to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Transform {
    /// The cipher.
    pub encryption: Encryption,
    /// Its key length in bytes without salt; `None` while unknown.
    pub key_len: Option<usize>,
    /// The integrity algorithm ([`Integrity::None`] for an AEAD).
    pub integrity: Integrity,
}

impl Transform {
    /// `AES-CBC-128`, `AES-GCM-16-256`, `NULL`: the cipher with its key length in bits.
    pub fn encryption_name(&self) -> String {
        match self.key_len {
            Some(bytes) if self.encryption.key_lens().len() > 1 => {
                format!("{}-{}", self.encryption, bytes * 8)
            }
            _ => self.encryption.to_string(),
        }
    }
}
