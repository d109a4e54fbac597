//! ESP packets, really encrypted, of any suite. The sealing shares no code with the library: other crates, other order.

use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::{AeadInOut, Nonce};
use ccm::Ccm;
use chacha20poly1305::ChaCha20Poly1305;
use cipher::block_padding::NoPadding;
use cipher::consts::{U8, U11, U12, U16};
use cipher::{BlockCipherEncrypt, BlockModeEncrypt, KeyIvInit, StreamCipher};
use hmac::{Hmac, KeyInit, Mac};
use rekeyscope_model::algorithm::{Encryption, Integrity};

/// A transform with its keys, the salt at the end of the encryption key.
#[derive(Debug, Clone)]
pub struct Suite {
    /// Of the payload.
    pub encryption: Encryption,
    /// With the salt at its end.
    pub key: Vec<u8>,
    /// Of the packet.
    pub integrity: Integrity,
    /// Empty without integrity.
    pub integrity_key: Vec<u8>,
}

impl Suite {
    /// Keys that count up from `seed`.
    pub fn new(encryption: Encryption, key_len: usize, integrity: Integrity, seed: u8) -> Self {
        let bytes = |len: usize, step: u8| {
            (0..len)
                .map(|i| seed.wrapping_add(step.wrapping_mul(i as u8)))
                .collect()
        };
        Suite {
            encryption,
            key: bytes(key_len + encryption.salt_len(), 7),
            integrity,
            integrity_key: bytes(integrity.key_len(), 11),
        }
    }

    /// AES-CBC-128 and HMAC-SHA1-96 with keys that count up from `seed`.
    pub fn aes_sha1(seed: u8) -> Self {
        Suite::new(Encryption::AesCbc, 16, Integrity::HmacSha1_96, seed)
    }

    /// A row of Wireshark's `esp_sa`; names that Wireshark lacks are IANA's.
    pub fn esp_sa_row(&self, spi: u32) -> String {
        let hex = |key: &[u8]| {
            if key.is_empty() {
                String::new()
            } else {
                format!("0x{}", key.iter().map(|b| format!("{b:02x}")).collect::<String>())
            }
        };
        format!(
            "\"IPv4\",\"*\",\"*\",\"0x{spi:08x}\",\"{}\",\"{}\",\"{}\",\"{}\"\n",
            self.wireshark_encryption(),
            hex(&self.key),
            self.wireshark_integrity(),
            hex(&self.integrity_key)
        )
    }

    fn wireshark_encryption(&self) -> String {
        match self.encryption.row().explicit.unwrap_or(self.encryption) {
            Encryption::Null => "NULL".into(),
            Encryption::AesCbc => "AES-CBC [RFC3602]".into(),
            Encryption::AesCtr => "AES-CTR [RFC3686]".into(),
            Encryption::AesGcm { icv } => format!("AES-GCM with {icv} octet ICV [RFC4106]"),
            Encryption::ChaCha20Poly1305 => "ChaCha20 with Poly1305 [RFC7634]".into(),
            Encryption::TripleDesCbc => "TripleDES-CBC [RFC2451]".into(),
            Encryption::DesCbc => "DES-CBC [RFC2405]".into(),
            other => other.to_string(),
        }
    }

    fn wireshark_integrity(&self) -> String {
        match self.integrity {
            Integrity::None | Integrity::Unknown { .. } => "NULL",
            Integrity::HmacMd5_96 => "HMAC-MD5-96 [RFC2403]",
            Integrity::HmacSha1_96 => "HMAC-SHA-1-96 [RFC2404]",
            Integrity::HmacSha256_96 => "HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]",
            Integrity::HmacSha256_128 => "HMAC-SHA-256-128 [RFC4868]",
            Integrity::HmacSha384_192 => "HMAC-SHA-384-192 [RFC4868]",
            Integrity::HmacSha512_256 => "HMAC-SHA-512-256 [RFC4868]",
            Integrity::AesXcbc96 => "AES-XCBC-MAC-96",
            Integrity::AesCmac96 => "AES-CMAC-96",
            Integrity::HmacMd5_128 => "HMAC-MD5-128",
            Integrity::HmacSha1_160 => "HMAC-SHA1-160",
        }
        .into()
    }

