//! The ESP integrity transforms, one row each: whoever needs a length, a number or a name of one looks it up here. What computes an
//! ICV is in `esp/cipher`. Numbers: IANA "IKEv2 Transform Type 3" and the ISAKMP registries.

use crate::algorithm::spelling;
use std::fmt;

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
    /// "ANY … authentication"). It is no row of the table.
    Unknown {
        /// Bytes of ICV.
        icv: u8,
    },
}

/// One row of the table of integrity transforms.
#[derive(Debug)]
pub struct IntegrityRow {
    /// The transform.
    pub integrity: Integrity,
    /// Name in reports.
    pub name: &'static str,
    /// Bytes of key.
    pub key_len: usize,
    /// Bytes of ICV.
    pub icv_len: usize,
    /// Authentication algorithm of IKEv1 (RFC 2407 §4.5).
    pub ikev1: Option<u64>,
    /// Transform of type 3 of IKEv2.
    pub ikev2: Option<u16>,
    /// Transforms that are tried where a key file names none.
    pub guessed: bool,
    /// Wireshark's name in `esp_sa`.
    pub esp_sa: Option<&'static str>,
    /// Wireshark's name in `ikev2_decryption_table`.
    pub ikev2_table: Option<&'static str>,
    /// Keywords of strongSwan's `esp_proposals`.
    pub proposals: &'static [&'static str],
    /// Name of Linux's crypto API, which `ip xfrm` shows.
    pub linux: Option<&'static str>,
    /// Further names in key logs. Only letters and digits count: `HMAC-SHA2-256-128` above is also charon's `HMAC_SHA2_256_128`,
    /// and Linux's `hmac(sha1)` setkey's `hmac-sha1`.
    pub other_names: &'static [&'static str],
}

/// The row of [`Integrity::Unknown`].
static NOT_LISTED: IntegrityRow = BLANK;

/// Fields that a row does not name.
const BLANK: IntegrityRow = IntegrityRow {
    integrity: Integrity::None,
    name: "unknown",
    key_len: 0,
    icv_len: 0,
    ikev1: None,
    ikev2: None,
    guessed: false,
    esp_sa: None,
    ikev2_table: None,
    proposals: &[],
    linux: None,
    other_names: &[],
};

