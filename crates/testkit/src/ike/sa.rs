//! SA payloads: one proposal, or several, of one transform each.

use crate::ike::message::chain;
use crate::ike::phase1::{Hash, Phase1};
use rekeyscope_model::algorithm::Encryption;

/// The SA payload of phase 1 with one transform (RFC 2409 Appendix A).
pub fn phase1_sa(Phase1(encryption, key_len, hash): Phase1) -> Vec<u8> {
    let (id, attributes): (u8, &[u8]) = match (encryption, key_len) {
        (Encryption::TripleDesCbc, _) => (5, &[]),
        (_, 16) => (7, &[0x80, 14, 0, 128]),
        _ => (7, &[0x80, 14, 1, 0]),
    };
    let hash = match hash {
        Hash::Md5 => 1,
        Hash::Sha1 => 2,
        Hash::Sha256 => 4,
    };
    let transform = [&[1, 1, 0, 0, 0x80, 1, 0, id, 0x80, 2, 0, hash], attributes].concat();
    let transforms = chain(&[(3, transform)]).1;
    let proposal = [&[1, 1, 0, 1], &transforms[..]].concat();
    [&[0, 0, 0, 1, 0, 0, 0, 1], &chain(&[(2, proposal)]).1[..]].concat()
}

/// What a Quick Mode offers besides its SPIs: transport mode, HMAC-SHA1-96, 3,600 s.
#[derive(Debug, Clone, Copy)]
pub struct EspOffer {
    /// AH instead of ESP with AES-CBC-128.
    pub ah: bool,
    /// The lifetime by volume.
    pub kilobytes: u32,
}

impl Default for EspOffer {
    fn default() -> Self {
        EspOffer {
            ah: false,
            kilobytes: 250_000,
        }
    }
}

impl EspOffer {
    /// An SA payload: proposals by number and SPI.
    pub fn sa(self, proposals: &[(u8, u32)]) -> Vec<u8> {
        // Numbers of RFC 2407 §4.4: protocol AH with AH_SHA, or ESP with AES (RFC 3602 §5.3) and its key length.
        let (protocol, id) = if self.ah { (2, 3) } else { (3, 12) };
        let mut transform = vec![1, id, 0, 0];
        transform.extend([0x80, 1, 0, 1, 0x80, 2, 0x0e, 0x10, 0x80, 1, 0, 2, 0, 2, 0, 4]);
        transform.extend(self.kilobytes.to_be_bytes());
        transform.extend([0x80, 4, 0, 2, 0x80, 5, 0, 2]);
        if !self.ah {
            transform.extend([0x80, 6, 0, 128]);
        }
        let transforms = chain(&[(3, transform)]).1;
        let proposal = |&(number, spi): &(u8, u32)| {
            let head = [number, protocol, 4, 1];
            (2, [&head[..], &spi.to_be_bytes(), &transforms].concat())
        };
        let proposals: Vec<_> = proposals.iter().map(proposal).collect();
        [&[0, 0, 0, 1, 0, 0, 0, 1], &chain(&proposals).1[..]].concat()
    }
}

/// An IKEv1 SA payload for ESP, by number and SPI: AES-CBC-128, HMAC-SHA1-96, 3,600 s, 250,000 kB.
pub fn esp_sa(proposals: &[(u8, u32)]) -> Vec<u8> {
    EspOffer::default().sa(proposals)
}

/// An IKEv2 SA payload (RFC 7296 §3.3): AES-CBC-128, integrity by its number, no extended sequence numbers.
pub fn ikev2_sa(protocol: u8, spi: &[u8], integrity: u8) -> Vec<u8> {
    ikev2_proposal(
        protocol,
        spi,
        &[
            &[1, 0, 0, 12, 0x80, 14, 0, 128],
            &[3, 0, 0, integrity],
            &[5, 0, 0, 0],
        ],
    )
}

/// For an IKE SA: AES-CBC-256, HMAC-SHA2-256 as prf and with 128 bits as MAC.
pub fn ikev2_ike_sa(spi: &[u8]) -> Vec<u8> {
    ikev2_proposal(
        1,
        spi,
        &[
            &[1, 0, 0, 12, 0x80, 14, 1, 0],
            &[2, 0, 0, 5],
            &[3, 0, 0, 12],
            &[4, 0, 0, 14],
        ],
    )
}

fn ikev2_proposal(protocol: u8, spi: &[u8], transforms: &[&[u8]]) -> Vec<u8> {
    let head = [1, protocol, spi.len() as u8, transforms.len() as u8];
    let transforms: Vec<_> = transforms.iter().map(|t| (3, t.to_vec())).collect();
    let proposal = [&head, spi, &chain(&transforms).1].concat();
    chain(&[(2, proposal)]).1
}

/// The notification REKEY_SA of an ESP SA (RFC 7296 §3.10.1).
pub fn rekey_sa(spi: u32) -> Vec<u8> {
    [&[3, 4, 0x40, 0x09][..], &spi.to_be_bytes()].concat()
}
