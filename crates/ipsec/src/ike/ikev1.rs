//! IKEv1 bodies: SA payloads with their proposals (RFC 2408 §3.4–3.6), the transform of phase 1.

use crate::ike::crypto::{Hash, phase_1_cipher};
use crate::ike::payload::{Fields, PayloadChain, numbered};
use rekeyscope_model::algorithm::Encryption;
use rekeyscope_model::error::WireError;

/// The IPsec DOI (RFC 2407).
pub(super) const DOI_IPSEC: u32 = 1;
/// SIT_IDENTITY_ONLY: the only situation in use (RFC 2407 §4.2).
const SITUATION_IDENTITY_ONLY: u32 = 1;
/// Payload types that occur only inside an SA payload.
const PROPOSAL: u8 = 2;
const TRANSFORM: u8 = 3;
/// Protocol ID of phase 1 (RFC 2407 §4.4.1).
const PROTO_ISAKMP: u8 = 1;

/// A proposal: one protocol with an SPI and its alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ikev1Proposal<'a> {
    /// Proposals with the same number belong together (AH and ESP at once).
    pub(super) number: u8,
    pub(super) protocol: u8,
    pub(super) spi: &'a [u8],
    pub(super) transforms: Vec<RawTransform<'a>>,
}

/// A transform with its attributes unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawTransform<'a> {
    pub(super) id: u8,
    pub(super) attributes: &'a [u8],
}

/// Reads the body of an SA payload.
///
/// # Errors
/// [`WireError`] where a length does not fit, or where DOI or situation are not those of IPsec.
pub(super) fn parse_sa(body: &[u8]) -> Result<Vec<Ikev1Proposal<'_>>, WireError> {
    let mut fields = Fields::new("IKE SA payload", body);
    let (doi, situation) = (fields.u32()?, fields.u32()?);
    if doi != DOI_IPSEC || situation != SITUATION_IDENTITY_ONLY {
        return Err(WireError::at_start("IKE SA payload: DOI", 8, body.len()));
    }
    PayloadChain::bodies(PROPOSAL, fields.rest())
        .map(|body| parse_proposal(body?))
        .collect()
}

fn parse_proposal(body: &[u8]) -> Result<Ikev1Proposal<'_>, WireError> {
    let mut fields = Fields::new("IKE proposal", body);
    let (number, protocol) = (fields.u8()?, fields.u8()?);
    let (spi_size, _count) = (fields.u8()?, fields.u8()?);
    let spi = fields.bytes(usize::from(spi_size))?;
    let transforms = match fields.rest() {
        [] => Vec::new(),
        rest => PayloadChain::bodies(TRANSFORM, rest)
            .map(|body| parse_transform(body?))
            .collect::<Result<_, _>>()?,
    };
    Ok(Ikev1Proposal {
        number,
        protocol,
        spi,
        transforms,
    })
}

fn parse_transform(body: &[u8]) -> Result<RawTransform<'_>, WireError> {
    let mut fields = Fields::new("IKE transform", body);
    let (_number, id) = (fields.u8()?, fields.u8()?);
    fields.u16()?;
    Ok(RawTransform {
        id,
        attributes: fields.rest(),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phase1Transform {
    pub(super) cipher: Option<Encryption>,
    /// Bytes.
    pub(super) key_len: usize,
    pub(super) hash: Option<Hash>,
}

/// The transform of phase 1 in an SA payload that holds exactly one: the responder's choice, or an only offer.
pub(super) fn phase1_choice(body: &[u8]) -> Option<Phase1Transform> {
    let proposals = parse_sa(body).ok()?;
    let [only] = proposals.as_slice() else { return None };
    let [transform] = only.transforms.as_slice() else {
        return None;
    };
    if only.protocol != PROTO_ISAKMP {
        return None;
    }
    let value = |class| numbered(transform.attributes, class);
    let cipher = value(1).and_then(phase_1_cipher);
    let default_len = cipher.and_then(|c| c.key_lens().first().copied()).unwrap_or(0);
    let key_len = value(14)
        .and_then(|bits| usize::try_from(bits / 8).ok())
        .filter(|len| cipher.is_some_and(|c| c.key_lens().contains(len)))
        .unwrap_or(default_len);
    Some(Phase1Transform {
        cipher,
        key_len,
        hash: value(2).and_then(Hash::from_ikev1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// The SA payload of the first lab capture's second Main Mode message.
    const CHOICE: [u8; 52] = hex!(
        "00000001 00000001 0000002c 01 01 00 01 00000024 01 01 0000"
        "80010007 800e0080 80020002 80040002 80030001 800b0001 800c3de0"
    );

    #[test]
    fn reads_the_choice_of_phase_1() {
        let choice = phase1_choice(&CHOICE).unwrap();
        assert_eq!(choice.cipher, Some(Encryption::AesCbc));
        assert_eq!((choice.key_len, choice.hash), (16, Some(Hash::Sha1)));
    }

    #[test]
    fn every_cut_is_refused_or_understood() {
        for cut in 0..CHOICE.len() {
            assert!(phase1_choice(&CHOICE[..cut]).is_none(), "cut at {cut}");
        }
    }

    #[test]
    fn several_offers_are_no_choice() {
        let two = hex!(
            "00000001 00000001 00000020 01 01 00 02"
            "0300000c 01 01 0000 80010005"
            "0000000c 02 01 0000 80010007"
        );
        assert_eq!(phase1_choice(&two), None);
        assert_eq!(parse_sa(&two).unwrap()[0].transforms.len(), 2);
    }

    #[test]
    fn other_situations_are_refused() {
        let mut other = CHOICE;
        other[7] = 2;
        assert!(parse_sa(&other).is_err());
    }
}
