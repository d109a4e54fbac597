//! State between messages, beside what the timeline hands out.

use crate::ike::exchange::Exchange;
use crate::ike::fragment::Pieces;
use crate::ike::ikev2_keys::Ikev2Keys;
use crate::ike::phase1::{CipherTail, Phase1};
use crate::ike::quick::{Negotiation, Offer};
use rekeyscope_keylog::IkeKey;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::IkeSpi;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Longest nonce that is kept, in bytes: both RFC 2409 §5 and RFC 7296 §2.10 allow no longer one.
pub(super) const LONGEST_NONCE: usize = 256;
/// Longest Diffie–Hellman public value that is kept, in bytes: that of the 8192-bit group.
pub(super) const LONGEST_PUBLIC: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct SaState {
    pub(super) phase1: Phase1,
    pub(super) ikev2: Ikev2Keys,
    /// IKEv2: IKE SAs that replace this one, by their SPIs, until they are seen.
    pub(super) successors: Vec<((IkeSpi, IkeSpi), Ikev2Keys)>,
    /// IKEv2: what the initiator offered in IKE_AUTH.
    pub(super) auth_offers: Vec<Offer>,
    /// UDP port 4500 was used.
    pub(super) floated: bool,
    pub(super) nat_detected: Option<bool>,
}

impl SaState {
    /// IKEv1 floats to port 4500 because of a NAT (RFC 3947 §4), IKEv2 may do so without one (RFC 7296 §2.23): there
    /// the payloads alone decide.
    pub(super) fn nat(&self, version: u8) -> bool {
        self.nat_detected == Some(true) || version == 1 && self.floated
    }
}

#[derive(Debug, Default)]
pub(super) struct ExchangeState {
    /// Digests of its messages; at most [`Exchange::MAX_RECORDS`], further ones count as new.
    seen: Vec<u64>,
    /// Different messages seen.
    pub(super) distinct: u32,
    /// An encrypted message was seen.
    pub(super) encrypted: bool,
    /// End of the newest encrypted message.
    pub(super) tail: Option<CipherTail>,
    pub(super) negotiation: Negotiation,
    /// Ni_b and Nr_b.
    pub(super) nonces: [Vec<u8>; 2],
    /// IKEv2: the SPIs of the IKE SA that replaces the present one.
    pub(super) ike_spis: [Option<IkeSpi>; 2],
    /// IKEv2: pieces of a message, by sender.
    pub(super) pieces: [Pieces; 2],
}

impl ExchangeState {
    /// Notes a message and says whether it repeats an earlier one byte for byte: a retransmission. Copies that the capture made
    /// do not come here.
    pub(super) fn repeats(&mut self, message: &[u8]) -> bool {
        let digest = BuildHasherDefault::<DefaultHasher>::default().hash_one(message);
        if self.seen.contains(&digest) {
            return true;
        }
        self.distinct += 1;
        if self.seen.len() < Exchange::MAX_RECORDS {
            self.seen.push(digest);
        }
        false
    }
}

/// The keys that may open a message.
pub(super) struct Keyring<'a> {
    pub(super) keys: &'a [IkeKey],
    /// Indices of those that name the initiator SPI, and of those that name none.
    pub(super) named: &'a [usize],
    pub(super) nameless: &'a [usize],
    pub(super) responder_spi: IkeSpi,
    /// Pre-shared keys.
    pub(super) psks: &'a [SecretBytes],
    /// Trials left over all IKE SAs.
    pub(super) budget: &'a mut u64,
}

impl<'a> Keyring<'a> {
    /// Indices, named ones first. A key that names a responder SPI is for that one only.
    pub(super) fn candidates(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (keys, responder_spi) = (self.keys, self.responder_spi);
        let fits = move |key: &IkeKey| key.responder_spi.is_none_or(|spi| spi == responder_spi);
        self.named
            .iter()
            .chain(self.nameless)
            .copied()
            .filter(move |&index| keys.get(index).is_some_and(fits))
    }
}