/// The transforms. Where a key file names none, they are tried in this order: the most usual first.
#[rustfmt::skip]
static TABLE: [IntegrityRow; 11] = [
    IntegrityRow {
        integrity: Integrity::None, name: "none",
        ikev2: Some(0), esp_sa: Some("NULL"), ikev2_table: Some("NONE [RFC4306]"), linux: Some("digest_null"),
        ..BLANK
    },
    IntegrityRow {
        integrity: Integrity::HmacSha1_96, name: "HMAC-SHA1-96",
        key_len: 20, icv_len: 12, ikev1: Some(2), ikev2: Some(2), guessed: true,
        esp_sa: Some("HMAC-SHA-1-96 [RFC2404]"), ikev2_table: Some("HMAC_SHA1_96 [RFC2404]"),
        proposals: &["sha1", "sha"], linux: Some("hmac(sha1)"), other_names: &["sha1", "HMAC-SHA"],
    },
    IntegrityRow {
        integrity: Integrity::HmacSha256_128, name: "HMAC-SHA2-256-128",
        key_len: 32, icv_len: 16, ikev1: Some(5), ikev2: Some(12), guessed: true,
        esp_sa: Some("HMAC-SHA-256-128 [RFC4868]"), ikev2_table: Some("HMAC_SHA2_256_128 [RFC4868]"),
        proposals: &["sha256", "sha2_256"], linux: Some("hmac(sha256)"), other_names: &["sha256", "hmac-sha2-256"],
    },
    IntegrityRow {
        integrity: Integrity::HmacMd5_96, name: "HMAC-MD5-96",
        key_len: 16, icv_len: 12, ikev1: Some(1), ikev2: Some(1), guessed: true,
        esp_sa: Some("HMAC-MD5-96 [RFC2403]"), ikev2_table: Some("HMAC_MD5_96 [RFC2403]"),
        proposals: &["md5"], linux: Some("hmac(md5)"), other_names: &["md5"],
    },
    IntegrityRow {
        integrity: Integrity::HmacSha384_192, name: "HMAC-SHA2-384-192",
        key_len: 48, icv_len: 24, ikev1: Some(6), ikev2: Some(13), guessed: true,
        esp_sa: Some("HMAC-SHA-384-192 [RFC4868]"), ikev2_table: Some("HMAC_SHA2_384_192 [RFC4868]"),
        proposals: &["sha384", "sha2_384"], linux: Some("hmac(sha384)"), other_names: &["sha384", "hmac-sha2-384"],
    },
    IntegrityRow {
        integrity: Integrity::HmacSha512_256, name: "HMAC-SHA2-512-256",
        key_len: 64, icv_len: 32, ikev1: Some(7), ikev2: Some(14), guessed: true,
        esp_sa: Some("HMAC-SHA-512-256 [RFC4868]"), ikev2_table: Some("HMAC_SHA2_512_256 [RFC4868]"),
        proposals: &["sha512", "sha2_512"], linux: Some("hmac(sha512)"), other_names: &["sha512", "hmac-sha2-512"],
    },
    IntegrityRow {
        integrity: Integrity::HmacSha256_96, name: "HMAC-SHA2-256-96",
        key_len: 32, icv_len: 12, guessed: true,
        esp_sa: Some("HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]"),
        proposals: &["sha256_96", "sha2_256_96"],
        ..BLANK
    },
    IntegrityRow {
        integrity: Integrity::AesXcbc96, name: "AES-XCBC-96",
        key_len: 16, icv_len: 12, ikev1: Some(9), ikev2: Some(5), guessed: true,
        proposals: &["aesxcbc"], linux: Some("xcbc(aes)"), other_names: &["aes-xcbc", "aes-xcbc-mac", "aes-xcbc-mac-96"],
        ..BLANK
    },
    IntegrityRow {
        integrity: Integrity::AesCmac96, name: "AES-CMAC-96",
        key_len: 16, icv_len: 12, ikev2: Some(8), guessed: true,
        proposals: &["aescmac"], linux: Some("cmac(aes)"), other_names: &["aes-cmac"],
        ..BLANK
    },
    IntegrityRow {
        integrity: Integrity::HmacSha1_160, name: "HMAC-SHA1-160",
        key_len: 20, icv_len: 20, ikev2: Some(7),
        ikev2_table: Some("HMAC_SHA1_160 [RFC4595]"), proposals: &["sha1_160"],
        ..BLANK
    },
    IntegrityRow {
        integrity: Integrity::HmacMd5_128, name: "HMAC-MD5-128",
        key_len: 16, icv_len: 16, ikev2: Some(6),
        ikev2_table: Some("HMAC_MD5_128 [RFC4595]"), proposals: &["md5_128"],
        ..BLANK
    },
];

impl IntegrityRow {
    /// Every name that a key log may call the transform by.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name)
            .chain(self.esp_sa)
            .chain(self.linux)
            .chain(self.other_names.iter().copied())
    }
}

