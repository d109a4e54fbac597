//! Synthetic IKE conversations, really encrypted, for what the lab's captures do not hold. Test code only.

use crate::ike::crypto::{BlockCipher, Hash, phase1_key};

use crate::ike::lab::key;
use crate::ike::prf::icv;
use crate::ike::timeline::{Exchange, MessageContext, Observed, Timeline};
use cbc::cipher::block_padding::NoPadding;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit};
use proptest::prelude::*;
use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_keylog::{IkeKey, IkeSecrets};
use rekeyscope_model::algorithm::Integrity;
use rekeyscope_model::analysis::{ExchangeKind, KeyStatus, Mode};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IkeSpi, Spi};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use std::collections::HashMap;

mod documents;
mod ikev1;
mod ikev2;

const INITIATOR: [u8; 4] = [192, 0, 2, 1];
const RESPONDER: [u8; 4] = [198, 51, 100, 7];
const QUICK_MODE: u8 = 32;
const INFORMATIONAL: u8 = 5;

type Payloads = Vec<(u8, Vec<u8>)>;

/// First type and bytes of a payload chain.
fn chain(payloads: &Payloads) -> (u8, Vec<u8>) {
    let mut bytes = Vec::new();
    for (index, (_, body)) in payloads.iter().enumerate() {
        let next = payloads.get(index + 1).map_or(0, |p| p.0);
        bytes.extend([next, 0]);
        bytes.extend((body.len() as u16 + 4).to_be_bytes());
        bytes.extend(body);
    }
    (payloads.first().map_or(0, |p| p.0), bytes)
}

fn encrypt(cipher: BlockCipher, key: &[u8], iv: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let mut bytes = plaintext.to_vec();
    macro_rules! with {
        ($type:ty) => {
            cbc::Encryptor::<$type>::new_from_slices(key, iv)
                .unwrap()
                .encrypt_padded::<NoPadding>(&mut bytes, plaintext.len())
                .unwrap()
        };
    }
    match (cipher, key.len()) {
        (BlockCipher::Aes, 16) => with!(aes::Aes128),
        (BlockCipher::Aes, 32) => with!(aes::Aes256),
        (BlockCipher::TripleDes, 24) => with!(des::TdesEde3),
        _ => unreachable!("not used by a scenario"),
    };
    bytes
}

/// The wire: a virtual clock, frame numbers, the timeline under test.
struct Wire {
    timeline: Timeline,
    diagnostics: Diagnostics,
    now: Timestamp,
    frame: u64,
    ports: u16,
    last: Vec<u8>,
    last_from_initiator: bool,
    /// All messages: time, whether from the initiator, bytes.
    sent: Vec<(Timestamp, bool, Vec<u8>)>,
}

impl Wire {
    fn new(keys: Vec<IkeKey>) -> Self {
        Wire {
            timeline: Timeline::new(keys),
            diagnostics: Diagnostics::default(),
            now: Timestamp(1_000_000_000_000),
            frame: 0,
            ports: 500,
            last: Vec::new(),
            last_from_initiator: true,
            sent: Vec::new(),
        }
    }

    fn send(&mut self, from_initiator: bool, message: &[u8]) -> Observed {
        self.now = self.now.plus_nanos(20 * NANOS_PER_MILLI);
        self.frame += 1;
        let (a, b) = (INITIATOR.into(), RESPONDER.into());
        let context = MessageContext {
            frame: self.frame,
            time: self.now,
            src: if from_initiator { a } else { b },
            dst: if from_initiator { b } else { a },
            udp: UdpPorts {
                src: self.ports,
                dst: self.ports,
            },
        };
        self.last = message.to_vec();
        self.last_from_initiator = from_initiator;
        self.sent.push((self.now, from_initiator, message.to_vec()));
        self.timeline.push(context, message, &mut self.diagnostics)
    }

    fn repeat(&mut self) -> Observed {
        let message = self.last.clone();
        self.send(self.last_from_initiator, &message)
    }

    fn exchange(&self, index: usize) -> &Exchange {
        &self.timeline.exchanges()[index]
    }
}

fn header(first: u8, version: u8, exchange_type: u8, flags: u8, message_id: u32, body: usize) -> Vec<u8> {
    let mut bytes = vec![1; 8];
    bytes.extend([2; 8]);
    bytes.extend([first, version << 4, exchange_type, flags]);
    bytes.extend(message_id.to_be_bytes());
    bytes.extend((28 + body as u32).to_be_bytes());
    bytes
}

