//! The ESP ciphers, one row each: whoever needs a length, a number or a name of a cipher looks it up here. What runs a cipher is
//! in `esp/cipher`. Numbers: IANA "IKEv2 Transform Type 1" and the ISAKMP registries.

use crate::algorithm::spelling;
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

/// One row of the table of ciphers. `{}` in a name stands for the key length in bits.
#[derive(Debug)]
pub struct EncryptionRow {
    /// The cipher.
    pub encryption: Encryption,
    /// Name in reports.
    pub name: &'static str,
    /// Key lengths in bytes that it takes, without salt, the default first.
    pub key_lens: &'static [usize],
    /// Bytes of salt or nonce at the end of the key material.
    pub salt_len: usize,
    /// Bytes of IV in each packet.
    pub iv_len: usize,
    /// Bytes of a block, to which the plaintext is padded (1 for stream modes; ESP itself asks for 4).
    pub block_len: usize,
    /// Bytes of ICV that a combined mode makes; 0 for a cipher beside which an integrity transform stands.
    pub icv_len: usize,
    /// The cipher with its IV in each packet, where this one has an implicit IV.
    pub explicit: Option<Encryption>,
    /// ESP transform identifiers of IKEv1 (RFC 2407 §4.4.4).
    pub ikev1: &'static [u8],
    /// Transforms of type 1 of IKEv2.
    pub ikev2: &'static [u16],
    /// Ciphers that are tried where a key file names none.
    pub guessed: bool,
    /// Wireshark's name in `esp_sa`.
    pub esp_sa: Option<&'static str>,
    /// Wireshark's name in `ikev2_decryption_table`.
    pub ikev2_table: Option<&'static str>,
    /// The name for `tcpdump -E`, which is OpenSSL's.
    pub tcpdump: Option<&'static str>,
    /// Keywords of strongSwan's `esp_proposals`. A keyword without the key length means the default.
    pub proposals: &'static [&'static str],
    /// Names of Linux's crypto API, which `ip xfrm` shows.
    pub linux: &'static [&'static str],
    /// Further names in key logs. Only letters and digits count: `AES-CBC` above is also charon's `AES_CBC` and the `aes-cbc`
    /// of setkey, MikroTik and Yamaha.
    pub other_names: &'static [&'static str],
}

const AES: &[usize] = &[16, 24, 32];

/// The row of an [`Encryption`] that is not in the table: a combined mode with an ICV of another length. It takes no key.
static NOT_LISTED: EncryptionRow = BLANK;

/// Fields that a row does not name.
const BLANK: EncryptionRow = EncryptionRow {
    encryption: Encryption::Null,
    name: "unknown",
    key_lens: &[],
    salt_len: 0,
    iv_len: 0,
    block_len: 1,
    icv_len: 0,
    explicit: None,
    ikev1: &[],
    ikev2: &[],
    guessed: false,
    esp_sa: None,
    ikev2_table: None,
    tcpdump: None,
    proposals: &[],
    linux: &[],
    other_names: &[],
};

