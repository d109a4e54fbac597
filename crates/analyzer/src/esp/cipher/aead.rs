//! Combined modes: AES-GCM (RFC 4106). Only the tag is computed here; decryption of what is needed is in `decrypt`.

use super::integrity::{Authenticate, Parts};
use crate::algorithm::Encryption;
use cipher::consts::U16;
use cipher::{BlockCipherEncrypt, BlockSizeUser, KeyInit};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;

/// Keys the tag of a combined mode; `None` when a length does not fit. The second value is the ICV length in bytes.
pub(super) fn new_aead(
    encryption: Encryption,
    key: &[u8],
    salt: &[u8],
) -> Option<(Box<dyn Authenticate>, usize)> {
    match encryption {
        Encryption::AesGcm {
            icv: icv @ (8 | 12 | 16),
        } => {
            let salt = *salt.first_chunk()?;
            let tag = match key.len() {
                16 => gcm::<aes::Aes128Enc>(key, salt)?,
                24 => gcm::<aes::Aes192Enc>(key, salt)?,
                _ => gcm::<aes::Aes256Enc>(key, salt)?,
            };
            Some((tag, usize::from(icv)))
        }
        _ => None,
    }
}

/// Additional authenticated data of the combined modes: the SPI and the sequence number, 32 or 64 bits of it
/// (RFC 4106 §5, RFC 4309 §5, RFC 7634 §2.1).
struct Aad {
    bytes: [u8; 12],
    len: usize,
}

impl Aad {
    fn new(parts: &Parts<'_>, esn_high: Option<u32>) -> Aad {
        let [s0, s1, s2, s3, l0, l1, l2, l3] = *parts.header;
        match esn_high.map(u32::to_be_bytes) {
            None => Aad {
                bytes: [s0, s1, s2, s3, l0, l1, l2, l3, 0, 0, 0, 0],
                len: 8,
            },
            Some([h0, h1, h2, h3]) => Aad {
                bytes: [s0, s1, s2, s3, h0, h1, h2, h3, l0, l1, l2, l3],
                len: 12,
            },
        }
    }

    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// GCM without its counter mode (NIST SP 800-38D §7.2).
struct Gcm<C> {
    cipher: C,
    ghash: GHash,
    salt: [u8; 4],
}

fn gcm<C>(key: &[u8], salt: [u8; 4]) -> Option<Box<dyn Authenticate>>
where
    C: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync + 'static,
{
    let cipher = C::new_from_slice(key).ok()?;
    let mut hash_key = ghash::Key::default();
    cipher.encrypt_block(&mut hash_key);
    let ghash = GHash::new(&hash_key);
    Some(Box::new(Gcm { cipher, ghash, salt }))
}

impl<C> Authenticate for Gcm<C>
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync,
{
    fn fits(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> bool {
        let Some(iv) = parts.iv.first_chunk::<8>() else {
            return false;
        };
        let aad = Aad::new(parts, esn_high);
        let mut ghash = self.ghash.clone();
        ghash.update_padded(aad.as_slice());
        ghash.update_padded(parts.body);
        ghash.update(&[lengths_in_bits(aad.len, parts.body.len()).into()]);
        let mut mask = [0; 16].into();
        self.cipher
            .encrypt_block_b2b(&pre_counter_block(self.salt, *iv).into(), &mut mask);
        let tag = ghash.finalize();
        tag.iter()
            .zip(mask)
            .map(|(hash, mask)| hash ^ mask)
            .zip(parts.icv)
            .all(|(ours, sent)| ours == *sent)
    }
}

fn lengths_in_bits(aad: usize, text: usize) -> [u8; 16] {
    (u128::from(aad as u64 * 8) << 64 | u128::from(text as u64 * 8)).to_be_bytes()
}

/// J0: salt, IV, counter 1.
fn pre_counter_block(salt: [u8; 4], iv: [u8; 8]) -> [u8; 16] {
    let nonce = u128::from(u32::from_be_bytes(salt)) << 64 | u128::from(u64::from_be_bytes(iv));
    (nonce << 32 | 1).to_be_bytes()
}