/// The SA payload of phase 1 with one transform.
fn phase1_sa(cipher: BlockCipher, key_len: usize, hash: Hash) -> Vec<u8> {
    let (id, attributes): (u16, &[u8]) = match (cipher, key_len) {
        (BlockCipher::TripleDes, _) => (5, &[]),
        (_, 16) => (7, &[0x80, 14, 0, 128]),
        _ => (7, &[0x80, 14, 1, 0]),
    };
    let hash = match hash {
        Hash::Md5 => 1,
        Hash::Sha1 => 2,
        _ => 4,
    };
    let mut transform = vec![1, 1, 0, 0, 0x80, 1, 0, id as u8, 0x80, 2, 0, hash];
    transform.extend(attributes);
    let mut sa = vec![0, 0, 0, 1, 0, 0, 0, 1];
    let (_, transforms) = chain(&vec![(3, transform)]);
    let mut proposal = vec![1, 1, 0, 1];
    proposal.extend(transforms);
    sa.extend(chain(&vec![(2, proposal)]).1);
    sa
}

/// Two IKEv1 peers with their phase-1 secrets.
struct Ikev1 {
    wire: Wire,
    cipher: BlockCipher,
    hash: Hash,
    key: Vec<u8>,
    skeyid_a: Vec<u8>,
    phase1_tail: Vec<u8>,
    tails: HashMap<u32, Vec<u8>>,
}

/// Phase-1 transforms: AES-128/SHA-1, AES-256/SHA-1 (expanded key), 3DES/MD5, AES-256/SHA-256.
const PHASE_1: [(BlockCipher, usize, Hash); 4] = [
    (BlockCipher::Aes, 16, Hash::Sha1),
    (BlockCipher::Aes, 32, Hash::Sha1),
    (BlockCipher::TripleDes, 24, Hash::Md5),
    (BlockCipher::Aes, 32, Hash::Sha256),
];

impl Ikev1 {
    fn secrets(hash: Hash) -> IkeSecrets {
        let secret = |n: u8| {
            Some(SecretBytes::new(
                (0..hash.len() as u8).map(|i| i * 7 + n).collect(),
            ))
        };
        IkeSecrets {
            skeyid_d: secret(1),
            skeyid_a: secret(2),
            skeyid_e: secret(3),
            ..IkeSecrets::default()
        }
    }

    fn new((cipher, len, hash): (BlockCipher, usize, Hash)) -> Self {
        let secrets = Self::secrets(hash);
        let skeyid_e = secrets.skeyid_e.clone().unwrap();
        Ikev1 {
            wire: Wire::new(vec![key(1, secrets.clone())]),
            cipher,
            hash,
            key: phase1_key(hash, skeyid_e.expose(), len).to_vec(),
            skeyid_a: secrets.skeyid_a.unwrap().expose().to_vec(),
            phase1_tail: vec![0x5a; cipher.block_len()],
            tails: HashMap::new(),
        }
    }

    fn clear(&mut self, from_initiator: bool, exchange_type: u8, payloads: &Payloads) -> Observed {
        let (first, body) = chain(payloads);
        let mut message = header(first, 1, exchange_type, 0, 0, body.len());
        message.extend(body);
        self.wire.send(from_initiator, &message)
    }

    /// A Main Mode whose last message's last block is where the IVs start.
    fn main_mode(&mut self) {
        let sa = phase1_sa(self.cipher, self.key.len(), self.hash);
        self.clear(true, 2, &vec![(1, sa.clone())]);
        self.clear(false, 2, &vec![(1, sa)]);
        let (public_i, public_r) = (vec![0xaa; 128], vec![0xbb; 128]);
        self.clear(true, 2, &vec![(4, public_i.clone()), (10, vec![1; 16])]);
        self.clear(false, 2, &vec![(4, public_r.clone()), (10, vec![2; 16])]);
        let mut iv = self.hash.digest(&[&public_i, &public_r]);
        iv.truncate(self.cipher.block_len());
        for from_initiator in [true, false] {
            let id = [1, 17, 1, 0xf4, 192, 0, 2, 1].to_vec();
            let (first, body) = chain(&vec![(5, id), (8, vec![9; self.hash.len()])]);
            iv = self.encrypted(from_initiator, 2, 0, first, body, &iv);
        }
        self.phase1_tail = iv;
    }

