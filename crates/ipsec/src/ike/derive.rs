//! Keys of IPsec SAs from the secrets of their IKE SA: RFC 2409 §5.5 (KEYMAT), RFC 7296 §2.17 (prf+). With perfect forward
//! secrecy the exchange's own Diffie–Hellman secret is needed too: a log's derivation seed begins with it, or it stands there by itself.

use crate::ike::crypto::{Hash, keymat};
use crate::ike::exchange::{ChildKeys, Exchange, NegotiatedSa};
use crate::ike::ikev2_keys::Ikev2Keys;
use crate::ike::phase1::Phase1;
use crate::ike::prf::Prf;
use crate::ike::timeline::Timeline;
use rekeyscope_keylog::{IkeKey, IkeSecrets, KeyOrigin, KeyRoad, Seed, SeedOf};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::IpsecProtocol;
use zeroize::Zeroizing;

/// Most secrets that are tried for one exchange: files with more of them without an IKE SPI are not read further.
const MAX_SECRETS: usize = 16;

/// Most Diffie–Hellman secrets that are tried for one exchange where a log prints them by themselves: those that stand nearest to
/// its place among the exchanges. Logs have them in order, but for those of phase 1 and of exchanges that were lost.
const MAX_SHARED_SECRETS: usize = 64;

/// SKEYID_d or SK_d, with where it stands.
type DerivationSecret = (SecretBytes, KeyOrigin);

impl Timeline {
    /// Adds derivation seeds from a log: they hold the Diffie–Hellman secrets that perfect forward secrecy asks for.
    #[must_use]
    pub fn with_seeds(mut self, seeds: Vec<Seed>) -> Self {
        self.seeds = seeds;
        self
    }

    /// Adds pre-shared keys: where a key file has the Diffie–Hellman secret of an IKEv1 SA, they give SKEYID and all that
    /// follows (RFC 2409 §5).
    #[must_use]
    pub fn with_pre_shared_keys(mut self, keys: Vec<SecretBytes>) -> Self {
        self.psks = keys;
        self
    }

    /// All keys that the children of an exchange may have (RFC 2409 §5.5, RFC 7296 §2.17), in the order of
    /// [`Exchange::children`], likeliest first: several where the files hold several
    /// derivation secrets without saying which IKE SA they belong to, or Diffie–Hellman secrets without saying of which
    /// exchange. Only the ICV of a packet decides.
    pub fn child_key_candidates(&self, exchange: usize) -> Vec<Vec<ChildKeys>> {
        let index = exchange;
        let Some(exchange) = self.exchanges.get(index) else {
            return Vec::new();
        };
        let children = &exchange.children;
        let is_known = exchange.nonces.iter().all(|nonce| !nonce.is_empty());
        let Some(ike_sa) = exchange.ike_sa.filter(|_| is_known) else {
            return vec![Vec::new(); children.len()];
        };
        let secrets = self.derivation_secrets(ike_sa);
        let of_child = |child: &NegotiatedSa| {
            let tail = self.seed_tail(ike_sa, child, &exchange.nonces);
            let shared = self.shared_secrets(index, &tail);
            let each = secrets
                .iter()
                .flat_map(|secret| shared.iter().map(move |shared| (secret, shared)));
            each.filter_map(|(secret, shared)| {
                self.derive_one(ike_sa, exchange, child, secret, &[shared, &tail])
            })
            .collect()
        };
        children.iter().map(of_child).collect()
    }

    fn seed_tail(&self, ike_sa: usize, child: &NegotiatedSa, nonces: &[Vec<u8>; 2]) -> Vec<u8> {
        let nonces = nonces.concat();
        if self.ike_sas.get(ike_sa).is_none_or(|sa| sa.version != 1) {
            return nonces;
        }
        let protocol = match child.protocol {
            IpsecProtocol::Ah => 2,
            IpsecProtocol::Esp => 3,
        };
        let spi = child.spi.0.to_be_bytes();
        [&[protocol], &spi[..], &nonces].concat()
    }

    fn derive_one(
        &self,
        ike_sa: usize,
        exchange: &Exchange,
        child: &NegotiatedSa,
        (secret, origin): &DerivationSecret,
        seed: &[&[u8]],
    ) -> Option<ChildKeys> {
        let transform = child.transform?;
        let encryption_len = transform.key_len? + transform.encryption.salt_len();
        let (encryption_len, integrity_len) = match child.protocol {
            IpsecProtocol::Esp => (encryption_len, transform.integrity.key_len()),
            IpsecProtocol::Ah => (0, transform.integrity.key_len()),
        };
        let len = encryption_len + integrity_len;
        let (sa, state) = (self.ike_sas.get(ike_sa)?, self.sa_states.get(ike_sa)?);
        let (keys, from) = if sa.version == 1 {
            (ikev1_keymat(&state.phase1, secret.expose(), seed, len)?, 0)
        } else {
            let of_both = ikev2_keymat(&state.ikev2, secret.expose(), seed, 2 * len)?;
            (of_both, if child.dst == exchange.responder { 0 } else { len })
        };
        let (encryption, integrity) = keys.get(from..from + len)?.split_at_checked(encryption_len)?;
        Some(ChildKeys {
            encryption: encryption.into(),
            integrity: integrity.into(),
            origin: KeyOrigin {
                road: KeyRoad::Derived,
                ..origin.clone()
            },
        })
    }

