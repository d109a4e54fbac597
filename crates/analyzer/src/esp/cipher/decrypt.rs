//! Decryption of a part of an ESP body: CBC (RFC 2405, 2451, 3602, 4312), counter modes (RFC 3686, 4106, 4309), NULL
//! (RFC 2410).

use crate::algorithm::Encryption;
use cbc::Decryptor;
use cipher::array::Array;
use cipher::consts::U16;
use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockSizeUser, InnerIvInit, KeyInit,
    StreamCipher, StreamCipherCoreWrapper, StreamCipherSeek,
};
use ctr::{CtrCore, flavors};

/// A cipher with its key.
pub(super) trait Decrypt: Send + Sync {
    /// Decrypts `part` in place. It holds the bytes of `ciphertext` from `start` on; for block ciphers `start` is a
    /// block boundary and `part` whole blocks.
    fn decrypt(&self, iv: &[u8], ciphertext: &[u8], start: usize, part: &mut [u8]);
}

/// Keys the cipher of `encryption`; `None` when a length does not fit.
pub(super) fn new_decrypt(encryption: Encryption, key: &[u8], salt: &[u8]) -> Option<Box<dyn Decrypt>> {
    match encryption {
        Encryption::Null | Encryption::AesGmac => Some(Box::new(Null)),
        Encryption::AesCbc => match key.len() {
            16 => cbc::<aes::Aes128Dec>(key),
            24 => cbc::<aes::Aes192Dec>(key),
            _ => cbc::<aes::Aes256Dec>(key),
        },
        Encryption::CamelliaCbc => match key.len() {
            16 => cbc::<camellia::Camellia128>(key),
            24 => cbc::<camellia::Camellia192>(key),
            _ => cbc::<camellia::Camellia256>(key),
        },
        Encryption::TripleDesCbc => cbc::<des::TdesEde3>(key),
        Encryption::DesCbc => cbc::<des::Des>(key),
        Encryption::AesCtr | Encryption::AesGcm { .. } | Encryption::AesCcm { .. } => {
            let template = counter_block(encryption, salt)?;
            match key.len() {
                16 => counter::<aes::Aes128Enc>(key, template),
                24 => counter::<aes::Aes192Enc>(key, template),
                _ => counter::<aes::Aes256Enc>(key, template),
            }
        }
        Encryption::ChaCha20Poly1305 => None,
    }
}

/// The first counter block of the payload with a hole of eight bytes for the IV.
fn counter_block(encryption: Encryption, salt: &[u8]) -> Option<[u8; 16]> {
    // RFC 3686 §4 counts from 1; GCM (RFC 4106 §4) spends 1 on the tag; CCM (RFC 4309 §4) spends 0 on it and begins
    // each block with its length-of-length field, L − 1 = 3.
    let (first, flags): (u8, &[u8]) = match encryption {
        Encryption::AesGcm { .. } => (2, &[]),
        Encryption::AesCcm { .. } => (1, &[3]),
        _ => (1, &[]),
    };
    let mut block = [0; 16];
    let (front, nonce) = block.split_at_mut_checked(flags.len())?;
    front.copy_from_slice(flags);
    nonce.get_mut(..salt.len())?.copy_from_slice(salt);
    *block.last_mut()? = first;
    Some(block)
}

struct Null;

impl Decrypt for Null {
    fn decrypt(&self, _iv: &[u8], _ciphertext: &[u8], _start: usize, _part: &mut [u8]) {}
}

struct Cbc<C>(C);

fn cbc<C: KeyInit + BlockCipherDecrypt + Send + Sync + 'static>(key: &[u8]) -> Option<Box<dyn Decrypt>> {
    Some(Box::new(Cbc(C::new_from_slice(key).ok()?)))
}

impl<C: BlockCipherDecrypt + Send + Sync> Decrypt for Cbc<C> {
    fn decrypt(&self, iv: &[u8], ciphertext: &[u8], start: usize, part: &mut [u8]) {
        let previous = match start.checked_sub(C::block_size()) {
            Some(from) => ciphertext.get(from..start),
            None => Some(iv),
        };
        let Some(previous) = previous.and_then(|bytes| Array::slice_as_array(bytes)) else {
            return;
        };
        let (blocks, _) = Array::slice_as_chunks_mut(part);
        Decryptor::inner_iv_init(&self.0, previous).decrypt_blocks(blocks);
    }
}

struct Counter<C> {
    cipher: C,
    template: [u8; 16],
}

fn counter<C>(key: &[u8], template: [u8; 16]) -> Option<Box<dyn Decrypt>>
where
    C: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync + 'static,
{
    Some(Box::new(Counter {
        cipher: C::new_from_slice(key).ok()?,
        template,
    }))
}

impl<C> Decrypt for Counter<C>
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync,
{
    fn decrypt(&self, iv: &[u8], _ciphertext: &[u8], start: usize, part: &mut [u8]) {
        let mut block = self.template;
        for (to, from) in block.iter_mut().skip(4).zip(iv.iter().take(8)) {
            *to = *from;
        }
        let core = CtrCore::<&C, flavors::Ctr32BE>::inner_iv_init(&self.cipher, &block.into());
        let mut stream = StreamCipherCoreWrapper::from_core(core);
        // A body is at most an IP packet, far below the 64 GiB where the counter ends: neither call can fail.
        if stream.try_seek(start).is_ok() {
            let _ = stream.try_apply_keystream(part);
        }
    }
}
