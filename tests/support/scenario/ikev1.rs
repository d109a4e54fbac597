//! IKEv1: Quick Modes and Deletes under a phase-1 key, and a Main Mode that cannot be read.

use super::{IKE_KEY, World};
use aes::Aes128;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit, block_padding::NoPadding};

/// A Quick Mode under way.
pub(crate) struct QuickMode {
    from_client: bool,
    message_id: u32,
    pub down: u32,
    pub up: u32,
    pub kilobytes: u32,
    pub key_exchange: bool,
    tail: [u8; 16],
    sent: Vec<(bool, u8, Vec<u8>)>,
}

impl World {
    /// A new cookie: the next exchanges belong to another phase 1, whose Main Mode is captured.
    pub fn main_mode(&mut self) {
        self.cookie = *b"renewing";
        self.cookies.push(self.cookie);
        for message in 0..6u8 {
            // Unreadable bodies: what matters are the cookies.
            self.ike(message % 2 == 0, 2, 0, 1, 5, &[message; 64]);
            self.steady(10);
        }
    }

    /// A new cookie pair: the next exchanges belong to another IKE SA whose phase 1 is not captured.
    pub fn begin_ike_sa(&mut self, number: u8) {
        self.cookie = [b'i', b'k', b'e', b's', b'a', b'-', b'n', number];
        self.cookies.push(self.cookie);
    }

    /// Begins a Quick Mode.
    pub fn begin(&mut self, from_client: bool) -> QuickMode {
        self.next_message_id += 0x101;
        let spis = self.new_spis();
        QuickMode {
            from_client,
            message_id: self.next_message_id,
            down: spis[0],
            up: spis[1],
            kilobytes: 250_000,
            key_exchange: false,
            tail: [9; 16],
            sent: Vec::new(),
        }
    }

    /// The next message of a Quick Mode passes the capture.
    pub fn message(&mut self, qm: &mut QuickMode) {
        let number = qm.sent.len();
        let from_client = qm.from_client == (number != 1);
        // The SPI in a message is inbound to its sender.
        let spi = if from_client { qm.down } else { qm.up };
        let payloads = match number {
            0 | 1 => {
                let mut list = vec![
                    (8, vec![7; 20]),
                    (1, proposal(spi, qm.kilobytes, self.ah)),
                    (10, vec![3; 32]),
                ];
                if qm.key_exchange {
                    list.push((4, vec![5; 512]));
                }
                list.extend([
                    (5, vec![1, 17, 6, 165, 10, 9, 0, 2]),
                    (5, vec![1, 17, 6, 165, 10, 9, 0, 1]),
                ]);
                list
            }
            _ => vec![(8, vec![8; 20])],
        };
        let (first, body) = self.encrypt(&payloads, qm.tail);
        qm.tail = self.last_block;
        self.ike(from_client, 32, qm.message_id, 1, first, &body);
        qm.sent.push((from_client, first, body));
    }

    /// A message of a Quick Mode (counted from 0) passes the capture again.
    pub fn repeat(&mut self, qm: &QuickMode, number: usize) {
        let (from_client, first, body) = qm.sent[number].clone();
        self.ike(from_client, 32, qm.message_id, 1, first, &body);
    }

    /// The client deletes one of its inbound SAs.
    pub fn delete(&mut self, spi: u32) {
        self.next_message_id += 0x101;
        let id = self.next_message_id;
        let body = [&[0, 0, 0, 1, 3, 4, 0, 1][..], &spi.to_be_bytes()].concat();
        let (first, body) = self.encrypt(&[(8, vec![6; 20]), (12, body)], [4; 16]);
        self.ike(true, 5, id, 1, first, &body);
    }

    pub(super) fn ike(
        &mut self,
        from_client: bool,
        kind: u8,
        message_id: u32,
        flags: u8,
        first: u8,
        body: &[u8],
    ) {
        let mut message = Vec::from(self.cookie);
        message.extend(*b"responds");
        message.extend([first, 0x10, kind, flags]);
        message.extend(message_id.to_be_bytes());
        message.extend(((28 + body.len()) as u32).to_be_bytes());
        message.extend(body);
        self.ike_datagram(from_client, &message);
    }

    /// Payloads under the phase-1 key, chained by the ciphertext before.
    pub(super) fn encrypt(&mut self, payloads: &[(u8, Vec<u8>)], iv: [u8; 16]) -> (u8, Vec<u8>) {
        let mut plain = Vec::new();
        for (index, (_, body)) in payloads.iter().enumerate() {
            let next = payloads.get(index + 1).map_or(0, |p| p.0);
            plain.extend([next, 0]);
            plain.extend(((4 + body.len()) as u16).to_be_bytes());
            plain.extend(body);
        }
        plain.resize(plain.len().next_multiple_of(16), 0);
        let len = plain.len();
        cbc::Encryptor::<Aes128>::new(&IKE_KEY.into(), &iv.into())
            .encrypt_padded::<NoPadding>(&mut plain, len)
            .unwrap();
        self.last_block.copy_from_slice(&plain[len - 16..]);
        (payloads[0].0, plain)
    }
}

/// An SA payload: one proposal of ESP with AES-CBC-128 and HMAC-SHA1-96, or of AH with the latter; transport mode, 3,600 s and
/// some kilobytes.
fn proposal(spi: u32, kilobytes: u32, ah: bool) -> Vec<u8> {
    let mut attributes = vec![0x80, 1, 0, 1, 0x80, 2, 0x0e, 0x10, 0x80, 1, 0, 2, 0, 2, 0, 4];
    attributes.extend(kilobytes.to_be_bytes());
    attributes.extend([0x80, 4, 0, 2, 0x80, 5, 0, 2]);
    // Numbers of RFC 2407 §4.4: protocol AH with AH_SHA, or ESP with AES (RFC 3602 §5.3) and its key length.
    let (protocol, id) = if ah { (2, 3) } else { (3, 12) };
    if !ah {
        attributes.extend([0x80, 6, 0, 128]);
    }
    let mut transform = vec![0, 0, 0, (8 + attributes.len()) as u8, 1, id, 0, 0];
    transform.extend(attributes);
    let mut proposal = vec![0, 0, 0, (12 + transform.len()) as u8, 1, protocol, 4, 1];
    proposal.extend(spi.to_be_bytes());
    proposal.extend(transform);
    [&[0, 0, 0, 1, 0, 0, 0, 1][..], &proposal].concat()
}
