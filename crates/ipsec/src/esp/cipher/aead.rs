//! Combined modes: AES-GCM (RFC 4106), AES-GMAC (RFC 4543), AES-CCM (RFC 4309), ChaCha20-Poly1305 (RFC 7634). Only the
//! tag is computed here; decryption of what is needed is in `decrypt`.

use crate::esp::cipher::decrypt::{Block16, ChaCha20Stream, with_aes};
use crate::esp::cipher::integrity::Authenticate;
use crate::esp::cipher::parts::Parts;
use crate::esp::cipher::whole::open_combined;
use cipher::KeyInit;
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use poly1305::Poly1305;
use rekeyscope_lanes::{AesNi, Avx2, WideGhash};
use rekeyscope_model::algorithm::Encryption;
use zeroize::Zeroizing;

/// Keys the tag of a combined mode; `None` when a length does not fit, or it is none.
pub(super) fn new_aead(encryption: Encryption, key: &[u8], salt: &[u8]) -> Option<Box<dyn Authenticate>> {
    match encryption {
        Encryption::AesGcm { .. } | Encryption::AesGmac => with_aes!(key, gcm(encryption, salt)),
        Encryption::AesCcm { .. } => Some(Box::new(CcmTag {
            encryption,
            key: Zeroizing::new([key, salt].concat()),
        })),
        Encryption::ChaCha20Poly1305 => Some(Box::new(ChaChaTag(ChaCha20Stream::new(key, salt)?))),
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

    /// The header, padded with zeros to a whole block.
    fn padded(&self) -> [u8; 16] {
        let mut block = [0; 16];
        for (to, from) in block.iter_mut().zip(self.as_slice()) {
            *to = *from;
        }
        block
    }

    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Tells whether the tag (`hash` masked by `mask`) begins with the ICV.
fn masked_equals(hash: &[u8], mask: &[u8], icv: &[u8]) -> bool {
    icv.len() <= hash.len()
        && hash
            .iter()
            .zip(mask)
            .map(|(hash, mask)| hash ^ mask)
            .zip(icv)
            .all(|(ours, sent)| ours == *sent)
}

fn lengths_in_bits(aad: usize, text: usize) -> [u8; 16] {
    (u128::from(aad as u64 * 8) << 64 | u128::from(text as u64 * 8)).to_be_bytes()
}

/// A key of GHASH.
enum GhashKey {
    /// A key for processors that multiply two blocks at once.
    Wide(WideGhash),
    Narrow(GHash),
}

impl GhashKey {
    fn new(key: [u8; 16]) -> Self {
        WideGhash::new(key).map_or_else(|| Self::narrow(key), Self::Wide)
    }

    fn narrow(key: [u8; 16]) -> Self {
        Self::Narrow(GHash::new(&key.into()))
    }

    /// The hash of a block, a text padded with zeros, and a last block.
    fn hash(&self, first: [u8; 16], text: &[u8], last: [u8; 16]) -> [u8; 16] {
        match self {
            Self::Wide(key) => key.hash(first, text, last),
            Self::Narrow(key) => {
                let mut ghash = key.clone();
                ghash.update(&[first.into()]);
                ghash.update_padded(text);
                ghash.update(&[last.into()]);
                ghash.finalize().into()
            }
        }
    }
}

/// GCM without its counter mode (NIST SP 800-38D §7.2).
struct Gcm<C> {
    cipher: C,
    ghash: GhashKey,
    salt: [u8; 4],
    /// GMAC: the payload is authenticated data, nothing is encrypted.
    payload_is_aad: bool,
}

fn gcm<C: Block16>(cipher: C, encryption: Encryption, salt: &[u8]) -> Option<Box<dyn Authenticate>> {
    let mut hash_key = Zeroizing::new([0; 16]);
    cipher.encrypt_block((&mut *hash_key).into());
    Some(Box::new(Gcm {
        cipher,
        ghash: GhashKey::new(*hash_key),
        salt: salt.try_into().ok()?,
        payload_is_aad: encryption == Encryption::AesGmac,
    }))
}

impl<C> Gcm<C> {
    fn hash(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> [u8; 16] {
        let aad = Aad::new(parts, esn_high);
        if !self.payload_is_aad {
            let lengths = lengths_in_bits(aad.len, parts.body.len());
            return self.ghash.hash(aad.padded(), parts.body, lengths);
        }
        // RFC 4543 §3.3: SPI, (extended) sequence number, IV and payload in one string. Its start is put together so
        // that the rest lies at a block boundary.
        let mut first = aad.padded();
        let behind_header = parts.authenticated.get(parts.header.len()..).unwrap_or_default();
        let (head, tail) = behind_header
            .split_at_checked(first.len() - aad.len)
            .unwrap_or((behind_header, &[]));
        for (to, from) in first.iter_mut().skip(aad.len).zip(head) {
            *to = *from;
        }
        let lengths = lengths_in_bits(aad.len + behind_header.len(), 0);
        self.ghash.hash(first, tail, lengths)
    }

    /// J0: salt, IV, counter 1.
    fn pre_counter_block(&self, iv: [u8; 8]) -> [u8; 16] {
        let nonce = u128::from(u32::from_be_bytes(self.salt)) << 64 | u128::from(u64::from_be_bytes(iv));
        (nonce << 32 | 1).to_be_bytes()
    }
}

impl<C: Block16> Authenticate for Gcm<C> {
    fn fits(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> bool {
        let Some(iv) = parts.iv.first_chunk::<8>() else {
            return false;
        };
        let mut mask = self.pre_counter_block(*iv).into();
        self.cipher.encrypt_block(&mut mask);
        masked_equals(&self.hash(parts, esn_high), &mask, parts.icv)
    }
}

/// CCM (NIST SP 800-38C): a CBC-MAC over the plaintext, so that everything has to be decrypted for it.
struct CcmTag {
    encryption: Encryption,
    /// The cipher key, with the salt at its end.
    key: Zeroizing<Vec<u8>>,
}

impl Authenticate for CcmTag {
    fn fits(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> bool {
        let sealed = [parts.iv, parts.body, parts.icv].concat();
        open_combined(
            self.encryption,
            &self.key,
            Aad::new(parts, esn_high).as_slice(),
            &sealed,
        )
        .is_some()
    }
}

/// ChaCha20-Poly1305 (RFC 8439 §2.8).
struct ChaChaTag(ChaCha20Stream);

impl Authenticate for ChaChaTag {
    fn fits(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> bool {
        let one_time_key = self.0.poly1305_key(parts.iv);
        let aad = Aad::new(parts, esn_high);
        let lengths = (u128::from(parts.body.len() as u64) << 64 | u128::from(aad.len as u64)).to_le_bytes();
        poly1305(self.0.avx2, &one_time_key, aad.padded(), parts.body, lengths) == parts.icv
    }
}

/// The tag of a block, a text padded with zeros, and a last block.
fn poly1305(avx2: Option<Avx2>, key: &[u8; 32], first: [u8; 16], text: &[u8], last: [u8; 16]) -> [u8; 16] {
    if let Some(avx2) = avx2 {
        return avx2.poly1305(key, first, text, last);
    }
    let mut poly = Poly1305::new(key.into());
    poly.update(&[first.into()]);
    poly.update_padded(text);
    poly.update(&[last.into()]);
    poly.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::esp::cipher::decrypt::Decrypt;

    /// Texts of whole blocks and others, with the processor's special instructions and without.
    #[test]
    fn both_ways_of_ghash_and_poly1305_agree() {
        let wide = GhashKey::new([4; 16]);
        let (Some(avx2), GhashKey::Wide(_)) = (Avx2::detect(), &wide) else {
            return println!(
                "skipped: both_ways_of_ghash_and_poly1305_agree, this processor has no VPCLMULQDQ"
            );
        };
        let (first, last, text) = ([1; 16], [2; 16], [3; 40]);
        for len in 0..text.len() {
            let text = &text[..len];
            let narrow = GhashKey::narrow([4; 16]);
            assert_eq!(
                wide.hash(first, text, last),
                narrow.hash(first, text, last),
                "{len} bytes"
            );
            let tag = |avx2| poly1305(avx2, &[5; 32], first, text, last);
            assert_eq!(tag(Some(avx2)), tag(None), "{len} bytes");
        }
    }

    /// Every length, with AVX2 and without: the same bytes of the beginning and of the end.
    #[test]
    fn all_ways_of_chacha20_agree() {
        let key: Vec<u8> = (0..32).collect();
        let mut streams = [(); 2].map(|()| ChaCha20Stream::new(&key, &[1, 2, 3, 4]).unwrap());
        if streams[0].avx2.is_none() {
            return println!("skipped: all_ways_of_chacha20_agree, this processor has no AVX2");
        }
        streams[1].avx2 = None;
        let iv = [9, 8, 7, 6, 5, 4, 3, 2];
        assert_eq!(streams[0].poly1305_key(&iv), streams[1].poly1305_key(&iv));
        let body: Vec<u8> = (0..700).map(|i| i as u8).collect();
        for len in 2..body.len() {
            let body = &body[..len];
            for prefix in [0, 1, 64, 192, 193, 700] {
                let ends = streams.each_ref().map(|stream| {
                    let (mut head, mut tail) = (body[..len.min(prefix)].to_vec(), body[len - 2..].to_vec());
                    stream.decrypt_ends(&iv, body, &mut head, &mut tail);
                    (head, tail)
                });
                assert_eq!(ends[0], ends[1], "{len} bytes, {prefix}");
            }
        }
    }
}
