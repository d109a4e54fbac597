//! The encrypted payload of IKEv2 (RFC 7296 §3.14): CBC or counter mode with a MAC over the whole message, or a combined
//! mode (RFC 5282, RFC 7634). Both prove their key: an ICV of at least 64 bits fits a wrong one with a probability of
//! at most 2^-64.

use crate::esp::cipher::{decrypt, open_combined};
use crate::ike::prf::icv;
use rekeyscope_model::algorithm::{Encryption, Integrity, IntegrityRow};
use zeroize::Zeroizing;

/// Algorithms that protect an IKE SA's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IkeSuite {
    pub(super) encryption: Encryption,
    pub(super) integrity: Integrity,
}

impl IkeSuite {
    /// The suites whose keys have these lengths (`encryption` with salt), then those whose HMAC takes keys of any length. The
    /// ICV tells which it is, so neither names in key files nor the cleartext proposal are needed.
    pub(super) fn of_lens(encryption: usize, integrity: usize) -> Vec<IkeSuite> {
        let takes = |e: &Encryption| {
            let key = encryption.checked_sub(e.salt_len());
            key.is_some_and(|key| e.key_lens().contains(&key))
        };
        // A message of IKE is encrypted, and has its IV with it (RFC 7296 §3.14).
        let in_ike = |e: &Encryption| e.iv_len() > 0 && *e != Encryption::AesGmac;
        let ciphers = || {
            Encryption::rows()
                .map(|row| row.encryption)
                .filter(in_ike)
                .filter(takes)
        };
        let combined = ciphers().filter(|e| e.is_aead()).map(|encryption| Self {
            encryption,
            integrity: Integrity::None,
        });
        let separate = |unusual: bool| {
            let fits = move |row: &&IntegrityRow| {
                let any = integrity > 0 && row.integrity.takes_any_key();
                row.icv_len > 0 && (row.key_len != integrity) == unusual && (any || !unusual)
            };
            ciphers().filter(|e| !e.is_aead()).flat_map(move |encryption| {
                Integrity::rows().filter(fits).map(move |row| Self {
                    encryption,
                    integrity: row.integrity,
                })
            })
        };
        combined.chain(separate(false)).chain(separate(true)).collect()
    }

