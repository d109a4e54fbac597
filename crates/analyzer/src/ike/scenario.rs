//! Synthetic IKE conversations, really encrypted, for what the lab's captures do not hold. Test code only.

use super::crypto::{BlockCipher, Hash, phase1_key};
use super::lab::key;
use super::prf::icv;
use super::timeline::{Exchange, MessageContext, Observed, Timeline};
use crate::algorithm::Integrity;
use crate::analysis::{ExchangeKind, KeyStatus, Mode};
use crate::diagnostic::Diagnostics;
use crate::framing::UdpPorts;
use crate::keylog::{IkeKey, IkeSecrets};
use crate::secret::SecretBytes;
use crate::spi::{IkeSpi, Spi};
use crate::time::{NANOS_PER_MILLI, Timestamp};
use cbc::cipher::block_padding::NoPadding;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit};
use proptest::prelude::*;
use std::collections::HashMap;

mod documents;

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

/// Every phase-1 transform, with and without its Main Mode in the capture.
#[test]
fn quick_mode_under_each_phase_1_transform() {
    for phase1 in PHASE_1 {
        for with_main_mode in [true, false] {
            let mut ike = Ikev1::new(phase1);
            if with_main_mode {
                ike.main_mode();
            }
            ike.phase2(
                true,
                QUICK_MODE,
                7,
                &vec![(1, esp_sa(&[(1, 100)])), (10, vec![3; 20])],
            );
            ike.phase2(
                false,
                QUICK_MODE,
                7,
                &vec![(1, esp_sa(&[(1, 200)])), (10, vec![4; 20])],
            );
            let index = usize::from(with_main_mode);
            assert_eq!(
                ike.wire.timeline.ike_sas()[0].key_status,
                KeyStatus::Verified,
                "{phase1:?}"
            );
            let exchange = ike.wire.exchange(index);
            assert_eq!(spis(exchange), [(100, true), (200, false)], "{phase1:?}");
            let lifetime = exchange.lifetime.as_ref().unwrap();
            assert_eq!(
                (lifetime.seconds, lifetime.kilobytes),
                (Some(3600), Some(250_000))
            );
            let keys = ike.wire.timeline.derive_child_keys(index);
            assert!(
                keys.iter()
                    .all(|k| k.as_ref().is_some_and(|k| k.integrity.len() == 20))
            );
            assert_eq!(ike.wire.diagnostics.iter().count(), 0);
        }
    }
}

/// i → r: SA, Ni (twice on the wire); r → i: SA, Nr, RESPONDER-LIFETIME; i → r: HASH; r → i: CONNECTED.
#[test]
fn retransmission_commit_bit_and_responder_lifetime() {
    let mut ike = Ikev1::new(PHASE_1[0]);
    ike.main_mode();
    let two = esp_sa(&[(1, 100), (2, 101)]);
    ike.phase2(true, QUICK_MODE, 7, &vec![(1, two), (10, vec![3; 20])]);
    let repeated = ike.wire.repeat();
    assert!(!repeated.first_of_exchange && !repeated.children_changed);
    let mut lifetime = vec![0, 0, 0, 1, 3, 4, 0x60, 0, 0, 0, 0, 200];
    lifetime.extend([0x80, 1, 0, 2, 0, 2, 0, 4, 0, 0, 0xc3, 0x50]);
    let answer = vec![(1, esp_sa(&[(2, 200)])), (10, vec![4; 20]), (11, lifetime)];
    ike.phase2(false, QUICK_MODE, 7, &answer);
    ike.phase2(true, QUICK_MODE, 7, &Vec::new());
    let mut connected = vec![0, 0, 0, 1, 3, 4, 0x40, 0];
    connected.extend(200u32.to_be_bytes());
    ike.phase2(false, QUICK_MODE, 7, &vec![(11, connected)]);
    let exchange = ike.wire.exchange(1);
    assert_eq!((exchange.messages, exchange.retransmissions), (5, 1));
    assert_eq!(spis(exchange), [(101, true), (200, false)]);
    let lifetime = exchange.lifetime.as_ref().unwrap();
    assert_eq!((lifetime.seconds, lifetime.kilobytes), (Some(3600), Some(50_000)));
    assert_eq!(exchange.notifications, ["RESPONDER-LIFETIME", "CONNECTED"]);
    assert!(exchange.decrypted);
}

/// The first message is lost to the capture: the third one, a HASH alone, tells who began.
#[test]
fn quick_mode_from_its_second_message() {
    let mut ike = Ikev1::new(PHASE_1[0]);
    ike.main_mode();
    ike.tails.insert(7, vec![0x77; 16]);
    ike.phase2(
        false,
        QUICK_MODE,
        7,
        &vec![(1, esp_sa(&[(1, 200)])), (10, vec![4; 20])],
    );
    ike.phase2(true, QUICK_MODE, 7, &Vec::new());
    let exchange = ike.wire.exchange(1);
    assert_eq!(exchange.initiator, std::net::IpAddr::from(INITIATOR));
    assert_eq!(spis(exchange), [(200, false)]);
}