    fn encrypted(
        &mut self,
        from_initiator: bool,
        exchange_type: u8,
        message_id: u32,
        first: u8,
        mut body: Vec<u8>,
        iv: &[u8],
    ) -> Vec<u8> {
        let block = self.cipher.block_len();
        body.resize(body.len().next_multiple_of(block), 0);
        let ciphertext = encrypt(self.cipher, &self.key, iv, &body);
        let mut message = header(first, 1, exchange_type, 1, message_id, ciphertext.len());
        message.extend(&ciphertext);
        self.wire.send(from_initiator, &message);
        ciphertext[ciphertext.len() - block..].to_vec()
    }

    /// A phase-2 message with a HASH(1) in front.
    fn phase2(&mut self, from_initiator: bool, exchange_type: u8, message_id: u32, payloads: &Payloads) {
        let (first, rest) = chain(payloads);
        let id = message_id.to_be_bytes();
        let hash = self.hash.prf(&self.skeyid_a, &[&id, &rest]);
        let mut body = vec![first, 0, 0, hash.len() as u8 + 4];
        body.extend(hash.iter());
        body.extend(rest);
        let fresh = || {
            let mut iv = self.hash.digest(&[&self.phase1_tail, &id]);
            iv.truncate(self.cipher.block_len());
            iv
        };
        let iv = self.tails.get(&message_id).cloned().unwrap_or_else(fresh);
        let tail = self.encrypted(from_initiator, exchange_type, message_id, 8, body, &iv);
        self.tails.insert(message_id, tail);
    }
}

/// An IKEv1 SA payload for ESP: proposals of one AES-CBC-128/SHA-1 transform each, 3600 s, 250,000 kB.
fn esp_sa(proposals: &[(u8, u32)]) -> Vec<u8> {
    let mut transform = vec![1, 12, 0, 0];
    transform.extend([0x80, 4, 0, 2, 0x80, 6, 0, 128, 0x80, 5, 0, 2]);
    transform.extend([0x80, 1, 0, 1, 0x80, 2, 0x0e, 0x10]);
    transform.extend([0x80, 1, 0, 2, 0, 2, 0, 4, 0, 3, 0xd0, 0x90]);
    let proposals = proposals.iter().map(|(number, spi)| {
        let mut proposal = vec![*number, 3, 4, 1];
        proposal.extend(spi.to_be_bytes());
        proposal.extend(chain(&vec![(3, transform.clone())]).1);
        (2, proposal)
    });
    let mut sa = vec![0, 0, 0, 1, 0, 0, 0, 1];
    sa.extend(chain(&proposals.collect()).1);
    sa
}

fn spis(exchange: &Exchange) -> Vec<(u32, bool)> {
    let inbound = |dst| dst == std::net::IpAddr::from(INITIATOR);
    exchange
        .children
        .iter()
        .map(|c| (c.spi.0, inbound(c.dst)))
        .collect()
}

/// SPIs and keys by direction, the initiator's first.
struct Directed {
    spis: [[u8; 8]; 2],
    sk_e: [[u8; 32]; 2],
    sk_a: [[u8; 32]; 2],
}

/// Two IKEv2 peers with AES-CBC-256 and HMAC-SHA2-256-128.
struct Ikev2(Wire, Directed);

impl Ikev2 {
    fn new() -> Self {
        let secret = |n: u8| Some(SecretBytes::new(vec![n; 32]));
        let secrets = IkeSecrets {
            sk_ei: secret(1),
            sk_er: secret(2),
            sk_ai: secret(3),
            sk_ar: secret(4),
            sk_d: secret(5),
            ..IkeSecrets::default()
        };
        let directed = Directed {
            spis: [[1; 8], [2; 8]],
            sk_e: [[1; 32], [2; 32]],
            sk_a: [[3; 32], [4; 32]],
        };
        Ikev2(Wire::new(vec![key(2, secrets)]), directed)
    }

