//! **Synthetic** IPsec packets for the tests, really encrypted: one SA of any suite, the headers around and inside it, and
//! captures of them. The sealing here shares no code with the library: other crates, other order.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // each test binary uses a part; a test fails by panicking

use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::{AeadInOut, Nonce};
use ccm::Ccm;
use chacha20poly1305::ChaCha20Poly1305;
use cipher::consts::{U8, U11, U12, U16};
use cipher::{BlockCipherEncrypt, BlockModeEncrypt, KeyIvInit, StreamCipher, block_padding::NoPadding};
use hmac::{Hmac, KeyInit, Mac};
use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope_capture::file::{CaptureInfo, Frame, LinkType};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::analysis::Analysis;

pub(crate) const A: [u8; 4] = [192, 0, 2, 1];
pub(crate) const B: [u8; 4] = [198, 51, 100, 7];
pub(crate) const LINKTYPE_RAW: u16 = 101;
pub(crate) const LINKTYPE_ETHERNET: u16 = 1;

/// A transform with its keys, the salt at the end of the encryption key.
#[derive(Debug, Clone)]
pub(crate) struct Suite {
    pub encryption: Encryption,
    pub key: Vec<u8>,
    pub integrity: Integrity,
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
        match self.encryption.with_explicit_iv() {
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

    /// An ESP packet (RFC 4303 §2). `esn`: the sequence number has 64 bits, of which the packet shows the lower half.
    pub fn seal(&self, spi: u32, number: u64, esn: bool, next_header: u8, payload: &[u8]) -> Vec<u8> {
        let (spi, low) = (spi.to_be_bytes(), (number as u32).to_be_bytes());
        let high = ((number >> 32) as u32).to_be_bytes();
        let block = self.encryption.block_len().max(4);
        let pad = (block - (payload.len() + 2) % block) % block;
        let mut body = payload.to_vec();
        body.extend((1..=pad).map(|i| i as u8));
        body.extend([pad as u8, next_header]);
        // Any IV will do for CBC; elsewhere it must not repeat under a key.
        let unique = (number ^ u64::from(u32::from_be_bytes(spi)) << 32).to_be_bytes();
        let implicit = self.encryption.with_explicit_iv() != self.encryption;
        let iv: Vec<u8> = match self.encryption.iv_len() {
            0 if implicit => (if esn { number } else { u64::from(number as u32) })
                .to_be_bytes()
                .to_vec(),
            0 => Vec::new(),
            len => unique.iter().copied().cycle().take(len).collect(),
        };
        let sent_iv = if implicit { &[][..] } else { &iv[..] };
        let mut aad = spi.to_vec();
        if esn {
            aad.extend(high);
        }
        aad.extend(low);
        if self.encryption.is_aead() {
            let sealed = self.seal_combined(&iv, &aad, &body);
            return [&spi[..], &low, sent_iv, &sealed].concat();
        }
        self.encrypt(&iv, &mut body);
        let mut packet = [&spi[..], &low, sent_iv, &body].concat();
        let covered = if esn {
            [&packet[..], &high].concat()
        } else {
            packet.clone()
        };
        packet.extend(self.mac(&covered));
        packet
    }

    fn encrypt(&self, iv: &[u8], body: &mut [u8]) {
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
        let encryption = self.encryption.with_explicit_iv();
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

    fn mac(&self, covered: &[u8]) -> Vec<u8> {
        fn mac<M: Mac + KeyInit>(key: &[u8], covered: &[u8]) -> Vec<u8> {
            let mut mac = <M as KeyInit>::new_from_slice(key).unwrap();
            mac.update(covered);
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
            Integrity::AesXcbc96 => xcbc(key, covered),
        };
        icv.truncate(self.integrity.icv_len());
        icv
    }
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

/// An IPv4 packet with a good checksum.
pub(crate) fn ipv4(src: [u8; 4], dst: [u8; 4], protocol: u8, body: &[u8]) -> Vec<u8> {
    let mut h = vec![0x45, 0];
    h.extend(((20 + body.len()) as u16).to_be_bytes());
    h.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    h.extend(src);
    h.extend(dst);
    let sum: u32 = h
        .chunks(2)
        .map(|c| u32::from(u16::from_be_bytes([c[0], c[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    h[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    h.extend(body);
    h
}

pub(crate) fn ipv6(src: u8, dst: u8, protocol: u8, body: &[u8]) -> Vec<u8> {
    let mut h = vec![0x60, 0, 0, 0];
    h.extend((body.len() as u16).to_be_bytes());
    h.extend([protocol, 64]);
    for end in [src, dst] {
        h.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, end]);
    }
    h.extend(body);
    h
}

pub(crate) fn udp(src: u16, dst: u16, body: &[u8]) -> Vec<u8> {
    let len = ((8 + body.len()) as u16).to_be_bytes();
    [&src.to_be_bytes()[..], &dst.to_be_bytes(), &len, &[0, 0], body].concat()
}

/// A TCP segment without options.
pub(crate) fn tcp(src: u16, dst: u16, seq: u32, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut h = [src.to_be_bytes(), dst.to_be_bytes()].concat();
    h.extend(seq.to_be_bytes());
    h.extend(1u32.to_be_bytes());
    h.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    h.extend(body);
    h
}

pub(crate) fn ethernet(ether_type: u16, body: &[u8]) -> Vec<u8> {
    [
        &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..],
        &ether_type.to_be_bytes(),
        body,
    ]
    .concat()
}

/// RFC 9329: messages in a stream from A to B, cut into segments of any size.
pub(crate) fn in_tcp(messages: &[Vec<u8>], segment: usize, with_start: bool) -> Vec<Vec<u8>> {
    let prefix = if with_start { &b"IKETCP"[..] } else { &[] };
    let framed = |message: &Vec<u8>| [&((message.len() + 2) as u16).to_be_bytes()[..], message].concat();
    let stream = [prefix.to_vec(), messages.iter().flat_map(framed).collect()].concat();
    let packet = |seq: u32, flags: u8, body: &[u8]| ipv4(A, B, 6, &tcp(40_123, 4500, seq, flags, body));
    let mut frames = Vec::new();
    if with_start {
        frames.push(packet(999, 2, &[]));
    }
    let mut seq = 1_000;
    for part in stream.chunks(segment) {
        frames.push(packet(seq, 0x10, part));
        seq += part.len() as u32;
    }
    frames
}

/// The inner connection: segment `n` of `len` bytes.
pub(crate) fn inner_tcp(n: u32, len: usize) -> Vec<u8> {
    tcp(5201, 40_000, 1 + n * len as u32, 0x10, &vec![0x61; len])
}

/// That segment in IP between 10.1.0.1 and 10.2.0.1.
pub(crate) fn inner_ip(n: u32, len: usize) -> Vec<u8> {
    ipv4([10, 1, 0, 1], [10, 2, 0, 1], 6, &inner_tcp(n, len))
}

/// Frames of one link type, 1 ms apart, fed to the analyzer.
pub(crate) fn analyze_frames(link_type: u16, frames: &[Vec<u8>], keys: &str) -> Analysis {
    analyze_with(Options::default(), link_type, frames, keys)
}

pub(crate) fn analyze_with(options: Options, link_type: u16, frames: &[Vec<u8>], keys: &str) -> Analysis {
    let mut material = KeyMaterial::default();
    material.read_bytes("synthetic keys".as_ref(), keys.as_bytes());
    let mut analyzer = Analyzer::new(options, material);
    for (index, frame) in frames.iter().enumerate() {
        analyzer.push(&Frame {
            number: index as u64 + 1,
            time: rekeyscope_model::time::Timestamp(1_800_000_000_000_000_000 + index as i64 * 1_000_000),
            link_type: LinkType(link_type),
            original_len: frame.len() as u32,
            data: frame,
        });
    }
    let info = CaptureInfo {
        format: rekeyscope_model::analysis::CaptureFormat::Pcap,
        link_types: vec![LinkType(link_type)],
        truncated: false,
        dropped_reported: None,
    };
    assemble(&analyzer.finish(), &info, &Asked::of("synthetic.pcap"))
}

/// A pcap file of these frames.
pub(crate) fn pcap(link_type: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let words = |list: &[u32]| list.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, u32::from(link_type)]);
    for (index, frame) in frames.iter().enumerate() {
        let (len, millis) = (frame.len() as u32, index as u32);
        file.extend(words(&[
            1_800_000_000 + millis / 1_000,
            millis % 1_000 * 1_000,
            len,
            len,
        ]));
        file.extend(frame);
    }
    file
}

/// How often a diagnostic of this kind and layer was counted.
pub(crate) fn counted(analysis: &Analysis, kind: &str, layer: &str) -> u64 {
    analysis
        .diagnostics
        .iter()
        .filter(|d| d.kind == kind && d.layer == layer)
        .map(|d| d.count)
        .sum()
}
