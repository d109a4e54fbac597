//! IKEv2 bodies (RFC 7296): SA payloads with their proposals.

use crate::ike::ikev2_keys::IkeProposal;
use crate::ike::notify::ipsec_protocol;
use crate::ike::payload::{Fields, PayloadChain, numbered};
use crate::ike::prf::Prf;
use crate::ike::quick::Offer;
use crate::ike::transform;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::analysis::Mode;
use rekeyscope_model::error::WireError;
use rekeyscope_model::spi::{IkeSpi, Spi};

/// Substructures inside an SA payload (RFC 7296 §3.3.1–3.3.2).
const PROPOSAL: u8 = 2;
const TRANSFORM: u8 = 3;
/// Protocol ID of the IKE SA itself.
const PROTO_IKE: u8 = 1;
/// Transform types (RFC 7296 §3.3.2).
const ENCRYPTION: u8 = 1;
const PRF: u8 = 2;
const INTEGRITY: u8 = 3;
/// The only transform attribute: key length in bits (RFC 7296 §3.3.5).
const KEY_LENGTH: u16 = 14;

/// A proposal with the first transform of each type that matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Ikev2Proposal<'a> {
    pub(super) number: u8,
    pub(super) protocol: u8,
    pub(super) spi: &'a [u8],
    encryption: Option<u16>,
    /// Bytes.
    key_len: Option<usize>,
    prf: Option<u16>,
    integrity: Option<u16>,
}

/// Reads the body of an SA payload.
///
/// # Errors
/// [`WireError`] where a length does not fit.
pub(super) fn parse_sa(body: &[u8]) -> Result<Vec<Ikev2Proposal<'_>>, WireError> {
    PayloadChain::bodies(PROPOSAL, body)
        .map(|body| parse_proposal(body?))
        .collect()
}

fn parse_proposal(body: &[u8]) -> Result<Ikev2Proposal<'_>, WireError> {
    let mut fields = Fields::new("IKE proposal", body);
    let (number, protocol) = (fields.u8()?, fields.u8()?);
    let (spi_size, _count) = (fields.u8()?, fields.u8()?);
    let mut proposal = Ikev2Proposal {
        number,
        protocol,
        spi: fields.bytes(usize::from(spi_size))?,
        ..Ikev2Proposal::default()
    };
    if fields.rest().is_empty() {
        return Ok(proposal);
    }
    for transform in PayloadChain::new(TRANSFORM, fields.rest()) {
        let mut fields = Fields::new("IKE transform", transform?.body);
        let kind = fields.u8()?;
        fields.u8()?;
        let id = fields.u16()?;
        match kind {
            ENCRYPTION if proposal.encryption.is_none() => {
                proposal.encryption = Some(id);
                let bits = numbered(fields.rest(), KEY_LENGTH);
                proposal.key_len = bits
                    .and_then(|bits| usize::try_from(bits).ok())
                    .map(|bits| bits / 8);
            }
            PRF => proposal.prf = proposal.prf.or(Some(id)),
            INTEGRITY => proposal.integrity = proposal.integrity.or(Some(id)),
            _ => {}
        }
    }
    Ok(proposal)
}

impl Ikev2Proposal<'_> {
    /// The proposal as an offer for ESP or AH.
    pub(super) fn offer(&self, mode: Mode) -> Option<Offer> {
        let protocol = ipsec_protocol(self.protocol)?;
        let spi = Spi(u32::from_be_bytes(self.spi.try_into().ok()?));
        Some(Offer {
            sa: 0,
            number: self.number,
            protocol,
            spi,
            transform: transform::ikev2(protocol, self.encryption, self.key_len, self.integrity),
            mode: Some(mode),
            lifetime: None,
        })
    }

    /// The IKE SPI when it is about an IKE SA (RFC 7296 §1.3.2). In IKE_SA_INIT it is zero: the header has it.
    pub(super) fn ike_spi(&self) -> Option<IkeSpi> {
        if self.protocol != PROTO_IKE {
            return None;
        }
        match self.spi {
            [] => Some(IkeSpi::ZERO),
            spi => spi.try_into().ok().map(IkeSpi),
        }
    }

    /// The proposal as one for an IKE SA.
    pub(super) fn for_ike_sa(&self) -> Option<IkeProposal> {
        self.ike_spi()?;
        let encryption = Encryption::of_ikev2(self.encryption?)?;
        let integrity = match self.integrity {
            None => Integrity::None,
            Some(id) => Integrity::of_ikev2(id)?,
        };
        Some(IkeProposal {
            encryption,
            key_len: self.key_len.or(encryption.key_lens().first().copied())?,
            integrity: if encryption.is_aead() {
                Integrity::None
            } else {
                integrity
            },
            prf: self.prf.and_then(Prf::from_ikev2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ike::crypto::Hash;
    use hex_literal::hex;
    use rekeyscope_model::algorithm::Encryption;
    use rekeyscope_model::spi::IpsecProtocol;

    /// An ESP proposal: AES-GCM-16 with 128 bits, no ESN.
    const GCM: [u8; 32] = hex!(
        "00000020 01 03 04 02 cbb16e15"
        "0300000c 01 00 0014 800e0080"
        "00000008 05 00 0000"
    );

    #[test]
    fn reads_a_child_proposal() {
        let proposals = parse_sa(&GCM).unwrap();
        let offer = proposals[0].offer(Mode::Tunnel).unwrap();
        assert_eq!((offer.protocol, offer.spi), (IpsecProtocol::Esp, Spi(0xcbb16e15)));
        assert_eq!(offer.transform.unwrap().encryption_name(), "AES-GCM-16-128");
        assert_eq!(proposals[0].for_ike_sa(), None);
        for cut in 1..GCM.len() {
            assert!(parse_sa(&GCM[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn reads_an_ike_proposal() {
        let body = hex!(
            "0000002c 01 01 00 04"
            "0300000c 01 00 000c 800e0100"
            "03000008 02 00 0005"
            "03000008 03 00 000c"
            "00000008 04 00 000e"
        );
        let chosen = parse_sa(&body).unwrap()[0].for_ike_sa().unwrap();
        assert_eq!((chosen.encryption, chosen.key_len), (Encryption::AesCbc, 32));
        assert_eq!(chosen.prf, Some(Prf::Hmac(Hash::Sha256)));
        assert_eq!(chosen.integrity, Integrity::HmacSha256_128);
    }
}
