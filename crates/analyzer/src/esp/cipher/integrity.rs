//! Integrity transforms that stand beside a cipher: HMAC (RFC 2403, 2404, 4868).

use super::HEADER_LEN;
use crate::algorithm::Integrity;
use hmac::{Hmac, KeyInit, Mac};

/// A packet cut at its transform's seams.
pub(super) struct Parts<'a> {
    /// SPI and sequence number.
    pub(super) header: &'a [u8; HEADER_LEN],
    /// Explicit or implicit IV.
    pub(super) iv: &'a [u8],
    /// Ciphertext.
    pub(super) body: &'a [u8],
    /// ICV as sent.
    pub(super) icv: &'a [u8],
    /// Everything before the ICV.
    pub(super) authenticated: &'a [u8],
    /// Length of it all.
    pub(super) packet_len: usize,
}

/// An integrity algorithm with its key.
pub(super) trait Authenticate: Send + Sync {
    /// Whether the ICV fits. `esn_high`: upper half of an extended sequence number.
    fn fits(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> bool;
}

/// Keys `integrity`; `None` when the key length does not fit.
pub(super) fn new_integrity(integrity: Integrity, key: &[u8]) -> Option<Box<dyn Authenticate>> {
    if key.len() != integrity.key_len() {
        return None;
    }
    match integrity {
        Integrity::None => None,
        Integrity::HmacMd5_96 => mac::<Hmac<md5::Md5>>(key),
        Integrity::HmacSha1_96 => mac::<Hmac<sha1::Sha1>>(key),
        Integrity::HmacSha256_96 | Integrity::HmacSha256_128 => mac::<Hmac<sha2::Sha256>>(key),
        Integrity::HmacSha384_192 => mac::<Hmac<sha2::Sha384>>(key),
        Integrity::HmacSha512_256 => mac::<Hmac<sha2::Sha512>>(key),
        Integrity::AesCmac96 => mac::<cmac::Cmac<aes::Aes128>>(key),
        Integrity::AesXcbc96 => None,
    }
}

/// A MAC that was keyed once: a packet costs a copy of its state instead of a key schedule.
struct KeyedMac<M>(M);

fn mac<M: Mac + KeyInit + Clone + Send + Sync + 'static>(key: &[u8]) -> Option<Box<dyn Authenticate>> {
    Some(Box::new(KeyedMac(<M as KeyInit>::new_from_slice(key).ok()?)))
}

impl<M: Mac + Clone + Send + Sync> Authenticate for KeyedMac<M> {
    fn fits(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> bool {
        let mut mac = self.0.clone();
        mac.update(parts.authenticated);
        if let Some(high) = esn_high {
            // RFC 4303 §2.2.1: covered by the ICV, not sent.
            mac.update(&high.to_be_bytes());
        }
        mac.finalize().into_bytes().starts_with(parts.icv)
    }
}
