//! Integrity transforms that stand beside a cipher: HMAC (RFC 2403, 2404, 4868), AES-CMAC (RFC 4494), AES-XCBC
//! (RFC 3566).

use crate::esp::cipher::hmac::Chains;
use crate::esp::cipher::parts::Parts;
use aes::Aes128Enc;
use cipher::BlockCipherEncrypt;
use hmac::{Hmac, KeyInit, Mac};
use rekeyscope_lanes::LaneHash;
use rekeyscope_model::algorithm::Integrity;

/// An integrity algorithm with its key.
pub(super) trait Authenticate: Send + Sync {
    /// Tells whether the ICV fits. `esn_high`: upper half of an extended sequence number.
    fn fits(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> bool;

    /// The key of an HMAC that lanes know, for many packets at once.
    fn chains(&self) -> Option<&Chains> {
        None
    }
}

/// Keys `integrity`; `None` when the key length does not fit. An HMAC takes a key of any length (RFC 2104 §2); people configure such,
/// although RFC 2404 and RFC 4868 fix it.
pub(super) fn new_integrity(integrity: Integrity, key: &[u8]) -> Option<Box<dyn Authenticate>> {
    if key.is_empty() || key.len() != integrity.key_len() && !integrity.takes_any_key() {
        return None;
    }
    match integrity {
        Integrity::None | Integrity::Unknown { .. } => None,
        Integrity::HmacMd5_96 | Integrity::HmacMd5_128 => mac::<Hmac<md5::Md5>>(key, None),
        Integrity::HmacSha1_96 | Integrity::HmacSha1_160 => {
            mac::<Hmac<sha1::Sha1>>(key, Some(LaneHash::Sha1))
        }
        Integrity::HmacSha256_96 | Integrity::HmacSha256_128 => {
            mac::<Hmac<sha2::Sha256>>(key, Some(LaneHash::Sha256))
        }
        Integrity::HmacSha384_192 => mac::<Hmac<sha2::Sha384>>(key, None),
        Integrity::HmacSha512_256 => mac::<Hmac<sha2::Sha512>>(key, None),
        Integrity::AesCmac96 => mac::<cmac::Cmac<aes::Aes128>>(key, None),
        Integrity::AesXcbc96 => Some(Box::new(Xcbc::new(key)?)),
    }
}

/// A MAC that was keyed once: a packet costs a copy of its state instead of a key schedule.
struct KeyedMac<M> {
    mac: M,
    /// The key again, of an HMAC that can also go through lanes.
    chains: Option<Chains>,
}

fn mac<M: Mac + KeyInit + Clone + Send + Sync + 'static>(
    key: &[u8],
    lanes: Option<LaneHash>,
) -> Option<Box<dyn Authenticate>> {
    Some(Box::new(KeyedMac {
        mac: <M as KeyInit>::new_from_slice(key).ok()?,
        chains: lanes.and_then(|hash| Chains::new(hash, key)),
    }))
}

impl<M: Mac + Clone + Send + Sync> Authenticate for KeyedMac<M> {
    fn fits(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> bool {
        let mut mac = self.mac.clone();
        mac.update(parts.authenticated);
        if let Some(high) = esn_high {
            // RFC 4303 §2.2.1: covered by the ICV, not sent.
            mac.update(&high.to_be_bytes());
        }
        mac.finalize().into_bytes().starts_with(parts.icv)
    }

    fn chains(&self) -> Option<&Chains> {
        self.chains.as_ref()
    }
}

/// AES-XCBC-MAC (RFC 3566 §4): CBC-MAC whose last block is masked by one of two derived keys.
pub(crate) struct Xcbc {
    k1: Aes128Enc,
    k2: [u8; 16],
    k3: [u8; 16],
}

impl Xcbc {
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        let cipher = Aes128Enc::new_from_slice(key).ok()?;
        let derived = |byte: u8| {
            let mut block = [byte; 16].into();
            cipher.encrypt_block(&mut block);
            <[u8; 16]>::from(block)
        };
        Some(Xcbc {
            k1: Aes128Enc::new(&derived(1).into()),
            k2: derived(2),
            k3: derived(3),
        })
    }

