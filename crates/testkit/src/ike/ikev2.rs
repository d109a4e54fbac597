//! IKEv2 (RFC 7296): encrypted payloads, whole and in pieces (RFC 7383).

use crate::esp::Suite;
use crate::ike::message::{Header, chain};
use crate::ike::sa::ikev2_sa;
use crate::ike::wire::Wire;
use rekeyscope_model::algorithm::{Encryption, Integrity};

/// SPIs and keys by direction, the initiator's first.
#[derive(Debug, Clone, Copy)]
pub struct Directed {
    /// Of the IKE SA.
    pub spis: [[u8; 8]; 2],
    /// SK_ei, SK_er.
    pub sk_e: [[u8; 32]; 2],
    /// SK_ai, SK_ar.
    pub sk_a: [[u8; 32]; 2],
}

/// A message whose last payload is encrypted (RFC 7296 §3.14): of type `header.first`, with `fields` (number and total of a
/// piece) in front of the IV, and `inner`, whose first payload is of type `first`, in it.
pub fn seal(header: Header, suite: &Suite, iv: [u8; 16], fields: &[u8], first: u8, inner: &[u8]) -> Vec<u8> {
    let mut plaintext = inner.to_vec();
    let padding = 15 - plaintext.len() % 16;
    plaintext.resize(plaintext.len() + padding, 0);
    plaintext.push(padding as u8);
    suite.encrypt(&iv, &mut plaintext);
    let len = 4 + fields.len() + 16 + plaintext.len() + suite.integrity.icv_len();
    let mut message = header.bytes(len);
    message.extend([first, 0]);
    message.extend((len as u16).to_be_bytes());
    message.extend(fields);
    message.extend(iv);
    message.extend(plaintext);
    let icv = suite.mac(&[&message]);
    message.extend(icv);
    message
}

/// Two peers with AES-CBC-256 and HMAC-SHA2-256-128.
#[derive(Debug)]
pub struct Ikev2<W> {
    /// What they talk over.
    pub wire: W,
    /// Of the IKE SA in use.
    pub keys: Directed,
}

impl<W: Wire> Ikev2<W> {
    /// SPIs of ones and twos; the keys SK_ei, SK_er, SK_ai, SK_ar of ones, twos, threes and fours.
    pub fn new(wire: W) -> Self {
        let keys = Directed {
            spis: [[1; 8], [2; 8]],
            sk_e: [[1; 32], [2; 32]],
            sk_a: [[3; 32], [4; 32]],
        };
        Ikev2 { wire, keys }
    }

    /// `flags`: 0x08 from the initiator of the IKE SA, 0x20 a response. `kind`: 46, or 53 with number and total in front.
    pub fn sealed(
        &mut self,
        exchange_type: u8,
        flags: u8,
        message_id: u32,
        first: u8,
        (kind, fields): (u8, &[u8]),
        inner: &[u8],
    ) -> W::Seen {
        let from_initiator = flags & 8 != 0;
        let side = usize::from(!from_initiator);
        let suite = Suite {
            integrity: Integrity::HmacSha256_128,
            integrity_key: self.keys.sk_a[side].to_vec(),
            ..Suite::cipher(Encryption::AesCbc, self.keys.sk_e[side].to_vec())
        };
        let header = Header {
            spis: self.keys.spis,
            first: kind,
            version: 2,
            exchange_type,
            flags,
            message_id,
        };
        let message = seal(header, &suite, [0x11; 16], fields, first, inner);
        self.wire.send(from_initiator, &message)
    }

    /// A message in one piece.
    pub fn whole(
        &mut self,
        exchange_type: u8,
        flags: u8,
        message_id: u32,
        payloads: &[(u8, Vec<u8>)],
    ) -> W::Seen {
        let (first, inner) = chain(payloads);
        self.sealed(exchange_type, flags, message_id, first, (46, &[]), &inner)
    }

    /// A CREATE_CHILD_SA request for SPI 100 in three pieces (RFC 7383), the second one first; `after` each one its number.
    pub fn child_in_pieces(&mut self, mut after: impl FnMut(&mut W, u8)) {
        let (first, inner) = chain(&[
            (33, ikev2_sa(3, &[0, 0, 0, 100], 12)),
            (40, vec![7; 32]),
            (44, vec![0; 100]),
        ]);
        let pieces: Vec<&[u8]> = inner.chunks(80).collect();
        let total = pieces.len() as u8;
        assert_eq!(total, 3);
        for number in [2, 1, 3] {
            let next = if number == 1 { first } else { 0 };
            let fields = [0, number, 0, total];
            self.sealed(36, 0x08, 4, next, (53, &fields), pieces[usize::from(number) - 1]);
            after(&mut self.wire, number);
        }
    }
}