impl Integrity {
    /// The rows of the table, the most usual transform first.
    pub fn rows() -> std::slice::Iter<'static, IntegrityRow> {
        TABLE.iter()
    }

    /// The row of this transform.
    pub fn row(self) -> &'static IntegrityRow {
        TABLE
            .iter()
            .find(|row| row.integrity == self)
            .unwrap_or(&NOT_LISTED)
    }

    /// An HMAC: it is defined for keys of any length (RFC 2104 §3), whatever its RFC for IPsec says.
    pub fn takes_any_key(self) -> bool {
        !matches!(
            self,
            Self::None | Self::AesXcbc96 | Self::AesCmac96 | Self::Unknown { .. }
        )
    }

    /// The transform of that name in a key log, whatever stands between its letters and digits.
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::find(|row| row.spellings().any(|known| spelling::same(known, name)))
    }

    /// By the authentication algorithm of IKEv1.
    pub fn of_ikev1(id: u64) -> Option<Self> {
        Self::find(|row| row.ikev1 == Some(id))
    }

    /// By the transform of type 3 of IKEv2.
    pub fn of_ikev2(id: u16) -> Option<Self> {
        Self::find(|row| row.ikev2 == Some(id))
    }

    fn find(wanted: impl Fn(&&IntegrityRow) -> bool) -> Option<Self> {
        TABLE.iter().find(wanted).map(|row| row.integrity)
    }

    /// Key length in bytes.
    pub fn key_len(self) -> usize {
        self.row().key_len
    }

    /// The transform of the same hash whose ICV is cut to another length: implementations of a draft, such as old Android and Linux, send 96 bits
    /// where RFC 4868 has 128, and their key tables may name either.
    pub fn cut_otherwise(self) -> Option<Integrity> {
        match self {
            Integrity::HmacSha256_96 => Some(Integrity::HmacSha256_128),
            Integrity::HmacSha256_128 => Some(Integrity::HmacSha256_96),
            _ => None,
        }
    }

    /// ICV length in bytes (0 for [`Integrity::None`]).
    pub fn icv_len(self) -> usize {
        match self {
            Integrity::Unknown { icv } => usize::from(icv),
            listed => listed.row().icv_len,
        }
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Integrity::Unknown { icv: 12 | 16 | 24 } => write!(f, "unknown-{}", self.icv_len() * 8),
            _ => f.write_str(self.row().name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key logs may say these names, by their letters and digits: nobody's log stops being read because the table is edited.
    #[test]
    fn accepted_spellings() {
        let accepted = [
            (Integrity::None, "digestnull none null"),
            (Integrity::HmacMd5_96, "hmacmd5 hmacmd596 md5"),
            (Integrity::HmacMd5_128, "hmacmd5128"),
            (Integrity::HmacSha1_160, "hmacsha1160"),
            (Integrity::HmacSha1_96, "hmacsha hmacsha1 hmacsha196 sha1"),
            (Integrity::HmacSha256_96, "hmacsha225696 hmacsha25696"),
            (
                Integrity::HmacSha256_128,
                "hmacsha2256 hmacsha2256128 hmacsha256 hmacsha256128 sha256",
            ),
            (
                Integrity::HmacSha384_192,
                "hmacsha2384 hmacsha2384192 hmacsha384 hmacsha384192 sha384",
            ),
            (
                Integrity::HmacSha512_256,
                "hmacsha2512 hmacsha2512256 hmacsha512 hmacsha512256 sha512",
            ),
            (
                Integrity::AesXcbc96,
                "aesxcbc aesxcbc96 aesxcbcmac aesxcbcmac96 xcbcaes",
            ),
            (Integrity::AesCmac96, "aescmac aescmac96 cmacaes"),
        ];
        assert_eq!(accepted.len(), TABLE.len());
        for (integrity, expected) in accepted {
            assert_eq!(spelling::sorted(integrity.row().spellings()), expected);
            for known in expected.split(' ') {
                assert_eq!(Integrity::named(known.as_bytes()), Some(integrity), "{known}");
            }
        }
    }

    /// IANA's registries.
    #[test]
    fn numbers_on_the_wire() {
        let ikev1 = (0..=99_999).filter_map(|id| Some(format!("{id} {}", Integrity::of_ikev1(id)?)));
        assert_eq!(
            ikev1.collect::<Vec<_>>().join(", "),
            "1 HMAC-MD5-96, 2 HMAC-SHA1-96, 5 HMAC-SHA2-256-128, 6 HMAC-SHA2-384-192, 7 HMAC-SHA2-512-256, 9 AES-XCBC-96"
        );
        let ikev2 = (0..=u16::MAX).filter_map(|id| Some(format!("{id} {}", Integrity::of_ikev2(id)?)));
        assert_eq!(
            ikev2.collect::<Vec<_>>().join(", "),
            "0 none, 1 HMAC-MD5-96, 2 HMAC-SHA1-96, 5 AES-XCBC-96, 6 HMAC-MD5-128, 7 HMAC-SHA1-160, 8 AES-CMAC-96, \
             12 HMAC-SHA2-256-128, 13 HMAC-SHA2-384-192, 14 HMAC-SHA2-512-256"
        );
    }

    #[test]
    fn what_is_not_known_is_not_listed() {
        let unknown = Integrity::Unknown { icv: 16 };
        assert_eq!((unknown.icv_len(), unknown.key_len()), (16, 0));
        assert_eq!(unknown.to_string(), "unknown-128");
        assert_eq!(Integrity::named(b"unknown"), None);
    }
}
