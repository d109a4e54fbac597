//! Whole texts decrypted at once, by ciphers that are keyed for them: messages of IKE, and packets of ESP in a mode that has to see all of
//! its plaintext (CCM).

use crate::esp::cipher::decrypt::new_decrypt;
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::{AeadCore, AeadInOut, Nonce, Tag};
use ccm::Ccm;
use chacha20poly1305::ChaCha20Poly1305;
use cipher::KeyInit;
use cipher::consts::{U8, U11, U12, U16};
use cipher::typenum::Unsigned;
use rekeyscope_model::algorithm::Encryption;
use zeroize::Zeroizing;

/// Decrypts with a cipher that is no combined mode. `key` has its salt at the end. `None` where a length does not fit.
pub(crate) fn decrypt(
    encryption: Encryption,
    key: &[u8],
    iv: &[u8],
    ciphertext: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let row = encryption.row();
    let (key, salt) = key.split_at_checked(key.len().checked_sub(row.salt_len)?)?;
    let fits = row.key_lens.contains(&key.len()) && iv.len() == row.iv_len;
    if !fits || !ciphertext.len().is_multiple_of(row.block_len) {
        return None;
    }
    let mut bytes = Zeroizing::new(ciphertext.to_vec());
    new_decrypt(encryption, key, salt)?.decrypt(iv, ciphertext, 0, &mut bytes);
    Some(bytes)
}

/// Checks and decrypts in a combined mode. `key` has its salt at the end; `sealed` is IV, ciphertext and ICV.
pub(crate) fn open_combined(
    encryption: Encryption,
    key: &[u8],
    aad: &[u8],
    sealed: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let (key, salt) = key.split_at_checked(key.len().checked_sub(encryption.salt_len())?)?;
    let (iv, sealed) = sealed.split_at_checked(encryption.iv_len())?;
    let nonce = [salt, iv].concat();
    let parts = Combined {
        key,
        nonce: &nonce,
        aad,
        sealed,
    };
    match encryption {
        Encryption::AesGcm { icv: 16 } => {
            parts.open_aes::<AesGcm<Aes128, U12, U16>, AesGcm<Aes192, U12, U16>, AesGcm<Aes256, U12, U16>>()
        }
        Encryption::AesGcm { icv: 12 } => {
            parts.open_aes::<AesGcm<Aes128, U12, U12>, AesGcm<Aes192, U12, U12>, AesGcm<Aes256, U12, U12>>()
        }
        Encryption::AesGcm { icv: 8 } => {
            parts.open_aes::<AesGcm<Aes128, U12, U8>, AesGcm<Aes192, U12, U8>, AesGcm<Aes256, U12, U8>>()
        }
        Encryption::AesCcm { icv: 16 } => {
            parts.open_aes::<Ccm<Aes128, U16, U11>, Ccm<Aes192, U16, U11>, Ccm<Aes256, U16, U11>>()
        }
        Encryption::AesCcm { icv: 12 } => {
            parts.open_aes::<Ccm<Aes128, U12, U11>, Ccm<Aes192, U12, U11>, Ccm<Aes256, U12, U11>>()
        }
        Encryption::AesCcm { icv: 8 } => {
            parts.open_aes::<Ccm<Aes128, U8, U11>, Ccm<Aes192, U8, U11>, Ccm<Aes256, U8, U11>>()
        }
        Encryption::ChaCha20Poly1305 => parts.open::<ChaCha20Poly1305>(),
        _ => None,
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
    /// AES by the length of its key.
    fn open_aes<A, B, C>(&self) -> Option<Zeroizing<Vec<u8>>>
    where
        A: AeadInOut + KeyInit,
        B: AeadInOut + KeyInit,
        C: AeadInOut + KeyInit,
    {
        match self.key.len() {
            16 => self.open::<A>(),
            24 => self.open::<B>(),
            _ => self.open::<C>(),
        }
    }

    fn open<A: AeadInOut + KeyInit>(&self) -> Option<Zeroizing<Vec<u8>>> {
        let icv = <A as AeadCore>::TagSize::USIZE;
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

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// RFC 3602 §4 case 2 (AES-128) and NIST SP 800-38A F.2.4, F.2.6 (AES-192, AES-256).
    #[test]
    fn aes_cbc_vectors() {
        let plain = decrypt(
            Encryption::AesCbc,
            &hex!("c286696d887c9aa0611bbb3e2025a45a"),
            &hex!("562e17996d093d28ddb3ba695a2e6f58"),
            &hex!("d296cd94c2cccf8a3a863028b5e1dc0a7586602d253cfff91b8266bea6d61ab1"),
        );
        assert_eq!(
            *plain.unwrap(),
            hex!("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
        );
        let iv = hex!("000102030405060708090a0b0c0d0e0f");
        let block = hex!("6bc1bee22e409f96e93d7e117393172a");
        let plain = decrypt(
            Encryption::AesCbc,
            &hex!("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"),
            &iv,
            &hex!("4f021db243bc633d7178183a9fa071e8"),
        );
        assert_eq!(*plain.unwrap(), block);
        let plain = decrypt(
            Encryption::AesCbc,
            &hex!("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
            &iv,
            &hex!("f58c4c04d6e5f1ba779eabfb5f7bfbd6"),
        );
        assert_eq!(*plain.unwrap(), block);
    }

    /// FIPS 46-3's known answer for DES, NIST SP 800-67 B.1 for TDEA, RFC 3713 Appendix A for Camellia; one block with a zero IV
    /// is ECB.
    #[test]
    fn other_ciphers() {
        let des = decrypt(
            Encryption::DesCbc,
            &hex!("0123456789abcdef"),
            &[0; 8],
            &hex!("3fa40e8a984d4815"),
        );
        assert_eq!(*des.unwrap(), *b"Now is t");
        let tdes = decrypt(
            Encryption::TripleDesCbc,
            &hex!("0123456789abcdef23456789abcdef01456789abcdef0123"),
            &[0; 8],
            &hex!("a826fd8ce53b855f"),
        );
        assert_eq!(*tdes.unwrap(), *b"The qufc");
        let camellia = decrypt(
            Encryption::CamelliaCbc,
            &hex!("0123456789abcdeffedcba9876543210"),
            &[0; 16],
            &hex!("67673138549669730857065648eabe43"),
        );
        assert_eq!(*camellia.unwrap(), hex!("0123456789abcdeffedcba9876543210"));
    }

    #[test]
    fn wrong_lengths_give_nothing() {
        assert!(decrypt(Encryption::AesCbc, &[0; 17], &[0; 16], &[0; 16]).is_none());
        assert!(decrypt(Encryption::AesCbc, &[0; 16], &[0; 8], &[0; 16]).is_none());
        assert!(decrypt(Encryption::AesCbc, &[0; 16], &[0; 16], &[0; 15]).is_none());
    }
}