    /// AES-CBC-128 and HMAC-SHA1-96 with keys that are counted up from an SPI.
    pub fn of_spi(spi: u32) -> Self {
        let byte = |i: usize| spi.to_be_bytes()[i % 4].wrapping_mul(31).wrapping_add(i as u8);
        Suite {
            encryption: Encryption::AesCbc,
            key: (0..16).map(byte).collect(),
            integrity: Integrity::HmacSha1_96,
            integrity_key: (100..120).map(byte).collect(),
        }
    }

    /// Encryption alone.
    pub fn cipher(encryption: Encryption, key: Vec<u8>) -> Self {
        Suite {
            encryption,
            key,
            integrity: Integrity::None,
            integrity_key: Vec::new(),
        }
    }

    /// An ESP packet (RFC 4303 §2). `esn`: the sequence number has 64 bits, of which the packet shows the lower half.
    pub fn seal(&self, spi: u32, number: u64, esn: bool, next_header: u8, payload: &[u8]) -> Vec<u8> {
        // Any IV will do for CBC; elsewhere it must not repeat under a key.
        let unique = (number ^ u64::from(spi) << 32).to_be_bytes();
        let implicit = self.encryption.row().explicit.is_some();
        let iv: Vec<u8> = match self.encryption.iv_len() {
            0 if implicit => (if esn { number } else { u64::from(number as u32) })
                .to_be_bytes()
                .to_vec(),
            0 => Vec::new(),
            len => unique.iter().copied().cycle().take(len).collect(),
        };
        self.seal_with(&iv, spi, number, esn, next_header, payload)
    }

    /// The same with this IV.
    pub fn seal_with(
        &self,
        iv: &[u8],
        spi: u32,
        number: u64,
        esn: bool,
        next_header: u8,
        payload: &[u8],
    ) -> Vec<u8> {
        let (spi, low) = (spi.to_be_bytes(), (number as u32).to_be_bytes());
        let high = &((number >> 32) as u32).to_be_bytes()[..if esn { 4 } else { 0 }];
        let block = self.encryption.block_len().max(4);
        let pad = (block - (payload.len() + 2) % block) % block;
        let implicit = self.encryption.row().explicit.is_some();
        let mut packet = Vec::with_capacity(8 + iv.len() + payload.len() + pad + 2 + 32);
        packet.extend(spi);
        packet.extend(low);
        packet.extend(if implicit { &[] } else { iv });
        let begins = packet.len();
        packet.extend(payload);
        packet.extend((1..=pad).map(|i| i as u8));
        packet.extend([pad as u8, next_header]);
        if self.encryption.is_aead() {
            let aad = [&spi[..], high, &low].concat();
            let sealed = self.seal_combined(iv, &aad, &packet[begins..]);
            packet.truncate(begins);
            packet.extend(sealed);
            return packet;
        }
        self.encrypt(iv, &mut packet[begins..]);
        let icv = self.mac(&[&packet, high]);
        packet.extend(icv);
        packet
    }

