//! The encrypted payload of IKEv2 (RFC 7296 §3.14): CBC or counter mode with a MAC over the whole message, or a combined
//! mode (RFC 5282, RFC 7634). Both prove their key: an ICV of at least 64 bits fits a wrong one with a probability of
//! at most 2^-64.

use super::crypto::BlockCipher;
use super::prf::icv;
use crate::algorithm::{Encryption, Integrity};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::{AeadInOut, Nonce, Tag};
use ccm::Ccm;
use chacha20poly1305::ChaCha20Poly1305;
use cipher::consts::{U8, U11, U12, U16};
use cipher::{KeyInit, KeyIvInit, StreamCipher};
use zeroize::Zeroizing;

/// Algorithms that protect an IKE SA's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Suite {
    pub(super) encryption: Encryption,
    pub(super) integrity: Integrity,
}

const CIPHERS: [Encryption; 5] = [
    Encryption::AesCbc,
    Encryption::TripleDesCbc,
    Encryption::CamelliaCbc,
    Encryption::AesCtr,
    Encryption::DesCbc,
];
const COMBINED: [Encryption; 7] = [
    Encryption::AesGcm { icv: 16 },
    Encryption::ChaCha20Poly1305,
    Encryption::AesGcm { icv: 12 },
    Encryption::AesGcm { icv: 8 },
    Encryption::AesCcm { icv: 16 },
    Encryption::AesCcm { icv: 12 },
    Encryption::AesCcm { icv: 8 },
];
const INTEGRITIES: [Integrity; 8] = [
    Integrity::HmacSha1_96,
    Integrity::HmacSha256_128,
    Integrity::HmacSha384_192,
    Integrity::HmacSha512_256,
    Integrity::HmacMd5_96,
    Integrity::AesXcbc96,
    Integrity::AesCmac96,
    Integrity::HmacSha256_96,
];

impl Suite {
    /// The suites whose keys have these lengths (`encryption` with salt). The ICV tells which it is, so neither names in
    /// key files nor the cleartext proposal are needed.
    pub(super) fn of_lens(encryption: usize, integrity: usize) -> Vec<Suite> {
        let takes = |e: &Encryption| {
            let key = encryption.checked_sub(e.salt_len());
            key.is_some_and(|key| e.key_lens().contains(&key))
        };
        let combined = COMBINED.into_iter().filter(takes).map(|encryption| Suite {
            encryption,
            integrity: Integrity::None,
        });
        let separate = CIPHERS.into_iter().filter(takes).flat_map(|encryption| {
            let fitting = INTEGRITIES.into_iter().filter(|i| i.key_len() == integrity);
            fitting.map(move |integrity| Suite {
                encryption,
                integrity,
            })
        });
        combined.chain(separate).collect()
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
        let plaintext = if self.encryption.is_aead() {
            self.open_combined(sk_e, outside, sealed)
        } else {
            self.open_separate(sk_e, sk_a, outside, sealed)
        };
        let mut plaintext = plaintext?;
        let padding = usize::from(*plaintext.last()?);
        let len = plaintext.len().checked_sub(padding + 1)?;
        plaintext.truncate(len);
        Some(plaintext)
    }

    fn open_separate(
        self,
        sk_e: &[u8],
        sk_a: &[u8],
        outside: &[u8],
        sealed: &[u8],
    ) -> Option<Zeroizing<Vec<u8>>> {
        let covered = sealed.len().checked_sub(self.integrity.icv_len())?;
        let (covered, given) = sealed.split_at(covered);
        if icv(self.integrity, sk_a, &[outside, covered].concat())? != given {
            return None;
        }
        let (iv, ciphertext) = covered.split_at_checked(self.encryption.iv_len())?;
        let block_cipher = match self.encryption {
            Encryption::AesCbc => BlockCipher::Aes,
            Encryption::CamelliaCbc => BlockCipher::Camellia,
            Encryption::TripleDesCbc => BlockCipher::TripleDes,
            Encryption::DesCbc => BlockCipher::Des,
            Encryption::AesCtr => return aes_ctr(sk_e, iv, ciphertext),
            _ => return None,
        };
        block_cipher.decrypt_cbc(sk_e, iv, ciphertext)
    }