#[test]
fn deletes_several_spis_and_the_ike_sa() {
    let mut ike = Ikev1::new(PHASE_1[3]);
    ike.main_mode();
    let mut delete = vec![0, 0, 0, 1, 3, 4, 0, 2];
    delete.extend([0, 0, 0, 100, 0, 0, 0, 101]);
    let mut phase1 = vec![0, 0, 0, 1, 1, 16, 0, 1];
    phase1.extend([1; 8]);
    phase1.extend([2; 8]);
    ike.phase2(true, INFORMATIONAL, 8, &vec![(12, delete)]);
    assert_eq!(ike.wire.timeline.ike_sas()[0].deleted, None);
    ike.phase2(true, INFORMATIONAL, 9, &vec![(12, phase1)]);
    let deletes: Vec<Spi> = ike.wire.exchange(1).deletes.iter().map(|d| d.spi).collect();
    assert_eq!(deletes, [Spi(100), Spi(101)]);
    assert_eq!(ike.wire.timeline.ike_sas()[0].deleted, Some(ike.wire.now));
}

/// i → r: SA, KE, Ni, ID; r → i: SA, KE, Nr, ID; i → r: HASH, the first one encrypted and by itself no proof of the key.
/// Then XAUTH in a Transaction exchange, which is, then a Quick Mode.
#[test]
fn aggressive_mode_and_xauth() {
    let mut ike = Ikev1::new(PHASE_1[1]);
    let public = [vec![0xaa; 128], vec![0xbb; 128]];
    let id = vec![11, 17, 1, 0xf4, b'v', b'p', b'n'];
    let phase1_sa = phase1_sa(ike.cipher, ike.key.len(), ike.hash);
    for (from_initiator, public) in [(true, &public[0]), (false, &public[1])] {
        let payloads = vec![
            (1, phase1_sa.clone()),
            (4, public.clone()),
            (10, vec![1; 16]),
            (5, id.clone()),
        ];
        ike.clear(from_initiator, 4, &payloads);
    }
    let mut iv = ike.hash.digest(&[&public[0], &public[1]]);
    iv.truncate(16);
    let (first, body) = chain(&vec![(8, vec![9; 20])]);
    ike.phase1_tail = ike.encrypted(true, 4, 0, first, body, &iv);
    let request = vec![1, 0, 0, 1, 0xc0, 0x88, 0, 0, 0x40, 0x89, 0, 0];
    ike.phase2(false, 6, 5, &vec![(14, request)]);
    ike.phase2(
        true,
        QUICK_MODE,
        7,
        &vec![(1, esp_sa(&[(1, 100)])), (10, vec![3; 20])],
    );
    let kinds: Vec<_> = ike
        .wire
        .timeline
        .exchanges()
        .iter()
        .map(|e| (e.kind, e.decrypted))
        .collect();
    assert_eq!(
        kinds,
        [
            (ExchangeKind::AggressiveMode, false),
            (ExchangeKind::Transaction, true),
            (ExchangeKind::QuickMode, true)
        ]
    );
    assert_eq!(ike.wire.timeline.ike_sas()[0].key_status, KeyStatus::Verified);
}

/// A Delete that anyone could have sent.
#[test]
fn an_unencrypted_delete_is_not_believed() {
    let mut ike = Ikev1::new(PHASE_1[0]);
    ike.clear(
        true,
        INFORMATIONAL,
        &vec![(12, vec![0, 0, 0, 1, 3, 4, 0, 1, 0, 0, 0, 100])],
    );
    assert!(ike.wire.exchange(0).deletes.is_empty());
    assert_eq!(ike.wire.diagnostics.count_of("unprotected_delete", "IKE"), 1);
}

#[test]
fn a_copy_made_by_the_capture_is_no_retransmission() {
    let mut ike = Ikev1::new(PHASE_1[0]);
    ike.clear(true, 2, &vec![(13, vec![1; 8])]);
    ike.wire.now = ike.wire.now.plus_nanos(-19 * NANOS_PER_MILLI);
    ike.wire.repeat();
    assert_eq!(ike.wire.exchange(0).messages, 1);
    assert_eq!(ike.wire.diagnostics.count_of("copied_message", "IKE"), 1);
}