    /// Checks and decrypts. `outside`: the message from the IKE header to the IV; `sealed`: IV, ciphertext, ICV. The
    /// padding is taken off.
    pub(super) fn open(
        self,
        sk_e: &[u8],
        sk_a: &[u8],
        outside: &[u8],
        sealed: &[u8],
    ) -> Option<Zeroizing<Vec<u8>>> {
        let mut plaintext = if self.encryption.is_aead() {
            open_combined(self.encryption, sk_e, outside, sealed)?
        } else {
            let covered = sealed.len().checked_sub(self.integrity.icv_len())?;
            let (covered, given) = sealed.split_at(covered);
            if icv(self.integrity, sk_a, &[outside, covered].concat())? != given {
                return None;
            }
            let (iv, ciphertext) = covered.split_at_checked(self.encryption.iv_len())?;
            decrypt(self.encryption, sk_e, iv, ciphertext)?
        };
        let padding = usize::from(*plaintext.last()?);
        let len = plaintext.len().checked_sub(padding + 1)?;
        plaintext.truncate(len);
        Some(plaintext)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ike::lab::bytes;

    /// Computed with OpenSSL 3.0: header 00..1f, key 40.. with the salt behind it, MAC key 80.., IV a0.., plaintext
    /// `sixteen payl` and three bytes of padding.
    const SEALED: [(Encryption, Integrity, usize, &str); 32] = [
        (
            Encryption::AesGcm { icv: 16 },
            Integrity::None,
            16,
            "a0a1a2a3a4a5a6a72a0b0f48594856cd9a83402d74022436d06d06fde04622a94d3e50ad7b2335a9",
        ),
        (
            Encryption::AesGcm { icv: 12 },
            Integrity::None,
            16,
            "a0a1a2a3a4a5a6a72a0b0f48594856cd9a83402d74022436d06d06fde04622a94d3e50ad",
        ),
        (
            Encryption::AesGcm { icv: 8 },
            Integrity::None,
            16,
            "a0a1a2a3a4a5a6a72a0b0f48594856cd9a83402d74022436d06d06fde04622a9",
        ),
        (
            Encryption::AesCcm { icv: 16 },
            Integrity::None,
            16,
            "a0a1a2a3a4a5a6a78bd5c058915931fea1953d2ea6472a6320b61bf15d5bf21a1b1e2e8dfeb49213",
        ),
        (
            Encryption::AesCcm { icv: 12 },
            Integrity::None,
            16,
            "a0a1a2a3a4a5a6a78bd5c058915931fea1953d2ea6472a630f76d1d958a280f1ef787f3e",
        ),
        (
            Encryption::AesCcm { icv: 8 },
            Integrity::None,
            16,
            "a0a1a2a3a4a5a6a78bd5c058915931fea1953d2ea6472a630562d4fc2d6f4fd2",
        ),
        (
            Encryption::AesGcm { icv: 16 },
            Integrity::None,
            24,
            "a0a1a2a3a4a5a6a7e07d2230ab6abc4a536d41e9bdad5cdc2496ce0612f5a12d4cc48417c5d6fba6",
        ),
        (
            Encryption::AesGcm { icv: 12 },
            Integrity::None,
            24,
            "a0a1a2a3a4a5a6a7e07d2230ab6abc4a536d41e9bdad5cdc2496ce0612f5a12d4cc48417",
        ),
        (
            Encryption::AesGcm { icv: 8 },
            Integrity::None,
            24,
            "a0a1a2a3a4a5a6a7e07d2230ab6abc4a536d41e9bdad5cdc2496ce0612f5a12d",
        ),
        (
            Encryption::AesCcm { icv: 16 },
            Integrity::None,
            24,
            "a0a1a2a3a4a5a6a7231d6d1b90e555f89e8cf42c57df4dd2f9fe94de48ca2a0c61ffa7095f2dc892",
        ),
        (
            Encryption::AesCcm { icv: 12 },
            Integrity::None,
            24,
            "a0a1a2a3a4a5a6a7231d6d1b90e555f89e8cf42c57df4dd253215a12bfc557d738138859",
        ),
        (
            Encryption::AesCcm { icv: 8 },
            Integrity::None,
            24,
            "a0a1a2a3a4a5a6a7231d6d1b90e555f89e8cf42c57df4dd2d5277a8fe34fab67",
        ),
        (
            Encryption::AesGcm { icv: 16 },
            Integrity::None,
            32,
            "a0a1a2a3a4a5a6a793a65d54748545476c8017aa76882db59c720ef8adbe609cb97d192623f79013",
        ),
        (
            Encryption::AesGcm { icv: 12 },
            Integrity::None,
            32,
            "a0a1a2a3a4a5a6a793a65d54748545476c8017aa76882db59c720ef8adbe609cb97d1926",
        ),
        (
            Encryption::AesGcm { icv: 8 },
            Integrity::None,
            32,
            "a0a1a2a3a4a5a6a793a65d54748545476c8017aa76882db59c720ef8adbe609c",
        ),
        (
            Encryption::AesCcm { icv: 16 },
            Integrity::None,
            32,
            "a0a1a2a3a4a5a6a7099430b6048a7556c70dc492c389366524d272191790be1c9617f7dae478329c",
        ),
        (
            Encryption::AesCcm { icv: 12 },
            Integrity::None,
            32,
            "a0a1a2a3a4a5a6a7099430b6048a7556c70dc492c3893665ebb113f09c23e59b6eaa6cf5",
        ),
        (
            Encryption::AesCcm { icv: 8 },
            Integrity::None,
            32,
            "a0a1a2a3a4a5a6a7099430b6048a7556c70dc492c3893665c42886691cee4067",
        ),
        (
            Encryption::ChaCha20Poly1305,
            Integrity::None,
            32,
            "a0a1a2a3a4a5a6a75151c2005a2f5c1bcba682c686b013fcd5f0c8189376afa80dfe568e5ed3ac15",
        ),
        (
            Encryption::AesCtr,
            Integrity::HmacSha1_96,
            16,
            "a0a1a2a3a4a5a6a7e65782e02a6bc6dbc131ec85ab0ecd64a82440c3272c8fb2e32f721a",
        ),
        (
            Encryption::AesCtr,
            Integrity::HmacSha1_96,
            24,
            "a0a1a2a3a4a5a6a78d437ef7a86b94b0f9f7364673749e07cf3f5971c02bd8cdad78c852",
        ),
        (
            Encryption::AesCtr,
            Integrity::HmacSha1_96,
            32,
            "a0a1a2a3a4a5a6a76d016b5a3917f10ee25cd06443e350c72f340b4123a40b97ad0ef127",
        ),
        (
            Encryption::AesCbc,
            Integrity::HmacMd5_96,
            16,
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeafd101fe4df02a47a3723ccfb8db654fac8ea5a2028ce668b29e7185fa",
        ),
        (
            Encryption::AesCbc,
            Integrity::HmacSha1_96,
            16,
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeafd101fe4df02a47a3723ccfb8db654fac59b2421ba9faccaa11981466",
        ),
        (
            Encryption::AesCbc,
            Integrity::HmacSha256_128,
            16,
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeafd101fe4df02a47a3723ccfb8db654fac75d6445bd0d9d343b6dd92ecb17a3c23",
        ),
        (
            Encryption::AesCbc,
            Integrity::HmacSha384_192,
            16,
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeafd101fe4df02a47a3723ccfb8db654faca52620e00351e8501ec5228b8c1789b99b5df3b8476e4c22",
        ),
        (
            Encryption::AesCbc,
            Integrity::HmacSha512_256,
            16,
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeafd101fe4df02a47a3723ccfb8db654facea045c55f654e5579b8e04e5fb3a4561437d1554489a96af4e8ddefbffef0987",
        ),
        (
            Encryption::AesCbc,
            Integrity::AesCmac96,
            16,
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeafd101fe4df02a47a3723ccfb8db654fac2b801274bfce8dc24c4ff9cc",
        ),
        (
            Encryption::TripleDesCbc,
            Integrity::HmacSha1_96,
            24,
            "a0a1a2a3a4a5a6a7fb2a7f848b7ab125728ee107f04390c89bddbcbcb5b7f5ca1c369906",
        ),
        (
            Encryption::TripleDesCbc,
            Integrity::HmacSha256_128,
            24,
            "a0a1a2a3a4a5a6a7fb2a7f848b7ab125728ee107f04390c878e6cf55291e1359068b5570b597caf7",
        ),
        (
            Encryption::CamelliaCbc,
            Integrity::HmacSha1_96,
            32,
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf676be834f09567fe2028e41a28dc36f51bf1ac1b6781a868cd7229ad",
        ),
        (
            Encryption::CamelliaCbc,
            Integrity::HmacSha256_128,
            32,
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf676be834f09567fe2028e41a28dc36f59f7a87f66cd618ddb8c929a9657a0f95",
        ),
    ];

    fn keys(encryption: Encryption, integrity: Integrity, key_len: usize) -> (Vec<u8>, Vec<u8>) {
        let sk_e = (0x40..).take(key_len + encryption.salt_len()).collect();
        let sk_a = (0x80..).take(integrity.key_len()).collect();
        (sk_e, sk_a)
    }

    #[test]
    fn opens_what_openssl_sealed_and_nothing_else_does() {
        let outside: Vec<u8> = (0..32).collect();
        for (encryption, integrity, key_len, sealed) in SEALED {
            let (sk_e, sk_a) = keys(encryption, integrity, key_len);
            let sealed = bytes(sealed);
            let opening: Vec<IkeSuite> = IkeSuite::of_lens(sk_e.len(), sk_a.len())
                .into_iter()
                .filter(|suite| suite.open(&sk_e, &sk_a, &outside, &sealed).is_some())
                .collect();
            assert_eq!(
                opening,
                [IkeSuite {
                    encryption,
                    integrity
                }]
            );
            assert_eq!(
                *opening[0].open(&sk_e, &sk_a, &outside, &sealed).unwrap(),
                *b"sixteen payl"
            );
        }
    }

    #[test]
    fn cuts_and_changes_are_refused() {
        let outside: Vec<u8> = (0..32).collect();
        for (encryption, integrity, key_len, sealed) in SEALED {
            let (sk_e, sk_a) = keys(encryption, integrity, key_len);
            let suite = IkeSuite {
                encryption,
                integrity,
            };
            let sealed = bytes(sealed);
            for cut in 0..sealed.len() {
                assert!(suite.open(&sk_e, &sk_a, &outside, &sealed[..cut]).is_none());
                let mut changed = sealed.clone();
                changed[cut] ^= 1;
                assert!(suite.open(&sk_e, &sk_a, &outside, &changed).is_none());
            }
            for cut in 0..sk_e.len() {
                assert!(suite.open(&sk_e[..cut], &sk_a, &outside, &sealed).is_none());
            }
        }
    }
}