    fn open_combined(self, sk_e: &[u8], aad: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (key, salt) = sk_e.split_at_checked(sk_e.len().checked_sub(self.encryption.salt_len())?)?;
        let (iv, rest) = sealed.split_at_checked(self.encryption.iv_len())?;
        let nonce = [salt, iv].concat();
        let parts = Combined {
            key,
            nonce: &nonce,
            aad,
            sealed: rest,
        };
        match (self.encryption, key.len()) {
            (Encryption::AesGcm { icv: 16 }, 16) => parts.open::<AesGcm<Aes128, U12, U16>>(16),
            (Encryption::AesGcm { icv: 16 }, 24) => parts.open::<AesGcm<Aes192, U12, U16>>(16),
            (Encryption::AesGcm { icv: 16 }, 32) => parts.open::<AesGcm<Aes256, U12, U16>>(16),
            (Encryption::AesGcm { icv: 12 }, 16) => parts.open::<AesGcm<Aes128, U12, U12>>(12),
            (Encryption::AesGcm { icv: 12 }, 24) => parts.open::<AesGcm<Aes192, U12, U12>>(12),
            (Encryption::AesGcm { icv: 12 }, 32) => parts.open::<AesGcm<Aes256, U12, U12>>(12),
            (Encryption::AesGcm { icv: 8 }, 16) => parts.open::<AesGcm<Aes128, U12, U8>>(8),
            (Encryption::AesGcm { icv: 8 }, 24) => parts.open::<AesGcm<Aes192, U12, U8>>(8),
            (Encryption::AesGcm { icv: 8 }, 32) => parts.open::<AesGcm<Aes256, U12, U8>>(8),
            (Encryption::AesCcm { icv: 16 }, 16) => parts.open::<Ccm<Aes128, U16, U11>>(16),
            (Encryption::AesCcm { icv: 16 }, 24) => parts.open::<Ccm<Aes192, U16, U11>>(16),
            (Encryption::AesCcm { icv: 16 }, 32) => parts.open::<Ccm<Aes256, U16, U11>>(16),
            (Encryption::AesCcm { icv: 12 }, 16) => parts.open::<Ccm<Aes128, U12, U11>>(12),
            (Encryption::AesCcm { icv: 12 }, 24) => parts.open::<Ccm<Aes192, U12, U11>>(12),
            (Encryption::AesCcm { icv: 12 }, 32) => parts.open::<Ccm<Aes256, U12, U11>>(12),
            (Encryption::AesCcm { icv: 8 }, 16) => parts.open::<Ccm<Aes128, U8, U11>>(8),
            (Encryption::AesCcm { icv: 8 }, 24) => parts.open::<Ccm<Aes192, U8, U11>>(8),
            (Encryption::AesCcm { icv: 8 }, 32) => parts.open::<Ccm<Aes256, U8, U11>>(8),
            (Encryption::ChaCha20Poly1305, 32) => parts.open::<ChaCha20Poly1305>(16),
            _ => None,
        }
    }
}

/// A combined-mode ciphertext with all that goes into it.
struct Combined<'a> {
    key: &'a [u8],
    nonce: &'a [u8],
    aad: &'a [u8],
    /// Ciphertext and ICV.
    sealed: &'a [u8],
}

impl Combined<'_> {
    fn open<A: AeadInOut + KeyInit>(&self, icv: usize) -> Option<Zeroizing<Vec<u8>>> {
        let (ciphertext, tag) = self
            .sealed
            .split_at_checked(self.sealed.len().checked_sub(icv)?)?;
        let cipher = A::new_from_slice(self.key).ok()?;
        let nonce: &Nonce<A> = self.nonce.try_into().ok()?;
        let tag: &Tag<A> = tag.try_into().ok()?;
        let mut bytes = Zeroizing::new(ciphertext.to_vec());
        cipher
            .decrypt_inout_detached(nonce, self.aad, bytes.as_mut_slice().into(), tag)
            .ok()?;
        Some(bytes)
    }
}

/// RFC 5930: the counter block is nonce (the key's last four bytes), IV, a counter from 1.
fn aes_ctr(sk_e: &[u8], iv: &[u8], ciphertext: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (key, nonce) = sk_e.split_at_checked(sk_e.len().checked_sub(4)?)?;
    let block = [nonce, iv, &[0, 0, 0, 1]].concat();
    match key.len() {
        16 => counter::<Aes128>(key, &block, ciphertext),
        24 => counter::<Aes192>(key, &block, ciphertext),
        32 => counter::<Aes256>(key, &block, ciphertext),
        _ => None,
    }
}

fn counter<C>(key: &[u8], block: &[u8], ciphertext: &[u8]) -> Option<Zeroizing<Vec<u8>>>
where
    ctr::Ctr32BE<C>: KeyIvInit + StreamCipher,
    C: cipher::BlockCipherEncrypt + cipher::BlockSizeUser<BlockSize = U16>,
{
    let mut stream = ctr::Ctr32BE::<C>::new_from_slices(key, block).ok()?;
    let mut bytes = Zeroizing::new(ciphertext.to_vec());
    stream.try_apply_keystream(&mut bytes).ok()?;
    Some(bytes)
}