/// The pieces of a Quick Mode message, each behind its own header (next payload 132).
#[test]
fn ikev1_fragments_are_put_together() {
    let mut ike = Ikev1::new(PHASE_1[0]);
    ike.main_mode();
    let mut apart = Ikev1::new(PHASE_1[0]);
    apart.phase1_tail.clone_from(&ike.phase1_tail);
    apart.phase2(
        true,
        QUICK_MODE,
        7,
        &vec![(1, esp_sa(&[(1, 100)])), (10, vec![3; 20])],
    );
    let whole = apart.wire.last;
    for (number, piece) in whole.chunks(64).enumerate() {
        let last = (number + 1) * 64 >= whole.len();
        let mut body = vec![0, 1, number as u8 + 1, u8::from(last)];
        body.extend(piece);
        let (first, body) = chain(&vec![(132, body)]);
        let mut message = header(first, 1, QUICK_MODE, 0, 7, body.len());
        message.extend(body);
        ike.wire.send(true, &message);
    }
    assert_eq!(spis(ike.wire.exchange(1)), [(100, true)]);
}

/// Exchange types that are not ours are named.
#[test]
fn authip_is_named() {
    let mut ike = Ikev1::new(PHASE_1[0]);
    ike.clear(true, 243, &vec![(13, vec![1; 8])]);
    assert_eq!(ike.wire.exchange(0).kind, ExchangeKind::Other);
    assert_eq!(ike.wire.diagnostics.count_of("authip_main_mode", "IKE"), 1);
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

/// Both sides rekey the same child at once (RFC 7296 §2.8.1), each with message ID 0.
#[test]
fn simultaneous_child_rekeys_are_two_exchanges() {
    let mut ike = Ikev2::new();
    let offer = |old, new: u32| {
        vec![
            (41, rekey_sa(old)),
            (33, ikev2_sa(3, &new.to_be_bytes())),
            (40, vec![7; 32]),
        ]
    };
    let answer = |new: u32| vec![(33, ikev2_sa(3, &new.to_be_bytes())), (40, vec![8; 32])];
    ike.whole(36, 0x08, 0, &offer(10, 100));
    ike.whole(36, 0x00, 0, &offer(20, 200));
    ike.whole(36, 0x20, 0, &answer(101));
    ike.whole(36, 0x28, 0, &answer(201));
    assert_eq!(ike.0.timeline.exchanges().len(), 2);
    assert_eq!(spis(ike.0.exchange(0)), [(100, true), (101, false)]);
    assert_eq!(spis(ike.0.exchange(1)), [(200, false), (201, true)]);
    assert_eq!(ike.0.exchange(1).rekeys, [Spi(20)]);
    let keys = ike.0.timeline.derive_child_keys(0);
    let [Some(to_initiator), Some(to_responder)] = keys.as_slice() else {
        panic!("both have keys")
    };
    // prf+ gives the keys towards the responder first.
    assert_eq!(
        (to_initiator.encryption.len(), to_initiator.integrity.len()),
        (16, 32)
    );
    assert_ne!(to_initiator.encryption, to_responder.encryption);
}

#[test]
fn an_ike_rekey_is_told_apart() {
    let mut ike = Ikev2::new();
    ike.whole(
        36,
        0x08,
        4,
        &vec![(33, ikev2_sa(1, &[9; 8])), (40, vec![7; 32]), (34, vec![1; 68])],
    );
    let exchange = ike.0.exchange(0);
    assert!(exchange.rekeys_ike_sa && exchange.children.is_empty() && exchange.key_exchange);
}

/// The IKE SA that replaces another one: SKEYSEED = prf(SK_d (old), g^ir | Ni | Nr), SK_* = prf+(SKEYSEED, Ni | Nr |
/// SPIi | SPIr) (RFC 7296 §2.18). Of its secrets only g^ir is given.
#[test]
fn keys_of_a_rekeyed_ike_sa() {
    let mut ike = Ikev2::new();
    let dh_secret = IkeSecrets {
        dh_secret: Some(SecretBytes::new(vec![6; 256])),
        ..IkeSecrets::default()
    };
    let mut keys = vec![key(2, dh_secret)];
    keys.extend(ike.0.timeline.keys.clone());
    ike.0 = Wire::new(keys);
    let sa = |spi: u8| ikev2_ike_sa(&[spi; 8]);
    ike.whole(
        36,
        0x08,
        4,
        &vec![(33, sa(0x0a)), (40, vec![7; 32]), (34, vec![1; 68])],
    );
    ike.whole(
        36,
        0x20,
        4,
        &vec![(33, sa(0x0b)), (40, vec![8; 32]), (34, vec![1; 68])],
    );
    let prf = |key: &[u8], message: &[u8]| Hash::Sha256.prf(key, &[message]).to_vec();
    let nonces = [[7; 32], [8; 32]].concat();
    let skeyseed = prf(&[5; 32], &[&[6; 256][..], &nonces].concat());
    let seed = [&nonces[..], &[0x0a; 8], &[0x0b; 8]].concat();
    let mut block = Vec::new();
    let mut material = Vec::new();
    for counter in 1..=6 {
        block = prf(&skeyseed, &[&block[..], &seed, &[counter]].concat());
        material.extend(block.clone());
    }
    let part = |index: usize| <[u8; 32]>::try_from(&material[index * 32..index * 32 + 32]).unwrap();
    ike.1 = Directed {
        spis: [[0x0a; 8], [0x0b; 8]],
        sk_a: [part(1), part(2)],
        sk_e: [part(3), part(4)],
    };
    ike.whole(
        36,
        0x00,
        0,
        &vec![(33, ikev2_sa(3, &[0, 0, 0, 100])), (40, vec![7; 32])],
    );
    ike.whole(
        36,
        0x28,
        0,
        &vec![(33, ikev2_sa(3, &[0, 0, 0, 200])), (40, vec![8; 32])],
    );
    let [old, new] = ike.0.timeline.ike_sas() else {
        panic!("two IKE SAs")
    };
    assert_eq!(
        (old.key_status, new.key_status),
        (KeyStatus::Verified, KeyStatus::Verified)
    );
    assert_eq!(ike.0.exchange(1).children.len(), 2);
    let derived = ike.0.timeline.derive_child_keys(1);
    let material = prf(&part(0), &[&nonces[..], &[1]].concat());
    // Towards the responder of this exchange, which chose 200, first.
    assert_eq!(ike.0.exchange(1).children[1].spi, Spi(200));
    assert_eq!(derived[1].as_ref().unwrap().encryption.expose(), &material[..16]);
}

#[test]
fn a_refused_child_is_none() {
    let mut ike = Ikev2::new();
    let offer = vec![(33, ikev2_sa(3, &[0, 0, 0, 100])), (40, vec![7; 32])];
    assert!(ike.whole(36, 0x08, 4, &offer).children_changed);
    assert!(
        ike.whole(36, 0x20, 4, &vec![(41, vec![0, 0, 0, 14])])
            .children_changed
    );
    assert!(ike.0.exchange(0).children.is_empty());
    assert_eq!(ike.0.exchange(0).notifications, ["NO_PROPOSAL_CHOSEN"]);
}

/// EAP: the offer in the first IKE_AUTH, the choice in the last; transport mode.
#[test]
fn eap_spreads_the_child_over_exchanges() {
    let mut ike = Ikev2::new();
    let transport = (41, vec![0, 0, 0x40, 0x07]);
    let offer = vec![(33, ikev2_sa(3, &[0, 0, 0, 100])), transport.clone()];
    ike.whole(35, 0x08, 1, &offer);
    ike.whole(35, 0x20, 1, &vec![(48, vec![1, 1, 0, 4])]);
    ike.whole(35, 0x08, 2, &vec![(39, vec![2; 36])]);
    ike.whole(35, 0x20, 2, &vec![(33, ikev2_sa(3, &[0, 0, 0, 200])), transport]);
    assert_eq!(spis(ike.0.exchange(1)), [(100, true), (200, false)]);
    assert_eq!(ike.0.exchange(1).children[0].mode, Some(Mode::Transport));
}

/// RFC 7383: pieces out of order, one of them twice.
#[test]
fn ikev2_fragments_are_put_together() {
    let mut ike = Ikev2::new();
    let (first, inner) = chain(&vec![
        (33, ikev2_sa(3, &[0, 0, 0, 100])),
        (40, vec![7; 32]),
        (44, vec![0; 100]),
    ]);
    let pieces: Vec<&[u8]> = inner.chunks(80).collect();
    let total = pieces.len() as u8;
    for number in [2, 1, 3] {
        let next = if number == 1 { first } else { 0 };
        let fields = [0, number, 0, total];
        ike.sealed(36, 0x08, 4, next, (53, &fields), pieces[usize::from(number) - 1]);
        if number == 1 {
            ike.0.repeat();
        }
    }
    assert_eq!(total, 3);
    assert_eq!(spis(ike.0.exchange(0)), [(100, true)]);
    assert_eq!(
        (ike.0.exchange(0).messages, ike.0.exchange(0).retransmissions),
        (4, 1)
    );
}

#[test]
fn the_same_message_id_in_another_ike_sa_is_another_exchange() {
    let mut wire = Wire::new(Vec::new());
    for cookie in [1, 2] {
        let mut message = header(8, 1, QUICK_MODE, 1, 7, 32);
        message[..8].copy_from_slice(&[cookie; 8]);
        message.extend([0xee; 32]);
        assert!(wire.send(true, &message).first_of_exchange);
    }
    assert_eq!(wire.timeline.ike_sas().len(), 2);
    assert_eq!(wire.timeline.ike_sas()[1].initiator_spi, IkeSpi([2; 8]));
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