    /// `flags`: 0x08 from the initiator of the IKE SA, 0x20 a response. `kind`: 46, or 53 with number and total in front.
    fn sealed(
        &mut self,
        exchange_type: u8,
        flags: u8,
        message_id: u32,
        first: u8,
        (kind, fields): (u8, &[u8]),
        inner: &[u8],
    ) -> Observed {
        let from_initiator = flags & 8 != 0;
        let side = usize::from(!from_initiator);
        let (sk_e, sk_a) = (self.1.sk_e[side], self.1.sk_a[side]);
        let mut plaintext = inner.to_vec();
        let padding = 15 - plaintext.len() % 16;
        plaintext.extend(vec![0; padding]);
        plaintext.push(padding as u8);
        let body = fields.len() + 16 + plaintext.len() + 16;
        let mut message = header(kind, 2, exchange_type, flags, message_id, 4 + body);
        message[..16].copy_from_slice(&self.1.spis.concat());
        message.extend([first, 0]);
        message.extend((body as u16 + 4).to_be_bytes());
        message.extend(fields);
        message.extend([0x11; 16]);
        message.extend(encrypt(BlockCipher::Aes, &sk_e, &[0x11; 16], &plaintext));
        let mac = icv(Integrity::HmacSha256_128, &sk_a, &message).unwrap();
        message.extend(mac);
        self.0.send(from_initiator, &message)
    }

    fn whole(&mut self, exchange_type: u8, flags: u8, message_id: u32, payloads: &Payloads) -> Observed {
        let (first, inner) = chain(payloads);
        self.sealed(exchange_type, flags, message_id, first, (46, &[]), &inner)
    }
}

fn ikev2_sa(protocol: u8, spi: &[u8]) -> Vec<u8> {
    let mut proposal = vec![1, protocol, spi.len() as u8, 3];
    proposal.extend(spi);
    let encryption = vec![1, 0, 0, 12, 0x80, 14, 0, 128];
    proposal.extend(
        chain(&vec![
            (3, encryption),
            (3, vec![3, 0, 0, 12]),
            (3, vec![5, 0, 0, 0]),
        ])
        .1,
    );
    chain(&vec![(2, proposal)]).1
}

/// For an IKE SA: AES-CBC-256, HMAC-SHA2-256 as prf and with 128 bits as MAC.
fn ikev2_ike_sa(spi: &[u8]) -> Vec<u8> {
    let mut proposal = vec![1, 1, spi.len() as u8, 4];
    proposal.extend(spi);
    let transforms = vec![
        (3, vec![1, 0, 0, 12, 0x80, 14, 1, 0]),
        (3, vec![2, 0, 0, 5]),
        (3, vec![3, 0, 0, 12]),
        (3, vec![4, 0, 0, 14]),
    ];
    proposal.extend(chain(&transforms).1);
    chain(&vec![(2, proposal)]).1
}

fn rekey_sa(spi: u32) -> Vec<u8> {
    [&[3, 4, 0x40, 0x09][..], &spi.to_be_bytes()].concat()
}

/// What comes after decryption is as hostile as what comes before: any peer can send it.
fn payloads() -> impl Strategy<Value = Payloads> {
    let kind = prop_oneof![1u8..=21, Just(130), Just(131), 33u8..=53, any::<u8>()];
    let body = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..60),
        Just(esp_sa(&[(1, 100)])),
        Just(ikev2_sa(3, &[0, 0, 0, 9])),
    ];
    let body = (body, any::<(u8, u8, u8)>()).prop_map(|(mut body, (at, value, cut))| {
        if !body.is_empty() {
            let at = usize::from(at) % body.len();
            body[at] = value;
            body.truncate(usize::from(cut).max(4));
        }
        body
    });
    proptest::collection::vec((kind, body), 0..6)
}

proptest! {
    #[test]
    fn noise_never_panics(messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 0..8)) {
        let mut wire = Wire::new(vec![key(1, Ikev1::secrets(Hash::Sha1))]);
        for message in &messages {
            wire.send(true, message);
        }
    }

    #[test]
    fn hostile_ikev1_payloads_never_panic(first in payloads(), second in payloads(), kind in prop_oneof![Just(32u8), 1u8..=6]) {
        let mut ike = Ikev1::new(PHASE_1[0]);
        ike.main_mode();
        ike.phase2(true, kind, 7, &first);
        ike.phase2(false, kind, 7, &second);
        ike.clear(false, kind, &first);
        for index in 0..ike.wire.timeline.exchanges().len() {
            ike.wire.timeline.child_key_candidates(index);
        }
    }

    #[test]
    fn hostile_ikev2_payloads_never_panic(first in payloads(), second in payloads(), kind in 34u8..=38) {
        let mut ike = Ikev2::new();
        ike.whole(kind, 0x08, 1, &first);
        ike.whole(kind, 0x20, 1, &second);
        let (next, inner) = chain(&first);
        ike.sealed(kind, 0x08, 2, next, (53, &[0, 1, 0, 1]), &inner);
        for index in 0..ike.0.timeline.exchanges().len() {
            ike.0.timeline.child_key_candidates(index);
        }
    }
}