    /// Whole blocks, in place; no combined mode.
    pub fn encrypt(&self, iv: &[u8], body: &mut [u8]) {
        fn cbc<C: cipher::BlockCipherEncrypt + KeyInit>(key: &[u8], iv: &[u8], body: &mut [u8])
        where
            cbc::Encryptor<C>: KeyIvInit + BlockModeEncrypt,
        {
            let len = body.len();
            <cbc::Encryptor<C> as KeyIvInit>::new_from_slices(key, iv)
                .unwrap()
                .encrypt_padded::<NoPadding>(body, len)
                .unwrap();
        }
        fn ctr<C: KeyIvInit + StreamCipher>(key: &[u8], iv: &[u8], body: &mut [u8]) {
            let (key, nonce) = key.split_at(key.len() - 4);
            let block = [nonce, iv, &[0, 0, 0, 1]].concat();
            C::new_from_slices(key, &block).unwrap().apply_keystream(body);
        }
        let key = &self.key[..];
        match (self.encryption, key.len()) {
            (Encryption::Null, _) => {}
            (Encryption::AesCbc, 16) => cbc::<Aes128>(key, iv, body),
            (Encryption::AesCbc, 24) => cbc::<Aes192>(key, iv, body),
            (Encryption::AesCbc, _) => cbc::<Aes256>(key, iv, body),
            (Encryption::CamelliaCbc, 16) => cbc::<camellia::Camellia128>(key, iv, body),
            (Encryption::CamelliaCbc, 24) => cbc::<camellia::Camellia192>(key, iv, body),
            (Encryption::CamelliaCbc, _) => cbc::<camellia::Camellia256>(key, iv, body),
            (Encryption::TripleDesCbc, _) => cbc::<des::TdesEde3>(key, iv, body),
            (Encryption::DesCbc, _) => cbc::<des::Des>(key, iv, body),
            (Encryption::AesCtr, 20) => ctr::<ctr::Ctr128BE<Aes128>>(key, iv, body),
            (Encryption::AesCtr, 28) => ctr::<ctr::Ctr128BE<Aes192>>(key, iv, body),
            (Encryption::AesCtr, _) => ctr::<ctr::Ctr128BE<Aes256>>(key, iv, body),
            (other, _) => panic!("{other} is a combined mode"),
        }
    }

    /// Fills the last block with zeros and encrypts; the last block of ciphertext.
    pub fn encrypt_padded(&self, iv: &[u8], body: &mut Vec<u8>) -> Vec<u8> {
        let block = self.encryption.block_len();
        body.resize(body.len().next_multiple_of(block), 0);
        self.encrypt(iv, body);
        body[body.len() - block..].to_vec()
    }

    fn seal_combined(&self, iv: &[u8], aad: &[u8], body: &[u8]) -> Vec<u8> {
        fn seal<C: AeadInOut + KeyInit>(key: &[u8], nonce: &[u8], aad: &[u8], body: &[u8]) -> Vec<u8> {
            let nonce: &Nonce<C> = nonce.try_into().unwrap();
            let mut sealed = body.to_vec();
            let tag = C::new_from_slice(key)
                .unwrap()
                .encrypt_inout_detached(nonce, aad, sealed.as_mut_slice().into())
                .unwrap();
            sealed.extend(&tag[..]);
            sealed
        }
        let encryption = self.encryption.row().explicit.unwrap_or(self.encryption);
        let (key, salt) = self.key.split_at(self.key.len() - encryption.salt_len());
        let nonce = [salt, iv].concat();
        let gcm = |aad: &[u8], body: &[u8]| match key.len() {
            16 => seal::<AesGcm<Aes128, U12, U16>>(key, &nonce, aad, body),
            24 => seal::<AesGcm<Aes192, U12, U16>>(key, &nonce, aad, body),
            _ => seal::<AesGcm<Aes256, U12, U16>>(key, &nonce, aad, body),
        };
        match (encryption, key.len()) {
            (Encryption::AesGcm { icv }, _) => {
                let mut sealed = gcm(aad, body);
                sealed.truncate(body.len() + usize::from(icv));
                sealed
            }
            (Encryption::AesGmac, _) => {
                let tag = gcm(&[aad, iv, body].concat(), &[]);
                [body, &tag].concat()
            }
            (Encryption::AesCcm { icv: 8 }, 16) => seal::<Ccm<Aes128, U8, U11>>(key, &nonce, aad, body),
            (Encryption::AesCcm { icv: 12 }, 16) => seal::<Ccm<Aes128, U12, U11>>(key, &nonce, aad, body),
            (Encryption::AesCcm { .. }, 16) => seal::<Ccm<Aes128, U16, U11>>(key, &nonce, aad, body),
            (Encryption::AesCcm { icv: 8 }, _) => seal::<Ccm<Aes256, U8, U11>>(key, &nonce, aad, body),
            (Encryption::AesCcm { icv: 12 }, _) => seal::<Ccm<Aes256, U12, U11>>(key, &nonce, aad, body),
            (Encryption::AesCcm { .. }, _) => seal::<Ccm<Aes256, U16, U11>>(key, &nonce, aad, body),
            (Encryption::ChaCha20Poly1305, _) => seal::<ChaCha20Poly1305>(key, &nonce, aad, body),
            (other, _) => panic!("{other} is no combined mode"),
        }
    }