    /// The Diffie–Hellman secrets that an exchange may have: an empty one without a key exchange payload; else what stands before
    /// `tail` in one of the seeds; else those that a log prints by themselves.
    fn shared_secrets(&self, index: usize, tail: &[u8]) -> Vec<&[u8]> {
        let has_one = |exchange: &&Exchange| exchange.key_exchange;
        if self.exchanges.get(index).as_ref().is_none_or(|e| !has_one(e)) {
            return vec![&[]];
        }
        let mut seeds = self.seeds.iter();
        if let Some(secret) = seeds.find_map(|seed| {
            let bytes = seed.bytes.expose();
            bytes.strip_suffix(tail).filter(|secret| !secret.is_empty())
        }) {
            return vec![secret];
        }
        let alone = self.seeds.iter().filter(|seed| seed.of == SeedOf::SharedSecret);
        let place = self.exchanges.iter().take(index).filter(has_one).count();
        let mut secrets: Vec<(usize, &[u8])> = alone
            .enumerate()
            .map(|(at, seed)| (at.abs_diff(place), seed.bytes.expose()))
            .collect();
        secrets.sort_by_key(|(distance, _)| *distance);
        secrets.truncate(MAX_SHARED_SECRETS);
        secrets.into_iter().map(|(_, secret)| secret).collect()
    }

    /// SKEYID_d or SK_d: of the key that opened the IKE SA's messages, then of others that name it, then of those that
    /// name none.
    fn derivation_secrets(&self, ike_sa: usize) -> Vec<DerivationSecret> {
        let (Some(sa), Some(state)) = (self.ike_sas.get(ike_sa), self.sa_states.get(ike_sa)) else {
            return Vec::new();
        };
        let of = |secrets: &IkeSecrets, key: &IkeKey| {
            let secret = match sa.version {
                1 => &secrets.skeyid_d,
                _ => &secrets.sk_d,
            };
            Some((secret.clone()?, key.origin.clone()))
        };
        let phase1 = state.phase1.session.as_ref();
        let ikev2 = state.ikev2.session.as_ref();
        let session = phase1.map(|s| (&s.secrets, s.key_index));
        let session = session.or(ikev2.map(|s| (&s.secrets, s.key_index)));
        let proven = session.and_then(|(secrets, index)| of(secrets, self.keys.get(index)?));
        if let Some(proven) = proven {
            return vec![proven];
        }
        let named = self.keys_by_spi.get(&Some(sa.initiator_spi));
        let nameless = self.keys_by_spi.get(&None);
        let keys = named.into_iter().chain(nameless).flatten();
        keys.filter_map(|&index| self.keys.get(index))
            .filter(|key| key.version == sa.version)
            .filter(|key| key.responder_spi.is_none() || key.responder_spi == sa.responder_spi)
            .filter_map(|key| of(&key.secrets, key))
            .take(MAX_SECRETS)
            .collect()
    }
}

/// KEYMAT = prf(SKEYID_d, [g(qm)^xy |] protocol | SPI | Ni_b | Nr_b), iterated.
fn ikev1_keymat(phase1: &Phase1, skeyid_d: &[u8], seed: &[&[u8]], len: usize) -> Option<Zeroizing<Vec<u8>>> {
    let hash = phase1
        .hash()
        .or_else(|| Hash::from_len(skeyid_d.len()))
        .filter(|h| h.len() == skeyid_d.len())?;
    Some(keymat(hash, skeyid_d, seed, len))
}

/// KEYMAT = prf+(SK_d, [g^ir |] Ni | Nr): first the SA from the exchange's initiator to its responder, then the other;
/// of each, the encryption key, then the integrity key.
fn ikev2_keymat(keys: &Ikev2Keys, sk_d: &[u8], seed: &[&[u8]], len: usize) -> Option<Zeroizing<Vec<u8>>> {
    let negotiated = keys.proposal.and_then(|p| p.prf);
    let prf = negotiated
        .filter(|prf| prf.len() == sk_d.len())
        .or_else(|| Prf::of_len(sk_d.len()).first().copied())?;
    Some(prf.plus(sk_d, seed, len))
}
