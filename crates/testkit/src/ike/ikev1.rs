//! IKEv1 (RFC 2409): what is said in clear, what phase 1 encrypts, what phase 2 encrypts and hashes.

use crate::esp::Suite;
use crate::ike::message::{Header, chain};
use crate::ike::phase1::Phase1;
use crate::ike::sa::phase1_sa;
use crate::ike::wire::Wire;
use std::collections::HashMap;

const MAIN_MODE: u8 = 2;
const AGGRESSIVE_MODE: u8 = 4;
const TRANSACTION: u8 = 6;

/// Two peers with their phase-1 secrets.
#[derive(Debug)]
pub struct Ikev1<W> {
    /// What they talk over.
    pub wire: W,
    /// Cipher and hash.
    pub phase1: Phase1,
    /// The last block of phase 1, where the IVs of phase 2 start.
    pub phase1_tail: Vec<u8>,
    /// The last block by message ID, where the next message's IV starts.
    pub tails: HashMap<u32, Vec<u8>>,
    cipher: Suite,
}

impl<W: Wire> Ikev1<W> {
    /// Before anything is said.
    pub fn new(phase1: Phase1, wire: W) -> Self {
        Ikev1 {
            wire,
            phase1,
            phase1_tail: vec![0x5a; phase1.0.block_len()],
            tails: HashMap::new(),
            cipher: phase1.cipher(),
        }
    }

    /// A message that is not encrypted.
    pub fn clear(&mut self, from_initiator: bool, exchange_type: u8, payloads: &[(u8, Vec<u8>)]) -> W::Seen {
        let (first, body) = chain(payloads);
        let header = Header {
            first,
            exchange_type,
            ..Header::default()
        };
        self.wire.send(from_initiator, &header.message(&body))
    }

    /// A Main Mode whose last message's last block is where the IVs start.
    pub fn main_mode(&mut self) {
        let id = (5, vec![1, 17, 1, 0xf4, 192, 0, 2, 1]);
        let hash = (8, vec![9; self.phase1.2.digest_len()]);
        self.main_mode_with(&[], &[id, hash]);
    }

    /// A Main Mode with more in its fourth message and with these encrypted payloads from both.
    pub fn main_mode_with(&mut self, request: &[(u8, Vec<u8>)], last: &[(u8, Vec<u8>)]) {
        let sa = phase1_sa(self.phase1);
        self.clear(true, MAIN_MODE, &[(1, sa.clone())]);
        self.clear(false, MAIN_MODE, &[(1, sa)]);
        let (public_i, public_r) = (vec![0xaa; 128], vec![0xbb; 128]);
        self.clear(true, MAIN_MODE, &[(4, public_i.clone()), (10, vec![1; 16])]);
        let fourth = [vec![(4, public_r.clone()), (10, vec![2; 16])], request.to_vec()].concat();
        self.clear(false, MAIN_MODE, &fourth);
        let mut iv = self.iv(&[&public_i, &public_r]);
        for from_initiator in [true, false] {
            let (first, body) = chain(last);
            iv = self.encrypted(from_initiator, MAIN_MODE, 0, first, body, &iv);
        }
        self.phase1_tail = iv;
    }

    /// i → r: SA, KE, Ni, ID; r → i: SA, KE, Nr, ID; i → r: HASH, encrypted. Then XAUTH's request in a Transaction exchange.
    pub fn aggressive_mode_and_xauth(&mut self) {
        let public = [vec![0xaa; 128], vec![0xbb; 128]];
        for (from_initiator, public) in [(true, &public[0]), (false, &public[1])] {
            let payloads = [
                (1, phase1_sa(self.phase1)),
                (4, public.clone()),
                (10, vec![1; 16]),
                (5, vec![11, 17, 1, 0xf4, b'v', b'p', b'n']),
            ];
            self.clear(from_initiator, AGGRESSIVE_MODE, &payloads);
        }
        let iv = self.iv(&[&public[0], &public[1]]);
        let (first, body) = chain(&[(8, vec![9; 20])]);
        self.phase1_tail = self.encrypted(true, AGGRESSIVE_MODE, 0, first, body, &iv);
        let request = vec![1, 0, 0, 1, 0xc0, 0x88, 0, 0, 0x40, 0x89, 0, 0];
        self.phase2(false, TRANSACTION, 5, &[(14, request)]);
    }

    fn iv(&self, parts: &[&[u8]]) -> Vec<u8> {
        let mut iv = self.phase1.2.digest(parts);
        iv.truncate(self.phase1.0.block_len());
        iv
    }

    /// Sends an encrypted message; its last block.
    pub fn encrypted(
        &mut self,
        from_initiator: bool,
        exchange_type: u8,
        message_id: u32,
        first: u8,
        mut body: Vec<u8>,
        iv: &[u8],
    ) -> Vec<u8> {
        let tail = self.cipher.encrypt_padded(iv, &mut body);
        let header = Header {
            first,
            exchange_type,
            flags: 1,
            message_id,
            ..Header::default()
        };
        self.wire.send(from_initiator, &header.message(&body));
        tail
    }

    /// A phase-2 message with a HASH(1) in front.
    pub fn phase2(
        &mut self,
        from_initiator: bool,
        exchange_type: u8,
        message_id: u32,
        payloads: &[(u8, Vec<u8>)],
    ) {
        let (first, rest) = chain(payloads);
        let id = message_id.to_be_bytes();
        let [_, skeyid_a, _] = self.phase1.skeyids();
        let hash = self.phase1.2.prf(&skeyid_a, &[&id, &rest]);
        let mut body = vec![first, 0, 0, hash.len() as u8 + 4];
        body.extend(hash);
        body.extend(rest);
        let iv = match self.tails.get(&message_id) {
            Some(tail) => tail.clone(),
            None => self.iv(&[&self.phase1_tail, &id]),
        };
        let tail = self.encrypted(from_initiator, exchange_type, message_id, 8, body, &iv);
        self.tails.insert(message_id, tail);
    }
}