    pub(crate) fn mac(&self, message: impl Iterator<Item = u8>) -> [u8; 16] {
        let mut state = [0; 16];
        let mut filled = 0;
        for byte in message {
            if filled == state.len() {
                self.encrypt(&mut state);
                filled = 0;
            }
            if let Some(cell) = state.get_mut(filled) {
                *cell ^= byte;
            }
            filled += 1;
        }
        let mask = match state.get_mut(filled) {
            Some(cell) => {
                *cell ^= 0x80;
                &self.k3
            }
            None => &self.k2,
        };
        for (cell, mask) in state.iter_mut().zip(mask) {
            *cell ^= mask;
        }
        self.encrypt(&mut state);
        state
    }

    fn encrypt(&self, state: &mut [u8; 16]) {
        self.k1.encrypt_block(state.into());
    }
}

impl Authenticate for Xcbc {
    fn fits(&self, parts: &Parts<'_>, esn_high: Option<u32>) -> bool {
        let high = esn_high.map(u32::to_be_bytes);
        let message = parts.authenticated.iter().chain(high.iter().flatten()).copied();
        self.mac(message).starts_with(parts.icv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::esp::cipher::keyed::EspCipher;
    use crate::esp::cipher::parts::Icv;
    use hex_literal::hex;
    use rekeyscope_model::algorithm::Encryption;

    /// Verifies `message` as if it were an ESP packet with NULL encryption.
    fn verify(integrity: Integrity, key: &[u8], message: &[u8], mac: &[u8]) -> Icv {
        let cipher = EspCipher::new(Encryption::Null, &[], integrity, key).unwrap();
        let packet = [message, &mac[..cipher.icv_len()]].concat();
        cipher.verify(&packet, None)
    }

    /// RFC 2202 case 1 (RFC 2403 and 2404 take 96 bits of these, RFC 4595 all), RFC 4868 §2.7.2 test case AUTH...-1. The messages
    /// happen to have the length of an ESP header.
    #[test]
    fn hmac_rfc2202_rfc4868() {
        let vectors: [(Integrity, &[u8]); 7] = [
            (Integrity::HmacMd5_128, &hex!("9294727a3638bb1c13f48ef8158bfc9d")),
            (
                Integrity::HmacSha1_160,
                &hex!("b617318655057264e28bc0b6fb378c8ef146be00"),
            ),
            (Integrity::HmacMd5_96, &hex!("9294727a3638bb1c13f48ef8158bfc9d")),
            (
                Integrity::HmacSha1_96,
                &hex!("b617318655057264e28bc0b6fb378c8ef146be00"),
            ),
            (
                Integrity::HmacSha256_128,
                &hex!("198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7"),
            ),
            (
                Integrity::HmacSha384_192,
                &hex!("b6a8d5636f5c6a7224f9977dcf7ee6c7fb6d0c48cbdee9737a959796489bddbc"),
            ),
            (
                Integrity::HmacSha512_256,
                &hex!("637edc6e01dce7e6742a99451aae82df23da3e92439e590e43e761b33e910fb8"),
            ),
        ];
        for (integrity, mac) in vectors {
            let key = vec![0x0b; integrity.key_len()];
            assert_eq!(
                verify(integrity, &key, b"Hi There", mac),
                Icv::Verified,
                "{integrity}"
            );
            assert_eq!(
                verify(integrity, &key, b"Hi there", mac),
                Icv::Failed,
                "{integrity}"
            );
        }
        let sha256 = hex!("198a607eb44bfbc69903a0f1");
        assert_eq!(
            verify(Integrity::HmacSha256_96, &[0x0b; 32], b"Hi There", &sha256),
            Icv::Verified
        );
    }

    /// RFC 2202 §2 and §3, cases 2 (a key of four bytes) and 6 (one of 80 bytes, longer than a block), RFC 4231 §4.3. No other
    /// length is refused, but for none at all.
    #[test]
    fn hmac_takes_keys_of_any_length() {
        let (jefe, question) = (b"Jefe", b"what do ya want for nothing?");
        let (long, larger) = (
            [0xaa; 80],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
        );
        let vectors: [(Integrity, &[u8], &[u8], &[u8]); 5] = [
            (
                Integrity::HmacMd5_96,
                jefe,
                question,
                &hex!("750c783e6ab0b503eaa86e310a5db738"),
            ),
            (
                Integrity::HmacSha1_96,
                jefe,
                question,
                &hex!("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            ),
            (
                Integrity::HmacSha256_128,
                jefe,
                question,
                &hex!("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            ),
            (
                Integrity::HmacMd5_96,
                &long,
                larger,
                &hex!("6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd"),
            ),
            (
                Integrity::HmacSha1_96,
                &long,
                larger,
                &hex!("aa4ae5e15272d00e95705637ce8a3b55ed402112"),
            ),
        ];
        for (integrity, key, message, mac) in vectors {
            assert_eq!(verify(integrity, key, message, mac), Icv::Verified, "{integrity}");
            assert_eq!(
                verify(integrity, &key[1..], message, mac),
                Icv::Failed,
                "{integrity}"
            );
        }
        for (integrity, key) in [
            (Integrity::HmacSha1_96, &[][..]),
            (Integrity::AesXcbc96, &[0; 15]),
            (Integrity::AesCmac96, &[0; 20]),
        ] {
            assert!(
                EspCipher::new(Encryption::Null, &[], integrity, key).is_none(),
                "{integrity}"
            );
        }
    }

    /// RFC 3566 §4.6, cases 1 to 7.
    #[test]
    fn xcbc_rfc3566() {
        let key: Vec<u8> = (0..16).collect();
        let counted: Vec<u8> = (0..34).collect();
        let xcbc = Xcbc::new(&key).unwrap();
        let vectors = [
            (0, hex!("75f0251d528ac01c4573dfd584d79f29")),
            (3, hex!("5b376580ae2f19afe7219ceef172756f")),
            (16, hex!("d2a246fa349b68a79998a4394ff7a263")),
            (20, hex!("47f51b4564966215b8985c63055ed308")),
            (32, hex!("f54f0ec8d2b9f3d36807734bd5283fd4")),
            (34, hex!("becbb3bccdb518a30677d5481fb6b4d8")),
        ];
        for (len, mac) in vectors {
            assert_eq!(xcbc.mac(counted[..len].iter().copied()), mac, "{len} bytes");
        }
        let zeros = hex!("f0dafee895db30253761103b5d84528f");
        assert_eq!(xcbc.mac(std::iter::repeat_n(0, 1000)), zeros);
        assert_eq!(
            verify(Integrity::AesXcbc96, &key, &[0; 1000], &zeros),
            Icv::Verified
        );
    }

    /// RFC 4494 §4 takes 96 bits of RFC 4493 §4, examples 2, 3 and 4.
    #[test]
    fn cmac_rfc4494() {
        let key = hex!("2b7e151628aed2a6abf7158809cf4f3c");
        let message = hex!(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445"
            "df4f9b17ad2b417be66c3710"
        );
        for (len, mac) in [
            (16, hex!("070a16b46b4d4144f79bdd9d")),
            (40, hex!("dfa66747de9ae63030ca3261")),
            (64, hex!("51f0bebf7e3b9d92fc497417")),
        ] {
            assert_eq!(
                verify(Integrity::AesCmac96, &key, &message[..len], &mac),
                Icv::Verified
            );
        }
    }
}