    /// The ICV over these parts; empty without integrity.
    pub fn mac(&self, covered: &[&[u8]]) -> Vec<u8> {
        fn mac<M: Mac + KeyInit>(key: &[u8], covered: &[&[u8]]) -> Vec<u8> {
            let mut mac = <M as KeyInit>::new_from_slice(key).unwrap();
            covered.iter().for_each(|part| mac.update(part));
            mac.finalize().into_bytes().to_vec()
        }
        let key = &self.integrity_key[..];
        let mut icv = match self.integrity {
            Integrity::None | Integrity::Unknown { .. } => Vec::new(),
            Integrity::HmacMd5_96 | Integrity::HmacMd5_128 => mac::<Hmac<md5::Md5>>(key, covered),
            Integrity::HmacSha1_96 | Integrity::HmacSha1_160 => mac::<Hmac<sha1::Sha1>>(key, covered),
            Integrity::HmacSha256_96 | Integrity::HmacSha256_128 => mac::<Hmac<sha2::Sha256>>(key, covered),
            Integrity::HmacSha384_192 => mac::<Hmac<sha2::Sha384>>(key, covered),
            Integrity::HmacSha512_256 => mac::<Hmac<sha2::Sha512>>(key, covered),
            Integrity::AesCmac96 => mac::<cmac::Cmac<Aes128>>(key, covered),
            Integrity::AesXcbc96 => xcbc(key, &covered.concat()),
        };
        icv.truncate(self.integrity.icv_len());
        icv
    }
}

/// An ICV of twelve bytes (RFC 2404).
pub fn hmac_sha1_96(key: &[u8], covered: &[u8]) -> Vec<u8> {
    let suite = Suite {
        integrity: Integrity::HmacSha1_96,
        integrity_key: key.to_vec(),
        ..Suite::cipher(Encryption::Null, Vec::new())
    };
    suite.mac(&[covered])
}

/// RFC 3566 §4.
fn xcbc(key: &[u8], message: &[u8]) -> Vec<u8> {
    let encrypt = |key: &[u8], block: [u8; 16]| -> [u8; 16] {
        let mut block = block.into();
        Aes128::new_from_slice(key).unwrap().encrypt_block(&mut block);
        block.into()
    };
    let keys = [1u8, 2, 3].map(|n| encrypt(key, [n; 16]));
    let mut state = [0u8; 16];
    let blocks: Vec<&[u8]> = message.chunks(16).collect();
    for (index, block) in blocks.iter().enumerate() {
        let mut padded = [0u8; 16];
        padded[..block.len()].copy_from_slice(block);
        let last = index + 1 == blocks.len();
        let whole = block.len() == 16;
        if last && !whole {
            padded[block.len()] = 0x80;
        }
        for i in 0..16 {
            state[i] ^= padded[i];
            if last {
                state[i] ^= if whole { keys[1][i] } else { keys[2][i] };
            }
        }
        state = encrypt(&keys[0], state);
    }
    state.to_vec()
}
