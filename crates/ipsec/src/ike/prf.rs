//! The prfs and MACs of IKEv2 (RFC 7296 §2.13, RFC 4434, RFC 4615), and what is derived with them.

use crate::esp::cipher::Xcbc;
use crate::ike::crypto::{Hash, chained, mac_of};
use rekeyscope_model::algorithm::Integrity;
use zeroize::Zeroizing;

type AesCmac = cmac::Cmac<aes::Aes128>;

/// Bytes of key that a fixed-key prf takes from each nonce (RFC 7296 §2.14).
const FIXED_KEY_NONCE: usize = 8;

/// A pseudo-random function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prf {
    Hmac(Hash),
    AesXcbc,
    AesCmac,
}

impl Prf {
    /// By transform ID (IANA "Transform Type 2").
    pub(super) fn from_ikev2(id: u16) -> Option<Prf> {
        Some(match id {
            1 => Prf::Hmac(Hash::Md5),
            2 => Prf::Hmac(Hash::Sha1),
            4 => Prf::AesXcbc,
            5 => Prf::Hmac(Hash::Sha256),
            6 => Prf::Hmac(Hash::Sha384),
            7 => Prf::Hmac(Hash::Sha512),
            8 => Prf::AesCmac,
            _ => return None,
        })
    }

    /// Bytes of output, and of SK_d.
    pub(super) fn len(self) -> usize {
        match self {
            Prf::Hmac(hash) => hash.len(),
            Prf::AesXcbc | Prf::AesCmac => 16,
        }
    }

    /// The prfs whose SK_d has `len` bytes.
    pub(super) fn of_len(len: usize) -> Vec<Prf> {
        let all = Hash::ALL
            .into_iter()
            .map(Prf::Hmac)
            .chain([Prf::AesXcbc, Prf::AesCmac]);
        all.filter(|prf| prf.len() == len).collect()
    }

    /// prf(key, parts one after the other). The AES prfs have keys of 16 bytes: XCBC pads shorter ones with zeros
    /// (RFC 4434 §2), both hash others under a zero key (RFC 4615 §3).
    pub(super) fn compute(self, key: &[u8], parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
        let message = || Zeroizing::new(parts.concat());
        match self {
            Prf::Hmac(hash) => hash.prf(key, parts),
            Prf::AesXcbc if key.len() <= 16 => {
                let mut padded = Zeroizing::new(key.to_vec());
                padded.resize(16, 0);
                aes_xcbc(&padded, &message())
            }
            Prf::AesXcbc => aes_xcbc(&aes_xcbc(&[0; 16], key), &message()),
            Prf::AesCmac if key.len() == 16 => mac_of::<AesCmac>(key, parts),
            Prf::AesCmac => mac_of::<AesCmac>(&mac_of::<AesCmac>(&[0; 16], &[key]), parts),
        }
    }

    /// The key that Ni | Nr make for SKEYSEED (RFC 7296 §2.14).
    fn nonce_key(self, initiator: &[u8], responder: &[u8]) -> Vec<u8> {
        let cut = |nonce: &[u8]| match self {
            Prf::Hmac(_) => nonce.to_vec(),
            Prf::AesXcbc | Prf::AesCmac => nonce[..nonce.len().min(FIXED_KEY_NONCE)].to_vec(),
        };
        [cut(initiator), cut(responder)].concat()
    }

    /// SKEYSEED = prf(Ni | Nr, g^ir).
    pub(super) fn skeyseed(self, nonces: &[Vec<u8>; 2], dh_secret: &[u8]) -> Zeroizing<Vec<u8>> {
        self.compute(&self.nonce_key(&nonces[0], &nonces[1]), &[dh_secret])
    }

    /// prf+ (RFC 7296 §2.13): T1 | T2 | …, Ti = prf(key, Ti-1 | seed | i). At most 255 blocks, by the RFC.
    pub(super) fn plus(self, key: &[u8], seed: &[&[u8]], len: usize) -> Zeroizing<Vec<u8>> {
        let mut counter = 0;
        chained(len.min(255 * self.len()), |before| {
            counter += 1;
            self.compute(key, &[&[before], seed, &[&[counter]]].concat())
        })
    }
}

/// The ICV of `message`, cut to its length. `None` for [`Integrity::None`] and keys of a wrong length.
pub(super) fn icv(integrity: Integrity, key: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    if key.len() != integrity.key_len() && (key.is_empty() || !integrity.takes_any_key()) {
        return None;
    }
    let hmac = |hash: Hash| hash.prf(key, &[message]);
    let full = match integrity {
        Integrity::None | Integrity::Unknown { .. } => return None,
        Integrity::HmacMd5_96 | Integrity::HmacMd5_128 => hmac(Hash::Md5),
        Integrity::HmacSha1_96 | Integrity::HmacSha1_160 => hmac(Hash::Sha1),
        Integrity::HmacSha256_96 | Integrity::HmacSha256_128 => hmac(Hash::Sha256),
        Integrity::HmacSha384_192 => hmac(Hash::Sha384),
        Integrity::HmacSha512_256 => hmac(Hash::Sha512),
        Integrity::AesXcbc96 => aes_xcbc(key, message),
        Integrity::AesCmac96 => mac_of::<AesCmac>(key, &[message]),
    };
    full.get(..integrity.icv_len()).map(<[u8]>::to_vec)
}

/// AES-XCBC-MAC (RFC 3566 §4), 16 bytes; callers give a key of as many.
fn aes_xcbc(key: &[u8], message: &[u8]) -> Zeroizing<Vec<u8>> {
    let mac = Xcbc::new(key).map(|xcbc| xcbc.mac(message.iter().copied()));
    Zeroizing::new(mac.map_or_else(Vec::new, Vec::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// RFC 4434 §2.1: keys of 16, 10 and 18 bytes.
    #[test]
    fn xcbc_prf_takes_keys_of_any_length() {
        let message: Vec<u8> = (0..20).collect();
        for (len, output) in [
            (16, hex!("47f51b4564966215b8985c63055ed308")),
            (10, hex!("0fa087af7d866e7653434e602fdde835")),
            (18, hex!("8cd3c93ae598a9803006ffb67c40e9e4")),
        ] {
            let mut key: Vec<u8> = (0..16).collect();
            key.extend([0xed, 0xcb]);
            assert_eq!(*Prf::AesXcbc.compute(&key[..len], &[&message]), output);
        }
    }

    /// RFC 4615 §4: keys of 18, 16 and 10 bytes.
    #[test]
    fn cmac_prf_takes_keys_of_any_length() {
        let message: Vec<u8> = (0..20).collect();
        for (len, output) in [
            (18, hex!("84a348a4a45d235babfffc0d2b4da09a")),
            (16, hex!("980ae87b5f4c9c5214f5b6a8455e4c2d")),
            (10, hex!("290d9e112edb09ee141fcf64c0b72f3d")),
        ] {
            let mut key: Vec<u8> = (0..16).collect();
            key.extend([0xed, 0xcb]);
            assert_eq!(*Prf::AesCmac.compute(&key[..len], &[&message]), output);
        }
    }

    #[test]
    fn plus_chains_and_is_bounded() {
        let prf = Prf::Hmac(Hash::Sha1);
        let long = prf.plus(b"k", &[b"se", b"ed"], 50);
        assert_eq!(long[..20], *prf.compute(b"k", &[b"seed\x01"]));
        assert_eq!(long[20..40], *prf.compute(b"k", &[&long[..20], b"seed\x02"]));
        assert_eq!(prf.plus(b"k", &[], 1 << 20).len(), 255 * 20);
    }
}