/// The ciphers. Where a key file names none, they are tried in this order: the most usual first.
#[rustfmt::skip]
static TABLE: [EncryptionRow; 17] = [
    EncryptionRow {
        encryption: Encryption::AesCbc, name: "AES-CBC",
        key_lens: AES, iv_len: 16, block_len: 16, ikev1: &[12], ikev2: &[12], guessed: true,
        esp_sa: Some("AES-CBC [RFC3602]"), ikev2_table: Some("AES-CBC-{} [RFC3602]"), tcpdump: Some("aes{}-cbc"),
        proposals: &["aes{}"], linux: &["cbc(aes)"],
        other_names: &["aes", "aes128", "aes192", "aes256", "aes128-cbc", "aes192-cbc", "aes256-cbc", "rijndael", "rijndael-cbc"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesGcm { icv: 16 }, name: "AES-GCM-16",
        key_lens: AES, salt_len: 4, iv_len: 8, icv_len: 16, ikev1: &[20], ikev2: &[20], guessed: true,
        esp_sa: Some("AES-GCM with 16 octet ICV [RFC4106]"), ikev2_table: Some("AES-GCM-{} with 16 octet ICV [RFC5282]"),
        proposals: &["aes{}gcm16", "aes{}gcm128", "aes{}gcm"], linux: &["rfc4106(gcm(aes))"], other_names: &["aes-gcm"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::TripleDesCbc, name: "3DES-CBC",
        key_lens: &[24], iv_len: 8, block_len: 8, ikev1: &[3], ikev2: &[3], guessed: true,
        esp_sa: Some("TripleDES-CBC [RFC2451]"), ikev2_table: Some("3DES [RFC2451]"), tcpdump: Some("3des-cbc"),
        proposals: &["3des"], linux: &["cbc(des3_ede)"], other_names: &["3des", "des3"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::ChaCha20Poly1305, name: "ChaCha20-Poly1305",
        key_lens: &[32], salt_len: 4, iv_len: 8, icv_len: 16, ikev1: &[28], ikev2: &[28], guessed: true,
        esp_sa: Some("ChaCha20 with Poly1305 [RFC7634]"),
        proposals: &["chacha20poly1305"], linux: &["rfc7539esp(chacha20,poly1305)"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesGcm { icv: 12 }, name: "AES-GCM-12",
        key_lens: AES, salt_len: 4, iv_len: 8, icv_len: 12, ikev1: &[19], ikev2: &[19], guessed: true,
        esp_sa: Some("AES-GCM with 12 octet ICV [RFC4106]"), ikev2_table: Some("AES-GCM-{} with 12 octet ICV [RFC5282]"),
        proposals: &["aes{}gcm12", "aes{}gcm96"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesGcm { icv: 8 }, name: "AES-GCM-8",
        key_lens: AES, salt_len: 4, iv_len: 8, icv_len: 8, ikev1: &[18], ikev2: &[18], guessed: true,
        esp_sa: Some("AES-GCM with 8 octet ICV [RFC4106]"), ikev2_table: Some("AES-GCM-{} with 8 octet ICV [RFC5282]"),
        proposals: &["aes{}gcm8", "aes{}gcm64"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesCcm { icv: 16 }, name: "AES-CCM-16",
        key_lens: AES, salt_len: 3, iv_len: 8, icv_len: 16, ikev1: &[16], ikev2: &[16], guessed: true,
        ikev2_table: Some("AES-CCM-{} with 16 octet ICV [RFC5282]"),
        proposals: &["aes{}ccm16", "aes{}ccm128", "aes{}ccm"], linux: &["rfc4309(ccm(aes))"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesCcm { icv: 12 }, name: "AES-CCM-12",
        key_lens: AES, salt_len: 3, iv_len: 8, icv_len: 12, ikev1: &[15], ikev2: &[15],
        ikev2_table: Some("AES-CCM-{} with 12 octet ICV [RFC5282]"),
        proposals: &["aes{}ccm12", "aes{}ccm96"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesCcm { icv: 8 }, name: "AES-CCM-8",
        key_lens: AES, salt_len: 3, iv_len: 8, icv_len: 8, ikev1: &[14], ikev2: &[14], guessed: true,
        ikev2_table: Some("AES-CCM-{} with 8 octet ICV [RFC5282]"),
        proposals: &["aes{}ccm8", "aes{}ccm64"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesCtr, name: "AES-CTR",
        key_lens: AES, salt_len: 4, iv_len: 8, ikev1: &[13], ikev2: &[13], guessed: true,
        esp_sa: Some("AES-CTR [RFC3686]"), ikev2_table: Some("AES-CTR-{} [RFC5930]"),
        proposals: &["aes{}ctr"], linux: &["rfc3686(ctr(aes))"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::CamelliaCbc, name: "Camellia-CBC",
        key_lens: AES, iv_len: 16, block_len: 16, ikev1: &[22], ikev2: &[23], guessed: true,
        proposals: &["camellia{}"], linux: &["cbc(camellia)"], other_names: &["camellia"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::DesCbc, name: "DES-CBC",
        key_lens: &[8], iv_len: 8, block_len: 8, ikev1: &[1, 2], ikev2: &[1, 2], guessed: true,
        esp_sa: Some("DES-CBC [RFC2405]"), tcpdump: Some("des-cbc"),
        proposals: &["des"], linux: &["cbc(des)"], other_names: &["des"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::Null, name: "NULL",
        key_lens: &[0], ikev1: &[11], ikev2: &[11], guessed: true,
        esp_sa: Some("NULL"), ikev2_table: Some("NULL [RFC2410]"),
        proposals: &["null"], linux: &["ecb(cipher_null)", "cipher_null"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesGmac, name: "AES-GMAC",
        key_lens: AES, salt_len: 4, iv_len: 8, icv_len: 16, ikev1: &[23], ikev2: &[21],
        proposals: &["aes{}gmac"], linux: &["rfc4543(gcm(aes))"], other_names: &["NULL_AES_GMAC"],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesCcm8Iiv, name: "AES-CCM-8-IIV", explicit: Some(Encryption::AesCcm { icv: 8 }),
        key_lens: AES, salt_len: 3, icv_len: 8, ikev2: &[29],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::AesGcm16Iiv, name: "AES-GCM-16-IIV", explicit: Some(Encryption::AesGcm { icv: 16 }),
        key_lens: AES, salt_len: 4, icv_len: 16, ikev2: &[30],
        ..BLANK
    },
    EncryptionRow {
        encryption: Encryption::ChaCha20Poly1305Iiv, name: "ChaCha20-Poly1305-IIV",
        explicit: Some(Encryption::ChaCha20Poly1305),
        key_lens: &[32], salt_len: 4, icv_len: 16, ikev2: &[31],
        ..BLANK
    },
];

impl EncryptionRow {
    /// Every name that a key log may call the cipher by.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        let others = self.linux.iter().chain(self.other_names);
        std::iter::once(self.name)
            .chain(self.esp_sa)
            .chain(others.copied())
    }
}

impl Encryption {
    /// The rows of the table, the most usual cipher first.
    pub fn rows() -> std::slice::Iter<'static, EncryptionRow> {
        TABLE.iter()
    }

    /// The row of this cipher.
    pub fn row(self) -> &'static EncryptionRow {
        TABLE
            .iter()
            .find(|row| row.encryption == self)
            .unwrap_or(&NOT_LISTED)
    }

    /// The cipher of that name in a key log, whatever stands between its letters and digits.
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::find(|row| row.spellings().any(|known| spelling::same(known, name)))
    }

    /// By the ESP transform identifier of IKEv1.
    pub fn of_ikev1(id: u8) -> Option<Self> {
        Self::find(|row| row.ikev1.contains(&id))
    }

    /// By the transform of type 1 of IKEv2.
    pub fn of_ikev2(id: u16) -> Option<Self> {
        Self::find(|row| row.ikev2.contains(&id))
    }

    fn find(wanted: impl Fn(&&EncryptionRow) -> bool) -> Option<Self> {
        TABLE.iter().find(wanted).map(|row| row.encryption)
    }

    /// The form with an implicit IV, where RFC 8750 defines one.
    pub fn with_implicit_iv(self) -> Option<Encryption> {
        Self::find(|row| row.explicit == Some(self))
    }

    /// The same combined mode with an ICV of so many bytes, where there is one; else itself.
    #[must_use]
    pub fn with_icv(self, icv: u8) -> Encryption {
        match self {
            Encryption::AesGcm { .. } => Encryption::AesGcm { icv },
            Encryption::AesCcm { .. } => Encryption::AesCcm { icv },
            other => other,
        }
    }

    /// True where the transform carries its own integrity (RFC 4303 "combined mode").
    pub fn is_aead(self) -> bool {
        self.row().icv_len > 0
    }

    /// Bytes of salt or nonce at the end of the key material.
    pub fn salt_len(self) -> usize {
        self.row().salt_len
    }

    /// Explicit IV bytes in each packet.
    pub fn iv_len(self) -> usize {
        self.row().iv_len
    }

    /// Cipher block in bytes to which the plaintext is padded (1 for stream modes; ESP itself asks for 4).
    pub fn block_len(self) -> usize {
        self.row().block_len
    }

    /// Key lengths in bytes that the transform takes, without salt.
    pub fn key_lens(self) -> &'static [usize] {
        self.row().key_lens
    }
}

/// The name without key length: `AES-CBC`, `AES-GCM-16`.
impl fmt::Display for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key logs may say these names, by their letters and digits: nobody's log stops being read because the table is edited.
    #[test]
    fn accepted_spellings() {
        let accepted = [
            (Encryption::Null, "ciphernull ecbciphernull null"),
            (
                Encryption::AesCbc,
                "aes aes128 aes128cbc aes192 aes192cbc aes256 aes256cbc aescbc cbcaes rijndael rijndaelcbc",
            ),
            (Encryption::AesCtr, "aesctr rfc3686ctraes"),
            (Encryption::AesGcm { icv: 8 }, "aesgcm8 aesgcmwith8octeticv"),
            (Encryption::AesGcm { icv: 12 }, "aesgcm12 aesgcmwith12octeticv"),
            (
                Encryption::AesGcm { icv: 16 },
                "aesgcm aesgcm16 aesgcmwith16octeticv rfc4106gcmaes",
            ),
            (Encryption::AesCcm { icv: 8 }, "aesccm8"),
            (Encryption::AesCcm { icv: 12 }, "aesccm12"),
            (Encryption::AesCcm { icv: 16 }, "aesccm16 rfc4309ccmaes"),
            (Encryption::AesGmac, "aesgmac nullaesgmac rfc4543gcmaes"),
            (
                Encryption::ChaCha20Poly1305,
                "chacha20poly1305 chacha20withpoly1305 rfc7539espchacha20poly1305",
            ),
            (
                Encryption::TripleDesCbc,
                "3des 3descbc cbcdes3ede des3 tripledescbc",
            ),
            (Encryption::DesCbc, "cbcdes des descbc"),
            (Encryption::CamelliaCbc, "camellia camelliacbc cbccamellia"),
            (Encryption::AesCcm8Iiv, "aesccm8iiv"),
            (Encryption::AesGcm16Iiv, "aesgcm16iiv"),
            (Encryption::ChaCha20Poly1305Iiv, "chacha20poly1305iiv"),
        ];
        assert_eq!(accepted.len(), TABLE.len());
        for (encryption, expected) in accepted {
            assert_eq!(spelling::sorted(encryption.row().spellings()), expected);
            for known in expected.split(' ') {
                assert_eq!(Encryption::named(known.as_bytes()), Some(encryption), "{known}");
            }
        }
    }

    /// IANA's registries: the numbers 1 to 31 of IKEv1, then those of IKEv2.
    #[test]
    fn numbers_on_the_wire() {
        let ikev1 = (0..=255).filter_map(|id| Some(format!("{id} {}", Encryption::of_ikev1(id)?)));
        assert_eq!(
            ikev1.collect::<Vec<_>>().join(", "),
            "1 DES-CBC, 2 DES-CBC, 3 3DES-CBC, 11 NULL, 12 AES-CBC, 13 AES-CTR, 14 AES-CCM-8, 15 AES-CCM-12, 16 AES-CCM-16, \
             18 AES-GCM-8, 19 AES-GCM-12, 20 AES-GCM-16, 22 Camellia-CBC, 23 AES-GMAC, 28 ChaCha20-Poly1305"
        );
        let ikev2 = (0..=999).filter_map(|id| Some(format!("{id} {}", Encryption::of_ikev2(id)?)));
        assert_eq!(
            ikev2.collect::<Vec<_>>().join(", "),
            "1 DES-CBC, 2 DES-CBC, 3 3DES-CBC, 11 NULL, 12 AES-CBC, 13 AES-CTR, 14 AES-CCM-8, 15 AES-CCM-12, 16 AES-CCM-16, \
             18 AES-GCM-8, 19 AES-GCM-12, 20 AES-GCM-16, 21 AES-GMAC, 23 Camellia-CBC, 28 ChaCha20-Poly1305, \
             29 AES-CCM-8-IIV, 30 AES-GCM-16-IIV, 31 ChaCha20-Poly1305-IIV"
        );
    }

    #[test]
    fn a_cipher_that_is_not_listed_takes_no_key() {
        assert_eq!(Encryption::AesGcm { icv: 9 }.key_lens(), [0; 0]);
        assert_eq!(Encryption::named(b"unknown"), None);
    }
}
