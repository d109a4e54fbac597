//! Does a decrypted IKEv1 message make sense? A block cipher in CBC mode says nothing about its key, so the payload
//! chain has to: it must run exactly to the padding, and every field with few allowed values counts as evidence.
//!
//! Evidence is counted in bits and always rounded down: a field of n bits with k allowed values gives n − log2 k. Under a
//! wrong key the plaintext is random, so a message with evidence e is accepted by mistake with probability ≤ 2^-e.

use crate::ike::crypto::Hash;
use crate::ike::ikev1::{DOI_IPSEC, parse_sa};
use crate::ike::notify::{Delete, Notification};
use crate::ike::payload::{Attributes, Payload, PayloadChain, v1};

/// Evidence in bits that a key needs to be taken for right. At most [`crate::ike::phase1::MAX_TRIALS`] = 2^20 decryptions are
/// tried per IKE SA with at most 2^6 readings each, so a wrong key is accepted for an IKE SA with a probability below
/// 2^(26 − 56) = 2^-30.
pub(super) const PROOF_BITS: u32 = 56;

/// Most bytes of padding behind the last payload: RFC 2409 Appendix B pads to the block, some implementations pad more
/// to hide lengths, with the count in the last byte.
const MAX_PADDING: usize = 256;

/// Reads the chain of an encrypted message that begins with a payload of type `first`. Gives the evidence in bits, or
/// `None` when something contradicts the protocol.
pub(super) fn evidence(first: u8, plaintext: &[u8], phase1: bool, hash: Option<Hash>) -> Option<u32> {
    let mut chain = PayloadChain::new(first, plaintext);
    let mut bits = 0;
    for payload in chain.by_ref() {
        let payload = payload.ok()?;
        if payload.reserved != 0 {
            return None;
        }
        // The reserved byte; a next payload among at most 2^5 types that we know (private ones exist, but prove nothing).
        let known = payload.next == 0 || v1::is_known(payload.next);
        bits += 8 + if known { 3 } else { 0 } + body_evidence(&payload, phase1, hash)?;
    }
    // The last length ends within MAX_PADDING of the end: 16 − 8 bits.
    (chain.rest().len() < MAX_PADDING).then_some(bits + 8)
}

fn body_evidence(payload: &Payload<'_>, phase1: bool, hash: Option<Hash>) -> Option<u32> {
    let body = payload.body;
    match payload.kind {
        v1::HASH => {
            let fits = hash.map_or_else(|| Hash::from_len(body.len()).is_some(), |h| h.len() == body.len());
            // Five lengths of 2^16.
            fits.then_some(13)
        }
        v1::SA => parse_sa(body).ok().filter(|p| !p.is_empty()).map(|_| 64),
        // RFC 2409 §5: 8 to 256 bytes.
        v1::NONCE => (8..=256).contains(&body.len()).then_some(8),
        v1::DELETE => delete_evidence(body),
        v1::NOTIFICATION => notification_evidence(body),
        v1::IDENTIFICATION => identification_evidence(body, phase1),
        v1::ATTRIBUTES => attributes_evidence(body),
        _ => Some(0),
    }
}

fn delete_evidence(body: &[u8]) -> Option<u32> {
    let delete = Delete::parse(1, body).ok()?;
    let doi_fits = delete.doi.is_some_and(|doi| doi <= DOI_IPSEC);
    let size_fits = match delete.protocol {
        1 => matches!(delete.spi_size, 0 | 8 | 16),
        2 | 3 => delete.spi_size == 4,
        4 => matches!(delete.spi_size, 2 | 4),
        _ => false,
    };
    // DOI 32 − 1, protocol 8 − 2, size 8 − 2; the count must agree with the length, at least 8 more.
    (doi_fits && size_fits && delete.spis.len() + 8 == body.len()).then_some(31 + 6 + 6 + 8)
}

fn notification_evidence(body: &[u8]) -> Option<u32> {
    let notification = Notification::parse(1, body).ok()?;
    let doi_fits = notification.doi.is_some_and(|doi| doi <= DOI_IPSEC);
    // DOI 32 − 1, protocol 8 − 3, SPI size 8 − 5.
    (doi_fits && notification.protocol <= 4 && notification.spi.len() <= 16).then_some(31 + 5 + 3)
}

/// RFC 2407 §4.6.2: type, protocol, port; in phase 1 protocol and port are 0/0 or UDP/500, in practice also UDP/0 and
/// UDP/4500.
fn identification_evidence(body: &[u8], phase1: bool) -> Option<u32> {
    let &[kind, protocol, high, low] = body.first_chunk()?;
    let port = u16::from_be_bytes([high, low]);
    let usual = matches!((protocol, port), (0 | 17, 0 | 500 | 4500));
    let bits = if phase1 && usual { 24 - 3 } else { 0 };
    (1..=12).contains(&kind).then_some(4 + bits)
}

/// The configuration draft: type 1 to 4, reserved, identifier, attributes to the end.
fn attributes_evidence(body: &[u8]) -> Option<u32> {
    let (&[kind, reserved, ..], attributes) = body.split_first_chunk::<4>()?;
    let walked: usize = Attributes::new(attributes)
        .map(|(_, value)| value.len().max(2) + 2)
        .sum();
    ((1..=4).contains(&kind) && reserved == 0 && walked <= attributes.len() + 2).then_some(6 + 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use proptest::prelude::*;

    /// HASH (20 bytes), Delete of one ESP SPI, padding.
    const DELETE: [u8; 48] = hex!(
        "0c000018 0102030405060708090a0b0c0d0e0f1011121314"
        "00000010 00000001 03 04 0001 c7df968a 0000000000000000"
    );

    #[test]
    fn a_delete_is_proof() {
        assert!(evidence(v1::HASH, &DELETE, false, Some(Hash::Sha1)).unwrap() >= PROOF_BITS);
        assert!(evidence(v1::DELETE, &DELETE[24..], false, None).unwrap() >= PROOF_BITS);
        assert_eq!(evidence(v1::HASH, &DELETE, false, Some(Hash::Md5)), None);
    }

    #[test]
    fn a_lone_hash_is_not() {
        let mut hash = DELETE;
        hash[0] = 0;
        assert!(evidence(v1::HASH, &hash[..32], false, None).unwrap() < PROOF_BITS);
    }

    proptest! {
        #[test]
        fn noise_is_never_proof(bytes in proptest::collection::vec(any::<u8>(), 0..300), first in 1u8..=21) {
            let bits = evidence(first, &bytes, false, None).unwrap_or(0);
            prop_assert!(bits < PROOF_BITS);
        }
    }
}
